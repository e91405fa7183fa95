"""The logistic function over blocks of scores, penalised logistic regression, and sums of chances for many draws.

The function is vector code: the library's exp and log take one number at a time.

Everything comes from e = exp(-|z|), which never overflows: sigma(z) is 1 / (1 + e) or e / (1 + e), sigma'(z) is
e / (1 + e)^2 and log(1 + exp(z)) is max(z, 0) + log(1 + e).

Penalised logistic regression by Newton's method with a line search.

Maximises sum_i [y_i z_i - log(1 + exp(z_i))] - (theta - b)' P (theta - b) / 2 over theta, z_i = x_i'theta. The
penalty keeps the maximum finite on separable data and unique on collinear data; P -> 0 gives the MLE where it
exists.
"""

from __future__ import annotations

import math

import numpy as np
from numba import int64

from ._jit import Blocks, Matrix, Vector, kernel, part, reduction_kernel
from .linear import BLOCK, aligned_zeros, cholesky, dot, score_block, solve_backward, solve_forward
from .sparse import SPARSE_ROWS, add_gram

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


MAX_STEPS = 100
#: Stop when a Newton step would raise the objective by less than this (in log-likelihood units).
TOLERANCE = 1e-10

# Rows of ``work``: eight vectors, then those of a Gram tile or of sparse items.
SCORES, WEIGHTS, RESIDUALS, GRADIENT, STEP, TRIAL, SHRUNK, SPARE, TILE = 0, 1, 2, 3, 4, 5, 6, 7, 8
WORK_ROWS = TILE + SPARSE_ROWS


def make_work(d: int) -> tuple[Matrix, Matrix]:
    """Return the work space of ``fit``: rows for vectors, and the Hessian."""
    return aligned_zeros(WORK_ROWS, max(BLOCK, d)), np.empty((d, d))


@kernel
def sigmoid(z: float) -> float:
    """Return 1 / (1 + exp(-z)) without overflow."""
    if z >= 0.0:
        return 1.0 / (1.0 + math.exp(-z))
    e = math.exp(z)
    return e / (1.0 + e)


@kernel
def log_sigmoid(z: float) -> float:
    """Return log(1 / (1 + exp(-z))) without overflow."""
    return min(z, 0.0) - math.log1p(math.exp(-abs(z)))


@reduction_kernel
def pull(precision: Matrix, mean: Vector, theta: Vector, i: int) -> float:
    """Return entry i of P (theta - b), the penalty's slope."""
    total = 0.0
    for j in range(theta.size):
        total += precision[i, j] * (theta[j] - mean[j])
    return total


@reduction_kernel
def likelihood_block(
    items: Matrix, first: int, n: int, labels: Vector, start: int, theta: Vector, work: Matrix
) -> float:
    """Return sum_i [y_i z_i - log(1 + exp(z_i))] over n places of a block from ``first``; labels are from ``start``."""
    scores, shrunk = work[SCORES], work[SHRUNK]
    score_block(items, first, n, theta, scores)
    exp_minus_abs(scores, 0, n, shrunk, work[SPARE])
    total = 0.0
    for i in range(n):
        total += labels[start + i] * scores[i] - max(scores[i], 0.0)
    return total - log_product(shrunk, n)


@reduction_kernel
def add_block(
    items: Matrix,
    first: int,
    n: int,
    labels: Vector,
    start: int,
    theta: Vector,
    gradient: Vector,
    hessian: Matrix,
    work: Matrix,
) -> None:
    """Add the gradient and minus the Hessian (its lower triangle) of ``likelihood_block`` at theta.

    Leaves the scores z_i, the residuals y_i - sigma(z_i) and the weights sigma'(z_i) in ``work``.
    """
    scores, shrunk, weights, residuals = work[SCORES], work[SHRUNK], work[WEIGHTS], work[RESIDUALS]
    score_block(items, first, n, theta, scores)
    exp_minus_abs(scores, 0, n, shrunk, work[SPARE])
    for i in range(n):
        high = 1.0 / (1.0 + shrunk[i])
        low = shrunk[i] * high
        weights[i] = low * high
        residuals[i] = labels[start + i] - (high if scores[i] >= 0.0 else low)
    for j in range(theta.size):
        row = items[j, first:]
        total = 0.0
        for i in range(n):
            total += residuals[i] * row[i]
        gradient[j] += total
    add_gram(hessian, items, first, n, weights, work[TILE:WORK_ROWS])


