"""Small dense linear algebra on caller's arrays: d is tens, so calling a library would cost more than the work.

Symmetric matrices keep their lower triangle; items come in blocks [d, BLOCK], one row per feature, so that the long
loops run over labels in memory order.
"""

from __future__ import annotations

import math

import numpy as np
from numba import uint64

from ..features.levels import FIRST, LAST
from ._jit import Matrix, Vector, kernel, reduction_kernel

LANES = 8  # doubles in a vector register, and in a cache line
#: Labels kept and handled together. A block costs a fixed 0.5 us of a sweep at d = 20, so larger ones pay while the
#: eight rows of a Gram tile fit the first-level cache (32 KiB), which they fill at 512: a replicate takes 3 % less than
#: with 256.
BLOCK = 384


def aligned_zeros(rows: int, columns: int) -> Matrix:
    """Return zeros that start on a cache line: vector loads that straddle two cost a tenth of a sweep."""
    buffer = np.zeros(rows * columns + LANES)
    start = (-buffer.ctypes.data // buffer.itemsize) % LANES
    return buffer[start : start + rows * columns].reshape(rows, columns)


@reduction_kernel
def score_block(features: Matrix, start: int, n: int, theta: Vector, out: Vector) -> None:
    """Write the scores z_i = x_i'theta of labels start .. start + n; four features share one pass over ``out``."""
    d = theta.size
    j = 0
    while j + 4 <= d:
        r0, r1 = features[j, start : start + n], features[j + 1, start : start + n]
        r2, r3 = features[j + 2, start : start + n], features[j + 3, start : start + n]
        t0, t1, t2, t3 = theta[j], theta[j + 1], theta[j + 2], theta[j + 3]
        for i in range(n):
            before = out[i] if j > 0 else 0.0
            out[i] = before + ((t0 * r0[i] + t1 * r1[i]) + (t2 * r2[i] + t3 * r3[i]))
        j += 4
    while j < d:
        r0, t0 = features[j, start : start + n], theta[j]
        for i in range(n):
            before = out[i] if j > 0 else 0.0
            out[i] = before + t0 * r0[i]
        j += 1


@reduction_kernel
def add_gram_block(matrix: Matrix, features: Matrix, start: int, n: int, weights: Vector, work: Matrix) -> None:
    """Add sum_i w_i x_i x_i' over labels start .. start + n to the lower triangle. Work: [4, n or more].

    Tiles of 4 x 4 sums stay in registers: 8 loads feed 16 multiply-adds. The tile on the diagonal does its 10 sums
    while it weights its rows, which the other tiles then read from ``work``: 256 labels at d = 20 take 2.4 us, and
    3.3 us with the weighting apart and 16 sums there too.
    """
    # From the first label on: with ``start`` in every index a fit takes a third longer, unless it is a literal 0, and
    # the sums come out in another order.
    flat, stride, d = features.reshape(-1)[start:], features.shape[1], matrix.shape[0]
    tiled = d // 4 * 4
    for j in range(0, tiled, 4):
        _add_diagonal_tile(matrix, j, flat, j * stride, stride, n, weights, work)
        for k in range(0, j, 4):
            _add_tile(matrix, j, k, flat, k * stride, stride, n, work)
    for j in range(tiled, d):
        row, weighted, r0 = matrix[j], work[0], uint64(j * stride)
        total = 0.0
        for i in range(uint64(n)):
            p = weights[i] * flat[r0 + i]
            weighted[i] = p
            total += p * flat[r0 + i]
        row[j] += total
        for k in range(0, tiled, 4):
            _add_row(row, k, flat, k * stride, stride, n, weighted)
        for k in range(tiled, j):
            r0 = uint64(k * stride)
            total = 0.0
            for i in range(uint64(n)):
                total += weighted[i] * flat[r0 + i]
            row[k] += total


# The helpers below take the features as one flat vector, and index it by unsigned integers: slices of rows, and the
# checks for negative indices, cost 0.2 us per block at d = 20.


@reduction_kernel
def _add_row(out: Vector, k: int, flat: Vector, start: int, stride: int, n: int, weighted: Vector) -> None:
    """Add the inner products of one weighted row with features k .. k + 4, the first of which starts at ``start``."""
    r0 = uint64(start)
    r1, r2, r3 = r0 + uint64(stride), r0 + uint64(2 * stride), r0 + uint64(3 * stride)
    s0 = s1 = s2 = s3 = 0.0
    for i in range(uint64(n)):
        p = weighted[i]
        s0 += p * flat[r0 + i]
        s1 += p * flat[r1 + i]
        s2 += p * flat[r2 + i]
        s3 += p * flat[r3 + i]
    out[k] += s0
    out[k + 1] += s1
    out[k + 2] += s2
    out[k + 3] += s3


@reduction_kernel
def _add_diagonal_tile(
    matrix: Matrix, j: int, flat: Vector, start: int, stride: int, n: int, weights: Vector, work: Matrix
) -> None:
    """Write features j .. j + 4 times the weights into ``work``; add their inner products with themselves."""
    a0 = work[0]
    a1 = work[1]
    a2 = work[2]
    a3 = work[3]
    r0 = uint64(start)
    r1, r2, r3 = r0 + uint64(stride), r0 + uint64(2 * stride), r0 + uint64(3 * stride)
    s00 = s10 = s11 = s20 = s21 = s22 = s30 = s31 = s32 = s33 = 0.0
    for i in range(uint64(n)):
        w = weights[i]
        q0 = flat[r0 + i]
        q1 = flat[r1 + i]
        q2 = flat[r2 + i]
        q3 = flat[r3 + i]
        a0[i] = p0 = w * q0
        a1[i] = p1 = w * q1
        a2[i] = p2 = w * q2
        a3[i] = p3 = w * q3
        s00 += p0 * q0
        s10 += p1 * q0
        s11 += p1 * q1
        s20 += p2 * q0
        s21 += p2 * q1
        s22 += p2 * q2
        s30 += p3 * q0
        s31 += p3 * q1
        s32 += p3 * q2
        s33 += p3 * q3
    m0 = matrix[j]
    m1 = matrix[j + 1]
    m2 = matrix[j + 2]
    m3 = matrix[j + 3]
    m0[j] += s00
    m1[j] += s10
    m1[j + 1] += s11
    m2[j] += s20
    m2[j + 1] += s21
    m2[j + 2] += s22
    m3[j] += s30
    m3[j + 1] += s31
    m3[j + 2] += s32
    m3[j + 3] += s33


@reduction_kernel
def _add_tile(matrix: Matrix, j: int, k: int, flat: Vector, start: int, stride: int, n: int, work: Matrix) -> None:
    """Add the 4 x 4 inner products of the weighted features j .. j + 4 with features k .. k + 4."""
    a0 = work[0]
    a1 = work[1]
    a2 = work[2]
    a3 = work[3]
    r0 = uint64(start)
    r1, r2, r3 = r0 + uint64(stride), r0 + uint64(2 * stride), r0 + uint64(3 * stride)
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
    s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
    for i in range(uint64(n)):
        p0 = a0[i]
        p1 = a1[i]
        p2 = a2[i]
        p3 = a3[i]
        q0 = flat[r0 + i]
        q1 = flat[r1 + i]
        q2 = flat[r2 + i]
        q3 = flat[r3 + i]
        s00 += p0 * q0
        s01 += p0 * q1
        s02 += p0 * q2
        s03 += p0 * q3
        s10 += p1 * q0
        s11 += p1 * q1
        s12 += p1 * q2
        s13 += p1 * q3
        s20 += p2 * q0
        s21 += p2 * q1
        s22 += p2 * q2
        s23 += p2 * q3
        s30 += p3 * q0
        s31 += p3 * q1
        s32 += p3 * q2
        s33 += p3 * q3
    m0 = matrix[j]
    m1 = matrix[j + 1]
    m2 = matrix[j + 2]
    m3 = matrix[j + 3]
    m0[k] += s00
    m0[k + 1] += s01
    m0[k + 2] += s02
    m0[k + 3] += s03
    m1[k] += s10
    m1[k + 1] += s11
    m1[k + 2] += s12
    m1[k + 3] += s13
    m2[k] += s20
    m2[k + 1] += s21
    m2[k + 2] += s22
    m2[k + 3] += s23
    m3[k] += s30
    m3[k + 1] += s31
    m3[k + 2] += s32
    m3[k + 3] += s33


@reduction_kernel
def cholesky(matrix: Matrix) -> None:
    """Replace the lower triangle of a positive definite matrix by its Cholesky factor L.

    A pivot that rounding has brought to nothing is set to 1e-15 of its diagonal entry: L then belongs to a matrix
    within rounding of the one given, as with duplicated features on a huge scale. Rows below the square are solved
    along, at the price of one more row: r becomes L^-1 r, at d = 20 in a third of the time ``solve_forward`` takes.
    """
    rows, d = matrix.shape
    for j in range(d):
        row = matrix[j]
        pivot = row[j]
        for k in range(j):
            pivot -= row[k] * row[k]
        row[j] = math.sqrt(max(pivot, 1e-15 * row[j]))
        scale = 1.0 / row[j]
        for i in range(j + 1, rows):
            other = matrix[i]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * scale


@reduction_kernel
def solve_forward(factor: Matrix, right: Vector, out: Vector) -> None:
    """Write L^-1 right; ``out`` may be ``right``."""
    for i in range(right.size):
        row = factor[i]
        total = right[i]
        for k in range(i):
            total -= row[k] * out[k]
        out[i] = total / row[i]


@kernel
def solve_backward(factor: Matrix, vector: Vector) -> None:
    """Replace a vector by L^-T vector."""
    for i in range(vector.size - 1, -1, -1):
        row = factor[i]
        value = vector[i] / row[i]
        vector[i] = value
        for k in range(i):
            vector[k] -= row[k] * value


@reduction_kernel
def invert(factor: Matrix, out: Matrix, work: Matrix) -> None:
    """Write (L L')^-1, both triangles; L is used up. Work: [5, d or more].

    First W = L^-1, d^3 / 6 multiply-adds; then W'W, as many, by the tiles of ``add_gram_block`` over the rows of W'.
    """
    d, ones = factor.shape[0], work[4]
    for i in range(d):
        row, k = factor[i], 0
        while k + 4 <= i:  # entries before k hold their sums so far, and those from k on still L
            r0, r1, r2, r3 = factor[k], factor[k + 1], factor[k + 2], factor[k + 3]
            t0, t1, t2, t3 = row[k], row[k + 1], row[k + 2], row[k + 3]
            for j in range(k):
                row[j] += (t0 * r0[j] + t1 * r1[j]) + (t2 * r2[j] + t3 * r3[j])
            row[k] = (t0 * r0[k] + t1 * r1[k]) + (t2 * r2[k] + t3 * r3[k])
            row[k + 1] = t1 * r1[k + 1] + (t2 * r2[k + 1] + t3 * r3[k + 1])
            row[k + 2] = t2 * r2[k + 2] + t3 * r3[k + 2]
            row[k + 3] = t3 * r3[k + 3]
            k += 4
        while k < i:
            r0, t0 = factor[k], row[k]
            for j in range(k):
                row[j] += t0 * r0[j]
            row[k] = t0 * r0[k]
            k += 1
        scale, ones[i] = 1.0 / row[i], 1.0
        for j in range(i):
            row[j] *= -scale
        row[i] = scale
    for i in range(d):
        for j in range(i):
            factor[j, i], factor[i, j], out[i, j] = factor[i, j], 0.0, 0.0
        out[i, i] = 0.0
    flat, tiled = factor.reshape(-1), d // 4 * 4
    for j in range(0, tiled, 4):  # row j of W' begins at column j
        _add_diagonal_tile(out, j, flat, j * d + j, d, d - j, ones, work)
        for k in range(0, j, 4):
            _add_tile(out, j, k, flat, k * d + j, d, d - j, work)
    for j in range(tiled, d):
        for k in range(j + 1):
            for i in range(j, d):
                out[j, k] += factor[j, i] * factor[k, i]
    for i in range(d):
        for j in range(i):
            out[j, i] = out[i, j]


@kernel
def dot(left: Vector, right: Vector) -> float:
    """Return the inner product, summed in order."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


@kernel
def first_unusable(x: Vector) -> int:
    """Return the first entry that is not finite, so large that sums of products could overflow, or a slot; or -1."""
    for i in range(x.size):
        if not abs(x[i]) < 1e100 or FIRST <= x[i] <= LAST:
            return i
    return -1


@kernel
def cholesky_update(factor: Matrix, vector: Vector) -> None:
    """Replace L by the factor of L L' + v v' by Givens rotations; the vector is used up (Golub & Van Loan, 6.5.4)."""
    d = vector.size
    for j in range(d):
        old, other = factor[j, j], vector[j]
        new = math.sqrt(old * old + other * other)
        if not 1e-140 < new < 1e140:  # squares may have left the range of numbers; hypot takes 20 ns more
            new = math.hypot(old, other)
        cosine, sine = old / new, other / new
        factor[j, j] = new
        for i in range(j + 1, d):
            below = factor[i, j]
            factor[i, j] = cosine * below + sine * vector[i]
            vector[i] = cosine * vector[i] - sine * below


@kernel
def inverse_norm(factor: Matrix, x: Vector, work: Vector) -> float:
    """Return sqrt(x' A^-1 x) for A = L L'."""
    solve_forward(factor, x, work)
    return math.sqrt(dot(work, work))
