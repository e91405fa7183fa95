"""Which period each decision belongs to: months, weeks or days of its time, or blocks of rounds where there is none."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, OptionError
from ..logs import DecisionLog

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
            raise OptionError(f"the log has no dates, so it cannot be cut by {period}; leave the period out")
        return "block", _blocks(log)
    moments = [_moment(str(text), row) for row, text in enumerate(log.time.tolist(), 1)]
    if period is None:
        kinds = [(kind, len({_name(moment, kind) for moment in moments})) for kind in PERIODS]
        period = next((kind for kind, count in kinds if count > 1), "day")
    return period, np.array([_name(moment, period) for moment in moments], dtype=np.str_)


def _moment(text: str, row: int) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise DataError(f"row {row}: a time is a date such as 2024-05-31T12:00:00, got {text!r}") from None


def _name(moment: datetime, period: str) -> str:
    if period == "month":
        return f"{moment:%Y-%m}"
    day = moment.date() - timedelta(days=moment.weekday()) if period == "week" else moment.date()
    return f"{'week of ' if period == 'week' else ''}{day.isoformat()}"


def _blocks(log: DecisionLog) -> NDArray[np.str_]:
    """Return blocks by round."""
    rank = np.argsort(np.argsort(log.round, kind="stable"), kind="stable")
    n, blocks = len(log), min(BLOCKS, len(log))
    edges = [n * k // blocks for k in range(blocks + 1)]
    width = len(str(n))
    names = [f"{first + 1:>{width}}-{last}" for first, last in pairwise(edges)]
    return np.array([names[k] for k in np.searchsorted(edges, rank, side="right") - 1], dtype=np.str_)
