"""Sums of chances over many items, for many draws of theta at once."""

from __future__ import annotations

import math

from ._jit import Matrix, Vector, kernel
from .logistic import exp_minus_abs


@kernel
def add_chances(items: Matrix, weights: Vector, thetas: Matrix, sums: Vector, spreads: Vector, spare: Matrix) -> None:
    """Add sum_i w_i sigma(x_i'theta_k) to ``sums`` and sum_i w_i sigma (1 - sigma) to ``spreads``, item after item.

    ``thetas`` is [feature, draw], ``spare`` three rows as long as there are draws. Each draw is a lane of the vector
    registers, so the order of every sum is that of the items: 2 ns for an item and a draw of ten features, where NumPy
    takes 38.
    """
    draws = thetas.shape[1]
    scores, small = spare[0], spare[1]
    for i in range(items.shape[0]):
        for k in range(draws):
            scores[k] = 0.0
        for j in range(items.shape[1]):
            value = items[i, j]
            for k in range(draws):
                scores[k] += value * thetas[j, k]
        exp_minus_abs(scores, 0, draws, small, spare[2])
        for k in range(draws):
            e = small[k]
            part = 1.0 / (1.0 + e)
            sums[k] += weights[i] * (part if scores[k] >= 0.0 else e * part)
            spreads[k] += weights[i] * (e * part * part)


@kernel
def add_paired_chances(
    items: Matrix, weights: Vector, middle: Vector, steps: Matrix, sums: Matrix, spreads: Matrix, spare: Matrix
) -> None:
    """Do the same for draws in pairs, middle + step_k and middle - step_k: rows 0 and 1 of ``sums`` and ``spreads``.

    With a = x'middle, b = x'step, A = exp(-|a|) and B = exp(-|b|), the four chances sigma(+-|a| +- |b|) are

        1 / (1 + AB),  AB / (1 + AB),  B / (A + B),  A / (A + B):

    one exponential and one division for two draws, which takes half of the time.
    """
    pairs = steps.shape[1]
    scores, small = spare[0], spare[1]
    for i in range(items.shape[0]):
        centre = 0.0
        for k in range(pairs):
            scores[k] = 0.0
        for j in range(items.shape[1]):
            value = items[i, j]
            centre += value * middle[j]
            for k in range(pairs):
                scores[k] += value * steps[j, k]
        exp_minus_abs(scores, 0, pairs, small, spare[2])
        a = math.exp(-min(abs(centre), 700.0))
        positive = centre >= 0.0
        for k in range(pairs):
            b = small[k]
            ab = a * b
            both = 1.0 / ((1.0 + ab) * (a + b))
            same, apart = (a + b) * both, (1.0 + ab) * both  # 1 / (1 + AB), 1 / (A + B)
            far, near = ab * same * same, (a * apart) * (b * apart)  # sigma (1 - sigma), away from 1/2 and towards it
            upper, lower = (same, b * apart) if positive else (a * apart, ab * same)
            upper_spread, lower_spread = (far, near) if positive else (near, far)
            up = scores[k] >= 0.0
            sums[0, k] += weights[i] * (upper if up else lower)
            sums[1, k] += weights[i] * (lower if up else upper)
            spreads[0, k] += weights[i] * (upper_spread if up else lower_spread)
            spreads[1, k] += weights[i] * (lower_spread if up else upper_spread)
