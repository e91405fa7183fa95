"""Scores known through draws of theta."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...costs import Costs
from ...errors import OptionError
from ...kernels.information import expected_regrets, mutual_information
from ..base import Outlook, Vector

Points = tuple[Vector, Vector]


class DrawnScore:
    """A score as points z_m with weights w_m, one per draw."""

    __slots__ = ("information_points", "points")

    def __init__(self, points: Points, information_points: Points) -> None:
        #: For expected regrets, and for the information gain: mostly the same ones.
        self.points, self.information_points = points, information_points

    @property
    def mean(self) -> float:
        """The mean of the points."""
        scores, weights = self.points
        return float(weights @ scores)

    @property
    def variance(self) -> float:
        """The variance of the points."""
        scores, weights = self.points
        return float(weights @ (scores - self.mean) ** 2)

    def above(self, cut: float) -> float:
        """Return P(z >= cut)."""
        scores, weights = self.points
        return float(weights[scores >= cut].sum())

    def expect(self, function: Callable[[Vector], Vector]) -> float:
        """Return E f(z)."""
        scores, weights = self.points
        return float(weights @ function(scores))

    def outlook(self, costs: Costs) -> Outlook:
        """Return averages over the points."""
        return Outlook(*expected_regrets(*self.points, costs.alarm_price, costs.catch_gain))

    def information(self) -> float:
        """Return I(theta; label) over the information points."""
        return float(mutual_information(*self.information_points))

    def direction(self) -> Vector:
        """Return V x."""
        raise OptionError("value-of-information rules need a posterior with a covariance, such as Laplace or Exact")

    def doubt(self) -> None:
        """Return None: no Gaussian prior is at hand."""

    def likelihood_weights(self) -> Vector:
        """Return weights of the information points in proportion to the likelihood of all labels so far."""
        raise OptionError('the "printed" information estimator needs a posterior made of draws, such as Gibbs')


def even_weights(scores: Vector) -> Points:
    """Return points of equal weight."""
    return scores, np.full(scores.size, 1.0 / scores.size)
