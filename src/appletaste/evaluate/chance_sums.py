"""Sums of P(positive) over items, for each draw of theta: in batches, so that x need never be in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.chances import add_chances, add_paired_chances
from ..logs.stored import Stored

Floats = NDArray[np.float64]
#: To which group each item belongs; -1: to none.
Groups = NDArray[np.int8]
#: Draws of theta that are summed at a time, so that they stay in the cache, and items of an array in a batch.
DRAWS, ITEMS = 200, 2**16
#: The largest score x'middle at which a pair is summed as one: exp(-|z|) is that of 700 beyond, for both of its parts.
FAR = 600.0


def chance_sums(
    x: Floats | Stored, group: Groups, count: int, thetas: Floats, paired: bool = False
) -> tuple[Floats, Floats]:
    """Return sum sigma(x'theta) and sum sigma (1 - sigma) over the items of each group, for each theta: [group, draw].

    Groups are 0 to ``count`` - 1, and -1 for items that nobody asks about. One pass over the items serves all groups.
    ``paired`` says that the second half of the thetas lies opposite to the first, about one middle: half of the work.

    Examples
    --------
    >>> x, thetas = np.array([[0.0], [2.0], [9.0]]), np.array([[0.0], [1.0]])
    >>> sums, spreads = chance_sums(x, np.array([0, 0, -1], dtype=np.int8), 1, thetas)
    >>> sums.round(4).tolist(), spreads.round(4).tolist()
    ([[1.0, 1.3808]], [[0.5, 0.355]])
    """
    rows = np.flatnonzero(group >= 0)
    mine, total = group[rows], np.zeros((count, 2, len(thetas)))
    if isinstance(x, Stored):
        for part in x.each(_by_group, count, thetas, paired, rows=rows, also=mine, what="asking the model"):
            total += part
    else:
        for start in range(0, len(rows), ITEMS):
            some = slice(start, start + ITEMS)
            total += _by_group(x[rows[some]], mine[some], count, thetas, paired)
    return total[:, 0], total[:, 1]


def _by_group(items: Floats, group: Groups, count: int, thetas: Floats, paired: bool) -> Floats:
    """Return both sums over the items of each group in a batch: [group, sum or spread, draw]."""
    found, work = np.zeros((count, 2, len(thetas))), of_pairs if paired else of_batch
    for place in np.unique(group).tolist():
        found[place] = work(items[group == place], thetas)
    return found


def of_batch(items: Floats, thetas: Floats, weights: Floats | None = None) -> Floats:
    """Return both sums over a batch: [sum or spread, draw]; each item counts by its weight, if there are any."""
    items, weights = np.ascontiguousarray(items, dtype=np.float64), _or_ones(weights, items)
    found = np.zeros((2, len(thetas)))
    for start in range(0, len(thetas), DRAWS):
        some = np.ascontiguousarray(thetas[start : start + DRAWS].T)
        sums = np.zeros((2, some.shape[1]))
        add_chances(items, weights, some, sums[0], sums[1], np.empty((3, some.shape[1])))
        found[:, start : start + DRAWS] = sums
    return found


def of_pairs(items: Floats, thetas: Floats, weights: Floats | None = None) -> Floats:
    """Return the same for thetas of which the second half lies opposite to the first."""
    items, weights = np.ascontiguousarray(items, dtype=np.float64), _or_ones(weights, items)
    half = len(thetas) // 2
    middle = 0.5 * (thetas[0] + thetas[half])
    steps = 0.5 * (thetas[:half] - thetas[half:])
    far = np.abs(np.einsum("ij,j->i", items, middle)) > FAR  # a library's threads would wait for one another's work
    if far.any():
        return of_batch(items[far], thetas, weights[far]) + of_pairs(items[~far], thetas, weights[~far])
    found = np.zeros((2, 2, half))
    for start in range(0, half, DRAWS):
        some = np.ascontiguousarray(steps[start : start + DRAWS].T)
        sums, spreads = np.zeros((2, 2, some.shape[1]))
        add_paired_chances(items, weights, middle, some, sums, spreads, np.empty((3, some.shape[1])))
        found[:, :, start : start + DRAWS] = sums, spreads
    return found.reshape(2, 2 * half)


def _or_ones(weights: Floats | None, items: Floats) -> Floats:
    return np.ones(len(items)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
