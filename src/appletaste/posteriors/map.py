"""One point instead of a distribution: the penalised maximum of the likelihood, refitted from where it was."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from ..errors import OptionError
from ..kernels import logistic as kernels
from ..kernels._jit import announce_compilation
from ..keys import Key
from .belief import Arrays, Belief, Vector
from .label_table import Labels
from .prior import Gaussian
from .scores import DrawnScore, even_weights

#: The penalty that stands for none: it keeps the MLE finite on separable data and unique on collinear data.
MLE_VARIANCE = 1e6


class Fit:
    """Labels and the point that fits them best, found by Newton steps from the last point that was kept.

    Asking for the point keeps nothing, so that how often one asks leaves no trace in later bits.
    """

    def __init__(self, n_features: int, prior: Gaussian) -> None:
        announce_compilation(kernels.fit)
        self.labels = Labels(n_features)
        self._mean, self._precision = prior.mean_vector(n_features), prior.precision(n_features)
        self._start = self._mean.copy()
        self._theta = self._mean.copy()
        self._fitted = 0  # how many labels the point has been fitted to
        self._kept = 0  # and how many the one that was kept
        self._work, self._hessian = kernels.make_work(n_features)

    @property
    def theta(self) -> Vector:
        """The maximum of the penalised likelihood of all labels."""
        labels = self.labels
        if self._fitted != labels.n:
            self._theta[:] = self._start
            kernels.fit(
                labels.features,
                labels.values,
                labels.n,
                self._mean,
                self._precision,
                self._theta,
                self._work,
                self._hessian,
            )
            self._fitted = labels.n
        return self._theta

    def keep(self) -> None:
        """Start the next fit from the present point."""
        self._start[:] = self.theta
        self._kept = self._fitted

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {**self.labels.arrays(), "start": self._start.copy(), "kept": np.array(self._kept)}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self.labels = Labels.from_arrays(arrays, self._start.size)
        self._start[:] = arrays["start"]
        self._theta[:] = self._start
        # A point kept after the last label is final: fitting it again would move its last bits.
        self._kept = self._fitted = int(arrays["kept"])


def bare_fit(n_features: int) -> Fit:
    """Return the fit that stands for the MLE."""
    return Fit(n_features, Gaussian(0.0, MLE_VARIANCE))


@dataclass(frozen=True)
class Map:
    """Believe the best-fitting theta: the posterior mode (``"map"``) or the bare MLE (``"mle"``).

    The MLE does not exist before the data call for it; it is the mode under a variance of 1e6, and before the first
    label its score is infinite, so that a greedy rule acts.
    """

    estimator: str = "map"
    prior: Gaussian = field(default_factory=Gaussian)

    def __post_init__(self) -> None:
        if self.estimator not in ("map", "mle"):
            raise OptionError(f'estimator is "map" or "mle", got {self.estimator!r}')
        if self.prior.region is not None:
            raise OptionError("greedy policies take a prior without a region")

    def start(self, n_features: int, key: Key) -> Point:
        """Return the belief before the first label."""
        bare = self.estimator == "mle"
        return Point(bare_fit(n_features) if bare else Fit(n_features, self.prior), bare)


class PointScore(DrawnScore):
    """A score known for certain."""

    __slots__ = ("value",)

    def __init__(self, value: float) -> None:
        points = even_weights(np.array([value]))
        super().__init__(points, points)
        self.value = value

    @property
    def mean(self) -> float:
        """The score."""
        return self.value

    @property
    def variance(self) -> float:
        """None."""
        return 0.0


class Point(Belief):
    """The belief of ``Map``: a fit."""

    def __init__(self, fit: Fit, bare: bool) -> None:
        self._fit, self._bare = fit, bare

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._fit.labels

    @property
    def mean(self) -> Vector:
        """The best-fitting theta."""
        return self._fit.theta.copy()

    def score(self, x: Vector, round_: int) -> PointScore:
        """Return the score under the best-fitting theta."""
        if self._bare and self._fit.labels.n == 0:
            return PointScore(math.inf)
        return PointScore(float(self._fit.theta @ x))

    def commit(self, round_: int) -> None:
        """Carry on: the next fit starts from this one."""
        self._fit.keep()

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label."""
        self._fit.labels.add(x, label)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return self._fit.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._fit.restore(arrays)
