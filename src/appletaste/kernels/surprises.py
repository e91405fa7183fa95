"""What a label is worth where one coefficient may be far beyond the learnt scale (docs/rules.md, ``kernels.slab``).

Beside the two matrices of ``kernels.value`` a third one, B_x, is the boundary matrix of the items whose surprise was
looked at, each as it would be if the surprise were true.
"""

from __future__ import annotations

import math

from ._jit import kernel, part
from .gaussian import DIRECTION, expect_awaiting, score_awaiting
from .information import normal_outlook
from .random import uniform_at
from .slab import SCENARIO, most_unknown, surprise, widen
from .types import Matrix, Vector, Word
from .value import (
    AHEAD,
    COUNTED,
    DOUBLE,
    HEAD_START,
    HORIZON,
    SHARED,
    acting,
    add_item,
    forms,
    remember,
    shrink_memory,
    weigh,
    weigh_forms,
)

# Rows of what is told of many items, a column for each item; and how many there are.
PROBABILITY, CHANCE, PRICE, VALUE, COLUMN, OMEGA, TOLD = range(7)


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
    told: Matrix,
) -> None:
    """Do what ``weigh_many`` does, with surprises in mind, and write what ``judge_surprise`` tells of each item.

    Where no means are given the items are scored here, in turn: with ``awaiting``, each act shrinks ``awaited`` for
    those behind it.
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
        told[PROBABILITY, k], told[CHANCE, k], told[PRICE, k], told[VALUE, k] = probability, chance, price, value
        told[COLUMN, k], told[OMEGA, k] = column, omega
        act = uniform_at(action_key, first_round + k) < probability
        remember_both(x, act, memory, opened, settings, share, boundary, inflow, other_boundary)
        if act and awaiting:
            expect_awaiting(x, belief, awaited)
