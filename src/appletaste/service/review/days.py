"""What each day came to: worded as the library counts it, and counted again only where a day has changed."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...evaluate import Estimate
from ...evaluate.answers import Answer
from ...reports.days import LEVEL as LEVEL
from ...reports.days import Numbers, numbers_of, total_of
from .numbers import Amount, Capacity, DayRead, DaysRead, TotalsRead
from .read_model import ReadModel, day_name

#: Days that are shown where nobody says which, and at most.
USUAL, MOST = 60, 800
NO_DATES = "the times of this stream are numbers, so days are those on which the service took each decision"


def amount_of(answer: Answer) -> Amount:
    """Return an answer of ``evaluate`` for JSON.

    Examples
    --------
    >>> from appletaste.evaluate import Refusal
    >>> amount_of(Refusal("no label has arrived yet", "wait")).too_few
    'no label has arrived yet; wait'
    """
    if not isinstance(answer, Estimate):
        return Amount(too_few="; ".join(part for part in (answer.reason, answer.remedy) if part))
    low, high = (None if end != end else end for end in (answer.low, answer.high))
    return Amount(answer.value, low, high)


def _or_null(answer: Answer) -> Amount | None:
    return amount_of(answer) if isinstance(answer, Estimate) else None


def _worded(numbers: Numbers, following: ReadModel, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return the numbers of some decisions as types have them, and how many of them somebody overruled."""
    names = ("decided", "acted", "explored", "audited", "labelled", "positive", "waiting", "arrived")
    found: dict[str, Any] = {name: getattr(numbers, name) for name in names}
    found["overruled"] = int(np.count_nonzero(following.columns.flag("overruled")[rows]))
    return found | {name: _or_null(getattr(numbers, name)) for name in ("cost", "saved", "precision")}


def _explored(following: ReadModel, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
    return np.asarray(following.columns.flag("explored")[rows] != 0)


def _used(following: ReadModel, rows: NDArray[np.intp]) -> int:
    """Return how many acts a budget counts: those decided on, audits only where they share it."""
    acts = following.columns.flag("own_act")[rows] != 0
    if not following.shares_audits:
        acts = acts & (following.columns.flag("own_audit")[rows] == 0)
    return int(acts.sum())


def _day(following: ReadModel, day: int, rows: NDArray[np.intp]) -> DayRead:
    log = following.columns.log(following.writer.policy, rows)
    numbers = numbers_of(log, explored=_explored(following, rows))
    limit = following.limit_of(day, rows)
    capacity = None if limit is None else Capacity(_used(following, rows), limit)
    return DayRead(day=day_name(day), **_worded(numbers, following, rows), capacity=capacity)


def range_of(following: ReadModel, first: int | None, last: int | None) -> tuple[int, int]:
    """Return the first and the last day of a range, by number: the latest days where nobody says."""
    there = following.columns.touched
    end = max(max(there, default=0), first or 0) if last is None else last
    return (min(max(end - USUAL + 1, min(there, default=end)), end) if first is None else first), end


def days_of(following: ReadModel, first: int | None, last: int | None, shadow_price: float | None) -> DaysRead:
    """Return every day of a range, and all of them together."""
    with following.lock:
        columns, there = following.columns, following.columns.touched
        if not there:
            totals, _ = _totals(following, np.zeros(0, dtype=np.intp), [])
            return DaysRead([], msgspec.structs.replace(totals, shadow_price=shadow_price), None, None, [])
        begin, end = range_of(following, first, last)
        rows = columns.of_days(begin, end)
        order = np.argsort(columns.number("day")[rows], kind="stable")
        numbers = columns.number("day")[rows][order]
        days = []
        for day in range(begin, end + 1):
            low, high = np.searchsorted(numbers, [day, day + 1])
            make = partial(_day, following, day, rows[order[low:high]])
            days.append(following.once(("day", day), there.get(day, 0), make))
        key, version = ("totals", begin, end), sum(there.get(day, 0) for day in range(begin, end + 1))
        totals, notes = following.once(key, version, lambda: _totals(following, rows, days))
        totals = msgspec.structs.replace(totals, shadow_price=shadow_price)
        if columns.dated is False:
            notes = [*notes, NO_DATES]
        return DaysRead(days, totals, day_name(min(there)), day_name(max(there)), notes)


def _totals(following: ReadModel, rows: NDArray[np.intp], days: list[DayRead]) -> tuple[TotalsRead, list[str]]:
    limits = [day.capacity for day in days if day.capacity is not None]
    capacity = Capacity(sum(one.used for one in limits), sum(one.limit for one in limits)) if limits else None
    log = following.columns.log(following.writer.policy, rows)
    total = total_of(log, explored=_explored(following, rows), delays=following.columns.delays(rows))
    told = TotalsRead(
        **_worded(total, following, rows),
        capacity=capacity,
        missed=amount_of(total.missed),
        recall=amount_of(total.recall),
        label_delay_days=total.label_delay_days,
        shadow_price=None,
    )
    return told, list(total.notes)
