"""The logistic function over blocks of scores, as vector code: the library's exp and log take one number at a time.

Everything comes from e = exp(-|z|), which never overflows: sigma(z) is 1 / (1 + e) or e / (1 + e), sigma'(z) is
e / (1 + e)^2 and log(1 + exp(z)) is max(z, 0) + log(1 + e).
"""

from __future__ import annotations

import math

import numpy as np
from numba import int64

from ._jit import reduction_kernel
from .types import Vector

_TO_BINARY = 1.0 / math.log(2.0)
# log 2 in two parts, the first with 21 trailing zeros: k times it is exact.
_LOG2_HIGH, _LOG2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10


@reduction_kernel
def exp_minus_abs(scores: Vector, start: int, n: int, out: Vector, spare: Vector) -> None:
    """Write exp(-|z_i|) for n scores from ``start`` on, into ``out`` from 0 on, to 4e-16 of its size.

    exp(x) = 2^k exp(r) with k = round(x / log 2), |r| <= log(2) / 2: a Taylor polynomial of degree 13 and, by their
    bits, powers of two. Eight at a time: 0.9 ns each, where ``math.exp`` takes 5. Below exp(-700) all is exp(-700).
    """
    bits = spare.view(np.int64)
    for i in range(n):
        x = max(-abs(scores[start + i]), -700.0)
        k = math.floor(x * _TO_BINARY + 0.5)
        r = (x - k * _LOG2_HIGH) - k * _LOG2_LOW
        p = 1.0 / 479001600.0 + r / 6227020800.0
        p = 1.0 / 3628800.0 + r * (1.0 / 39916800.0 + r * p)
        p = 1.0 / 40320.0 + r * (1.0 / 362880.0 + r * p)
        p = 1.0 / 720.0 + r * (1.0 / 5040.0 + r * p)
        p = 1.0 / 24.0 + r * (1.0 / 120.0 + r * p)
        p = 0.5 + r * (1.0 / 6.0 + r * p)
        out[i] = 1.0 + r * (1.0 + r * p)
        bits[i] = (int64(k) + 1023) << 52
    for i in range(n):
        out[i] *= spare[i]


@reduction_kernel
def log_product(factors: Vector, n: int) -> float:
    """Return sum_i log(1 + e_i) for 0 <= e_i <= 1: one logarithm of a product for every eight."""
    total = 0.0
    whole = n // 8 * 8
    for i in range(0, whole, 8):
        left = ((1.0 + factors[i]) * (1.0 + factors[i + 1])) * ((1.0 + factors[i + 2]) * (1.0 + factors[i + 3]))
        right = ((1.0 + factors[i + 4]) * (1.0 + factors[i + 5])) * ((1.0 + factors[i + 6]) * (1.0 + factors[i + 7]))
        total += math.log(left * right)
    for i in range(whole, n):
        total += math.log1p(factors[i])
    return total
