"""The policies by name. A new one is a function here: its keywords are its options, its first line its summary."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..costs import Costs, SomeCosts
from ..errors import OptionError
from ..features.levels import SLOTS
from ..features.score import OPEN
from ..posteriors import Adf, Exact, Gaussian, Gibbs, Laplace, Map
from ..posteriors.forgetting import Forgetting, HalfLife
from ..posteriors.gibbs import Schedule
from ..remedies import near
from ..rules import EpsilonGreedy, InformationDirected, Rule, Thompson, Traditional, UpperBound, ValueOfInformation
from .bayesian import Bayesian
from .cbp_side import CbpSide
from .fixed import Constant, Oracle
from .learner import Method
from .pairs import Pairs
from .policy import Policy
from .sup_logistic import SupLogistic
from .widening import Widened

OPTION_HELP = {
    "sweeps": "Gibbs sweeps before each decision (M): a number, or a schedule [(from_round, sweeps), ...]",
    "burn_in": "sweeps of each round that are run first and not used",
    "separate_draws": "use separate draws for the expected regret and for the information",
    "rao_blackwell": "average over the Gaussians of the sweeps instead of over draws: the same answer with less noise",
    "draws": "least number of Metropolis steps before each decision",
    "switch": "number of labels after which Metropolis steps replace the Gibbs sweeps; none: max(100, 1.5 d^2)",
    "prior": "appletaste.posteriors.Gaussian(mean, covariance, region), or a number v for N(0, v I)",
    "weight": "lambda, what a nat of information may cost in squared regret; 0.05 suits costs of about 1",
    "estimator": "pg-ids: mutual-information, corrected or printed; greedy: map or mle",
    "epsilon": "share of the decisions that a fair coin makes",
    "curvature": "C, the largest 1/sigma' over items and parameters; the theory needs at least 4, less is bolder",
    "item_bound": "R, a bound on the length of an item; none: the longest item seen",
    "radius": "project the estimate into the ball of this radius; none: do not",
    "horizon": "T, the number of items that will arrive; none (voi): not known",
    "randomised": "draw every action, so that every action has a propensity",
    "ahead": "how many rounds a label serves: double or lindy (each item has its own number), or shared",
    "eagerness": "multiplier on the value of a label; above 1 explores more",
    "skew": "correct the Laplace mean for the skew of the posterior, to first order",
    "adaptive": "learn the scale of the prior; none: only where no prior is given",
    "surprises": "share of coefficients believed to be far beyond the learnt scale; 0: none; none: 0.2 with no prior",
    "patience": "k, for how many rounds per feature the bound stays wide",
    "alpha": "exploration rate; none: 3.5 sqrt(log(2 (2 + T) T))",
    "theta": "the true parameter",
    "groups": "group of each feature (features.groups): 0, the number of a curve, or 1000000 for slots; none: all 0",
    "pairs": "look for pairs of columns that say more together: features.units, or true in a replay and a desk",
    "half_life": "age at which a label counts half: a number of items, or a time such as 30d; none: never",
}
#: Options that mean something else in one policy.
OWN_HELP = {("suplogistic", "burn_in"): "tau, the first rounds, which all act; none: ceil(sqrt(d T))"}


def option_help(policy: str, option: str) -> str:
    """Return what an option of a policy does, in one line.

    Examples
    --------
    >>> option_help("pg-ts", "burn_in")
    'sweeps of each round that are run first and not used'
    """
    return OWN_HELP.get((policy, option), OPTION_HELP[option])


Prior = Gaussian | float | None
Groups = Sequence[int] | None
Units = Sequence[Any] | bool | None


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
) -> Laplace:
    """Return the Laplace posterior; a prior that somebody has chosen is left alone unless they say so.

    That is: where no prior is given its scale is learnt and, if ``surprises`` is None, ``SURPRISES`` are believed in,
    unless levels have effects of their own.
    """
    learnt = prior is None if adaptive is None else adaptive
    if surprises is None:
        surprises = SURPRISES if learnt and prior is None and slots_in(groups) is None else 0.0
    return Laplace(as_prior(prior), skew, learnt, half_life, groups, surprises)


def keeps_levels(name: str) -> bool:
    """Return whether a policy keeps an effect for each level of a column with many: those on the Laplace posterior."""
    found = find(name)
    return "groups" in found.options and isinstance(getattr(found.build(), "posterior", None), Laplace)


def paired(posterior: Laplace, rule: Rule, pairs: Units) -> Method:
    """Return a policy on the Laplace posterior, with pairs of columns if they are to be looked for."""
    if pairs is None or pairs is False:
        return Bayesian(posterior, rule)
    return Widened(posterior, rule, Pairs(pairs))


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
    pairs: Units = None,
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
    )
    return paired(laplace(skew, adaptive, prior, half_life, groups, surprises), rule, pairs)


def voi_item(
    *,
    horizon: int | None = None,
    randomised: bool = False,
    eagerness: float = 1.0,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    surprises: float | None = None,
    pairs: Units = None,
) -> Method:
    """Like voi, but assumes that a stream that has run long will run on: explores more, at the risk of a bad run."""
    rule = ValueOfInformation(
        horizon,
        eagerness,
        "lindy",
        randomised,
        half_life=rounds_of(half_life),
        features=counted(groups),
        levels=slots_in(groups),
    )
    return paired(laplace(skew, adaptive, prior, half_life, groups, surprises), rule, pairs)


def ids(
    *,
    weight: float = 0.05,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    pairs: Units = None,
) -> Method:
    """Tunable information-directed sampling on the Laplace posterior, by quadrature."""
    return paired(laplace(skew, adaptive, prior, half_life, groups), InformationDirected(weight), pairs)


def ids_traditional(
    *,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    pairs: Units = None,
) -> Method:
    """Traditional information-directed sampling on the Laplace posterior, by quadrature."""
    return paired(laplace(skew, adaptive, prior, half_life, groups), Traditional(), pairs)


def ts(
    *,
    skew: bool = True,
    adaptive: bool | None = None,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
    pairs: Units = None,
) -> Method:
    """Thompson sampling on the Laplace posterior, its probability in closed form."""
    return paired(laplace(skew, adaptive, prior, half_life, groups), Thompson(), pairs)


def ucb(
    *,
    patience: float = 2.0,
    randomised: bool = False,
    skew: bool = False,
    adaptive: bool = False,
    prior: Prior = None,
    half_life: HalfLife = None,
    groups: Groups = None,
) -> Method:
    """Upper confidence bound that tightens, on the Laplace posterior: the cheap mode."""
    return Bayesian(laplace(skew, adaptive, prior, half_life, groups), UpperBound(patience, randomised))


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


def cbp_side(*, curvature: float = 4.0, item_bound: float | None = None, radius: float | None = None) -> Method:
    """CBP-SIDE: act unless a confidence bound rules it out."""
    return CbpSide(curvature, item_bound, radius)


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


@dataclass(frozen=True)
class PolicyInfo:
    """One line about a policy, and its options with their defaults."""

    name: str
    summary: str
    options: dict[str, Any]
    build: Callable[..., Method]


def _describe(name: str, build: Callable[..., Method]) -> PolicyInfo:
    options = {option: parameter.default for option, parameter in inspect.signature(build).parameters.items()}
    return PolicyInfo(name, inspect.cleandoc(build.__doc__ or "").splitlines()[0], options, build)


_BUILDERS: dict[str, Callable[..., Method]] = {
    "voi": voi,
    "voi-item": voi_item,
    "ucb": ucb,
    "ids": ids,
    "ids-traditional": ids_traditional,
    "ts": ts,
    "exact-voi": exact_voi,
    "exact-ids": exact_ids,
    "exact-ts": exact_ts,
    "adf-voi": adf_voi,
    "pg-ts": pg_ts,
    "pg-ids": pg_ids,
    "pg-ids-traditional": pg_ids_traditional,
    "greedy": greedy,
    "cbp-side": cbp_side,
    "suplogistic": suplogistic,
    "always": always,
    "never": never,
    "oracle": oracle,
}
#: What ``policy`` gives when it is not told.
RECOMMENDED = "voi"
#: Every policy by its name: ours, then those of the paper in the order of its tables.
POLICIES: dict[str, PolicyInfo] = {name: _describe(name, build) for name, build in _BUILDERS.items()}


def list_policies() -> list[PolicyInfo]:
    """Return every policy with one line about it and its options.

    Examples
    --------
    >>> [info.name for info in list_policies()][:3]
    ['voi', 'voi-item', 'ucb']
    """
    return list(POLICIES.values())


def find(name: str) -> PolicyInfo:
    """Return what is known of a policy, or say which ones there are."""
    if name not in POLICIES:
        raise OptionError(f"there is no policy {name!r}{near(name, POLICIES)}. There are {', '.join(POLICIES)}")
    return POLICIES[name]


def policy(
    name: str = RECOMMENDED,
    *,
    n_features: int,
    costs: SomeCosts,
    seed: int = 0,
    **options: Any,
) -> Policy:
    """Return a policy by name, ready for its first item; without a name the recommended one (docs/rules.md says why).

    Costs may be a dict as well: ``{"miss": 5, "false_alarm": 1, "hit": 0}``.

    Examples
    --------
    >>> import appletaste as at
    >>> costs = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
    >>> at.policy("pg-ids", n_features=5, costs=costs, seed=7, weight=0.2)
    <pg-ids: 5 features, Costs(miss=1.0, false_alarm=0.4, hit=0.05, correct_pass=0.0), seed=7, 0 decisions made>
    """
    info = find(name)
    unknown = sorted(set(options) - set(info.options))
    if unknown:
        known = ", ".join(info.options) or "none"
        if unknown == ["half_life"]:
            able = ", ".join(other.name for other in POLICIES.values() if "half_life" in other.options)
            raise OptionError(
                f"{name} cannot forget: its posterior weighs all labels alike. Policies that take half_life: {able}; "
                "or combine the posterior Adf(half_life=...) or Laplace(half_life=...) with a rule: Bayesian(...)"
            )
        if unknown == ["groups"]:
            able = ", ".join(other.name for other in POLICIES.values() if "groups" in other.options)
            raise OptionError(
                f"{name} cannot learn the scales of curves or the effects of levels, which groups are for: encode "
                f"with Encoder(curves=False, score=None, many=False), or take one of {able}"
            )
        raise OptionError(f"{name} has no option {unknown[0]!r}; its options: {known}")
    try:
        method = info.build(**options)
    except TypeError as error:
        raise OptionError(f"{name}: {error}") from error
    return Policy(method, n_features=n_features, costs=Costs.of(costs), seed=seed, name=name)
