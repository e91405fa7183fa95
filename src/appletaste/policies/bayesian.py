"""Posterior x rule = policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

import numpy as np

from ..costs import Costs
from ..decision import Observation
from ..errors import OptionError
from ..kernels.types import Word
from ..keys import Key
from ..posteriors import Belief, Certificate, Posterior
from ..posteriors.fading import FadingLaplaceBelief
from ..posteriors.gaussian import Filter
from ..posteriors.labels import Labels
from ..posteriors.laplace import LaplaceBelief
from ..rules import Judge, Rule
from .items import check_width
from .learner import Arrays, Vector, Verdict


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


class BayesianLearner:
    """A belief and the judge that reads it."""

    def __init__(self, restart: Callable[[], Belief], judge: Judge) -> None:
        self._restart = restart
        self.belief, self.rule = restart(), judge
        self.keeps_labels = hasattr(self.belief, "labels")
        self._forgets = isinstance(self.belief, Filter) and self.belief.clock is not None
        self.timed = isinstance(self.belief, Filter) and self.belief.timed

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x, and why."""
        return self.rule.judge(self.belief.score(x, round_), costs, x, round_)

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on; None: they must be judged one by one."""
        belief, done = self.belief, 0
        if not isinstance(belief, Filter):
            return None
        found = np.empty(len(items))
        while done < len(items):  # a belief that forgets by items is the same for some of them
            part = items[done : done + min(belief.lasts(), len(items))]
            now = slice(done, done + len(part))
            found[now] = self.rule.judge_many(belief.score_many(part), costs, part, first_round + done, key)
            done = now.stop
            belief.commit(first_round + done - 1)
        return found

    def advance(self, now: float) -> None:
        """Forget up to a time."""
        cast(Filter, self.belief).advance(now)

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Believe for a while what will be believed at a time."""
        with cast(Filter, self.belief).glimpse(now):
            yield

    def chance(self, x: Vector, costs: Costs, round_: int) -> float:
        """Return P(positive) of an item."""
        return self.belief.score(x, round_).outlook(costs).chance

    def certificate(self) -> Certificate:
        """Return how far the belief is from the exact posterior."""
        if not isinstance(self.belief, LaplaceBelief):
            raise OptionError(
                "only an approximate posterior that keeps its labels and weighs them alike has a certificate: Laplace "
                "without a half_life"
            )
        return self.belief.certificate()

    def commit(self, round_: int, act: bool) -> None:
        """Carry on to the next round."""
        self.belief.commit(round_)
        self.rule.commit(act)

    def learn(self, observation: Observation) -> None:
        """Take in one label."""
        if self._forgets:
            decision = observation.decision
            if self.timed and decision.time is not None:  # decided elsewhere, perhaps, and later than now
                self.advance(decision.time)
            moment = decision.time if self.timed else float(decision.round)
            self.belief.learn(observation.x, observation.label, moment)  # type: ignore[call-arg]
        else:
            self.belief.learn(observation.x, observation.label)

    def item(self, place: int) -> Vector:
        """Return the item of the label learnt at a place in the order of learning."""
        return self._labels.item(place)

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Believe what the stored labels say with those at some places changed (None: taken out).

        All of them are learnt again by a new belief, in their order. What the rule remembers of items stays.
        """
        items, values = self._labels.revised(changes)
        belief = self._restart()
        if hasattr(belief, "follow"):
            belief.follow(self.belief)
        if isinstance(belief, FadingLaplaceBelief):
            moments = cast(FadingLaplaceBelief, self.belief).label_moments
            kept = [place for place in range(len(moments)) if changes.get(place, 0) is not None]
            for x, label, moment in zip(items, values, moments[kept].tolist(), strict=True):
                belief.learn(x, int(label), moment)
            belief.renew()
        else:
            for x, label in zip(items, values, strict=True):
                belief.learn(x, int(label))
        self.belief = belief

    @property
    def _labels(self) -> Labels:
        if not self.keeps_labels:
            raise OptionError(
                f"{type(self.belief).__name__} keeps no labels: each was folded into the belief of its time and cannot "
                "be taken out again; use a posterior that keeps them, such as Laplace ('voi')"
            )
        return cast(Labels, self.belief.labels)  # type: ignore[attr-defined]

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        remembered = {f"rule.{name}": array for name, array in self.rule.arrays().items()}
        return {**self.belief.arrays(), **remembered}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self.belief.restore(arrays)
        self.rule.restore({name[5:]: array for name, array in arrays.items() if name.startswith("rule.")})
