"""Expected regrets and the information in a label, by quadrature, of a Gaussian and of a corrected chain.

An item's score under the states of a Metropolis chain, and under the Gaussian that proposed them.

With z_k the scores of the K states of a round and z~_k those of the proposals, which are independent draws from the
Gaussian N(m, V),

    E f(z) = E_N(m, V) f + E mean_k [f(z_k) - f(z~_k)]:

the first part is a one-dimensional quadrature, the second has the right mean and vanishes where proposals are accepted
(a control variate).

What a rule needs to know about one item: expected regrets and the information in its label.

The score's distribution arrives as points z_m with weights w_m, the draws of a sampler, or as a normal distribution,
and then everything is a one-dimensional quadrature, split at the kink of the integrand: 2 x 24 Gauss-Legendre nodes
over seven standard deviations either side. (Gauss-Hermite nodes would straddle the kink.)
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Matrix, Vector, Walk, kernel, part
from .anchored import FACTOR, MEAN
from .linear import dot, solve_backward, solve_forward
from .logistic import log_sigmoid, sigmoid
from .metropolis import PROPOSALS, STATES

WHITENED = 2  # row of ``scores`` [3, steps or d] after those of the states and the proposals


@kernel
def score_item(x: Vector, anchor: Matrix, path: Walk, steps: int, scores: Matrix) -> tuple[float, float]:
    """Write an item's scores under the states and the proposals; return mean and variance of z under the Gaussian.

    Leaves L^-1 x beside the scores.
    """
    d = x.size
    for k in range(steps):
        scores[STATES, k] = dot(path[STATES, k], x)
        scores[PROPOSALS, k] = dot(path[PROPOSALS, k], x)
    whitened = scores[WHITENED, :d]
    solve_forward(anchor[FACTOR : FACTOR + d], x, whitened)
    return dot(x, anchor[MEAN]), dot(whitened, whitened)


@kernel
def direction(anchor: Matrix, scores: Matrix, out: Vector) -> None:
    """Write H^-1 x, from what ``score_item`` left."""
    d = out.size
    for j in range(d):
        out[j] = scores[WHITENED, j]
    solve_backward(anchor[FACTOR : FACTOR + d], out)


@kernel
def corrected_outlook(
    mean: float, spread: float, scores: Matrix, steps: int, cut: float, alarm_price: float, catch_gain: float
) -> tuple[float, float, float, float]:
    """Return what ``expected_regrets`` does, by quadrature and corrected; noise may not leave the range of each."""
    regret_pass, regret_act, chance, slope = normal_outlook(mean, spread, cut, alarm_price, catch_gain)
    for k in range(steps):
        if scores[STATES, k] != scores[PROPOSALS, k]:
            for half in range(2):
                weight = (1.0 if half == STATES else -1.0) / steps
                p = sigmoid(scores[half, k])
                extra = alarm_price * (1.0 - p) - catch_gain * p
                regret_act += weight * max(extra, 0.0)
                regret_pass += weight * max(-extra, 0.0)
                chance += weight * p
                slope += weight * p * (1.0 - p)
    most_pass, most_act = max(0.0, catch_gain, -alarm_price), max(0.0, alarm_price, -catch_gain)
    return (
        min(max(regret_pass, 0.0), most_pass),
        min(max(regret_act, 0.0), most_act),
        min(max(chance, 0.0), 1.0),
        min(max(slope, 0.0), 0.25),
    )


@kernel
def corrected_information(mean: float, spread: float, scores: Matrix, steps: int) -> float:
    """Return H(E sigma(z)) - E H(sigma(z)), both expectations by quadrature and corrected."""
    chance, within = normal_entropies(mean, spread)
    for k in range(steps):
        if scores[STATES, k] != scores[PROPOSALS, k]:
            for half in range(2):
                weight = (1.0 if half == STATES else -1.0) / steps
                z = scores[half, k]
                p = sigmoid(z)
                chance += weight * p
                within -= weight * (p * log_sigmoid(z) + (1.0 - p) * log_sigmoid(-z))
    within = min(max(within, 0.0), math.log(2.0))
    return max(0.0, entropy(min(max(chance, 0.0), 1.0)) - within)


_nodes, _weights = np.polynomial.legendre.leggauss(24)
NODES, NODE_WEIGHTS = 0.5 * (_nodes + 1.0), 0.5 * _weights  # on [0, 1]
REACH = 7.0  # standard deviations either side; 3e-12 of the mass lies beyond


@kernel
def expected_regrets(
    scores: Vector, weights: Vector, alarm_price: float, catch_gain: float
) -> tuple[float, float, float, float]:
    """Return (Delta(0), Delta(1), P(positive), E sigma'): expected regrets of passing and of acting (eq. RegEst).

    At score z acting costs D(z) = alarm_price - (alarm_price + catch_gain) sigma(z) more than passing, so
    Delta(1) = E max(D, 0) and Delta(0) = E max(-D, 0).
    """
    regret_pass = regret_act = chance = slope = 0.0
    for m in range(scores.size):
        p = sigmoid(scores[m])
        extra = alarm_price * (1.0 - p) - catch_gain * p
        regret_act += weights[m] * max(extra, 0.0)
        regret_pass += weights[m] * max(-extra, 0.0)
        chance += weights[m] * p
        slope += weights[m] * p * (1.0 - p)
    return regret_pass, regret_act, chance, slope


@kernel
def entropy(p: float) -> float:
    """Return the entropy of a coin in nats, H(p) = -p log p - (1 - p) log(1 - p)."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return -p * math.log(p) - (1.0 - p) * math.log1p(-p)


@kernel
def mutual_information(scores: Vector, weights: Vector) -> float:
    """Return I(theta; C) = H(mean p) - mean H(p), what the label is expected to tell, in nats."""
    mean, within = 0.0, 0.0
    for m in range(scores.size):
        p = sigmoid(scores[m])
        mean += weights[m] * p
        # H(p) with both logarithms taken from the score: right where p rounds to 0 or 1.
        within -= weights[m] * (p * log_sigmoid(scores[m]) + (1.0 - p) * log_sigmoid(-scores[m]))
    return max(0.0, entropy(mean) - within)


@kernel
def reversed_information(scores: Vector, weights: Vector, posterior_weights: Vector) -> float:
    """Return sum_c P(c) KL(posterior, posterior given c), the paper's information gain (eq. InfEst).

    The ratio of normalising constants D_{t,c} / D_t is the average of l(x, theta_m, c) under ``posterior_weights``:
    the same as ``weights`` in the corrected estimator, proportional to the likelihood of all labels as printed.
    """
    mean = ratio = log_one = log_zero = 0.0
    for m in range(scores.size):
        p = sigmoid(scores[m])
        mean += weights[m] * p
        ratio += posterior_weights[m] * p
        log_one += weights[m] * log_sigmoid(scores[m])
        log_zero += weights[m] * log_sigmoid(-scores[m])
    total = 0.0
    if ratio > 0.0:
        total += mean * (math.log(ratio) - log_one)
    if ratio < 1.0:
        total += (1.0 - mean) * (math.log1p(-ratio) - log_zero)
    return total


@part
def one_side(side: int, mean: float, spread: float, kink: float) -> tuple[float, float]:
    """Return the range of z ~ N(mean, spread^2) below the kink (side 0) or above it; empty where high <= low."""
    low, high = mean - REACH * spread, mean + REACH * spread
    return (low, min(high, kink)) if side == 0 else (max(low, kink), high)


@part
def node(i: int, low: float, high: float, mean: float, spread: float) -> tuple[float, float, float]:
    """Return node i of a range: z, its standardised value u, and its weight, up to one factor for all."""
    z = low + (high - low) * NODES[i]
    u = (z - mean) / spread
    return z, u, (high - low) * NODE_WEIGHTS[i] * math.exp(-0.5 * u * u)


@kernel
def normal_outlook(
    mean: float, spread: float, cut: float, alarm_price: float, catch_gain: float
) -> tuple[float, float, float, float]:
    """Return what ``expected_regrets`` does for z ~ N(mean, spread^2); the regrets have their kink at ``cut``.

    E sigma' comes from Stein's identity, E[sigma(z) (z - mean)] / spread^2, where the slope is narrower than the
    distribution, and from the slope itself where it is wider.
    """
    regret_pass = regret_act = chance = slope = tilt = mass = 0.0
    for side in range(2):
        low, high = one_side(side, mean, spread, cut)
        if high <= low:
            continue
        for i in range(NODES.size):
            z, u, weight = node(i, low, high, mean, spread)
            p = sigmoid(z)
            extra = alarm_price * (1.0 - p) - catch_gain * p
            mass += weight
            chance += weight * p
            slope += weight * p * (1.0 - p)
            tilt += weight * p * u
            regret_act += weight * max(extra, 0.0)
            regret_pass += weight * max(-extra, 0.0)
    if mass == 0.0:  # no spread, or one lost in rounding
        p = sigmoid(mean)
        extra = alarm_price * (1.0 - p) - catch_gain * p
        return max(-extra, 0.0), max(extra, 0.0), p, p * (1.0 - p)
    if spread > 1.0:
        slope = tilt / spread
    return regret_pass / mass, regret_act / mass, chance / mass, slope / mass


@kernel
def normal_entropies(mean: float, spread: float) -> tuple[float, float]:
    """Return (E sigma(z), E H(sigma(z))) for z ~ N(mean, spread^2), split at z = 0 where H is steep for wide z."""
    chance = within = mass = 0.0
    for side in range(2):
        low, high = one_side(side, mean, spread, 0.0)
        if high <= low:
            continue
        for i in range(NODES.size):
            z, _, weight = node(i, low, high, mean, spread)
            p = sigmoid(z)
            mass += weight
            chance += weight * p
            within -= weight * (log_sigmoid(-z) + p * z)  # H(p) = -log(1 - p) - p z
    if mass == 0.0:
        return sigmoid(mean), -(log_sigmoid(-mean) + sigmoid(mean) * mean)
    return chance / mass, within / mass


@kernel
def normal_information(mean: float, spread: float) -> float:
    """Return H(E sigma(z)) - E H(sigma(z)) for z ~ N(mean, spread^2)."""
    chance, within = normal_entropies(mean, spread)
    return max(0.0, entropy(chance) - within)


@kernel
def normal_outlooks(
    means: Vector, variances: Vector, cut: float, alarm_price: float, catch_gain: float, out: Matrix
) -> None:
    """Write ``normal_outlook`` of many scores, one row each."""
    for k in range(means.size):
        found = normal_outlook(means[k], math.sqrt(variances[k]), cut, alarm_price, catch_gain)
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = found
