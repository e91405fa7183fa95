"""The paper's sampler, sweep by sweep, and the mixture of Gaussians that its last sweeps make.

An item's score under a mixture of Gaussians, one for each sweep: theta | omega_m ~ N(L_m^-T w_m, (L_m L_m')^-1).

Averages over these Gaussians instead of over one draw from each (Rao-Blackwell) have the same mean and less noise.

Pólya-Gamma Gibbs sweeps for the logistic posterior (Algorithm GIBBS; Polson, Scott & Windle 2013).

With prior N(b, B), labels y_i and kappa_i = y_i - 1/2, one sweep draws

    omega_i | theta ~ PG(1, x_i'theta),
    theta | omega   ~ N(V c, V),   V^-1 = B^-1 + sum_i omega_i x_i x_i',   c = B^-1 b + sum_i kappa_i x_i,

restricted to Theta if the prior is. With V^-1 = L L' and w = L^-1 c the draw is theta = L^-T (w + normal), and
the score of an item is z | omega ~ N(u'w, u'u) with u = L^-1 x: the factor and w are kept for that.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Blocks, Matrix, Stream, Vector, Word, kernel, reduction_kernel
from .information import entropy, normal_entropies, normal_outlook
from .linear import (
    BLOCK,
    LANES,
    add_gram_block,
    aligned_zeros,
    cholesky,
    dot,
    score_block,
    solve_backward,
    solve_forward,
)
from .logistic import log_sigmoid
from .polya_gamma import draw_block
from .random import derive, normal, normal_between, normal_cdf

MEANS, SPREADS = 0, 1  # rows of ``components`` [2, sweeps]


@kernel
def score_components(x: Vector, systems: Blocks, components: Matrix, spare: Vector) -> None:
    """Write the mean and the standard deviation of z = x'theta for each sweep."""
    d = x.size
    for m in range(systems.shape[0]):
        solve_forward(systems[m, :d], x, spare)
        components[MEANS, m] = dot(spare, systems[m, d])
        components[SPREADS, m] = math.sqrt(dot(spare, spare))


@kernel
def mixture_above(components: Matrix, cut: float) -> float:
    """Return P(z >= cut)."""
    total = 0.0
    for m in range(components.shape[1]):
        total += chance_above(cut, components[MEANS, m], components[SPREADS, m], -math.inf, math.inf)
    return total / components.shape[1]


@kernel
def mixture_outlook(
    components: Matrix, cut: float, alarm_price: float, catch_gain: float
) -> tuple[float, float, float, float]:
    """Return the averages of ``normal_outlook``."""
    count = components.shape[1]
    regret_pass = regret_act = chance = slope = 0.0
    for m in range(count):
        one = normal_outlook(components[MEANS, m], components[SPREADS, m], cut, alarm_price, catch_gain)
        regret_pass, regret_act = regret_pass + one[0], regret_act + one[1]
        chance, slope = chance + one[2], slope + one[3]
    return regret_pass / count, regret_act / count, chance / count, slope / count


@kernel
def mixture_information(components: Matrix) -> float:
    """Return H(E sigma(z)) - E H(sigma(z))."""
    count = components.shape[1]
    chance = within = 0.0
    for m in range(count):
        one = normal_entropies(components[MEANS, m], components[SPREADS, m])
        chance, within = chance + one[0], within + one[1]
    return max(0.0, entropy(chance / count) - within / count)


@kernel
def mixture_direction(x: Vector, systems: Blocks, components: Matrix, out: Vector, spare: Vector) -> None:
    """Write Cov(theta, z) = mean_m V_m x + Cov_m(E[theta | omega_m], E[z | omega_m])."""
    d, count = x.size, systems.shape[0]
    centre = 0.0
    for m in range(count):
        centre += components[MEANS, m] / count
    for j in range(d):
        out[j] = 0.0
    for m in range(count):
        covariance_with_score(systems[m], x, spare)
        for j in range(d):
            out[j] += spare[j] / count
        for j in range(d):
            spare[j] = systems[m, d, j]
        solve_backward(systems[m, :d], spare)
        for j in range(d):  # sum_m (z_m - mean z) = 0, so theta's own mean drops out
            out[j] += (components[MEANS, m] - centre) / count * spare[j]


FREE, BOX, BALL = 0, 1, 2  # kinds of Theta; bounds: BOX lower and upper rows, BALL centre and [radius, ...]

# Rows of the ``belief`` matrix [3 + 2d, d]: c, theta, d rows of B^-1, d rows of L and, below L so that the Cholesky
# factorisation solves for it, w. One array instead of five saves a microsecond of unboxing per call.
LINEAR, THETA, PRECISION, WHITENED = 0, 1, 2, -1

SCRATCH_ROWS = 13


