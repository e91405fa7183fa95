"""A belief and the judge that reads it, as they are carried from item to item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np

from ..costs import Costs
from ..decision import Observation
from ..kernels import bets
from ..kernels._jit import Word
from ..posteriors import Belief, Certificate
from ..rules import Judge
from .learner import Arrays, Change, Learner, Vector, Verdict

#: Labels bet on after an alarm within which another says that half of the labels was not enough.
SOON = 150


class BayesianLearner(Learner):
    """A belief and the judge that reads it."""

    belief: Belief

    def __init__(
        self, restart: Callable[[], Belief], judge: Judge, vigilance: float = 0.0, in_order: bool = False
    ) -> None:
        self._restart = restart
        self.belief, self.rule = restart(), judge
        self.keeps_labels = self.belief.labels is not None
        self._forgets = self.belief.clock is not None
        self.timed, self.slots = self.belief.timed, self.belief.slots
        self.watches = vigilance > 0.0 and self.keeps_labels and not self._forgets
        self.in_order = self.watches and in_order
        self._rate_in_order = vigilance * bets.IN_ORDER if self.in_order else 0.0
        self._rate = vigilance - self._rate_in_order
        self._bets, self._turns = np.zeros(bets.ENTRIES), np.zeros(bets.ENTRIES)
        self._bets[bets.ALARM] = -1.0
        self._changes: list[Change] = []
        self._forgotten = 0  # labels: places are counted with them

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

    @property
    def changes(self) -> Sequence[Change]:
        """When labels contradicted the model, and how many were forgotten."""
        return tuple(self._changes)

    def learn_prompt(self, observation: Observation) -> None:
        """Learn a label that has come promptly, after betting on it, and forget what labels contradict."""
        x, label, round_, _ = observation
        belief, state, place = self.belief, self._bets, self.places
        score = belief.score(x, round_)
        began = bets.bet(score.mean, score.variance, *belief.link, float(label), place, self._rate, state)
        belief.learn(x, label)
        if began >= 0:
            again = state[bets.ALARM] >= 0.0 and state[bets.COUNT] - state[bets.ALARM] < SOON
            self._forget(began, round_, everything=again)

    def learn_in_order(self, observation: Observation, round_: int) -> None:
        """Learn a label that has come late and in its turn, after betting on it; forget all that labels contradict."""
        x, label, decided, _ = observation
        belief, place, rate = self.belief, self.places, self._rate_in_order
        score = belief.score(x, decided)
        began = bets.bet_in_order(score.mean, score.variance, float(label), place, rate, self._turns)
        belief.learn(x, label)
        if began >= 0 and self._outdone(range(max(0, began - self._forgotten), self.places - self._forgotten), round_):
            self._forget(began, round_, everything=True)

    def _outdone(self, places: Sequence[int], round_: int) -> bool:
        """Return whether one rate says labels better than the model does, at whatever level."""
        return len(places) > 0 and bets.outdone(*self._said(places, round_))

    def _said(self, places: Sequence[int], round_: int) -> tuple[Vector, Vector, Vector]:
        """Return the means and variances of the scores of labels that are still known, and the labels."""
        belief, labels = self.belief, self.belief.labels
        assert labels is not None  # else nothing is watched
        scores = [belief.score(labels.item(place), round_) for place in places]
        means, variances = np.array([[score.mean, score.variance] for score in scores]).T.copy()
        return means, variances, labels.values[np.array(places)]

    def weigh_late(self, places: Sequence[int], missing: int, round_: int) -> None:
        """Bet on labels that came late and were learnt at these places, the last of a block but for those missing."""
        known = [place for place in places if place >= self._forgotten]
        if not known:
            return
        means, variances, labels = self._said([place - self._forgotten for place in known], round_)
        taken = np.array(known, dtype=np.float64)
        link, rate = self.belief.link, self._rate
        began = bets.bet_late(means, variances, *link, labels, taken, missing, rate, self._bets)
        if began >= 0:
            self._forget(began, round_, everything=True)

    def _forget(self, began: int, round_: int, everything: bool) -> None:
        """Forget labels from before the one with which a contradiction began: all, or no more than the older half."""
        labels = self.places - self._forgotten
        before = min(max(0, began - self._forgotten), labels)  # some may be forgotten, or withdrawn
        drop = before if everything else min(before, labels // 2)
        self._bets[bets.ALARM] = self._bets[bets.COUNT]
        for state in (self._bets, self._turns):  # another model is another thing to bet on
            state[: bets.BETS] = 0.0
        self._changes.append(Change(round_, drop))
        self.belief = self.belief.relearn(dict.fromkeys(range(drop)), self._restart())
        self._forgotten += drop

    @property
    def places(self) -> int:
        """The place of the next label, with those that were forgotten."""
        labels = self.belief.labels
        return self._forgotten + (0 if labels is None else labels.n)

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning; None: it was forgotten."""
        labels, place = self.belief.labels, place - self._forgotten
        return None if labels is None or place < 0 else labels.item(place)

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Believe what the stored labels say with those at some places changed (None: removed).

        What the rule remembers of items stays, and what was bet. A label that was forgotten changes nothing.
        """
        known = {place - self._forgotten: label for place, label in changes.items() if place >= self._forgotten}
        if known or not changes:
            self.belief = self.belief.relearn(known, self._restart())
        self._forgotten -= sum(place < self._forgotten and label is None for place, label in changes.items())

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        remembered = {f"rule.{name}": array for name, array in self.rule.arrays().items()}
        return {**self.belief.arrays(), **remembered, **self._watched()}

    def _watched(self) -> Arrays:
        """Return the bets and the changes, for saving."""
        if not self.watches:
            return {}
        changes = np.array(self._changes, dtype=np.int64).reshape(-1, 2)
        turns = {"turns": self._turns.copy()} if self.in_order else {}
        return {"bets": np.append(self._bets, self._forgotten), "changes": changes, **turns}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self.belief.restore(arrays)
        if self.watches:
            self._bets[:], self._forgotten = arrays["bets"][:-1], int(arrays["bets"][-1])
            if self.in_order:
                self._turns[:] = arrays["turns"]
            self._changes = [Change(*pair) for pair in arrays["changes"].tolist()]
        self.rule.restore({name[5:]: array for name, array in arrays.items() if name.startswith("rule.")})
