"""Labels of reviewers who err: their likelihood, its slopes, and a renewal from all of them.

A reviewer calls a positive positive with chance s, the sensitivity, and a negative negative with chance c, the
specificity. With b = s + c - 1 > 0 the label given is 1 with chance (Rogan & Gladen 1978)

    q(z) = (1 - c) + b sigma(z),    1 - q(z) = (1 - s) + b sigma(-z).

So a label of 0 is one of 1 at -z with the other error in its place. With w = sigma'(z) and t_1 = b w / q,
t_0 = b w / (1 - q) the slope of the log likelihood is t_1 or -t_0. It is not concave: far on the side that a label
denies the reviewer is thought to be wrong, and the curvature turns. Therefore

- steps are those of Fisher's scoring. The mean of the curvature over both labels, I = t_1 t_0, is never negative, so a
  step always leads upwards; and one after which the log posterior is lower is halved (``renewal.take_step``);
- a label moves the belief by the mean and the variance of z given the label (``gaussian.adf_step``), which two modes
  do not lead astray, and a label against all odds may widen the belief;
- the covariance is the inverse of the information, not of a curvature that might have no inverse;
- the certificate weighs its probes by this likelihood, so it tells where a Gaussian does not fit.
"""

from __future__ import annotations

import math

from ._jit import Blocks, Matrix, Vector, kernel, reduction_kernel, reduction_part
from .gaussian import adf_step, move, score_item, store_label
from .linear import BLOCK, dot, score_block
from .logistic import RESIDUALS, SCORES, SHRUNK, SPARE, TILE, TRIAL, WEIGHTS, WORK_ROWS, exp_minus_abs
from .renewal import (
    ANCHOR,
    BEGUN,
    GRADIENT,
    HEIGHT,
    HESSIAN,
    JUDGING,
    POSITION,
    PROBE_LOGS,
    PROBES,
    REACHED,
    SKEW,
    quadratic_forms,
)
from .sparse import add_gram


@reduction_part
def chances_given(score: float, shrunk: float, false_ones: float, false_zeros: float) -> tuple[float, float, float]:
    """Return q, 1 - q and b w at a score z with exp(-|z|); the errors are 1 - c and 1 - s."""
    high = 1.0 / (1.0 + shrunk)
    low, span = shrunk * high, 1.0 - false_ones - false_zeros
    one, zero = (high, low) if score >= 0.0 else (low, high)
    return false_ones + span * one, false_zeros + span * zero, span * low * high


@reduction_kernel
def reviewed_likelihood(
    items: Matrix,
    first: int,
    n: int,
    labels: Vector,
    start: int,
    theta: Vector,
    false_ones: float,
    false_zeros: float,
    work: Matrix,
) -> float:
    """Return the log likelihood over n places of a block from ``first``; labels are from ``start``."""
    scores, shrunk, total = work[SCORES], work[SHRUNK], 0.0
    score_block(items, first, n, theta, scores)
    exp_minus_abs(scores, 0, n, shrunk, work[SPARE])
    for i in range(n):
        one, zero, _ = chances_given(scores[i], shrunk[i], false_ones, false_zeros)
        total += math.log(one if labels[start + i] > 0.5 else zero)
    return total


@reduction_kernel
def add_reviewed_block(
    items: Matrix,
    first: int,
    n: int,
    labels: Vector,
    start: int,
    theta: Vector,
    false_ones: float,
    false_zeros: float,
    gradient: Vector,
    hessian: Matrix,
    work: Matrix,
) -> None:
    """Add the gradient of ``reviewed_likelihood`` and the information (its lower triangle) at theta.

    Leaves the scores, exp(-|z_i|) and the log likelihood of each label in ``work``.
    """
    scores, shrunk, weights, residuals, logs = work[SCORES], work[SHRUNK], work[WEIGHTS], work[RESIDUALS], work[TRIAL]
    score_block(items, first, n, theta, scores)
    exp_minus_abs(scores, 0, n, shrunk, work[SPARE])
    for i in range(n):
        one, zero, slope = chances_given(scores[i], shrunk[i], false_ones, false_zeros)
        up, down = slope / one, slope / zero
        weights[i] = up * down
        if labels[start + i] > 0.5:
            residuals[i], logs[i] = up, math.log(one)
        else:
            residuals[i], logs[i] = -down, math.log(zero)
    for j in range(theta.size):
        gradient[j] += dot(residuals[:n], items[j, first : first + n])
    add_gram(hessian, items, first, n, weights, work[TILE:WORK_ROWS])


