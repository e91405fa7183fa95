"""Theorem 1 as a calculator: how much Bayesian regret Thompson sampling can have at most.

Passing costs mu(0) = correct_pass + (miss - correct_pass) sigma and acting mu(1) = false_alarm - (false_alarm - hit)
sigma, both straight lines in sigma = sigma(x'theta); only the difference of the slopes counts,
S = alarm_price + catch_gain. The bound is T epsilon + sqrt(T R H), with R a bound on the information ratio and
H <= log K = d log(3 l length / epsilon) the entropy of the cell of theta* in a partition of Theta.

*As the paper has it*: R = C G, G = l^2 / 2, l = max(miss - correct_pass, false_alarm - hit) (its max(l01, 1 - l11)) and
C from Assumption 1. *Corrected*, in three places (derivations in docs/theory.md):

- The ratio. With p the probability of acting, TS has expected regret S p (sigma_1 - sigma_bar), where sigma_1 is the
  mean of sigma given that acting is best, and gains at least 2 p^2 (sigma_1 - sigma_bar)^2 / (1 - p) of information
  (Pinsker on both best actions). So the ratio is at most S^2 (1 - p) / 2: R = S^2 / 2 with no assumption on gaps.
- The partition. sigma has slope at most 1/4, so a cell of diameter 4 epsilon / (S length) is fine: l = S / 2.
- The length. The covering number of the Euclidean ball needs the Euclidean length of items, which for entries up to
  x_max is sqrt(d) x_max.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..costs import Costs
from ..errors import InputError

VERSIONS = ("corrected", "paper")


def steepest_slope(costs: Costs) -> float:
    """Return max(|miss - correct_pass|, |false_alarm - hit|), the paper's l_max = max(l01, 1 - l11)."""
    return max(abs(costs.miss - costs.correct_pass), abs(costs.false_alarm - costs.hit))


def ratio_constant(costs: Costs) -> float:
    """Return the paper's G = max(l01, 1 - l11)^2 / 2, in explicit costs (Proposition 3, per chance of acting).

    Examples
    --------
    >>> ratio_constant(Costs(miss=0.4, false_alarm=1.0, hit=0.05))   # as printed: (1 - 0.05)^2 / 2
    0.45125
    """
    return steepest_slope(costs) ** 2 / 2


def ratio_limit(costs: Costs, chance: float = 0.0) -> float:
    """Return S^2 (1 - p) / 2, which the information ratio of TS never exceeds when it acts with probability p."""
    return (costs.alarm_price + costs.catch_gain) ** 2 * (1 - chance) / 2


@dataclass(frozen=True)
class Bound:
    """The bound and every number that went into it."""

    version: str
    rounds: int
    features: int
    ratio: float  #: R: bound on the information ratio (the paper's C G)
    scale: float  #: l times the length of items times the radius of Theta: K <= (3 scale / epsilon)^d
    epsilon: float  #: the distortion that makes the bound smallest
    entropy: float  #: log K >= H(phi_epsilon), in nats
    regret: float  #: the bound itself
    at_most: float  #: T times the largest regret of one round, which no policy exceeds
    paper_epsilon: float  #: the paper's choice sqrt(R d / T)
    paper_order: float  #: the paper's order sqrt(R d T log(scale T)), its constant taken as 1
    assumptions: tuple[str, ...]

    @property
    def informative(self) -> bool:
        """Whether the bound says more than that every round costs at most its largest regret."""
        return self.regret < self.at_most


def regret_bound(
    costs: Costs,
    rounds: int,
    features: int,
    *,
    largest_entry: float = 1.0,
    radius: float = 1.0,
    version: str = "corrected",
    gap: float | None = None,
) -> Bound:
    """Return Theorem 1's bound on the Bayesian regret of exact TS over T rounds with d features.

    ``largest_entry`` is x_max, a bound on every entry of every item; Theta lies in the ball of ``radius``; ``gap`` is
    the paper's C, the bound on the expected rounds between two acts, which its own version needs.

    Examples
    --------
    >>> costs = Costs(miss=1.0, false_alarm=0.4, hit=0.05)
    >>> [round(regret_bound(costs, rounds, 5).regret) for rounds in (500, 50_000)]
    [121, 1425]
    >>> regret_bound(costs, 500, 5).informative
    True
    """
    for name, whole in (("rounds", rounds), ("features", features)):
        if isinstance(whole, bool) or whole != int(whole) or whole < 1:
            raise InputError(f"{name} must be a whole number >= 1, got {whole!r}")
    for name, value in (("largest_entry", largest_entry), ("radius", radius)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a number > 0, got {value!r}")
    if version not in VERSIONS:
        raise InputError(f"version is one of {', '.join(VERSIONS)}; got {version!r}")
    common: tuple[str, ...] = (
        "theta* is drawn from the prior that TS starts from",
        f"Theta lies in the ball of radius {radius:g}, and every entry of every item within {largest_entry:g}",
        "TS draws from the exact posterior",
    )
    if version == "corrected":
        if gap is not None:
            raise InputError("the corrected bound needs no gap: leave it out, or ask for version='paper'")
        slope = (costs.alarm_price + costs.catch_gain) / 2
        ratio, scale = ratio_limit(costs), slope * radius * largest_entry * math.sqrt(features)
        assumptions = common
    else:
        if gap is None or not (math.isfinite(gap) and gap >= 1):
            raise InputError(f"the paper's bound needs gap = C >= 1, the expected rounds between acts; got {gap!r}")
        ratio, scale = gap * ratio_constant(costs), steepest_slope(costs) * radius * largest_entry
        assumptions = (
            *common,
            f"Assumption 1: at most {gap:g} rounds are expected between two acts; the proof uses more, a probability "
            f"of acting of at least {1 / gap:.3g} in every round",
            "the covering number of the Euclidean ball is used for the l1 norm, as printed",
        )
    epsilon = best_epsilon(rounds, ratio * features, scale)
    entropy = features * math.log(3 * scale / epsilon)
    return Bound(
        version,
        rounds,
        features,
        ratio,
        scale,
        epsilon,
        entropy,
        rounds * epsilon + math.sqrt(rounds * ratio * entropy),
        rounds * max(costs.alarm_price, costs.catch_gain),
        math.sqrt(ratio * features / rounds),
        math.sqrt(ratio * features * rounds * math.log(max(scale * rounds, math.e))),
        assumptions,
    )


def best_epsilon(rounds: int, weight: float, scale: float) -> float:
    """Return the epsilon in (0, scale] with the smallest T epsilon + sqrt(T w log(3 scale / epsilon)).

    The derivative vanishes where epsilon sqrt(log(3 scale / epsilon)) = sqrt(w / T) / 2; the left side rises on
    (0, scale], since 3 scale exp(-1/2) > scale, so bisection finds the one root, or the end if there is none. Beyond
    scale the covering number (3 / delta)^d of a unit ball no longer holds.

    Examples
    --------
    >>> epsilon = best_epsilon(1000, 2.0, 1.0)
    >>> round(epsilon * math.log(3 / epsilon) ** 0.5 / (2.0 / 1000) ** 0.5, 6)
    0.5
    """
    target = 0.5 * math.sqrt(weight / rounds)
    low, high = 0.0, scale
    if high * math.sqrt(math.log(3.0)) <= target:
        return scale
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle * math.sqrt(math.log(3 * scale / middle)) < target:
            low = middle
        else:
            high = middle
        if high - low <= 1e-14 * high:
            break
    return high
