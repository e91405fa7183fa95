"""Surprises: one coefficient far larger than the others, what it would look like, and what a label says of it.

What if one coefficient were far larger than all others are? A spike-and-slab prior, opened one slab at a time.

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

What a label is worth where one coefficient may be far beyond the learnt scale (docs/rules.md).

Beside the two matrices of ``kernels.value`` a third one, B_x, is the boundary matrix of the items whose surprise was
looked at, each as it would be if the surprise were true.
"""

from __future__ import annotations

import math

import numpy as np

from ._jit import Blocks, Indices, Matrix, Vector, Word, kernel, part, reduction_kernel
from .gaussian import COVARIANCE, DIRECTION, MODE, VARIED, expect_awaiting, score_awaiting, variance_of
from .information import normal_outlook
from .linear import dot
from .random import drawn
from .renewal import INTERCEPT, PSEUDO
from .strangers import join, strange
from .value import (
    AHEAD,
    COUNTED,
    DOUBLE,
    HEAD_START,
    HORIZON,
    LEAST,
    SHARED,
    SPAN,
    acting,
    add_item,
    forms,
    in_doubt,
    remember,
    shrink_memory,
    weigh,
    weigh_forms,
)

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


# Rows of what is told of many items, a column for each item; and how many there are.
PROBABILITY, CHANCE, PRICE, VALUE, COLUMN, OMEGA, STRANGER, TOLD = range(8)


@part
def seasoned(round_: int, settings: Vector) -> float:
    """Return the part of its horizon that a surprise is given: all but the head start, where nobody knows the horizon.

    A stream of a few rounds has not shown yet how often a rare direction comes.
    """
    if settings[HORIZON] > 0.0:
        return 1.0
    head = 5.0 * settings[COUNTED] if settings[AHEAD] == DOUBLE else settings[HEAD_START]
    return round_ / (round_ + head)


@part
def weigh_surprise(
    round_: int,
    mean: float,
    variance: float,
    regret_pass: float,
    regret_act: float,
    chance: float,
    slope: float,
    x: Vector,
    direction: Vector,
    memory: Matrix,
    opened: Matrix,
    settings: Vector,
    belief: Matrix,
    awaited: Matrix,
    slab: Matrix,
    believed: float,
    cut: float,
    alarm_price: float,
    catch_gain: float,
) -> tuple[float, float, float, float, float, float, float, int, float]:
    """Return what ``weigh`` does, or what is worth more: the same with a surprise in mind.

    With omega the probability of the surprise, price and value of a label are (1 - omega) times those of the belief
    and omega times those of the scenario. The value returned is such that value - price is what acting is worth.
    Behind the six comes the item's boundary in the scenario (0: none was opened), the coefficient that was looked at
    for a surprise where that is worth more (-1: none), and omega.
    """
    probability, price, value, share, boundary, told = weigh(
        round_, variance, regret_pass, regret_act, chance, slope, direction, memory, settings
    )
    j = most_unknown(x, direction, variance, awaited, slab)
    if j < 0:
        return probability, price, value, share, boundary, told, 0.0, -1, 0.0
    omega = surprise(j, belief, slab, believed)
    shifted, wider = widen(j, x, mean, variance, direction, belief, awaited, slab)
    found = normal_outlook(shifted, math.sqrt(wider), cut, alarm_price, catch_gain)
    both = settings[AHEAD] != SHARED
    _, inflow = forms(memory, slab[SCENARIO], both) if both else (0.0, 0.0)
    recalled, _ = forms(opened, slab[SCENARIO], opened.shape[0] > 2 * x.size)
    _, other_price, other_value, _, other_boundary, _ = weigh_forms(
        round_, wider, found[0], found[1], found[2], found[3], recalled, inflow, settings
    )
    other_value *= seasoned(round_, settings)
    mixed_price = price + omega * (other_price - price)
    mixed_value = value + omega * (other_value - value)
    if not mixed_value - mixed_price > value - price:
        return probability, price, value, share, boundary, told, other_boundary, -1, omega
    scale = regret_act + regret_pass + omega * (found[0] + found[1])
    probability = max(probability, acting(mixed_price, mixed_value, scale, settings))
    return probability, price, mixed_value - mixed_price + price, share, boundary, told, other_boundary, j, omega


