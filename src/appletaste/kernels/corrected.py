"""An item's score under the states of a Metropolis chain, and under the Gaussian that proposed them.

With z_k the scores of the K states of a round and z~_k those of the proposals, which are independent draws from the
Gaussian N(m, V),

    E f(z) = E_N(m, V) f + E mean_k [f(z_k) - f(z~_k)]:

the first part is a one-dimensional quadrature, the second has the right mean and vanishes where proposals are accepted
(a control variate).
"""

from __future__ import annotations

import math

from ._jit import kernel
from .anchored import FACTOR, MEAN
from .information import entropy, normal_entropies, normal_outlook
from .linear import dot, solve_backward, solve_forward
from .logistic import log_sigmoid, sigmoid
from .metropolis import PROPOSALS, STATES
from .types import Matrix, Path, Vector

WHITENED = 2  # row of ``scores`` [3, steps or d] after those of the states and the proposals


@kernel
def score_item(x: Vector, anchor: Matrix, path: Path, steps: int, scores: Matrix) -> tuple[float, float]:
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
