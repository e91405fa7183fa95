"""Sums of P(positive) over items, for each draw of theta: in batches, so that x need never be in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..kernels.chances import add_chances
from ..logs.stored import Stored

Floats = NDArray[np.float64]
#: Draws of theta that are summed at a time, so that they stay in the cache, and items of an array in a batch.
DRAWS, ITEMS = 200, 2**16


def chance_sums(x: Floats | Stored, chosen: NDArray[np.bool_], thetas: Floats) -> tuple[Floats, Floats]:
    """Return sum sigma(x'theta) and sum sigma (1 - sigma) over the chosen items, for each theta (a row of thetas).

    Examples
    --------
    >>> x, thetas = np.array([[0.0], [2.0], [9.0]]), np.array([[0.0], [1.0]])
    >>> sums, spreads = chance_sums(x, np.array([True, True, False]), thetas)
    >>> sums.round(4).tolist(), spreads.round(4).tolist()
    ([1.0, 1.3808], [0.5, 0.355])
    """
    rows = np.flatnonzero(chosen)
    total = np.zeros((2, len(thetas)))
    if isinstance(x, Stored):
        for part in x.each(of_batch, thetas, rows=rows, what="asking the model about passed items"):
            total += part
    else:
        for start in range(0, len(rows), ITEMS):
            total += of_batch(x[rows[start : start + ITEMS]], thetas)
    return total[0], total[1]


def of_batch(items: Floats, thetas: Floats) -> Floats:
    """Return both sums over a batch: [sum or spread, draw]."""
    items = np.ascontiguousarray(items, dtype=np.float64)
    found = np.zeros((2, len(thetas)))
    for start in range(0, len(thetas), DRAWS):
        some = np.ascontiguousarray(thetas[start : start + DRAWS].T)
        sums = np.zeros((2, some.shape[1]))
        add_chances(items, some, sums[0], sums[1], np.empty((3, some.shape[1])))
        found[:, start : start + DRAWS] = sums
    return found
