"""The anchor that exact sampling at flat cost leans on, and the next one, which is made ready beside it.

What an anchor is, is said in ``kernels.anchored``. One that lags behind the mode makes for poor proposals and loose
bounds, so it is replaced when labels have grown by a share. The next anchor, the *shadow*, takes in a range of old
labels whenever a new one is learnt, and takes over when it has caught up: no round pays for all labels.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels import anchored as kernels
from ..kernels.anchored import make_cubes
from ..kernels.linear import BLOCK
from ..kernels.logistic import fit
from .belief import Arrays, Vector
from .groups import Groups, GroupScales
from .label_table import Growing, Labels
from .prior import Gaussian

#: A new anchor is begun when labels are this many times those of the last one. At d = 20 and 2e5 labels 0.985 of
#: proposals are accepted with 1.1 and 0.976 with 1.2, which takes half the work.
RATIO = 1.2
#: Multiply-adds of a learn that go into the shadow: 192 labels at d = 20, which take 27 us.
SHADOW_WORK = 360_000
#: Beyond this many features the expansion ends with the second order.
CUBES_MOST = 48
#: The anchor is too far from the mode if |L^-1 g|^2 exceeds this many times d + 4; at d = 2 to 20
#: its median is 0.03 to 0.07 of that and, up to 6e4 labels, its maximum 0.45.
FAR = 2.0
#: Most multiply-adds of a pass over the labels for which a far anchor is refitted at once, not by a shadow.
REFIT_WORK = 16 * SHADOW_WORK


class Anchor:
    """One anchor and the running sums of its bounds."""

    __slots__ = ("_sums", "cubes", "heavy", "matrix", "prior", "reference", "seen")

    def __init__(self, prior: Vector) -> None:
        d = prior.shape[1]
        self.prior = prior.copy()  # that of its target: b, then d rows of B^-1
        self.matrix = kernels.make_anchor(d)
        self.cubes = make_cubes(d if d <= CUBES_MOST else 0)
        self.heavy = kernels.make_heavy()
        self._sums = Growing(BLOCK)
        self.reference = 0  # how many labels there were when it was begun; 0 when it was not
        self.seen = 0  # how many it has taken in

    @property
    def sums(self) -> Vector:
        """The running sums C_1, C_2, ... of the bounds."""
        return self._sums.array

    def make_room(self, n: int) -> None:
        """Grow so that n labels fit."""
        if n > len(self.sums):
            self._sums.grow(max(n, 2 * len(self.sums)))

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        counts = np.array([self.reference, self.seen], dtype=np.float64)
        parts = {"anchor": self.matrix, "cubes": self.cubes, "heavy": self.heavy, "bounds": self.sums[: self.seen]}
        return {**{name: array.copy() for name, array in parts.items()}, "counts": counts}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self.matrix[:], self.cubes[:], self.heavy[:] = arrays["anchor"], arrays["cubes"], arrays["heavy"]
        self.reference, self.seen = (int(count) for count in arrays["counts"].astype(np.float64))
        self.make_room(self.seen)
        self.sums[: self.seen] = arrays["bounds"]


class Anchors:
    """The anchor in use and its shadow, kept up with the labels."""

    def __init__(self, d: int, prior: Gaussian, groups: Groups | None = None) -> None:
        before = np.vstack([prior.mean_vector(d), prior.precision(d)])
        self.live, self.shadow = Anchor(before), Anchor(before)
        self._scales = None if groups is None else GroupScales(groups, d)
        #: |L^-1 g|^2, how far the mode has moved from the anchor in use, in squared standard deviations.
        self.distance = 0.0
        self.work = kernels.make_work(d)
        self._hessian = np.empty((d, d))
        self._d = d
        self._scale = kernels.mean_reach(d, len(self.live.cubes) > 0)
        self._rows = BLOCK  # labels that the shadow takes in at a time: a block, or a part that divides it
        while self._rows > 24 and self._rows * d * d * (1 + len(self.live.cubes) / 6) > SHADOW_WORK:
            self._rows //= 2

    @property
    def prior(self) -> Vector:
        """The prior of the target: b, then d rows of B^-1."""
        return self.live.prior

    @property
    def ready(self) -> bool:
        """Whether there is an anchor."""
        return self.live.reference > 0

    @property
    def mean(self) -> Vector:
        """The mean m of the Gaussian, a view."""
        mean: Vector = self.live.matrix[kernels.MEAN]
        return mean

    @property
    def is_far(self) -> bool:
        """Whether the mode has moved too far from the anchor for its bounds to be of use."""
        return not self.distance <= FAR * (self._d + 4)

    @property
    def looks(self) -> float:
        """How many labels a factorised step looks at, about: those that are listed, and 2 C_n (d + 2)^2 or so."""
        return float(self._scale * self.live.sums[self.live.seen - 1] + self.live.heavy[0])

    def settle(self, labels: Labels, start: Vector) -> None:
        """Put the anchor at the mode of all labels, found by Newton's method from ``start``."""
        anchor, point = self.live, start.copy()
        mean, precision = self.prior[0], self.prior[1:]
        fit(labels.features, labels.values, labels.n, mean, precision, point, self.work, self._hessian)
        self._begin(anchor, labels.n, point, self._hessian)
        self._take_in(anchor, labels, labels.n)
        self.distance = kernels.finish(anchor.matrix)
        self.shadow.reference = self.shadow.seen = 0

    def learn(self, labels: Labels, x: Vector, label: int) -> None:
        """Take in the label that was stored last; go on with the shadow, or begin one if it is time."""
        n, live, shadow = labels.n, self.live, self.shadow
        live.make_room(n)
        self.distance = kernels.add_label(
            x, float(label), n - 1, live.matrix, live.cubes, live.heavy, live.sums, self.work
        )
        live.seen = n
        if shadow.reference:
            self._follow(labels)
        elif n >= RATIO * live.reference or self.is_far:
            self._renew(labels)

    def _renew(self, labels: Labels) -> None:
        """Begin a shadow at m, or short of it if m is far; a few labels are refitted, but not at every label."""
        matrix, n, d = self.live.matrix, labels.n, self._d
        if self.is_far and n * d * d <= REFIT_WORK and n >= 1.02 * self.live.reference:
            self.settle(labels, matrix[kernels.POINT])
            return
        self.shadow.prior[:] = self.live.prior
        mean, metric = matrix[kernels.MEAN], matrix[kernels.FACTOR : kernels.FACTOR + d]
        if self._scales is not None and not self.is_far:
            mean, metric = self._rescaled(self._scales)
        step = mean - matrix[kernels.POINT]
        if self.is_far:
            step *= math.sqrt(FAR * (d + 4) / self.distance)
        point = matrix[kernels.POINT] + step
        self._begin(self.shadow, n, point, metric)
        self._follow(labels)

    def _rescaled(self, scales: GroupScales) -> tuple[Vector, Vector]:
        """Give the shadow the scales that the Gaussian of the anchor speaks for; return m and L as they will be.

        The target of the steps changes when the shadow takes over, and until then stays what it is.
        """
        matrix, d, precision = self.live.matrix, self._d, self.shadow.prior[1:]
        factor = np.tril(matrix[kernels.FACTOR : kernels.FACTOR + d])
        root, before = np.linalg.solve(factor, np.eye(d)), precision.diagonal().copy()
        mean = scales.move(matrix[kernels.MEAN], root.T @ root, precision)
        gained = np.diag(precision.diagonal() - before)
        return mean, np.ascontiguousarray(np.linalg.cholesky(factor @ factor.T + gained))

    def _follow(self, labels: Labels) -> None:
        """Let the shadow take in a range of labels; when it has seen all, it takes over."""
        shadow, n = self.shadow, labels.n
        # A range ends where a block does, so that whole blocks stay whole.
        self._take_in(shadow, labels, min(n, (shadow.seen // self._rows + 1) * self._rows))
        if shadow.seen == n:
            self.distance = kernels.finish(shadow.matrix)
            self.live, self.shadow = shadow, self.live
            self.shadow.reference = self.shadow.seen = 0

    def _begin(self, anchor: Anchor, n: int, point: Vector, metric: Vector) -> None:
        kernels.begin(anchor.matrix, anchor.cubes, anchor.heavy, anchor.prior, point, metric)
        anchor.reference, anchor.seen = n, 0

    def _take_in(self, anchor: Anchor, labels: Labels, stop: int) -> None:
        anchor.make_room(stop)
        kernels.add_range(
            labels.features,
            labels.values,
            anchor.seen,
            stop,
            anchor.matrix,
            anchor.cubes,
            anchor.heavy,
            anchor.sums,
            self.work,
        )
        anchor.seen = stop

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        named = (("live", self.live), ("shadow", self.shadow))
        parts = {f"{name}.{key}": array for name, anchor in named for key, array in anchor.arrays().items()}
        if self._scales is not None:
            parts |= {f"{name}.precisions": anchor.prior[1:].diagonal().copy() for name, anchor in named}
        return {**parts, "distance": np.array(self.distance)}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        for name, anchor in (("live", self.live), ("shadow", self.shadow)):
            anchor.restore({key: arrays[f"{name}.{key}"] for key in ("anchor", "cubes", "heavy", "bounds", "counts")})
            if self._scales is not None:
                np.fill_diagonal(anchor.prior[1:], arrays[f"{name}.precisions"].astype(np.float64))
        self.distance = float(arrays["distance"].astype(np.float64))
