"""Features that are found on the way: the posterior and the rule meet longer items than the policy is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Protocol, Self

import numpy as np

from ..costs import Costs
from ..decision import Observation
from ..errors import OptionError
from ..features.levels import SLOTS
from ..features.numbers import OPEN
from ..kernels._jit import Word
from ..keys import Key
from ..posteriors import Belief, Certificate, Gaussian, Laplace
from ..rules import Judge, Rule
from .bayesian import BayesianLearner
from .items import check_width
from .learner import Added, Arrays, Learner, Vector, Verdict

#: Labels at which features are looked for: so many, twice as many, and so on.
FIRST = 250
#: What the arrays of the features begin with in a saved file.
OWN = "extra."


class Extra(ABC):
    """Features behind those of an item, as found so far: a value, of which a search returns another one."""

    #: What tells each feature from all others that may be found; one for each.
    keys: tuple[Hashable, ...] = ()
    #: The group of each feature, ``posteriors.groups.OPEN`` or higher: its scale is learnt.
    groups: tuple[int, ...] = ()

    @abstractmethod
    def of(self, items: Vector) -> Vector:
        """Return the features of items, one row for each item."""

    def of_labelled(self, items: Vector) -> Vector:
        """Return the features that the labels seen up to the last search are learnt with."""
        return self.of(items)

    @abstractmethod
    def search(self, items: Vector, labels: Vector, belief: Belief) -> Self | None:
        """Return what the labels seen speak for; None: what there is stays.

        ``belief`` has learnt the labels; its items are longer, by the features found so far.
        """

    @abstractmethod
    def added(self, first: int) -> tuple[Added, ...]:
        """Return what the features are, for people; ``first`` is the place of the first one."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return what was found, for saving."""

    @abstractmethod
    def restored(self, arrays: Arrays, items: Vector, labels: Vector) -> Self:
        """Return what ``arrays`` described, where these labels had been learnt."""


class Widening(Protocol):
    """What kind of features may be found, and its settings: a frozen dataclass."""

    def start(self, groups: tuple[int, ...], key: Key) -> Extra:
        """Return the features before the first label: none. ``groups`` are those of the items' own features."""


@dataclass(frozen=True)
class Widened:
    """``Bayesian(Laplace(...), rule)`` with features that are found from the labels seen, at 250, 500, 1,000, … labels.

    When features join, the posterior learns all labels again with longer items, and what the rule remembers of items
    is 0 at the new places. All of it follows from the labels and their order, and so do later decisions.
    """

    posterior: Laplace
    rule: Rule
    widening: Widening

    def __post_init__(self) -> None:
        if self.posterior.half_life is not None:
            raise OptionError(
                "features that are found on the way need labels that all count alike: leave out half_life, or leave "
                "out pairs and stacked scores"
            )

    def start(self, n_features: int, key: Key) -> WidenedLearner:
        """Return the learner before the first item."""
        return WidenedLearner(self, check_width(n_features), key)


