"""A column as it can be drawn: values in its own units, and what each of them puts into a vector.

A view is of one number, one category, one cycle of a date or one interaction. Its rows go through the same encoding as
items do, so that nothing that is drawn can differ from what is decided by.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import Category, Column, Hashed
from .dates import CYCLES, WEEKDAYS, Date, places_on
from .interactions import TIMES, HashedProduct
from .numbers import Number
from .seen import FEW, LEVELS, Seen, count_between

if TYPE_CHECKING:
    from .feature_map import FeatureMap
    from .ramps import Curve

Floats = NDArray[np.float64]
#: Values of a number at which a curve is drawn, besides its knots.
GRID = 61
HOURS = 24
#: What is said of a cell without a value, of a level without a place of its own, and of a date that is there.
MISSING, OTHER, GIVEN = "missing", "any other", "given"
#: Cycles whose places have names.
NAMED = {
    "weekday": WEEKDAYS,
    "month": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
}


@dataclass(frozen=True, eq=False)
class View:
    """Rows of values with their entries in a vector, measured from those of the typical value."""

    name: str
    kind: str  #: number, category, date, pair, or what else the column calls itself
    values: tuple[float, ...] | tuple[str, ...]
    places: NDArray[np.intp]  #: of the entries, in the vector
    rows: Floats  #: [value, place], the entries
    origin: Floats  #: [place], the entries of the typical value
    typical: float | str | None  #: the most usual value; None: there is none by itself
    weights: Floats  #: the share of what was seen at each value
    seen: Seen
    missing: Floats | None = None  #: the entries of a missing value, where that is none of the values
    count: Callable[[Floats], list[int]] | None = None  #: counts vectors by bin or level; None: vectors do not say


@singledispatch
def seen_in(column: Column, cells: NDArray[Any]) -> dict[str, Seen]:
    """Return what was seen of a column, by the name of each of its views."""
    return {column.name: Seen.of_levels(cells.tolist())}


@seen_in.register(Category)
def _(column: Category, cells: NDArray[Any]) -> dict[str, Seen]:
    return {column.name: Seen.of_levels(cells.tolist(), max(LEVELS, len(column.numbered)))}


@seen_in.register(Number)
def _(column: Number, cells: NDArray[Any]) -> dict[str, Seen]:
    return {column.name: Seen.of_numbers(cells)}


@seen_in.register(Date)
def _(column: Date, cells: NDArray[Any]) -> dict[str, Seen]:
    wall = cells[:, 0]
    known, missing = wall[~np.isnan(wall)], int(np.isnan(wall).sum())
    found = {}
    for cycle in column.cycles:
        places, turns = _shown(np.array(places_on(known, cycle), dtype=np.int64), cycle)
        found[f"{column.name} {cycle}"] = Seen.of_places(places, turns, missing)
    if column.since is not None:
        found[column.numbers[-1].name] = Seen.of_numbers(cells[:, 1])
    found[f"{column.name} {GIVEN}"] = Seen((), (GIVEN, MISSING), (len(known), missing))
    return found


@singledispatch
def views_of(column: Column, features: FeatureMap) -> list[View]:
    """Return the views of a column; none where nothing is known of how to draw it, or nothing was seen."""
    return []


@views_of.register(Number)
def _(column: Number, features: FeatureMap) -> list[View]:
    seen = features.seen.get(column.name, Seen())
    if not column.count or not seen.edges:
        return []
    kind = "number" if column.kind == "days" else column.kind
    bends = next((curve for curve in features.curves if curve.column is column), None)
    return [_number(column, kind, column.start, seen, bends)]


@views_of.register(Category)
def _(column: Category, features: FeatureMap) -> list[View]:
    seen, levels = features.seen.get(column.name, Seen()), column.shown()
    counts = [*map(seen.of, levels), *([seen.missing] if column.missing else [])]
    counts.append(sum(seen.counts) + seen.missing + seen.others - sum(counts))
    values = (*levels, *([MISSING] if column.missing else []), OTHER)
    width = len(column.names)  # with places that are free, at which no value has an entry
    taken = np.array([*range(len(levels)), *range(column.room, width)])
    rows, places = np.eye(width)[taken], column.start + np.arange(width)
    count = partial(_filled, column.start + taken)
    return [_levels(column.name, "category", values, places, rows, counts, count)]


@views_of.register(Hashed)
def _(column: Hashed, features: FeatureMap) -> list[View]:
    seen = features.seen.get(column.name, Seen())
    levels = [*seen.levels, *([None] if seen.missing else [])]
    if not levels:
        return []
    (entries, _), *_ = column.encode_column(np.array(levels, dtype=object), update=False)
    places, back = np.unique(entries, return_inverse=True)
    values = tuple(MISSING if level is None else level for level in levels)
    counts = [*seen.counts, *([seen.missing] if seen.missing else [])]
    return [_levels(column.name, "category", values, column.start + places, np.eye(len(places))[back], counts)]


@views_of.register(Date)
def _(column: Date, features: FeatureMap) -> list[View]:
    found = [_cycle(column, k, features.seen.get(f"{column.name} {cycle}")) for k, cycle in enumerate(column.cycles)]
    if column.since is not None:
        days = column.numbers[-1]
        seen = features.seen.get(days.name, Seen())
        if days.count and seen.edges:
            found.append(_number(days, "date", column.start + len(column.numbers) - 1, seen, None))
    if column.indicator:
        name = f"{column.name} {GIVEN}"
        place = np.array([column.start + len(column.numbers)])
        seen = features.seen.get(name, Seen((), (), (1, 0)))
        rows = np.array([[0.0], [1.0]])
        found.append(_levels(name, "date", (GIVEN, MISSING), place, rows, list(seen.counts), partial(_given, place)))
    return found


def pairs_of(features: FeatureMap, views: list[View]) -> list[View]:
    """Return a view of each interaction: a row for each product of two entries of 1.

    Where a number takes part, 1 is one standard deviation above its mean. How often a product was seen is taken from
    its two columns as if they were independent. What is hashed has no places of its own, and no view.
    """
    found = []
    for product in features.products:
        if not isinstance(product, HashedProduct):
            (one, often), (two, frequent) = (_usual(column, views) for column in (product.one, product.two))
            weights = _crossed(often, frequent)
            names = [a + TIMES + b for a in _short(product.one) for b in _short(product.two)]
            there = np.flatnonzero(weights > 0.0)  # not those of places that are free
            name, values = product.one.name + TIMES + product.two.name, tuple(names[place] for place in there)
            places, rows = product.start + np.arange(len(names)), np.eye(len(names))[there]
            found.append(View(name, "pair", values, places, rows, _crossed(one, two), None, weights[there], Seen()))
    return found


def _short(column: Column) -> list[str]:
    """Return the names of a column's places, levels by themselves."""
    return [name.removeprefix(f"{column.name}=") for name in column.names]


