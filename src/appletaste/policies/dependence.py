"""What trees add over the values of a column, and which columns they take together, over items with labels.

With w the weight of the trees' score s, a column with the value v adds w (s(x, v) - s(x, typical)) to an item x: its
mean over items is the partial dependence of Friedman (2001), and what it varies by is what other columns have to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..features import FeatureMap
from ..features.model_curves import ColumnCurve, Interaction, ModelCurves, TreesAdd
from ..features.views import View, views_of
from ..posteriors import Vector
from .forest import Forest

#: Items that are looked at, at most, evenly spread over those with labels.
ITEMS = 100
#: Columns of which pairs are looked at, pairs that are told, and the least that one of them must move.
COLUMNS, PAIRS, LEAST = 8, 5, 0.05
#: The ends between which eight in ten items lie.
ENDS = 0.1, 0.9


def with_trees(found: ModelCurves, features: FeatureMap, forest: Forest, weight: float, items: Vector) -> ModelCurves:
    """Return the curves of the lines with what trees add to each, and with the strongest pairs of columns."""
    items = items[np.linspace(0, len(items) - 1, min(ITEMS, len(items))).astype(np.intp)]
    used, views = set(forest.used), {v.name: v for column in features.columns for v in views_of(column, features)}
    looked = {name: view for name, view in views.items() if used & set(view.places.tolist())}
    columns = [_with_trees(one, looked.get(one.name), forest, weight, items) for one in found.columns]
    columns.sort(key=lambda column: -column.moves)
    leading = [looked[column.name] for column in columns if column.name in looked][:COLUMNS]
    return replace(found, columns=tuple(columns), pairs=_pairs(leading, forest, weight, items))


def _with_trees(column: ColumnCurve, view: View | None, forest: Forest, weight: float, items: Vector) -> ColumnCurve:
    if view is None:
        return column
    typical = _scores(forest, items, view, view.origin)
    added = weight * np.array([_scores(forest, items, view, row) - typical for row in view.rows])  # [value, item]
    mean, (low, high) = added.mean(axis=1), np.quantile(added, ENDS, axis=1)
    both = mean + np.array(column.mean)
    shares = view.weights
    moves = float(np.sqrt(shares @ (both - shares @ both) ** 2 + shares @ added.var(axis=1)))
    told = TreesAdd(tuple(mean.tolist()), tuple(low.tolist()), tuple(high.tolist()))
    return replace(column, trees=told, moves=moves)


def _scores(forest: Forest, items: Vector, view: View, row: Vector) -> Vector:
    """Return the trees' score of items that have the entries of a row in the places of a column."""
    changed = items.copy()
    changed[:, view.places] = row
    return forest.longer_many(changed)[:, -1]


def _pairs(views: Sequence[View], forest: Forest, weight: float, items: Vector) -> tuple[Interaction, ...]:
    """Return the pairs of columns that add most together beyond what each adds, the other columns as they are.

    Items get the values of other items in one column, in the other, and in both; the root mean square of the second
    difference is 0 where trees only add the two up.
    """
    others, own = np.roll(items, len(items) // 2, axis=0), forest.longer_many(items)[:, -1]
    alone = [_exchanged(forest, items, others, view.places) for view in views]
    found = []
    for (a, one), (b, two) in combinations(enumerate(views), 2):
        both = _exchanged(forest, items, others, np.union1d(one.places, two.places))
        strength = abs(weight) * float(np.sqrt(np.mean((both - alone[a] - alone[b] + own) ** 2)))
        if strength >= LEAST:
            found.append(Interaction(one.name, two.name, strength))
    return tuple(sorted(found, key=lambda pair: -pair.strength)[:PAIRS])


def _exchanged(forest: Forest, items: Vector, others: Vector, places: NDArray[np.intp]) -> Vector:
    changed = items.copy()
    changed[:, places] = others[:, places]
    return forest.longer_many(changed)[:, -1]