def make_belief(d: int) -> Matrix:
    """Return the belief, all zeros."""
    return np.zeros((PRECISION + 2 * d + 1, d))


def make_scratch(d: int) -> Matrix:
    """Return the work space of ``run_sweeps``."""
    return aligned_zeros(SCRATCH_ROWS, max(BLOCK, d))


@kernel
def run_sweeps(
    key: Word,
    round_: int,
    features: Blocks,
    n: int,
    belief: Matrix,
    kind: int,
    bounds: Matrix,
    burn_in: int,
    draws: Matrix,
    systems: Blocks,
    scratch: Matrix,
) -> None:
    """Run ``burn_in`` sweeps and then one per row of ``draws``, from the carried theta, on this round's stream.

    Leaves the factor L and the whitened mean w of the last sweep; of every sweep in ``systems`` [sweeps, d + 1, d], if
    there is room for them. Nothing it starts from is changed, so calling it again gives the same draws.
    """
    d = belief.shape[1]
    precision, system = belief[PRECISION : PRECISION + d].reshape(-1), belief[PRECISION + d :]
    factor, linear, whitened = system[:d], belief[LINEAR], belief[WHITENED]
    scores, omega, theta, spare = scratch[0], scratch[1], scratch[2, :d], scratch[3, :d]
    words = scratch[4:6].reshape(-1).view(np.uint64)
    index = scratch[6:8].reshape(-1).view(np.int64)
    stream = scratch[8, :1].view(np.uint64)
    draw_scratch, tile, direction = scratch[9:12], scratch[9:13], omega[:d]
    entries = factor.reshape(-1)
    stream[0] = derive(key, round_)
    for j in range(d):
        theta[j] = belief[THETA, j]
    for sweep in range(burn_in + draws.shape[0]):
        for i in range(precision.size):  # the upper triangle too: one flat copy beats d short ones
            entries[i] = precision[i]
        for j in range(d):
            whitened[j] = linear[j]
        for first in range(0, n, BLOCK):
            m = min(BLOCK, n - first)
            # A block is a multiple of LANES and starts as zeros: whole vectors, no scalar remainder.
            padded = (m + LANES - 1) // LANES * LANES
            items = features[first // BLOCK]
            score_block(items, first % BLOCK, padded, theta, scores)
            draw_block(stream, scores, omega, m, words, draw_scratch, index)
            for i in range(m, padded):
                omega[i] = 0.0
            add_gram_block(factor, items, first % BLOCK, padded, omega, tile)
        cholesky(system)
        draw_theta(stream, factor, whitened, kind, bounds, theta, spare, direction)
        if sweep >= burn_in:
            for j in range(d):
                draws[sweep - burn_in, j] = theta[j]
            if systems.shape[0] > 0:
                for i in range(d + 1):
                    for j in range(d):
                        systems[sweep - burn_in, i, j] = system[i, j]


@kernel
def draw_theta(
    stream: Stream,
    factor: Matrix,
    whitened: Vector,
    kind: int,
    bounds: Matrix,
    theta: Vector,
    proposal: Vector,
    direction: Vector,
) -> None:
    """Draw theta | omega in place, restricted to Theta.

    A joint Gaussian draw that lands in Theta is taken; one that does not is replaced by a pass of one-dimensional
    conditional draws. Which of the two happens does not depend on the old theta, so both leave
    the restricted Gaussian invariant.
    """
    d = theta.size
    for i in range(d):
        proposal[i] = whitened[i] + normal(stream)
    solve_backward(factor, proposal)
    if kind == FREE or is_inside(kind, bounds, proposal):
        for i in range(d):
            theta[i] = proposal[i]
        return
    # Along the line theta + s L^-T e_j the Gaussian is N(., 1) in s: d such lines make a pass.
    for j in range(d):
        for i in range(d):
            direction[i] = 0.0
        direction[j] = 1.0
        solve_backward(factor, direction)
        along = -whitened[j]
        for i in range(j, d):
            along += factor[i, j] * theta[i]
        low, high = chord(kind, bounds, theta, direction)
        step = normal_between(stream, low + along, high + along) - along
        for i in range(d):
            theta[i] += step * direction[i]


@kernel
def is_inside(kind: int, bounds: Matrix, theta: Vector) -> bool:
    """Return whether theta lies in Theta."""
    total = 0.0
    for i in range(theta.size):
        if kind == BOX and not bounds[0, i] <= theta[i] <= bounds[1, i]:
            return False
        if kind == BALL:
            total += (theta[i] - bounds[0, i]) ** 2
    return kind != BALL or total <= bounds[1, 0] ** 2


@kernel
def chord(kind: int, bounds: Matrix, theta: Vector, direction: Vector) -> tuple[float, float]:
    """Return the interval of s with theta + s direction in Theta, for theta in it."""
    low, high = -math.inf, math.inf
    if kind == BOX:
        for i in range(theta.size):
            if direction[i] != 0.0:
                one = (bounds[0, i] - theta[i]) / direction[i]
                two = (bounds[1, i] - theta[i]) / direction[i]
                low, high = max(low, min(one, two)), min(high, max(one, two))
    elif kind == BALL:
        a = b = c = 0.0
        for i in range(theta.size):
            offset = theta[i] - bounds[0, i]
            a += direction[i] * direction[i]
            b += direction[i] * offset
            c += offset * offset
        root = math.sqrt(max(0.0, b * b - a * (c - bounds[1, 0] ** 2)))
        low, high = (-b - root) / a, (-b + root) / a
    return min(low, 0.0), max(high, 0.0)


@kernel
def score_item(
    x: Vector, belief: Matrix, kind: int, bounds: Matrix, draws: Matrix, scores: Vector, scratch: Matrix
) -> tuple[float, float, float, float]:
    """Write the score of an item under each draw; return the mean, spread and bounds of its score given omega.

    u = L^-1 x gives mean u'w and variance u'u. Along V x = L^-T u the score moves and nothing independent of it
    does: on the line through theta in that direction z is the same Gaussian, cut off where the line leaves Theta.
    """
    d = x.size
    for m in range(draws.shape[0]):
        scores[m] = dot(draws[m], x)
    factor, u = belief[PRECISION + d : WHITENED], scratch[0, :d]
    solve_forward(factor, x, u)
    mean, spread = dot(u, belief[WHITENED]), math.sqrt(dot(u, u))
    low, high = -math.inf, math.inf
    if kind != FREE and spread > 0.0:
        solve_backward(factor, u)
        low, high = chord(kind, bounds, draws[-1], u)
        low, high = scores[-1] + low * spread * spread, scores[-1] + high * spread * spread
    return mean, spread, low, high


@kernel
def covariance_with_score(system: Matrix, x: Vector, out: Vector) -> None:
    """Write V x = L^-T L^-1 x, from the rows of L and w."""
    solve_forward(system[: x.size], x, out)
    solve_backward(system[: x.size], out)


@kernel
def add_label(features: Blocks, labels: Vector, n: int, belief: Matrix, x: Vector, label: float) -> None:
    """Store label n and add kappa x to the linear term."""
    labels[n] = label
    for j in range(x.size):
        features[n // BLOCK, j, n % BLOCK] = x[j]
        belief[LINEAR, j] += (label - 0.5) * x[j]


@kernel
def chance_above(cut: float, mean: float, spread: float, low: float, high: float) -> float:
    """Return P(z >= cut) for z ~ N(mean, spread^2) restricted to [low, high]."""
    if cut <= low:
        return 1.0
    if cut > high:
        return 0.0
    if spread == 0.0:
        return 1.0 if mean >= cut else 0.0
    a, b, t = (low - mean) / spread, (high - mean) / spread, (cut - mean) / spread
    if a > 0.0:  # all in the upper tail: mirror it, the lower one keeps its digits
        return share_below(-t, -b, -a)
    if b < 0.0:
        return 1.0 - share_below(t, a, b)
    share = (normal_cdf(-t) - normal_cdf(-b)) / (normal_cdf(b) - normal_cdf(a))
    return min(max(share, 0.0), 1.0)  # two roundings of one number may be a bit apart


@kernel
def share_below(t: float, a: float, b: float) -> float:
    """Return P(X <= t) for X ~ N(0, 1) restricted to [a, b], b < 0, by ratios to the tail below b."""
    if b > -30.0:
        whole = normal_cdf(b)
        at_t, at_a = normal_cdf(t) / whole, normal_cdf(a) / whole
    else:  # Mills' ratio: cdf(t) / cdf(b) = exp((b^2 - t^2) / 2) b / t, to one part in b^2
        at_t = math.exp(0.5 * (b - t) * (b + t)) * b / t
        at_a = math.exp(0.5 * (b - a) * (b + a)) * b / a if a > -math.inf else 0.0
    return (at_t - at_a) / (1.0 - at_a) if at_a < 1.0 else 0.5


@reduction_kernel
def log_likelihoods(features: Blocks, labels: Vector, n: int, draws: Matrix, out: Vector) -> None:
    """Write sum_i log l(x_i, theta_m, y_i) for each draw."""
    for m in range(draws.shape[0]):
        total = 0.0
        for i in range(n):
            z = 0.0
            for j in range(draws.shape[1]):
                z += draws[m, j] * features[i // BLOCK, j, i % BLOCK]
            total += log_sigmoid(z if labels[i] > 0.5 else -z)
        out[m] = total
