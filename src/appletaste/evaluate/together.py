"""Several thresholds of one log, told together: intervals that hold for all of them at once.

Thresholds asked of one log share its items and its luck. Each interval holds 9 times in 10, but the luckiest of eleven
is looked at first. The errors of the savings at thresholds j and k (``savings``) have the covariance

    C_jk = sum (g - v_j) (g - v_k) (1 - q) / q^2  +  sum e_j e_k (g - m)^2 (1 - p) / p^2 / q,     v = e (g - m) / p,

over labels that have arrived. With Z normal of the correlations of C, the quantile c of max |Z_j| takes the place of
the quantile z of a single |Z| (the sup-t band; Montiel Olea & Plagborg-Møller 2019): every interval is stretched about
its value by c / z, which keeps its shape. Alternatives that nearly agree need next to nothing; with Bonferroni eleven
would need 1.6 times the width whatever they are.

A threshold acts where the chance is at least t, so a sum over the acts of two thresholds is one over the acts of the
higher. All that is needed of the log are sums over the labelled items between two thresholds next to each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .alternatives import thresholds_of
from .answers import Answer, Estimate
from .questions import changes
from .stand_ins import Floats, generator
from .what_if import Ground

#: Draws behind the quantile.
DRAWS = 20_000


@dataclass(frozen=True)
class Together:
    """By how much intervals of several thresholds are stretched so that all of them hold at once."""

    factor: float

    def widened(self, answer: Answer) -> Answer:
        """Return an answer with the interval that holds together with those of the others."""
        if not isinstance(answer, Estimate):
            return answer
        low, high = (answer.value + self.factor * (end - answer.value) for end in (answer.low, answer.high))
        return replace(answer, low=low, high=high)


@dataclass(frozen=True)
class Sums:
    """What the covariance needs of some decisions, by how many of the thresholds each item's chance reaches."""

    drawn: Floats  #: of (g - m)^2 (1 - p) / p^2 / q: that actions were drawn
    cross: Floats  #: of g (g - m) / p (1 - q) / q^2
    square: Floats  #: of ((g - m) / p)^2 (1 - q) / q^2
    done: float  #: of g^2 (1 - q) / q^2: what was done, while labels are missing

    def covariance(self) -> Floats:
        """Return C, for the thresholds in rising order."""
        drawn, cross, square = (_from_each_on(values) for values in (self.drawn, self.cross, self.square))
        higher = np.maximum.outer(np.arange(len(drawn)), np.arange(len(drawn)))
        return np.asarray((drawn + square)[higher] + self.done - cross[:, None] - cross[None, :])


def _from_each_on(values: Floats) -> Floats:
    """Return for each threshold the sum over the items that reach it."""
    return np.asarray(np.cumsum(values[:0:-1])[::-1])


def sums_of(ground: Ground, thresholds: NDArray[np.float64], by_item: bool = False) -> Sums:
    """Return the sums over the decisions of a ground; ``by_item``: thresholds are multiples of each item's own."""
    log, support, rows = ground.log, ground.support, ground.support.arrival.known
    if log.chance is None or np.isnan(log.chance[rows]).any():
        nothing = np.zeros(len(thresholds) + 1)
        return Sums(nothing, nothing, nothing, 0.0)
    p, q, chance = log.probability[rows], support.arrival.seen, log.chance[rows]
    positive, negative = changes(log, rows)
    gain = np.where(log.label[rows] == 1, positive, negative)
    guess = negative * (1 - chance) + positive * chance
    off = np.where(support.usable[rows], gain - guess, 0.0)  # elsewhere the log is not asked
    own = thresholds_of(log.where(rows)) if by_item else np.ones(len(rows))
    compared = np.divide(chance, own, out=np.full(len(rows), np.inf), where=own > 0.0)
    reached, bins = np.searchsorted(thresholds, compared, side="right"), len(thresholds) + 1
    missing = (1.0 - q) / q**2

    def by_bin(values: Floats) -> Floats:
        return np.asarray(np.bincount(reached, weights=values, minlength=bins), dtype=np.float64)

    drawn = by_bin(off**2 * (1.0 - p) / p**2 / q)
    cross, square = by_bin(gain * off / p * missing), by_bin((off / p) ** 2 * missing)
    return Sums(drawn, cross, square, float((gain**2 * missing).sum()))


def stretch(covariance: Floats, level: float) -> float:
    """Return c / z for errors of a covariance; 1 where there is only one that is not known.

    Examples
    --------
    >>> round(stretch(np.ones((11, 11)), 0.9), 2), round(stretch(np.eye(11), 0.9), 2)
    (1.0, 1.57)
    """
    spread = np.sqrt(np.diag(covariance))
    unsure = spread > 1e-9 * max(float(spread.max(initial=0.0)), 1e-300)
    if unsure.sum() < 2:
        return 1.0
    errors = spread[unsure]
    values, vectors = np.linalg.eigh(covariance[np.ix_(unsure, unsure)] / np.outer(errors, errors))
    normal = generator("together").standard_normal((DRAWS, len(values)))
    largest = np.abs((normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T).max(axis=1)
    return max(1.0, float(np.quantile(largest, level)) / NormalDist().inv_cdf(0.5 + 0.5 * level))


def together(ground: Ground, thresholds: Sequence[float], by_item: bool = False) -> Together:
    """Say how much wider the intervals of ``what_if(log, t).saving`` must be for all thresholds t to hold at once.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=2000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> 1.0 < together(ground_of(log), [0.2, 0.3, 0.5]).factor < 1.5
    True
    """
    covariance = sums_of(ground, np.sort(thresholds), by_item).covariance()
    return Together(stretch(covariance, ground.level))