@part
def objective(
    features: Blocks, labels: Vector, n: int, mean: Vector, precision: Matrix, theta: Vector, work: Matrix
) -> float:
    """Return the penalised log-likelihood at theta."""
    total = 0.0
    for i in range(theta.size):
        total -= 0.5 * pull(precision, mean, theta, i) * (theta[i] - mean[i])
    for first in range(0, n, BLOCK):
        total += likelihood_block(
            features[first // BLOCK], first % BLOCK, min(BLOCK, n - first), labels, first, theta, work
        )
    return total


@part
def derivatives(
    features: Blocks,
    labels: Vector,
    n: int,
    mean: Vector,
    precision: Matrix,
    theta: Vector,
    hessian: Matrix,
    work: Matrix,
) -> None:
    """Write the gradient (into ``work``) and minus the Hessian of the objective."""
    d = theta.size
    gradient = work[GRADIENT, :d]
    for i in range(d):
        gradient[i] = -pull(precision, mean, theta, i)
        for j in range(d):
            hessian[i, j] = precision[i, j]
    for first in range(0, n, BLOCK):
        m = min(BLOCK, n - first)
        add_block(features[first // BLOCK], first % BLOCK, m, labels, first, theta, gradient, hessian, work)


@kernel
def fit(
    features: Blocks,
    labels: Vector,
    n: int,
    mean: Vector,
    precision: Matrix,
    theta: Vector,
    work: Matrix,
    hessian: Matrix,
) -> int:
    """Move theta to the maximum, starting where it is; return the number of Newton steps taken.

    A step that does not raise the objective by at least a tenth of what the quadratic model promises is halved.
    """
    d = theta.size
    gradient, step, trial = work[GRADIENT, :d], work[STEP, :d], work[TRIAL, :d]
    value = objective(features, labels, n, mean, precision, theta, work)
    for iteration in range(MAX_STEPS):
        derivatives(features, labels, n, mean, precision, theta, hessian, work)
        cholesky(hessian)
        solve_forward(hessian, gradient, step)
        solve_backward(hessian, step)
        promise = dot(gradient, step)
        if promise < 2.0 * TOLERANCE:  # the last step is too small to check and squares the error
            for j in range(d):
                theta[j] += step[j]
            return iteration
        length = 1.0
        while True:
            for j in range(d):
                trial[j] = theta[j] + length * step[j]
            reached = objective(features, labels, n, mean, precision, trial, work)
            if reached >= value + 0.1 * length * promise:
                break
            length *= 0.5
            if length < 1e-10:  # rounding hides any further gain
                return iteration
        for j in range(d):
            theta[j] = trial[j]
        value = reached
    return MAX_STEPS


@kernel
def add_chances(items: Matrix, weights: Vector, thetas: Matrix, sums: Vector, spreads: Vector, spare: Matrix) -> None:
    """Add sum_i w_i sigma(x_i'theta_k) to ``sums`` and sum_i w_i sigma (1 - sigma) to ``spreads``, item after item.

    ``thetas`` is [feature, draw], ``spare`` three rows as long as there are draws. Each draw is a lane of the vector
    registers, so the order of every sum is that of the items: 2 ns for an item and a draw of ten features, where NumPy
    takes 38.
    """
    draws = thetas.shape[1]
    scores, small = spare[0], spare[1]
    for i in range(items.shape[0]):
        for k in range(draws):
            scores[k] = 0.0
        for j in range(items.shape[1]):
            value = items[i, j]
            for k in range(draws):
                scores[k] += value * thetas[j, k]
        exp_minus_abs(scores, 0, draws, small, spare[2])
        for k in range(draws):
            e = small[k]
            part = 1.0 / (1.0 + e)
            sums[k] += weights[i] * (part if scores[k] >= 0.0 else e * part)
            spreads[k] += weights[i] * (e * part * part)


@kernel
def add_paired_chances(
    items: Matrix, weights: Vector, middle: Vector, steps: Matrix, sums: Matrix, spreads: Matrix, spare: Matrix
) -> None:
    """Do the same for draws in pairs, middle + step_k and middle - step_k: rows 0 and 1 of ``sums`` and ``spreads``.

    With a = x'middle, b = x'step, A = exp(-|a|) and B = exp(-|b|), the four chances sigma(+-|a| +- |b|) are

        1 / (1 + AB),  AB / (1 + AB),  B / (A + B),  A / (A + B):

    one exponential and one division for two draws, which takes half of the time.
    """
    pairs = steps.shape[1]
    scores, small = spare[0], spare[1]
    for i in range(items.shape[0]):
        centre = 0.0
        for k in range(pairs):
            scores[k] = 0.0
        for j in range(items.shape[1]):
            value = items[i, j]
            centre += value * middle[j]
            for k in range(pairs):
                scores[k] += value * steps[j, k]
        exp_minus_abs(scores, 0, pairs, small, spare[2])
        a = math.exp(-min(abs(centre), 700.0))
        positive = centre >= 0.0
        for k in range(pairs):
            b = small[k]
            ab = a * b
            both = 1.0 / ((1.0 + ab) * (a + b))
            same, apart = (a + b) * both, (1.0 + ab) * both  # 1 / (1 + AB), 1 / (A + B)
            far, near = ab * same * same, (a * apart) * (b * apart)  # sigma (1 - sigma), away from 1/2 and towards it
            upper, lower = (same, b * apart) if positive else (a * apart, ab * same)
            upper_spread, lower_spread = (far, near) if positive else (near, far)
            up = scores[k] >= 0.0
            sums[0, k] += weights[i] * (upper if up else lower)
            sums[1, k] += weights[i] * (lower if up else upper)
            spreads[0, k] += weights[i] * (upper_spread if up else lower_spread)
            spreads[1, k] += weights[i] * (lower_spread if up else upper_spread)
