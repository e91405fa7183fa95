"""What a run cost and how well it chose: regret, precision and recall, and whether its probabilities are honest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


def precision(acts: Bools, best: Bools) -> float:
    """Return the share of acted items where acting was best (A*_t = 1); NaN if nothing was acted on."""
    return float((acts & best).sum() / acts.sum()) if acts.any() else math.nan


def recall(acts: Bools, best: Bools) -> float:
    """Return the share of items where acting was best that were acted on; NaN if there were none."""
    return float((acts & best).sum() / best.sum()) if best.any() else math.nan


@dataclass(frozen=True)
class Summary:
    """Mean, standard error, standard deviation and quantiles of one number over replications."""

    mean: float
    se: float
    sd: float
    q05: float
    q50: float
    q95: float


def summarise(values: Sequence[float] | Floats) -> Summary:
    """Summarise one number over replications; those where it is not defined (NaN) are left out.

    Examples
    --------
    >>> summarise([1.0, 2.0, 3.0]).mean
    2.0
    """
    known = np.asarray(values, dtype=np.float64)
    known = known[~np.isnan(known)]
    if known.size == 0:
        return Summary(*[math.nan] * 6)
    sd = float(known.std(ddof=1)) if known.size > 1 else math.nan
    low, middle, high = (float(q) for q in np.quantile(known, [0.05, 0.5, 0.95]))
    return Summary(float(known.mean()), sd / math.sqrt(known.size), sd, low, middle, high)


def quantile_bands(curves: Floats, levels: Sequence[float] = (0.05, 0.5, 0.95)) -> Floats:
    """Return quantiles over replications (rows) at each round: one row per level."""
    return np.asarray(np.quantile(curves, levels, axis=0))


@dataclass(frozen=True)
class CalibrationBin:
    """Decisions whose recorded probability fell into one interval: how many, and how often they acted."""

    low: float
    high: float
    count: int
    acted: float
    z: float  #: (acted - expected) in standard errors; 0 where there is no randomness to test


def calibration(probabilities: Floats, acts: Bools, bins: int = 10) -> list[CalibrationBin]:
    """Compare recorded probabilities of acting with how often decisions acted.

    In each bin z = sum(A - p) / sqrt(sum p (1 - p)) is standard normal if the record is honest. A decision recorded
    as certain that went the other way makes z infinite.

    Examples
    --------
    >>> p = np.full(1000, 0.3)
    >>> acts = np.arange(1000) < 300
    >>> [round(abs(bin.z), 6) for bin in calibration(p, acts)]
    [0.0]
    """
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    found = []
    for k in range(bins):
        inside = place == k
        if not inside.any():
            continue
        p, a = probabilities[inside], acts[inside]
        excess, spread = float((a - p).sum()), math.sqrt(float((p * (1 - p)).sum()))
        z = excess / spread if spread > 0 else 0.0
        if np.any((p == 0) & a) or np.any((p == 1) & ~a):
            z = math.inf
        found.append(CalibrationBin(k / bins, (k + 1) / bins, int(inside.sum()), float(a.mean()), z))
    return found
