"""SupLogistic for apple tasting: labels in buckets of rising confidence (Jun, Jain, Nassif & Mason 2021).

The first tau rounds act, their labels dealt to S + 1 buckets in turn; the last bucket gives the reference estimate
theta-*. Later, at level s = 1, 2, ..., with theta_s the MLE of bucket s and H_s the sum of sigma'(x'theta-*) x x',

    w_s = alpha sqrt(2.2) |x| in the norm of H_s^-1;
    w_s >= 2^-s        act, and the label goes to bucket s;
    w_s <= T^-1/2      take the action of least estimated cost;
    |l_0 - l_1| > 2 2^-s   take it too: the other action is eliminated;
    else               go to level s + 1.

The estimated costs are the corrected ones, l_0 = miss sigma + correct_pass (1 - sigma) and
l_1 = false_alarm (1 - sigma) + hit sigma (see docs/paper.md). The elimination compares costs with 2^-s as it stands, so
costs are meant to be of the order of one.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._checks import number, whole
from ..costs import Costs
from ..decision import Observation
from ..errors import FeedbackError
from ..kernels.logistic import sigmoid
from ..keys import Key
from ..posteriors.directions import Directions
from ..posteriors.map import Fit, bare_fit
from .items import check_width
from .learner import Arrays, Learner, Vector, Verdict

NO_BUCKET = -1


@dataclass(frozen=True)
class SupLogistic:
    """Explore level by level; ``horizon`` is T, the number of items that will arrive.

    Parameters
    ----------
    horizon
        T; it sets the number of buckets and, by default, the burn-in. Items beyond it are decided as before.
    alpha
        The exploration rate; by default 3.5 sqrt(log(2 (2 + T) T)), the confidence constant of Jun et al. at level
        1 / T. The paper leaves it open and at its horizons nothing but recall in problem (iii) depends on it.
    burn_in
        tau; by default ceil(sqrt(d T)).
    """

    horizon: int = 1000
    alpha: float | None = None
    burn_in: int | None = None

    def __post_init__(self) -> None:
        whole("horizon", self.horizon, least=2)
        if self.alpha is not None:
            number("alpha", self.alpha, above=0.0)
        if self.burn_in is not None:
            whole("burn_in", self.burn_in, least=0)

    def start(self, n_features: int, key: Key) -> SupLogisticLearner:
        """Return the learner before the first item."""
        return SupLogisticLearner(self, check_width(n_features))


class SupLogisticLearner(Learner):
    """The buckets: an estimate each, and the factor of each H_s at the reference estimate."""

    keeps_labels = True

    def __init__(self, settings: SupLogistic, n_features: int) -> None:
        horizon = settings.horizon
        self._settings = settings
        self._alpha = settings.alpha or 3.5 * math.sqrt(math.log(2.0 * (2.0 + horizon) * horizon))
        self._levels = int(math.log2(horizon))
        default_burn_in = math.ceil(math.sqrt(n_features * horizon))
        self._burn_in = default_burn_in if settings.burn_in is None else settings.burn_in
        self._begin(n_features)
        self._dealt: dict[int, int] = {}  # the bucket of each act, by its round: where its label goes

    def _begin(self, n_features: int) -> None:
        self._buckets = [bare_fit(n_features) for _ in range(self._levels + 1)]
        self._seen = [Directions(n_features) for _ in self._buckets]
        self._order = array("q")  # the bucket of each label learnt, in the order of learning; NO_BUCKET: none

    @property
    def _reference(self) -> Fit:
        return self._buckets[-1]

    def _weighted(self, x: Vector) -> Vector:
        """Return sqrt(sigma'(x'theta-*)) x, whose outer products sum to H_s."""
        chance = sigmoid(float(self._reference.theta @ x))
        return math.sqrt(chance * (1.0 - chance)) * x

    def _look_again(self, bucket: Fit) -> Directions:
        """Return the directions of a bucket at the present reference."""
        seen = Directions(self._reference.theta.size)
        for x in bucket.labels.arrays()["items"]:
            seen.add(self._weighted(x))
        return seen

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return 0 or 1, with the level reached; the memo is where a label would go and which fits were asked for."""
        asked = {self._levels}
        if round_ <= self._burn_in:
            bucket = (round_ - 1) % (self._levels + 1)
            return Verdict(1.0, {"level": 0.0, "bucket": bucket + 1.0}, memo=(bucket, asked))
        level = 1
        while True:
            width = self._alpha * math.sqrt(2.2) * self._seen[level - 1].width(x)
            if width >= 2.0**-level:
                why = {"level": float(level), "bucket": float(level), "width": width}
                return Verdict(1.0, why, memo=(level - 1, asked))
            asked.add(level - 1)
            chance = sigmoid(float(self._buckets[level - 1].theta @ x))
            gap = costs.expected(False, chance) - costs.expected(True, chance)
            sure = width <= self._settings.horizon**-0.5 or abs(gap) > 2.0 * 2.0**-level
            if sure or level == self._levels:
                why = {"level": float(level), "bucket": 0.0, "width": width, "chance_positive": chance}
                return Verdict(float(gap >= 0.0), why, chance, memo=(NO_BUCKET, asked))
            level += 1

    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on: the fits that were asked for are where the next ones start."""
        bucket, asked = verdict.memo
        for index in asked:
            self._buckets[index].keep()
        if act:
            self._dealt[round_] = bucket

    def learn(self, observation: Observation) -> None:
        """Put one label into the bucket that its decision was dealt to."""
        if observation.round not in self._dealt:
            raise FeedbackError(
                "suplogistic learns from its own acts only: a label of another policy's decision, or from elsewhere, "
                "belongs to none of its buckets"
            )
        index = self._dealt[observation.round]
        if index != NO_BUCKET:
            self._add(index, observation.x, observation.label)
        else:  # taken on an estimate: a label from it would make the buckets depend on their own estimates
            self._order.append(NO_BUCKET)

    def _add(self, index: int, x: Vector, label: int) -> None:
        self._order.append(index)
        self._buckets[index].labels.add(x, label)
        if index == self._levels:  # the reference moves, and every H_s with it
            self._seen = [self._look_again(bucket) for bucket in self._buckets]
        else:
            self._seen[index].add(self._weighted(x))

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning; None: it is in no bucket."""
        index = self._order[place]
        if index < 0:
            return None
        return self._buckets[index].labels.item(self._order[:place].count(index))

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Fill the buckets again with the labels at some places changed (None: removed)."""
        order, stored = self._order, [bucket.labels.revised({}) for bucket in self._buckets]
        taken = [0] * len(stored)
        self._begin(self._reference.theta.size)
        for place, index in enumerate(order):
            if index < 0:
                if changes.get(place, 0) is not None:
                    self._order.append(NO_BUCKET)
                continue
            items, values = stored[index]
            label = changes.get(place, int(values[taken[index]]))
            if label is not None:
                self._add(index, items[taken[index]], label)
            taken[index] += 1

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        parts = {f"{i}.{name}": a for i, bucket in enumerate(self._buckets) for name, a in bucket.arrays().items()}
        factors = np.stack([seen.factor for seen in self._seen])
        dealt = np.array(list(self._dealt.items()), dtype=np.int64).reshape(-1, 2)
        return {**parts, "factors": factors, "order": np.array(self._order, dtype=np.int64), "dealt": dealt}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        for i, bucket in enumerate(self._buckets):
            bucket.restore({name: arrays[f"{i}.{name}"] for name in ("items", "labels", "start", "kept")})
        for seen, factor in zip(self._seen, arrays["factors"], strict=True):
            seen.factor[:] = factor
        self._order = array("q", arrays["order"].tolist())
        self._dealt = dict(arrays["dealt"].tolist())
