"""Whom a seen item stands for: the geometric number of unseen ones, and intervals from it.

An item that is seen with probability p stands for 1/p items: itself, and G others that were not seen, where G counts
the failures before the first success, G ~ Geometric(p). Sums over seen items of v G have

    mean sum v (1 - p) / p,    variance sum v^2 (1 - p) / p^2,

which are the Horvitz-Thompson estimate of what was not seen and the unbiased estimate of the variance of its error,
sum v (A / p - 1). That error is a martingale even if each p depends on all that went before, because each action is
drawn with its p afresh; so mean and variance are right for policies that learn, and by the martingale central limit
theorem the interval is, as seen positives become many (Hall & Heyde 1980, chapter 3). With one common p and K seen the
sum is negative binomial, and its quantiles are the exact limits for the unseen number given K ~ Binomial(N, p): so the
shape is right for few positives too, where a normal interval is not (compare Fay & Feuer 1997 for Poisson counts).

The exact lower limit comes from K stand-ins, the exact upper one from K + 1; taking the (K+1)th with probability one
half is the mid-p compromise (Fay & Kim 2017), which covers at the stated level on average instead of at least. It is
what keeps the interval open when no positive was seen. Where probabilities differ, each band of them (``support``) gets
its own half: a positive that is rarely looked at is exactly the kind that the seen ones do not stand for.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..keys import Key

Floats = NDArray[np.float64]
#: Draws behind an interval; its ends are off by about a fiftieth of its width.
DRAWS = 4000
#: Seen items beyond which equal probabilities are gathered, to a part in 200.
MANY = 2000


def geometric_sums(means: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return draws of sum G_i for geometric G_i with the given means (1 - p) / p.

    Examples
    --------
    >>> sums = geometric_sums(np.full(10, 4.0), 20_000, np.random.default_rng(1))
    >>> bool(abs(sums.mean() - 40) < 0.5), bool(abs(sums.var() / (10 * 4 * 5) - 1) < 0.05)
    (True, True)
    """
    means = means[means > 0]
    if means.size > MANY:
        bins = np.unique(np.round(200 * np.log(means)), return_inverse=True)[1]
        counts = np.bincount(bins)
        means = np.bincount(bins, weights=means) / counts
    else:
        means, counts = np.unique(means, return_counts=True)
    total = np.zeros(draws)
    for mean, count in zip(means, counts, strict=True):
        if count > 1:
            total += rng.negative_binomial(count, 1.0 / (1.0 + mean), draws)
        else:  # an exponential, rounded down, is geometric, in a third of the time
            total += stand_ins(np.array([mean]), draws, rng)[0]
    return total


def stand_ins(means: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Return draws of the geometric number of unseen items that each seen one stands for: [item, draw]."""
    with np.errstate(divide="ignore"):
        rate = np.log1p(1.0 / means)  # infinite for what was sure to be seen: it stands for itself alone
    return np.asarray(np.floor(rng.standard_exponential((len(means), draws)) / rate[:, None]))


def one_more(
    means: Floats, weight: Floats, band: NDArray[np.int16], draws: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """Return one more seen item for each band, there with probability one half: what it is like, and its stand-ins.

    It is like an item of the band, chosen in proportion to ``weight``: how likely each was to be seen (and to be of the
    kind asked for). Both results are [band, draw].
    """
    likes: list[NDArray[np.int64]] = [np.zeros((0, draws), dtype=np.int64)]
    counts: list[Floats] = [np.zeros((0, draws))]
    for place in np.unique(band[weight > 0]):
        mine = np.flatnonzero((band == place) & (weight > 0))
        shares = np.cumsum(weight[mine])
        shares /= shares[-1]
        like = mine[shares.searchsorted(rng.random(draws), side="right")]  # as rng.choice has it, in half the memory
        drawn = np.minimum(stand_ins(means[like], 1, rng)[:, 0], mine.size)
        likes.append(like[None])
        counts.append(np.where(rng.random(draws) < 0.5, drawn, 0.0)[None])
    return np.concatenate(likes), np.concatenate(counts)


def interval(draws: Floats, level: float) -> tuple[float, float]:
    """Return the central interval of draws at a level."""
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return float(low), float(high)


def generator(name: str) -> np.random.Generator:
    """Return the generator behind an interval: the same log always gets the same one."""
    return Key(0).at("evaluate", name).generator()
