"""The seam between belief and decision.

A posterior is configured once (a frozen dataclass), carried as a ``Belief`` and asked one question: how is the
score z = x'theta of this item distributed? The answer is a ``Score``, and rules see nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..keys import Key

Vector = NDArray[np.float64]
Arrays = dict[str, NDArray[np.generic]]


class Score:
    """The distribution of one item's score, as weighted points and a tail probability.

    The tail probability may be known better than the points tell: a subclass may give it in closed form.
    """

    __slots__ = ("information_points", "points")

    #: Points z_m and weights w_m for expected regrets, and those for the information gain (mostly the same ones).
    points: tuple[Vector, Vector]
    information_points: tuple[Vector, Vector]

    def above(self, cut: float) -> float:
        """Return P(z >= cut)."""
        scores, weights = self.points
        return float(weights[scores >= cut].sum())

    def expect(self, function: Callable[[Vector], Vector]) -> float:
        """Return E f(z)."""
        scores, weights = self.points
        return float(weights @ function(scores))

    def likelihood_weights(self) -> Vector:
        """Return weights of the information points in proportion to the likelihood of all labels so far."""
        raise OptionError('the "printed" information estimator needs a posterior made of draws, such as Gibbs')


class Belief(Protocol):
    """What is carried from item to item."""

    def score(self, x: Vector, round_: int) -> Score:
        """Return how the score of x is distributed in a round; asking changes nothing that is carried.

        Read the answer before asking again: its points may be the belief's own storage.
        """

    def commit(self, round_: int) -> None:
        """Carry on to the next round."""

    def learn(self, x: Vector, label: int) -> None:
        """Take in one label."""

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""


class Posterior(Protocol):
    """A kind of belief and its settings."""

    def start(self, n_features: int, key: Key) -> Belief:
        """Return the belief before the first label."""
