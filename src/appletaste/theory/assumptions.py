"""What the theorems assume, checked on a run: gaps between acts, both sides of the boundary, the information ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..errors import InputError
from ..keys import Key
from ..posteriors import Gaussian, Gibbs
from ..problems import Table
from .bound import ratio_limit
from .game import Floats


@dataclass(frozen=True)
class Gaps:
    """Assumption 1 on one or more runs: rounds from one act to the next, N(u) - N(u - 1)."""

    acts: int  #: u, acts of the run that has the fewest
    mean: float  #: over all acts of all runs
    longest: int
    largest_mean: float  #: the largest over u of the mean over runs: the C that these runs ask for
    waiting: int  #: the longest wait at an end of a run, which is not a gap yet
    growth: float  #: exponent of the mean gap over u: 0 if it is bounded, above 0 if it grows


def informative_gaps(runs: Sequence[NDArray[np.bool_]]) -> Gaps:
    """Measure the gaps between acts (``DecisionLog.act``) over runs of one policy.

    The exponent is the slope of log mean gap over log u, over blocks of u that double in length.

    Examples
    --------
    >>> informative_gaps([np.array([True, False, True, False, True, False, True, False])]).mean
    1.75
    """
    if not runs:
        raise InputError("gaps need at least one run")
    when = [np.flatnonzero(acts) + 1 for acts in runs]
    waiting = max(len(acts) - (int(t[-1]) if t.size else 0) for acts, t in zip(runs, when, strict=True))
    fewest = min(t.size for t in when)
    if fewest == 0:
        return Gaps(0, float("nan"), 0, float("inf"), waiting, float("nan"))
    each = [np.diff(t, prepend=0) for t in when]
    pooled = np.concatenate(each)
    by_act = np.mean([gaps[:fewest] for gaps in each], axis=0)
    edges = [2**k for k in range(fewest.bit_length()) if 2 ** (k + 1) <= fewest + 1]
    places = [float(np.log(1.5 * edge)) for edge in edges]
    heights = [float(np.log(by_act[edge - 1 : 2 * edge - 1].mean())) for edge in edges]
    growth = float(np.polyfit(places, heights, 1)[0]) if len(edges) > 1 else float("nan")
    largest = float(by_act[1:].max()) if fewest > 1 else float(by_act.max())  # Assumption 1 is for u > 1
    return Gaps(fewest, float(pooled.mean()), int(pooled.max()), largest, waiting, growth)


@dataclass(frozen=True)
class Shares:
    """Assumptions 2 and 3: how often acting, and passing, is best, over parameters that might be true."""

    thetas: int
    act_smallest: float  #: smallest share of items on which acting is best, p_X(X_1(theta))
    pass_smallest: float  #: smallest share on which passing is best, p_X(X_0(theta))
    delta: float  #: the smaller of the two: Assumption 2 wants it above zero
    one_sided: float  #: share of parameters under which some side has no item at all
    negative_chance: float | None  #: smallest over theta of the largest chance of a negative among X_1(theta)


def boundary_shares(items: Floats, thetas: Floats, costs: Costs, theta_star: Floats | None = None) -> Shares:
    """Return the shares of items on each side of the boundary x'theta = logit(threshold) (Assumptions 2 and 3).

    Examples
    --------
    >>> items, thetas = np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.array([[1.0], [-1.0]])
    >>> boundary_shares(items, thetas, Costs(miss=1, false_alarm=1, hit=0)).delta
    0.5
    """
    best = items @ thetas.T >= costs.score_threshold  # [item, theta]
    act = best.mean(axis=0)
    chance = None
    if theta_star is not None:
        negative = np.exp(-np.logaddexp(0.0, items @ theta_star))
        chance = float(np.where(best, negative[:, None], 0.0).max(axis=0).min())
    return Shares(
        len(thetas),
        float(act.min()),
        float(1 - act.max()),
        float(min(act.min(), 1 - act.max())),
        float(((act == 0) | (act == 1)).mean()),
        chance,
    )


@dataclass(frozen=True)
class Ratio:
    """One round of TS: what it expects to lose and to learn."""

    chance: float  #: p, the probability of acting
    regret: float  #: expected regret, S p (sigma_1 - sigma_bar)
    information: float  #: expected information about theta*, p (H(sigma_bar) - E H(sigma)), in nats
    ratio: float  #: regret^2 / information; 0 where there is neither
    limit: float  #: S^2 (1 - p) / 2


def information_ratio(scores: Floats, costs: Costs) -> Ratio:
    """Return the information ratio Gamma_t of TS for an item whose score has equally likely values (eq. infratio).

    Examples
    --------
    >>> found = information_ratio(np.array([-2.0, 0.0, 2.0]), Costs(miss=1, false_alarm=1, hit=0))
    >>> 0 < found.ratio <= found.limit
    True
    """
    sigma = np.exp(-np.logaddexp(0.0, -scores))
    acting = scores >= costs.score_threshold
    p, mean = float(acting.mean()), float(sigma.mean())
    if p in (0.0, 1.0):
        return Ratio(p, 0.0, p * _information(scores, sigma), 0.0, ratio_limit(costs, p))
    regret = (costs.alarm_price + costs.catch_gain) * p * (float(sigma[acting].mean()) - mean)
    information = p * _information(scores, sigma)
    # at the last digits of a score known for certain both are rounding errors
    ratio = regret**2 / information if information > 1e-14 else 0.0
    return Ratio(p, regret, information, ratio, ratio_limit(costs, p))


def _information(scores: Floats, sigma: Floats) -> float:
    """Return H(mean sigma) - mean H(sigma)."""
    p = float(sigma.mean())
    entropies = np.logaddexp(0.0, -scores) * sigma + np.logaddexp(0.0, scores) * (1 - sigma)
    return max(0.0, -p * float(np.log(p)) - (1 - p) * float(np.log1p(-p)) - float(entropies.mean()))


def watch(table: Table, key: Key, *, sweeps: int = 200, prior: Gaussian | None = None) -> list[Ratio]:
    """Play Thompson sampling on a table and return the information ratio of every round, from the chain's draws.

    Many sweeps a round stand in for the exact posterior, since regret and information are expectations over it.
    """
    chain = Gibbs(sweeps, prior=prior or Gaussian()).start(table.n_features, key)
    uniforms = key.at("action").generator().random(table.rounds)
    found = []
    for t in range(table.rounds):
        item = table.items[t]
        found.append(information_ratio(chain.draws(t + 1) @ item, table.costs))
        chain.commit(t + 1)
        if uniforms[t] < found[-1].chance:
            chain.learn(item, int(table.labels[t]))
    return found
