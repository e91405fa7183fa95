"""Scores known through the steps of a Metropolis chain, smoothed by the Gaussian that proposed them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...costs import Costs
from ...kernels import information
from ..base import Outlook, Vector
from .normal import NormalScore


class ExactScore:
    """Scores z_k under the K states of the round and z~_k under its proposals, which are draws from N(mean, variance).

    The tail is the probability that one more step, from the last state, ends above the cut (``kernels.metropolis``).
    Given that state an action is drawn with exactly this probability, and its mean is the posterior probability.
    Other expectations are quadratures under the Gaussian, corrected by mean_k [f(z_k) - f(z~_k)]: exact in the
    mean, with noise from rejected steps only. (Regrets, chance, slope and information are kept in their range,
    which tells where the noise is as large as they are.) Mean, variance and direction are those of the Gaussian.
    """

    __slots__ = ("_across", "_anchor", "_scores", "_steps", "mean", "variance")

    def __init__(
        self,
        x: Vector,
        anchor: Vector,
        path: Vector,
        steps: int,
        scores: Vector,
        across: Callable[[ExactScore, float], float],
    ) -> None:
        self._anchor, self._steps, self._scores, self._across = anchor, steps, scores, across
        self.mean, self.variance = information.score_item(x, anchor, path, steps, scores)

    def above(self, cut: float) -> float:
        """Return the probability that one more step ends with z >= cut."""
        return self._across(self, cut)

    def expect(self, function: Callable[[Vector], Vector]) -> float:
        """Return E f(z), by quadrature and corrected."""
        states, proposals = self._scores[:2, : self._steps]
        smooth = NormalScore(self.mean, self.variance, proposals).expect(function)
        return smooth + float(np.mean(function(states) - function(proposals)))

    def outlook(self, costs: Costs) -> Outlook:
        """Return the expectations by quadrature, corrected and kept in their range."""
        found = information.corrected_outlook(
            self.mean,
            math.sqrt(self.variance),
            self._scores,
            self._steps,
            costs.score_threshold,
            costs.alarm_price,
            costs.catch_gain,
        )
        return Outlook(*found)

    def information(self) -> float:
        """Return I(theta; label), from corrected quadratures."""
        return information.corrected_information(self.mean, math.sqrt(self.variance), self._scores, self._steps)

    def direction(self) -> Vector:
        """Return V x of the Gaussian."""
        out = np.empty(self._anchor.shape[1])
        information.direction(self._anchor, self._scores, out)
        return out

    def doubt(self) -> None:
        """Return None: no Gaussian prior is at hand."""
