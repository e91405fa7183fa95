"""The days that a report is about, and those before, with which they are compared.

Which period each decision belongs to: months, weeks or days of its time, or blocks of rounds where there is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import Message, OptionError, Remedy
from ..logs import DecisionLog
from ..logs.coded import Coded

PERIODS = ("month", "week", "day")
#: Blocks of equally many decisions, where the log has no dates.
BLOCKS = 6


def periods_of(log: DecisionLog, period: str | None = None) -> tuple[str, Coded]:
    """Return what a period is, and the name of each decision's; names sort as time does.

    Without a wish: months where the log has dates of more than one, else weeks, else days. A log without dates (none,
    or times that are plain numbers) is cut into six blocks of equally many decisions.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": False, "probability": 0.1}
    >>> rows = [{"id": k, "time": f"2024-0{k}-15", **costs} for k in (4, 5)]
    >>> kind, of = periods_of(DecisionLog.from_rows(rows))
    >>> kind, of.tolist()
    ('month', ['2024-04', '2024-05'])
    """
    if period is not None and period not in PERIODS:
        raise OptionError(f"a period is one of {', '.join(PERIODS)}; got {period!r}")
    if not log.dated:
        if period is not None:
            raise OptionError(
                Message(f"the log has no dates, so it cannot be cut by {period}; leave out ", Remedy("period", period))
            )
        return "block", _blocks(log)
    days = log.days()
    there = np.unique(days)
    if period is None:
        period = next((kind for kind in PERIODS if len(np.unique(_starts(there, kind))) > 1), "day")
    starts, which = np.unique(_starts(there, period), return_inverse=True)
    names = np.array([f"{'week of ' if period == 'week' else ''}{start}" for start in starts])
    return period, Coded(which.astype(np.int32)[np.searchsorted(there, days)], names)


def _starts(days: NDArray[np.datetime64], period: str) -> NDArray[np.datetime64]:
    """Return the month, the Monday or the day of each day."""
    if period == "month":
        return days.astype("datetime64[M]")
    since_monday = (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    return days - since_monday if period == "week" else days


def _blocks(log: DecisionLog) -> Coded:
    """Return blocks by round."""
    rank = np.argsort(np.argsort(log.round, kind="stable"), kind="stable")
    n, blocks = len(log), min(BLOCKS, len(log))
    edges = [n * k // blocks for k in range(blocks + 1)]
    width = len(str(n))
    names = [f"{first + 1:>{width}}-{last}" for first, last in pairwise(edges)]
    return Coded((np.searchsorted(edges, rank, side="right") - 1).astype(np.int8), np.array(names, dtype=np.str_))


ONE = timedelta(days=1)


@dataclass(frozen=True)
class Days:
    """From one day to another, both included.

    Examples
    --------
    >>> june = Days(date(2024, 6, 1), date(2024, 6, 30))
    >>> str(june), str(june.before()), str(Days(date(2024, 6, 3), date(2024, 6, 9)).before())
    ('2024-06', '2024-05', '2024-05-27 to 2024-06-02')
    """

    first: date
    last: date

    def __str__(self) -> str:
        if self.first == self.last:
            return str(self.first)
        whole = self.months
        return str(self.first)[:7] if whole == 1 else f"{self.first} to {self.last}"

    @property
    def months(self) -> int:
        """How many calendar months these days are; 0 if they are no whole months."""
        end = self.last + ONE
        whole = self.first.day == 1 and end.day == 1
        return 12 * (end.year - self.first.year) + end.month - self.first.month if whole else 0

    def before(self) -> Days:
        """Return the days before: as many calendar months, or as many days."""
        if not self.months:
            return Days(self.first - (self.last - self.first) - ONE, self.first - ONE)
        since = 12 * self.first.year + self.first.month - 1 - self.months
        return Days(date(since // 12, since % 12 + 1, 1), self.first - ONE)


@dataclass(frozen=True)
class Reported:
    """The decisions of a report and, where somebody chose its days, those that the days before had."""

    log: DecisionLog
    days: Days | None = None  #: those of the report; None: the log has no dates
    before: DecisionLog | None = None
    days_before: Days | None = None  #: None: nobody chose days
    cut: bool = False  #: whether the log begins within the days before


def reported(log: DecisionLog, first_day: Any = None, last_day: Any = None) -> Reported:
    """Return the decisions from one day to another (dates in ISO 8601, both included), and those of the days before.

    Days are those that the clock on the wall said. Without days it is the whole log.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": False, "probability": 0.1}
    >>> log = DecisionLog.from_rows([{"id": k, "time": f"2024-0{k}-15", **costs} for k in (4, 5, 6)])
    >>> june = reported(log, "2024-06-01", "2024-06-30")
    >>> june.log.id.tolist(), june.before.id.tolist(), str(june.days_before)
    (['6'], ['5'], '2024-05')
    """
    asked = {name: day for name, day in (("first_day", first_day), ("last_day", last_day)) if day is not None}
    chosen = {name: as_day(name, day) for name, day in asked.items()}
    if not log.dated or not len(log):
        if not asked:
            return Reported(log)
        given = [part for name, day in asked.items() for part in (" and ", Remedy(name, str(day)))][1:]
        raise OptionError(Message("the log has no dates, so days cannot be chosen; leave out ", *given))
    days = log.days()
    there: tuple[date, date] = (days.min().item(), days.max().item())
    if not asked:
        return Reported(log, Days(*there))
    wanted = Days(chosen.get("first_day", there[0]), chosen.get("last_day", there[1]))
    if wanted.first > wanted.last and len(asked) == 2:
        raise OptionError(f"a report goes from one day to a later one; got {wanted.first} to {wanted.last}")
    inside = within(days, wanted)
    if not inside.any():
        which = " ".join(f"{'from' if name == 'first_day' else 'to'} {day}" for name, day in chosen.items())
        raise OptionError(f"no decision is {which}; the log has {there[0]} to {there[1]}")
    earlier = wanted.before()
    old = within(days, earlier)
    before = log.where(old) if old.any() else None
    return Reported(log.where(inside), wanted, before, earlier, there[0] > earlier.first)


def both_of(log: DecisionLog, chosen: Reported) -> tuple[DecisionLog, str] | None:
    """Return the decisions of the days of a report and of those before together, and their name; None: none before."""
    if chosen.days is None or chosen.days_before is None or chosen.before is None:
        return None
    both = Days(chosen.days_before.first, chosen.days.last)
    return log.where(within(log.days(), both)), str(both)


def as_day(option: str, text: Any) -> date:
    """Return a day from a date or a text such as 2024-05-31, which an option holds."""
    try:
        return text if type(text) is date else date.fromisoformat(str(text))
    except ValueError:
        raise OptionError(Message(Remedy(option), f" takes a day such as 2024-05-31; got {text!r}")) from None


def within(days: NDArray[np.datetime64], some: Days) -> NDArray[np.bool_]:
    """Return which days are among some."""
    return np.asarray((days >= np.datetime64(some.first)) & (days <= np.datetime64(some.last)))
