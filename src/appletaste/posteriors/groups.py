"""Groups of coefficients with a scale of their own each, learnt with the posterior (docs/curves.md).

``GroupScales`` is for chains, which have no Gaussian of their own to learn scales from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..features.levels import SLOTS
from ..features.numbers import OPEN
from ..kernels import renewal as kernels
from ..kernels.gaussian import COVARIANCE, MEAN, MODE
from ..kernels.linear import invert
from ..kernels.logistic import fit, make_work
from .belief import Arrays, Vector
from .label_table import Labels, next_renewal
from .prior import Gaussian

#: The scales tau^2 that a curve may have; with the first it is closed: a line.
SCALES = np.array([1e-4, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0])
#: How often each is met: most curves are closed, and more than half of those of columns with a jump are open.
SMOOTH = np.array([0.98, *[0.02 / 6] * 6])
JUMPING = np.array([0.4, *[0.1] * 6])
#: And in groups from ``OPEN`` on, chosen because they should matter: the score of another model, a pair of columns.
OPENED = np.array([0.1, *[0.15] * 6])
#: How many curves' worth of belief that is, and the steps in which the curves of a table correct it.
STRENGTH, STEPS = 5.0, 20
#: A scale that would move by less than this share stays.
SAME = 0.02


def check_groups(groups: Sequence[int]) -> tuple[int, ...]:
    """Return groups as a tuple of whole numbers, or say what is wrong with them."""
    numbers = np.asarray(groups)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise OptionError(f"groups are whole numbers, one for each feature, such as features.groups; got {groups!r}")
    return tuple(numbers.tolist())


class Groups:
    """Which coefficients share a scale: those of group 0 that of the prior, and those of each curve one of their own.

    Coefficients of curve g are N(0, tau_g^2), tau_g^2 one of ``SCALES``. With the belief N(m, V) and P = V_gg, labels
    say S = P^-1 - I / tau_g^2 and h = P^-1 m_g of the curve, all other coefficients averaged over, so that

        log L(t) = -1/2 log det(I + t S) + 1/2 h' (S + I / t)^-1 h

    is the evidence for the scale t, up to a constant (MacKay 1992). With how often each scale is met, learnt from all
    curves of a kind, that gives the chance of each; tau_g^2 becomes the mean.
    """

    def __init__(self, groups: Sequence[int], n_features: int) -> None:
        self.numbers = np.array(groups, dtype=np.int64)
        if self.numbers.shape != (n_features,):
            raise OptionError(
                f"groups must be {n_features} numbers, one for each feature, got {len(self.numbers)}: give "
                "groups=features.groups of the map that makes the vectors"
            )
        if SLOTS in self.numbers:
            raise OptionError(
                "only policies on the Laplace posterior, such as 'voi', keep an effect for each level: take one of "
                "those, or encode with Encoder(many=False), which gives the frequent levels a column each"
            )
        curves = [np.flatnonzero(self.numbers == number) for number in np.unique(self.numbers[self.numbers != 0])]
        sizes = sorted({len(places) for places in curves})
        #: The places of each curve, [curve, place], those with as many places together; empty: there are no curves.
        self.blocks = [np.array([places for places in curves if len(places) == size]) for size in sizes]
        named = np.array([self.numbers[first] for places in self.blocks for first in places[:, 0]], dtype=np.int64)
        #: How often each scale is met in curves of a kind, and which curves are of that kind.
        self._kinds = [(usual, mine) for usual, mine in _kinds_of(named) if mine.any()]

    def start(self, prior: Gaussian) -> Gaussian:
        """Return the prior with each curve at the mean of the scales that it may have."""
        d = len(self.numbers)
        variances = prior.variances(d)
        if variances is None:
            raise OptionError("groups need a prior of independent coefficients: give variances, not a matrix")
        curve = np.zeros(d)
        for usual, mine in _kinds_of(self.numbers):
            curve[mine] = math.fsum(usual * SCALES)
        means = np.where(self.numbers == 0, prior.mean_vector(d), 0.0)
        return Gaussian(means, np.where(self.numbers == 0, variances, curve))

    def learn(self, belief: Vector, prior: Vector) -> None:
        """Give each curve the scale that the belief speaks for, and move belief and prior there."""
        curves = [places for block in self.blocks for places in block]
        precisions = np.array([prior[places[0], places[0]] for places in curves])
        logs, scales = np.empty((len(curves), SCALES.size)), np.empty(len(curves))
        for places, precision, row in zip(curves, precisions, logs, strict=True):
            kernels.weigh_scales(belief, places, precision, SCALES, np.empty((len(places) + 1, len(places))), row)
        for usual, mine in self._kinds:
            shares = np.empty((int(mine.sum()), SCALES.size))
            kernels.share_out(logs[mine], usual, STRENGTH, STEPS, shares, np.empty(len(usual)))
            scales[mine] = (shares * SCALES).sum(axis=1)
        self._move(belief, prior, 1.0 / scales - precisions, precisions)

    def _move(self, belief: Vector, prior: Vector, gains: Vector, before: Vector) -> None:
        """Add to the precisions of curves: V becomes (V^-1 + D)^-1, m follows, curve by curve."""
        curves, d = [places for block in self.blocks for places in block], belief.shape[1]
        # those that gain come first: V is positive definite in between
        for k in sorted(np.flatnonzero(np.abs(gains) > SAME * before), key=lambda k: gains[k] < 0.0):
            places, size = curves[k], len(curves[k])
            system, rows = np.empty((size + d + 2, size)), np.empty((size, d))
            kernels.add_precision(belief, places, gains[k], system, rows)
            prior[places, places] += gains[k]


def _kinds_of(numbers: NDArray[np.int64]) -> list[tuple[Vector, NDArray[np.bool_]]]:
    """Return how often each scale is met, and which groups are of that kind: those that jump, are open, or neither."""
    jumping, opened = numbers < 0, numbers >= OPEN
    return [(SMOOTH, ~jumping & ~opened), (JUMPING, jumping), (OPENED, opened)]


class GroupScales:
    """Moves the prior of a chain to the scales that its labels speak for, whenever there are 6 % more labels.

    The evidence of ``Groups`` is that of a Gaussian, so it is asked of the Gaussian at the mode of all labels under the
    prior in use, found anew each time: what the scales become depends on the labels and their order, and never on where
    the chain has been. Between two such times the chain has a fixed target, the exact posterior given the scales.
    """

    def __init__(self, groups: Groups, n_features: int) -> None:
        self._groups = groups
        self._belief = np.zeros((COVARIANCE + n_features, n_features))
        self._work, self._hessian = make_work(n_features)
        self._due = 1

    def learn(self, labels: Labels, mean: Vector, precision: Vector) -> bool:
        """Move the prior N(mean, precision^-1) if that is due; return whether it was."""
        if labels.n < self._due:
            return False
        mode, d = self._belief[MODE], len(mean)
        fit(labels.features, labels.values, labels.n, mean, precision, mode, self._work, self._hessian)
        covariance = np.empty((d, d))
        invert(self._hessian, covariance, self._work)
        self.move(mode, covariance, precision)
        self._due = next_renewal(labels.n)
        return True

    def move(self, mean: Vector, covariance: Vector, precision: Vector) -> Vector:
        """Move the precision of a prior to what N(mean, covariance), made with it, speaks for; return the new mean."""
        self._belief[MODE] = self._belief[MEAN] = mean
        self._belief[COVARIANCE:] = covariance
        self._groups.learn(self._belief, precision)
        return np.array(self._belief[MODE])

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {"mode": self._belief[MODE].copy(), "due": np.array(self._due)}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._belief[MODE] = arrays["mode"]
        self._due = int(arrays["due"])