def _crossed(one: Floats, two: Floats) -> Floats:
    return np.asarray(np.outer(one, two).ravel())


def _usual(column: Column, views: list[View]) -> tuple[Floats, Floats]:
    """Return the typical entries of a column, and the mean square of each entry over what was seen."""
    typical, squares = np.zeros(len(column.names)), np.zeros(len(column.names))
    for view in views:
        mine = (view.places >= column.start) & (view.places < column.start + len(column.names))
        own = view.places[mine] - column.start
        typical[own] += view.origin[mine]
        squares[own] += view.weights @ view.rows[:, mine] ** 2
    return typical, squares


def _number(column: Number, kind: str, start: int, seen: Seen, bends: Curve | None) -> View:
    """Return the view of a number with its ramps, at values that are as dense as what was seen.

    Where a few whole numbers were seen (0 and 1, months, years) the view is at these, and at nothing that no item has.
    """
    typical = float(column.shift + column.centre) if bends is None else bends.knots[bends.reference]
    if column.constant and column.standardise:
        return _constant(column, kind, start, seen, typical)
    edges = np.array(seen.edges)
    steps = np.interp(np.linspace(0.0, len(edges) - 1.0, GRID), np.arange(len(edges)), edges)
    knots = [] if bends is None else [knot for knot in bends.knots if edges[0] < knot < edges[-1]]
    middles = 0.5 * (edges[1:] + edges[:-1])
    whole = np.round(middles)
    few = 1 < len(middles) <= FEW and bool(np.all(np.abs(middles - whole) < 1e-9))
    every = np.unique(np.concatenate([whole, [typical]] if few else [steps, knots, [typical]]))
    shown = np.isin(every, whole) if few else np.ones(len(every), dtype=np.bool_)
    values, weights = every[shown], np.zeros(int(shown.sum()))
    np.add.at(weights, np.abs(values[:, None] - middles).argmin(axis=0), np.array(seen.counts, dtype=np.float64))
    indicator = [0.0] if column.indicator else []
    places = [*range(start, start + 1 + len(indicator))]
    entries = [column.encode_column(every, update=False)[0][1], *(np.zeros(len(every)) for _ in indicator)]
    missing = [column.encode(math.nan, update=False)[0][1], *(1.0 for _ in indicator)]
    if bends is not None:
        places += range(bends.start, bends.start + len(bends.names))
        entries += [height for _, height in bends.encode_column(every)]
        missing += [0.0] * len(bends.names)
    rows = np.column_stack(entries)
    return View(
        column.name,
        kind,
        tuple(values.tolist()),
        np.array(places),
        rows[shown],
        rows[np.searchsorted(every, typical)],
        typical,
        _shares(weights),
        seen,
        np.array(missing) if column.indicator or seen.missing else None,
        None if column.online else partial(_binned, column, start, seen.edges),
    )


