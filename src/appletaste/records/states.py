"""What became of each decision: the fold of the events by rows."""

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
    report: int | None = None  #: a label that came though the item was passed; nobody had it looked at
    report_time: float | str | None = None


class Standing(NamedTuple):
    """What has become of a decision: its state, and its label with the time of it; of a pass, what was reported."""

    state: str
    label: int | None = None
    label_time: float | str | None = None
    report: int | None = None
    report_time: float | str | None = None


_PENDING, _NEVER_DUE = Standing(PENDING), Standing(NEVER_DUE)


def first_standing(acted: bool) -> Standing:
    """Return how a decision stands when it was just made."""
    return _PENDING if acted else _NEVER_DUE


def after(event: Event, standing: Standing, acted: bool) -> Standing:
    """Return how a decision stands after something happened to it: the one place where a state follows from an event.

    Examples
    --------
    >>> after(Labelled("a", 1), first_standing(True), True).state
    'observed'
    >>> after(Recorded("a", 1, 9.0), first_standing(False), False)[-2:]  # of a pass: nobody waited for it
    (1, 9.0)
    """
    if isinstance(event, Labelled) or (acted and isinstance(event, Recorded)):
        return new_tuple(Standing, (OBSERVED, event.label, event.time, None, None))
    if isinstance(event, Recorded):
        return Standing(standing.state, report=event.label, report_time=event.time)
    if isinstance(event, Corrected):
        return Standing(CORRECTED, event.label, standing.label_time)
    if isinstance(event, Expired):
        return Standing(EXPIRED)
    if isinstance(event, Retracted):
        return first_standing(True)
    if isinstance(event, Enacted):
        return Standing(PENDING if event.act else NEVER_DUE)
    return standing


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
        self._later: dict[str, Standing] = {}
        #: What is pending, in the order in which waiting began, and since when; None: since its decision was made.
        self.waiting: dict[str, float | str | None] = {}
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
        later = self._later.get(id) or first_standing(decision.act)
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
            yield id, Entry(decision, time, stratum, *(later.get(id) or first_standing(decision.act)))

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
        acted = decided[id].decision.act
        before = self._later.get(id) or first_standing(acted)
        now = after(event, before, acted)
        if now is before:
            return
        if isinstance(event, Enacted):
            self._enact(event)
        if now.state == PENDING or (now.state == NEVER_DUE and now.report is None):
            self._later.pop(id, None)
        else:
            self._later[id] = now
        if now.state == PENDING:
            self.waiting[id] = event.time  # type: ignore[union-attr]
        else:
            self.waiting.pop(id, None)

    def _enact(self, event: Enacted) -> None:
        """Let what was done take the place of what was decided: done by somebody, so with probability 0 or 1."""
        known = self.decided[event.id]
        ours = known.decision
        why = {**ours.why, "our_act": float(ours.act), "our_probability": ours.probability}
        done = ours._replace(act=event.act, probability=float(event.act), audit=False, why=why)
        self.decided[event.id] = known._replace(decision=done)
