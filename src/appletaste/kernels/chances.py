"""Sums of chances over many items, for many draws of theta at once."""

from __future__ import annotations

from ._jit import kernel
from .elementary import exp_minus_abs
from .types import Matrix, Vector


@kernel
def add_chances(items: Matrix, thetas: Matrix, sums: Vector, spreads: Vector, spare: Matrix) -> None:
    """Add sum_i sigma(x_i'theta_k) to ``sums`` and sum_i sigma (1 - sigma) to ``spreads``, item after item.

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
            sums[k] += part if scores[k] >= 0.0 else e * part
            spreads[k] += e * part * part
