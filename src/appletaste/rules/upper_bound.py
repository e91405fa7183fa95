"""A confidence bound that tightens: the cheap rule, without memory or quadrature."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._checks import number
from ..costs import Costs
from ..posteriors import Score, Vector
from .rule import Memoryless, Verdict


@dataclass(frozen=True)
class UpperBound(Memoryless):
    """Act iff f + c_t sqrt(v) >= logit(threshold), with c_t = sqrt(k d / (t + k d)) (docs/rules.md).

    A margin of order sqrt(v / t) imitates that of value of information, which is of order v.

    Parameters
    ----------
    patience
        k: for how many rounds per feature the bound stays wide.
    randomised
        Draw the width: act with probability ``P(f + c_t sqrt(v) |N(0, 1)| >= logit(threshold))``.
    """

    patience: float = 2.0
    randomised: bool = False

    def __post_init__(self) -> None:
        number("patience", self.patience, above=0.0)

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return 1 if the bound reaches the cut (randomised: the chance that the drawn one does)."""
        calm = self.patience * x.size
        width = math.sqrt(calm / (round_ + calm) * score.variance)
        gap = costs.score_threshold - score.mean
        if gap <= 0.0:
            probability = 1.0
        elif self.randomised:
            probability = math.erfc(gap / (math.sqrt(2.0) * width)) if width > 0.0 else 0.0
        else:
            probability = 1.0 if gap <= width else 0.0
        return Verdict(probability, {"score": score.mean, "width": width, "score_threshold": costs.score_threshold})
