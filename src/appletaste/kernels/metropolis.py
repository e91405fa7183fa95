"""Steps of the exact chain, and the chance that one more step ends above a cut.

With which probability one more Metropolis step ends with an item's score above a cut, in closed form.

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

Metropolis steps for the exact logistic posterior, proposed from the Gaussian of an anchor.

The proposal theta' ~ N(m, H^-1) does not depend on theta. The target is that Gaussian times exp(q + sum_i r_i), with
the cubic part q and the remainders r_i of ``anchored``, where the symbols are: only they decide. Those of heavy labels
count with q. Two ways to accept, both reversible for the posterior:

- in full, with probability min(1, exp(q(D') - q(D) + sum_i [r_i(D') - r_i(D)])): one pass over all labels a step;
- factorised (Ceperley 1995; Cornish et al. 2019), with probability
  min(1, exp(q(D') - q(D))) prod_i min(1, exp(r_i(D') - r_i(D))): label i alone rejects at the first event of a Poisson
  process of rate max(0, r_i(D) - r_i(D')). That is at most c_i (|W'D|^4 + |W'D'|^4), so the events of all labels are
  those of one process of rate C_n (|W'D|^4 + |W'D'|^4), each given to label i with probability c_i / C_n and thinned. A
  step then looks at a few labels however many there are.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Blocks, Matrix, Stream, Vector, Walk, Word, kernel, reduction_kernel
from .anchored import FACTOR, MEAN, POINT, bound, mean_reach, sum_of_cubes
from .linear import BLOCK, solve_backward
from .logistic import GRADIENT, RESIDUALS, STEP, TRIAL, WEIGHTS, log_sigmoid, objective, sigmoid
from .random import derive, exponential, normal, normal_between, normal_cdf, uniform

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


STATES, PROPOSALS = 0, 1  # the two halves of a path [2, steps, d]


@kernel
def run_steps(
    key: Word,
    round_: int,
    features: Blocks,
    labels: Vector,
    n: int,
    prior: Matrix,
    theta: Vector,
    anchor: Matrix,
    cubes: Matrix,
    heavy: Vector,
    sums: Vector,
    limit: float,
    width: float,
    steps: int,
    path: Walk,
    work: Matrix,
) -> tuple[int, float]:
    """Write ``steps`` states after theta, and what was proposed for each.

    Returns how many proposals were accepted, and log target - log proposal at the last state; NaN: not asked for.

    A pair whose rate exceeds ``limit`` is judged in full, any other factorised. The rate is the same for (theta,
    theta') as for (theta', theta), so which of the two it is cannot break the balance between them. A negative
    limit judges all in full, as a width of the proposals other than 1 needs. Nothing it starts from is changed, so
    calling it again gives the same path.
    """
    d = theta.size
    # Rows of ``work`` that ``objective`` leaves alone.
    offset, offset_there, spare = work[WEIGHTS, :d], work[RESIDUALS, :d], work[GRADIENT, :d]
    stream = work[STEP, :1].view(np.uint64)
    pairs = work[TRIAL]
    stream[0] = derive(key, round_)
    total, fourth = sums[n - 1], cubes.shape[0] > 0
    current = theta
    for j in range(d):
        offset[j] = current[j] - anchor[POINT, j]
    reached = reach(anchor, offset, fourth)
    smooth = height = math.nan  # q and the heavy labels, and log target - log proposal: not asked for yet
    accepted = 0
    for step in range(steps):
        proposal = path[PROPOSALS, step]
        propose(stream, anchor, width, proposal)
        for j in range(d):
            offset_there[j] = proposal[j] - anchor[POINT, j]
        reached_there = reach(anchor, offset_there, fourth)
        smooth_there = height_there = math.nan
        if total * (reached + reached_there) <= limit:
            if math.isnan(smooth):
                smooth = smooth_part(features, anchor, cubes, heavy, offset, pairs)
            smooth_there = smooth_part(features, anchor, cubes, heavy, offset_there, pairs)
            bounds = reached + reached_there
            accept = math.log(uniform(stream)) < smooth_there - smooth and (
                survival(stream, features, n, anchor, sums, fourth, bounds, offset, offset_there, True) > 0.0
            )
        else:
            if math.isnan(height):
                height = excess(features, labels, n, prior, anchor, width, current, spare, work)
            height_there = excess(features, labels, n, prior, anchor, width, proposal, spare, work)
            accept = math.log(uniform(stream)) < height_there - height
        if accept:
            accepted += 1
            current = proposal
            reached, smooth, height = reached_there, smooth_there, height_there
            for j in range(d):
                offset[j] = offset_there[j]
        for j in range(d):
            path[STATES, step, j] = current[j]
    return accepted, height


@kernel
def propose(stream: Stream, anchor: Matrix, width: float, out: Vector) -> None:
    """Draw from N(m, width^2 (L L')^-1)."""
    d = out.size
    for j in range(d):
        out[j] = width * normal(stream)
    solve_backward(anchor[FACTOR : FACTOR + d], out)
    for j in range(d):
        out[j] += anchor[MEAN, j]


@reduction_kernel
def reach(anchor: Matrix, offset: Vector, fourth: bool) -> float:
    """Return |W'D|^4, or |W'D|^3 where there are no cubes."""
    d = offset.size
    metric = anchor[FACTOR + d + 1 :]
    squared = 0.0
    for k in range(d):
        total = 0.0
        for j in range(k, d):
            total += metric[j, k] * offset[j]
        squared += total * total
    return squared * squared if fourth else squared * math.sqrt(squared)


@kernel
def smooth_part(features: Blocks, anchor: Matrix, cubes: Matrix, heavy: Vector, offset: Vector, pairs: Vector) -> float:
    """Return q(D) = -sum_i v_i (1 - 2 p_i) (x_i'D)^3 / 6, none without cubes, and the r_i(D) of heavy labels."""
    fourth = cubes.shape[0] > 0
    total = -sum_of_cubes(cubes, offset, pairs) / 6.0 if fourth else 0.0
    for h in range(int(heavy[0])):
        i = int(heavy[1 + h])
        items, place = features[i // BLOCK], i % BLOCK
        z = s = 0.0
        for j in range(offset.size):
            z += items[j, place] * anchor[POINT, j]
            s += items[j, place] * offset[j]
        total += remainder(z, s, fourth)
    return total


@kernel
def excess(
    features: Blocks,
    labels: Vector,
    n: int,
    prior: Matrix,
    anchor: Matrix,
    width: float,
    theta: Vector,
    spare: Vector,
    work: Matrix,
) -> float:
    """Return log posterior - log proposal at theta, up to constants: a pass over all labels."""
    d = theta.size
    squared = 0.0
    for j in range(d):
        spare[j] = theta[j] - anchor[MEAN, j]
    for k in range(d):
        total = 0.0
        for j in range(k, d):
            total += anchor[FACTOR + j, k] * spare[j]
        squared += total * total
    return objective(features, labels, n, prior[0], prior[1:], theta, work) + 0.5 * squared / (width * width)


@kernel
def survival(
    stream: Stream,
    features: Blocks,
    n: int,
    anchor: Matrix,
    sums: Vector,
    fourth: bool,
    bounds: float,
    offset: Vector,
    offset_there: Vector,
    drawn: bool,
) -> float:
    """Return whether no label rejects the move, 1 or 0; ``bounds`` is |W'D|^4 + |W'D'|^4, or of cubes.

    Not ``drawn``: the probability that none does, given the labels of the events.
    """
    total = sums[n - 1]
    rate, chance = total * bounds, 1.0
    clock = exponential(stream)
    while clock < rate:
        i = first_above(sums, n, uniform(stream) * total)
        height = uniform(stream) * share_of(sums, i) * bounds
        z, s, s_there = shifts(features, i, anchor[POINT], offset, offset_there)
        # The powers of s bound the remainders, and spare nearly all looks at logarithms.
        most = bound(s * s, fourth) + bound(s_there * s_there, fourth)
        if height < most:
            fall = remainder(z, s, fourth) - remainder(z, s_there, fourth)
            if not drawn:
                chance *= 1.0 - min(max(fall / most, 0.0), 1.0)
            elif height < fall:
                return 0.0
        clock += exponential(stream)
    return chance


@kernel
def share_of(sums: Vector, i: int) -> float:
    """Return c_i, from the running sums."""
    return sums[i] - (sums[i - 1] if i > 0 else 0.0)


@kernel
def shifts(features: Blocks, i: int, point: Vector, offset: Vector, offset_there: Vector) -> tuple[float, float, float]:
    """Return the score of label i's item at the anchor, and how far the two offsets move it."""
    items, place = features[i // BLOCK], i % BLOCK
    z = s = s_there = 0.0
    for j in range(point.size):
        x = items[j, place]
        z += x * point[j]
        s += x * offset[j]
        s_there += x * offset_there[j]
    return z, s, s_there


@kernel
def first_above(sums: Vector, n: int, value: float) -> int:
    """Return the first i with sums[i] > value, by bisection; the last one if rounding leaves none."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high) >> 1
        if sums[middle] > value:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def remainder(z: float, s: float, fourth: bool) -> float:
    """Return what the expansion of -log(1 + e^(z+s)) in s leaves out from the fourth order on, or from the third.

    For small s by its series, as the rest cancels: its next term is below a thousandth of the last.
    """
    p = sigmoid(z)
    v = p * (1.0 - p)
    third = v * (1.0 - 2.0 * p)
    if abs(s) < 0.05:
        fourth_slope, fifth, sixth = v * (1.0 - 6.0 * v), third * (1.0 - 12.0 * v), v * (1.0 + v * (120.0 * v - 30.0))
        seventh = third * (1.0 + v * (360.0 * v - 60.0))
        rest = -(s**4) * (fourth_slope / 24.0 + s * (fifth / 120.0 + s * (sixth / 720.0 + s * seventh / 5040.0)))
        return rest if fourth else rest - third * s**3 / 6.0
    rest = (log_sigmoid(-z - s) - log_sigmoid(-z)) + s * (p + s * v / 2.0)
    return rest + third * s**3 / 6.0 if fourth else rest
