"""What is believed before the first label: a Gaussian, if need be restricted to a region (the paper's Theta)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import freeze, number
from ..errors import InputError
from ..kernels.gibbs import BALL, BOX, FREE


def _vector(value: ArrayLike, d: int, name: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be numbers, got {value!r}") from None
    if array.ndim > 1 or (array.ndim == 1 and array.shape != (d,)):
        raise InputError(f"{name} must be one number or {d} of them, got shape {array.shape}")
    if np.isnan(array).any():
        raise InputError(f"{name} must not contain NaN")
    return np.array(np.broadcast_to(array, (d,)))  # a copy: a read-only view would be another type to the kernels


@dataclass(frozen=True)
class Box:
    """All theta with lower <= theta <= upper, coordinate by coordinate."""

    lower: ArrayLike = -1.0
    upper: ArrayLike = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "lower", freeze(self.lower))
        object.__setattr__(self, "upper", freeze(self.upper))

    def bounds(self, d: int) -> NDArray[np.float64]:
        """Return the rows that the kernels read."""
        lower, upper = _vector(self.lower, d, "lower"), _vector(self.upper, d, "upper")
        if not np.all(lower < upper):
            raise InputError("a box needs lower < upper in every coordinate")
        return np.stack([lower, upper])


@dataclass(frozen=True)
class Ball:
    """All theta within a distance of a centre."""

    radius: float = 1.0
    centre: ArrayLike = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", freeze(self.centre))

    def bounds(self, d: int) -> NDArray[np.float64]:
        """Return the rows that the kernels read."""
        number("radius", self.radius, above=0.0)
        return np.stack([_vector(self.centre, d, "centre"), np.full(d, float(self.radius))])


@dataclass(frozen=True)
class Gaussian:
    """The prior N(mean, covariance), optionally restricted to a Box or Ball (MVN_Theta(b, B)).

    A number stands for all coordinates alike; ``covariance`` may be a variance, a vector of variances or a matrix.

    Examples
    --------
    >>> Gaussian(mean=[-2.0, 0.0], covariance=[4.0, 1.0]).precision(2)
    array([[0.25, 0.  ],
           [0.  , 1.  ]])
    """

    mean: ArrayLike = 0.0
    covariance: ArrayLike = 1.0
    region: Box | Ball | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", freeze(self.mean))
        object.__setattr__(self, "covariance", freeze(self.covariance))
        if not isinstance(self.region, Box | Ball | None):
            raise InputError(f"a prior's region is a Box, a Ball or None, got {self.region!r}")

    def mean_vector(self, d: int) -> NDArray[np.float64]:
        """Return b."""
        mean = _vector(self.mean, d, "prior mean")
        if not (np.abs(mean) <= 1e100).all():
            raise InputError("prior mean must be finite and at most 1e100 in size")
        return mean

    def variances(self, d: int) -> NDArray[np.float64] | None:
        """Return the diagonal of B; None: B is a matrix."""
        covariance = self._covariance()
        if covariance.ndim >= 2:
            return None
        variances = _vector(covariance, d, "prior covariance")
        if not ((variances >= 1e-100) & (variances <= 1e100)).all():
            raise InputError("prior variances must lie between 1e-100 and 1e100")
        return variances

    def _covariance(self) -> NDArray[np.float64]:
        try:
            return np.asarray(self.covariance, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"prior covariance must be numbers, got {self.covariance!r}") from None

    def precision(self, d: int) -> NDArray[np.float64]:
        """Return B^-1."""
        variances = self.variances(d)
        if variances is not None:
            return np.diag(1.0 / variances)
        covariance = self._covariance()
        if covariance.shape != (d, d):
            raise InputError(f"prior covariance must be {d} x {d}, got shape {covariance.shape}")
        if not np.isfinite(covariance).all() or not np.allclose(covariance, covariance.T, rtol=1e-10, atol=0):
            raise InputError("prior covariance must be finite and symmetric")
        try:
            np.linalg.cholesky(covariance)
        except np.linalg.LinAlgError:
            raise InputError("prior covariance must be positive definite") from None
        precision = np.linalg.inv(covariance)
        return np.ascontiguousarray((precision + precision.T) / 2)

    def region_bounds(self, d: int) -> tuple[int, NDArray[np.float64]]:
        """Return the kind of region and its bounds as the kernels take them."""
        if self.region is None:
            return FREE, np.zeros((2, d))
        return (BOX if isinstance(self.region, Box) else BALL), self.region.bounds(d)
