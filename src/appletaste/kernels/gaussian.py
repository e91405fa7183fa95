"""A Gaussian belief N(m, V) that takes in one label at a time, in O(d^2).

A label y at x sees theta only through z = x'theta ~ N(f, v), f = x'm, v = x'Vx. Whatever the one-dimensional update
makes of z, theta follows along Vx = Cov(theta, z):

    m += pull Vx,    V -= shrink Vx (Vx)'.

``laplace_step`` takes the mode of z given y and the curvature there; ``adf_step`` the mean and the variance.
"""

from __future__ import annotations

import math

from ._jit import Blocks, Matrix, Vector, kernel, part, reduction_kernel
from .information import NODES, node, one_side
from .linear import BLOCK
from .logistic import sigmoid

# Rows of the ``belief`` matrix [4 + d, d]: the mode m, the mean that scores are computed with (the mode and a
# correction for skew), V x of the item asked about last, whether each feature has varied among the labels, and d rows
# of V, both triangles.
MODE, MEAN, DIRECTION, VARIED, COVARIANCE = 0, 1, 2, 3, 4


@reduction_kernel
def score_along(x: Vector, belief: Matrix, direction: Vector) -> tuple[float, float]:
    """Return the mean and variance of x'theta; leave V x in ``direction``.

    Two rows of V at a time: V x is then read and written half as often, which saves a fifth with 40 of 200 non-zeros.
    """
    d = x.size
    for i in range(d):
        direction[i] = 0.0
    held = -1
    for j in range(d):
        if x[j] == 0.0:  # most features of an encoded record are zero
            continue
        if held < 0:
            held = j
            continue
        one, other, first, second = belief[COVARIANCE + held], belief[COVARIANCE + j], x[held], x[j]
        for i in range(d):
            direction[i] += first * one[i] + second * other[i]
        held = -1
    if held >= 0:
        row, entry = belief[COVARIANCE + held], x[held]
        for i in range(d):
            direction[i] += entry * row[i]
    mean = variance = 0.0
    for i in range(d):
        mean += x[i] * belief[MEAN, i]
        variance += x[i] * direction[i]
    return mean, max(variance, 0.0)


@kernel
def score_item(x: Vector, belief: Matrix) -> tuple[float, float]:
    """Return the mean and variance of x'theta; leave V x in its row."""
    return score_along(x, belief, belief[DIRECTION])


@kernel
def score_many(items: Matrix, belief: Matrix, means: Vector, variances: Vector, directions: Matrix) -> None:
    """Write what ``score_item`` returns and leaves, for every row of ``items``."""
    for k in range(items.shape[0]):
        means[k], variances[k] = score_along(items[k], belief, directions[k])


@reduction_kernel
def move(belief: Matrix, pull: float, shrink: float) -> None:
    """Take in one label along V x."""
    direction = belief[DIRECTION]
    d = direction.size
    for i in range(d):
        belief[MODE, i] += pull * direction[i]
        belief[MEAN, i] += pull * direction[i]
    for j in range(d):
        row, entry = belief[COVARIANCE + j], shrink * direction[j]
        for i in range(d):
            row[i] -= entry * direction[i]


@kernel
def expect(x: Vector, least: float, span: float, belief: Matrix) -> None:
    """Shrink V as a label at x will, whatever it says: w = p (1 - p), p = sigma(f / sqrt(1 + pi v / 8)) (MacKay).

    A label that is 1 with chance q = a + b p, of a reviewer who errs, tells (b w)^2 / (q (1 - q)).
    """
    mean, variance = score_item(x, belief)
    p = sigmoid(mean / math.sqrt(1.0 + math.pi * variance / 8.0))
    weight = p * (1.0 - p)
    if span < 1.0:
        q = least + span * p
        weight = (span * weight / q) * (span * weight / (1.0 - q))
    move(belief, 0.0, weight / (1.0 + weight * variance))


@kernel
def score_awaiting(x: Vector, belief: Matrix, awaited: Matrix) -> tuple[float, float]:
    """Return what ``score_item`` does, with the mean of the belief and V of what it awaits."""
    for i in range(x.size):
        awaited[MEAN, i] = belief[MEAN, i]
    return score_item(x, awaited)


@reduction_kernel
def variance_of(x: Vector, belief: Matrix) -> float:
    """Return x'Vx, and leave no trace."""
    total = 0.0
    for i in range(x.size):
        if x[i] != 0.0:
            row, part = belief[COVARIANCE + i], 0.0
            for j in range(i):
                part += row[j] * x[j]
            total += x[i] * (2.0 * part + row[i] * x[i])
    return max(total, 0.0)


