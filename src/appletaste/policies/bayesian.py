"""Posterior x rule = policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..costs import Costs
from ..decision import Observation
from ..kernels._jit import Word
from ..keys import Key
from ..posteriors import Belief, Certificate, Posterior
from ..rules import Judge, Rule
from .items import check_width
from .learner import Arrays, Learner, Vector, Verdict


@dataclass(frozen=True)
class Bayesian:
    """Ask a posterior for the score of the item and a rule for the probability of acting.

    PG-TS is ``Bayesian(Gibbs(), Thompson())``; PG-IDS is ``Bayesian(Gibbs(), InformationDirected())``.
    """

    posterior: Posterior
    rule: Rule

    def start(self, n_features: int, key: Key) -> BayesianLearner:
        """Return the learner before the first item."""
        restart = partial(self.posterior.start, check_width(n_features), key)
        return BayesianLearner(restart, self.rule.start(n_features))


class BayesianLearner(Learner):
    """A belief and the judge that reads it."""

    belief: Belief

    def __init__(self, restart: Callable[[], Belief], judge: Judge, belief: Belief | None = None) -> None:
        self._restart = restart
        self.belief, self.rule = belief or restart(), judge
        self.keeps_labels = self.belief.labels is not None
        self._forgets = self.belief.clock is not None
        self.timed, self.slots = self.belief.timed, self.belief.slots

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x, and why."""
        return self.rule.judge(self.belief.score(x, round_), costs, x, round_)

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on; None: they must be judged one by one."""
        belief, done, found = self.belief, 0, np.empty(len(items))
        while done < len(items):  # a belief that forgets by items is the same for some of them
            part = items[done : done + min(belief.lasts(), len(items))]
            scores = belief.score_many(part)
            if scores is None:
                return None
            now = slice(done, done + len(part))
            found[now] = self.rule.judge_many(scores, costs, part, first_round + done, key)
            done = now.stop
            belief.commit(first_round + done - 1)
        return found

    def play_many(self, items: Sequence[Vector], costs: Costs, first_round: int, key: Word) -> list[Verdict] | None:
        """Judge items in turn and carry on, if the rule can."""
        verdicts = self.rule.play_many(self.belief, costs, items, first_round, key)
        if verdicts is not None:
            self.belief.commit(first_round + len(items) - 1)
        return verdicts

    def advance(self, now: float) -> None:
        """Forget up to a time."""
        self.belief.advance(now)

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Temporarily advance to ``now``; restore on exit."""
        with self.belief.glimpse(now):
            yield

    def chance(self, x: Vector, costs: Costs, round_: int) -> float:
        """Return P(positive) of an item."""
        return self.belief.score(x, round_).outlook(costs).chance

    def certificate(self) -> Certificate | None:
        """Return how far the belief is from the exact posterior."""
        return self.belief.certificate()

    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on to the next round."""
        self.belief.commit(round_)
        self.rule.commit(verdict, act)

    def learn(self, observation: Observation) -> None:
        """Learn one label."""
        if not self._forgets:
            self.belief.learn(observation.x, observation.label)
            return
        if self.timed and observation.time is not None:  # decided elsewhere, perhaps, and later than now
            self.belief.advance(observation.time)
        # an item that nobody decided on has no round of its own: it came now
        moment = observation.time if self.timed else float(observation.round) if observation.round else None
        self.belief.learn(observation.x, observation.label, moment)

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning."""
        labels = self.belief.labels
        return None if labels is None else labels.item(place)

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Believe what the stored labels say with those at some places changed (None: removed).

        What the rule remembers of items stays.
        """
        self.belief = self.belief.relearn(changes, self._restart())

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        remembered = {f"rule.{name}": array for name, array in self.rule.arrays().items()}
        return {**self.belief.arrays(), **remembered}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self.belief.restore(arrays)
        self.rule.restore({name[5:]: array for name, array in arrays.items() if name.startswith("rule.")})