def _constant(column: Number, kind: str, start: int, seen: Seen, value: float) -> View:
    """Return the view of a number that was constant: it says no more than on which side of that value another is."""
    values: tuple[str, ...] = (f"below {value:.6g}", f"{value:.6g}", f"above {value:.6g}")
    sides = np.array([[-1.0], [0.0], [1.0]])
    counts, places = [0, sum(seen.counts), 0], np.array([start])
    if column.indicator:
        values, counts, places = (*values, MISSING), [*counts, seen.missing], np.array([start, start + 1])
        sides = np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    return _levels(column.name, kind, values, places, sides, counts)


def _cycle(column: Date, k: int, seen: Seen | None) -> View:
    """Return the view of a cycle: the time of day as a number of hours, the others by the names of their places."""
    cycle = column.cycles[k]
    circle, turns = CYCLES[cycle], len(NAMED.get(cycle, range(HOURS)))
    counts = (0,) * turns if seen is None else seen.counts
    at = np.arange(turns + (cycle == "hour")) % turns * (len(circle.sines) // turns)  # midnight ends a day as well
    numbers = column.numbers[2 * k : 2 * k + 2]
    waves = [
        number.encode_column(np.array(table)[at], False)[0][1]
        for number, table in zip(numbers, circle[1:], strict=True)
    ]
    rows, typical = np.column_stack(waves), int(np.argmax(counts))
    values: tuple[str, ...] | tuple[float, ...] = NAMED.get(cycle) or tuple(float(hour) for hour in range(turns + 1))
    weights = np.array([*counts, *([0] if cycle == "hour" else [])])
    bins = Seen(tuple(map(float, range(turns + 1))), (), counts) if cycle == "hour" else Seen((), NAMED[cycle], counts)
    return View(
        f"{column.name} {cycle}",
        "date",
        values,
        column.start + np.array([2 * k, 2 * k + 1]),
        rows,
        rows[typical],
        values[typical],
        _shares(weights),
        bins._replace(missing=0 if seen is None else seen.missing),
        np.array([number.usual()[0] for number in numbers]) if column.indicator or (seen and seen.missing) else None,
        None if numbers[0].online else partial(_turned, column, k),
    )


def _levels(
    name: str,
    kind: str,
    values: tuple[str, ...],
    places: NDArray[np.intp],
    rows: Floats,
    counts: list[int],
    count: Callable[[Floats], list[int]] | None = None,
) -> View:
    """Return the view of levels; the typical one is the most frequent."""
    usual, seen = int(np.argmax(counts)), Seen((), values, tuple(counts))
    shares = _shares(np.array(counts))
    return View(name, kind, values, places, rows, rows[usual], values[usual], shares, seen, None, count)


def _shown(places: NDArray[np.int64], cycle: str) -> tuple[list[int], int]:
    """Return places on a circle as those that a picture tells apart, and how many there are."""
    turns = len(NAMED.get(cycle, range(HOURS)))
    return (places * turns // len(CYCLES[cycle].sines)).tolist(), turns


def _shares(counts: NDArray[Any]) -> Floats:
    return np.asarray(counts / max(1.0, float(counts.sum())), dtype=np.float64)


# ---- counting vectors, such as those of labels, by what they say of a column


def _filled(places: NDArray[np.intp], items: Floats) -> list[int]:
    return list((items[:, places] != 0.0).sum(axis=0).tolist())


def _given(place: NDArray[np.intp], items: Floats) -> list[int]:
    (missing,) = _filled(place, items)
    return [len(items) - missing, missing]


def _binned(column: Number, start: int, edges: tuple[float, ...], items: Floats) -> list[int]:
    given = items[items[:, start + 1] == 0.0] if column.indicator else items
    return count_between(edges, _values(column, given[:, start]))


def _turned(column: Date, k: int, items: Floats) -> list[int]:
    numbers, start = column.numbers[2 * k : 2 * k + 2], column.start + 2 * k
    sines, cosines = (_values(number, items[:, start + one]) for one, number in enumerate(numbers))
    there = np.hypot(sines, cosines) > 0.99  # a missing date has the means of both, which are within the circle
    places = len(CYCLES[column.cycles[k]].sines)
    at = np.round(np.arctan2(sines[there], cosines[there]) / (2.0 * math.pi) * places).astype(np.int64) % places
    shown, turns = _shown(at, column.cycles[k])
    return list(np.bincount(np.array(shown, dtype=np.int64), minlength=turns).tolist())


def _values(number: Number, entries: Floats) -> Floats:
    """Return the numbers that entries stand for."""
    base = number.value(0.0)
    return np.asarray(base + entries * (number.value(1.0) - base))
