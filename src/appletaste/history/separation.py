"""How well one column alone tells the label: learnt on one half of the rows, tried on the other."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from ..keys import Key

#: Rows of either label that are looked at, at most; the area under the curve does not mind how many of each.
MOST = 5000
#: Rows of either label that a half needs.
FEWEST = 5
#: Bins of a number, and rows that a bin or level needs in the half that is learnt from, to have a rate of its own.
BINS, OWN = 20, 5
#: Values of a number of which a turn of their rates is no order any more.
FEW = 10

Places = NDArray[np.intp]


def sampled(labels: NDArray[np.int8]) -> Places:
    """Return the places of the rows that are looked at: at most ``MOST`` of either label, in order."""
    chosen = []
    for label in (0, 1):
        rows = np.flatnonzero(labels == label)
        if len(rows) > MOST:
            rows = Key(0).at("look", "sample", label).generator().choice(rows, MOST, replace=False)
        chosen.append(rows)
    return np.sort(np.concatenate(chosen))


def told_apart(column: NDArray[np.object_] | NDArray[np.float64], labels: NDArray[np.int8]) -> float:
    """Return the share of pairs of a positive and a negative that a column alone tells apart; NaN with too few rows.

    It is the area under the ROC curve (ties count half) on held-out rows, from 0.5 for nothing: rows are halved, the
    rate of positives is learnt by level (numbers: by 20 bins of equal share) on one half and ranks the other, and the
    other way round. For numbers their order ranks too, which is a single threshold; the better of both counts. A level
    with fewer than 5 rows in the half that is learnt from says nothing, so many levels fake nothing.

    On a column of noise an area is the mean of n uniforms or better behaved, so with n >= 5 rows of either label in
    each half one of 0.99 has probability of at most (0.01 n)^n / n! < 1e-8.

    Examples
    --------
    >>> labels = np.array([0, 1] * 100, dtype=np.int8)
    >>> told_apart(3.0 * labels + 1.0, labels), told_apart(np.ones(200), labels)
    (1.0, 0.5)
    """
    halves = Key(0).at("look", "halves").generator().permutation(len(labels)) % 2 == 0
    least = min(int((labels[half] == label).sum()) for half in (halves, ~halves) for label in (0, 1))
    if least < FEWEST:
        return math.nan
    found = [_by_rate(binned(column), labels, halves)]
    if column.dtype == np.float64:
        found.append(_by_order(column.astype(np.float64), labels, halves))
    return max(found)


def binned(column: NDArray[np.object_] | NDArray[np.float64]) -> Places:
    """Return the bin of each row: a level, one of 20 bins of a number, or missing; bins count from 0."""
    if column.dtype == np.float64:
        absent = np.isnan(column)
        known = column[~absent]
        if not len(known):
            return np.zeros(len(column), dtype=np.intp)
        values = np.unique(known)
        cuts = values if len(values) <= BINS else np.unique(np.quantile(known, np.arange(1, BINS) / BINS))
        return np.where(absent, len(cuts) + 1, np.searchsorted(cuts, column, side="left"))
    places: dict[str | None, int] = {}
    return np.array([places.setdefault(level, len(places)) for level in column.tolist()], dtype=np.intp)


def counts_of(places: Places, labels: NDArray[np.int8], bins: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the negatives and the positives in each bin."""
    return np.bincount(places[labels == 0], minlength=bins), np.bincount(places[labels == 1], minlength=bins)


def area(negatives: NDArray[np.int64], positives: NDArray[np.int64]) -> float:
    """Return the area under the ROC curve of bins in the order of their rank."""
    below = np.cumsum(negatives) - 0.5 * negatives
    return float((positives * below).sum() / (negatives.sum() * positives.sum()))


def _by_rate(places: Places, labels: NDArray[np.int8], halves: NDArray[np.bool_]) -> float:
    bins, found = int(places.max()) + 1, []
    for half in (halves, ~halves):
        negatives, positives = counts_of(places[half], labels[half], bins)
        rows, base = negatives + positives, float(labels[half].mean())
        rates = np.where(rows >= OWN, (positives + base) / (rows + 1.0), base)
        ranks = np.unique(rates, return_inverse=True)[1]
        found.append(area(*counts_of(ranks[places[~half]], labels[~half], bins)))
    return sum(found) / 2


