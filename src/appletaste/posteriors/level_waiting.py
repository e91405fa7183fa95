"""Labels that are on their way, for a belief with an effect for each level."""

from __future__ import annotations

import numpy as np

from ..kernels import gaussian
from .base import Arrays, Vector
from .levels import ROOM, LevelBelief
from .scores.levels import LevelScore
from .storage import Growing, grow_to
from .waiting import Waiting


class LevelWaiting(Waiting):
    """What ``Waiting`` keeps, and for each level the precision that labels on their way will add.

    What a label adds to its levels is taken back when it arrives, so that no label of a rare level counts twice.
    """

    belief: LevelBelief

    def __init__(self, belief: LevelBelief) -> None:
        super().__init__(belief)
        self._columns = len(belief.scales)
        self._width = len(belief.mean)
        self._pending, self._pending_aside = Growing(ROOM, self._columns), Growing(ROOM, self._columns)
        #: What each label on its way adds, by its round; those that came while V_w was due have none yet.
        self._gains: dict[int, Vector] = {}

    def add(self, key: int, x: Vector) -> None:
        """Note that the label of x is on its way."""
        self.hold(key, x)
        if self._fresh:
            self._gains[key] = self._expect(x, self._awaited, self._pending)

    def _expect(self, x: Vector, awaited: Vector, pending: Growing) -> Vector:
        grow_to(pending, int(self.belief.slots_of(x).max()))
        awaited[gaussian.MEAN, :] = self.belief.matrix[gaussian.MEAN]
        return self.belief.expect(x, awaited, pending.array)

    def remove(self, key: int) -> None:
        """Note that a label has arrived, or never will."""
        x, gains = self.items.get(key), self._gains.pop(key, None)
        if x is not None and gains is not None:
            for c, slot in enumerate(self.belief.slots_of(x).astype(int).tolist()):
                left = self._pending.array[slot, c] - gains[c]
                self._pending.array[slot, c] = left if left > 1e-12 else 0.0
        super().remove(key)

    def score(self, x: Vector) -> LevelScore:
        """Return how the score of x will be distributed about today's mean once the labels on their way are seen."""
        awaited = self._now()
        awaited[gaussian.MEAN, :] = self.belief.matrix[gaussian.MEAN]
        pending = self._pending if awaited is self._awaited else self._pending_aside
        return self.belief.asked(x, awaited, pending.array)

    def _compute(self, awaited: Vector) -> None:
        """Compute V_w and the precisions on their way from the belief, one item that waits after another."""
        mine = awaited is self._awaited
        pending, found = self._pending if mine else self._pending_aside, {}
        pending.array[:] = 0.0
        awaited[:] = self.belief.matrix
        for key, x in self.items.items():
            found[key] = self._expect(x, awaited, pending)
        if mine:
            self._gains = found

    def arrays(self) -> Arrays:
        """Return what is on its way, for saving."""
        used = np.flatnonzero(self._pending.array.any(axis=1))
        known = [key for key in self.items if key in self._gains]
        return {
            **super().arrays(),
            "pending": self._pending.array[: int(used[-1]) + 1 if len(used) else 0].copy(),
            "gained": np.array(known, dtype=np.int64),
            "gains": np.array([self._gains[key] for key in known]).reshape(-1, self._columns),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        super().restore(arrays)
        grow_to(self._pending, len(arrays["pending"]) - 1)
        self._pending.array[:] = 0.0
        self._pending.array[: len(arrays["pending"])] = arrays["pending"]
        self._gains = dict(zip(arrays["gained"].tolist(), np.array(arrays["gains"], dtype=np.float64), strict=True))
