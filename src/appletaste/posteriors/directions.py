"""Which directions have been seen, and how well: the sum of x x' over items, by its Cholesky factor."""

from __future__ import annotations

import math

import numpy as np

from ..kernels.linear import cholesky_update, inverse_norm
from .belief import Vector

#: The sum starts at this share of the first item's length, squared, in every direction: all but zero whatever the
#: scale of the features. A direction never seen then has all but infinite width, so that a policy that must act until
#: it has seen d directions does, and duplicated features, which never give full rank, have an answer.
RIDGE = 1e-4


class Directions:
    """A growing sum A = sum of x x', asked for the width |x| in the norm of A^-1; infinite before the first item."""

    __slots__ = ("_work", "factor")

    def __init__(self, n_features: int) -> None:
        self.factor = np.zeros((n_features, n_features))
        self._work = np.empty(n_features)

    def add(self, x: Vector) -> None:
        """Add x x'."""
        if self.factor[0, 0] == 0.0:
            length = math.sqrt(float(x @ x))
            np.fill_diagonal(self.factor, RIDGE * (length or 1.0))
        cholesky_update(self.factor, x.copy())

    def width(self, x: Vector) -> float:
        """Return sqrt(x' A^-1 x)."""
        if self.factor[0, 0] == 0.0:
            return math.inf
        return float(inverse_norm(self.factor, x, self._work))

    def matrix(self) -> Vector:
        """Return A."""
        return np.asarray(self.factor @ self.factor.T)
