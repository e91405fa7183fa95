"""The paper's posterior: a Pólya-Gamma Gibbs chain, carried from round to round (Algorithm GIBBS)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np

from .._checks import freeze, whole
from ..errors import OptionError
from ..kernels import gibbs as kernels
from ..kernels._jit import announce_compilation
from ..keys import Key
from .belief import Arrays, Belief, Score, Vector
from .groups import Groups, GroupScales, check_groups
from .label_table import Labels
from .prior import Gaussian
from .scores import DrawnScore, MixtureScore, even_weights

Schedule = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Gibbs:
    """Draw theta by ``sweeps`` Gibbs sweeps a round, each round starting where the last one ended.

    Parameters
    ----------
    sweeps
        M, a number or a schedule ``[(from_round, sweeps), ...]`` starting at round 1.
    burn_in
        Sweeps of each round that are run first and not used.
    separate_draws
        Use the first half of the draws for expected regrets and the second for the information gain.
    prior
        N(b, B), restricted to a region or not.
    rao_blackwell
        Average over the Gaussians that theta has given each sweep's Pólya-Gamma variables, not over one draw from each:
        the same expectations with less noise, for priors without a region.
    groups
        The group of each feature, ``FeatureMap.groups``, as ``Laplace`` takes it. The scales of curves are learnt
        whenever there are 6 % more labels, and the chain is of the exact posterior given the scales. None: all are in
        group 0.
    """

    sweeps: int | Schedule = 15
    burn_in: int = 0
    separate_draws: bool = False
    prior: Gaussian = field(default_factory=Gaussian)
    rao_blackwell: bool = False
    groups: Sequence[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sweeps", freeze(self.sweeps))
        object.__setattr__(self, "burn_in", freeze(self.burn_in))
        try:
            steps = self.schedule
        except (TypeError, ValueError):
            raise OptionError(f"sweeps is a number or a schedule of (round, sweeps), got {self.sweeps!r}") from None
        for first, sweeps in steps:
            whole("the round of a sweeps schedule", first, least=1)
            whole("sweeps", sweeps, least=2 if self.separate_draws else 1, most=10**6)
        rounds = [step[0] for step in steps]
        if not steps or rounds[0] != 1 or any(a >= b for a, b in pairwise(rounds)):
            raise OptionError(f"a sweeps schedule starts at round 1 and rises, got rounds {rounds}")
        whole("burn_in", self.burn_in, least=0, most=10**6)
        if self.rao_blackwell and self.prior.region is not None:
            raise OptionError("rao_blackwell needs a prior without a region: theta is not Gaussian within one")
        if self.rao_blackwell and self.separate_draws:
            raise OptionError("rao_blackwell averages over all sweeps: separate_draws has nothing to separate")
        if self.groups is not None:
            object.__setattr__(self, "groups", check_groups(self.groups))
            if self.prior.region is not None:
                raise OptionError("groups need a prior without a region: leave out groups, or the region")

    @property
    def schedule(self) -> tuple[tuple[int, int], ...]:
        """The sweeps as a schedule, whichever way they were given."""
        if isinstance(self.sweeps, Sequence):
            return tuple((first, sweeps) for first, sweeps in self.sweeps)
        return ((1, self.sweeps),)

    def start(self, n_features: int, key: Key) -> GibbsChain:
        """Return the chain before the first label."""
        groups = Groups(self.groups or (0,) * n_features, n_features)
        if not groups.blocks:
            return GibbsChain(self, n_features, key)
        return GibbsChain(replace(self, prior=groups.start(self.prior)), n_features, key, groups)


class GibbsScore(DrawnScore):
    """Scores under the draws, and the Gaussian of the last sweep that the tail probability comes from.

    Given the Pólya-Gamma variables of the last sweep, theta is Gaussian, so the probability with which PG-TS acts is
    known exactly, converged or not: z ~ N(centre, spread^2). If the prior is restricted, so is z: to [low, high], where
    the line through the last theta along which z moves leaves the region (one further exact Gibbs step on that line).

    The variance and the direction are those given omega too, without a region; what they miss is how the means given
    omega differ from sweep to sweep, which ``rao_blackwell`` adds.
    """

    __slots__ = ("_chain", "_x", "centre", "high", "low", "spread")

    def __init__(self, chain: GibbsChain, x: Vector, moments: tuple[float, float, float, float]) -> None:
        super().__init__(*chain.point_views)
        self._chain, self._x = chain, x
        self.centre, self.spread, self.low, self.high = moments

    def above(self, cut: float) -> float:
        """Return P(z >= cut | omega), in closed form."""
        if self.spread > 0.0 and self.low == -math.inf and self.high == math.inf:
            return 0.5 * math.erfc((cut - self.centre) / self.spread * math.sqrt(0.5))
        return kernels.chance_above(cut, self.centre, self.spread, self.low, self.high)

    @property
    def variance(self) -> float:
        """Var(z | omega) = x'Vx."""
        return self.spread * self.spread

    def direction(self) -> Vector:
        """Return V x, the covariance of theta and z given omega."""
        return self._chain.direction(self._x)

    def likelihood_weights(self) -> Vector:
        """Return weights of the information points in proportion to the likelihood of all labels so far."""
        return self._chain.likelihood_weights()


