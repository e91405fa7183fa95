"""What each day came to: counted as events come, with estimates that are made again only where a day has changed."""

from __future__ import annotations

from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ...evaluate import Estimate
from ...evaluate.answers import Answer
from ...evaluate.arrival import arrival_of
from ...evaluate.by_design import by_design
from ...evaluate.missed import FLOOR
from ...evaluate.support import excluded, settled, support_of
from ...evaluate.what_if import logged_cost
from ...logs import DecisionLog
from ...records.events import PENDING, STATES, UNKNOWN
from ...reports.facts import minus, share
from .numbers import Amount, Capacity, DayRead, DaysRead, TotalsRead
from .read_model import ReadModel, day_name

#: The confidence of all intervals.
LEVEL = 0.9
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


def money_of(log: DecisionLog, level: float = LEVEL) -> tuple[Answer, Answer]:
    """Return what the acts of a log cost, and what they saved against passing everything (``evaluate``).

    The cost of acts is that of the logged decisions where a miss and a correct pass are free.
    """
    done = settled(log)
    arrival = arrival_of(done)
    nothing = np.broadcast_to(0.0, len(done))
    acts = done.unchecked(miss=nothing, correct_pass=nothing)
    return logged_cost(acts, arrival, level), minus(logged_cost(done, arrival, level))


def counts_of(following: ReadModel, rows: NDArray[np.intp]) -> dict[str, Any]:
    """Return how many of some decisions were acted on, labelled and so on."""
    columns = following.columns
    act, label = columns.flag("act")[rows] != 0, columns.flag("label")[rows]
    known = act & (label != UNKNOWN)
    found: dict[str, Any] = {"decided": len(rows), "acted": int(act.sum())}
    for told, name in (("explored", "explored"), ("audited", "audit"), ("overruled", "overruled")):
        found[told] = int(np.count_nonzero(columns.flag(name)[rows]))
    found |= {"labelled": int(known.sum()), "positive": int((label[known] == 1).sum())}
    found["waiting"] = int((columns.flag("state")[rows] == STATES.index(PENDING)).sum())
    found["arrived"] = found["labelled"] / found["acted"] if found["acted"] else None
    return found


def _used(following: ReadModel, rows: NDArray[np.intp]) -> int:
    """Return how many acts a budget counts: those decided on, audits only where they share it."""
    acts = following.columns.flag("own_act")[rows] != 0
    if not following.shares_audits:
        acts = acts & (following.columns.flag("own_audit")[rows] == 0)
    return int(acts.sum())


def _day(following: ReadModel, day: int, rows: NDArray[np.intp]) -> DayRead:
    counts = counts_of(following, rows)
    money: dict[str, Any] = {"cost": None, "saved": None, "precision": None}
    if len(rows):
        cost, saved = money_of(following.columns.log(following.writer.policy, rows))
        right = share(counts["positive"], counts["labelled"], LEVEL)
        money = {"cost": _or_null(cost), "saved": _or_null(saved), "precision": _or_null(right)}
    limit = following.limit_of(day, rows)
    capacity = None if limit is None else Capacity(_used(following, rows), limit)
    return DayRead(day=day_name(day), **counts, **money, capacity=capacity)


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
            return DaysRead([], _totals(following, np.zeros(0, dtype=np.intp), [], shadow_price)[0], None, None, [])
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
        totals, notes = following.once(key, version, lambda: _totals(following, rows, days, None))
        totals = msgspec.structs.replace(totals, shadow_price=shadow_price)
        if columns.dated is False:
            notes = [*notes, NO_DATES]
        return DaysRead(days, totals, day_name(min(there)), day_name(max(there)), notes)


def _totals(
    following: ReadModel, rows: NDArray[np.intp], days: list[DayRead], price: float | None
) -> tuple[TotalsRead, list[str]]:
    counts, notes = counts_of(following, rows), []
    limits = [day.capacity for day in days if day.capacity is not None]
    capacity = Capacity(sum(one.used for one in limits), sum(one.limit for one in limits)) if limits else None
    if not len(rows):
        none = Amount(too_few="there are no decisions on these days")
        return TotalsRead(**counts, cost=None, saved=None, precision=None, capacity=capacity, missed=none, recall=none,
                          label_delay_days=None, shadow_price=price), []  # fmt: skip
    log = following.columns.log(following.writer.policy, rows)
    cost, saved = money_of(log)
    left_out = len(log) - len(settled(log))
    if left_out:
        notes.append(f"cost and saved: {excluded(left_out)}")
    if not isinstance(saved, Estimate):
        notes.append(f"cost and saved: {saved}")
    design = by_design(log, support_of(log, FLOOR), LEVEL, FLOOR)
    delays = following.columns.delays(rows)
    right = share(counts["positive"], counts["labelled"], LEVEL)
    return (
        TotalsRead(
            **counts,
            cost=_or_null(cost),
            saved=_or_null(saved),
            precision=_or_null(right),
            capacity=capacity,
            missed=amount_of(design.missed),
            recall=amount_of(design.recall),
            label_delay_days=float(np.median(delays)) if len(delays) else None,
            shadow_price=price,
        ),
        notes,
    )
