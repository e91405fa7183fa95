"""The score of an item with levels: normal, with the part that each level has in its variance."""

from __future__ import annotations

from ..base import Vector
from .normal import NormalScore, NormalScores


class LevelScore(NormalScore):
    """z ~ N(mean, variance), V x of the places that hold numbers, and of each level its slot, mean and variance."""

    __slots__ = ("parts",)

    def __init__(self, mean: float, variance: float, direction: Vector, parts: Vector) -> None:
        super().__init__(mean, variance, direction)
        #: [3, columns], see ``kernels.levels``: the belief's own storage, until it is asked again.
        self.parts = parts


class LevelScores(NormalScores):
    """Many scores of items with levels; ``levels`` are [item, 3, column]."""

    __slots__ = ("levels",)

    def __init__(self, means: Vector, variances: Vector, directions: Vector, parts: Vector) -> None:
        super().__init__(means, variances, directions)
        self.levels = parts

    def __getitem__(self, k: int) -> LevelScore:
        return LevelScore(float(self.means[k]), float(self.variances[k]), self.directions[k], self.levels[k])
