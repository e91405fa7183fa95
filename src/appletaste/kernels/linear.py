"""Small dense linear algebra on caller's arrays: d is tens, so calling a library would cost more than the work.

Symmetric matrices keep their lower triangle; feature matrices are [d, capacity], one row per feature, so that the
long loops run over labels in memory order.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel, reduction_kernel
from .types import Matrix, Vector


@reduction_kernel
def score_block(features: Matrix, start: int, n: int, theta: Vector, out: Vector) -> None:
    """Write the scores z_i = x_i'theta of labels start .. start + n; four features share one pass over ``out``."""
    d = theta.size
    out[:n] = 0.0
    j = 0
    while j + 4 <= d:
        r0, r1 = features[j, start : start + n], features[j + 1, start : start + n]
        r2, r3 = features[j + 2, start : start + n], features[j + 3, start : start + n]
        t0, t1, t2, t3 = theta[j], theta[j + 1], theta[j + 2], theta[j + 3]
        for i in range(n):
            out[i] += (t0 * r0[i] + t1 * r1[i]) + (t2 * r2[i] + t3 * r3[i])
        j += 4
    while j < d:
        r0, t0 = features[j, start : start + n], theta[j]
        for i in range(n):
            out[i] += t0 * r0[i]
        j += 1


@reduction_kernel
def add_gram_block(matrix: Matrix, features: Matrix, start: int, n: int, weights: Vector, work: Matrix) -> None:
    """Add sum_i w_i x_i x_i' over labels start .. start + n to the lower triangle.

    Tiles of 4 x 4 sums stay in registers: 8 loads feed 16 multiply-adds. Plain rows take 1.5 times as long at
    d = 20. Work: [4, BLOCK], the weighted rows of a tile.
    """
    d = matrix.shape[0]
    j = 0
    while j + 4 <= d:
        a0, a1, a2, a3 = work[0], work[1], work[2], work[3]
        r0, r1 = features[j, start : start + n], features[j + 1, start : start + n]
        r2, r3 = features[j + 2, start : start + n], features[j + 3, start : start + n]
        for i in range(n):
            w = weights[i]
            a0[i], a1[i], a2[i], a3[i] = w * r0[i], w * r1[i], w * r2[i], w * r3[i]
        for k in range(0, j + 1, 4):
            _add_tile(matrix, j, k, a0, a1, a2, a3, features, start, n)
        j += 4
    while j < d:
        a0, r0 = work[0], features[j, start : start + n]
        for i in range(n):
            a0[i] = weights[i] * r0[i]
        k = 0
        while k + 4 <= j + 1:
            _add_row(matrix[j], k, a0, features, start, n)
            k += 4
        while k <= j:
            row = features[k, start : start + n]
            total = 0.0
            for i in range(n):
                total += a0[i] * row[i]
            matrix[j, k] += total
            k += 1
        j += 1


@reduction_kernel
def _add_row(out: Vector, k: int, a0: Vector, features: Matrix, start: int, n: int) -> None:
    """Add the inner products of one weighted row with features k .. k + 4."""
    b0, b1 = features[k, start : start + n], features[k + 1, start : start + n]
    b2, b3 = features[k + 2, start : start + n], features[k + 3, start : start + n]
    s0 = s1 = s2 = s3 = 0.0
    for i in range(n):
        p = a0[i]
        s0, s1, s2, s3 = s0 + p * b0[i], s1 + p * b1[i], s2 + p * b2[i], s3 + p * b3[i]
    out[k], out[k + 1], out[k + 2], out[k + 3] = (
        out[k] + s0,
        out[k + 1] + s1,
        out[k + 2] + s2,
        out[k + 3] + s3,
    )


