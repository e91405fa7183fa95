"""Scores known as normal distributions: nothing is sampled, every expectation is a one-dimensional quadrature."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from ...costs import Costs
from ...decision import new_tuple
from ...kernels.information import NODE_WEIGHTS, NODES, REACH, normal_information, normal_outlook, normal_outlooks
from ..base import Doubt, Outlook, Vector

_U = REACH * np.concatenate([-NODES[::-1], NODES])
_W = np.concatenate([NODE_WEIGHTS[::-1], NODE_WEIGHTS]) * np.exp(-0.5 * _U**2)
_W /= _W.sum()


class NormalScore:
    """z ~ N(mean, variance), and V x."""

    __slots__ = ("_direction", "_doubt", "mean", "variance")

    def __init__(self, mean: float, variance: float, direction: Vector, doubt: Doubt | None = None) -> None:
        self.mean, self.variance, self._direction, self._doubt = mean, variance, direction, doubt

    def above(self, cut: float) -> float:
        """Return P(z >= cut), in closed form."""
        return tail(cut, self.mean, self.variance)

    def expect(self, function: Callable[[Vector], Vector]) -> float:
        """Return E f(z)."""
        return float(_W @ function(self.mean + math.sqrt(self.variance) * _U))

    def outlook(self, costs: Costs) -> Outlook:
        """Return the expectations by quadrature, split where acting starts to pay."""
        found = normal_outlook(
            self.mean, math.sqrt(self.variance), costs.score_threshold, costs.alarm_price, costs.catch_gain
        )
        return new_tuple(Outlook, found)

    def information(self) -> float:
        """Return I(theta; label)."""
        return float(normal_information(self.mean, math.sqrt(self.variance)))

    def direction(self) -> Vector:
        """Return V x."""
        return self._direction

    def doubt(self) -> Doubt | None:
        """Return what it takes to ask for surprises."""
        return self._doubt


class NormalScores:
    """Many scores, each normal: arrays instead of numbers, filled by threads."""

    __slots__ = ("directions", "doubt", "means", "variances")

    def __init__(self, means: Vector, variances: Vector, directions: Vector, doubt: Doubt | None = None) -> None:
        self.means, self.variances, self.directions, self.doubt = means, variances, directions, doubt

    def parts(self, part: slice) -> tuple[Vector, Vector, Vector]:
        """Return views of some of them."""
        return self.means[part], self.variances[part], self.directions[part]

    def __getitem__(self, k: int) -> NormalScore:
        return NormalScore(float(self.means[k]), float(self.variances[k]), self.directions[k], self.doubt)

    def above(self, cut: float) -> Vector:
        """Return P(z >= cut) of each."""
        return np.array([tail(cut, *moments) for moments in zip(self.means, self.variances, strict=True)])

    def outlooks(self, costs: Costs) -> Vector:
        """Return the outlook of each, one row each."""
        out = np.empty((len(self.means), 4))
        cut, price, gain = costs.score_threshold, costs.alarm_price, costs.catch_gain
        self.fill(lambda part: normal_outlooks(self.means[part], self.variances[part], cut, price, gain, out[part]))
        return out

    def fill(self, work: Callable[[slice], object]) -> None:
        """Let all cores do ``work`` on slices of the items; what is computed does not depend on how they are cut."""
        in_parallel(work, len(self.means))


PART = 256  # items that are worth handing to a thread


def in_parallel(work: Callable[[slice], object], n: int) -> None:
    """Call ``work`` on slices that cover 0 .. n, on all cores; it must release the GIL."""
    cores = min(os.cpu_count() or 1, n // PART)
    if cores <= 1:
        work(slice(0, n))
        return
    edges = [n * i // cores for i in range(cores + 1)]
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(work, [slice(a, b) for a, b in pairwise(edges)]))


def tail(cut: float, mean: float, variance: float) -> float:
    """Return P(z >= cut) for z ~ N(mean, variance); a point at the cut counts as above.

    Examples
    --------
    >>> tail(0.0, 1.0, 1.0), tail(1.0, 1.0, 0.0)
    (0.8413447460685429, 1.0)
    """
    if variance <= 0.0:
        return 1.0 if mean >= cut else 0.0
    return 0.5 * math.erfc((cut - mean) / math.sqrt(2.0 * variance))
