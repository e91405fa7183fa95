"""Bounds on the likelihood about an anchor: by a cubic, and by blocks of labels.

Sums of cubes sum_i w_i (x_i'D)^3 as a function of D: the third-order part of an expansion, kept as a tensor.

T_jkl = sum_i w_i x_ij x_ik x_il for j >= k >= l, packed: row j holds the pairs (k, l), k <= j, at k (k + 1) / 2 + l, so
the long loops run over pairs in memory order. At d = 20 adding one item takes 0.7 us, evaluating the sum the same.

The log posterior expanded about an anchor, in sums that a label joins at once, and a bound on what is left out.

With labels y_i, items x_i, prior N(b, P^-1), an anchor a near the mode, p_i = sigma(x_i'a), v_i = p_i (1 - p_i) and
D = theta - a,

    log posterior = const + g'D - D'H D / 2 - sum_i v_i (1 - 2 p_i) (x_i'D)^3 / 6 + sum_i r_i(D),
    g = -P (a - b) + sum_i (y_i - p_i) x_i,     H = P + sum_i v_i x_i x_i' = L L'.

The quadratic part is the Gaussian N(m, H^-1), m = a + H^-1 g. The remainder of a label depends on its item only, and
sigma's third derivative, at most 1/8 in size, bounds it: |r_i(D)| <= K |x_i'D|^4 <= c_i |W'D|^4 with K = 1 / 192 and
c_i = K |W^-1 x_i|^4, for any factor W; here the L at hand when the anchor was chosen. The c_i are kept as their running
sums C_1 .. C_n. (Control variates by Taylor expansion, as in Bardenet, Doucet & Holmes 2017 and Cornish et al. 2019,
there to second order. At d = 20 the third order makes C_n |W'D|^4 smaller than its like of second order: by 5 at 10^4
labels and by 50 at 10^6.)

Labels with bounds so large that steps would look at each again and again, as features with heavy tails have them, are
listed instead of summed, and looked at once in every step.

The cubes cost d^3 / 6 a label. Where d is large they are left out (``cubes`` has no rows), and the bounds are those of
second order: |r_i(D)| <= K |x_i'D|^3 with K = 1 / (36 sqrt 3), as sigma'' is at most 1 / (6 sqrt 3) in size.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Blocks, Matrix, Vector, kernel, reduction_kernel
from .linear import (
    BLOCK,
    add_gram_block,
    aligned_zeros,
    cholesky,
    cholesky_update,
    dot,
    solve_backward,
    solve_forward,
)
from .logistic import RESIDUALS, SPARE, WEIGHTS, WORK_ROWS, add_block, pull, sigmoid
from .logistic import TILE as LOGISTIC_TILE


def make_cubes(d: int) -> Matrix:
    """Return the tensor, all zeros."""
    return np.zeros((d, d * (d + 1) // 2))


@kernel
def fill_pairs(x: Vector, off_diagonal: float, pairs: Vector) -> None:
    """Write x_k x_l for k >= l, those with k > l times ``off_diagonal``."""
    at = 0
    for k in range(x.size):
        for j in range(k):
            pairs[at + j] = off_diagonal * x[k] * x[j]
        pairs[at + k] = x[k] * x[k]
        at += k + 1


@reduction_kernel
def add_cube(cubes: Matrix, weight: float, x: Vector, pairs: Vector) -> None:
    """Add w (x'D)^3."""
    fill_pairs(x, 1.0, pairs)
    for j in range(x.size):
        row, scale = cubes[j], weight * x[j]
        for at in range((j + 1) * (j + 2) // 2):
            row[at] += scale * pairs[at]


@kernel
def add_cubes_block(
    cubes: Matrix, items: Matrix, first: int, n: int, weights: Vector, row: Vector, gram: Matrix, work: Matrix
) -> None:
    """Add sum_i w_i (x_i'D)^3 over n places of a block: for each j a weighted Gram matrix of features 0 .. j."""
    for j in range(cubes.shape[0]):
        feature, out = items[j, first : first + n], cubes[j]
        for i in range(n):
            row[i] = weights[i] * feature[i]
        part = gram[: j + 1]
        for k in range(j + 1):
            for i in range(k + 1):
                part[k, i] = 0.0
        add_gram_block(part, items, first, n, row, work)
        at = 0
        for k in range(j + 1):
            for i in range(k + 1):
                out[at + i] += part[k, i]
            at += k + 1


@reduction_kernel
def sum_of_cubes(cubes: Matrix, offset: Vector, pairs: Vector) -> float:
    """Return sum_i w_i (x_i'D)^3: each product of three different coordinates counts six times, of two three times."""
    fill_pairs(offset, 2.0, pairs)
    total = 0.0
    for j in range(offset.size):
        row, below = cubes[j], j * (j + 1) // 2
        inner = last = 0.0
        for at in range(below):
            inner += row[at] * pairs[at]
        for k in range(j):
            last += row[below + k] * offset[k]
        total += offset[j] * (3.0 * (inner + offset[j] * last) + offset[j] * offset[j] * row[below + j])
    return total


# Rows of an anchor [4 + 2d, d]: a, g, m, d rows of L, L^-1 g (below L, so that the factorisation solves for it), d rows
# of W. While labels are still being added in ranges the rows of L hold H, and neither L^-1 g nor m is there.
POINT, GRADIENT, MEAN, FACTOR = 0, 1, 2, 3

#: |r_i(D)| <= K |x_i'D|^order, in the orders 3 and 4. A billionth more leaves room for rounding.
THIRD_ORDER = (1.0 + 1e-9) / (36.0 * math.sqrt(3.0))
FOURTH_ORDER = (1.0 + 1e-9) / 192.0

#: A label is listed if a factorised step would look at it more often than this on average, and if the list has room.
HEAVY = 2.0
MOST_HEAVY = 1024

#: Items solved for together, a multiple of a vector: a tile of 20 features and 64 items fits the first-level cache.
COLUMNS = 64


def make_anchor(d: int) -> Matrix:
    """Return an anchor, all zeros."""
    return np.zeros((FACTOR + 2 * d + 1, d))


def make_heavy() -> Vector:
    """Return an empty list of labels: how many there are, then which."""
    return np.zeros(1 + MOST_HEAVY)


def make_work(d: int) -> Matrix:
    """Return the work space of this file, which that of logistic regression begins: then a row, and d for a tile."""
    return aligned_zeros(WORK_ROWS + 1 + d, max(BLOCK, d * (d + 1) // 2))


@kernel
def begin(anchor: Matrix, cubes: Matrix, heavy: Vector, prior: Matrix, point: Vector, metric: Matrix) -> None:
    """Set an anchor at a point, with W = ``metric`` and no labels. Rows of ``prior``: b, then P."""
    d = point.size
    mean, precision, metric_rows = prior[0], prior[1:], anchor[FACTOR + d + 1 :]
    for i in range(cubes.shape[0]):
        for j in range(cubes.shape[1]):
            cubes[i, j] = 0.0
    heavy[0] = 0.0
    for i in range(d):
        anchor[POINT, i] = point[i]
        anchor[GRADIENT, i] = -pull(precision, mean, point, i)
        for j in range(d):
            anchor[FACTOR + i, j] = precision[i, j]
            metric_rows[i, j] = metric[i, j]


@kernel
def add_range(
    features: Blocks,
    labels: Vector,
    start: int,
    stop: int,
    anchor: Matrix,
    cubes: Matrix,
    heavy: Vector,
    sums: Vector,
    work: Matrix,
) -> None:
    """Add labels start .. stop to g, to H, to the cubes and to the running sums of bounds."""
    d = anchor.shape[1]
    point, gradient, hessian = anchor[POINT], anchor[GRADIENT], anchor[FACTOR : FACTOR + d]
    while start < stop:
        place = start % BLOCK
        n = min(stop - start, BLOCK - place)
        items = features[start // BLOCK]
        add_block(items, place, n, labels, start, point, gradient, hessian, work)
        if cubes.shape[0] > 0:
            thirds, weights, residuals = work[SPARE], work[WEIGHTS], work[RESIDUALS]
            for i in range(n):  # v (1 - 2p), and p is label - residual
                thirds[i] = weights[i] * (1.0 - 2.0 * (labels[start + i] - residuals[i]))
            gram, tile = work[WORK_ROWS + 1 :].reshape(-1)[: d * d].reshape(d, d), work[LOGISTIC_TILE:WORK_ROWS]
            add_cubes_block(cubes, items, place, n, thirds, work[WORK_ROWS], gram, tile)
        add_bounds(items, place, n, anchor[FACTOR + d + 1 :], cubes.shape[0] > 0, start, heavy, sums, work)
        start += n


@reduction_kernel
def add_bounds(
    items: Matrix,
    place: int,
    n: int,
    metric: Matrix,
    fourth: bool,
    start: int,
    heavy: Vector,
    sums: Vector,
    work: Matrix,
) -> None:
    """Continue the running sums by c_i over n places of a block: W U = X, solved for a tile of items at a time."""
    d = metric.shape[0]
    lengths, tile = work[WORK_ROWS], work[WORK_ROWS + 1 :]
    total = sums[start - 1] if start > 0 else 0.0
    for first in range(0, n, COLUMNS):
        m = min(COLUMNS, n - first)
        for i in range(m):
            lengths[i] = 0.0
        for j in range(d):
            solved, raw, scale = tile[j], items[j, place + first : place + first + m], 1.0 / metric[j, j]
            for i in range(m):
                solved[i] = raw[i]
            for k in range(j):
                weight, above = metric[j, k], tile[k]
                for i in range(m):
                    solved[i] -= weight * above[i]
            for i in range(m):
                solved[i] *= scale
                lengths[i] += solved[i] * solved[i]
        for i in range(m):
            total = next_sum(total, lengths[i], d, fourth, start + first + i, heavy)
            sums[start + first + i] = total


@kernel
def bound(squared: float, fourth: bool) -> float:
    """Return K t^4, or K t^3 where there are no cubes, for a length t given by its square."""
    return FOURTH_ORDER * squared * squared if fourth else THIRD_ORDER * squared * math.sqrt(squared)


@kernel
def mean_reach(d: int, fourth: bool) -> float:
    """Return |W'D|^4 + |W'D'|^4 as it mostly is, or that of cubes: |W'D|^2 has mean d, and d + 2 weighted by itself."""
    return 2.0 * (d + 2.0) ** (2.0 if fourth else 1.5)


@kernel
def next_sum(total: float, squared: float, d: int, fourth: bool, i: int, heavy: Vector) -> float:
    """Return the running sum after label i, with |W^-1 x_i|^2 = ``squared``; a heavy label is listed and adds nothing.

    Two units in the last place of the sum are added, so that the difference that rounding leaves is no smaller than the
    bound: over a million labels they add up to less than a part in a billion.
    """
    one = bound(squared, fourth)
    count = int(heavy[0])
    if one * mean_reach(d, fourth) > HEAVY and count < MOST_HEAVY:
        heavy[1 + count] = i
        heavy[0] = count + 1
        return total
    return total + (one + 4.5e-16 * total)


@kernel
def finish(anchor: Matrix) -> float:
    """Turn H into its factor, once all labels are added; return what ``centre`` does."""
    d = anchor.shape[1]
    for j in range(d):
        anchor[FACTOR + d, j] = anchor[GRADIENT, j]
    cholesky(anchor[FACTOR : FACTOR + d + 1])
    return centre(anchor)


@kernel
def centre(anchor: Matrix) -> float:
    """Write m = a + L^-T L^-1 g; return |L^-1 g|^2, the squared distance from a to m in standard deviations."""
    d = anchor.shape[1]
    factor, whitened, mean = anchor[FACTOR : FACTOR + d], anchor[FACTOR + d], anchor[MEAN]
    for j in range(d):
        mean[j] = whitened[j]
    solve_backward(factor, mean)
    for j in range(d):
        mean[j] += anchor[POINT, j]
    return dot(whitened, whitened)


@kernel
def add_label(
    x: Vector, label: float, n: int, anchor: Matrix, cubes: Matrix, heavy: Vector, sums: Vector, work: Matrix
) -> float:
    """Add one label, number n, to a finished anchor; return what ``centre`` does."""
    d = x.size
    factor, spare = anchor[FACTOR : FACTOR + d], work[0, :d]
    chance = sigmoid(dot(x, anchor[POINT]))
    root = math.sqrt(chance * (1.0 - chance))
    for j in range(d):
        anchor[GRADIENT, j] += (label - chance) * x[j]
        spare[j] = root * x[j]
    cholesky_update(factor, spare)
    solve_forward(factor, anchor[GRADIENT], anchor[FACTOR + d])
    solve_forward(anchor[FACTOR + d + 1 :], x, spare)
    sums[n] = next_sum(sums[n - 1], dot(spare, spare), d, cubes.shape[0] > 0, n, heavy)
    if cubes.shape[0] > 0:
        add_cube(cubes, chance * (1.0 - chance) * (1.0 - 2.0 * chance), x, work[1])
    return centre(anchor)