@kernel
def judge_surprise(
    round_: int,
    mean: float,
    variance: float,
    x: Vector,
    direction: Vector,
    memory: Matrix,
    opened: Matrix,
    settings: Vector,
    belief: Matrix,
    awaited: Matrix,
    slab: Matrix,
    believed: float,
    cut: float,
    alarm_price: float,
    catch_gain: float,
) -> tuple[float, tuple[float, float, float, float, float, float, float, int, float]]:
    """Return the chance of a positive and what ``weigh_surprise`` does, in one call: 0.4 us less than in two."""
    regret_pass, regret_act, chance, slope = normal_outlook(mean, math.sqrt(variance), cut, alarm_price, catch_gain)
    found = weigh_surprise(
        round_,
        mean,
        variance,
        regret_pass,
        regret_act,
        chance,
        slope,
        x,
        direction,
        memory,
        opened,
        settings,
        belief,
        awaited,
        slab,
        believed,
        cut,
        alarm_price,
        catch_gain,
    )
    return chance, found


@part
def remember_surprise(x: Vector, opened: Matrix, share: float, boundary: float) -> None:
    """Take an item into B_x; an item with nothing opened takes no pass over it."""
    scale = shrink_memory(opened, share)
    if boundary > 0.0:
        add_item(opened, x, share * boundary / scale, 0.0, opened.shape[0] > 2 * x.size)


@kernel
def remember_both(
    x: Vector,
    act: bool,
    memory: Matrix,
    opened: Matrix,
    settings: Vector,
    share: float,
    boundary: float,
    inflow: float,
    surprising: float,
) -> None:
    """Take an item into the memory and into B_x, as it was weighed."""
    remember(x, act, memory, settings, share, boundary, inflow)
    remember_surprise(x, opened, share, surprising)


@kernel
def weigh_many_surprises(
    action_key: Word,
    first_round: int,
    items: Matrix,
    means: Vector,
    variances: Vector,
    outlooks: Matrix,
    directions: Matrix,
    memory: Matrix,
    opened: Matrix,
    settings: Vector,
    belief: Matrix,
    awaited: Matrix,
    slab: Matrix,
    believed: float,
    cut: float,
    alarm_price: float,
    catch_gain: float,
    awaiting: bool,
    known: Matrix,
    waiting: Matrix,
    told: Matrix,
) -> None:
    """Do what ``weigh_many`` does, with surprises in mind, and write what ``judge_surprise`` tells of each item.

    Where no means are given the items are scored here, in turn. With ``awaiting``, each act shrinks ``awaited`` for
    those behind it and joins the crowd of those ``waiting``; some items are strangers to what is ``known``.
    """
    for k in range(items.shape[0]):
        x = items[k]
        if means.size > 0:
            mean, variance, direction = means[k], variances[k], directions[k]
            regret_pass, regret_act, chance, slope = outlooks[k, 0], outlooks[k, 1], outlooks[k, 2], outlooks[k, 3]
        else:
            mean, variance = score_awaiting(x, belief, awaited)
            direction = awaited[DIRECTION]
            regret_pass, regret_act, chance, slope = normal_outlook(
                mean, math.sqrt(variance), cut, alarm_price, catch_gain
            )
        probability, price, value, share, boundary, inflow, other_boundary, column, omega = weigh_surprise(
            first_round + k,
            mean,
            variance,
            regret_pass,
            regret_act,
            chance,
            slope,
            x,
            direction,
            memory,
            opened,
            settings,
            belief,
            awaited,
            slab,
            believed,
            cut,
            alarm_price,
            catch_gain,
        )
        stranger = strange(x, variance_of(x, belief), variance, known, waiting) if awaiting else 0.0
        if stranger > 0.0:
            probability, chance, price = in_doubt(stranger, chance, price, value, alarm_price, catch_gain, settings)
        told[PROBABILITY, k], told[CHANCE, k], told[PRICE, k], told[VALUE, k] = probability, chance, price, value
        told[COLUMN, k], told[OMEGA, k], told[STRANGER, k] = column, omega, stranger
        act = drawn(action_key, first_round + k, probability)
        remember_both(x, act, memory, opened, settings, share, boundary, inflow, other_boundary)
        if act and awaiting:
            expect_awaiting(x, settings[LEAST], settings[SPAN], belief, awaited)
            join(x, waiting)
