"""Posterior x rule = policy."""

from __future__ import annotations

from dataclasses import dataclass

from ..costs import Costs
from ..decision import Observation
from ..errors import OptionError
from ..kernels.types import Word
from ..keys import Key
from ..posteriors import Belief, Certificate, Posterior
from ..posteriors.filter import Filter
from ..posteriors.laplace import LaplaceBelief
from ..rules import Judge, Rule
from .base import Arrays, Vector, Verdict


@dataclass(frozen=True)
class Bayesian:
    """Ask a posterior for the score of the item and a rule for the probability of acting.

    PG-TS is ``Bayesian(Gibbs(), Thompson())``; PG-IDS is ``Bayesian(Gibbs(), InformationDirected())``.
    """

    posterior: Posterior
    rule: Rule

    def start(self, n_features: int, key: Key) -> BayesianLearner:
        """Return the learner before the first item."""
        return BayesianLearner(self.posterior.start(n_features, key), self.rule.start(n_features))


class BayesianLearner:
    """A belief and the judge that reads it."""

    def __init__(self, belief: Belief, judge: Judge) -> None:
        self.belief, self.rule = belief, judge

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x, and why."""
        return self.rule.judge(self.belief.score(x, round_), costs, x, round_)

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on; None: they must be judged one by one."""
        if not isinstance(self.belief, Filter):
            return None
        return self.rule.judge_many(self.belief.score_many(items), costs, items, first_round, key)

    def certificate(self) -> Certificate:
        """Return how far the belief is from the exact posterior."""
        if not isinstance(self.belief, LaplaceBelief):
            raise OptionError("only an approximate posterior that keeps its labels, Laplace, has a certificate")
        return self.belief.certificate()

    def commit(self, round_: int, act: bool) -> None:
        """Carry on to the next round."""
        self.belief.commit(round_)
        self.rule.commit(act)

    def learn(self, observation: Observation) -> None:
        """Take in one label."""
        self.belief.learn(observation.x, observation.label)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        remembered = {f"rule.{name}": array for name, array in self.rule.arrays().items()}
        return {**self.belief.arrays(), **remembered}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self.belief.restore(arrays)
        self.rule.restore({name[5:]: array for name, array in arrays.items() if name.startswith("rule.")})
