"""Many items at once: in one pass where the learner can, and within a capacity (docs/streams.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._sparse import SparseRows
from ..costs import Costs
from ..decision import Decision, Decisions
from ..errors import InputError
from ..kernels._jit import Word
from ..keys import Key
from ..posteriors import Vector
from ..rules.rule import drawn_many
from .player import Prospect

if TYPE_CHECKING:
    from .policy import Policy

HALVINGS = 20  # of the range of prices, in the search for the least one at which the batch fits


def decide_batch(policy: Policy, items: Vector | SparseRows, costs: Costs, key: Word, time: Any = None) -> Decisions:
    """Decide on items one after another with no label in between, in one pass where the learner can.

    ``key`` names the uniforms of the actions, one for each round. A sparse table is made dense a block at a time.
    """
    if isinstance(items, SparseRows):
        first = policy.round + 1
        return _joined([decide_batch(policy, block, costs, key, time) for block in items.blocks()], items, costs, first)
    first, n = policy.round + 1, len(items)
    probabilities = policy.learner.judge_many(items, costs, first, key)
    if probabilities is None:
        return Decisions.of([policy.decide(x, costs=costs, time=time) for x in items], items, costs, first)
    policy.round += n
    acts = drawn_many(key, first, probabilities)
    policy.rounds.decided_many(acts, items)
    return Decisions(acts, probabilities, items, costs, first, time=policy.now)


def _joined(parts: list[Decisions], items: SparseRows, costs: Costs, first: int) -> Decisions:
    """Return the decisions on the blocks of a sparse table as those on the table."""
    acts = np.concatenate([np.zeros(0, dtype=bool), *(part.acts for part in parts)])
    probabilities = np.concatenate([np.zeros(0), *(part.probabilities for part in parts)])
    each = [part.each for part in parts if part.each is not None]
    together = tuple(decision for some in each for decision in some) if each else None
    return Decisions(acts, probabilities, items, costs, first, 0.0, parts[0].time if parts else None, together)


def decide_within(policy: Policy, table: Vector | SparseRows, costs: Costs, capacity: int) -> Decisions:
    """Act on at most ``capacity`` items of a batch, each with exactly the probability that is recorded.

    All items are judged by what is known before the batch. Where the rule does not randomise, the act goes to those
    worth most. Otherwise the price on acting rises until the probabilities sum to no more than k, and the acts are
    drawn by systematic sampling in random order: with one uniform U and the running sums S_i, item i is acted on iff
    floor(U + S_i) > floor(U + S_(i-1)). So P(act on i) is p_i, and their number never exceeds ceil(S_n) <= k.
    """
    if isinstance(capacity, bool) or not isinstance(capacity, int | np.integer) or capacity < 0:
        raise InputError(f"capacity must be a whole number >= 0, got {capacity!r}")
    items = table.dense() if isinstance(table, SparseRows) else table
    first = policy.round + 1

    def judged(price: float) -> tuple[list[Prospect], Vector]:
        found = [policy.look(x, costs=costs, price=price) for x in items]
        return found, np.array([prospect.probability for prospect in found])

    prospects, probabilities = judged(0.0)
    if ((probabilities == 0.0) | (probabilities == 1.0)).all():
        price, probabilities = _best(prospects, probabilities, int(capacity))
        if price > 0.0:
            prospects, _ = judged(price)
    else:
        price, prospects, probabilities = _priced(judged, prospects, probabilities, costs, int(capacity))
    acts = probabilities >= 1.0
    draws = Key(policy.seed).at("capacity", first).generator()
    order, room = draws.permutation(np.flatnonzero(~acts)), capacity - int(acts.sum())
    sums = np.concatenate([[0.0], np.cumsum(probabilities[order])])
    acts[order] = np.diff(np.minimum(np.floor(draws.random() + sums), room)) > 0  # at most ``room``, however sums round
    made = []
    for seen, act, probability in zip(prospects, acts.tolist(), probabilities.tolist(), strict=True):
        prospect = seen._replace(time=policy.now)
        why = {**prospect.why, "shadow_price": price}
        decision = Decision(
            act, probability, prospect.x, costs, policy.round + 1, why, False, policy.now, prospect.chance,
            prospect.worth, price,
        )  # fmt: skip
        policy.commit(prospect, decision)
        made.append(decision)
    return Decisions.of(made, items, costs, first, price)


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


def _priced(
    judged: Any, prospects: list[Prospect], probabilities: Vector, costs: Costs, capacity: int
) -> tuple[float, list[Prospect], Vector]:
    """Return the least price at which the probabilities sum to no more than k, and what is judged there."""
    if probabilities.sum() <= capacity:
        return 0.0, prospects, probabilities
    low, high = 0.0, max(costs.catch_gain, 0.0)
    prospects, best = judged(high)
    for _ in range(HALVINGS if best.sum() <= capacity else 0):
        price = 0.5 * (low + high)
        found, chances = judged(price)
        if chances.sum() <= capacity:
            high, prospects, best = price, found, chances
        else:
            low = price
    if best.sum() > capacity:  # a rule that explores at any price: all share what there is
        best = best * (capacity / best.sum()) * (1.0 - 1e-12)
    return high, prospects, best
