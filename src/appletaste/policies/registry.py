"""The policies by name, with their options and what each option means; and a saved policy, rebuilt."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..costs import Costs, SomeCosts
from ..errors import OptionError, near
from ..posteriors import Adf, Arrays, Ball, Box, Exact, Gaussian, Gibbs, Laplace, Map
from ..rules import (
    EpsilonGreedy,
    InformationDirected,
    InverseGap,
    Thompson,
    Traditional,
    UpperBound,
    ValueOfInformation,
)
from . import recipes
from .bayesian import Bayesian
from .cbp_side import CbpSide, RandCbpSide
from .fixed import Constant, Oracle
from .learner import Method, decode
from .policy import Policy
from .sup_logistic import SupLogistic

#: Every kind of settings that a saved policy may name.
SETTINGS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        *(Ball, Box, Exact, Gaussian, Gibbs, Map, Laplace, Adf),
        *(Thompson, InformationDirected, Traditional, EpsilonGreedy, InverseGap, ValueOfInformation, UpperBound),
        *(Bayesian, CbpSide, RandCbpSide, SupLogistic, Constant, Oracle),
    )
}


def rebuild_policy(header: dict[str, Any], arrays: Arrays) -> Policy:
    """Return the policy that ``Policy.header`` and ``Policy.arrays`` describe; it continues bit for bit."""
    policy = Policy(
        decode(header["method"], SETTINGS),
        n_features=header["n_features"],
        costs=Costs(**header["costs"]),
        seed=header["seed"],
        name=header["name"],
    )
    policy.restore(arrays, header["round"], header["now"])
    return policy


OPTION_HELP = {
    "sweeps": "Gibbs sweeps before each decision (M): a number, or a schedule [(from_round, sweeps), ...]",
    "burn_in": "sweeps of each round that are run first and not used",
    "separate_draws": "use separate draws for the expected regret and for the information",
    "rao_blackwell": "average over the Gaussians of the sweeps instead of over draws: the same answer with less noise",
    "draws": "least number of Metropolis steps before each decision",
    "switch": "number of labels after which Metropolis steps replace the Gibbs sweeps; none: max(100, 1.5 d^2)",
    "vigilance": "chance of a false alarm: labels that contradict the model make it forget older ones; 0: off",
    "prior": "appletaste.posteriors.Gaussian(mean, covariance, region), or a number v for N(0, v I)",
    "weight": "lambda, what a nat of information may cost in squared regret; 0.05 suits costs of about 1",
    "estimator": "pg-ids: mutual-information, corrected or printed; greedy: map or mle",
    "caution": "what an error of the chance costs, in the play for which the probability is best; more tries less",
    "epsilon": "share of the decisions that a fair coin makes",
    "curvature": "C, the largest 1/sigma' over items and parameters; the theory needs at least 4, less is bolder",
    "item_bound": "R, a bound on the length of an item; none: the longest item seen",
    "radius": "project the estimate into the ball of this radius; none: do not",
    "spread": "how widely the bound is drawn: the standard deviation of the normal that is cut into points",
    "points": "how many values the drawn bound has",
    "sure": "probability of the whole bound of cbp-side",
    "horizon": "T, the number of items that will arrive; none (voi): not known",
    "randomised": "draw every action, so that every action has a propensity",
    "ahead": "how many rounds a label serves: double or lindy (each item has its own number), or shared",
    "eagerness": "multiplier on the value of a label; above 1 explores more",
    "skew": "correct the Laplace mean for the skew of the posterior, to first order",
    "adaptive": "learn the scale of the prior; none: only where no prior is given",
    "surprises": "share of coefficients believed to be far beyond the learnt scale; 0: none; none: 0.2 with no prior",
    "sensitivity": "chance that whoever labels calls a positive positive; needs no half_life, many levels or trees",
    "specificity": "chance that whoever labels calls a negative negative; see second looks",
    "patience": "k, for how many rounds per feature the bound stays wide",
    "alpha": "exploration rate; none: 3.5 sqrt(log(2 (2 + T) T))",
    "theta": "the true parameter",
    "groups": "group of each feature (features.groups): 0, the number of a curve, or 1000000 for slots; none: all 0",
    "trees": "fit small trees, and use them where labels speak for them; none: only where no prior is given",
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
    "voi": recipes.voi,
    "ucb": recipes.ucb,
    "ids": recipes.ids,
    "ids-traditional": recipes.ids_traditional,
    "ts": recipes.ts,
    "exact-voi": recipes.exact_voi,
    "exact-ids": recipes.exact_ids,
    "exact-ts": recipes.exact_ts,
    "adf-voi": recipes.adf_voi,
    "pg-ts": recipes.pg_ts,
    "pg-ids": recipes.pg_ids,
    "pg-ids-traditional": recipes.pg_ids_traditional,
    "greedy": recipes.greedy,
    "inverse-gap": recipes.inverse_gap,
    "cbp-side": recipes.cbp_side,
    "rand-cbp-side": recipes.rand_cbp_side,
    "suplogistic": recipes.suplogistic,
    "always": recipes.always,
    "never": recipes.never,
    "oracle": recipes.oracle,
}
#: Policies that have another name now; those saved under the old one are read, and keep it.
RENAMED = {"voi-item": "voi[ahead=lindy], in Python at.policy('voi', ahead='lindy')"}
#: What ``policy`` gives when it is not told.
RECOMMENDED = "voi"
#: Every policy by its name: ours, then those of the paper in the order of its tables.
POLICIES: dict[str, PolicyInfo] = {name: _describe(name, build) for name, build in _BUILDERS.items()}


def list_policies() -> list[PolicyInfo]:
    """Return every policy with one line about it and its options.

    Examples
    --------
    >>> [info.name for info in list_policies()][:3]
    ['voi', 'ucb', 'ids']
    """
    return list(POLICIES.values())


def find(name: str) -> PolicyInfo:
    """Return what is known of a policy, or say which ones there are."""
    if name in RENAMED:
        raise OptionError(f"there is no policy {name!r} any more: say {RENAMED[name]}")
    if name not in POLICIES:
        raise OptionError(f"there is no policy {name!r}{near(name, POLICIES)}. There are {', '.join(POLICIES)}")
    return POLICIES[name]


def keeps_levels(name: str) -> bool:
    """Return whether a policy keeps an effect for each level of a column with many: those on the Laplace posterior."""
    found = find(name)
    return "groups" in found.options and isinstance(getattr(found.build(), "posterior", None), Laplace)


@dataclass(frozen=True)
class PolicySpec:
    """A policy that is still to be made: its name and the options that differ from the defaults.

    Examples
    --------
    >>> PolicySpec("voi", {"ahead": "lindy"}).label
    'voi[ahead=lindy]'
    """

    name: str
    options: Mapping[str, Any]

    @property
    def label(self) -> str:
        """A name that tells specs apart."""
        settings = ",".join(f"{option}={value}" for option, value in self.options.items())
        return f"{self.name}[{settings}]" if settings else self.name

    @property
    def takes_groups(self) -> bool:
        """Whether the policy learns the scales of curves."""
        return "groups" in find(self.name).options

    @property
    def takes_levels(self) -> bool:
        """Whether the policy keeps an effect for each level: not if it forgets, expects surprises or doubts labels."""
        able, doubts = keeps_levels(self.name), (self.options.get(one, 1.0) for one in ("sensitivity", "specificity"))
        return (
            able and not any(self.options.get(option) for option in ("half_life", "surprises")) and set(doubts) <= {1}
        )


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
