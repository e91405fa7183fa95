"""Labels that are on their way: bought, not yet seen, and not to be bought again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import gaussian as kernels
from ..kernels.logistic import sigmoid
from .base import Arrays, Vector
from .scores.normal import NormalScore

if TYPE_CHECKING:
    from .gaussian import Filter

#: Labels that may come in before the covariance is computed afresh, in two passes over it for each item that waits.
EVERY = 64


class Outstanding:
    """The items that wait for their label, and the covariance as it will be once those are seen.

    A label not yet seen cannot move the mean, but how much it will shrink the covariance hardly depends on what it
    says: V_w = (V^-1 + sum_j w_j x_j x_j')^-1 over the items that wait, w_j = p_j (1 - p_j) with p_j = E sigma(z_j) by
    MacKay's formula sigma(f / sqrt(1 + pi v / 8)). Scores keep the mean and take their variance and direction from
    V_w, so that nothing is paid twice for one piece of knowledge (Desautels, Krause & Burdick 2014 do so for Gaussian
    processes). An act takes one step of rank one; when its label comes, the real information takes the place of the
    expected, and V_w stays until it is computed afresh.
    """

    def __init__(self, belief: Filter) -> None:
        self._belief = belief
        self._items: dict[int, Vector] = {}
        self._awaited = np.zeros_like(belief.matrix)  # laid out as a belief, for its kernels: V_w in the place of V
        self._fresh = False
        self._seen = 0
        self._fades = belief.fades

    def __len__(self) -> int:
        return len(self._items)

    def add(self, key: int, x: Vector) -> None:
        """Note that the label of x is on its way."""
        self._items[key] = x
        if self._fresh:
            self._expect(x)

    def remove(self, key: int) -> None:
        """Note that a label has come, or will never come."""
        if self._items.pop(key, None) is not None:
            self._seen += 1
            if self._seen >= EVERY or not self._items:
                self._fresh = False

    def stand_on(self, belief: Filter) -> None:
        """Go on from another belief, one that has learnt the labels anew."""
        if belief is not self._belief:
            self._belief, self._fresh = belief, False

    @property
    def _current(self) -> bool:
        """Whether V_w is that of the belief as it has faded by now."""
        return self._fresh and self._fades == self._belief.fades

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let scores be asked for that leave no trace: V_w is computed afresh where it would have been without."""
        kept = self._awaited.copy()
        told = self._belief, self._fresh, self._seen, self._fades
        try:
            yield
        finally:
            self._awaited[:] = kept
            self._belief, self._fresh, self._seen, self._fades = told

    def arrays(self) -> Arrays:
        """Return what is on its way and V_w, for saving."""
        d = self._awaited.shape[1]
        return {
            "rounds": np.array(list(self._items), dtype=np.int64),
            "items": np.array(list(self._items.values()), dtype=np.float64).reshape(-1, d),
            "awaited": self._awaited.copy(),
            "progress": np.array([self._current, self._seen], dtype=np.int64),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        items = np.ascontiguousarray(arrays["items"], dtype=np.float64)
        self._items = dict(zip(arrays["rounds"].tolist(), items, strict=True))
        self._awaited[:] = arrays["awaited"]
        fresh, self._seen = arrays["progress"].tolist()
        self._fresh, self._fades = bool(fresh), self._belief.fades

    def score(self, x: Vector) -> NormalScore:
        """Return how the score of x will be distributed about today's mean once the outstanding labels are seen."""
        if not self._current:
            self._renew()
        self._awaited[kernels.MEAN] = self._belief.matrix[kernels.MEAN]
        mean, variance = kernels.score_item(x, self._awaited)
        return NormalScore(mean, variance, self._awaited[kernels.DIRECTION])

    def covariance(self) -> Vector:
        """Return V_w."""
        if not self._current:
            self._renew()
        return np.array(self._awaited[kernels.COVARIANCE :])

    def _renew(self) -> None:
        """Compute V_w afresh, one item that waits after another."""
        self._awaited[:] = self._belief.matrix
        for x in self._items.values():
            self._expect(x)
        self._fresh, self._seen, self._fades = True, 0, self._belief.fades

    def _expect(self, x: Vector) -> None:
        """Take the step of rank one that a label at x will take, whatever it says."""
        mean, variance = kernels.score_item(x, self._awaited)
        weight = _slope(mean / math.sqrt(1.0 + math.pi * variance / 8.0))
        kernels.move(self._awaited, 0.0, weight / (1.0 + weight * variance))


def _slope(z: float) -> float:
    """Return sigma'(z)."""
    p = float(sigmoid(z))
    return p * (1.0 - p)