@kernel
def expect_awaiting(x: Vector, least: float, span: float, belief: Matrix, awaited: Matrix) -> None:
    """Shrink V of what is awaited as a label at x will, by the mean of the belief."""
    for i in range(x.size):
        awaited[MEAN, i] = belief[MEAN, i]
    expect(x, least, span, awaited)


@kernel
def expect_many(items: Matrix, least: float, span: float, belief: Matrix) -> None:
    """Shrink V as labels at all these items will, one after the other."""
    for k in range(items.shape[0]):
        expect(items[k], least, span, belief)


#: A variance of z beyond which y - sigma(r) is lost to rounding.
FLAT = 1e12


@kernel
def laplace_step(f: float, v: float, label: float) -> tuple[float, float]:
    """Return (pull, shrink) from the mode r of z given the label: r = f + v (y - sigma(r)).

    Newton's method, kept inside the bracket [f - v, f + v] that holds the root. Where v is large and the label at odds
    with f, steps may jump to and fro over the root for ever: one that is not half of the one before halves the bracket.
    """
    low, high, r = f - v, f + v, f
    if v > FLAT:  # a bracket that halving can get through: |r| is at most log(v) where the label is at odds with f
        reach = math.log1p(v) + 1.0
        if label > 0.5:
            low, high = (f if v <= -2.0 * f else max(f, 0.0)) - 1.0, max(f, 0.0) + reach
        else:
            low, high = min(f, 0.0) - reach, (f if v <= 2.0 * f else min(f, 0.0)) + 1.0
        r = min(max(f, low), high)
    before = math.inf
    for _ in range(60):
        p = sigmoid(r)
        excess = r - f - v * (label - p)
        if excess > 0.0:
            high = r
        else:
            low = r
        step = r - excess / (1.0 + v * p * (1.0 - p))
        if not low <= step <= high or abs(step - r) > 0.5 * before:
            step = 0.5 * (low + high)
        before = abs(step - r)
        settled = before <= 1e-9 * (1.0 + abs(r))
        r = step
        if settled:
            break
    p = sigmoid(r)
    weight = p * (1.0 - p)
    return (r - f) / v if v > FLAT else label - p, weight / (1.0 + v * weight)


@kernel
def adf_step(f: float, v: float, label: float, power: float, least: float, span: float) -> tuple[float, float]:
    """Return (pull, shrink) from the mean and variance of z given the label (assumed-density filtering).

    By quadrature, split at z = 0: for a wide z the likelihood is a step there. A label that counts more or less than
    one has its likelihood raised to that power; that of a reviewer who errs is a + b sigma(z), or a + b sigma(-z).
    """
    spread = math.sqrt(v)
    mass = first = second = 0.0
    for side in range(2):
        low, high = one_side(side, f, spread, 0.0)
        if high <= low:
            continue
        for i in range(NODES.size):
            z, u, weight = node(i, low, high, f, spread)
            likelihood = least + span * sigmoid(z if label > 0.5 else -z)
            weight *= likelihood if power == 1.0 else likelihood**power
            mass += weight
            first += weight * u
            second += weight * u * u
    if mass <= 0.0:  # no variance: nothing to learn; or a label that could not be
        return 0.0, 0.0
    mean = first / mass
    return mean / spread, (1.0 - (second / mass - mean * mean)) / v


@kernel
def learn_adf(x: Vector, label: float, power: float, belief: Matrix) -> None:
    """Take in one label by moment matching; it counts ``power`` of a label."""
    f, v = score_item(x, belief)
    pull, shrink = adf_step(f, v, label, power, 0.0, 1.0)
    move(belief, pull, shrink)


@part
def store_label(x: Vector, label: float, belief: Matrix, features: Blocks, labels: Vector, n: int) -> float:
    """Store an item and its label as label n, and note what has varied; return x'm."""
    f = 0.0
    for j in range(x.size):
        f += x[j] * belief[MODE, j]
        features[n // BLOCK, j, n % BLOCK] = x[j]
        if belief[VARIED, j] == 0.0 and x[j] != features[0, j, 0]:  # the first item lies far apart in memory
            belief[VARIED, j] = 1.0
    labels[n] = label
    return f


@kernel
def learn_laplace(x: Vector, label: float, belief: Matrix, features: Blocks, labels: Vector, n: int) -> None:
    """Take in one label by a Laplace step along V x, and store it as label n."""
    _, v = score_item(x, belief)
    f = store_label(x, label, belief, features, labels, n)
    pull, shrink = laplace_step(f, v, label)
    move(belief, pull, shrink)
