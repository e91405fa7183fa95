"""A Laplace approximation while labels are few and features many: everything in the span of the n labelled items.

With the prior N(b, K), K diagonal, and X the n items, the mode is m = b + K X'a and the covariance at the mode

    V = K - F'F,    F = L^-1 W^1/2 X K,    L L' = I + W^1/2 G W^1/2,    G = X K X',

with W the weights sigma'(z) of the labels (Rasmussen & Williams 2006, section 3.4). Nothing is d x d: a score takes
O(n d), a renewal O(n^2 d + n^3), where V itself takes O(d^2) and its renewal O(d^3). A label between two renewals is a
step of rank one, and so one more row of F.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Indices, Matrix, Vector, Word, kernel, reduction_kernel
from .gaussian import COVARIANCE, DIRECTION, MEAN, MODE, VARIED, laplace_step
from .linear import cholesky, dot, solve_backward, solve_forward
from .logistic import MAX_STEPS, TOLERANCE, log_sigmoid, sigmoid
from .random import derive, normal
from .renewal import ACCEPTANCE, ENDED, INTERCEPT, PROBE_LOGS, PROBES, PSEUDO, SMOOTHING, acceptance

# Rows of ``vectors`` [7, d]: the first four as in a belief, then the diagonal of K, the mean b of the prior, and the
# variances that the prior had before they were scaled.
SPREAD, ORIGIN, BASE = 4, 5, 6
VECTOR_ROWS = 7
# Rows of ``duals`` [12, n]: the labels, a, X b, the scores, weights, their roots, residuals, and work.
LABELS, DUAL, OFFSET, SCORES, WEIGHTS, ROOTS, RESIDUALS, TARGET, STEP, TRIAL, HELP, SHIFT = range(12)
DUAL_ROWS = 12


@reduction_kernel
def score_wide(x: Vector, vectors: Matrix, factor: Matrix, n: int) -> tuple[float, float]:
    """Return the mean and variance of x'theta; leave V x in its row."""
    d, direction, spread, centre = x.size, vectors[DIRECTION], vectors[SPREAD], vectors[MEAN]
    for i in range(d):
        direction[i] = spread[i] * x[i]
    for k in range(n):
        row, part = factor[k], 0.0
        for i in range(d):
            part += row[i] * x[i]
        for i in range(d):
            direction[i] -= part * row[i]
    mean = variance = 0.0
    for i in range(d):
        mean += x[i] * centre[i]
        variance += x[i] * direction[i]
    return mean, max(variance, 0.0)


@kernel
def score_many_wide(
    items: Matrix, vectors: Matrix, factor: Matrix, n: int, means: Vector, variances: Vector, directions: Matrix
) -> None:
    """Write what ``score_wide`` returns and leaves, for every row of ``items``."""
    for k in range(items.shape[0]):
        means[k], variances[k] = score_wide(items[k], vectors, factor, n)
        directions[k] = vectors[DIRECTION]


@kernel
def learn_wide(x: Vector, label: float, vectors: Matrix, rows: Matrix, factor: Matrix, duals: Matrix, n: int) -> None:
    """Take in one label by a Laplace step along V x, and store it as label n."""
    _, v = score_wide(x, vectors, factor, n)
    f = 0.0
    for i in range(x.size):
        f += x[i] * vectors[MODE, i]
        rows[n, i] = x[i]
        if x[i] != rows[0, i]:
            vectors[VARIED, i] = 1.0
    pull, shrink = laplace_step(f, v, label)
    duals[LABELS, n], duals[DUAL, n] = label, pull
    root = math.sqrt(shrink)
    for i in range(x.size):
        moved = vectors[DIRECTION, i]
        vectors[MODE, i] += pull * moved
        vectors[MEAN, i] += pull * moved
        factor[n, i] = root * moved


@kernel
def rescale_wide(vectors: Matrix, rows: Matrix, factor: Matrix, n: int, groups: Indices) -> None:
    """Take the EM step for the scale of the prior, as ``renewal.rescale_prior`` does; uses up the direction."""
    d, known = vectors.shape[1], vectors[DIRECTION]
    for i in range(d):
        known[i] = 0.0
    for k in range(n):
        for i in range(d):
            known[i] += factor[k, i] * factor[k, i]
    count = spread = 0.0
    for i in range(d):
        if vectors[VARIED, i] > 0.0 and groups[i] == 0:
            count += 1.0
            offset = vectors[MODE, i] - vectors[ORIGIN, i]
            spread += (offset * offset + vectors[SPREAD, i] - known[i]) / vectors[BASE, i]
    if count == 0.0:
        return
    slope = (PSEUDO + spread) / (PSEUDO + count)
    for i in range(d):
        constant = vectors[VARIED, i] == 0.0 and rows[0, i] != 0.0
        if groups[i] == 0:
            vectors[SPREAD, i] = vectors[BASE, i] * (INTERCEPT * INTERCEPT if constant else slope)


