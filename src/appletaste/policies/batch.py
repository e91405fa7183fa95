"""Many items at once, without a limit on how many are acted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._sparse import SparseRows
from ..costs import Costs
from ..decision import Decisions
from ..kernels.random import uniforms_at
from ..kernels.types import Word
from ..posteriors import Vector

if TYPE_CHECKING:
    from .policy import Policy


def decide_batch(policy: Policy, items: Vector | SparseRows, costs: Costs, key: Word, time: Any = None) -> Decisions:
    """Decide on items one after another with no label in between, in one pass where the learner can.

    ``key`` names the uniforms of the actions, one for each round. A sparse table is made dense a block at a time.
    """
    if isinstance(items, SparseRows):
        return _joined(
            [decide_batch(policy, block, costs, key, time) for block in items.blocks()], items, policy, costs
        )
    first, n = policy.round + 1, len(items)
    judge_many = getattr(policy.learner, "judge_many", None)
    probabilities = judge_many(items, costs, first, key) if judge_many and n else None
    if probabilities is None:
        decisions = [policy.decide(x, costs, time=time) for x in items]
        acts, probabilities = [d.act for d in decisions], np.array([d.probability for d in decisions])
        whys = tuple(d.why for d in decisions)
        return Decisions(np.array(acts, dtype=bool), probabilities, items, costs, first, whys, time=policy.now)
    policy.round += n
    return Decisions(uniforms_at(key, first, n) < probabilities, probabilities, items, costs, first, time=policy.now)


def _joined(parts: list[Decisions], items: SparseRows, policy: Policy, costs: Costs) -> Decisions:
    """Return the decisions on the blocks of a sparse table as those on the table."""
    acts = np.concatenate([np.zeros(0, dtype=bool), *(part.acts for part in parts)])
    probabilities = np.concatenate([np.zeros(0), *(part.probabilities for part in parts)])
    whys = [part.whys for part in parts if part.whys is not None]
    together = tuple(why for some in whys for why in some) if whys else None
    first = policy.round + 1 - len(items)
    return Decisions(acts, probabilities, items, costs, first, together, time=policy.now)