class GibbsChain(Belief):
    """The state of the sampler: labels, the last theta, and the draws of the round at hand."""

    sampled = True

    def __init__(self, settings: Gibbs, n_features: int, key: Key, groups: Groups | None = None) -> None:
        d = n_features
        announce_compilation(kernels.run_sweeps)
        self._settings = settings
        self._schedule = settings.schedule
        self._key = key.at("sweeps").word()
        self._kind, self._bounds = settings.prior.region_bounds(d)
        self._labels = Labels(d)
        self._scales = None if groups is None else GroupScales(groups, d)
        precision, mean = settings.prior.precision(d), settings.prior.mean_vector(d)
        self._belief = kernels.make_belief(d)
        self._belief[kernels.PRECISION : kernels.PRECISION + d] = precision
        self._belief[kernels.LINEAR] = precision @ mean
        self._mean = mean  # 0 where scales are learnt, so that precision @ mean stays as it is
        noise = key.at("start").generator().standard_normal(d)
        theta = mean + np.linalg.solve(np.linalg.cholesky(precision).T, noise)
        self._belief[kernels.THETA] = self._into_region(theta)
        self._scratch = kernels.make_scratch(d)
        self._swept = 0  # the round that the draws belong to; 0 when there are none
        self._allot(self._schedule[0][1])

    def _into_region(self, theta: Vector) -> Vector:
        """Return the point of the region nearest to theta: a start; without labels the first sweep redraws it."""
        if self._kind == kernels.BOX:
            return np.clip(theta, self._bounds[0], self._bounds[1])
        if self._kind == kernels.BALL:
            centre, radius = self._bounds[0], self._bounds[1, 0]
            distance = float(np.linalg.norm(theta - centre))
            return theta if distance <= radius else centre + (theta - centre) * (radius / distance)
        return theta

    def _allot(self, sweeps: int) -> None:
        self._draws = np.zeros((sweeps, self._belief.shape[1]))
        self._scores = np.zeros(sweeps)
        half = sweeps // 2 if self._settings.separate_draws else 0
        parts = (self._scores[: half or sweeps], self._scores[half:])
        #: The score points of the round (for regrets, for information) with their weights.
        self.point_views = (even_weights(parts[0]), even_weights(parts[1]))
        d = self._belief.shape[1]
        self._systems = np.zeros((sweeps if self._settings.rao_blackwell else 0, d + 1, d))
        self._components = np.zeros((2, len(self._systems)))

    def _sweep(self, round_: int) -> None:
        """Run this round's sweeps unless they have been run; they do not depend on the item."""
        if self._swept == round_:
            return
        if len(self._schedule) > 1:
            sweeps = next(m for first, m in reversed(self._schedule) if first <= round_)
            if sweeps != len(self._draws):
                self._allot(sweeps)
        kernels.run_sweeps(
            self._key,
            round_,
            self._labels.features,
            self._labels.n,
            self._belief,
            self._kind,
            self._bounds,
            self._settings.burn_in,
            self._draws,
            self._systems,
            self._scratch,
        )
        self._swept = round_

    def score(self, x: Vector, round_: int) -> Score:
        """Return how the score of x is distributed in a round."""
        if not self._settings.rao_blackwell:
            return self.drawn_score(x, round_)
        self._sweep(round_)
        return MixtureScore(x, self._systems, self._components)

    def drawn_score(self, x: Vector, round_: int) -> GibbsScore:
        """Return the scores of x under the draws of a round, and the Gaussian of its last sweep."""
        self._sweep(round_)
        moments = kernels.score_item(
            x, self._belief, self._kind, self._bounds, self._draws, self._scores, self._scratch
        )
        return GibbsScore(self, x, moments)

    def direction(self, x: Vector) -> Vector:
        """Return V x given the omega of the last sweep."""
        out = np.empty(x.size)
        kernels.covariance_with_score(self._belief[kernels.PRECISION + x.size :], x, out)
        return out

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._labels

    @property
    def precision(self) -> Vector:
        """B^-1, the precision of the prior at its present scales, a view."""
        d = self._belief.shape[1]
        precision: Vector = self._belief[kernels.PRECISION : kernels.PRECISION + d]
        return precision

    @property
    def theta(self) -> Vector:
        """Where the next round starts."""
        theta: Vector = self._belief[kernels.THETA]
        return theta

    def draws(self, round_: int) -> Vector:
        """Return the draws of theta of a round, one row each."""
        self._sweep(round_)
        return self._draws.copy()

    def commit(self, round_: int) -> None:
        """Carry the last draw on to the next round."""
        self._sweep(round_)
        self._belief[kernels.THETA] = self._draws[-1]
        self._swept = 0

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label, and the scales of curves if that is due."""
        self.add(x, label)
        if self._scales is not None:
            self._scales.learn(self._labels, self._mean, self.precision)

    def add(self, x: Vector, label: int) -> None:
        """Take in one label with the scales as they are."""
        labels = self._labels
        labels.make_room()
        kernels.add_label(labels.features, labels.values, labels.n, self._belief, x, float(label))
        labels.n += 1
        self._swept = 0

    def follow(self, other: GibbsChain) -> None:
        """Begin where another chain is, apart from its labels."""
        self._belief[kernels.THETA] = other.theta

    def likelihood_weights(self) -> Vector:
        """Return the likelihood of all labels under the draws behind the information points, summing to one."""
        logs = np.empty(len(self._draws))
        kernels.log_likelihoods(self._labels.features, self._labels.values, self._labels.n, self._draws, logs)
        logs = logs[-self.point_views[1][0].size :]
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        carried = self._belief[[kernels.LINEAR, kernels.THETA]]
        found = {**self._labels.arrays(), "linear": carried[0], "theta": carried[1]}
        if self._scales is None:
            return found
        return {**found, **self._scales.arrays(), "precisions": self.precision.diagonal().copy()}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._labels = Labels.from_arrays(arrays, self._belief.shape[1])
        self._belief[kernels.LINEAR], self._belief[kernels.THETA] = arrays["linear"], arrays["theta"]
        if self._scales is not None:
            self._scales.restore(arrays)
            np.fill_diagonal(self.precision, arrays["precisions"].astype(np.float64))
        self._swept = 0
