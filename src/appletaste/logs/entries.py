"""What became of each decision: the fold of the events, and the one place where a state follows from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..decision import Decision
from ..errors import DataError
from .events import Corrected, Decided, Event, Expired, Labelled, Retracted
from .states import CORRECTED, EXPIRED, NEVER_DUE, OBSERVED, PENDING


class Entry(NamedTuple):
    """One decision and what has become of it by now."""

    decision: Decision
    time: float | str | None
    stratum: str | None
    state: str
    label: int | None = None
    label_time: float | str | None = None


class Entries:
    """Every decision by its id, in the order of deciding.

    Examples
    --------
    >>> import numpy as np
    >>> from appletaste import Costs, Decision
    >>> decision = Decision(True, 0.5, np.ones(1), Costs(miss=5, false_alarm=1, hit=0), 1, {})
    >>> entries = Entries([Decided("a", decision), Labelled("a", 1)])
    >>> entries["a"].state, entries["a"].label, list(entries.waiting)
    ('observed', 1, [])
    """

    __slots__ = ("_decided", "_later", "waiting")

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._decided: dict[str, Decided] = {}
        #: What became of those whose label is not simply awaited: state, label, time of the label.
        self._later: dict[str, tuple[str, int | None, float | str | None]] = {}
        #: The ids of what is pending, in the order in which waiting began.
        self.waiting: dict[str, None] = {}
        for event in events:
            self.take(event)

    def __len__(self) -> int:
        return len(self._decided)

    def __iter__(self) -> Iterator[str]:
        return iter(self._decided)

    def __contains__(self, id: object) -> bool:
        return id in self._decided

    def __getitem__(self, id: str) -> Entry:
        _, decision, time, stratum = self._decided[id]
        later = self._later.get(id)
        if later is None:
            return Entry(decision, time, stratum, PENDING if decision.act else NEVER_DUE)
        return Entry(decision, time, stratum, *later)

    def spoken_of(self, event: Event) -> Entry:
        """Return the entry that something happened to."""
        if event.id not in self._decided:
            raise DataError(f"the record speaks of decision {event.id!r} before it was made")
        return self[event.id]

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Give ids and entries."""
        later = self._later
        for id, (_, decision, time, stratum) in self._decided.items():
            found = later.get(id) or (PENDING if decision.act else NEVER_DUE, None, None)
            yield id, Entry(decision, time, stratum, *found)

    def take(self, event: Event) -> None:
        """Take in one event."""
        id = event.id
        if isinstance(event, Decided):
            if id in self._decided:
                raise DataError(f"the record has two decisions {id!r}")
            self._decided[id] = event
            if event.decision.act:
                self.waiting[id] = None
            return
        self.spoken_of(event)
        if isinstance(event, Labelled):
            self._later[id] = OBSERVED, event.label, event.time
            self.waiting.pop(id, None)
        elif isinstance(event, Corrected):
            self._later[id] = CORRECTED, event.label, self._later[id][2]
        elif isinstance(event, Retracted):
            del self._later[id]
            self.waiting[id] = None
        elif isinstance(event, Expired):
            self._later[id] = EXPIRED, None, None
            self.waiting.pop(id, None)
