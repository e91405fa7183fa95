"""How the score of one item is distributed.

By draws of theta; as a normal distribution, where nothing is sampled and every expectation is a one-dimensional
quadrature; as a mixture of these; by the steps of a Metropolis chain, smoothed by the Gaussian that proposed them; and
with the part that each level of an item has in its variance.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from ..costs import Costs
from ..decision import new_tuple
from ..errors import OptionError
from ..kernels import gibbs, information
from ..kernels.information import (
    NODE_WEIGHTS,
    NODES,
    REACH,
    expected_regrets,
    mutual_information,
    normal_information,
    normal_outlook,
    normal_outlooks,
)
from .belief import Doubt, Outlook, Vector

Points = tuple[Vector, Vector]


class DrawnScore:
    """A score as points z_m with weights w_m, one per draw."""

    __slots__ = ("information_points", "points")
    #: Labels on their way are kept in mind under a Gaussian alone.
    stranger = 0.0

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
        """Return None: surprises are looked for under a Gaussian prior alone."""

    def likelihood_weights(self) -> Vector:
        """Return weights of the information points in proportion to the likelihood of all labels so far."""
        raise OptionError('the "printed" information estimator needs a posterior made of draws, such as Gibbs')


def even_weights(scores: Vector) -> Points:
    """Return points of equal weight."""
    return scores, np.full(scores.size, 1.0 / scores.size)


_U = REACH * np.concatenate([-NODES[::-1], NODES])
_W = np.concatenate([NODE_WEIGHTS[::-1], NODE_WEIGHTS]) * np.exp(-0.5 * _U**2)
_W /= _W.sum()


class NormalScore:
    """z ~ N(mean, variance), and V x."""

    __slots__ = ("_direction", "_doubt", "mean", "stranger", "variance")

    def __init__(
        self, mean: float, variance: float, direction: Vector, doubt: Doubt | None = None, stranger: float = 0.0
    ) -> None:
        self.mean, self.variance, self._direction, self._doubt = mean, variance, direction, doubt
        #: The share in which the labels that have arrived do not speak for the item.
        self.stranger = stranger

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


class MixtureScore:
    """z | omega_m ~ N(mean_m, spread_m^2), each of the round's sweeps m alike.

    Given the Pólya-Gamma variables omega of a sweep theta is Gaussian. Averaging over these Gaussians instead of over
    one draw from each leaves the mean of every estimate as it is and takes away the noise of the draws (Rao-Blackwell).
    """

    __slots__ = ("_components", "_systems", "_x")
    stranger = 0.0

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
        """Return None: surprises are looked for under a Gaussian prior alone."""


class ExactScore:
    """Scores z_k under the K states of the round and z~_k under its proposals, which are draws from N(mean, variance).

    The tail is the probability that one more step, from the last state, ends above the cut (``kernels.metropolis``).
    Given that state an action is drawn with exactly this probability, and its mean is the posterior probability.
    Other expectations are quadratures under the Gaussian, corrected by mean_k [f(z_k) - f(z~_k)]: exact in the
    mean, with noise from rejected steps only. (Regrets, chance, slope and information are kept in their range,
    which tells where the noise is as large as they are.) Mean, variance and direction are those of the Gaussian.
    """

    __slots__ = ("_across", "_anchor", "_scores", "_steps", "mean", "variance")
    stranger = 0.0

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
        """Return None: surprises are looked for under a Gaussian prior alone."""


class LevelScore(NormalScore):
    """z ~ N(mean, variance), V x of the places that hold numbers, and of each level its slot, mean and variance."""

    __slots__ = ("parts",)

    def __init__(self, mean: float, variance: float, direction: Vector, parts: Vector) -> None:
        super().__init__(mean, variance, direction)
        #: [3, columns], see ``kernels.levels``: the belief's own storage, until it is asked again.
        self.parts = parts


class LevelScores(NormalScores):
    """Many scores of items with levels; ``levels`` are [item, 3, column]."""

    __slots__ = ("levels",)

    def __init__(self, means: Vector, variances: Vector, directions: Vector, parts: Vector) -> None:
        super().__init__(means, variances, directions)
        self.levels = parts

    def __getitem__(self, k: int) -> LevelScore:
        return LevelScore(float(self.means[k]), float(self.variances[k]), self.directions[k], self.levels[k])
