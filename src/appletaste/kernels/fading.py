"""Forgetting: a Gaussian belief goes part of the way back to the prior.

All labels together say what the belief N(m, V) knows beyond the prior N(b, B): in natural parameters, V^-1 - B^-1 and
V^-1 m - B^-1 b. If they are to count f < 1 of what they did,

    V_f^-1 = f V^-1 + (1 - f) B^-1,    V_f^-1 (m_f - b) = f V^-1 (m - b),

which is the posterior of the likelihood to the power f. Without labels the belief returns to the prior, and no
direction is ever less known than there (stabilised forgetting; Kulhavy & Zarrop 1993).

Where the labels are kept, ``renew`` puts the belief back at the mode of the posterior in which label i counts w_i,
b'B^-1 terms and all: it maximises sum_i w_i [y_i z_i - log(1 + exp(z_i))] - (theta - b)' B^-1 (theta - b) / 2.
"""

from __future__ import annotations

import math

from ._jit import kernel, reduction_kernel
from .elementary import exp_minus_abs
from .filter import COVARIANCE, MEAN, MODE, laplace_step, move, score_item
from .linear import BLOCK, add_gram_block, cholesky, dot, score_block, solve_backward, solve_forward
from .logistic import GRADIENT, RESIDUALS, SCORES, SHRUNK, SPARE, STEP, TILE, TRIAL, WEIGHTS, WORK_ROWS, pull
from .renewal import invert
from .types import Blocks, Matrix, Vector

#: Newton steps of a renewal at most, and the length of a step, in posterior standard deviations, that ends it.
STEPS, SHORT = 25, 1e-3
SMALLEST = 1e-250  #: part of a Newton step


@kernel
def fade(belief: Matrix, prior: Matrix, factor: float, work: Matrix) -> None:
    """Let all labels count ``factor`` of what they did; ``prior`` is [d + 1, d], B^-1 and b. Work: [d + 2, d]."""
    d = belief.shape[1]
    square, column, shift = work[:d], work[d], work[d + 1]
    covariance = belief[COVARIANCE:]
    for i in range(d):
        for j in range(d):
            square[i, j] = covariance[i, j]
    cholesky(square)
    invert(square, covariance, column)  # V^-1, in the place of V
    for row in (MODE, MEAN):
        _pulled(covariance, belief[row], prior[d], factor, column)
        if row == MODE:
            for i in range(d):
                belief[MODE, i] = column[i]
        else:
            for i in range(d):
                shift[i] = column[i]
    for i in range(d):
        for j in range(d):
            square[i, j] = factor * covariance[i, j] + (1.0 - factor) * prior[i, j]
    cholesky(square)
    _solved(square, belief[MODE], prior[d], belief[MODE])
    _solved(square, shift, prior[d], belief[MEAN])
    invert(square, covariance, column)


@kernel
def _pulled(precision: Matrix, point: Vector, centre: Vector, factor: float, out: Vector) -> None:
    """Write f P (point - centre)."""
    for i in range(point.size):
        total = 0.0
        for j in range(point.size):
            total += precision[i, j] * (point[j] - centre[j])
        out[i] = factor * total


@kernel
def _solved(root: Matrix, right: Vector, centre: Vector, out: Vector) -> None:
    """Write centre + (L L')^-1 right; ``out`` may be ``right``."""
    solve_forward(root, right, out)
    solve_backward(root, out)
    for i in range(out.size):
        out[i] += centre[i]


@kernel
def learn_shared(x: Vector, label: float, share: float, belief: Matrix) -> None:
    """Take in a label that counts ``share``, by a Laplace step along V x: r = f + v w (y - sigma(r))."""
    _, v = score_item(x, belief)
    f = dot(x, belief[MODE])
    step, shrink = laplace_step(f, v * share, label)
    move(belief, share * step, share * shrink)


