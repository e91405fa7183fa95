"""Which period each decision belongs to: months, weeks or days of its time, or blocks of rounds where there is none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, OptionError
from ..logs import DecisionLog
from ..logs.coded import Coded
from ..logs.lazy import each_batch
from ..remedies import Message, Remedy
from ..times import DAY, instants

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
    if log.time is None or log.time.dtype.kind != "U":
        if period is not None:
            raise OptionError(
                Message(f"the log has no dates, so it cannot be cut by {period}; leave out ", Remedy("period", period))
            )
        return "block", _blocks(log)
    days = days_of(log)
    there = np.unique(days)
    if period is None:
        period = next((kind for kind in PERIODS if len(np.unique(_starts(there, kind))) > 1), "day")
    starts, which = np.unique(_starts(there, period), return_inverse=True)
    names = np.array([f"{'week of ' if period == 'week' else ''}{start}" for start in starts])
    return period, Coded(which.astype(np.int32)[np.searchsorted(there, days)], names)


def days_of(log: DecisionLog) -> NDArray[np.datetime64]:
    """Return the day of each decision by the clock on the wall; a log with a time that is no date is refused."""
    days = np.concatenate(list(each_batch(log.time, _days, what="reading times")))
    bad = np.flatnonzero(np.isnat(days))
    if len(bad):
        got = "" if log.time is None else str(log.time[bad[0]])
        raise DataError(f"row {bad[0] + 1}: a time is a date such as 2024-05-31T12:00:00, got {got!r}")
    return days


def _days(times: NDArray[np.str_]) -> NDArray[np.datetime64]:
    """Return the day of each time; none where there is no such date."""
    seconds = instants(times, wall_clock=True)
    days = np.floor(np.where(np.isnan(seconds), 0.0, seconds) / DAY).astype(np.int64).astype("datetime64[D]")
    days[np.isnan(seconds)] = np.datetime64("NaT")
    return days


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
