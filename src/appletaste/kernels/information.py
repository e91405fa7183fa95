"""What a rule needs to know about one item: expected regrets and the information in its label.

The score's distribution arrives as points z_m with weights w_m: posterior draws, or the nodes of a quadrature.
"""

from __future__ import annotations

import math

from ._jit import kernel
from .logistic import log_sigmoid, sigmoid
from .types import Vector


@kernel
def expected_regrets(
    scores: Vector, weights: Vector, alarm_price: float, catch_gain: float
) -> tuple[float, float, float]:
    """Return (Delta(0), Delta(1), P(positive)): the expected regret of passing and of acting (eq. RegEst).

    At score z acting costs D(z) = alarm_price - (alarm_price + catch_gain) sigma(z) more than passing, so
    Delta(1) = E max(D, 0) and Delta(0) = E max(-D, 0).
    """
    regret_pass = regret_act = chance = 0.0
    for m in range(scores.size):
        p = sigmoid(scores[m])
        extra = alarm_price * (1.0 - p) - catch_gain * p
        regret_act += weights[m] * max(extra, 0.0)
        regret_pass += weights[m] * max(-extra, 0.0)
        chance += weights[m] * p
    return regret_pass, regret_act, chance


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
