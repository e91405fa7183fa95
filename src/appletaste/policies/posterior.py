"""What a policy believes of theta at this moment: mean, covariance, scores, draws, and curves by column."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, OptionError
from ..features import FeatureMap
from ..features.model_curves import ModelCurves, curves_of
from ..keys import Key
from ..posteriors import Belief, Score, Vector
from ..posteriors.levels import Effect, LevelBelief
from .dependence import with_trees
from .forest import Forest
from .items import check_item

if TYPE_CHECKING:
    from .policy import Policy


def model_curves(posterior: CurrentPosterior, features: FeatureMap) -> ModelCurves:
    """Return the curves of the columns of a map.

    Bands come from the joint Gaussian of the coefficients of a column; of a chain (``Gibbs``, ``Exact``) it has the
    moments of its draws. A posterior that is a point has curves without bands. Labels are counted where they are kept.
    """
    width = posterior.n_features
    if not isinstance(features, FeatureMap):
        raise InputError(
            f"curves are drawn for the columns of a map that Encoder().fit(records) made, got {type(features).__name__}"
        )
    if features.n_features != width:
        raise InputError(
            f"features make vectors of {features.n_features}, the policy takes {width}: give the map that makes the "
            "vectors of this policy, such as ledger.features"
        )
    labels = posterior.belief.labels
    items = None if labels is None else np.ascontiguousarray(labels.revised({})[0][:, :width])
    mean, covariance = posterior.moments()
    own = None if covariance is None else covariance[:width, :width]
    found, forest = curves_of(features, mean[:width], own, items), posterior.forest
    if forest is None or items is None or covariance is None:
        return found
    typical = forest.longer(found.typical)
    base, spread = float(mean @ typical), float(np.sqrt(typical @ covariance @ typical))
    return with_trees(replace(found, base=base, base_spread=spread), features, forest, float(mean[-1]), items)


#: Draws behind the mean and the covariance of a posterior that is known by draws alone (``Gibbs``, ``Exact``).
DRAWS = 400


class CurrentPosterior:
    """The posterior of a policy as it stands; a window, not a copy: labels learnt later are seen through it.

    Made by ``Policy.posterior``. Asking changes nothing, and the same question to the same policy has the same answer.
    With a Gaussian posterior (``Laplace``, ``Adf``) mean and covariance are its own; with a chain (``Gibbs``,
    ``Exact``) they are those of 400 draws, and off by a twentieth of a standard deviation if those are independent.
    A posterior that is a point (``Map``) has a mean and nothing else. Places that hold the slot of a level have no
    coefficient: mean, covariance and draws are 0 there, and ``effects`` has what the levels of an item add.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("voi", n_features=2, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05), seed=7)
    >>> policy.teach([1.0, 2.0], label=1)
    >>> policy.posterior.mean.round(2).tolist()
    [0.3, 0.6]
    >>> x = [0.5, -1.0]
    >>> score = policy.posterior.score(x)
    >>> bool(abs(score.variance - x @ policy.posterior.covariance @ x) < 1e-12)
    True
    >>> policy.posterior.draws(1000).shape
    (1000, 2)
    """

    def __init__(self, policy: Policy) -> None:
        if policy.learner.belief is None:
            raise OptionError(
                f"{policy.name} is not made of a posterior and a rule, so it has no posterior to look at; "
                "policies such as 'voi', 'ts' or 'pg-ts' have one"
            )
        self._policy = policy

    def __repr__(self) -> str:
        return f"<posterior of {self._policy!r}>"

    @property
    def belief(self) -> Belief:
        """What carries the posterior, in the form that rules ask it; to be looked at."""
        belief = self._policy.learner.belief
        assert belief is not None  # checked when this window was opened
        return belief

    @property
    def forest(self) -> Forest | None:
        """The trees whose score is the last feature; None: no trees take part."""
        return self._policy.learner.forest

    @property
    def n_features(self) -> int:
        """How many features an item has; with trees theta has a coefficient more, the last."""
        return self._policy.n_features

    @property
    def is_point(self) -> bool:
        """Whether theta is believed to be known for certain: no covariance, no draws."""
        return not self.is_gaussian and not self.belief.sampled

    @property
    def is_gaussian(self) -> bool:
        """Whether mean and covariance are all there is to it."""
        return self.belief.covariance is not None

    @property
    def mean(self) -> Vector:
        """E theta, [features]; that of the score of trees, where these take part, stands behind those of the items."""
        found = self.belief.mean
        return np.array(self.draws().mean(axis=0) if found is None else found)

    @property
    def covariance(self) -> Vector:
        """V = Cov theta, [features, features]."""
        found = self.belief.covariance
        return np.array(np.atleast_2d(np.cov(self.draws(), rowvar=False)) if found is None else found)

    def moments(self) -> tuple[Vector, Vector | None]:
        """Return mean and covariance, of the same draws where there are draws; a point has no covariance."""
        if self.is_point:
            return self.mean, None
        if self.is_gaussian:
            return self.mean, self.covariance
        draws = self.draws()
        return np.array(draws.mean(axis=0)), np.array(np.atleast_2d(np.cov(draws, rowvar=False)))

    @property
    def has_levels(self) -> bool:
        """Whether columns with many levels add effects that are not in theta: ``effects`` has them."""
        return isinstance(self.belief, LevelBelief)

    def effects(self, x: ArrayLike) -> list[Effect]:
        """Return what the levels of an item add to the score x'theta: mean, variance and labels of each."""
        belief = self.belief
        return (
            belief.effects(check_item(x, self._policy.n_features, self._policy.slots))
            if isinstance(belief, LevelBelief)
            else []
        )

    def score(self, x: ArrayLike) -> Score:
        """Return how the score z = x'theta of an item is distributed, as ``decide`` would see it now.

        Read the answer before asking again: it may be the belief's own storage.
        """
        return self.belief.score(self.taken(x), self._policy.round + 1)

    def taken(self, x: ArrayLike) -> Vector:
        """Return an item as the posterior takes it: with the score of its trees behind, if any take part."""
        item = check_item(x, self._policy.n_features, self._policy.slots)
        return np.array(self._policy.learner.widened_one(item))

    def draws(self, n: int = DRAWS) -> Vector:
        """Return n draws of theta, [n, features].

        From a Gaussian they are m + L e with L L' = V and independent. From a chain they are the draws of as many
        rounds to come as are needed, each of which starts at the state of today: correlated within a round.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
            raise InputError(f"the number of draws must be a whole number >= 1, got {n!r}")
        policy, belief = self._policy, self.belief
        if self.is_point:
            raise OptionError(f"{policy.name} believes a single theta, the mean: there is no distribution to draw from")
        if self.is_gaussian:
            noise = Key(policy.seed).at("draws of theta", policy.round).generator()
            return np.asarray(self.mean + noise.standard_normal((n, len(self.mean))) @ _root(self.covariance).T)
        found: list[Vector] = []
        while sum(map(len, found)) < n:
            found.append(np.asarray(belief.draws(policy.round + 1 + len(found))))
        return np.concatenate(found)[:n]


def _root(covariance: Vector) -> Vector:
    """Return L with L L' = V, for a V whose smallest eigenvalues may have been rounded to just below zero."""
    return np.asarray(np.linalg.cholesky(covariance + 1e-12 * covariance.diagonal().max() * np.eye(len(covariance))))
