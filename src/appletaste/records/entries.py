"""What became of each decision: the fold of the events, and the one place where a state follows from another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..decision import Decision, new_tuple
from ..errors import DataError
from .events import (
    CORRECTED,
    EXPIRED,
    NEVER_DUE,
    OBSERVED,
    PENDING,
    Corrected,
    Decided,
    Enacted,
    Event,
    Expired,
    Labelled,
    Recorded,
    Retracted,
)


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

    __slots__ = ("_later", "decided", "waiting")

    def __init__(self, events: Iterable[Event] = ()) -> None:
        #: Every decision as it was made; to be looked at.
        self.decided: dict[str, Decided] = {}
        #: What became of those whose label is not simply awaited: state, label, time of the label.
        self._later: dict[str, tuple[str, int | None, float | str | None]] = {}
        #: The ids of what is pending, in the order in which waiting began.
        self.waiting: dict[str, None] = {}
        for event in events:
            self.take(event)

    def __len__(self) -> int:
        return len(self.decided)

    def __iter__(self) -> Iterator[str]:
        return iter(self.decided)

    def __contains__(self, id: object) -> bool:
        return id in self.decided

    def __getitem__(self, id: str) -> Entry:
        _, decision, time, stratum = self.decided[id]
        later = self._later.get(id)
        if later is None:
            later = PENDING if decision.act else NEVER_DUE, None, None
        return new_tuple(Entry, (decision, time, stratum, *later))

    def spoken_of(self, event: Event) -> Decision:
        """Return the decision that something happened to."""
        found = self.decided.get(event.id)
        if found is None:
            raise self._unheard_of(event.id)
        return found.decision

    @staticmethod
    def _unheard_of(id: str) -> DataError:
        return DataError(f"the record speaks of decision {id!r} before it was made")

    def items(self) -> Iterator[tuple[str, Entry]]:
        """Give ids and entries."""
        later = self._later
        for id, (_, decision, time, stratum) in self.decided.items():
            found = later.get(id) or (PENDING if decision.act else NEVER_DUE, None, None)
            yield id, Entry(decision, time, stratum, *found)

    def take(self, event: Event) -> None:
        """Take in one event."""
        id, decided = event.id, self.decided
        if isinstance(event, Decided):
            if id in decided:
                raise DataError(f"the record has two decisions {id!r}")
            decided[id] = event
            if event.decision.act:
                self.waiting[id] = None
            return
        if not id:
            return  # of the stream, and of no decision
        if id not in decided:
            raise self._unheard_of(id)
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
        elif isinstance(event, Recorded) and decided[id].decision.act:
            self._later[id] = OBSERVED, event.label, event.time
            self.waiting.pop(id, None)
        elif isinstance(event, Enacted):
            self._enact(event)

    def _enact(self, event: Enacted) -> None:
        """Let what was done take the place of what was decided: done by somebody, so with probability 0 or 1."""
        known = self.decided[event.id]
        ours = known.decision
        why = {**ours.why, "our_act": float(ours.act), "our_probability": ours.probability}
        done = ours._replace(act=event.act, probability=float(event.act), audit=False, why=why)
        self.decided[event.id] = known._replace(decision=done)
        self._later.pop(event.id, None)
        if event.act:
            self.waiting[event.id] = None
        else:
            self.waiting.pop(event.id, None)
