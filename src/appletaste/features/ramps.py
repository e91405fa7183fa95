"""How a number may bend a score: ramps beside its straight line, whose coefficients make a curve (docs/curves.md)."""

from __future__ import annotations

import math
from bisect import bisect_right
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .columns import ColumnEntries, Entries
from .numbers import Number

#: Knots of a curve, and where a table has more number columns than ``MANY``.
KNOTS, FEWER_KNOTS, MANY = 6, 4, 40
#: Distinct values in the warm-up below which a number is a line: two values cannot bend.
LEAST_VALUES = 3
#: The outermost knots are the quantiles at so many standard deviations of a normal law: 1 % of the values are beyond.
OUTERMOST = 2.3


class Curve:
    """The ramps of one number column: piecewise linear between knots, constant beyond them, 0 at the typical value.

    With u(v) the value interpolated to 0 .. K - 1 at the knots, and r the knot with the most weight in the warm-up,
    ramp j of K - 1 is clip(u - j, 0, 1) from r on and clip(j + 1 - u, 0, 1) before. All are divided by sqrt(c), c the
    mean over the warm-up of the sum of their squares: with coefficients N(0, tau^2) a curve adds tau^2 to the variance
    of the score of a usual item. Independent coefficients make the curve a random walk in rank that starts at r. A
    missing value adds nothing.

    Examples
    --------
    >>> import numpy as np
    >>> curve = Curve.fit(Number("age", True, 5.0, False, False), np.array([20.0, 30.0, 30.0, 70.0]), knots=6)
    >>> curve.knots, curve.reference
    ([20.0, 30.0, 70.0], 1)
    >>> [(place, round(height, 4)) for place, height in curve.encode(50.0)]
    [(1, 0.7071)]
    """

    hashed = False
    start: int  #: where its block begins in the vector

    def __init__(self, column: Number, knots: list[float], reference: int, size: float, jumps: bool) -> None:
        self.column, self.knots, self.reference, self.size = column, knots, reference, size
        #: Whether the column has a common value among many others, as amounts that are mostly 0: such scores bend.
        self.jumps = jumps
        self._unit = 1.0 / math.sqrt(size)

    @classmethod
    def fit(cls, column: Number, values: NDArray[np.float64], knots: int) -> Curve | None:
        """Return the curve of a column from the values of the warm-up; None: they are too few to bend."""
        seen = values[~np.isnan(values)]
        levels, counts = np.unique(seen, return_counts=True)
        if len(levels) < LEAST_VALUES:
            return None
        atoms = levels[counts * knots >= len(seen)]
        few = len(levels) <= knots
        places = levels if few else _knots(seen, atoms, knots)
        curve = cls(column, places.tolist(), 0, 1.0, not few and len(atoms) > 0)
        near = np.abs(curve._ranks(seen)[:, None] - np.arange(len(places)))
        curve.reference = int(np.argmax(np.maximum(0.0, 1.0 - near).sum(axis=0)))
        squares = [height**2 for _, height in curve.encode_column(seen)]
        return cls(column, curve.knots, curve.reference, float(np.mean(np.sum(squares, axis=0))), curve.jumps)

    @property
    def names(self) -> list[str]:
        """The names of the ramps."""
        return [f"{self.column.name} ramp {place}" for place in range(1, len(self.knots))]

    def encode(self, value: float) -> Entries:
        """Return the entries of a cell; ramps that are 0 are left out."""
        if value != value:
            return []
        knots, last = self.knots, len(self.knots) - 2
        k = min(max(bisect_right(knots, value) - 1, 0), last)
        u = k + (min(max(value, knots[0]), knots[-1]) - knots[k]) / (knots[k + 1] - knots[k])
        entries = []
        for j in range(last + 1):
            height = min(max(u - j if j >= self.reference else j + 1 - u, 0.0), 1.0)
            if height:
                entries.append((j, height * self._unit))
        return entries

    def encode_column(self, values: NDArray[np.float64]) -> ColumnEntries:
        """Return the entries of a column, each row's as ``encode`` gives them."""
        absent = np.isnan(values)
        u, rows = self._ranks(np.where(absent, self.knots[0], values)), len(values)
        entries = []
        for j in range(len(self.knots) - 1):
            height = np.clip(u - j if j >= self.reference else j + 1 - u, 0.0, 1.0)
            entries.append((np.full(rows, j, np.intp), np.where(absent, 0.0, height * self._unit)))
        return entries

    def _ranks(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return u(v)."""
        knots, last = np.array(self.knots), len(self.knots) - 2
        k = np.clip(np.searchsorted(knots, values, side="right") - 1, 0, last)
        return np.asarray(k + (np.clip(values, knots[0], knots[-1]) - knots[k]) / (knots[k + 1] - knots[k]))

    def header(self) -> dict[str, Any]:
        """Return the curve as JSON, for saving."""
        made = {"knots": self.knots, "reference": self.reference, "size": self.size, "jumps": self.jumps}
        return {"name": self.column.name, **made}


def _knots(seen: NDArray[np.float64], atoms: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return the knots of many values: those that are common by themselves, and quantiles of the rest."""
    rest = seen[~np.isin(seen, atoms)]
    room = most - len(atoms)
    normal = NormalDist()
    at = [normal.cdf(z) for z in (np.linspace(-OUTERMOST, OUTERMOST, room).tolist() if room > 1 else [0.0])]
    return np.unique(np.concatenate([atoms, np.quantile(rest, at)]))
