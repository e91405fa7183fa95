"""The labels seen so far, in the layout the kernels read: one row per feature, room to grow."""

from __future__ import annotations

import numpy as np

from ..kernels.linear import aligned_zeros
from .base import Arrays, Vector

FIRST_CAPACITY = 64


class Labels:
    """A growing table of acted-on items; storage doubles when it is full."""

    __slots__ = ("features", "n", "values")

    def __init__(self, n_features: int) -> None:
        self.features = aligned_zeros(n_features, FIRST_CAPACITY)
        self.values = np.zeros(FIRST_CAPACITY)
        self.n = 0

    def make_room(self) -> None:
        """Grow so that one more label fits."""
        capacity = self.values.size
        if self.n < capacity:
            return
        features = aligned_zeros(len(self.features), 2 * capacity)
        features[:, :capacity] = self.features
        values = np.zeros(2 * capacity)
        values[:capacity] = self.values
        self.features, self.values = features, values

    def add(self, x: Vector, label: int) -> None:
        """Store one item and its label."""
        self.make_room()
        self.features[:, self.n] = x
        self.values[self.n] = label
        self.n += 1

    def arrays(self) -> Arrays:
        """Return the items seen, one row each, and their labels."""
        return {"items": self.features[:, : self.n].T.copy(), "labels": self.values[: self.n].copy()}

    @classmethod
    def from_arrays(cls, arrays: Arrays, n_features: int) -> Labels:
        """Rebuild from what ``arrays`` returned."""
        items, values = arrays["items"], arrays["labels"]
        if items.shape != (len(values), n_features):
            raise ValueError(f"{len(values)} labels and items of shape {items.shape} do not fit {n_features} features")
        labels = cls(n_features)
        for x, label in zip(items, values, strict=True):
            labels.add(x, label)
        return labels
