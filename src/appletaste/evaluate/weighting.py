"""The cost of another policy relative to passing, by weighting what was seen: IPS, SNIPS and doubly robust.

Acting on item t changes the cost of the stream by g_t: ``alarm_price`` if it is negative, ``-catch_gain`` if it is
positive; passing changes nothing. So sum e_t g_t, what a policy that acts with probabilities e_t costs more than
passing everything, needs the labels of acted items alone. With A_t acted, p_t its probability, and m_t a guess of g_t
made before the action (from the logged chance):

    IPS    sum A e g / p
    SNIPS  (sum e) (sum A e g / p) / (sum A e / p)
    DR     sum e m + sum A e (g - m) / p

The errors of IPS and DR are martingales, sum e (g - m) (A / p - 1), whatever the guess; that of SNIPS is one to first
order. Their variances are estimated without bias by sum A e^2 (g - m)^2 (1 - p) / p^2, and limits are corrected for
skewness (Cornish & Fisher), because few positives carry much of the sum. References: Horvitz & Thompson 1952;
Swaminathan & Joachims 2015; Dudík, Langford & Li 2011.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from .answers import Estimate

Floats = NDArray[np.float64]
Cumulants = tuple[float, float, float]
#: Skewness beyond which the correction is not followed any further.
MOST_SKEW = 1.2
ASSUMES = (
    "each action was drawn with its recorded probability; the alternative did not learn from labels of this log "
    "that it would not have seen; labels that are out are missing at random within a block of rounds"
)


@dataclass(frozen=True)
class Seen:
    """The items whose cost is known: what acting on each changes (g), its probabilities, and the alternative's."""

    gain: Floats  #: g
    acting: Floats  #: e
    inclusion: Floats  #: p q
    guess: Floats  #: m, or 0


@dataclass(frozen=True)
class Open:
    """All supported items that might have been passed: where positives may be that none of the seen stands for."""

    gain: Floats  #: what acting on it would change if it were positive, -catch_gain
    acting: Floats
    inclusion: Floats
    guess: Floats
    band: NDArray[np.int64]

    def halves(self, values: Floats) -> Cumulants:
        """Return the cumulants of one more positive in each band, there with probability one half (``stand_ins``)."""
        k1 = k2 = k3 = 0.0
        for place in np.unique(self.band):
            mine = self.band == place
            share = self.inclusion[mine] / self.inclusion[mine].sum()
            v, w = values[mine], (1.0 - self.inclusion[mine]) / self.inclusion[mine]
            one = 0.5 * float((share * v * w).sum())
            two = 0.5 * float((share * v**2 * w * (1 + 2 * w)).sum())
            three = 0.5 * float((share * v**3 * w * (1 + 6 * w + 6 * w * w)).sum())
            k1, k2, k3 = k1 + one, k2 + two - one**2, k3 + three - 3 * one * two + 2 * one**3
        return k1, k2, k3


def cornish_fisher(mean: float, k2: float, k3: float, level: float) -> tuple[float, float]:
    """Return the central interval of a distribution with these three cumulants, to first order in skewness.

    Examples
    --------
    >>> low, high = cornish_fisher(100.0, 100.0, 100.0, 0.9)  # Poisson(100): 84 to 117
    >>> round(low, 1), round(high, 1)
    (83.8, 116.7)
    """
    sd = float(np.sqrt(k2))
    if sd == 0.0:
        return mean, mean
    skew = float(np.clip(k3 / sd**3, -MOST_SKEW, MOST_SKEW))
    z = NormalDist().inv_cdf(0.5 + 0.5 * level)
    shift = skew * (z * z - 1.0) / 6.0
    return mean + sd * (shift - z), mean + sd * (shift + z)


def weighted_sum(values: Floats, inclusion: Floats) -> tuple[float, float, float]:
    """Return the sum of v / p over seen items, and the second and third cumulant of its error (``stand_ins``)."""
    w = (1.0 - inclusion) / inclusion
    spread = w * (1.0 + w)
    return (
        float((values / inclusion).sum()),
        float((values**2 * spread).sum()),
        float((values**3 * spread * (1.0 + 2.0 * w)).sum()),
    )


def _limits(value: float, known: Cumulants, more: Cumulants, level: float, scale: float = 1.0) -> tuple[float, float]:
    """Return limits from the error's cumulants and those of the positives that may not have been stood for."""
    _, k2, k3 = known
    return cornish_fisher(value + scale * more[0], scale**2 * (k2 + more[1]), scale**3 * (k3 + more[2]), level)


def ips(seen: Seen, rest: Open, level: float) -> Estimate:
    """Return the inverse-probability estimate of sum e g."""
    known = weighted_sum(seen.acting * seen.gain, seen.inclusion)
    limits = _limits(known[0], known, rest.halves(rest.acting * rest.gain), level)
    return Estimate(known[0], *limits, level, ASSUMES)


def snips(seen: Seen, rest: Open, acts: float, level: float) -> Estimate:
    """Return the self-normalised estimate: the mean of g under the alternative, times its number of acts, sum e."""
    weight = float((seen.acting / seen.inclusion).sum())
    mean = float((seen.acting * seen.gain / seen.inclusion).sum()) / weight
    known = weighted_sum(seen.acting * (seen.gain - mean), seen.inclusion)
    limits = _limits(acts * mean, known, rest.halves(rest.acting * (rest.gain - mean)), level, acts / weight)
    return Estimate(acts * mean, *limits, level, ASSUMES)


def doubly_robust(seen: Seen, rest: Open, guessed: float, level: float) -> Estimate:
    """Return the guess for all items, sum e m, corrected by what was seen; right even if the guess is wrong."""
    known = weighted_sum(seen.acting * (seen.gain - seen.guess), seen.inclusion)
    value = guessed + known[0]
    limits = _limits(value, known, rest.halves(rest.acting * (rest.gain - rest.guess)), level)
    return Estimate(value, *limits, level, ASSUMES)


def effective_sample_size(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2: as many equally weighted items would be as good (Kish 1965)."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0