class WidenedLearner(Learner):
    """A learner of longer items, and the features found so far."""

    keeps_labels = True
    belief: Belief

    def __init__(self, settings: Widened, n_features: int, key: Key) -> None:
        self._posterior, self._width, self._key = settings.posterior, n_features, key
        if SLOTS in (self._posterior.groups or ()):
            raise OptionError(
                "pairs and stacked scores do not go with columns of many levels: leave them out, or encode with "
                "Encoder(many=False), which gives the frequent levels a column each"
            )
        self._start((OPEN + 1,))  # refuses here what it would refuse once features join
        own = tuple(self._posterior.groups or (0,) * n_features)
        self._none = self._extra = settings.widening.start(own, key)
        self._stand_on(self._none, self._start(()), settings.rule.start(n_features))

    def _start(self, groups: tuple[int, ...]) -> Belief:
        """Return a belief before the first label, in items that are longer by features of these groups."""
        if not groups:
            return self._posterior.start(self._width, self._key)
        own = self._posterior.groups or (0,) * self._width
        settings = replace(self._posterior, groups=(*own, *groups), prior=self._longer(len(groups)))
        return settings.start(self._width + len(groups), self._key)

    def _longer(self, extra: int) -> Gaussian:
        """Return the prior of longer items; that of new features follows from their groups."""
        prior, d = self._posterior.prior, self._width
        variances = prior.variances(d)
        if variances is None:
            raise OptionError(
                "features that are found on the way need a prior of independent coefficients: give variances, not a "
                "matrix, or leave out pairs and stacked scores"
            )
        return Gaussian(np.append(prior.mean_vector(d), np.zeros(extra)), np.append(variances, np.ones(extra)))

    def _stand_on(self, extra: Extra, belief: Belief, judge: Judge) -> None:
        """Go on with these features, a belief in longer items and a rule that remembers them."""
        self._extra, self.belief = extra, belief
        self._inner = BayesianLearner(partial(self._start, extra.groups), judge, belief)

    def widened(self, items: Vector) -> Vector:
        """Return items as the posterior takes them, with the features found so far behind their own."""
        if not self._extra.keys:
            return items
        return np.concatenate([items, self._extra.of(items)], axis=1)

    def widened_one(self, x: Vector) -> Vector:
        """Return one item as the posterior takes it."""
        return x if not self._extra.keys else np.concatenate([x, self._extra.of(x[np.newaxis])[0]])

    def added(self) -> tuple[Added, ...]:
        """Return what the features found so far are."""
        return self._extra.added(self._width)

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x, and why."""
        verdict = self._inner.judge(self.widened_one(x), costs, round_)
        return verdict._replace(memo=(verdict.memo, x, costs, self._extra))

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on."""
        return self._inner.judge_many(self.widened(items), costs, first_round, key)

    def play_many(self, items: Sequence[Vector], costs: Costs, first_round: int, key: Word) -> list[Verdict] | None:
        """Judge items in turn and carry on."""
        longer = [self.widened_one(x) for x in items] if self._extra.keys else items
        return self._inner.play_many(longer, costs, first_round, key)

    def chance(self, x: Vector, costs: Costs, round_: int) -> float:
        """Return P(positive) of an item."""
        return self._inner.chance(self.widened_one(x), costs, round_)

    def certificate(self) -> Certificate | None:
        """Return how far the belief is from the exact posterior."""
        return self.belief.certificate()

    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on to the next round; an item that was judged before features joined is judged again."""
        memo, x, costs, extra = verdict.memo
        same = extra is self._extra
        own = verdict._replace(memo=memo) if same else self._inner.judge(self.widened_one(x), costs, round_)
        self._inner.commit(own, round_, act)

    def learn(self, observation: Observation) -> None:
        """Learn one label; look for features if that is due."""
        self._inner.learn(observation._replace(x=self.widened_one(observation.x)))
        labels = self.belief.labels
        assert labels is not None  # half_life was refused, and Laplace keeps its labels
        if is_due(labels.n):
            longer, values = labels.revised({})
            items = np.ascontiguousarray(longer[:, : self._width])
            extra, belief = self._searched(self._extra, self.belief, items, values)
            self._go_on(extra, belief)

    def _searched(self, extra: Extra, belief: Belief, items: Vector, labels: Vector) -> tuple[Extra, Belief]:
        """Return features and belief after a search; all labels are learnt again if features have joined."""
        found = extra.search(items, labels, belief)
        if found is None:
            return extra, belief
        longer = np.concatenate([items, found.of_labelled(items)], axis=1)
        fresh = self._start(found.groups)
        fresh.follow(belief)
        for x, label in zip(longer, labels.tolist(), strict=True):
            fresh.learn(x, int(label))
        return found, fresh

    def _go_on(self, extra: Extra, belief: Belief) -> None:
        """Go on with other features: what the rule remembers of each one that stays, stays."""
        if belief is self.belief:
            return
        before = {key: self._width + place for place, key in enumerate(self._extra.keys)}
        places = [*range(self._width), *(before.get(key, -1) for key in extra.keys)]
        self._stand_on(extra, belief, self._inner.rule.moved(np.array(places, dtype=np.intp)))

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning."""
        found = self._inner.item(place)
        return None if found is None else found[: self._width]

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Believe what the stored labels say with those at some places changed (None: removed).

        They are learnt again in their order, and features are looked for again as often as before.
        """
        stored = self.belief.labels
        assert stored is not None
        longer, labels = stored.revised(changes)
        items = np.ascontiguousarray(longer[:, : self._width])
        extra, belief = self._none, self._start(())
        belief.follow(self.belief)
        ends = (n for n in range(FIRST, len(items), FIRST) if is_due(n))
        for start, end in pairwise([0, *ends, len(items)]):
            rows = items[start:end]
            longer = np.concatenate([rows, extra.of(rows)], axis=1) if extra.keys else rows
            for x, label in zip(longer, labels[start:end].tolist(), strict=True):
                belief.learn(x, int(label))
            if is_due(end):
                extra, belief = self._searched(extra, belief, items[:end], labels[:end])
        self._go_on(extra, belief)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {**self._inner.arrays(), **{OWN + name: array for name, array in self._extra.arrays().items()}}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        own = {name.removeprefix(OWN): array for name, array in arrays.items() if name.startswith(OWN)}
        items = np.ascontiguousarray(arrays["items"][:, : self._width], dtype=np.float64)
        extra = self._none.restored(own, items, np.asarray(arrays["labels"], dtype=np.float64))
        places = [*range(self._width), *(-1 for _ in extra.keys)]
        self._stand_on(extra, self._start(extra.groups), self._inner.rule.moved(np.array(places, dtype=np.intp)))
        self._inner.restore(arrays)


def is_due(labels: int) -> bool:
    """Return whether features are looked for after so many labels.

    Examples
    --------
    >>> [labels for labels in range(3000) if is_due(labels)]
    [250, 500, 1000, 2000]
    """
    times, rest = divmod(labels, FIRST)
    return rest == 0 and times > 0 and times & (times - 1) == 0
