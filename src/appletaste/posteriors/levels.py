"""A random effect for each level beside the Gaussian at the mode (docs/curves.md, *Many levels*).

First the labels of items with levels (the dense part of each item, its slots, and the messages of its label), then
labels that are on their way, and then the belief.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from ..errors import InputError, OptionError
from ..features.levels import FIRST, LAST, SLOTS
from ..kernels import gaussian, levels, renewal, strangers
from ..kernels._jit import Indices
from ..kernels.linear import BLOCK
from ..keys import Key
from .belief import Arrays, Vector
from .groups import Groups
from .label_table import Growing, Labels, grow_to
from .laplace_belief import LaplaceBelief
from .pending_labels import Waiting
from .prior import Gaussian
from .scores import LevelScore, LevelScores

if TYPE_CHECKING:
    from .laplace import Laplace
    from .pending_labels import Waiting


class LevelLabels(Labels):
    """A growing table of acted-on items as they came; ``kept`` places hold numbers and ``places`` slots.

    ``sites`` [label, 3 C + 2] has for each of C columns the slot, and precision and shift of the message that the label
    sends there; behind them scale and offset with which the dense part sees the item (``kernels.levels``).
    """

    __slots__ = ("_kept", "_places", "_sites")

    def __init__(self, kept: Indices, places: Indices) -> None:
        super().__init__(len(kept))
        self._kept, self._places = kept, places
        self._sites = Growing(BLOCK, 3 * len(places) + 2)

    @property
    def sites(self) -> Vector:
        """Slots and messages; zeros beyond the last label."""
        return self._sites.array

    def make_room(self, extra: int = 1) -> None:
        """Grow so that this many more labels fit."""
        super().make_room(extra)
        if len(self._sites.array) < self.capacity:
            self._sites.grow(self.capacity)

    def as_now(self) -> Self:
        """Return the table as it is now; messages in it go on changing."""
        twin = super().as_now()
        twin._sites = self._sites.held()
        return twin

    def item(self, place: int) -> Vector:
        """Return the item at a place, as it came."""
        return np.array(self._whole(super().item(place)[None], self.sites[place : place + 1])[0])

    def revised(self, changes: Mapping[int, int | None]) -> tuple[Vector, Vector]:
        """Return items and labels with those at some places changed; None: removed."""
        values = self.values[: self.n].copy()
        for place, label in changes.items():
            values[place] = np.nan if label is None else label
        stored, kept = self.arrays(), ~np.isnan(values)
        whole = self._whole(stored["items"].astype(np.float64), stored["sites"].astype(np.float64))
        return np.ascontiguousarray(whole[kept]), values[kept]

    def _whole(self, dense: Vector, sites: Vector) -> Vector:
        """Return items with their slots at their places."""
        items = np.empty((len(dense), len(self._kept) + len(self._places)))
        items[:, self._kept] = dense
        items[:, self._places] = FIRST + sites[:, : 3 * len(self._places) : 3]
        return items

    def seen(self) -> Vector:
        """Return the items as the dense part sees them: times the scale, with the offset behind."""
        items, last = self.arrays()["items"].astype(np.float64), self.sites[: self.n, -2:]
        return np.column_stack([last[:, :1] * items, last[:, 1]])

    def arrays(self) -> Arrays:
        """Return the dense parts, the labels and the sites."""
        return {**super().arrays(), "sites": self.sites[: self.n].copy()}

    def take(self, arrays: Arrays) -> None:
        """Begin with what ``arrays`` returned."""
        before = Labels.from_arrays(arrays, len(self._kept))
        self.n = 0
        self.make_room(before.n)
        self.features[: len(before.features)] = before.features
        self.values[: before.n], self.sites[: before.n] = before.values[: before.n], arrays["sites"]
        self.n = before.n


class LevelWaiting(Waiting):
    """What ``Waiting`` keeps, and for each level the precision that labels on their way will add.

    What a label adds to its levels is taken back when it arrives, so that no label of a rare level counts twice.
    """

    belief: LevelBelief

    def __init__(self, belief: LevelBelief) -> None:
        super().__init__(belief)
        self._columns = len(belief.scales)
        self._width = len(belief.mean)
        self._pending, self._pending_aside = Growing(ROOM, self._columns), Growing(ROOM, self._columns)
        #: What each label on its way adds, by its round; those that came while V_w was due have none yet.
        self._gains: dict[int, Vector] = {}

    def add(self, key: int, x: Vector) -> None:
        """Note that the label of x is on its way."""
        self.hold(key, x)
        if self._fresh:
            self._gains[key] = self._expect(x, self._awaited, self._pending)
            strangers.join(self._plain(x), self._crowd)

    def _plain(self, x: Vector) -> Vector:
        """Return the places of an item that hold quantities."""
        return self.belief.dense(x)

    def _expect(self, x: Vector, awaited: Vector, pending: Growing) -> Vector:
        grow_to(pending, int(self.belief.slots_of(x).max()))
        awaited[gaussian.MEAN, :] = self.belief.matrix[gaussian.MEAN]
        return self.belief.expect(x, awaited, pending.array)

    def remove(self, key: int) -> None:
        """Note that a label has arrived, or never will."""
        x, gains = self.items.get(key), self._gains.pop(key, None)
        if x is not None and gains is not None:
            for c, slot in enumerate(self.belief.slots_of(x).astype(int).tolist()):
                left = self._pending.array[slot, c] - gains[c]
                self._pending.array[slot, c] = left if left > 1e-12 else 0.0
        super().remove(key)

    def score(self, x: Vector) -> LevelScore:
        """Return how the score of x will be distributed about today's mean once the labels on their way are seen."""
        belief, awaited = self.belief, self._now()
        awaited[gaussian.MEAN, :] = belief.matrix[gaussian.MEAN]
        mine = awaited is self._awaited
        pending, crowd = (self._pending, self._crowd) if mine else (self._pending_aside, self._crowd_aside)
        variance = belief.asked(x, belief.matrix, belief.none).variance
        found = belief.asked(x, awaited, pending.array)
        found.stranger = strangers.strange(self._plain(x), variance, found.variance, self._labelled(), crowd)
        return found

    def _compute(self, awaited: Vector) -> None:
        """Compute V_w and the precisions on their way from the belief, one item that waits after another."""
        mine = awaited is self._awaited
        pending, found = self._pending if mine else self._pending_aside, {}
        pending.array[:] = 0.0
        awaited[:], crowd = self.belief.matrix, self._emptied(awaited)
        for key, x in self.items.items():
            found[key] = self._expect(x, awaited, pending)
            strangers.join(self._plain(x), crowd)
        if mine:
            self._gains = found

    def arrays(self) -> Arrays:
        """Return what is on its way, for saving."""
        used = np.flatnonzero(self._pending.array.any(axis=1))
        known = [key for key in self.items if key in self._gains]
        return {
            **super().arrays(),
            "pending": self._pending.array[: int(used[-1]) + 1 if len(used) else 0].copy(),
            "gained": np.array(known, dtype=np.int64),
            "gains": np.array([self._gains[key] for key in known]).reshape(-1, self._columns),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        super().restore(arrays)
        grow_to(self._pending, len(arrays["pending"]) - 1)
        self._pending.array[:] = 0.0
        self._pending.array[: len(arrays["pending"])] = arrays["pending"]
        self._gains = dict(zip(arrays["gained"].tolist(), np.array(arrays["gains"], dtype=np.float64), strict=True))


#: The scales tau^2 that the levels of a column may have, and how likely each is before any label: log-normal about 1.
SCALES = np.exp(np.linspace(np.log(0.001), np.log(10.0), 18))
USUAL = -0.5 * (np.log(SCALES) / 1.5) ** 2
#: Labels whose messages are computed again for each label learnt.
REVISITED = 4
#: Slots that there is room for at first.
ROOM = 256
#: The variance of the offset's coefficient, which is 1.
FIXED = 1e-10


class Effect(NamedTuple):
    """What is believed of one level: its place in the vector, mean and variance of its effect, and its labels."""

    place: int
    mean: float
    variance: float
    labels: int


class LevelBelief(LaplaceBelief):
    """N(m, V) for numbers and categories, and N(u, v) for each level of each column with many levels.

    The dense part is a ``LaplaceBelief`` that sees each label with the levels averaged over, as an item that is scaled
    and has an offset (``kernels.levels``). Levels learn by messages, and at every label some messages are computed
    again. The scale tau^2 of a column is learnt from all its levels at every renewal.
    """

    def __init__(self, settings: Laplace, n_features: int, key: Key, numbers: tuple[int, ...]) -> None:
        groups = np.array(numbers, dtype=np.int64)
        if len(groups) != n_features:
            Groups(numbers, n_features)  # says what is wrong
        self._places, self._kept = np.flatnonzero(groups == SLOTS), np.flatnonzero(groups != SLOTS)
        if not len(self._kept):
            raise OptionError("levels need at least one other feature beside them, such as Encoder's intercept")
        self.slots, width = tuple(self._places.tolist()), len(self._kept) + 1
        found = Groups((*groups[self._kept].tolist(), 0), width)
        prior = found.start(_with_offset(settings.prior, self._kept, n_features))
        found.numbers[-1] = SLOTS  # no slope: the learnt scale of the prior leaves it alone
        super().__init__(replace(settings, prior=prior, groups=None), width, key, found)
        columns = len(self._places)
        self._told, self._effects = LevelLabels(self._kept, self._places), Growing(ROOM, columns, 3)
        self._scales, self._next = np.ones(columns), 0
        self._z, self._parts, self._logs = np.zeros(width), np.zeros((3, columns)), np.zeros(len(SCALES))
        self.none = np.zeros((0, columns))  #: no label is on its way

    @property
    def labels(self) -> LevelLabels:
        """The labels learnt so far, with the items as they came."""
        return self._told

    @property
    def scales(self) -> Vector:
        """tau^2 of each column with many levels."""
        return self._scales.copy()

    @property
    def mean(self) -> Vector:
        """E theta; 0 at places that hold slots, whose effects ``effects`` has."""
        found = np.zeros(len(self._kept) + len(self._places))
        found[self._kept] = self._belief[gaussian.MEAN, :-1]
        return found

    @property
    def covariance(self) -> Vector:
        """V; 0 at places that hold slots."""
        width = len(self._kept) + len(self._places)
        found = np.zeros((width, width))
        found[np.ix_(self._kept, self._kept)] = self._belief[gaussian.COVARIANCE : -1, :-1]
        return found

    def effects(self, x: Vector) -> list[Effect]:
        """Return what is believed of the levels of an item, one for each column with many levels."""
        self._check(x)
        levels.look_up(x, self._places, self._effects.array, self._scales, self.none, self._parts)
        found = []
        for c, place in enumerate(self.slots):
            slot, mean, variance = self._parts[:, c].tolist()
            there = int(slot) < len(self._effects.array)
            count = self._effects.array[int(slot), c, levels.COUNT] if there else 0.0
            found.append(Effect(place, mean, variance, int(count)))
        return found

    def _check(self, x: Vector) -> None:
        """Refuse what is no slot: it would be somebody else's memory."""
        for place in self.slots:
            if not (FIRST <= x[place] <= LAST and x[place].is_integer()):
                raise InputError(
                    f"feature {place} is {x[place]}: this place holds the slot of a level, a whole number from "
                    f"{FIRST:.0f} to {LAST:.0f}, as the map of the policy makes it"
                )

    def score(self, x: Vector, round_: int) -> LevelScore:
        """Return how the score of x is distributed."""
        self._check(x)
        if self.waiting is not None:
            return self.waiting.score(x)  # type: ignore[return-value]
        return self.asked(x, self._belief, self.none)

    def asked(self, x: Vector, belief: Vector, pending: Vector) -> LevelScore:
        """Return how the score of x is distributed, with another covariance and precision on its way."""
        mean, variance = levels.score_levels(
            x, self._kept, self._places, self._effects.array, self._scales, pending, belief, self._z, self._parts
        )
        return LevelScore(mean, variance, belief[gaussian.DIRECTION, :-1], self._parts)

    def score_many(self, items: Vector) -> LevelScores:
        """Return how the scores of many items are distributed, each by itself."""
        n = len(items)
        scores = LevelScores(
            np.empty(n), np.empty(n), np.empty((n, len(self._kept))), np.empty((n, *self._parts.shape))
        )
        for k, x in enumerate(items):
            self._check(x)
            found = self.asked(x, self._belief, self.none)
            scores.means[k], scores.variances[k] = found.mean, found.variance
            scores.directions[k], scores.levels[k] = found.direction(), found.parts
        return scores

    def expecting(self, before: Waiting | None = None) -> LevelWaiting:
        """Return what keeps labels on their way in mind for this belief, going on from before."""
        if not isinstance(before, LevelWaiting):
            return LevelWaiting(self)
        before.stand_on(self)
        return before

    def expect(self, x: Vector, awaited: Vector, pending: Vector) -> Vector:
        """Shrink another covariance and add to precision on its way as a label at x will; return what was added."""
        gains = np.empty(len(self._places))
        arrays = self._effects.array, self._scales, pending, awaited, self._z, self._parts, gains
        levels.expect_levels(x, self._kept, self._places, *arrays)
        return gains

    def dense(self, x: Vector) -> Vector:
        """Return the places of an item that hold quantities."""
        return x[self._kept]

    def slots_of(self, x: Vector) -> Vector:
        """Return the slots of an item."""
        return x[self._places] - FIRST

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label, compute some messages again, and go on with the pass if one is under way or due."""
        self._check(x)
        told, dense, n = self._told, self._labels, self._told.n
        told.make_room()
        dense.make_room()
        grow_to(self._effects, int(self.slots_of(x).max()))
        raw, scaled, effects, sites = told.features, dense.features, self._effects.array, told.sites
        work = self._z, self._parts
        told.values[n] = label
        levels.learn_levels(
            x,
            float(label),
            self._kept,
            self._places,
            effects,
            self._scales,
            self.none,
            self._belief,
            raw,
            scaled,
            dense.values,
            sites,
            n,
            *work,
        )
        told.n = dense.n = n + 1
        settled = bool(self._marks[renewal.POSITION] < 0.0)
        self._next = levels.revisit_some(
            self._next,
            REVISITED,
            n + 1,
            settled,
            effects,
            self._scales,
            self._belief,
            raw,
            scaled,
            dense.values,
            sites,
            *work,
        )
        if n + 1 >= self._due:
            if settled:
                levels.learn_scales(effects, SCALES, USUAL, self._logs, self._scales)
            self._renew(n + 1)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        used = np.flatnonzero(self._effects.array[:, :, levels.COUNT].any(axis=1))
        last = int(used[-1]) + 1 if len(used) else 0
        return {
            **super().arrays(),
            **self._told.arrays(),
            "effects": self._effects.array[:last].copy(),
            "scales": self._scales.copy(),
            "revisited": np.array(self._next),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._told.take(arrays)
        super().restore({**arrays, "items": self._told.seen()})
        self._effects = Growing(ROOM, len(self._places), 3)
        grow_to(self._effects, len(arrays["effects"]) - 1)
        self._effects.array[: len(arrays["effects"])] = arrays["effects"]
        self._scales[:], self._next = arrays["scales"], int(arrays["revisited"])


def _with_offset(prior: Gaussian, kept: Indices, n_features: int) -> Gaussian:
    """Return the prior of the dense part: that of the places kept, and the offset, whose coefficient is 1."""
    variances = prior.variances(n_features)
    if variances is None:
        raise OptionError(
            "a column with many levels needs a prior of independent coefficients: give variances, not a matrix, or "
            "encode with Encoder(many=False)"
        )
    means = prior.mean_vector(n_features)
    return Gaussian(np.append(means[kept], 1.0), np.append(variances[kept], FIXED))
