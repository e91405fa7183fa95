"""A model's expectations of passed items, scaled by the labels seen on items that might have been passed.

In each band of probabilities by itself (``support``): a positive that is rarely looked at is just the kind for which
those looked at often do not stand. With m_i the model's chance of item i and w_i = (1 - p_i) / (p_i q_i) the number of
passed items that a seen one stands for (``stand_ins``), the passed items of a band are taken to hold r sum m positives,
r being how many more there are than the model says. Among the seen items of the band that might have been passed there
are sum w y where the model says sum w m. The ratio of both is that of two means weighted by w, so their errors are
those about the means. Gathered to counts of equal weight, k = (sum w y)^2 / sum w^2 (y - mean y)^2 seen and
E = k sum w m / sum w y expected, r has the posterior Gamma(1/2 + k, 1/2 + E) of a Poisson rate under a prior of mean 1,
with k + 1 in the place of k half of the time: the mid-p compromise again. The error of sum w m comes on top; that both
errors go together is not made use of, because the model has learnt from these very labels. Passed items of which the
log says nothing get the ratio of all bands together.

As labels become many, the sum of r sum m is the separate ratio estimate of survey sampling, which is right however
wrong the model is (Cochran 1977, chapter 6); while labels are few the model leads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from .stand_ins import Floats, generator
from .support import Support

#: The prior of a ratio, Gamma(A, A): of mean 1, and worth half a positive.
A = 0.5


@dataclass(frozen=True)
class Checked:
    """The seen items of one band that might have been passed."""

    passed: NDArray[np.bool_]  #: which decisions are the passed ones of the band
    rows: NDArray[np.intp]  #: which decisions were seen
    positive: NDArray[np.bool_]  #: and of those, which are positive
    weights: Floats  #: w
    sway: float  #: the relative error of the ratio because nobody knows how labels of each class arrive (``arrival``)

    def spread(self, chances: Floats) -> float:
        """Return the relative error of what is expected: sqrt(sum w (1 + w) (m - mean)^2) / sum w m."""
        expected = float(self.weights @ chances)
        off = chances - expected / float(self.weights.sum())
        return math.sqrt(float((self.weights * (1.0 + self.weights) * off**2).sum())) / max(expected, 1e-300)

    def ratios(self, expected: Floats, spread: float, unsure: Floats, rng: np.random.Generator) -> tuple[float, Floats]:
        """Return the mean of r and draws of r, for draws of the number that the model expects, sum w m."""
        unit = one = float((self.weights**2).sum() / self.weights.sum())  # what one count weighs
        seen = float(self.weights[self.positive].sum())
        if seen > 0.0:
            rate = seen / (float(self.weights.sum()) + one)  # with one more negative, so that there is one
            squares = float((self.weights**2 * (self.positive - rate) ** 2).sum()) + (one * rate) ** 2
            unit = squares / seen
        counts, means = seen / unit, expected / unit
        more = rng.random(len(expected)) < 0.5  # one more positive with probability one half (``stand_ins``)
        draws = rng.gamma(A + counts + more, 1.0) / (A + means)
        draws *= np.exp(spread * rng.standard_normal(len(expected)) - 0.5 * spread**2)
        draws *= np.maximum(1.0 + self.sway * unsure, 0.0)  # as in the sums by design
        return float(np.mean((A + counts) / (A + means))), draws


def checked_bands(log: DecisionLog, support: Support) -> Iterator[Checked]:
    """Give the bands that hold passed items and labels to check the model by."""
    seen, known, p = support.seen_rows, support.arrival.known, log.probability
    might = seen[p[seen] < 1]
    passed = support.usable & ~log.act
    there = np.flatnonzero(np.bincount(support.band[passed]))
    for band in there.tolist():
        rows = might[support.band[might] == band]
        if rows.size:
            weights = (1.0 - p[rows]) / support.inclusion[rows]
            positive = log.label[rows] == 1
            found, stands_for = rows[positive], np.zeros(len(known))
            stands_for[np.searchsorted(known, found)] = (1.0 - p[found]) / p[found]
            sway = support.arrival.sway(stands_for) / max(float(stands_for.sum()), 1.0)
            yield Checked(passed & (support.band == band), rows, positive, weights, sway)


def calibrated(
    bands: list[Checked], spreads: list[float], expected: list[Floats], sums: list[Floats], noise: list[Floats]
) -> tuple[float, Floats]:
    """Return the number of positives among the passed, and draws of it.

    ``expected`` and ``sums`` are draws of what the model expects among the checked and among the passed items of each
    band, ``noise`` of the variance of the latter; one more of each, the last, is of passed items outside all bands.
    """
    rng = generator("calibration")
    unsure = rng.standard_normal(len(sums[0]))
    ratios = [
        one.ratios(means, spread, unsure, rng) for one, means, spread in zip(bands, expected, spreads, strict=True)
    ]
    means, draws = [mean for mean, _ in ratios], [drawn for _, drawn in ratios]
    total = np.maximum(np.sum(sums[:-1], axis=0), 1e-300)
    means.append(float(sum(m * s.mean() for m, s in zip(means, sums[:-1], strict=True)) / total.mean()))
    draws.append(np.sum([r * s for r, s in zip(draws, sums[:-1], strict=True)], axis=0) / total)
    variance = np.sum([np.minimum(r, 1.0) * v for r, v in zip(draws, noise, strict=True)], axis=0)
    found = np.sum([r * s for r, s in zip(draws, sums, strict=True)], axis=0)
    value = sum(m * float(s.mean()) for m, s in zip(means, sums, strict=True))
    return value, np.asarray(found + rng.standard_normal(len(found)) * np.sqrt(variance))
