"""Pairs of columns that say more together than each by itself, found from the labels seen (docs/curves.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..features.numbers import OPEN
from ..kernels.gaussian import MODE
from ..keys import Key
from ..posteriors import Belief, LaplaceBelief, Vector, WideBelief
from .learner import Added, Arrays
from .pair_evidence import Fit, find_pairs, functions_of
from .widening import Extra

#: Pairs that there may be at most.
MOST = 12
#: Columns that pairs are looked for among: a search compares every two of them.
MOST_COLUMNS = 1000
#: What a saved pair consists of, one row for each product: its columns, and their functions.
ONE, OTHER, ITS_FUNCTION, OTHER_FUNCTION = range(4)


@dataclass(frozen=True)
class Pairs:
    """Products of two columns as features, where the labels speak for them; each pair has a scale of its own.

    ``units`` are the columns, ``FeatureMap.units``: each has some functions of the vector, and a function is the sum of
    the places that it names. At 250, 500, 1,000, … labels the products of every two columns are weighed
    (``pair_evidence``), and up to 12 pairs join.
    """

    units: Any  # kept as tuples: of columns, of their functions, of places

    def __post_init__(self) -> None:
        object.__setattr__(self, "units", _checked(self.units))

    def start(self, groups: tuple[int, ...], key: Key) -> FoundPairs:
        """Return the pairs before the first label: none."""
        n_features = len(groups)
        if len(self.units) > MOST_COLUMNS:
            raise OptionError(
                f"pairs are looked for among {MOST_COLUMNS} columns at most, and there are {len(self.units)}: leave "
                "out pairs, or name those that you expect as interactions of the encoder"
            )
        largest = max((place for unit in self.units for function in unit for place in function), default=-1)
        if largest >= n_features:
            raise OptionError(
                f"pairs name feature {largest}, and there are {n_features}: give pairs=features.units of the map that "
                "makes the vectors"
            )
        return FoundPairs(self.units, n_features, np.zeros((0, 4), dtype=np.int64), np.zeros(0))


class FoundPairs(Extra):
    """The pairs found so far: rows of columns and functions whose product is a feature, and the scale of each."""

    def __init__(
        self, units: tuple[Any, ...], n_features: int, rows: NDArray[np.int64], scales: NDArray[np.float64]
    ) -> None:
        self._units, self._n_features, self._rows, self._scales = units, n_features, rows, scales
        self.keys = tuple(map(tuple, rows.tolist()))
        self.pairs = list(dict.fromkeys((row[ONE], row[OTHER]) for row in rows.tolist()))
        self.groups = tuple(OPEN + 1 + self.pairs.index((row[ONE], row[OTHER])) for row in rows.tolist())
        self._left = self._gathered([units[row[ONE]][row[ITS_FUNCTION]] for row in rows])
        self._right = self._gathered([units[row[OTHER]][row[OTHER_FUNCTION]] for row in rows])

    def _gathered(self, functions: list[tuple[int, ...]]) -> list[NDArray[np.intp]]:
        """Return the places of functions by rank: the first of each, the second of each ...; beyond: a place of 0."""
        longest = max(map(len, functions), default=0)
        padded = [[*places, *[self._n_features] * (longest - len(places))] for places in functions]
        return list(np.array(padded, dtype=np.intp).T) if padded else []

    def of(self, items: Vector) -> Vector:
        """Return the products of items; sums are added in order, so that one item and many give the same bits."""
        padded = np.concatenate([items, np.zeros((len(items), 1))], axis=1)
        one, other = (sum(padded[:, places] for places in side) for side in (self._left, self._right))
        return np.asarray(one * other * self._scales)

    def search(self, items: Vector, labels: Vector, belief: Belief) -> FoundPairs | None:
        """Return the pairs with those that the labels speak for now; None: there are no more."""
        assert isinstance(belief, LaplaceBelief | WideBelief)
        values = [np.stack([items[:, list(places)].sum(axis=1) for places in unit], axis=1) for unit in self._units]
        kept = [functions_of(column) for column in values]
        longer = items if not self.keys else np.concatenate([items, self.of(items)], axis=1)
        fit = Fit.of(longer, labels, belief.matrix[MODE], *belief.prior_now)
        columns = [column[:, own] for column, own in zip(values, kept, strict=True)]
        found = find_pairs(columns, fit, self.pairs, MOST - len(self.pairs))
        if not found:
            return None
        rows, scales = self._rows.tolist(), self._scales.tolist()
        for one, other, scale in found:
            products = [[one, other, f, g] for f in kept[one].tolist() for g in kept[other].tolist()]
            rows += products
            scales += [scale] * len(products)
        return FoundPairs(self._units, self._n_features, np.array(rows, dtype=np.int64), np.array(scales))

    def added(self, first: int) -> tuple[Added, ...]:
        """Return the pairs with the places of their products."""
        mine = np.array([(row[ONE], row[OTHER]) for row in self._rows.tolist()]).reshape(-1, 2)
        return tuple(
            Added(
                first + np.flatnonzero((mine == pair).all(axis=1)),
                (self._units[pair[0]][0][0], self._units[pair[1]][0][0]),
            )
            for pair in self.pairs
        )

    def arrays(self) -> Arrays:
        """Return what was found, for saving."""
        return {"products": self._rows.copy(), "scales": self._scales.copy()}

    def restored(self, arrays: Arrays, items: Vector, labels: Vector) -> FoundPairs:
        """Return what ``arrays`` described."""
        rows = np.asarray(arrays["products"], dtype=np.int64).reshape(-1, 4)
        return FoundPairs(self._units, self._n_features, rows, np.asarray(arrays["scales"], dtype=np.float64))


def _checked(units: Any) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return units as tuples, or say what they are."""
    try:
        found = tuple(tuple(tuple(int(place) for place in function) for function in unit) for unit in units)
    except (TypeError, ValueError):
        found = ((),)
    if not all(unit and all(function and min(function) >= 0 for function in unit) for unit in found):
        raise OptionError(
            f"pairs are found among the columns of a map: give pairs=features.units, got {units!r}. A replay and a "
            "desk know the map, and take pairs=True"
        )
    return found