@reduction_kernel
def fill_gram(vectors: Matrix, rows: Matrix, gram: Matrix, offsets: Vector) -> None:
    """Write G = X K X' and X b; uses up the direction."""
    n, d, weighted = gram.shape[0], vectors.shape[1], vectors[DIRECTION]
    for i in range(n):
        row, offset = rows[i], 0.0
        for j in range(d):
            weighted[j] = vectors[SPREAD, j] * row[j]
            offset += vectors[ORIGIN, j] * row[j]
        offsets[i] = offset
        for k in range(i + 1):
            other, total = rows[k], 0.0
            for j in range(d):
                total += weighted[j] * other[j]
            gram[i, k] = gram[k, i] = total


@kernel
def times(matrix: Matrix, vector: Vector, out: Vector) -> None:
    """Write M v."""
    for i in range(vector.size):
        out[i] = dot(matrix[i], vector)


@kernel
def height(gram: Matrix, duals: Matrix, dual: Vector) -> float:
    """Return the log posterior at a, up to a constant; leave the scores in their row."""
    n = dual.size
    scores, value = duals[SCORES, :n], 0.0
    times(gram, dual, scores)
    for i in range(n):
        value -= 0.5 * dual[i] * scores[i]
        scores[i] += duals[OFFSET, i]
        value += log_sigmoid(scores[i] if duals[LABELS, i] > 0.5 else -scores[i])
    return value


@kernel
def weigh_labels(gram: Matrix, root: Matrix, duals: Matrix) -> None:
    """Write weights and residuals at the present scores, and the factor L of I + W^1/2 G W^1/2."""
    n = gram.shape[0]
    for i in range(n):
        p = sigmoid(duals[SCORES, i])
        duals[WEIGHTS, i] = p * (1.0 - p)
        duals[ROOTS, i] = math.sqrt(duals[WEIGHTS, i])
        duals[RESIDUALS, i] = duals[LABELS, i] - p
    for i in range(n):
        for k in range(n):
            root[i, k] = duals[ROOTS, i] * gram[i, k] * duals[ROOTS, k]
        root[i, i] += 1.0
    cholesky(root)


@kernel
def fit_dual(gram: Matrix, root: Matrix, duals: Matrix) -> None:
    """Move a to the maximum of the posterior by Newton's method with a line search, as ``logistic.fit`` moves theta."""
    n = gram.shape[0]
    dual, target, step, trial, aside = (
        duals[DUAL, :n],
        duals[TARGET, :n],
        duals[STEP, :n],
        duals[TRIAL, :n],
        duals[HELP, :n],
    )
    value = height(gram, duals, dual)
    for _ in range(MAX_STEPS):
        weigh_labels(gram, root, duals)
        for i in range(n):
            target[i] = duals[WEIGHTS, i] * (duals[SCORES, i] - duals[OFFSET, i]) + duals[RESIDUALS, i]
        times(gram, target, aside)
        for i in range(n):
            aside[i] *= duals[ROOTS, i]
        solve_forward(root, aside, aside)
        solve_backward(root, aside)
        for i in range(n):
            step[i] = target[i] - duals[ROOTS, i] * aside[i] - dual[i]
        times(gram, step, aside)
        promise = 0.0
        for i in range(n):
            promise += (duals[RESIDUALS, i] - dual[i]) * aside[i]
        if promise < 2.0 * TOLERANCE:  # the last step is too small to check and squares the error
            for i in range(n):
                dual[i] += step[i]
            height(gram, duals, dual)
            return
        length = 1.0
        while True:
            for i in range(n):
                trial[i] = dual[i] + length * step[i]
            reached = height(gram, duals, trial)
            if reached >= value + 0.1 * length * promise:
                break
            length *= 0.5
            if length < 1e-10:  # rounding hides any further gain
                height(gram, duals, dual)
                return
        for i in range(n):
            dual[i] = trial[i]
        value = reached


@reduction_kernel
def fill_factor(vectors: Matrix, rows: Matrix, root: Matrix, duals: Matrix, factor: Matrix) -> None:
    """Write the mode b + K X'a, and F."""
    n, d = root.shape[0], vectors.shape[1]
    mode, spread = vectors[MODE], vectors[SPREAD]
    for j in range(d):
        mode[j] = vectors[ORIGIN, j]
    for i in range(n):
        out, row, scale, weight = factor[i], rows[i], duals[ROOTS, i], duals[DUAL, i]
        for j in range(d):
            part = spread[j] * row[j]
            mode[j] += weight * part
            out[j] = scale * part
        for k in range(i):
            other, entry = factor[k], root[i, k]
            for j in range(d):
                out[j] -= entry * other[j]
        scale = 1.0 / root[i, i]
        for j in range(d):
            out[j] *= scale


