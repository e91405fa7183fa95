"""Labels that should have arrived: pending for longer than nearly all labels take.

How long labels take is not what those that arrived took: of recent decisions only the quick ones have. So each label
that arrived counts by the share of decisions that were watched for as long (Kaplan & Meier 1958).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..logs import DecisionLog
from ..logs.lazy import each_batch
from ..records.events import PENDING
from ..times import DAY, instants

#: A label is overdue if it is pending for longer than this share of the labels that arrive takes.
USUAL = 0.95
#: Labels with a time of arrival, below which nobody can say how long labels take.
LEAST = 20
#: Seconds without a label, after the last decision, behind which labels have the times of another clock.
SILENCE = 180 * DAY


@dataclass(frozen=True)
class Overdue:
    """Labels that are overdue."""

    labels: int
    since: str  #: the time of the oldest of these decisions
    usual: str  #: how long labels take
    money: float | None  #: what acting on the items saved, by the model's chances
    other_clock: int = 0  #: labels that do not count: they came long after all decisions, as by another clock


def overdue_labels(log: DecisionLog) -> Overdue | None:
    """Return the labels that are overdue by the last time in the log; None if none is, or the log has no times.

    Labels with the times of another clock than that of decisions do not say how late labels are, and are left out.

    Examples
    --------
    >>> row = {"miss": 5, "false_alarm": 1, "hit": 0, "act": True, "probability": 1.0, "chance": 0.5}
    >>> rows = [{"id": k, "time": float(k), "label": 0, "label_time": k + 2.0, **row} for k in range(100)]
    >>> rows[7] |= {"label": None, "label_time": None}
    >>> overdue_labels(DecisionLog.from_rows(rows))
    Overdue(labels=1, since='time 7', usual='2', money=2.5, other_clock=0)
    """
    pending = np.flatnonzero(np.asarray(log.state == PENDING))
    if log.time is None or log.label_time is None or not len(pending):
        return None
    decided, arrived = _seconds(log.time), _seconds(log.label_time)
    dated = log.time.dtype.kind == "U"
    other = _other_clock(decided, arrived) if dated else np.zeros(len(log), dtype=np.bool_)
    arrived = np.where(other, np.nan, arrived)
    took = np.maximum((arrived - decided)[log.labelled & ~np.isnan(arrived)], 0.0)  # a day is taken as its beginning
    if len(took) < LEAST:
        return None
    waited = float(max(np.nanmax(decided), np.nanmax(arrived))) - decided[pending]
    usual = usual_delay(took, waited)
    late = pending[waited > usual]
    if not len(late):
        return None
    oldest = late[np.argmin(decided[late])]
    chance = None if log.chance is None else log.chance[late]
    money = None if chance is None or np.isnan(chance).any() else float((chance * log.catch_gain[late]).sum())
    return Overdue(
        labels=len(late),
        since=str(log.time[int(oldest)])[:10] if dated else f"time {log.time[int(oldest)]:g}",
        usual=f"{usual / DAY:.1f} days" if dated else f"{usual:g}",
        money=money,
        other_clock=int(other.sum()),
    )


def _other_clock(decided: NDArray[np.float64], arrived: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which labels came behind a silence of half a year, longer than the log until then.

    Labels came before the silence, too: where all of them are late, that is how late labels are.
    """
    last, times = float(np.nanmax(decided)), np.sort(arrived[~np.isnan(arrived)])
    ends = np.concatenate([[last], times[times > last]])
    silent = np.flatnonzero(np.diff(ends) > np.maximum(SILENCE, ends[:-1] - float(np.nanmin(decided))))
    other = arrived > (ends[silent[0]] if len(silent) else np.inf)
    return other if len(times) - int(other.sum()) >= LEAST else np.zeros(len(arrived), dtype=np.bool_)


def usual_delay(took: NDArray[np.float64], waited: NDArray[np.float64]) -> float:
    """Return within which time 95 % of the labels that arrive do, by what arrived and how long others were waited for.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> delay, watched = rng.uniform(0, 10, 5000), rng.uniform(0, 20, 5000)  # a fifth has not arrived
    >>> early = delay <= watched
    >>> round(float(np.quantile(delay[early], 0.95)), 1), round(usual_delay(delay[early], watched[~early]), 1)
    (9.3, 9.5)
    """
    lengths = np.concatenate([took, waited])
    came = np.arange(len(lengths)) < len(took)
    order = np.lexsort((~came, lengths))
    share = came[order] / np.arange(len(lengths), 0, -1)
    still_out = np.cumprod(1.0 - share)
    arrived = 1.0 - still_out
    return float(lengths[order][np.searchsorted(arrived, USUAL * arrived[-1])])


def _seconds(column: NDArray[Any]) -> NDArray[np.float64]:
    """Return times as numbers; NaN where there is none."""
    if column.dtype.kind != "U":
        return np.asarray(column[:], dtype=np.float64)
    return np.concatenate(list(each_batch(column, instants, what="reading times")))
