"""Inverse-gap weighting for one-sided feedback: the dearer acting looks, the seldomer it is tried."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .._checks import number
from ..costs import Costs
from ..posteriors import Score, Vector
from .rule import Memoryless, Verdict


@dataclass(frozen=True)
class InverseGap(Memoryless):
    """Act with p = 1 / (2 + g D / (S q (1 - q))) where acting looks dearer than passing, by D > 0; else act.

    For learners that estimate the chance q and have no posterior. Acting costs D = a - S q more than passing, with a
    the price of a false alarm and S that price and the gain of a catch together. A label tells of q, and only acting
    brings one. Nature chooses an error e of D and pays g p e^2 / (4 S q (1 - q)) for it: p times the log-loss that
    would tell of it, to second order. Then the worst regret is the same whether passing is best (p D + p S v / g, v =
    q (1 - q)) or acting ((1 - p)^2 S v / (g p) - (1 - p) D), and neither can be made smaller, at this p. Rare items are
    left in peace: p falls with v. The price g grows with the rounds t and falls with the features d,

        g = caution sqrt(t / (d log(1 + t))),

    since an estimate from t labels is worse than the best by about d log t in log-loss, all together.

    References
    ----------
    Foster & Krishnamurthy (2021), Efficient First-Order Contextual Bandits: Prediction, Allocation, and Triangular
    Discrimination. Zhang et al. (2023), Practical Contextual Bandits with Feedback Graphs.
    """

    caution: float = 1.0

    def __post_init__(self) -> None:
        number("caution", self.caution, above=0.0)

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return 1 where acting looks no dearer than passing (a tie acts), else the formula of the class."""
        regret_pass, regret_act, chance, _ = score.outlook(costs)
        gap = regret_act - regret_pass
        price = self.caution * math.sqrt(round_ / (x.size * math.log1p(round_)))
        stake = (costs.alarm_price + costs.catch_gain) * chance * (1.0 - chance)
        return Verdict(balanced(gap, stake, price), {"chance_positive": chance, "gap": gap, "price": price}, chance)


def balanced(gap: float, stake: float, price: float) -> float:
    """Return the probability of acting at which the worst regret is the same whichever action is best.

    Examples
    --------
    >>> balanced(-0.1, 0.2, 5.0), balanced(0.4, 0.2, 5.0), balanced(0.4, 0.0, 5.0)
    (1.0, 0.08333333333333334, 0.0)
    """
    if gap <= 0.0:
        return 1.0
    return stake / (2.0 * stake + price * gap) if stake > 0.0 else 0.0
