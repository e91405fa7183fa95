"""Thompson sampling: act as often as acting is best (Thompson 1933; Algorithm PG-TS)."""

from __future__ import annotations

from dataclasses import dataclass

from ..costs import Costs
from ..kernels._jit import Word
from ..posteriors import NormalScores, Score, Vector
from .rule import Memoryless, Verdict


@dataclass(frozen=True)
class Thompson(Memoryless):
    """Act with probability P(acting is best) = P(z >= logit(threshold)) under the posterior.

    Drawing theta and acting if alpha_t(theta) = 1, as the paper writes it, acts with just this probability.
    """

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the posterior probability that acting is best."""
        cut = costs.score_threshold
        probability = score.above(cut)
        return Verdict(probability, {"score_threshold": cut, "chance_acting_is_best": probability})

    def judge_many(self, scores: NormalScores, costs: Costs, items: Vector, first_round: int, key: Word) -> Vector:
        """Return the posterior probability that acting is best on each item."""
        return scores.above(costs.score_threshold)