@reduction_kernel
def add_shared_block(
    items: Matrix,
    first: int,
    n: int,
    labels: Vector,
    shares: Vector,
    start: int,
    theta: Vector,
    gradient: Vector,
    hessian: Matrix,
    work: Matrix,
) -> None:
    """Add the gradient and minus the Hessian of labels that count by their shares, over n places of a block."""
    scores, shrunk, weights, residuals = work[SCORES], work[SHRUNK], work[WEIGHTS], work[RESIDUALS]
    score_block(items, first, n, theta, scores)
    exp_minus_abs(scores, 0, n, shrunk, work[SPARE])
    for i in range(n):
        share, high = shares[start + i], 1.0 / (1.0 + shrunk[i])
        low = shrunk[i] * high
        weights[i] = share * low * high
        residuals[i] = share * (labels[start + i] - (high if scores[i] >= 0.0 else low))
    for j in range(theta.size):
        gradient[j] += dot(residuals[:n], items[j, first : first + n])
    add_gram_block(hessian, items, first, n, weights, work[TILE:WORK_ROWS])


@reduction_kernel
def shared_likelihood(
    items: Matrix, first: int, n: int, labels: Vector, shares: Vector, start: int, theta: Vector, work: Matrix
) -> float:
    """Return sum_i w_i [y_i z_i - log(1 + exp(z_i))] over n places of a block."""
    scores, shrunk = work[SCORES], work[SHRUNK]
    score_block(items, first, n, theta, scores)
    exp_minus_abs(scores, 0, n, shrunk, work[SPARE])
    total = 0.0
    for i in range(n):
        log_both = max(scores[i], 0.0) + math.log1p(shrunk[i])
        total += shares[start + i] * (labels[start + i] * scores[i] - log_both)
    return total


@kernel
def shared_objective(
    features: Blocks, labels: Vector, shares: Vector, first: int, n: int, prior: Matrix, theta: Vector, work: Matrix
) -> float:
    """Return what ``renew`` maximises."""
    d, total, position = theta.size, 0.0, first
    for i in range(d):
        total -= 0.5 * pull(prior[:d], prior[d], theta, i) * (theta[i] - prior[d, i])
    while position < n:
        place = position % BLOCK
        m = min(BLOCK - place, n - position)
        total += shared_likelihood(features[position // BLOCK], place, m, labels, shares, position, theta, work)
        position += m
    return total


@kernel
def renew(
    features: Blocks,
    labels: Vector,
    shares: Vector,
    first: int,
    n: int,
    belief: Matrix,
    prior: Matrix,
    hessian: Matrix,
    work: Matrix,
) -> None:
    """Move the mode to the maximum over labels first .. n by Newton steps, and the covariance to the curvature there.

    A step that does not raise the objective by at least a tenth of what the quadratic model promises is halved.
    """
    d = belief.shape[1]
    theta, gradient, step, trial = belief[MODE], work[GRADIENT, :d], work[STEP, :d], work[TRIAL, :d]
    value = shared_objective(features, labels, shares, first, n, prior, theta, work)
    for _ in range(STEPS):
        for i in range(d):
            gradient[i] = -pull(prior[:d], prior[d], theta, i)
            for j in range(d):
                hessian[i, j] = prior[i, j]
        position = first
        while position < n:
            place = position % BLOCK
            m = min(BLOCK - place, n - position)
            add_shared_block(
                features[position // BLOCK], place, m, labels, shares, position, theta, gradient, hessian, work
            )
            position += m
        cholesky(hessian)
        solve_forward(hessian, gradient, step)
        promise = dot(step, step)
        solve_backward(hessian, step)
        if promise < SHORT * SHORT:  # too small to check
            for i in range(d):
                theta[i] += step[i]
            break
        part = 1.0
        while True:
            for i in range(d):
                trial[i] = theta[i] + part * step[i]
            reached = shared_objective(features, labels, shares, first, n, prior, trial, work)
            if reached >= value + 0.1 * part * promise:
                break
            part *= 0.5 if part > 1e-6 else 1e-6  # far out on a huge scale even tiny steps overshoot
            if part < SMALLEST:  # rounding hides any further gain
                break
        if part < SMALLEST:
            break
        for i in range(d):
            theta[i] = trial[i]
        value = reached
    for i in range(d):
        belief[MEAN, i] = theta[i]
    invert(hessian, belief[COVARIANCE:], work[SCORES, :d])
