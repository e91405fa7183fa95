"""Trees beside the straight lines and curves: their score of an item is one more feature, with a weight to be learnt.

A forest is fitted when labels have grown by two fifths (``boosting``), and joins where the labels speak for it. The
posterior then learns all labels again, in longer items: a label that the forest was fitted on with the score of the
trees that have not seen it, so that the weight is what trees are worth on items to come (docs/trees.md).
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Observation, new_tuple
from ..features.numbers import OPEN
from ..kernels._jit import Word
from ..keys import Key
from ..posteriors import Belief, Gaussian, Laplace, LaplaceBelief, WideBelief
from ..posteriors.groups import OPENED, SCALES
from ..posteriors.label_table import Labels
from ..posteriors.laplace_belief import FadingLaplaceBelief, Fitted
from ..rules import Rule
from . import boosting
from .bayesian_learner import BayesianLearner
from .forest import Forest
from .learner import Arrays, Learner, Vector, Verdict

#: The group of the score of the trees; ``OPEN`` is that of another model.
GROUP = OPEN + 1
#: Labels that the first forest needs, and by what share they have grown until the next.
FIRST, GROWTH = 120, 0.4
#: Features that trees look at, at most.
MOST = 1000
#: The log Bayes factor with which trees join; those that have joined stay until it is below 0.
EVIDENCE = 4.0
#: Labels are late where fewer of the latest run than this share are of items decided on after the earlier runs.
PROMPT = 0.8
#: Newton steps to the mode at most, the rise of the log posterior below which it is there, and the least length of a
#: score: shorter says nothing.
STEPS, NEAR, FLAT = 50, 1e-3, 1e-9
#: The coefficient of a run of labels: what it is at first, the precision, and the mean.
APART = 0.0, 0.01, 0.0


class Found(NamedTuple):
    """What came of a fitting: trees to go on with from now on, or none."""

    forest: Forest | None
    labels: int  #: that they were fitted on
    revision: int  #: how often labels had been changed or forgotten before
    evidence: float  #: log Bayes factor; NaN: nothing better could be fitted, and what there was stays
    belief: Belief | None  #: that has learnt these labels in longer items, where that could be done beforehand

    @property
    def stays(self) -> bool:
        """Whether the trees that were in use stay, because no better ones could be fitted."""
        return math.isnan(self.evidence)


@dataclass(frozen=True)
class Fitting:
    """What one forest is fitted on, held as it was, so that another thread can fit while labels come in."""

    width: int
    table: Labels
    weights: Vector
    straight: NDArray[np.intp]
    slots: tuple[int, ...]
    revision: int
    before: Forest | None
    heard: NDArray[np.bool_] | None  #: which labels have the veto, where labels are late; None: the whole latest run
    fitted: Fitted
    fresh: Callable[[], Belief] | None

    def run(self) -> Found:
        """Fit, weigh, and learn the labels again in longer items if they speak for the trees."""
        stored, labels = self.table.revised({})
        n, items = len(labels), np.ascontiguousarray(stored[:, : self.width])
        if self.before is None and self.heard is not None:  # labels that came early do not speak for those to come
            return Found(None, n, self.revision, math.nan, None)
        forest = boosting.fit(items, labels, self.weights, self.straight, np.array(self.slots, dtype=np.intp))
        if forest is None:
            return Found(self.before, n, self.revision, math.nan, None)
        longer = forest.longer_many(items, n)
        seen, others, said = self.table.seen(), list(self.fitted), None
        if self.before is not None:  # what trees that are in use say is not to be held against those to come
            place = self.width - len(self.slots)
            seen, said = np.delete(seen, place, axis=1), seen[:, place]
            others = [np.delete(part, place) for part in others]
        # where none of the latest run is heard, nobody speaks against trees that are in use
        heard = self.heard if self.heard is not None and self.heard.any() else None
        speaks = partial(held_out, seen, labels, self.weights, others=Fitted(*others), heard=heard)
        found = speaks(longer[:, -1])
        if not found > (EVIDENCE if self.before is None else 0.0):
            if said is not None and speaks(said) > 0.0:
                return Found(self.before, n, self.revision, math.nan, None)  # fitted on labels since forgotten, say
            return Found(None, n, self.revision, found, None)
        belief = None if self.fresh is None else self.fresh()
        if belief is not None:
            for x, label in zip(longer, labels.tolist(), strict=True):
                belief.learn(x, int(label))
        return Found(forest, n, self.revision, found, belief)


class TreesLearner(BayesianLearner):
    """A learner of items that are longer by the score of the trees, once these have joined."""

    def __init__(
        self, posterior: Laplace, rule: Rule, vigilance: float, in_order: bool, n_features: int, key: Key
    ) -> None:
        self._posterior, self._width, self._key = posterior, n_features, key
        super().__init__(partial(posterior.start, n_features, key), rule.start(n_features), vigilance, in_order)
        groups = np.array(posterior.groups or (0,) * n_features)
        # trees bend by themselves: they look at lines, not at the ramps of curves
        self._straight = np.flatnonzero((groups == 0) | (groups == OPEN))
        #: The trees that take part; None: none do.
        self.forest: Forest | None = None
        self._next, self._revision = FIRST, 0
        #: The latest round; of each label in turn the round of its item (0: there is none) and that it was learnt in.
        self._round, self._rounds = 0, array("q")
        if len(self._straight) + len(self.slots) > MOST:
            self._next = 2**62

    # ---- fitting and joining

    @property
    def due(self) -> bool:
        """Whether a forest is to be fitted now."""
        labels = self.belief.labels
        return labels is not None and labels.n >= self._next and boosting.library() is not None

    def fitting(self) -> Fitting:
        """Return what the next forest is fitted on: the labels as they are."""
        belief = self.belief
        assert belief.labels is not None
        assert isinstance(belief, LaplaceBelief | FadingLaplaceBelief | WideBelief)  # ``Laplace.start``
        return Fitting(
            self._width,
            belief.labels.as_now(),
            belief.label_weights(),
            self._straight,
            self.slots,
            self._revision,
            self.forest,
            heard_where_late(self._label_rounds()),
            belief.fitted(),
            None if self._forgets else partial(self._begun, belief),  # by now labels are older
        )

    def _begun(self, before: Belief) -> Belief:
        """Return a belief in longer items before the first label, to take the place of another one."""
        fresh = self._start(longer=True)
        fresh.follow(before)
        return fresh

    def takes(self, forest: Forest) -> bool:
        """Return whether a forest is for items like those of this learner."""
        return forest.width == self._width and tuple(forest.places.tolist()) == self.slots

    def is_current(self, found: Found) -> bool:
        """Return whether the labels that trees were fitted on are still the first ones, as they were."""
        return found.revision == self._revision

    def adopt(self, found: Found) -> None:
        """Go on with trees that were fitted on the first labels, or without any; all labels are learnt again."""
        labels = self.belief.labels
        assert labels is not None
        weights = self.belief.label_weights()[: found.labels]
        self._next = max(FIRST, found.labels + max(1, math.ceil(GROWTH * float(weights.sum()))))
        forest = found.forest
        if found.stays or forest is self.forest:
            return
        self._stand_on(forest)
        if found.belief is None:
            items = np.ascontiguousarray(labels.revised({})[0][:, : self._width])
            longer = items if forest is None else forest.longer_many(items, found.labels)
            self.belief = self.belief.relearn({}, self._restart(), longer)
            return
        for place in range(found.labels, labels.n):
            x = np.ascontiguousarray(labels.item(place)[: self._width])
            found.belief.learn(self.widened_one(x), int(labels.values[place]))
        self.belief = found.belief

    def _stand_on(self, forest: Forest | None) -> None:
        """Let new items be longer by the score of a forest, and the rule with them."""
        before, self.forest = self.forest, forest
        if (before is None) == (forest is None):
            return
        places = [*range(self._width), *([-1] if forest is not None else [])]
        self.rule = self.rule.moved(np.array(places, dtype=np.intp))
        self._restart = partial(self._start, forest is not None)

    def _start(self, longer: bool) -> Belief:
        """Return a belief before the first label."""
        if not longer:
            return self._posterior.start(self._width, self._key)
        prior, d = self._posterior.prior, self._width
        variances = prior.variances(d)
        assert variances is not None  # ``Laplace.takes_more``
        wider = Gaussian(np.append(prior.mean_vector(d), 0.0), np.append(variances, 1.0))
        groups = (*(self._posterior.groups or (0,) * d), GROUP)
        return replace(self._posterior, prior=wider, groups=groups).start(d + 1, self._key)

    # ---- longer items

    def widened(self, items: Vector) -> Vector:
        """Return items as the posterior takes them, with the score of the trees behind."""
        return items if self.forest is None else self.forest.longer_many(items)

    def widened_one(self, x: Vector) -> Vector:
        """Return one item as the posterior takes it."""
        return x if self.forest is None else self.forest.longer(x)

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x, and why."""
        forest = self.forest
        probability, why, chance, worth, memo = super().judge(x if forest is None else forest.longer(x), costs, round_)
        return new_tuple(Verdict, (probability, why, chance, worth, (memo, x, costs, forest)))

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on."""
        found = super().judge_many(self.widened(items), costs, first_round, key)
        if found is not None:
            self._round = first_round + len(items) - 1
        return found

    def play_many(self, items: Sequence[Vector], costs: Costs, first_round: int, key: Word) -> list[Verdict] | None:
        """Judge items in turn and carry on."""
        longer = items if self.forest is None else [self.forest.longer(x) for x in items]
        verdicts = super().play_many(longer, costs, first_round, key)
        if verdicts is not None:
            self._round = first_round + len(items) - 1
        return verdicts

    def chance(self, x: Vector, costs: Costs, round_: int) -> float:
        """Return P(positive) of an item."""
        return super().chance(self.widened_one(x), costs, round_)

    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on to the next round; an item that was judged before trees joined is judged again."""
        memo, x, costs, forest = verdict.memo
        if forest is not self.forest:
            memo = super().judge(self.widened_one(x), costs, round_).memo
        super().commit(new_tuple(Verdict, (*verdict[:4], memo)), round_, act)
        self._round = round_

    def learn(self, observation: Observation) -> None:
        """Learn one label."""
        super().learn(self._longer_one(observation))
        self._learnt(observation.round)

    def learn_prompt(self, observation: Observation) -> None:
        """Learn a label that has come promptly, after betting on it."""
        super().learn_prompt(self._longer_one(observation))
        self._learnt(observation.round)

    def learn_in_order(self, observation: Observation, round_: int) -> None:
        """Learn a label that has come late and in its turn, after betting on it."""
        super().learn_in_order(self._longer_one(observation), round_)
        self._learnt(observation.round)

    def _learnt(self, decided: int) -> None:
        """Take note of the round of an item whose label was learnt last, and of the round it is now."""
        self._rounds.extend((decided, max(decided, self._round)))

    def _label_rounds(self) -> NDArray[np.int64]:
        """Return of each label the round of its item and the round that it was learnt in."""
        return np.array(self._rounds, dtype=np.int64).reshape(-1, 2)

    def _longer_one(self, observation: Observation) -> Observation:
        return observation if self.forest is None else observation._replace(x=self.forest.longer(observation.x))

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning."""
        found = super().item(place)
        return None if found is None else found[: self._width]

    # ---- labels that are changed or forgotten

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Believe what the labels say with those at some places changed (None: removed).

        The trees stay as they are until the next forest, and each label keeps the score it was learnt with, which is of
        trees that have not seen it: so the weight of the trees is what it would have been.
        """
        places = [place - self._forgotten for place, label in changes.items() if label is None]
        if changes:
            self._revision += 1
        super().revise(changes)
        if gone := [place for place in places if place >= 0]:
            self._rounds = array("q", np.delete(self._label_rounds(), gone, axis=0).tobytes())

    def _forget(self, began: int, round_: int, everything: bool) -> None:
        """Forget labels; what is left is fitted anew."""
        before = self._forgotten
        super()._forget(began, round_, everything)
        del self._rounds[: 2 * (self._forgotten - before)]
        labels = self.belief.labels
        assert labels is not None
        self._revision, self._next = self._revision + 1, min(self._next, max(FIRST, labels.n))

    # ---- saving

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        trees: Arrays = {"trees.next": np.array([self._next, self._revision, self._round], dtype=np.int64)}
        if any(self._rounds):
            trees["trees.rounds"] = self._label_rounds()
        if self.forest is not None:
            trees["trees.forest"] = np.frombuffer(self.forest.packed, dtype=np.uint8)
        return {**super().arrays(), **trees}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        kept = arrays.get("trees.forest")
        self._stand_on(None if kept is None else Forest.read(kept.tobytes()))
        self.belief = self._restart()
        self._next, self._revision, *round_ = arrays["trees.next"].tolist()
        super().restore(arrays)
        labels = self.belief.labels
        n = 0 if labels is None else labels.n
        rounds = arrays.get("trees.rounds", np.zeros((n, 2), dtype=np.int64))  # all are heard that came without any
        if rounds.shape != (n, 2):
            raise ValueError(f"{n} labels and rounds of shape {rounds.shape} do not fit")
        self._round, self._rounds = sum(round_), array("q", rounds.astype(np.int64).tobytes())


