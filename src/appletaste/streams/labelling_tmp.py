"""Many labels learnt through a ledger: all checked first, then one by one in the order of their table."""

from __future__ import annotations

from typing import NamedTuple

from ..errors import DataError, InputError, Message, Remedy, after
from .clock import when_after
from .ledger import Ledger
from .requests import Labels

#: What became of a label, and what that means.
LEARNT, CORRECTED, KNOWN, PASSED, UNKNOWN, MISSING = "learnt", "corrected", "known", "passed", "unknown", "missing"
OUTCOMES = {
    LEARNT: "learnt",
    CORRECTED: "corrected: another label was replaced",
    KNOWN: "known already, and learnt once",
    PASSED: "of passed items, and not learnt: nobody looked, so such labels arrive for some kinds of items only",
    UNKNOWN: "with an id that this desk has not decided",
    MISSING: "missing, and skipped",
}


class Outcome(NamedTuple):
    """What became of a label."""

    id: str
    label: int | None
    done: str  #: a word of ``OUTCOMES``
    late: bool = False  #: the label arrived after the review had expired


def label_many(ledger: Ledger, told: Labels, correct: bool = False) -> list[Outcome]:
    """Learn the labels of a table, each once; labels that nothing can be learnt from are told apart, and counted.

    A label that differs from the one that is known refuses the whole table before anything is learnt, unless
    ``correct`` says that the table is right.

    Examples
    --------
    >>> import appletaste as at
    >>> from appletaste.streams.requests import read_told
    >>> ledger = at.Ledger(at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> _ = ledger.decide([1.0], id="a")
    >>> table = [{"case": "a", "bad": "yes"}, {"case": "b", "bad": "no"}]
    >>> [outcome.done for outcome in label_many(ledger, read_told(table, ledger, id="case", label="bad"))]
    ['learnt', 'unknown']
    """
    _check(ledger, told, correct)
    outcomes = []
    for row, (id, value, time) in enumerate(zip(told.ids, told.values, told.times, strict=True)):
        done, late = _kind(ledger, id, value), False
        try:
            if done == CORRECTED:
                ledger.correct(id, value or 0, time=time)
            elif done == LEARNT:
                late = ledger.label(id, value or 0, time=time).late
        except InputError as error:
            raise DataError(after(f"{told.records.where(row)}: ", error)) from None
        outcomes.append(Outcome(id, value, done, late))
    return outcomes


def _kind(ledger: Ledger, id: str, value: int | None) -> str:
    """Return what is to become of a label."""
    if value is None:
        return MISSING
    if id not in ledger:
        return UNKNOWN
    entry = ledger[id]
    if not entry.decision.act:
        return PASSED
    return LEARNT if entry.label is None else KNOWN if entry.label == value else CORRECTED


def _check(ledger: Ledger, told: Labels, correct: bool) -> None:
    """Refuse a table that contradicts itself or what is known, or that is not of this desk."""
    first: dict[str, int] = {}
    for row, (id, value, time) in enumerate(zip(told.ids, told.values, told.times, strict=True)):
        done, here = _kind(ledger, id, value), told.records.where(row)
        if value is None:
            continue
        if told.values[first.setdefault(id, row)] != value:
            raise DataError(
                f"{here}: id {id!r} has the label {value}, and another in {told.records.where(first[id])}. Leave out "
                "the row that is wrong; nothing was learnt"
            )
        if done == CORRECTED and not correct:
            was = f"{here}: id {id!r} has the label {ledger[id].label} already, and the table says {value}"
            remedy = Message(f"{was}. If the table is right, ", Remedy("correct"), "; nothing was learnt")
            raise DataError(remedy)
        if done in (LEARNT, CORRECTED):
            try:
                when_after(ledger[id].time, time)
            except InputError as error:
                raise DataError(after(f"{here}: ", error)) from None
    if len(ledger) and told.ids and not any(id in ledger for id in told.ids):
        raise DataError(
            Message(
                f"{told.records.source}: none of its {len(told)} ids is of this desk, whose ids are like "
                f"{next(iter(ledger))!r}; the first here is {told.ids[0]!r}. Is it the right column? ",
                Remedy("id"),
            )
        )