@reduction_kernel
def _add_tile(
    matrix: Matrix,
    j: int,
    k: int,
    a0: Vector,
    a1: Vector,
    a2: Vector,
    a3: Vector,
    features: Matrix,
    start: int,
    n: int,
) -> None:
    """Add the 4 x 4 inner products of weighted rows a with features k .. k + 4; above the diagonal they are unused."""
    b0, b1 = features[k, start : start + n], features[k + 1, start : start + n]
    b2, b3 = features[k + 2, start : start + n], features[k + 3, start : start + n]
    s00 = s01 = s02 = s03 = s10 = s11 = s12 = s13 = 0.0
    s20 = s21 = s22 = s23 = s30 = s31 = s32 = s33 = 0.0
    for i in range(n):
        p0, p1, p2, p3 = a0[i], a1[i], a2[i], a3[i]
        q0, q1, q2, q3 = b0[i], b1[i], b2[i], b3[i]
        s00, s01, s02, s03 = s00 + p0 * q0, s01 + p0 * q1, s02 + p0 * q2, s03 + p0 * q3
        s10, s11, s12, s13 = s10 + p1 * q0, s11 + p1 * q1, s12 + p1 * q2, s13 + p1 * q3
        s20, s21, s22, s23 = s20 + p2 * q0, s21 + p2 * q1, s22 + p2 * q2, s23 + p2 * q3
        s30, s31, s32, s33 = s30 + p3 * q0, s31 + p3 * q1, s32 + p3 * q2, s33 + p3 * q3
    m0, m1, m2, m3 = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
    m0[k], m0[k + 1], m0[k + 2], m0[k + 3] = m0[k] + s00, m0[k + 1] + s01, m0[k + 2] + s02, m0[k + 3] + s03
    m1[k], m1[k + 1], m1[k + 2], m1[k + 3] = m1[k] + s10, m1[k + 1] + s11, m1[k + 2] + s12, m1[k + 3] + s13
    m2[k], m2[k + 1], m2[k + 2], m2[k + 3] = m2[k] + s20, m2[k + 1] + s21, m2[k + 2] + s22, m2[k + 3] + s23
    m3[k], m3[k + 1], m3[k + 2], m3[k + 3] = m3[k] + s30, m3[k + 1] + s31, m3[k + 2] + s32, m3[k + 3] + s33


@reduction_kernel
def cholesky(matrix: Matrix) -> bool:
    """Replace the lower triangle by its Cholesky factor L; return False where the matrix is not positive definite."""
    for j in range(matrix.shape[0]):
        row = matrix[j]
        pivot = row[j]
        for k in range(j):
            pivot -= row[k] * row[k]
        if not pivot > 0.0:
            return False
        row[j] = math.sqrt(pivot)
        scale = 1.0 / row[j]
        for i in range(j + 1, matrix.shape[0]):
            other = matrix[i]
            total = other[j]
            for k in range(j):
                total -= other[k] * row[k]
            other[j] = total * scale
    return True


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


@kernel
def dot(left: Vector, right: Vector) -> float:
    """Return the inner product, summed in order."""
    total = 0.0
    for i in range(left.size):
        total += left[i] * right[i]
    return total


def empty_factor(d: int) -> Matrix:
    """Return the factor that sums of x x' start from: 1e-8 I, all but zero.

    A direction never seen then has all but infinite width |x| in the norm of the inverse. Policies that act until
    they have seen d directions need no special case; nor do duplicated features, which never give full rank.
    """
    return np.asarray(1e-4 * np.eye(d))


@kernel
def first_unusable(x: Vector) -> int:
    """Return the first entry that is not finite or so large that sums of products could overflow, or -1."""
    for i in range(x.size):
        if not abs(x[i]) < 1e100:
            return i
    return -1


@kernel
def cholesky_update(factor: Matrix, vector: Vector) -> None:
    """Replace L by the factor of L L' + v v' by Givens rotations; the vector is used up (Golub & Van Loan, 6.5.4)."""
    d = vector.size
    for j in range(d):
        old = factor[j, j]
        new = math.hypot(old, vector[j])
        cosine, sine = old / new, vector[j] / new
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
