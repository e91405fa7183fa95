"""What each policy is made of: a function each, whose keywords are its options and whose first line is its summary."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError
from ..features.levels import SLOTS
from ..features.numbers import OPEN
from ..posteriors import Adf, Exact, Gaussian, Gibbs, Laplace, Map
from ..posteriors.gibbs import Schedule
from ..posteriors.half_life import Forgetting, HalfLife
from ..rules import (
    EpsilonGreedy,
    InformationDirected,
    InverseGap,
    Thompson,
    Traditional,
    UpperBound,
    ValueOfInformation,
)
from .bayesian import Bayesian
from .cbp_side import CbpSide, RandCbpSide
from .fixed import Constant, Oracle
from .learner import Method
from .sup_logistic import SupLogistic

Prior = Gaussian | float | None
Groups = Sequence[int] | None


def as_prior(prior: Prior) -> Gaussian:
    """Return a prior: the one given, N(0, v I) for a number v, N(0, I) for none."""
    if isinstance(prior, Gaussian):
        return prior
    if prior is None or isinstance(prior, int | float | np.number):
        return Gaussian(0.0, 1.0 if prior is None else prior)
    raise OptionError(f"prior is an appletaste.posteriors.Gaussian or a variance, got {prior!r}")


#: The share of coefficients that may be far beyond the learnt scale, where nobody says (docs/rules.md has the figures).
SURPRISES = 0.2


def laplace(
    skew: bool,
    adaptive: bool | None,
    prior: Prior,
    half_life: HalfLife,
    groups: Groups = None,
    surprises: float | None = 0.0,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
) -> Laplace:
    """Return the Laplace posterior; a prior that somebody has chosen is left alone unless they say so.

    That is: where no prior is given its scale is learnt and, if ``surprises`` is None, ``SURPRISES`` are believed in,
    unless levels have effects of their own.
    """
    learnt = prior is None if adaptive is None else adaptive
    if surprises is None:
        surprises = SURPRISES if learnt and prior is None and slots_in(groups) is None else 0.0
    return Laplace(as_prior(prior), skew, learnt, half_life, groups, surprises, sensitivity, specificity)


def with_trees(trees: bool | None, prior: Prior, *reviewers: float) -> bool:
    """Return whether trees may take part.

    Where nobody says, not beside a prior that somebody has chosen, nor where reviewers err: with a chance to be right
    that is below 1.
    """
    return prior is None and min(reviewers, default=1.0) == 1.0 if trees is None else trees


def counted(groups: Groups) -> int | None:
    """Return how many features count where some are ramps of curves; None: all of them. The score of a model is one."""
    return None if groups is None else max(1, sum(group in (0, SLOTS) for group in groups) + (OPEN in groups))


def slots_in(groups: Groups) -> tuple[int, ...] | None:
    """Return the places that hold slots of levels; None: there are none."""
    return tuple(place for place, group in enumerate(groups or ()) if group == SLOTS) or None


def rounds_of(half_life: HalfLife) -> float | None:
    """Return a half-life in rounds, for rules that look ahead; None where there is none, or its clock is another."""
    found = Forgetting.of(half_life)
    return None if found is None or found.timed else found.half_life


def pg_ts(
    *,
    sweeps: int | Schedule = 15,
    burn_in: int = 0,
    prior: Prior = None,
    rao_blackwell: bool = False,
    groups: Groups = None,
) -> Method:
    """Pólya-Gamma Thompson sampling: act as often as acting is best."""
    return Bayesian(Gibbs(sweeps, burn_in, False, as_prior(prior), rao_blackwell, groups), Thompson())


def pg_ids(
    *,
    weight: float = 0.05,
    estimator: str = "mutual-information",
    sweeps: int | Schedule = 15,
    burn_in: int = 0,
    separate_draws: bool = False,
    prior: Prior = None,
    rao_blackwell: bool = False,
    groups: Groups = None,
) -> Method:
    """Tunable Pólya-Gamma information-directed sampling: pay regret for information at a set rate."""
    if rao_blackwell and estimator != "mutual-information":
        raise OptionError(f"estimator={estimator} needs draws of theta; rao_blackwell has none")
    posterior = Gibbs(sweeps, burn_in, separate_draws, as_prior(prior), rao_blackwell, groups)
    return Bayesian(posterior, InformationDirected(weight, estimator))


def pg_ids_traditional(
    *,
    sweeps: int | Schedule = 15,
    burn_in: int = 0,
    prior: Prior = None,
    rao_blackwell: bool = False,
    groups: Groups = None,
) -> Method:
    """Traditional Pólya-Gamma information-directed sampling: the least regret squared per information."""
    return Bayesian(Gibbs(sweeps, burn_in, False, as_prior(prior), rao_blackwell, groups), Traditional())


def voi(
    *,
    horizon: int | None = None,
    randomised: bool = False,
    eagerness: float = 1.0,
    ahead: str = "double",
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    surprises: float | None = None,
    trees: bool | None = None,
    vigilance: float = 1e-4,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
) -> Method:
    """Value of information on the Laplace posterior: the recommended policy."""
    rule = ValueOfInformation(
        horizon,
        eagerness,
        ahead,
        randomised,
        half_life=rounds_of(half_life),
        features=counted(groups),
        levels=slots_in(groups),
        sensitivity=sensitivity,
        specificity=specificity,
    )
    posterior = laplace(skew, adaptive, prior, half_life, groups, surprises, sensitivity, specificity)
    taken = with_trees(trees, prior, sensitivity, specificity)
    # bets on labels in their turn ask whether one rate says labels better: they are for labels that are true
    in_order = vigilance != 0.0 and sensitivity == specificity == 1.0
    return Bayesian(posterior, rule, vigilance, taken, in_order=in_order)


def ids(
    *,
    weight: float = 0.05,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    trees: bool | None = None,
) -> Method:
    """Tunable information-directed sampling on the Laplace posterior, by quadrature."""
    return Bayesian(
        laplace(skew, adaptive, prior, half_life, groups), InformationDirected(weight), trees=with_trees(trees, prior)
    )


def ids_traditional(
    *,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    trees: bool | None = None,
) -> Method:
    """Traditional information-directed sampling on the Laplace posterior, by quadrature."""
    return Bayesian(laplace(skew, adaptive, prior, half_life, groups), Traditional(), trees=with_trees(trees, prior))


def ts(
    *,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    trees: bool | None = None,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
) -> Method:
    """Thompson sampling on the Laplace posterior, its probability in closed form."""
    reviewers = sensitivity, specificity
    posterior = laplace(skew, adaptive, prior, half_life, groups, 0.0, *reviewers)
    return Bayesian(posterior, Thompson(), trees=with_trees(trees, prior, *reviewers))


def ucb(
    *,
    patience: float = 2.0,
    randomised: bool = False,
    skew: bool = False,
    adaptive: bool = False,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    sensitivity: float = 1.0,
    specificity: float = 1.0,
) -> Method:
    """Upper confidence bound that tightens, on the Laplace posterior: the cheap mode."""
    posterior = laplace(skew, adaptive, prior, half_life, groups, 0.0, sensitivity, specificity)
    return Bayesian(posterior, UpperBound(patience, randomised))


def exact_voi(
    *,
    horizon: int | None = None,
    randomised: bool = False,
    eagerness: float = 1.0,
    ahead: str = "double",
    draws: int = 4,
    switch: int | None = None,
    prior: Prior = None,
    groups: Groups = None,
) -> Method:
    """Value of information on the exact posterior, for streams that the Laplace approximation does not fit."""
    rule = ValueOfInformation(horizon, eagerness, ahead, randomised, features=counted(groups))
    return Bayesian(Exact(15, as_prior(prior), draws, switch, groups), rule)


def exact_ts(
    *,
    sweeps: int | Schedule = 15,
    draws: int = 4,
    switch: int | None = None,
    prior: Prior = None,
    groups: Groups = None,
) -> Method:
    """Thompson sampling from the exact posterior at a cost per item that does not grow with the labels."""
    return Bayesian(Exact(sweeps, as_prior(prior), draws, switch, groups), Thompson())


def exact_ids(
    *,
    weight: float = 0.05,
    sweeps: int | Schedule = 15,
    draws: int = 4,
    switch: int | None = None,
    prior: Prior = None,
    groups: Groups = None,
) -> Method:
    """Tunable information-directed sampling on the exact posterior, at a cost per item that does not grow."""
    return Bayesian(Exact(sweeps, as_prior(prior), draws, switch, groups), InformationDirected(weight))


def adf_voi(
    *,
    horizon: int | None = None,
    randomised: bool = False,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
) -> Method:
    """Value of information on an assumed-density filter: constant memory, no label kept; it can forget."""
    rule = ValueOfInformation(horizon, randomised=randomised, half_life=rounds_of(half_life), features=counted(groups))
    return Bayesian(Adf(as_prior(prior), half_life, groups), rule)


def greedy(*, epsilon: float = 0.1, estimator: str = "map", prior: Prior = None) -> Method:
    """Epsilon-greedy on the best-fitting parameter."""
    if estimator == "mle" and prior is not None:
        raise OptionError("greedy with estimator=mle takes no prior")
    return Bayesian(Map(estimator, as_prior(prior)), EpsilonGreedy(epsilon))


def inverse_gap(*, caution: float = 1.0, prior: Prior = None) -> Method:
    """Inverse-gap weighting by log-loss on the best-fitting parameter, for learners without a posterior."""
    return Bayesian(Map("map", as_prior(prior)), InverseGap(caution))


def cbp_side(*, curvature: float = 4.0, item_bound: float | None = None, radius: float | None = None) -> Method:
    """CBP-SIDE: act unless a confidence bound rules it out."""
    return CbpSide(curvature, item_bound, radius)


def rand_cbp_side(
    *,
    curvature: float = 4.0,
    item_bound: float | None = None,
    radius: float | None = None,
    spread: float = 0.125,
    points: int = 10,
    sure: float = 1e-6,
) -> Method:
    """RandCBPside*: CBP-SIDE with bounds that are drawn anew for each item."""
    return RandCbpSide(curvature, item_bound, radius, spread, points, sure)


def suplogistic(*, horizon: int = 1000, alpha: float | None = None, burn_in: int | None = None) -> Method:
    """SupLogistic: labels in buckets of rising confidence."""
    return SupLogistic(horizon, alpha, burn_in)


def always() -> Method:
    """Act on every item."""
    return Constant(True)


def never() -> Method:
    """Pass every item."""
    return Constant(False)


def oracle(*, theta: ArrayLike | None = None) -> Method:
    """Know the truth: the best action every time (simulation only)."""
    return Oracle(theta)
