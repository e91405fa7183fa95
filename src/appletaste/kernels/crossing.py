"""With which probability one more Metropolis step ends with an item's score above a cut, in closed form.

Under the Gaussian N(m, V) that proposes, z = x'theta ~ N(mu, s^2) and theta - V x z / s^2 are independent. So a step
may keep the second and propose the first, z' ~ N(mu, s^2), along the line theta + t V x; accepted as any other step, it
leaves the posterior invariant. Draw z' in two parts: its side of the cut, above with probability u = P(z' >= cut), then
z' given its side. Only a proposal for the other side can change the side, so given one z' for the other side, accepted
with probability a, the step ends above the cut with probability

    u a           from a state below the cut,
    1 - (1 - u) a     from one above.

Its mean over states of the posterior is the posterior probability of z >= cut, and where proposals are always accepted
it is u whatever the state. It is neither 0 nor 1, where a state and a drawn step would say one or the other.

A factorised step is accepted if no event of its Poisson process rejects. Thinned to K (|x_i'D|^4 + |x_i'D'|^4) for
label i, events reject with probability max(0, r_i(D) - r_i(D')) over that rate: a is the chance that none does.

Where labels are many most items lie tens of standard deviations from the cut, and a proposal for the other side would
have labels looked at by the thousand. A pair whose rate is beyond that of ``MOST_LOOKS`` is not tried (a = 0), which
the balance allows, as the rate is the same for both orders of the pair: the probability is then 0 or 1, as the state
says.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel
from .anchored import FACTOR, POINT, mean_reach
from .linear import solve_backward
from .logistic import GRADIENT, RESIDUALS, STEP, TRIAL, WEIGHTS
from .metropolis import excess, reach, smooth_part, survival
from .random import derive, normal_between, normal_cdf
from .types import Blocks, Matrix, Vector, Word

#: Labels that a factorised step across the cut looks at, at most on average: so many, and twice those of a usual step.
#: At d = 20 and 10,000 labels the cut is then 6 standard deviations away, and 9 at 100,000.
MOST_LOOKS = 32.0


@kernel
def chance_above(
    key: Word,
    round_: int,
    features: Blocks,
    labels: Vector,
    n: int,
    prior: Matrix,
    theta: Vector,
    height: float,
    anchor: Matrix,
    cubes: Matrix,
    heavy: Vector,
    sums: Vector,
    limit: float,
    mean: float,
    variance: float,
    z: float,
    cut: float,
    whitened: Vector,
    work: Matrix,
) -> float:
    """Return the probability that a step from theta along V x, where x'theta = z, ends with a score above ``cut``.

    ``whitened`` begins with L^-1 x, mean and variance are mu and s^2, ``height`` is log target - log proposal at
    theta or NaN. A negative limit judges the step in full, as in ``run_steps``.
    """
    above, spread = z >= cut, math.sqrt(variance)
    edge = (cut - mean) / spread if 0.0 < variance < math.inf else math.nan
    if not math.isfinite(edge):  # an item of zeros, one so large that x'Vx overflows, or acting never or always pays
        return 1.0 if above else 0.0
    d, fourth = theta.size, cubes.shape[0] > 0
    # Rows of ``work`` that ``objective`` leaves alone.
    offset, offset_there, spare = work[WEIGHTS, :d], work[RESIDUALS, :d], work[GRADIENT, :d]
    stream, pairs = work[STEP, :1].view(np.uint64), work[TRIAL]
    stream[0] = derive(key, round_)
    noise = normal_between(stream, -math.inf, edge) if above else normal_between(stream, edge, math.inf)
    for j in range(d):
        spare[j] = whitened[j]
    solve_backward(anchor[FACTOR : FACTOR + d], spare)
    move = (mean - z + spread * noise) / variance
    for j in range(d):
        offset[j] = theta[j] - anchor[POINT, j]
        offset_there[j] = offset[j] + move * spare[j]
    bounds = reach(anchor, offset, fourth) + reach(anchor, offset_there, fourth)
    if limit >= 0.0:
        if sums[n - 1] * (bounds - 2.0 * mean_reach(d, fourth)) > MOST_LOOKS:
            return 1.0 if above else 0.0
        rise = smooth_part(features, anchor, cubes, heavy, offset_there, pairs)
        rise -= smooth_part(features, anchor, cubes, heavy, offset, pairs)
        accepted = survival(stream, features, n, anchor, sums, fourth, bounds, offset, offset_there, False)
    else:
        if math.isnan(height):
            height = excess(features, labels, n, prior, anchor, 1.0, theta, spare, work)
        there = pairs[:d]
        for j in range(d):
            there[j] = anchor[POINT, j] + offset_there[j]
        rise = excess(features, labels, n, prior, anchor, 1.0, there, spare, work) - height
        accepted = 1.0
    accepted *= math.exp(min(rise, 0.0))
    return 1.0 - normal_cdf(edge) * accepted if above else normal_cdf(-edge) * accepted
