"""What a label is worth to later decisions, and the memory of items that says so (docs/rules.md has the derivation).

The memory is two matrices, running means over the items seen: the boundary matrix B, of (e / v) x x' with e the
expected regret of the better action and v the variance of the score, and the inflow N, of w x x' over the items acted
on, w = slope^2 / (mu (1 - mu)) being what a label tells about its score.

Both are symmetric, so each is kept as its lower triangle, what is below the diagonal twice: v'Bv is then one sum over
half a matrix. In the row behind them is a number that multiplies both: to forget a little takes no pass over them, and
an item writes only the rows of its non-zeros.
"""

from __future__ import annotations

import math

from ._jit import Matrix, Vector, Word, kernel, part, reduction_kernel
from .random import drawn

# Entries of ``settings``: eta, c, t0, T (0: not known), how far ahead to look, whether the action is drawn, for how
# many rounds a label is remembered on average (infinity: for good), how many features count, and a and b of reviewers
# who err: their labels are 1 with chance a + b sigma(z).
EAGERNESS, FORGETTING, HEAD_START, HORIZON, AHEAD, RANDOMISED, KEPT, COUNTED, LEAST, SPAN = range(10)
SHARED, LINDY, DOUBLE = 0, 1, 2  # values of AHEAD: one horizon for all items, or one each under two views of the future


#: A multiple of the entries that a compiled sum takes at a time: rows are read up to one, and zeros are behind them.
STRIDE = 16
#: Below this the number that multiplies the memory is multiplied in.
SMALL = 1e-100