@reduction_kernel
def add_reviewed_skew(
    items: Matrix,
    first: int,
    n: int,
    labels: Vector,
    start: int,
    false_ones: float,
    false_zeros: float,
    kept: Matrix,
    skew: Vector,
    work: Matrix,
) -> None:
    """Add minus the third slope of each log likelihood, times (x_i'Vx_i) x_i, at scores left in ``work``.

    With p = sigma(z), A_1 = b w / q, A_2 = A_1 (1 - 2 p) and A_3 = A_1 (1 - 6 w) it is A_3 - 3 A_1 A_2 + 2 A_1^3 for a
    label of 1; for one of 0 it is minus that at -z, with the other error.
    """
    scores, shrunk, residuals = work[SCORES], work[SHRUNK], work[RESIDUALS]
    quadratic_forms(items, first, n, kept, work)
    span = 1.0 - false_ones - false_zeros
    for i in range(n):
        one, zero, slope = chances_given(scores[i], shrunk[i], false_ones, false_zeros)
        sign, given = (1.0, one) if labels[start + i] > 0.5 else (-1.0, zero)
        lean = (1.0 - shrunk[i]) / (1.0 + shrunk[i])  # |1 - 2 p|
        steep = slope / given
        second = steep * (-lean if sign * scores[i] > 0.0 else lean)
        third = steep * (1.0 - 6.0 * slope / span) - 3.0 * steep * second + 2.0 * steep * steep * steep
        residuals[i] *= -sign * third
    for j in range(skew.size):
        skew[j] += dot(residuals[:n], items[j, first : first + n])


@kernel
def advance_reviewed(
    rows: int,
    features: Blocks,
    labels: Vector,
    n: int,
    with_skew: bool,
    false_ones: float,
    false_zeros: float,
    renewal: Matrix,
    marks: Vector,
    work: Matrix,
) -> bool:
    """Do what ``renewal.advance`` does, with labels of reviewers who err."""
    d = renewal.shape[1]
    hessian, kept = renewal[HESSIAN : HESSIAN + d], renewal[HESSIAN + d : HESSIAN + 2 * d]
    begun = int(marks[BEGUN])
    while rows > 0 and int(marks[POSITION]) < n:
        position = int(marks[POSITION])
        block, first = position // BLOCK, position % BLOCK
        m = min(rows, BLOCK - first, n - position)
        items = features[block]
        anchor, gradient = renewal[ANCHOR], renewal[GRADIENT]
        add_reviewed_block(items, first, m, labels, position, anchor, false_ones, false_zeros, gradient, hessian, work)
        judging = min(m, int(marks[JUDGING]) - position)
        for i in range(m):
            marks[HEIGHT] += work[TRIAL, i]
            if i < judging:
                marks[REACHED] += work[TRIAL, i]
        if with_skew:
            add_reviewed_skew(items, first, m, labels, position, false_ones, false_zeros, kept, renewal[SKEW], work)
        certified = min(m, begun - position)
        if certified > 0:
            for k in range(PROBES):
                probe = renewal[HESSIAN + 2 * d + k]
                marks[PROBE_LOGS + k] += reviewed_likelihood(
                    items, first, certified, labels, position, probe, false_ones, false_zeros, work
                )
        marks[POSITION] += m
        rows -= m
    return int(marks[POSITION]) >= n


@kernel
def learn_reviewed(
    x: Vector,
    label: float,
    false_ones: float,
    false_zeros: float,
    belief: Matrix,
    features: Blocks,
    labels: Vector,
    n: int,
) -> None:
    """Take in one label of a reviewer who errs by its moments, and store it as label n."""
    f, v = score_item(x, belief)
    store_label(x, label, belief, features, labels, n)
    least = false_ones if label > 0.5 else false_zeros
    pull, shrink = adf_step(f, v, label, 1.0, least, 1.0 - false_ones - false_zeros)
    move(belief, pull, shrink)
