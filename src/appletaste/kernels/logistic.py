"""Penalised logistic regression by Newton's method with a line search.

Maximises sum_i [y_i z_i - log(1 + exp(z_i))] - (theta - b)' P (theta - b) / 2 over theta, z_i = x_i'theta. The
penalty keeps the maximum finite on separable data and unique on collinear data; P -> 0 gives the MLE where it
exists.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel, reduction_kernel
from .linear import add_gram_block, aligned_zeros, cholesky, dot, score_block, solve_backward, solve_forward
from .polya_gamma import BLOCK
from .types import Matrix, Vector

MAX_STEPS = 100
#: Stop when a Newton step would raise the objective by less than this (in log-likelihood units).
TOLERANCE = 1e-10

# Rows of ``work``: six vectors, then the four of a Gram tile.
SCORES, WEIGHTS, RESIDUALS, GRADIENT, STEP, TRIAL, TILE = 0, 1, 2, 3, 4, 5, 6
WORK_ROWS = TILE + 4


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


@kernel
def pull(precision: Matrix, mean: Vector, theta: Vector, i: int) -> float:
    """Return entry i of P (theta - b), the penalty's slope."""
    total = 0.0
    for j in range(theta.size):
        total += precision[i, j] * (theta[j] - mean[j])
    return total


@kernel
def objective(
    features: Matrix, labels: Vector, n: int, mean: Vector, precision: Matrix, theta: Vector, work: Matrix
) -> float:
    """Return the penalised log-likelihood at theta."""
    d = theta.size
    total = 0.0
    for i in range(d):
        total -= 0.5 * pull(precision, mean, theta, i) * (theta[i] - mean[i])
    first = 0
    while first < n:
        m = min(BLOCK, n - first)
        score_block(features, first, m, theta, work[SCORES])
        for i in range(m):
            z = work[SCORES, i]
            total += log_sigmoid(z if labels[first + i] > 0.5 else -z)
        first += m
    return total


@reduction_kernel
def derivatives(
    features: Matrix,
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
    first = 0
    while first < n:
        m = min(BLOCK, n - first)
        scores, weights, residuals = work[SCORES], work[WEIGHTS], work[RESIDUALS]
        score_block(features, first, m, theta, scores)
        for i in range(m):
            p = sigmoid(scores[i])
            residuals[i] = labels[first + i] - p
            weights[i] = p * (1.0 - p)
        for j in range(d):
            row_of_features = features[j, first : first + m]
            total = 0.0
            for i in range(m):
                total += residuals[i] * row_of_features[i]
            gradient[j] += total
        add_gram_block(hessian, features, first, m, weights, work[TILE:WORK_ROWS])
        first += m


@kernel
def fit(
    features: Matrix,
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
        theta[:] = trial
        value = reached
    return MAX_STEPS
