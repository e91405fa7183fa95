"""What each day came to: worded as the library counts it, and counted again only where a day has changed."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from ...evaluate import Estimate
from ...evaluate.answers import Answer
from ...evaluate.constants import Constant
from ...reports.days import LEVEL as LEVEL
from ...reports.days import Numbers, numbers_of, total_of
from ...streams import Desk, Stream
from ..operations import STREAM, Call, Query, Reply, operation
from ..problems import FieldError, Problem
from .read_model import ReadModel, day_name, day_number

#: Days that are shown where nobody says which, and at most.
USUAL, MOST = 60, 800
NO_DATES = "the times of this stream are numbers, so days are those on which the service took each decision"
Day = Annotated[str, Meta(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$", max_length=10)]


class Amount(Struct, frozen=True, omit_defaults=True):
    """A number with the ends of its interval; or, where the log cannot say, why and what would help."""

    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    too_few: str | None = None


class Capacity(Struct, frozen=True):
    """Acts that were made of those that there are reviewers for."""

    used: int
    limit: int


class Counted(Struct, frozen=True, kw_only=True):
    """What some decisions came to. Cost and saving are null where the log cannot say."""

    decided: int
    acted: int
    explored: int
    audited: int
    overruled: int
    labelled: int
    positive: int
    waiting: int
    arrived: float | None  #: as a share of the acts
    cost: Amount | None  #: what the acts cost: reviews and false alarms
    saved: Amount | None  #: against passing everything
    precision: Amount | None
    capacity: Capacity | None


class DayRead(Counted, frozen=True, kw_only=True):
    """One day."""

    day: str


class ConstantRead(Struct, frozen=True):
    """What would surely have cost less than what was done: acting on every item, or passing every item."""

    always: bool  #: acting on every item
    saving: Amount
    acts: float
    logged_acts: int


class TotalsRead(Counted, frozen=True, kw_only=True):
    """All days of a range together."""

    saved_acting: Amount  #: against acting on everything
    counted: int  #: decisions that cost and saved count: most labels of the others have not arrived
    constant: ConstantRead | None
    missed: Amount
    recall: Amount
    label_delay_days: float | None
    shadow_price: float | None


class DaysRead(Struct, frozen=True):
    """The days of a range, both ends included; ``first`` and ``last`` are those of the whole stream."""

    days: list[DayRead]
    totals: TotalsRead
    first: str | None
    last: str | None
    notes: list[str]


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


def _constant(found: Constant | None) -> ConstantRead | None:
    if found is None:
        return None
    return ConstantRead(found.always, amount_of(found.saving), found.acts, found.logged_acts)


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
        saved_acting=amount_of(total.saved_acting),
        counted=total.counted,
        constant=_constant(total.constant),
        missed=amount_of(total.missed),
        recall=amount_of(total.recall),
        label_delay_days=total.label_delay_days,
        shadow_price=None,
    )
    return told, list(total.notes)


def day_of(call: Call[Any], name: str) -> int | None:
    """Return a day of the query by its number; None: none was given."""
    text = call.query[name]
    if text is None:
        return None
    try:
        return day_number(text)
    except ValueError:
        wrong = FieldError("wrong-value", parameter=name, expected="a day such as 2024-05-31")
        raise Problem("validation", wrong) from None


def _price(stream: Stream) -> float | None:
    """Return what one more act would save, where acts are limited."""
    player = stream.player
    return player.shadow_price if isinstance(player, Desk) and player.budget is not None else None


@operation(
    "GET",
    STREAM + "/days",
    scope="read",
    query={
        "from": Query(Day | None, None, "The first day; left out: two months before the last."),
        "to": Query(Day | None, None, "The last day; left out: that of the latest decision."),
    },
)
async def days(call: Call[None]) -> Reply[DaysRead]:
    """Return what each day came to, with intervals, and all of them together."""
    first, last = day_of(call, "from"), day_of(call, "to")
    following = call.host.read_model(call.stream)
    price = await call.writer.do(_price)

    def work() -> DaysRead:
        with following.catch_up().lock:
            begin, end = range_of(following, first, last)
            if begin > end or end - begin >= MOST:
                wanted = f"a day that is not before 'from', and at most {MOST} days"
                raise Problem("validation", FieldError("out-of-range", parameter="to", expected=wanted))
            return days_of(following, first, last, price)

    return Reply.of(await call.host.aside(work))
