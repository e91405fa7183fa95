"""Items of a log counted by window and bin, wherever they lie: what a watch compares, without the items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..logs.lazy import LazyColumn, each_batch
from .stability import Bins

Counts = NDArray[np.float64]


def window_counts(x: NDArray[np.float64] | LazyColumn, bins: list[Bins], first: int, window: int) -> list[Counts]:
    """Return how many items are in each bin of each feature, for each full window after the first so many items.

    One array a feature, [window, bin], as ``Bins.count`` has them.
    """
    count = (len(x) - first) // window
    if count <= 0:
        return [np.zeros((0, len(one.edges) + 2)) for one in bins]
    wide = max(len(one.edges) for one in bins) + 2
    found = np.zeros((count, len(bins), wide), dtype=np.int64)
    start = 0
    for places in each_batch(x, places_of, bins, what="comparing features"):
        rows = np.arange(start, start + len(places))
        start += len(places)
        inside = (rows >= first) & (rows < first + count * window)
        which = (rows[inside] - first) // window
        for j in range(len(bins)):
            flat = which * wide + places[inside, j]
            low = int(which[0]) if len(which) else 0
            high = int(which[-1]) + 1 if len(which) else 0
            counted = np.bincount(flat - low * wide, minlength=(high - low) * wide)
            found[low:high, j] += counted.reshape(high - low, wide)
    return [_with_missing(found[:, j], one) for j, one in enumerate(bins)]


def places_of(items: NDArray[np.float64], bins: list[Bins]) -> NDArray[np.int16]:
    """Return the bin of each value: [item, feature]. A log's features are finite, so none is missing."""
    found = np.empty(items.shape, dtype=np.int16)
    for j, one in enumerate(bins):
        found[:, j] = np.searchsorted(one.edges, items[:, j], side="left")
    return found


def _with_missing(counts: NDArray[np.int64], bins: Bins) -> Counts:
    """Return the counts of the bins, and none missing."""
    return np.pad(counts[:, : len(bins.edges) + 1], ((0, 0), (0, 1))).astype(np.float64)
