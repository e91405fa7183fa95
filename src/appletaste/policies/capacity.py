"""A batch and a desk that can act on k of its items: which ones, with which probability (docs/streams.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..costs import Costs
from ..decision import Decisions
from ..errors import InputError
from ..keys import Key
from ..posteriors import Vector
from .prospects import Prospect, look

if TYPE_CHECKING:
    from .policy import Policy

HALVINGS = 20  # of the range of prices, in the search for the least one at which the batch fits


def decide_within(policy: Policy, items: Vector, costs: Costs, capacity: int) -> Decisions:
    """Act on at most ``capacity`` items of a batch, each with exactly the probability that is recorded.

    All items are judged by what is known before the batch. Where the rule does not randomise, the act goes to those
    worth most. Otherwise the price on acting rises until the probabilities sum to no more than k, and the acts are
    drawn by systematic sampling in random order: with one uniform U and the running sums S_i, item i is acted on iff
    floor(U + S_i) > floor(U + S_(i-1)). So P(act on i) is p_i, and their number never exceeds ceil(S_n) <= k.
    """
    if isinstance(capacity, bool) or not isinstance(capacity, int | np.integer) or capacity < 0:
        raise InputError(f"capacity must be a whole number >= 0, got {capacity!r}")
    first = policy.round + 1
    prospects = [look(policy, x, costs, 0.0) for x in items]
    probabilities = np.array([prospect.probability for prospect in prospects])
    if ((probabilities == 0.0) | (probabilities == 1.0)).all():
        price, probabilities = _best(prospects, probabilities, int(capacity))
    else:
        price, probabilities = _priced(policy, items, costs, probabilities, int(capacity))
    acts = probabilities >= 1.0
    draws = Key(policy.seed).at("capacity", first).generator()
    order, room = draws.permutation(np.flatnonzero(~acts)), capacity - int(acts.sum())
    sums = np.concatenate([[0.0], np.cumsum(probabilities[order])])
    acts[order] = np.diff(np.minimum(np.floor(draws.random() + sums), room)) > 0  # at most ``room``, however sums round
    for x, act in zip(items, acts, strict=True):
        policy.learner.judge(x, costs.charged(price), policy.round + 1)
        policy.learner.commit(policy.round + 1, bool(act))
        policy.round += 1
    whys = tuple({**prospect.why, "shadow_price": price} for prospect in prospects)
    return Decisions(acts, probabilities, items, costs, first, whys, price, time=policy.now)


def _best(prospects: list[Prospect], probabilities: Vector, capacity: int) -> tuple[float, Vector]:
    """Return the worth of the best item left out, and the k best of those the rule would act on."""
    wanted = np.flatnonzero(probabilities == 1.0)
    if len(wanted) <= capacity:
        return 0.0, probabilities
    worth = np.array([prospects[i].worth for i in wanted])
    ranked = wanted[np.argsort(-worth, kind="stable")]
    chosen = np.zeros(len(probabilities))
    chosen[ranked[:capacity]] = 1.0
    return max(prospects[ranked[capacity]].worth, 0.0), chosen


def _priced(policy: Policy, items: Vector, costs: Costs, probabilities: Vector, capacity: int) -> tuple[float, Vector]:
    """Return the least price at which the probabilities sum to no more than k, and the probabilities there."""
    if probabilities.sum() <= capacity:
        return 0.0, probabilities

    def at(price: float) -> Vector:
        charged = costs.charged(price)
        return np.array([policy.learner.judge(x, charged, policy.round + 1)[0] for x in items])

    low, high = 0.0, max(costs.catch_gain, 0.0)
    best = at(high)
    for _ in range(HALVINGS if best.sum() <= capacity else 0):
        price = 0.5 * (low + high)
        found = at(price)
        if found.sum() <= capacity:
            high, best = price, found
        else:
            low = price
    if best.sum() > capacity:  # a rule that explores at any price: all share what there is
        best = best * (capacity / best.sum()) * (1.0 - 1e-12)
    return high, best
