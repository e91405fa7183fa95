"""Mode and curvature anew from all labels, a few labels at a time, and the scales of the prior.

Scales of groups of coefficients, and how a Gaussian belief follows when they change (``posteriors.groups``).

Renewing a Laplace approximation from all labels, a few of them at a time, with a certificate.

One pass over the labels at an anchor a gives the gradient g and minus the Hessian H of the log posterior there, hence
one Newton step: mode a + H^-1 g, covariance H^-1. A pass is spread over many rounds, so no round is slow. On its way it

- corrects the mean for skew, to first order: mode - 1/2 V sum_i sigma''(z_i) (x_i'Vx_i) x_i;
- weighs ``PROBES`` draws of the Gaussian in use against the exact posterior of the labels it was made from: with
  weights w = posterior / Gaussian, E min(w, w') is the acceptance rate of an independence Metropolis chain in
  equilibrium, and one minus it bounds the total variation distance of the Gaussian from the posterior.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Blocks, Indices, Matrix, Vector, Word, kernel, part, reduction_kernel
from .gaussian import COVARIANCE, MEAN, MODE, VARIED
from .linear import BLOCK, cholesky, dot, invert, score_block, solve_backward, solve_forward
from .logistic import (
    RESIDUALS,
    SCORES,
    SHRUNK,
    SPARE,
    TILE,
    TRIAL,
    WEIGHTS,
    WORK_ROWS,
    add_block,
    fit,
    likelihood_block,
    log_product,
    pull,
)
from .random import derive, normal
from .sparse import is_sparse, square_forms

#: Jacobi's rotations converge in fewer sweeps over a matrix than that.
SWEEPS = 30


@kernel
def weigh_scales(
    belief: Matrix, places: Indices, precision: float, scales: Vector, block: Matrix, logs: Vector
) -> None:
    """Write log L of each scale of a curve, up to a constant, from the belief that a prior of this precision made.

    With V_pp = U diag(l) U', s = max(1 / l - precision, 0) and h = U'm_p / l (``posteriors.groups``)

        log L(t) = 1/2 sum_i [t h_i^2 / (1 + t s_i) - log(1 + t s_i)].

    U by Jacobi's rotations, which turn m_p along (Golub & Van Loan, 8.5), and not by LAPACK, whose last bits go by the
    processor. Work: ``block`` [k + 1, k].
    """
    size = places.size
    turned, largest = block[size], 0.0
    for a in range(size):
        turned[a] = belief[MODE, places[a]]
        for b in range(size):
            block[a, b] = belief[COVARIANCE + places[a], places[b]]
        largest = max(largest, block[a, a])
    for _ in range(SWEEPS):
        beside = 0.0
        for a in range(size):
            for b in range(a):
                beside = max(beside, abs(block[a, b]))
                rotate(block, a, b, turned)
        if beside <= 1e-15 * largest:
            break
    for j in range(scales.size):
        logs[j] = 0.0
        for a in range(size):
            width = max(block[a, a], 1e-15 * largest)
            told, grown = turned[a] / width, 1.0 + scales[j] * max(1.0 / width - precision, 0.0)
            logs[j] += 0.5 * (scales[j] * told * told / grown - math.log(grown))


@part
def rotate(block: Matrix, a: int, b: int, turned: Vector) -> None:
    """Turn two axes of a symmetric matrix so that nothing is left between them, and a vector along."""
    between = block[a, b]
    if between == 0.0:
        return
    slant = (block[b, b] - block[a, a]) / (2.0 * between)
    tangent = math.copysign(1.0, slant) / (abs(slant) + math.hypot(slant, 1.0))
    cosine = 1.0 / math.hypot(tangent, 1.0)
    sine = tangent * cosine
    for k in range(turned.size):
        left, right = block[k, a], block[k, b]
        block[k, a], block[k, b] = cosine * left - sine * right, sine * left + cosine * right
    for k in range(turned.size):
        left, right = block[a, k], block[b, k]
        block[a, k], block[b, k] = cosine * left - sine * right, sine * left + cosine * right
    block[a, b] = block[b, a] = 0.0
    left, right = turned[a], turned[b]
    turned[a], turned[b] = cosine * left - sine * right, sine * left + cosine * right


@kernel
def share_out(logs: Matrix, usual: Vector, strength: float, steps: int, shares: Matrix, weights: Vector) -> None:
    """Write the chance of each scale for each group, [group, scale], given the log likelihoods, which are used up.

    How often a scale is met is learnt along, by EM from ``usual``, which counts as much as ``strength`` groups.
    """
    likely = logs
    groups, scales = logs.shape
    for g in range(groups):
        best = logs[g].max()
        for s in range(scales):
            likely[g, s] = math.exp(logs[g, s] - best)
    for s in range(scales):
        weights[s] = usual[s]
    for _ in range(steps):
        for g in range(groups):
            total = 0.0
            for s in range(scales):
                shares[g, s] = weights[s] * likely[g, s]
                total += shares[g, s]
            for s in range(scales):
                shares[g, s] /= total
        for s in range(scales):
            total = strength * usual[s]
            for g in range(groups):
                total += shares[g, s]
            weights[s] = total / (strength + groups)


@reduction_kernel
def add_precision(belief: Matrix, places: Indices, gain: float, system: Matrix, rows: Matrix) -> None:
    """Replace V by (V^-1 + g I_p)^-1 and m by (V^-1 + g I_p)^-1 V^-1 m, I_p the identity at k places and 0 elsewhere.

    With s = sign g, V_p the rows of V at the places and S = I / |g| + s V_pp = L L' that is V - s (L^-1 V_p)'(L^-1 V_p)
    and m - s (L^-1 V_p)' L^-1 m_p. Work: ``system`` [k + d + 2, k], ``rows`` [k, d].
    """
    d, size, sign = belief.shape[1], places.size, 1.0 if gain > 0.0 else -1.0
    for a in range(size):
        place, row = places[a], belief[COVARIANCE + places[a]]
        for b in range(size):
            system[a, b] = sign * row[places[b]]
        system[a, a] += 1.0 / abs(gain)
        for i in range(d):
            system[size + i, a] = row[i]
        system[size + d, a], system[size + d + 1, a] = belief[MODE, place], belief[MEAN, place]
    cholesky(system)  # solves the rows below the square along
    for a in range(size):
        row = rows[a]
        mode, mean = sign * system[size + d, a], sign * system[size + d + 1, a]
        for i in range(d):
            row[i] = system[size + i, a]
            belief[MODE, i] -= mode * row[i]
            belief[MEAN, i] -= mean * row[i]
    for j in range(d):
        row, a = belief[COVARIANCE + j], 0
        while a + 4 <= size:
            r0, r1, r2, r3 = rows[a], rows[a + 1], rows[a + 2], rows[a + 3]
            t0, t1, t2, t3 = sign * r0[j], sign * r1[j], sign * r2[j], sign * r3[j]
            for i in range(d):
                row[i] -= (t0 * r0[i] + t1 * r1[i]) + (t2 * r2[i] + t3 * r3[i])
            a += 4
        while a < size:
            r0, t0 = rows[a], sign * rows[a, j]
            for i in range(d):
                row[i] -= t0 * r0[i]
            a += 1


PROBES = 8

# Rows of the ``renewal`` matrix [4 + 2d + PROBES, d]: the anchor, the gradient, the skew sum, the step, d rows of H
# (then of its factor), d rows of the lower triangle of V at the start, doubled below the diagonal, and the probes.
ANCHOR, GRADIENT, SKEW, STEP, HESSIAN = 0, 1, 2, 3, 4
# Entries of ``marks``: the next label of the pass (-1: none under way), how many labels there were when it began, how
# many when the last one ended, the running acceptance (-1: none yet); of the line search: how many labels the anchor
# before was judged by (0: there was none) and the log posterior there, that of the labels passed at this anchor, and of
# those among them that judge; and the log weight of each probe.
POSITION, BEGUN, ENDED, ACCEPTANCE, JUDGING, BEFORE, HEIGHT, REACHED, PROBE_LOGS = range(9)

PSEUDO = 5.0  # nu: features' worth of belief in the prior's own scale
INTERCEPT = 2.0  # standard deviations of the prior that an intercept is worth: base rates may be far from even
SMOOTHING = 0.3  # weight of the newest pass in the running acceptance


def make_marks() -> Vector:
    """Return the marks of a belief that was never renewed."""
    marks = np.zeros(PROBE_LOGS + PROBES)
    marks[POSITION] = marks[ACCEPTANCE] = -1.0
    return marks


def make_renewal(d: int) -> tuple[Matrix, Vector]:
    """Return the arrays of a pass, none under way."""
    return np.zeros((HESSIAN + 2 * d + PROBES, d)), make_marks()


@kernel
def rescale_prior(belief: Matrix, features: Blocks, groups: Indices, precision: Matrix, prior: Matrix) -> None:
    """Take the EM step for the scale of the prior: s^2 = (nu + E (theta - b)'P(theta - b)) / (nu + k).

    The expectation is over the k features of group 0 that have varied. A feature that has not, and is not zero, is an
    intercept and has a spread of its own; one that has been zero so far is a slope yet to be seen.
    """
    d = belief.shape[1]
    count = spread = 0.0
    for i in range(d):
        if belief[VARIED, i] > 0.0 and groups[i] == 0:
            count += 1.0
            for j in range(d):
                if belief[VARIED, j] > 0.0 and groups[j] == 0:
                    offsets = (belief[MODE, i] - prior[d, i]) * (belief[MODE, j] - prior[d, j])
                    spread += precision[i, j] * (offsets + belief[COVARIANCE + i, j])
    if count == 0.0:
        return
    slope = math.sqrt((PSEUDO + count) / (PSEUDO + spread))
    for i in range(d):
        here = 1.0 / INTERCEPT if belief[VARIED, i] == 0.0 and features[0, i, 0] != 0.0 else slope
        for j in range(d):
            there = 1.0 / INTERCEPT if belief[VARIED, j] == 0.0 and features[0, j, 0] != 0.0 else slope
            if groups[i] == 0 and groups[j] == 0:
                prior[i, j] = here * there * precision[i, j]


def fit_now(
    belief: Matrix, features: Blocks, labels: Vector, n: int, prior: Matrix, hessian: Matrix, work: Matrix
) -> None:
    """Move the mode to the maximum of the posterior and the covariance to its curvature there, at once."""
    fit(features, labels, n, prior[-1], prior[:-1], belief[MODE], work, hessian)
    invert(hessian, belief[COVARIANCE:], work[TILE:])


@reduction_kernel
def begin(key: Word, n: int, belief: Matrix, prior: Matrix, renewal: Matrix, marks: Vector, work: Matrix) -> None:
    """Begin a pass at the present mode, with probes drawn from the present Gaussian."""
    d = belief.shape[1]
    root, kept = renewal[HESSIAN : HESSIAN + d], renewal[HESSIAN + d : HESSIAN + 2 * d]
    for i in range(d):
        for j in range(i):
            root[i, j] = belief[COVARIANCE + i, j]
            kept[i, j] = 2.0 * root[i, j]
        root[i, i] = kept[i, i] = belief[COVARIANCE + i, i]
    cholesky(root)
    stream = work[SCORES, :1].view(np.uint64)
    stream[0] = derive(key, n)
    for k in range(PROBES):
        probe, noise, length = renewal[HESSIAN + 2 * d + k], work[TRIAL], 0.0
        for i in range(d):
            noise[i] = normal(stream)
            length += noise[i] * noise[i]
            row, shift = root[i], 0.0
            for j in range(i + 1):
                shift += noise[j] * row[j]
            probe[i] = belief[MEAN, i] + shift
        log_prior = 0.0
        for i in range(d):
            log_prior -= 0.5 * pull(prior[:d], prior[d], probe, i) * (probe[i] - prior[d, i])
        marks[PROBE_LOGS + k] = log_prior + 0.5 * length
    for i in range(d):
        renewal[ANCHOR, i] = belief[MODE, i]
    marks[BEGUN], marks[JUDGING] = n, 0.0
    restart(prior, renewal, marks)


@kernel
def restart(prior: Matrix, renewal: Matrix, marks: Vector) -> None:
    """Set the sums at the anchor to what the prior says."""
    d, height = renewal.shape[1], 0.0
    for i in range(d):
        renewal[GRADIENT, i] = -pull(prior[:d], prior[d], renewal[ANCHOR], i)
        height += 0.5 * renewal[GRADIENT, i] * (renewal[ANCHOR, i] - prior[d, i])
        renewal[SKEW, i] = 0.0
        for j in range(d):
            renewal[HESSIAN + i, j] = prior[i, j]
    marks[POSITION] = 0.0
    marks[HEIGHT] = marks[REACHED] = height


@reduction_kernel
def height_block(labels: Vector, start: int, n: int, work: Matrix) -> float:
    """Return ``likelihood_block`` over the first n places whose scores ``add_block`` has left in ``work``."""
    scores, total = work[SCORES], 0.0
    for i in range(n):
        total += labels[start + i] * scores[i] - max(scores[i], 0.0)
    return total - log_product(work[SHRUNK], n)


@reduction_kernel
def quadratic_forms(items: Matrix, first: int, n: int, kept: Matrix, work: Matrix) -> None:
    """Write x_i'Vx_i of n places of a block into the residuals; V by its lower triangle, doubled below the diagonal."""
    residuals, part = work[RESIDUALS], work[SPARE]
    if is_sparse(items, first, n):
        square_forms(kept, items, first, n, residuals, work[TILE:WORK_ROWS])
        return
    for i in range(n):
        residuals[i] = 0.0
    for k in range(kept.shape[0]):
        row = items[k]
        score_block(items, first, n, kept[k, : k + 1], part)
        for i in range(n):
            residuals[i] += part[i] * row[first + i]


@reduction_kernel
def add_skew(items: Matrix, first: int, n: int, kept: Matrix, skew: Vector, work: Matrix) -> None:
    """Add sigma''(z_i) (x_i'Vx_i) x_i over places of a block whose slopes ``add_block`` has left in ``work``."""
    d = skew.size
    scores, weights, residuals = work[SCORES], work[WEIGHTS], work[RESIDUALS]
    quadratic_forms(items, first, n, kept, work)
    for i in range(n):  # sigma'' = sigma' (1 - 2 sigma), and (1 - 2 sigma)^2 = 1 - 4 sigma'
        steep = math.sqrt(max(1.0 - 4.0 * weights[i], 0.0))
        residuals[i] *= weights[i] * (-steep if scores[i] > 0.0 else steep)
    for j in range(d):
        row, total = items[j], 0.0
        for i in range(n):
            total += residuals[i] * row[first + i]
        skew[j] += total


@kernel
def advance(
    rows: int, features: Blocks, labels: Vector, n: int, with_skew: bool, renewal: Matrix, marks: Vector, work: Matrix
) -> bool:
    """Let the pass go over that many more labels; return whether none is left, so that ``finish`` may take its step."""
    d = renewal.shape[1]
    hessian, kept = renewal[HESSIAN : HESSIAN + d], renewal[HESSIAN + d : HESSIAN + 2 * d]
    begun = int(marks[BEGUN])
    while rows > 0 and int(marks[POSITION]) < n:
        position = int(marks[POSITION])
        block, first = position // BLOCK, position % BLOCK
        m = min(rows, BLOCK - first, n - position)
        items = features[block]
        add_block(items, first, m, labels, position, renewal[ANCHOR], renewal[GRADIENT], hessian, work)
        judging = min(m, int(marks[JUDGING]) - position)
        if judging > 0:
            marks[REACHED] += height_block(labels, position, judging, work)
        marks[HEIGHT] += height_block(labels, position, m, work)
        if with_skew:
            add_skew(items, first, m, kept, renewal[SKEW], work)
        certified = min(m, begun - position)
        if certified > 0:
            for k in range(PROBES):
                probe = renewal[HESSIAN + 2 * d + k]
                marks[PROBE_LOGS + k] += likelihood_block(items, first, certified, labels, position, probe, work)
        marks[POSITION] += m
        rows -= m
    return int(marks[POSITION]) >= n


def finish(
    n: int, with_skew: bool, short: float, belief: Matrix, prior: Matrix, renewal: Matrix, marks: Vector, work: Matrix
) -> bool:
    """Take the Newton step that the pass has prepared; return whether the pass has ended, the belief renewed."""
    if not take_step(n, with_skew, short, belief, prior, renewal, marks):
        return False
    invert(renewal[HESSIAN : HESSIAN + belief.shape[1]], belief[COVARIANCE:], work[TILE:])
    return True


@kernel
def take_step(
    n: int, with_skew: bool, short: float, belief: Matrix, prior: Matrix, renewal: Matrix, marks: Vector
) -> bool:
    """Move the mode by the Newton step, or the anchor where the step is long; return whether it was the mode.

    A step that is at most ``short``, in posterior standard deviations, is the last. A long one is shortened to what may
    be trusted, and looked at in another pass. If the log posterior of the labels that it was made from is lower there,
    it is halved until it is not; so an anchor is never worse than the one before, and passes cannot diverge.
    """
    d = belief.shape[1]
    hessian, step = renewal[HESSIAN : HESSIAN + d], renewal[STEP]
    if marks[JUDGING] > 0.0 and marks[REACHED] < marks[BEFORE]:
        for i in range(d):
            step[i] *= 0.5
            renewal[ANCHOR, i] -= step[i]
        restart(prior, renewal, marks)
        return False
    cholesky(hessian)
    solve_forward(hessian, renewal[GRADIENT], step)
    length = math.sqrt(dot(step, step))  # in posterior standard deviations
    solve_backward(hessian, step)
    if length > short:
        share = min(1.0, (2.0 + math.sqrt(d)) / length)
        for i in range(d):
            step[i] *= share
            renewal[ANCHOR, i] += step[i]
        marks[JUDGING], marks[BEFORE] = n, marks[HEIGHT]
        restart(prior, renewal, marks)
        marks[BEGUN] = 0.0  # the probes have been weighed, or were drawn from a Gaussian that was far off
        return False
    for i in range(d):
        belief[MODE, i] = belief[MEAN, i] = renewal[ANCHOR, i] + step[i]
    if with_skew:
        correct(belief, renewal[SKEW], hessian, step)
    if marks[BEGUN] > 0.0:
        accepted = acceptance(marks[PROBE_LOGS:])
        before = marks[ACCEPTANCE]
        marks[ACCEPTANCE] = accepted if before < 0.0 else before + SMOOTHING * (accepted - before)
    marks[ENDED], marks[POSITION] = n, -1.0
    return True


@part
def correct(belief: Matrix, skew: Vector, factor: Matrix, shift: Vector) -> None:
    """Set the mean to the mode - 1/2 V s, at most one posterior standard deviation away."""
    d = shift.size
    solve_forward(factor, skew, shift)
    length = 0.5 * math.sqrt(dot(shift, shift))
    solve_backward(factor, shift)
    scale = -0.5 / max(length, 1.0)
    for i in range(d):
        belief[MEAN, i] = belief[MODE, i] + scale * shift[i]


@part
def acceptance(logs: Vector) -> float:
    """Return the mean of min(w_j, w_k) over pairs of probes, over the mean of w."""
    top = logs[0]
    for k in range(1, logs.size):
        top = max(top, logs[k])
    total = pairs = 0.0
    for j in range(logs.size):
        total += math.exp(logs[j] - top)
        for k in range(j):
            pairs += math.exp(min(logs[j], logs[k]) - top)
    return min(1.0, pairs / (0.5 * (logs.size - 1) * total))
