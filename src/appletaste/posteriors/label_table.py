"""The labels seen so far, in the layout that kernels read, in storage that grows; and when to go over them anew."""

from __future__ import annotations

import math
import mmap
import sys
from collections.abc import Mapping
from copy import copy
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..kernels.linear import BLOCK
from .belief import Arrays, Vector

CAN_MOVE = sys.platform == "linux"  # mremap: pages change their address, not their contents
#: Renew when there are this many times the labels of the last time: every label up to 16, then ever more rarely.
GROWTH = 1.06


def next_renewal(n: int) -> int:
    """Return the number of labels at which the next renewal begins, after one at n labels."""
    return max(n + 1, math.ceil(GROWTH * n)) if n >= 16 else n + 1


class Growing:
    """An array of zeros, page-aligned, whose first axis grows.

    On Linux its pages are moved, not copied, and take no memory before they are written to: growing 160 MB of items
    takes 0.1 ms, where a copy takes 60. Elsewhere, and while someone else holds a view, it is copied.
    """

    __slots__ = ("_pages", "array")

    def __init__(self, *shape: int) -> None:
        self._pages: mmap.mmap | None = None
        self.array = self._fresh(shape)

    def _fresh(self, shape: tuple[int, ...]) -> NDArray[np.float64]:
        size = max(8 * math.prod(shape), 1)
        if CAN_MOVE:
            self._pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        else:
            self._pages = mmap.mmap(-1, size)
        return np.frombuffer(self._pages, dtype=np.float64, count=math.prod(shape)).reshape(shape)

    def grow(self, length: int) -> None:
        """Make the first axis this long; what is there stays, what is new is zero."""
        shape = (length, *self.array.shape[1:])
        if CAN_MOVE and self._pages is not None:
            kept = self.array.shape
            del self.array  # a map with a view on it cannot move
            try:
                self._pages.resize(8 * math.prod(shape))
            except BufferError:
                shape = kept  # someone else looks at it
            self.array = np.frombuffer(self._pages, dtype=np.float64, count=math.prod(shape)).reshape(shape)
        if len(self.array) < length:
            old = self.array
            self.array = self._fresh((length, *old.shape[1:]))
            self.array[: len(old)] = old

    def held(self) -> Growing:
        """Return the array as it is now, which does not grow."""
        twin = Growing.__new__(Growing)
        twin._pages, twin.array = None, self.array
        return twin


def grow_to(storage: Growing, place: int) -> None:
    """Make room for a place on the first axis; storage doubles."""
    if place >= len(storage.array):
        length = len(storage.array)
        while length <= place:
            length *= 2
        storage.grow(length)


class Labels:
    """A growing table of acted-on items; storage doubles when it is full."""

    __slots__ = ("_features", "_values", "capacity", "n")

    def __init__(self, n_features: int) -> None:
        self._features = Growing(1, n_features, BLOCK)
        self._values = Growing(BLOCK)
        self.capacity = BLOCK
        self.n = 0

    @property
    def features(self) -> NDArray[np.float64]:
        """The items, [block, feature, place in the block]; zeros beyond the last one."""
        return self._features.array

    @property
    def values(self) -> Vector:
        """The labels; zeros beyond the last one."""
        return self._values.array

    def make_room(self, extra: int = 1) -> None:
        """Grow so that this many more labels fit."""
        while self.n + extra > self.capacity:
            self._features.grow(2 * len(self._features.array))
            self.capacity = len(self._features.array) * BLOCK
            self._values.grow(self.capacity)

    def add(self, x: Vector, label: int) -> None:
        """Store one item and its label."""
        self.make_room()
        self.features[self.n // BLOCK, :, self.n % BLOCK] = x
        self.values[self.n] = label
        self.n += 1

    def as_now(self) -> Self:
        """Return the table as it is now, for another thread to read: labels that come later are not in it.

        Nothing is copied. While it is held, storage that grows is copied and not moved.
        """
        twin = copy(self)
        twin._features, twin._values = self._features.held(), self._values.held()
        return twin

    def item(self, place: int) -> Vector:
        """Return the item at a place, in the order they were stored."""
        return np.array(self.features[place // BLOCK, :, place % BLOCK])

    def seen(self) -> Vector:
        """Return the items as the Gaussian sees them, one row each."""
        return self.arrays()["items"].astype(np.float64, copy=False)

    def revised(self, changes: Mapping[int, int | None]) -> tuple[Vector, Vector]:
        """Return items and labels with those at some places changed; None: removed."""
        stored = self.arrays()
        items, values = stored["items"].astype(np.float64), stored["labels"].astype(np.float64)
        for place, label in changes.items():
            values[place] = np.nan if label is None else label
        kept = ~np.isnan(values)
        return np.ascontiguousarray(items[kept]), values[kept]

    def arrays(self) -> Arrays:
        """Return the items seen, one row each, and their labels."""
        blocks, d = -(-self.n // BLOCK), self.features.shape[1]
        rows = np.array(self.features[:blocks].transpose(0, 2, 1), order="C")  # one copy, of what is in use
        return {"items": rows.reshape(blocks * BLOCK, d)[: self.n], "labels": self.values[: self.n].copy()}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> Labels:
        """Rebuild from what ``arrays`` returned."""
        items, values = arrays["items"], arrays["labels"]
        if items.shape != (len(values), n_features):
            raise ValueError(f"{len(values)} labels and items of shape {items.shape} do not fit {n_features} features")
        labels = cls(n_features)
        labels.make_room(len(values))
        for block in range(-(-len(values) // BLOCK)):
            part = items[block * BLOCK : (block + 1) * BLOCK]
            labels.features[block, :, : len(part)] = part.T
        labels.values[: len(values)] = values
        labels.n = len(values)
        return labels
