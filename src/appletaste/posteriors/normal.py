"""Scores known as normal distributions: nothing is sampled, every expectation is a one-dimensional quadrature."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..costs import Costs
from ..kernels.information import NODE_WEIGHTS, NODES, REACH, normal_information, normal_outlook
from .base import Outlook, Vector

_U = REACH * np.concatenate([-NODES[::-1], NODES])
_W = np.concatenate([NODE_WEIGHTS[::-1], NODE_WEIGHTS]) * np.exp(-0.5 * _U**2)
_W /= _W.sum()


class NormalScore:
    """z ~ N(mean, variance), and V x."""

    __slots__ = ("_direction", "mean", "variance")

    def __init__(self, mean: float, variance: float, direction: Vector) -> None:
        self.mean, self.variance, self._direction = mean, variance, direction

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
        return Outlook(*found)

    def information(self) -> float:
        """Return I(theta; label)."""
        return float(normal_information(self.mean, math.sqrt(self.variance)))

    def direction(self) -> Vector:
        """Return V x."""
        return self._direction


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
