"""Information-directed sampling: pay expected regret for expected information (Russo & Van Roy 2018).

With Delta(a) the expected regret of an action, delta = Delta(1) - Delta(0) and I the information in the label, acting
with probability p has expected regret Delta(0) + p delta and gains p I: only acting shows a label.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._checks import number
from ..costs import Costs
from ..errors import OptionError
from ..kernels.information import reversed_information
from ..posteriors import DrawnScore, Score, Vector
from .rule import Memoryless, Verdict

ESTIMATORS = ("mutual-information", "corrected", "printed")


def tunable_probability(regret_pass: float, regret_act: float, information: float, weight: float) -> float:
    """Return argmin over p in [0, 1] of (Delta(0) + p delta)^2 - weight p I (eq. TuneIDSParam).

    That is clip(weight I / (2 delta^2) - Delta(0) / delta, 0, 1); at delta = 0, where the paper's formula is
    undefined, the objective does not rise with p and we act.

    Examples
    --------
    >>> round(tunable_probability(0.1, 0.3, 0.5, 0.2), 6)
    0.75
    >>> tunable_probability(0.2, 0.2, 0.1, 0.05)
    1.0
    """
    delta = regret_act - regret_pass
    curvature = 2.0 * delta * delta
    if curvature == 0.0:
        return 1.0
    return min(1.0, max(0.0, (weight * information - 2.0 * delta * regret_pass) / curvature))


def traditional_probability(regret_pass: float, regret_act: float) -> float:
    """Return argmin over p in (0, 1] of (Delta(0) + p delta)^2 / (p I) = min(1, Delta(0) / |delta|).

    The information cancels: its size does not matter to this rule (Remark on traditional IDS). Where passing has no
    expected regret the ratio has its infimum at p -> 0, and we pass.

    Examples
    --------
    >>> traditional_probability(0.1, 0.2), traditional_probability(0.1, 0.5), traditional_probability(0.0, 0.3)
    (1.0, 0.25, 0.0)
    """
    if regret_pass == 0.0:
        return 0.0
    delta = abs(regret_act - regret_pass)
    return 1.0 if regret_pass >= delta else regret_pass / delta


@dataclass(frozen=True)
class InformationDirected(Memoryless):
    """Tunable IDS: minimise squared expected regret minus ``weight`` (lambda) times the information gain.

    Parameters
    ----------
    weight
        lambda >= 0, in squared units of cost per nat: with all costs ten times as large the same behaviour needs a
        hundred times the weight (0.05 is for costs of the order of one). 0 acts greedily on posterior expectations.
    estimator
        ``"mutual-information"``: H(mean p) - mean H(p); ``"corrected"``: the paper's divergence with its normalising
        constants put right; ``"printed"``: as the paper prints it, but for one index (D_t for D_{t-1}).
    """

    weight: float = 0.05
    estimator: str = "mutual-information"

    def __post_init__(self) -> None:
        number("weight", self.weight, least=0.0)
        if self.estimator not in ESTIMATORS:
            raise OptionError(f"estimator is one of {', '.join(ESTIMATORS)}; got {self.estimator!r}")

    def information(self, score: Score) -> float:
        """Return the expected information gain I_t(1) of acting, in nats."""
        if self.estimator == "mutual-information":
            return score.information()
        if not isinstance(score, DrawnScore):
            raise OptionError(f"estimator={self.estimator} needs a posterior made of draws, such as Gibbs")
        scores, weights = score.information_points
        printed = self.estimator == "printed"
        return float(reversed_information(scores, weights, score.likelihood_weights() if printed else weights))

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the probability that minimises the objective, with both regrets and the information gain."""
        regret_pass, regret_act, chance, _ = score.outlook(costs)
        information = self.information(score)
        why = {
            "chance_positive": chance,
            "regret_pass": regret_pass,
            "regret_act": regret_act,
            "information": information,
        }
        return Verdict(tunable_probability(regret_pass, regret_act, information, self.weight), why, chance)


@dataclass(frozen=True)
class Traditional(Memoryless):
    """Traditional IDS: minimise squared expected regret over information gain."""

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the probability that minimises the information ratio, with both regrets."""
        regret_pass, regret_act, chance, _ = score.outlook(costs)
        why = {"chance_positive": chance, "regret_pass": regret_pass, "regret_act": regret_act}
        return Verdict(traditional_probability(regret_pass, regret_act), why, chance)
