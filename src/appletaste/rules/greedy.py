"""Epsilon-greedy: do what looks best, and now and then toss a coin."""

from __future__ import annotations

from dataclasses import dataclass

from .._checks import number
from ..costs import Costs
from ..posteriors import Score, Vector
from .rule import Memoryless, Verdict


@dataclass(frozen=True)
class EpsilonGreedy(Memoryless):
    """Take the action of least expected cost; with probability ``epsilon`` toss a fair coin instead."""

    epsilon: float = 0.1

    def __post_init__(self) -> None:
        number("epsilon", self.epsilon, least=0.0, most=1.0)

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return 1 - epsilon/2 if acting looks best (a tie acts), else epsilon/2."""
        regret_pass, regret_act, chance, _ = score.outlook(costs)
        explore = 0.5 * self.epsilon
        probability = 1.0 - explore if regret_act <= regret_pass else explore
        return Verdict(probability, {"chance_positive": chance, "epsilon": self.epsilon}, chance)