@reduction_kernel
def forms(memory: Matrix, vector: Vector, both: bool) -> tuple[float, float]:
    """Return v' B v and, of both matrices, v' N v; else 0."""
    d = vector.size
    boundary = inflow = 0.0
    for i in range(d):
        until = min(d, (i // STRIDE + 1) * STRIDE)
        row, part = memory[i, :until], 0.0
        if both:
            other, more = memory[d + i, :until], 0.0
            for j in range(until):
                part += row[j] * vector[j]
                more += other[j] * vector[j]
            inflow += vector[i] * more
        else:
            for j in range(until):
                part += row[j] * vector[j]
        boundary += vector[i] * part
    scale = memory[memory.shape[0] - 1, 0]
    return scale * boundary, scale * inflow


@reduction_kernel
def shrink_memory(memory: Matrix, share: float) -> float:
    """Multiply the memory by 1 - share, and return the number that then multiplies it."""
    last = memory.shape[0] - 1
    memory[last, 0] *= 1.0 - share
    if memory[last, 0] < SMALL:
        for i in range(last):
            row = memory[i]
            for j in range(row.size):
                row[j] *= memory[last, 0]
        memory[last, 0] = 1.0
    return float(memory[last, 0])


@reduction_kernel
def add_item(memory: Matrix, x: Vector, boundary: float, inflow: float, both: bool) -> None:
    """Add boundary x x' to B and, of both matrices, inflow x x' to N."""
    d = x.size
    for i in range(d):
        if x[i] != 0.0:  # most features of an encoded record are zero
            row, entry = memory[i], 2.0 * boundary * x[i]
            if both:
                other, more = memory[d + i], 2.0 * inflow * x[i]
                for j in range(i):
                    row[j] += entry * x[j]
                    other[j] += more * x[j]
                other[i] += 0.5 * more * x[i]
            else:
                for j in range(i):
                    row[j] += entry * x[j]
            row[i] += 0.5 * entry * x[i]


@part
def lasting(rate: float) -> float:
    """Return the integral over s > 0 of 1 / ((1 + s) (1 + r s)^2), with the rate kept within [0.05, 1]: 2.27 to 1/2.

    For how long a label serves, in units of the age of the stream, if it goes on beyond s with probability 1 / (1 + s)
    and other labels wear its use down at this rate. The integral has no bound as the rate goes to 0, and no stream goes
    on for ever. Above 1 the rate tells of labels that arrived while the rule still acted more, and will not again.
    """
    r = min(max(rate, 0.05), 1.0)
    if abs(r - 1.0) < 1e-3:
        return 0.5 - (r - 1.0) / 3.0
    return 1.0 / (r - 1.0) - math.log(r) / ((r - 1.0) * (r - 1.0))


@part
def weigh(
    round_: int,
    variance: float,
    regret_pass: float,
    regret_act: float,
    chance: float,
    slope: float,
    direction: Vector,
    memory: Matrix,
    settings: Vector,
) -> tuple[float, float, float, float, float, float]:
    """Return what ``weigh_forms`` does, with the memory as two matrices."""
    boundary_form, inflow_form = forms(memory, direction, settings[AHEAD] != SHARED)
    return weigh_forms(round_, variance, regret_pass, regret_act, chance, slope, boundary_form, inflow_form, settings)


@kernel
def weigh_forms(
    round_: int,
    variance: float,
    regret_pass: float,
    regret_act: float,
    chance: float,
    slope: float,
    boundary_form: float,
    inflow_form: float,
    settings: Vector,
) -> tuple[float, float, float, float, float, float]:
    """Return the probability of acting on an item, the price of acting and the value of its label.

    Of the memory it takes (Vx)' B (Vx) and (Vx)' N (Vx). Behind the three comes what ``remember`` needs: the item's
    share, boundary and inflow. The item itself counts towards the boundary matrix before it is judged: that adds
    share (e / v) v^2 to the form.
    """
    share, told, boundary, horizon = service(
        round_, variance, regret_pass, regret_act, chance, slope, inflow_form, settings
    )
    gain = (1.0 - share) * boundary_form + share * boundary * variance * variance
    value = settings[EAGERNESS] * horizon * told * gain
    price = regret_act - regret_pass
    return acting(price, value, regret_act + regret_pass, settings), price, value, share, boundary, told


@part
def service(
    round_: int,
    variance: float,
    regret_pass: float,
    regret_act: float,
    chance: float,
    slope: float,
    inflow_form: float,
    settings: Vector,
) -> tuple[float, float, float, float]:
    """Return the share of an item in the means, what its label tells, its boundary and the rounds a label serves."""
    kept = settings[KEPT]
    share = max(settings[FORGETTING] / (round_ - 1.0 + settings[FORGETTING]), 1.0 / kept)
    given, felt = settings[LEAST] + settings[SPAN] * chance, settings[SPAN] * slope
    told = felt * felt / max(given * (1.0 - given), 1e-300)
    boundary = min(regret_pass, regret_act) / variance if variance > 1e-300 else 0.0
    age, known = min(round_ + settings[HEAD_START], kept), settings[HORIZON] > 0.0
    left = min(max(settings[HORIZON] - round_, 0.0) if known else 2.0 * round_ + 10.0 * settings[COUNTED], kept)
    if settings[AHEAD] == SHARED:
        return share, told, boundary, age * left / (age + left) if known else age
    rate = inflow_form / variance if variance > 1e-300 else 0.0
    if known or settings[AHEAD] == DOUBLE:
        return share, told, boundary / (1.0 + rate * left), left
    return share, told, boundary * lasting(rate * age), age


@part
def acting(price: float, value: float, scale: float, settings: Vector) -> float:
    """Return the probability of acting at a price for a label of this value; prices far below the scale are ties."""
    if price <= 1e-10 * scale:  # a tie acts
        return 1.0
    if settings[RANDOMISED] > 0.0:
        return max(0.0, 1.0 - 0.5 * price / value) if value > 0.0 else 0.0
    return 1.0 if price <= value else 0.0


@kernel
def in_doubt(
    stranger: float,
    chance: float,
    price: float,
    value: float,
    alarm_price: float,
    catch_gain: float,
    settings: Vector,
) -> tuple[float, float, float]:
    """Return the probability of acting, the chance and the price, of an item that is a stranger to this share.

    The chance of a stranger is 1/2; the price of acting is linear in the chance (``kernels.strangers``).
    """
    chance += stranger * (0.5 - chance)
    price += stranger * (0.5 * (alarm_price - catch_gain) - price)
    return acting(price, value, abs(alarm_price) + abs(catch_gain), settings), chance, price


@part
def remember(
    x: Vector, act: bool, memory: Matrix, settings: Vector, share: float, boundary: float, inflow: float
) -> None:
    """Take an item into the memory, as it was weighed."""
    scale = shrink_memory(memory, share)
    add_item(memory, x, share * boundary / scale, share * inflow / scale, act and settings[AHEAD] != SHARED)


@kernel
def weigh_many(
    action_key: Word,
    first_round: int,
    items: Matrix,
    variances: Vector,
    outlooks: Matrix,
    directions: Matrix,
    memory: Matrix,
    settings: Vector,
    probabilities: Vector,
) -> None:
    """Judge and remember items one after the other, each action drawn as ``Policy.decide`` draws it."""
    for k in range(items.shape[0]):
        probability, _, _, share, boundary, inflow = weigh(
            first_round + k,
            variances[k],
            outlooks[k, 0],
            outlooks[k, 1],
            outlooks[k, 2],
            outlooks[k, 3],
            directions[k],
            memory,
            settings,
        )
        probabilities[k] = probability
        act = drawn(action_key, first_round + k, probability)
        remember(items[k], act, memory, settings, share, boundary, inflow)


@reduction_kernel
def item_forms(direction: Vector, rows: Matrix, shares: Matrix, n: int) -> tuple[float, float]:
    """Return v' B v and v' N v for B = sum of shares[0, k] x_k x_k' and N = sum of shares[1, k] x_k x_k'."""
    boundary = inflow = 0.0
    for k in range(n):
        row, part = rows[k], 0.0
        for j in range(direction.size):
            part += row[j] * direction[j]
        boundary += shares[0, k] * part * part
        inflow += shares[1, k] * part * part
    return boundary, inflow


@kernel
def remember_item(
    x: Vector, act: bool, rows: Matrix, shares: Matrix, n: int, share: float, boundary: float, inflow: float
) -> None:
    """Take an item into the memory as item n, as ``remember`` does into matrices."""
    for k in range(n):
        shares[0, k] *= 1.0 - share
        shares[1, k] *= 1.0 - share
    for j in range(x.size):
        rows[n, j] = x[j]
    shares[0, n], shares[1, n] = share * boundary, share * inflow if act else 0.0


@kernel
def write_memory(rows: Matrix, shares: Matrix, n: int, memory: Matrix) -> None:
    """Write the same memory as matrices, into zeros: B, and below it N if there is room."""
    memory[memory.shape[0] - 1, 0] = 1.0
    for k in range(n):
        add_item(memory, rows[k], shares[0, k], shares[1, k], memory.shape[0] > 2 * rows.shape[1])
