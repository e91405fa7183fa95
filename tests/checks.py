"""Statistical checks shared by the tests: each returns a number that the caller bounds."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats


def pg_cdf(omega, z):
    """P(PG(1, z) <= omega), to 1e-13, from whichever series of the density converges there.

    With x = 4 omega and c = |z| / 2, left of 0.64 each term integrates to two normal probabilities (the
    inverse-Gaussian series) and right of it to an exponential; independent of the sampler's code.
    """
    x, c = 4.0 * np.asarray(omega, dtype=float), 0.5 * abs(z)
    left = np.zeros_like(x)
    for n in range(8):
        b = 2 * n + 1
        root = np.sqrt(x)
        # cosh(c) exp(-bc) and cosh(c) exp(bc) Phi(-.) in logs: c = 500 must not overflow.
        log_cosh = c + math.log1p(math.exp(-2 * c)) - math.log(2)
        one = np.exp(log_cosh - b * c + stats.norm.logcdf((c * x - b) / root))
        two = np.exp(log_cosh + b * c + stats.norm.logcdf(-(c * x + b) / root))
        left += (-1) ** n * 2.0 * (one + two)
    right = np.zeros_like(x)
    for n in range(40):
        rate = 0.5 * ((n + 0.5) ** 2 * math.pi**2 + c * c)
        right += (-1) ** n * math.pi * (n + 0.5) / rate * np.exp(c - rate * x) * (1 + math.exp(-2 * c)) / 2
    return np.where(x < 0.64, left, 1.0 - right)


def pg_mean(z):
    return 0.25 if z == 0 else math.tanh(z / 2) / (2 * z)


def pg_variance(z):
    if abs(z) < 1e-2:
        return 1 / 24 - z * z / 120  # series: the closed form cancels
    z = abs(z)
    # (sinh z - z) / (4 z^3 cosh^2(z/2)), written without overflow
    e = math.exp(-z)
    return (1 - e * e - 2 * z * e) / (2 * z**3 * (1 + e) ** 2)


def pg_laplace(z, s):
    """E exp(-s omega) = cosh(z/2) / cosh(sqrt(z^2/4 + s/2))."""
    a, b = abs(z) / 2, math.sqrt(z * z / 4 + s / 2)
    return math.exp(a - b) * (1 + math.exp(-2 * a)) / (1 + math.exp(-2 * b))


def pg_quantiles(z, levels):
    """Points where the exact cdf takes the given levels, by bisection in log omega."""
    levels = np.asarray(levels, dtype=float)
    mean, sd = pg_mean(z), math.sqrt(pg_variance(z))
    low = np.full(levels.shape, math.log(mean / 1000))
    high = np.full(levels.shape, math.log(mean + 60 * sd))
    for _ in range(80):
        middle = 0.5 * (low + high)
        above = pg_cdf(np.exp(middle), z) >= levels
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.exp(0.5 * (low + high))


def chi_square_p(draws, edges, probabilities):
    """p-value of the counts between edges against given probabilities."""
    counts = np.histogram(draws, np.concatenate([[0.0], edges, [np.inf]]))[0]
    return stats.chisquare(counts, probabilities * len(draws)).pvalue


def z_of_mean(values, expected, sd=None):
    """Distance of a sample mean from its expectation in standard errors."""
    sd = np.std(values, ddof=1) if sd is None else sd
    return (np.mean(values) - expected) / (sd / math.sqrt(len(values)))


def honesty_p(probabilities, acts, bins=10):
    """Least two-sided p-value over bins that acts were drawn with the recorded probabilities, exactly.

    The number of acts in a bin is a sum of independent coins; its law is their convolution. (Where only a handful of
    misses is expected a normal approximation would call five instead of one impossible.)
    """
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    least = 1.0
    for k in range(bins):
        p, acted = probabilities[place == k], acts[place == k]
        if np.any((p == 0) & acted) or np.any((p == 1) & ~acted):
            return 0.0
        open_ = (p > 0) & (p < 1)
        law = np.ones(1)
        for chance in p[open_]:
            law = np.convolve(law, [1 - chance, chance])
        count = int(acted[open_].sum())
        least = min(least, 2 * law[: count + 1].sum(), 2 * law[count:].sum())
    return least


def same(now, then, where="") -> None:
    """Compare what was found with what was kept; BLAS adds up in another order on another processor."""
    assert type(now) is type(then), where
    if isinstance(then, dict):
        assert now.keys() == then.keys(), where
        for name in then:
            same(now[name], then[name], f"{where}/{name}")
    elif isinstance(then, list):
        assert len(now) == len(then), where
        for k, (one, other) in enumerate(zip(now, then, strict=True)):
            same(one, other, f"{where}/{k}")
    elif isinstance(then, float):
        np.testing.assert_allclose(now, then, rtol=1e-8, atol=1e-10, err_msg=where)
    else:
        assert now == then, where
