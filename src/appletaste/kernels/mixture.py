"""An item's score under a mixture of Gaussians, one for each sweep: theta | omega_m ~ N(L_m^-T w_m, (L_m L_m')^-1).

Averages over these Gaussians instead of over one draw from each (Rao-Blackwell) have the same mean and less noise.
"""

from __future__ import annotations

import math

from ._jit import kernel
from .gibbs import chance_above, covariance_with_score
from .information import entropy, normal_entropies, normal_outlook
from .linear import dot, solve_backward, solve_forward
from .types import Blocks, Matrix, Vector

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