def fit_trees(learner: Learner) -> None:
    """Fit a forest to the labels that a learner has, and go on with it if they speak for it."""
    assert isinstance(learner, TreesLearner)  # no other is ever due
    learner.adopt(learner.fitting().run())


def heard_where_late(rounds: NDArray[np.int64]) -> NDArray[np.bool_] | None:
    """Return which labels may speak of trees in use where labels are late; None: not late, and the latest run may.

    Of each label there are the round of its item (0: it was simply given) and the round that it was learnt in. Labels
    that come last may be of items decided on long before, beside those that the trees were fitted on: what they say is
    no evidence of items to come. So those are heard whose items came when all labels of the earlier runs were learnt.

    Examples
    --------
    >>> prompt = np.column_stack([np.arange(1, 91), np.arange(1, 91)])
    >>> late = prompt + [0, 20]
    >>> heard_where_late(prompt) is None, np.flatnonzero(heard_where_late(late))[[0, -1]] + 1
    (True, array([80, 90]))
    """
    n, runs = len(rounds), boosting.FOLDS
    latest = np.arange(n) * runs // n == runs - 1
    decided, learnt = rounds.T
    after = latest & ((decided == 0) | (decided >= learnt[~latest].max(initial=0)))
    return after if after.sum() < PROMPT * latest.sum() else None


