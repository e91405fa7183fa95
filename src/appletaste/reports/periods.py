"""Which period each decision belongs to: months, weeks or days of its time, or blocks of rounds where there is none."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, OptionError
from ..logs import DecisionLog
from ..remedies import Message, Remedy
from ..times import DAY, instants

PERIODS = ("month", "week", "day")
#: Blocks of equally many decisions, where the log has no dates.
BLOCKS = 6


def periods_of(log: DecisionLog, period: str | None = None) -> tuple[str, NDArray[np.str_]]:
    """Return what a period is, and the name of each decision's; names sort as time does.

    Without a wish: months where the log has dates of more than one, else weeks, else days. A log without dates (none,
    or times that are plain numbers) is cut into six blocks of equally many decisions.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": False, "probability": 0.1}
    >>> rows = [{"id": k, "time": f"2024-0{k}-15", **costs} for k in (4, 5)]
    >>> periods_of(DecisionLog.from_rows(rows))
    ('month', array(['2024-04', '2024-05'], dtype='<U7'))
    """
    if period is not None and period not in PERIODS:
        raise OptionError(f"a period is one of {', '.join(PERIODS)}; got {period!r}")
    if log.time is None or log.time.dtype.kind != "U":
        if period is not None:
            raise OptionError(
                Message(f"the log has no dates, so it cannot be cut by {period}; leave out ", Remedy("period", period))
            )
        return "block", _blocks(log)
    seconds = instants(log.time, wall_clock=True)
    bad = np.flatnonzero(np.isnan(seconds))
    if len(bad):
        got = str(log.time[bad[0]])
        raise DataError(f"row {bad[0] + 1}: a time is a date such as 2024-05-31T12:00:00, got {got!r}")
    days = np.floor(seconds / DAY).astype("datetime64[D]")
    if period is None:
        period = next((kind for kind in PERIODS if len(np.unique(_starts(days, kind))) > 1), "day")
    starts, which = np.unique(_starts(days, period), return_inverse=True)
    return period, np.array([f"{'week of ' if period == 'week' else ''}{start}" for start in starts])[which]


def _starts(days: NDArray[np.datetime64], period: str) -> NDArray[np.datetime64]:
    """Return the month, the Monday or the day of each day."""
    if period == "month":
        return days.astype("datetime64[M]")
    since_monday = (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    return days - since_monday if period == "week" else days


def _blocks(log: DecisionLog) -> NDArray[np.str_]:
    """Return blocks by round."""
    rank = np.argsort(np.argsort(log.round, kind="stable"), kind="stable")
    n, blocks = len(log), min(BLOCKS, len(log))
    edges = [n * k // blocks for k in range(blocks + 1)]
    width = len(str(n))
    names = [f"{first + 1:>{width}}-{last}" for first, last in pairwise(edges)]
    return np.array([names[k] for k in np.searchsorted(edges, rank, side="right") - 1], dtype=np.str_)
