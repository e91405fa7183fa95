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

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..keys import Key
from ..logs.lazy import pieces

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
    return counted(rng.standard_exponential((len(means), draws)), means)


def counted(units: Floats, means: Floats) -> Floats:
    """Return standard exponentials, [item, draw], as geometric numbers with the given means, one an item."""
    found = units / _rate(means)[:, None]
    return np.floor(found, out=found)


def _rate(means: Floats) -> Floats:
    """Return the rate of an exponential that is geometric when rounded down."""
    with np.errstate(divide="ignore"):
        return np.log1p(1.0 / means)  # infinite for what was sure to be seen: it stands for itself alone


def one_more(
    weigh: Callable[[slice], Floats],
    band: NDArray[np.int16],
    means: Callable[[NDArray[np.intp]], Floats],
    draws: int,
    rng: np.random.Generator,
) -> tuple[NDArray[np.intp], Floats]:
    """Return one more seen item for each band, there with probability one half: what it is like, and its stand-ins.

    It is like an item of the band, chosen in proportion to what ``weigh`` gives for the items of a slice: how likely
    each was to be seen (and to be of the kind asked for). ``means`` gives (1 - p) / p at some places. Both results are
    [band, draw], the first of them places. Nothing as long as the log is made: weights are summed by piece, and looked
    at again in the piece where a draw falls.
    """
    places, bands = list(pieces(len(band))), int(band.max(initial=-1)) + 1
    sums, there = np.zeros((len(places), bands)), np.zeros(bands, dtype=np.int64)
    for k, some in enumerate(places):
        weight, mine = weigh(some), band[some]
        sums[k] = np.bincount(mine, weights=weight, minlength=bands)
        there += np.bincount(mine[weight > 0], minlength=bands)
    found = np.flatnonzero(there)
    chosen, unit, half = np.empty((3, len(found), draws))
    for k in range(len(found)):
        chosen[k], unit[k], half[k] = rng.random(draws), rng.standard_exponential(draws), rng.random(draws)
    like = _falls(weigh, band, found, chosen, sums)
    drawn = np.minimum(np.floor(unit / _rate(means(like))), there[found][:, None])
    return like, np.where(half < 0.5, drawn, 0.0)


def _falls(
    weigh: Callable[[slice], Floats],
    band: NDArray[np.int16],
    found: NDArray[np.intp],
    chosen: Floats,
    sums: Floats,
) -> NDArray[np.intp]:
    """Return where in its band each draw from [0, 1) falls, by the weights; ``sums`` are those of pieces and bands."""
    ends = np.cumsum(sums[:, found], axis=0)
    targets = chosen * ends[-1][:, None] if len(ends) else chosen
    which = np.empty(chosen.shape, dtype=np.intp)
    for k in range(len(found)):
        last = int(np.flatnonzero(sums[:, found[k]])[-1])
        which[k] = np.minimum(ends[:, k].searchsorted(targets[k], side="right"), last)
    like = np.empty(chosen.shape, dtype=np.intp)
    for piece, some in enumerate(pieces(len(band))):
        if not (which == piece).any():
            continue
        weight, mine = weigh(some), band[some]
        for k, place in enumerate(found):
            here = which[k] == piece
            if here.any():
                inside = np.flatnonzero((mine == place) & (weight > 0))
                shares = np.cumsum(weight[inside])
                rest = targets[k, here] - (ends[piece, k] - sums[piece, place])
                fallen = np.minimum(shares.searchsorted(rest, side="right"), len(inside) - 1)
                like[k, here] = some.start + inside[fallen]
    return like


def interval(draws: Floats, level: float) -> tuple[float, float]:
    """Return the central interval of draws at a level."""
    tail = 0.5 * (1.0 - level)
    low, high = np.quantile(draws, [tail, 1.0 - tail])
    return float(low), float(high)


def generator(name: str) -> np.random.Generator:
    """Return the generator behind an interval: the same log always gets the same one."""
    return Key(0).at("evaluate", name).generator()
