"""Sums over labelled items that are mostly zeros: an item costs the pairs of its non-zeros, not all pairs of features.

Items lie in blocks [d, BLOCK], one row per feature. Eight labels are a cache line of each row: they are copied out
together, and the non-zeros of each are packed to the front.
"""

from __future__ import annotations

import numpy as np

from ._jit import Matrix, Vector, Words, kernel, reduction_kernel, reduction_part
from .linear import LANES, add_gram_block

#: Rows of work space: the non-zeros of one item, their places, and the copies of ``LANES`` items.
VALUES, PLACES, COPIES = 0, 1, 2
SPARSE_ROWS = COPIES + LANES
#: A pair of non-zeros takes as long as ``PRICE`` pairs of features in the tiles that sum all of them, and to copy and
#: pack an item as long as ``OVERHEAD`` of them for each feature. Items are looked at where there is something to gain.
PRICE, OVERHEAD, FEWEST = 7.0, 28.0, 40
SAMPLES = 4


@kernel
def is_sparse(items: Matrix, first: int, n: int) -> bool:
    """Return whether pairs of non-zeros are few, by a sample of the n items from ``first``."""
    d, count = items.shape[0], 0
    if d < FEWEST:
        return False
    for k in range(SAMPLES):
        place = first + k * n // SAMPLES
        for j in range(d):
            count += items[j, place] != 0.0
    mean = count / SAMPLES
    return PRICE * mean * mean + OVERHEAD * d < d * d


@reduction_part
def copy_items(items: Matrix, first: int, n: int, work: Matrix) -> None:
    """Copy at most ``LANES`` items, one row each."""
    for j in range(items.shape[0]):
        row = items[j]
        for k in range(n):
            work[COPIES + k, j] = row[first + k]


@reduction_part
def pack(item: Vector, d: int, values: Vector, places: Words) -> int:
    """Write the non-zeros of an item and their places; return how many there are."""
    count = 0
    for j in range(d):
        values[count], places[count] = item[j], j
        count += item[j] != 0.0
    return count


@reduction_kernel
def add_gram(matrix: Matrix, items: Matrix, first: int, n: int, weights: Vector, work: Matrix) -> None:
    """Do what ``add_gram_block`` does, by non-zeros where those are few. Work: [SPARSE_ROWS, n and d or more]."""
    if not is_sparse(items, first, n):
        add_gram_block(matrix, items, first, n, weights, work)
        return
    values, places = work[VALUES], work[PLACES].view(np.uint64)
    for start in range(0, n, LANES):
        lanes = min(LANES, n - start)
        copy_items(items, first + start, lanes, work)
        for k in range(lanes):
            count, weight = pack(work[COPIES + k], matrix.shape[0], values, places), weights[start + k]
            for i in range(count):
                row, entry = matrix[places[i]], weight * values[i]
                for j in range(i + 1):
                    row[places[j]] += entry * values[j]


@reduction_kernel
def square_forms(doubled: Matrix, items: Matrix, first: int, n: int, out: Vector, work: Matrix) -> None:
    """Write x_i'M x_i of n items by their non-zeros; M is its lower triangle, doubled below the diagonal."""
    values, places = work[VALUES], work[PLACES].view(np.uint64)
    for start in range(0, n, LANES):
        lanes = min(LANES, n - start)
        copy_items(items, first + start, lanes, work)
        for k in range(lanes):
            count = pack(work[COPIES + k], doubled.shape[0], values, places)
            total = 0.0
            for i in range(count):
                row, part = doubled[places[i]], 0.0
                for j in range(i + 1):
                    part += row[places[j]] * values[j]
                total += values[i] * part
            out[start + k] = total
