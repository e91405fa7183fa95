"""A column that holds another model's score: a number, as log-odds where it is a probability (docs/curves.md)."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .numbers import Number

if TYPE_CHECKING:
    from .records import Records

#: A group of coefficients numbered so or higher was chosen because it should matter (``posteriors.groups``).
OPEN = 10_000


class Score(Number):
    """The score of another model, yesterday's booster or a vendor's; a probability is taken by its log-odds.

    Where all values of the warm-up lie from 0 to 1, v becomes log(v / (1 - v)): the score x'theta is on that scale, so
    that a score which is right as it stands is a straight line of slope 1. Values nearer to 0 or 1 than ``edge``, half
    the least distance that the warm-up has, are held there: a 0.00 among scores of two digits is read as 0.005.

    Examples
    --------
    >>> score = Score("risk", True, 5.0, False, False, edge=Score.edge_of(np.array([0.5, 0.9, 0.0])))
    >>> round(score.read(0.9, ()), 4), round(score.read(0.0, ()), 4), score.read(None, ())
    (2.1972, -2.9444, nan)
    """

    kind = "score"

    def __init__(
        self, name: str, standardise: bool, clip: float | None, online: bool, indicator: bool, edge: float | None
    ) -> None:
        super().__init__(name, standardise, clip, online, indicator)
        #: How near to 0 and 1 a probability may be; None: the score is no probability and is taken as it is.
        self.edge = edge

    @staticmethod
    def edge_of(values: NDArray[np.float64]) -> float | None:
        """Return how near to 0 and 1 the scores of a warm-up may be taken; None: they are no probabilities."""
        seen = values[~np.isnan(values)]
        near = np.minimum(seen, 1.0 - seen)
        inside = near[near > 0.0]
        return float(inside.min()) / 2.0 if len(inside) and near.min() >= 0.0 else None

    def read(self, value: Any, missing: Collection[str]) -> float:
        """Return a cell as the column takes it, NaN where missing; ValueError where it is no number."""
        return self._taken(super().read(value, missing))

    def cells(self, records: Records) -> NDArray[np.float64]:
        """Return the cells of a table, one for each row."""
        values = records.numbers(self.name)
        return values if self.edge is None else np.array([self._taken(value) for value in values.tolist()])

    def _taken(self, value: float) -> float:
        """Return a score on the scale that it is used on."""
        if self.edge is None or value != value:
            return value
        held = min(max(value, self.edge), 1.0 - self.edge)
        return math.log(held / (1.0 - held))

    def _given(self, taken: float) -> float:
        """Return the score that was taken so."""
        return taken if self.edge is None else 1.0 / (1.0 + math.exp(-taken))

    def value(self, entry: float) -> float:
        """Return the score that an entry stands for, as far as an entry can say."""
        return self._given(super().value(entry))

    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return the score as it was given, or that it is missing."""
        return super().words(block, self._given(cell) if known and cell == cell else cell, known)

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving; the statistics are an array."""
        return {**super().header(), "edge": self.edge}
