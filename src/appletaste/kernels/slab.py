"""What if one coefficient were far larger than all others are? A spike-and-slab prior, opened one slab at a time.

The learnt prior gives every coefficient the variance s^2. A coefficient far beyond that scale is then as good as
impossible, although some columns have one. Of each coefficient j we also believe, with probability pi, that its prior
variance is W. Setting the prior variance of j alone from lambda_j to W is a change of rank one, with
delta = 1 / lambda_j - 1 / W and k = delta / (1 - delta V_jj):

    V' = V + k V e_j e_j' V,    m' = m + k (m_j - b_j) V e_j.

How probable that is comes from what the labels alone say of coefficient j, the cavity N(c, 1 / p) with
p = 1 / V_jj - 1 / lambda_j and c = (m_j - b_j) / (V_jj p):

    omega_j = pi N(c; 0, 1 / p + W) / [pi N(c; 0, 1 / p + W) + (1 - pi) N(c; 0, 1 / p + s^2)].

Surprises are looked for in indicators alone: features that are 1 or -1 in the item, as levels and flags are. A number
tells of its coefficient with every item, and costs more to look at than it brings (docs/rules.md). The ramps of a curve
have no slab: the scale of a curve has its own evidence (``posteriors.groups``).
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import kernel, part, reduction_kernel
from .gaussian import COVARIANCE, MODE, VARIED
from .linear import dot
from .renewal import INTERCEPT, PSEUDO
from .types import Blocks, Indices, Matrix, Vector

# Rows of ``slab`` [6, d]: lambda, the prior variances that the belief was made with; s^2, those of the pool; b; W, 0
# where no surprise is looked for (an intercept, whose prior is wide, ramps, and all before the first label); 1 where
# the labels of the last renewal said that a coefficient is a surprise; and V'x of the item asked about last.
IN_FORCE, POOL, ORIGIN, WIDTH, SURPRISING, SCENARIO = range(6)
#: W, in units of the prior's own variance: a standard deviation of 5.
WIDE = 25.0
#: kappa: the scenario must add this share to the variance of the score, or nothing is asked.
NOTICED = 0.1
#: omega from which a coefficient is given the wide prior. At 1/2 a few labels of a new category throw it far out, and
#: what seems not to pay is given up for good: real files cost more then (docs/rules.md).
CERTAIN = 0.8


def make_slab(variances: Vector, mean: Vector) -> Matrix:
    """Return the rows before the first label: no scale is learnt yet that a coefficient could be beyond."""
    none = np.zeros_like(mean)
    return np.stack([variances, variances, mean, none, none, none])


@part
def surprise(j: int, belief: Matrix, slab: Matrix, share: float) -> float:
    """Return omega_j, how probable the wide prior of coefficient j is after the labels; ``share`` is pi."""
    variance = belief[COVARIANCE + j, j]
    told = 1.0 / variance - 1.0 / slab[IN_FORCE, j]
    if told <= 1e-9:
        return share
    found = (belief[MODE, j] - slab[ORIGIN, j]) / (variance * told)
    narrow, wide = 1.0 / told + slab[POOL, j], 1.0 / told + slab[WIDTH, j]
    odds = share / (1.0 - share) * math.sqrt(narrow / wide)
    odds *= math.exp(min(0.5 * found * found * (1.0 / narrow - 1.0 / wide), 700.0))
    return odds / (1.0 + odds)


@kernel
def lift(j: int, variance: float, slab: Matrix) -> float:
    """Return k of coefficient j with this posterior variance; 0: its prior is as wide already.

    Between two renewals V may not belong to the prior to the last digit: a variance above the prior's counts as it.
    """
    if slab[WIDTH, j] <= slab[IN_FORCE, j]:
        return 0.0
    more = 1.0 / slab[IN_FORCE, j] - 1.0 / slab[WIDTH, j]
    return more / (1.0 - more * min(variance, slab[IN_FORCE, j]))


@reduction_kernel
def most_unknown(x: Vector, direction: Vector, variance: float, belief: Matrix, slab: Matrix) -> int:
    """Return the indicator whose wide prior adds most to the variance of the score; -1: none adds much."""
    best, most = -1, NOTICED * variance
    for j in range(x.size):
        if abs(x[j]) == 1.0:
            added = direction[j] * direction[j] * lift(j, belief[COVARIANCE + j, j], slab)
            if added > most:
                best, most = j, added
    return best


@reduction_kernel
def widen(
    j: int, x: Vector, mean: float, variance: float, direction: Vector, belief: Matrix, awaited: Matrix, slab: Matrix
) -> tuple[float, float]:
    """Return the mean and variance of the score if coefficient j has the wide prior; leave V'x in the row of ``slab``.

    ``awaited`` has V as it will be once labels on their way are seen; the mean moves by what was seen.
    """
    row, seen = awaited[COVARIANCE + j], belief[COVARIANCE + j]
    step = direction[j] * lift(j, row[j], slab)
    for i in range(x.size):
        slab[SCENARIO, i] = direction[i] + step * row[i]
    shift = dot(seen, x) * lift(j, seen[j], slab) * (belief[MODE, j] - slab[ORIGIN, j])
    return mean + shift, variance + step * direction[j]


@kernel
def rescale_with_slab(
    belief: Matrix, features: Blocks, groups: Indices, precision: Matrix, prior: Matrix, slab: Matrix
) -> None:
    """Take the EM step for the scale as ``renewal.rescale_prior`` does, without coefficients that are a surprise.

    A feature of group 0 that ``note_surprises`` has found to be one is given the prior variance W, and is no part of
    the pool; neither is one that no longer is, until its belief is made with the scale of the pool. Coefficients of
    other groups stay as they are.
    """
    d = belief.shape[1]
    count = spread = varied = 0.0
    for i in range(d):
        if groups[i] != 0:
            continue
        slab[WIDTH, i] = 0.0 if belief[VARIED, i] == 0.0 and features[0, i, 0] != 0.0 else WIDE / precision[i, i]
        varied += belief[VARIED, i]
        if belief[VARIED, i] > 0.0 and slab[SURPRISING, i] == 0.0 and slab[IN_FORCE, i] != slab[WIDTH, i]:
            offset = belief[MODE, i] - prior[d, i]
            count += 1.0
            spread += precision[i, i] * (offset * offset + belief[COVARIANCE + i, i])
    if varied == 0.0:
        return
    scale = min((PSEUDO + spread) / (PSEUDO + count), WIDE)
    for i in range(d):
        if groups[i] != 0:
            continue
        if slab[WIDTH, i] == 0.0:
            variance = INTERCEPT * INTERCEPT / precision[i, i]
        elif slab[SURPRISING, i] > 0.0:
            variance = slab[WIDTH, i]
        else:
            variance = scale / precision[i, i]
        prior[i, i] = 1.0 / variance
    for i in range(d):
        slab[POOL, i] = scale / precision[i, i]


@kernel
def note_surprises(belief: Matrix, slab: Matrix, share: float) -> None:
    """Note which features that have varied have omega_j > 0.8, when the belief has just been renewed.

    Then m and V say the same. A label against all odds throws m far along Vx and hardly moves V, until the next
    renewal: dozens of coefficients would seem to be surprises at once.
    """
    for i in range(slab.shape[1]):
        found = slab[WIDTH, i] > 0.0 and belief[VARIED, i] > 0.0 and surprise(i, belief, slab, share) > CERTAIN
        slab[SURPRISING, i] = 1.0 if found else 0.0


@kernel
def enforce(prior: Matrix, slab: Matrix) -> None:
    """Note that the belief is now made with the prior as it is."""
    for i in range(slab.shape[1]):
        slab[IN_FORCE, i] = 1.0 / prior[i, i]
