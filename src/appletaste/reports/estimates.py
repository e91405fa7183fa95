"""Labels that should have arrived: pending for longer than nearly all labels take.

How long labels take is not what those that arrived took: of recent decisions only the quick ones have. So each label
that arrived counts by the share of decisions that were watched for as long (Kaplan & Meier 1958).

What one more review is worth: the price that reviews had when items were decided, checked by labels on such items.

A desk with a capacity keeps the shadow price of a review beside each decision: the worth of the best recent item beyond
the capacity, by the model. One more review a day would have been spent at about that price. So its value is the sum
over days of the day's median price; the mean would be that of the last items of a day whose reviews were used up.
The items next in line were worth at least half the price. Those of them that were seen by chance say what acting on
such an item really brings, each standing for 1 / p of them (Hájek 1971).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..evaluate import Estimate, Refusal
from ..evaluate.answers import Answer
from ..evaluate.lateness import LEAST, of_another_clock, seconds_of
from ..logs import DecisionLog
from ..records.events import PENDING
from ..times import DAY

#: Positives among the labels on items next in line, below which these labels cannot check the price.
LEAST_POSITIVES = 5
#: An item is next in line if its worth is at least this share of the price.
NEXT = 0.5
#: Where there are no days, one more review for so many items.
ITEMS = 100


@dataclass(frozen=True)
class Review:
    """What one more review a day (or for every 100 items) would have saved."""

    value: float  #: by the model
    reviews: float  #: how many that is
    daily: bool
    seen: Answer  #: the same, by labels on the items next in line
    labels: int  #: such labels


def value_of_a_review(log: DecisionLog, level: float) -> Review | None:
    """Return what one more review a day is worth; None where reviews had no price.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": False, "probability": 0.1, "price": 2.0}
    >>> rows = [{"id": k, "time": f"2024-05-0{1 + k % 3}", **costs} for k in range(30)]
    >>> value_of_a_review(DecisionLog.from_rows(rows), 0.9).value
    6.0
    """
    if log.price is None:
        return None
    price = np.asarray(log.price[:], dtype=np.float64)
    priced = ~np.isnan(price)
    if not priced.any() or not price[priced].any():
        return None
    daily = log.dated
    if daily:
        medians = _medians(log.days()[priced].astype(np.int64), price[priced])
        value, reviews = float(medians.sum()), float(len(medians))
    else:
        value, reviews = float(price[priced].sum()) / ITEMS, float(priced.sum()) / ITEMS
    seen, labels = _seen(log, price, level)
    if isinstance(seen, Estimate):
        seen = Estimate(reviews * seen.value, reviews * seen.low, reviews * seen.high, level, seen.assumes)
    return Review(value, reviews, daily, seen, labels) if value > 0.0 else None


def _medians(groups: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each group."""
    order = np.lexsort((values, groups))
    starts = np.flatnonzero(np.r_[True, np.diff(groups[order]) != 0])
    ends = np.r_[starts[1:], len(order)]
    low, high = values[order[(starts + ends - 1) // 2]], values[order[(starts + ends) // 2]]
    return np.asarray(0.5 * (low + high))


def _seen(log: DecisionLog, price: NDArray[np.float64], level: float) -> tuple[Answer, int]:
    """Return what acting on an item next in line brings on average, by the labels on such items."""
    few = Refusal("too few positives were seen among the items next in line", "audit more")
    if log.worth is None:
        return few, 0
    worth = np.asarray(log.worth[:], dtype=np.float64)
    known = log.labelled & (log.probability < 1.0) & (price > 0.0) & (worth < price) & (worth >= NEXT * price)
    if int((log.label[known] == 1).sum()) < LEAST_POSITIVES:
        return few, int(known.sum())
    gain, weight = -log.relative_cost[known], 1.0 / log.probability[known]
    mean = float((gain * weight).sum() / weight.sum())
    error = math.sqrt(float((((gain - mean) * weight) ** 2).sum())) / float(weight.sum())
    reach = NormalDist().inv_cdf(0.5 + 0.5 * level) * error
    assumes = "each action was drawn with its recorded probability"
    return Estimate(mean, mean - reach, mean + reach, level, assumes), int(known.sum())


#: A label is overdue if it is pending for longer than this share of the labels that arrive takes.
USUAL = 0.95


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
    decided, arrived = seconds_of(log.time), seconds_of(log.label_time)
    dated = log.time.dtype.kind == "U"
    other = of_another_clock(decided, arrived) if dated else np.zeros(len(log), dtype=np.bool_)
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
