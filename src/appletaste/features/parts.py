"""A vector taken apart by the columns it came from: one part each, in words, measured from an average item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from .columns import Column
from .feature_map import INTERCEPT, FeatureMap
from .interactions import TIMES, HashedProduct, Product
from .levels import FIRST, Open
from .ramps import Curve
from .transformer import TransformerMap

Floats = NDArray[np.float64]
#: What makes vectors, or None where they are made elsewhere.
Map = FeatureMap | TransformerMap | None


@dataclass(frozen=True)
class Part:
    """What one column has in a vector: the places that it fills, less what an average item has there."""

    column: str
    words: str  #: what it says of the item: "job = retired", "income is missing"
    places: NDArray[np.intp]
    values: Floats  #: x - reference at these places


def average_item(features: Map, width: int, items: ArrayLike | None = None) -> Floats:
    """Return what parts are measured from: the mean of ``items``, or what a map knows of the average item.

    A map knows the mean of each number, from the warm-up or running on, and that the intercept is 1; levels are
    measured from none, and so is whatever is hashed or comes from elsewhere.
    """
    if items is not None:
        table = np.atleast_2d(np.asarray(items, dtype=np.float64))
        if table.shape[1] != width or not len(table):
            raise InputError(f"reference items must have {width} features each, got shape {table.shape}")
        reference = np.asarray(table.mean(axis=0), dtype=np.float64)
        if isinstance(features, FeatureMap):
            reference[width - features.hashed :] = 0.0
            for column in features.columns:
                if isinstance(column, Open):
                    reference[column.start] = 0.0
        return reference
    reference = np.zeros(width)
    if isinstance(features, FeatureMap):
        if features.encoder.intercept:
            reference[0] = 1.0
        for column in features.columns:
            if not column.hashed:
                usual = column.usual()
                reference[column.start : column.start + len(usual)] = usual
    return reference


def parts_of(
    features: Map,
    x: Floats,
    reference: Floats,
    record: Mapping[str, Any] | None = None,
    trees: Floats | None = None,
) -> list[Part]:
    """Return the parts of a vector; with the intercept at the reference, x = reference + the sum of the parts.

    Columns with many levels have no part: what a level adds is an effect of its own (``level_words`` names it).
    ``trees`` is what each place of the vector has in the score of the trees, a feature behind the others: the part of a
    column then has a share of this feature, too. Shares of columns with many levels are left to those who name them.

    Examples
    --------
    >>> import appletaste as at
    >>> features = at.Encoder().fit([{"age": 30, "job": "student"}, {"age": 50, "job": "retired"}])
    >>> x = features.transform({"age": 50, "job": "pilot"})
    >>> [part.words for part in parts_of(features, x, average_item(features, len(x)))]
    ['age = 50', 'job is another level']
    """
    if not isinstance(features, FeatureMap):
        names = [f"feature {place}" for place in range(1, len(x) + 1)] if features is None else features.names()
        plain = [_part(name, f"{name} = {x[k]:.4g}", [k], x, reference, trees) for k, name in enumerate(names)]
        return [part for part in plain if part.values.any()]
    found = [_part(INTERCEPT, INTERCEPT, [0], x, reference)] if features.encoder.intercept else []
    cells = {} if record is None else features.cells(record)
    said = {
        c.name: c.words(x[c.start : c.start + len(c.names)], cells.get(c.name), record is not None)
        for c in features.columns
    }
    ramps = {curve.column.name: _places(curve) for curve in features.curves}
    for column in features.columns:
        if not column.hashed and not isinstance(column, Open):
            places = [*_places(column), *ramps.get(column.name, ())]
            found.append(_part(column.name, said[column.name], places, x, reference, trees))
    for product in features.products:
        if not product.hashed:
            one, two = product.one.name, product.two.name
            places = _places(product)
            found.append(_part(one + TIMES + two, said[one] + TIMES + said[two], places, x, reference, trees))
    found += _hashed(features, x, record, trees)
    return [part for part in found if part.values.any()]


def level_words(features: Map, x: Floats, place: int, record: Mapping[str, Any] | None = None) -> tuple[str, str]:
    """Return the column whose slots a place holds, and what it says of an item, in words."""
    if isinstance(features, FeatureMap):
        for column in features.columns:
            if isinstance(column, Open) and column.start == place:
                cell = None if record is None else features.cells(record)[column.name]
                return column.name, column.words(x[place : place + 1], cell, record is not None)
    return f"feature {place + 1}", f"level {x[place] - FIRST:.0f} of feature {place + 1}"


def _part(
    column: str, words: str, places: list[int], x: Floats, reference: Floats, trees: Floats | None = None
) -> Part:
    where = np.array(places, dtype=np.intp)
    values = x[where] - reference[where]
    if trees is not None and trees[where].any():
        where, values = np.append(where, len(x)), np.append(values, trees[where].sum())
    return Part(column, words, where, values)


def _places(block: Column | Product | HashedProduct | Curve) -> list[int]:
    return list(range(block.start, block.start + len(block.names)))


def _hashed(features: FeatureMap, x: Floats, record: Mapping[str, Any] | None, trees: Floats | None) -> list[Part]:
    """Return what is hashed: by its own name where the record is known, else by its place.

    Trees look at what an item lacks, too; that is one part.
    """
    if not features.hashed:
        return []
    start = len(x) - features.hashed
    if record is None:
        return [_part(f"hashed {k}", f"hashed {k}", [start + k], x, 0.0 * x, trees) for k in range(features.hashed)]
    entries = [entry for entry in features.named_entries(record) if entry[1] >= start]
    found = [Part(name, name.replace("=", " = "), np.array([place]), np.array([v])) for name, place, v in entries]
    if trees is None:
        return found
    first = {place: k for k, (_, place, _) in reversed(list(enumerate(entries)))}
    for place, k in first.items():
        found[k] = replace(found[k], places=np.array([place, len(x)]), values=np.append(found[k].values, trees[place]))
    absent = np.setdiff1d(np.arange(start, len(x)), list(first))
    rest = Part("other levels", "levels that the item does not have", np.array([len(x)]), trees[absent].sum()[None])
    return [*found, rest]