def held_out(
    items: Vector,
    labels: Vector,
    weights: Vector,
    score: Vector,
    others: Fitted,
    heard: NDArray[np.bool_] | None = None,
) -> float:
    """Return the log Bayes factor of a score by labels left out; if the latest run of them speaks against it, that one.

    What differs between the runs that were left out in turn is not for the trees to tell: each has a coefficient of its
    own. The latest run is scored by trees that saw earlier labels alone, as items to come will be; where labels are
    late only those that are ``heard`` speak for it.
    """
    n, runs = len(labels), boosting.FOLDS
    run = np.arange(n) * runs // n
    more = Fitted(*(np.append(part, np.full(runs - 1, told)) for part, told in zip(others, APART, strict=True)))
    seen = np.column_stack([items, run[:, np.newaxis] == np.arange(1, runs)])
    latest = run == runs - 1 if heard is None else heard
    found = evidence(seen, labels, np.where(latest, weights, 0.0), score, *more)
    return evidence(seen, labels, weights, score, *more) if found > 0.0 else found


def evidence(
    items: Vector, labels: Vector, weights: Vector, score: Vector, mode: Vector, precisions: Vector, mean: Vector
) -> float:
    """Return the log Bayes factor of a score with a coefficient N(0, t) against none, t as likely as ``OPENED`` says.

    With residuals r = y - p and curvatures w = p (1 - p) at the mode of all others, V^-1 = X'WX + B^-1, the labels say
    U = f'r of the coefficient and I = f'Wf - f'WX V X'Wf that is its own, so that

        log L(t) = 1/2 [t U^2 / (1 + t I) - log(1 + t I)].

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> x, f = rng.normal(size=(2, 500, 1))
    >>> y = (rng.random(500) < 1 / (1 + np.exp(-2 * f[:, 0]))).astype(float)
    >>> prior = np.zeros(1), np.ones(1), np.zeros(1)
    >>> evidence(x, y, np.ones(500), f[:, 0], *prior) > 50, evidence(f, y, np.ones(500), x[:, 0], *prior) < 3
    (True, True)
    """
    step: NDArray[np.floating] = np.zeros(len(mode))
    height = -math.inf
    for _ in range(STEPS):
        z = items @ (mode + step)
        rise = float(weights @ (labels * z - np.logaddexp(0.0, z)) - 0.5 * precisions @ (mode + step - mean) ** 2)
        if rise < height:  # too long a step
            step = 0.5 * step
            continue
        mode, near, height = mode + step, rise - height < NEAR, rise
        chances = 1.0 / (1.0 + np.exp(-np.clip(z, -500.0, 500.0)))
        residuals, curvatures = weights * (labels - chances), weights * chances * (1.0 - chances)
        hessian = (items.T * curvatures) @ items + np.diag(precisions)
        step = np.linalg.solve(hessian, items.T @ residuals - precisions * (mode - mean))
        if near:
            break
    else:
        return -math.inf  # no mode was found, so nothing can be said
    across = items.T @ (curvatures * score)
    told = float(score @ residuals)
    known = float(curvatures @ score**2 - across @ np.linalg.solve(hessian, across))
    if not known > FLAT:
        return -math.inf
    logs = 0.5 * (SCALES * told**2 / (1.0 + SCALES * known) - np.log1p(SCALES * known)) + np.log(OPENED)
    return float(logs.max() + np.log(np.exp(logs - logs.max()).sum()))
