"""Scores known as mixtures of normal distributions: expectations are averages of one-dimensional quadratures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...costs import Costs
from ...kernels import gibbs
from ..base import Outlook, Vector
from .normal import NormalScore


class MixtureScore:
    """z | omega_m ~ N(mean_m, spread_m^2), each of the round's sweeps m alike.

    Given the Pólya-Gamma variables omega of a sweep theta is Gaussian. Averaging over these Gaussians instead of over
    one draw from each leaves the mean of every estimate as it is and takes away the noise of the draws (Rao-Blackwell).
    """

    __slots__ = ("_components", "_systems", "_x")

    def __init__(self, x: Vector, systems: Vector, components: Vector) -> None:
        self._x, self._systems, self._components = x, systems, components
        gibbs.score_components(x, systems, components, np.empty(x.size))

    @property
    def mean(self) -> float:
        """E z."""
        return float(self._components[gibbs.MEANS].mean())

    @property
    def variance(self) -> float:
        """The mean of the variances plus the variance of the means."""
        means, spreads = self._components
        return float((spreads**2).mean() + means.var())

    def above(self, cut: float) -> float:
        """Return P(z >= cut), in closed form."""
        return float(gibbs.mixture_above(self._components, cut))

    def expect(self, function: Callable[[Vector], Vector]) -> float:
        """Return E f(z)."""
        each = [NormalScore(mean, spread**2, self._x).expect(function) for mean, spread in self._components.T]
        return float(np.mean(each))

    def outlook(self, costs: Costs) -> Outlook:
        """Return the expectations by quadrature."""
        return Outlook(
            *gibbs.mixture_outlook(self._components, costs.score_threshold, costs.alarm_price, costs.catch_gain)
        )

    def information(self) -> float:
        """Return I(theta; label)."""
        return float(gibbs.mixture_information(self._components))

    def direction(self) -> Vector:
        """Return V x = Cov(theta, z): the mean of the covariances plus the covariance of the means."""
        out = np.empty(self._x.size)
        gibbs.mixture_direction(self._x, self._systems, self._components, out, np.empty(self._x.size))
        return out

    def doubt(self) -> None:
        """Return None: no Gaussian prior is at hand."""