def _by_order(column: NDArray[np.float64], labels: NDArray[np.int8], halves: NDArray[np.bool_]) -> float:
    known = column[~np.isnan(column)]
    if not len(known):
        return 0.5
    ranks = np.unique(np.where(np.isnan(column), np.median(known), column), return_inverse=True)[1]
    bins = int(ranks.max()) + 1
    one, two = (area(*counts_of(ranks[half], labels[half], bins)) for half in (halves, ~halves))
    return sum(found if learnt >= 0.5 else 1.0 - found for learnt, found in ((one, two), (two, one))) / 2


def disorder(values: NDArray[np.float64], labels: NDArray[np.int8]) -> tuple[float, float]:
    """Return how much of what a number's values say of the label has no order, and how probable as much is by chance.

    By value, the rates of positives vary by X = sum n (r - base)^2; around the nearest rates f that have an order, by
    Y. The share is Y / X. An order is one that only rises or only falls (isotonic regression); of more than ten values
    also one that turns once, as with age. If the true rates have an order, f is no farther from the rates than the true
    ones are, so the sum of n (r - f)^2 / f (1 - f) is at most nearly chi-squared with as many degrees of freedom as
    values (Robertson, Wright and Dykstra 1988); half a row of either label keeps f off 0 and 1.

    Examples
    --------
    >>> values, labels = np.repeat([1.0, 2.0, 3.0], 100), np.repeat([0, 1, 0, 1], [95, 110, 90, 5]).astype(np.int8)
    >>> share, chance = disorder(values, labels)
    >>> round(share, 2), chance < 1e-6
    (0.71, True)
    """
    places = np.unique(values, return_inverse=True)[1]
    negatives, positives = counts_of(places, labels, int(places.max()) + 1)
    rows, base = negatives + positives, float(labels.mean())
    rates, freedom = positives / rows, len(rows)
    total = float((rows * (rates - base) ** 2).sum())
    if total == 0.0:
        return 0.0, 1.0
    turns = [0, *(range(1, freedom) if freedom > FEW else ())]
    shapes = (sign * _turning(sign * rates, rows, turn) for turn in turns for sign in (1.0, -1.0))
    fit = min(shapes, key=lambda fit: float((rows * (rates - fit) ** 2).sum()))
    left = rows * (rates - fit) ** 2
    near = (rows * fit + 0.5) / (rows + 1.0)
    ninth = 2.0 / (9.0 * freedom)  # Wilson and Hilferty (1931)
    away = (float((left / (near * (1.0 - near))).sum()) / freedom) ** (1 / 3)
    return float(left.sum()) / total, NormalDist().cdf((1.0 - ninth - away) / math.sqrt(ninth))


def _turning(rates: NDArray[np.float64], rows: NDArray[np.int64], turn: int) -> NDArray[np.float64]:
    """Return the nearest rates that fall before a place and rise from there on."""
    return np.concatenate([-rising(-rates[:turn], rows[:turn]), rising(rates[turn:], rows[turn:])])


def rising(rates: NDArray[np.float64], rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the rates nearest to these that never fall, weighted by rows: pool adjacent violators.

    Examples
    --------
    >>> rising(np.array([0.1, 0.5, 0.3, 0.9]), np.array([10, 10, 10, 10]))
    array([0.1, 0.4, 0.4, 0.9])
    """
    pools: list[tuple[float, float, int]] = []  # rate, rows, bins
    for rate, weight in zip(rates.tolist(), rows.tolist(), strict=True):
        pools.append((rate, weight, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (high, one, some), (low, two, more) = pools[-2:]
            pools[-2:] = [((one * high + two * low) / (one + two), one + two, some + more)]
    return np.repeat([rate for rate, _, _ in pools], [bins for _, _, bins in pools]) if pools else np.zeros(0)
