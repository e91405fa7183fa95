"""The columns of a map as pairs are made of them: a few functions each (docs/curves.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .columns import Category
from .dates import Date, Days
from .numbers import Number

if TYPE_CHECKING:
    from .feature_map import FeatureMap

#: One column: its functions, each the places that are added up.
Unit = tuple[tuple[int, ...], ...]


def units_of(features: FeatureMap) -> tuple[Unit, ...]:
    """Return the functions of each column that has places of its own.

    A number that bends has two, how far above and how far below its typical value it is in rank: the ramps to either
    side, added up. Another number has its line, a category its levels, a date its cycles and days. What is hashed has
    none, and neither has an interaction.
    """
    ramps = {curve.column.name: curve for curve in features.curves}
    found: list[Unit] = []
    for column in features.columns:
        curve = ramps.get(column.name)
        if curve is not None:
            below = tuple(range(curve.start, curve.start + curve.reference))
            above = tuple(range(curve.start + curve.reference, curve.start + len(curve.names)))
            found.append(tuple(side for side in (below, above) if side))
        elif isinstance(column, Number):
            found.append(((column.start,),))
        elif isinstance(column, Date | Days | Category):
            own = len(column.usual()) or len(column.names)
            found.append(tuple((column.start + place,) for place in range(own)))
    return tuple(unit for unit in found if unit)