@kernel
def spread_of_scores(gram: Matrix, root: Matrix, duals: Matrix, half: Matrix) -> None:
    """Replace G by X V X' = G - S'S, S = L^-1 W^1/2 G in ``half``."""
    n = gram.shape[0]
    for i in range(n):
        for j in range(n):
            half[i, j] = duals[ROOTS, i] * gram[i, j]
        for k in range(i):
            for j in range(n):
                half[i, j] -= root[i, k] * half[k, j]
        for j in range(n):
            half[i, j] /= root[i, i]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                gram[i, j] -= half[k, i] * half[k, j]


@kernel
def renew_wide(
    key: Word,
    n: int,
    with_skew: bool,
    vectors: Matrix,
    rows: Matrix,
    factor: Matrix,
    duals: Matrix,
    squares: Matrix,
    marks: Vector,
) -> None:
    """Move mode, mean and covariance to what all n labels say, and take the certificate of what was found.

    ``squares`` [3, n^2 or more] is work. The certificate weighs draws of the scores z = X theta alone: Gaussian and
    posterior differ by a factor that depends on theta through z only.
    """
    d = vectors.shape[1]
    gram = squares[0, : n * n].reshape(n, n)
    root = squares[1, : n * n].reshape(n, n)
    half = squares[2, : n * n].reshape(n, n)
    fill_gram(vectors, rows, gram, duals[OFFSET])
    fit_dual(gram, root, duals)
    weigh_labels(gram, root, duals)
    fill_factor(vectors, rows, root, duals, factor)
    spread_of_scores(gram, root, duals, half)
    shift, aside = duals[SHIFT, :n], duals[HELP, :n]
    for i in range(n):
        shift[i] = 0.0
    for j in range(d):
        vectors[MEAN, j] = vectors[MODE, j]
    if with_skew:
        for i in range(n):  # sigma'' = sigma' (1 - 2 sigma)
            p = sigmoid(duals[SCORES, i])
            shift[i] = duals[WEIGHTS, i] * (1.0 - 2.0 * p) * max(gram[i, i], 0.0)
        times(gram, shift, aside)
        scale = -0.5 / max(0.5 * math.sqrt(max(dot(shift, aside), 0.0)), 1.0)
        for i in range(n):
            shift[i] *= scale
        add_shift(vectors, rows, factor, shift)
    times(gram, shift, aside)
    cholesky(gram)
    stream = duals[TRIAL, :1].view(np.uint64)
    stream[0] = derive(key, n)
    noise = duals[STEP, :n]
    for k in range(PROBES):
        for i in range(n):
            noise[i] = normal(stream)
        log_weight = 0.0
        for i in range(n):
            z = duals[SCORES, i] + aside[i]
            for j in range(i + 1):
                z += gram[i, j] * noise[j]
            pull = duals[RESIDUALS, i] + shift[i] + duals[WEIGHTS, i] * duals[SCORES, i]
            log_weight += log_sigmoid(z if duals[LABELS, i] > 0.5 else -z) + (0.5 * duals[WEIGHTS, i] * z - pull) * z
        marks[PROBE_LOGS + k] = log_weight
    accepted, before = acceptance(marks[PROBE_LOGS:]), marks[ACCEPTANCE]
    marks[ACCEPTANCE] = accepted if before < 0.0 else before + SMOOTHING * (accepted - before)
    marks[ENDED] = n


@reduction_kernel
def add_shift(vectors: Matrix, rows: Matrix, factor: Matrix, shift: Vector) -> None:
    """Add V X'c to the mean; uses up the direction."""
    d, total, mean = vectors.shape[1], vectors[DIRECTION], vectors[MEAN]
    for j in range(d):
        total[j] = 0.0
    for i in range(shift.size):
        row, entry = rows[i], shift[i]
        for j in range(d):
            total[j] += entry * row[j]
    for j in range(d):
        mean[j] += vectors[SPREAD, j] * total[j]
    for i in range(shift.size):
        row, part = factor[i], 0.0
        for j in range(d):
            part += row[j] * total[j]
        for j in range(d):
            mean[j] -= part * row[j]


@reduction_kernel
def write_out(vectors: Matrix, factor: Matrix, n: int, belief: Matrix) -> None:
    """Write the same Gaussian as a belief [4 + d, d], with V itself."""
    d = vectors.shape[1]
    for j in range(d):
        for k in range(COVARIANCE):
            belief[k, j] = vectors[k, j]
    for i in range(d):
        row = belief[COVARIANCE + i]
        for j in range(d):
            row[j] = 0.0
        row[i] = vectors[SPREAD, i]
        for k in range(n):
            other, entry = factor[k], factor[k, i]
            for j in range(d):
                row[j] -= entry * other[j]
