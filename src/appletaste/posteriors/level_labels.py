"""The labels of items with levels: the dense part of each item, its slots, and the messages of its label."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..features.levels import FIRST
from ..kernels._jit import Indices
from ..kernels.linear import BLOCK
from .base import Arrays, Vector
from .labels import Labels
from .storage import Growing


class LevelLabels(Labels):
    """A growing table of acted-on items as they came; ``kept`` places hold numbers and ``places`` slots.

    ``sites`` [label, 3 C + 2] has for each of C columns the slot, and precision and shift of the message that the label
    sends there; behind them scale and offset with which the dense part sees the item (``kernels.levels``).
    """

    __slots__ = ("_kept", "_places", "_sites")

    def __init__(self, kept: Indices, places: Indices) -> None:
        super().__init__(len(kept))
        self._kept, self._places = kept, places
        self._sites = Growing(BLOCK, 3 * len(places) + 2)

    @property
    def sites(self) -> Vector:
        """Slots and messages; zeros beyond the last label."""
        return self._sites.array

    def make_room(self, extra: int = 1) -> None:
        """Grow so that this many more labels fit."""
        super().make_room(extra)
        if len(self._sites.array) < self.capacity:
            self._sites.grow(self.capacity)

    def item(self, place: int) -> Vector:
        """Return the item at a place, as it came."""
        return np.array(self._whole(super().item(place)[None], self.sites[place : place + 1])[0])

    def revised(self, changes: Mapping[int, int | None]) -> tuple[Vector, Vector]:
        """Return items and labels with those at some places changed; None: removed."""
        values = self.values[: self.n].copy()
        for place, label in changes.items():
            values[place] = np.nan if label is None else label
        stored, kept = self.arrays(), ~np.isnan(values)
        whole = self._whole(stored["items"].astype(np.float64), stored["sites"].astype(np.float64))
        return np.ascontiguousarray(whole[kept]), values[kept]

    def _whole(self, dense: Vector, sites: Vector) -> Vector:
        """Return items with their slots at their places."""
        items = np.empty((len(dense), len(self._kept) + len(self._places)))
        items[:, self._kept] = dense
        items[:, self._places] = FIRST + sites[:, : 3 * len(self._places) : 3]
        return items

    def scaled(self) -> Vector:
        """Return the items as the dense part sees them: times the scale, with the offset behind."""
        items, last = self.arrays()["items"].astype(np.float64), self.sites[: self.n, -2:]
        return np.column_stack([last[:, :1] * items, last[:, 1]])

    def arrays(self) -> Arrays:
        """Return the dense parts, the labels and the sites."""
        return {**super().arrays(), "sites": self.sites[: self.n].copy()}

    def take(self, arrays: Arrays) -> None:
        """Begin with what ``arrays`` returned."""
        before = Labels.from_arrays(arrays, len(self._kept))
        self.n = 0
        self.make_room(before.n)
        self.features[: len(before.features)] = before.features
        self.values[: before.n], self.sites[: before.n] = before.values[: before.n], arrays["sites"]
        self.n = before.n
