"""What one more review is worth: the price that reviews had when items were decided, checked by labels on such items.

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
from ..logs import DecisionLog
from .periods import days_of

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
    daily = log.time is not None and log.time.dtype.kind == "U"
    if daily:
        medians = _medians(days_of(log)[priced].astype(np.int64), price[priced])
        value, reviews = float(medians.sum()), float(len(medians))
    else:
        value, reviews = float(price[priced].sum()) / ITEMS, float(priced.sum()) / ITEMS
    seen, labels = _seen(log, price, level)
    if isinstance(seen, Estimate):
        seen = Estimate(reviews * seen.value, reviews * seen.low, reviews * seen.high, level, seen.assumes)
    return Review(value, reviews, daily, seen, labels) if value > 0.0 else None


def scarce(log: DecisionLog) -> bool:
    """Return whether acts had a price: a capacity that was not enough."""
    return log.price is not None and bool(np.nansum(log.price[:]) > 0.0)


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
