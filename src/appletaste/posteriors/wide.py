"""The recommended posterior while features are many and labels few: kept in the span of the labelled items."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import gaussian as kernels
from ..kernels import renewal, wide
from ..kernels._jit import announce_compilation
from ..keys import Key
from .belief import Arrays, Belief, Certificate, Vector
from .groups import Groups
from .label_table import Labels, next_renewal
from .laplace_belief import Fitted, LaplaceBelief
from .pending_labels import Waiting
from .scores import NormalScore, NormalScores

if TYPE_CHECKING:
    from .laplace import Laplace

#: Features from which on it pays: below, the matrix V is as quick and is what it always was.
WIDE = 256
#: Labels are few while there is at most one for so many features.
FEATURES_PER_LABEL = 4


class WideBelief(Belief):
    """The Gaussian of ``LaplaceBelief``, by its factor; once labels are many it goes on as a matrix.

    ``variances`` are those of the prior, whose features are independent.
    """

    #: Surprises are not asked for with so many features.
    doubt = None

    def __init__(self, settings: Laplace, variances: Vector, key: Key, groups: Groups) -> None:
        announce_compilation(wide.score_wide)
        d = len(variances)
        self._skew, self._adaptive = settings.skew, settings.adaptive
        self._many = partial(LaplaceBelief, settings, d, key, groups)
        self._key, self._groups = key.at("certificate").word(), groups
        self._limit = d // FEATURES_PER_LABEL
        self._labels = Labels(d)
        self._vectors = np.zeros((wide.VECTOR_ROWS, d))
        self._vectors[[kernels.MODE, kernels.MEAN, wide.ORIGIN]] = settings.prior.mean_vector(d)
        self._vectors[[wide.SPREAD, wide.BASE]] = variances
        self._rows, self._factor = np.zeros((self._limit, d)), np.zeros((self._limit, d))
        self._duals, self._squares = np.zeros((wide.DUAL_ROWS, self._limit)), np.zeros((3, self._limit**2))
        self._marks = renewal.make_marks()
        self._due = 1
        self._matrix: Vector | None = None  # V as a matrix, for those who must have it, until the next label
        self._now: LaplaceBelief | None = None  # who has taken over
        self.warned = False
        self.waiting = None

    def fitted(self) -> Fitted:
        """Return the mode and the prior that it was found with."""
        if self._now is not None:
            return self._now.fitted()
        prior = 1.0 / self._vectors[wide.SPREAD], np.array(self._vectors[wide.ORIGIN])
        return Fitted(self._vectors[kernels.MODE].copy(), *prior)

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._labels if self._now is None else self._now.labels

    @property
    def matrix(self) -> Vector:
        """Everything, in the layout of the kernels; to be looked at."""
        if self._now is not None:
            return self._now.matrix
        if self._matrix is None:
            d = self._vectors.shape[1]
            self._matrix = np.empty((kernels.COVARIANCE + d, d))
            wide.write_out(self._vectors, self._factor, self._labels.n, self._matrix)
        return self._matrix

    @property
    def mean(self) -> Vector:
        """E theta."""
        return np.array(self._vectors[kernels.MEAN]) if self._now is None else self._now.mean

    @property
    def covariance(self) -> Vector:
        """V."""
        return np.array(self.matrix[kernels.COVARIANCE :])

    def score(self, x: Vector, round_: int) -> NormalScore:
        """Return how the score of x is distributed."""
        if self.waiting is not None:
            return self.waiting.score(x)
        if self._now is not None:
            return self._now.score(x, round_)
        mean, variance = wide.score_wide(x, self._vectors, self._factor, self._labels.n)
        return NormalScore(mean, variance, self._vectors[kernels.DIRECTION])

    def score_many(self, items: Vector) -> NormalScores:
        """Return how the scores of many items are distributed, each by itself."""
        if self._now is not None:
            return self._now.score_many(items)
        scores = NormalScores(np.empty(len(items)), np.empty(len(items)), np.empty_like(items))
        wide.score_many_wide(items, self._vectors, self._factor, self._labels.n, *scores.parts(slice(0, len(items))))
        return scores

    def expecting(self, before: Waiting | None = None) -> Waiting:
        """Return what keeps labels on their way in mind for this belief, going on from before."""
        if before is None:
            return Waiting(self)
        before.stand_on(self)
        return before

    def commit(self, round_: int) -> None:
        """Carry on: a round by itself changes nothing."""

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label, and renew if that is due."""
        n = self._labels.n
        if self._now is None and n == self._limit:
            self._hand_over()
        if self._now is not None:
            self._now.learn(x, label, moment)
            return
        wide.learn_wide(x, float(label), self._vectors, self._rows, self._factor, self._duals, n)
        self._labels.add(x, label)
        self._matrix = None
        if n + 1 >= self._due:
            self._renew(n + 1)

    def _renew(self, n: int) -> None:
        if self._adaptive:
            wide.rescale_wide(self._vectors, self._rows, self._factor, n, self._groups.numbers)
        wide.renew_wide(
            self._key,
            n,
            self._skew,
            self._vectors,
            self._rows,
            self._factor,
            self._duals,
            self._squares,
            self._marks,
        )
        self._due = next_renewal(n)

    def _hand_over(self) -> None:
        """Let a matrix go on from here."""
        now = self._many()
        now.take_over(self.matrix, self._labels, 1.0 / self._vectors[wide.SPREAD], self._marks, self._due)
        now.warned, self._now, self._matrix = self.warned, now, None

    def certificate(self) -> Certificate:
        """Return the running acceptance rate of the Metropolis correction that would make this belief exact."""
        if self._now is not None:
            return self._now.certificate()
        found = float(self._marks[renewal.ACCEPTANCE])
        acceptance = math.nan if found < 0.0 else found
        return Certificate(acceptance, int(self._marks[renewal.ENDED]), self._vectors.shape[1])

    def follow(self, other: WideBelief) -> None:
        """Begin where another belief was apart from its labels: what it has warned of is not said again."""
        self.warned = other.warned if other._now is None else other._now.warned

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        if self._now is not None:
            return self._now.arrays()
        vectors = self._vectors.copy()
        vectors[kernels.DIRECTION] = 0.0  # of whoever asked last
        return {
            **self._labels.arrays(),
            "vectors": vectors,
            "factor": self._factor[: self._labels.n].copy(),
            "dual": self._duals[wide.DUAL, : self._labels.n].copy(),
            "marks": self._marks.copy(),
            "due": np.array(self._due),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._matrix = None
        if "belief" in arrays:
            self._now = self._many()
            self._now.restore(arrays)
            return
        self._now = None
        self._labels = Labels.from_arrays(arrays, self._vectors.shape[1])
        n = self._labels.n
        self._vectors[:], self._marks[:], self._due = arrays["vectors"], arrays["marks"], int(arrays["due"])
        self._rows[:n], self._factor[:n] = arrays["items"], arrays["factor"]
        self._duals[wide.LABELS, :n], self._duals[wide.DUAL, :n] = arrays["labels"], arrays["dual"]
