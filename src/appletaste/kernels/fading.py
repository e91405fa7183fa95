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

from ._jit import Blocks, Matrix, Vector, kernel, reduction_kernel
from .gaussian import COVARIANCE, MEAN, MODE, laplace_step, move, score_item
from .linear import BLOCK, cholesky, dot, invert, score_block, solve_backward, solve_forward
from .logistic import (
    GRADIENT,
    RESIDUALS,
    SCORES,
    SHRUNK,
    SPARE,
    STEP,
    TILE,
    TRIAL,
    WEIGHTS,
    WORK_ROWS,
    exp_minus_abs,
    log_sigmoid,
    pull,
)
from .sparse import add_gram

#: Newton steps of a renewal at most, the length of one, in posterior standard deviations, that ends it, and the least
#: part of one that is tried.
STEPS, SHORT, LEAST = 50, 1e-3, 1e-10
#: What counts less than this is gone: the belief is the prior to the last digit.
GONE = 1e-18


@kernel
def fade(belief: Matrix, prior: Matrix, factor: float, work: Matrix) -> None:
    """Let all labels count ``factor`` of what they did; ``prior`` is [d + 1, d], B^-1 and b. Work: [3 d + 1, d].

    By halves: one step subtracts, and would lose digits if it had to lose nearly all that is known.
    """
    d = belief.shape[1]
    if factor < GONE:
        for i in range(d):
            belief[MODE, i] = belief[MEAN, i] = prior[d, i]
            for j in range(d):
                work[i, j] = prior[i, j]
        cholesky(work[:d])
        invert(work[:d], belief[COVARIANCE:], work[d:])
        return
    while factor < 0.5:
        _fade_some(belief, prior, 0.5, work)
        factor *= 2.0
    _fade_some(belief, prior, factor, work)


@kernel
def _fade_some(belief: Matrix, prior: Matrix, factor: float, work: Matrix) -> None:
    """Fade by a factor of a half or more.

    V itself, which may be singular to rounding, is not inverted: with B^-1 = L L', G = V L and c = f / (1 - f),
    V_f = (V - G (c I + L'G)^-1 G') / f and m_f = m - G (c I + L'G)^-1 L'(m - b).
    """
    d = belief.shape[1]
    if factor >= 1.0:
        return
    root, along, inner, column = work[:d], work[d : 2 * d], work[2 * d : 3 * d], work[3 * d]
    covariance = belief[COVARIANCE:]
    for i in range(d):
        for j in range(d):
            root[i, j] = prior[i, j]
    cholesky(root)
    for i in range(d):
        for j in range(d):
            root[i, j] *= 1.0 if j <= i else 0.0
            along[i, j] = 0.0
    for i in range(d):
        for k in range(d):
            entry = covariance[i, k]
            for j in range(k + 1):
                along[i, j] += entry * root[k, j]
    for i in range(d):
        for j in range(i + 1):
            inner[i, j] = factor / (1.0 - factor) if i == j else 0.0
    for k in range(d):
        for i in range(k + 1):
            for j in range(i + 1):
                inner[i, j] += root[k, i] * along[k, j]
    cholesky(inner)
    for row in (MODE, MEAN):
        for j in range(d):
            column[j] = 0.0
        for k in range(d):
            for j in range(k + 1):
                column[j] += root[k, j] * (belief[row, k] - prior[d, k])
        solve_forward(inner, column, column)
        solve_backward(inner, column)
        for i in range(d):
            belief[row, i] -= dot(along[i], column)
    for i in range(d):
        solve_forward(inner, along[i], along[i])
    for i in range(d):
        for j in range(i + 1):
            covariance[i, j] = (covariance[i, j] - dot(along[i], along[j])) / factor
            covariance[j, i] = covariance[i, j]


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
    add_gram(hessian, items, first, n, weights, work[TILE:WORK_ROWS])


@reduction_kernel
def shared_objective(
    features: Blocks,
    labels: Vector,
    shares: Vector,
    first: int,
    n: int,
    theta: Vector,
    prior: Matrix,
    work: Matrix,
) -> float:
    """Return the log posterior at theta of labels first .. n that count by their shares, up to a constant."""
    d, total, position = theta.size, 0.0, first
    for i in range(d):
        total -= 0.5 * pull(prior[:d], prior[d], theta, i) * (theta[i] - prior[d, i])
    scores = work[SCORES]
    while position < n:
        place = position % BLOCK
        m = min(BLOCK - place, n - position)
        score_block(features[position // BLOCK], place, m, theta, scores)
        for i in range(m):
            total += shares[position + i] * log_sigmoid(scores[i] if labels[position + i] > 0.5 else -scores[i])
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

    A step that does not raise the log posterior by a tenth of what the quadratic promises is halved.
    """
    d = belief.shape[1]
    theta, gradient, step, trial = belief[MODE], work[GRADIENT, :d], work[STEP, :d], work[TRIAL, :d]
    value = shared_objective(features, labels, shares, first, n, theta, prior, work)
    least = shared_objective(features, labels, shares, first, n, prior[d], prior, work)
    if not value >= least:  # one far label has thrown the mode further than the way back is worth
        for i in range(d):
            theta[i] = prior[d, i]
        value = least
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
        promise = dot(step, step)  # the square of its length in posterior standard deviations
        solve_backward(hessian, step)
        if promise < SHORT * SHORT:
            break
        length = 1.0
        while length > LEAST:
            for i in range(d):
                trial[i] = theta[i] + length * step[i]
            reached = shared_objective(features, labels, shares, first, n, trial, prior, work)
            if reached >= value + 0.1 * length * promise:
                break
            length *= 0.5
        if length <= LEAST:  # rounding hides any further gain
            break
        for i in range(d):
            theta[i] = trial[i]
        value = reached
    for i in range(d):
        belief[MEAN, i] = theta[i]
    invert(hessian, belief[COVARIANCE:], work[TILE:])
