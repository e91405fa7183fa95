"""The picture of a column as SVG: a curve with its bands over what was seen, or an interval for each level.

All pictures of a page share the scale of what is added, so that a column that matters less looks flatter.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..features.model_curves import ColumnCurve
from ..features.seen import FEW
from .model import LEVEL, digits_of, factor_text, value_text

Floats = NDArray[np.float64]
#: The inner band; the outer one is ``LEVEL``.
INNER = 0.5
#: The size of a picture, with room for the scale in log-odds, that in odds, and the values.
WIDTH, HEIGHT, LEFT, RIGHT, TOP, FOOT = 400.0, 222.0, 32.0, 42.0, 10.0, 32.0
#: How much of a picture bars may fill, and the room for missing values.
BARS, SLOT = 0.4, 44.0
#: The rows of levels: how many are drawn, their height, and the room for names and counts.
ROWS, ROW, NAMES, COUNTS = 14, 21.0, 116.0, 62.0
#: The least that a scale spans on either side of 0.
LEAST = 0.6


class Scale(NamedTuple):
    """The range of what is added that all pictures of a page show, in log-odds."""

    low: float
    high: float

    @classmethod
    def of(cls, columns: Sequence[ColumnCurve]) -> Scale:
        """Return the range of all means and inner bands of what is drawn; outer bands may go beyond."""
        low, high = -LEAST, LEAST
        for column in columns:
            places = shown_levels(column) if column.by_level else slice(None)
            below, above = column.band(INNER)
            low, high = min(low, below[places].min()), max(high, above[places].max())
            if column.trees is not None:
                low = min(low, np.array(column.trees.low)[places].min())
                high = max(high, np.array(column.trees.high)[places].max())
            if column.missing is not None:
                half = 0.6745 * column.missing[1]
                low, high = min(low, column.missing[0] - half), max(high, column.missing[0] + half)
        room = 0.06 * (high - low)
        return cls(low - room, high + room)

    def ticks(self) -> list[float]:
        """Return round numbers within the range, 0 among them."""
        step = next(s for s in (0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 1e9) if (self.high - self.low) / s <= 7)
        return [step * k for k in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]

    def factors(self, most: int = 7) -> list[tuple[float, str]]:
        """Return what the odds are multiplied by at some heights, at most about so many."""
        base = next(b for b in (2.0, 4.0, 10.0, 100.0, 1e9) if (self.high - self.low) / math.log(b) <= most)
        powers = [k for k in range(-60, 61) if self.low < k * math.log(base) < self.high]
        return [(k * math.log(base), f"×{base**k:,.0f}" if k >= 0 else f"÷{base**-k:,.0f}") for k in powers]


def picture(column: ColumnCurve, scale: Scale) -> str:
    """Return the picture of a column."""
    return _level_picture(column, scale) if column.by_level else _curve_picture(column, scale)


def shown_levels(column: ColumnCurve) -> list[int]:
    """Return the places of the levels that are drawn: the most frequent, by what they add; days keep their order."""
    counts = column.seen or (0,) * len(column.values)
    often = sorted(range(len(column.values)), key=lambda k: (-counts[k], -abs(column.mean[k])))[:ROWS]
    return sorted(often) if column.kind == "date" else sorted(often, key=lambda k: (-column.mean[k], k))


def _svg(column: ColumnCurve, height: float, parts: list[str]) -> str:
    label = html.escape(f"{column.name}: what it adds to the score", quote=True)
    body = "".join(parts)
    return f'<svg class="column" viewBox="0 0 {WIDTH:.0f} {height:.0f}" role="img" aria-label="{label}">{body}</svg>'


def _text(x: float, y: float, text: str, anchor: str = "middle", kind: str = "") -> str:
    tagged = f' class="{kind}"' if kind else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{tagged}>{html.escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _rect(x: float, y: float, width: float, height: float, kind: str, told: str = "", opacity: float = 1.0) -> str:
    title = f"<title>{html.escape(told)}</title>" if told else ""
    faint = "" if opacity == 1.0 else f' fill-opacity="{opacity:.2f}"'
    size = f'x="{x:.1f}" y="{y:.1f}" width="{max(0.0, width):.1f}" height="{max(0.0, height):.1f}"'
    return f'<rect class="{kind}" {size}{faint}>{title}</rect>'


# ---- numbers


def _curve_picture(column: ColumnCurve, scale: Scale) -> str:
    """Return a curve with its bands over the histogram; the bins are equally wide, whatever values they span."""
    foot = HEIGHT - FOOT
    end = WIDTH - RIGHT - (SLOT if column.missing is not None else 0.0)
    edges, digits = np.array(column.edges), digits_of(column)

    def across(values: Floats | float) -> Floats:
        return np.asarray(LEFT + (end - LEFT) * np.interp(values, edges, np.linspace(0.0, 1.0, len(edges))))

    def up(added: Floats | float) -> Floats:
        return np.asarray(
            TOP + (foot - TOP) * (scale.high - np.clip(added, scale.low, scale.high)) / (scale.high - scale.low)
        )

    parts = [_line(LEFT, float(up(tick)), WIDTH - RIGHT, float(up(tick)), "grid") for tick in scale.ticks()]
    parts += _histogram(column, across, foot)
    x = across(np.array(column.values, dtype=np.float64))
    for share, kind in ((LEVEL, "outer"), (INNER, "inner")):
        low, high = (up(ends) for ends in column.band(share))
        points = [*zip(x, high, strict=True), *zip(x[::-1], low[::-1], strict=True)]
        parts.append(f'<polygon class="{kind}" points="{_points(points)}"/>')
    parts.append(_line(LEFT, float(up(0.0)), WIDTH - RIGHT, float(up(0.0)), "zero"))
    if column.trees is not None:
        mean, low, high = (up(np.array(part)) for part in column.trees)
        around = [*zip(x, high, strict=True), *zip(x[::-1], low[::-1], strict=True)]
        parts.append(f'<polygon class="eight" points="{_points(around)}"/>')
        parts.append(f'<polyline class="trees" points="{_points(list(zip(x, mean, strict=True)))}"/>')
    parts.append(f'<polyline class="mean" points="{_points(list(zip(x, up(np.array(column.mean)), strict=True)))}"/>')
    if isinstance(column.typical, float):
        parts.append(
            f'<circle class="typical" cx="{float(across(column.typical)):.1f}" cy="{float(up(0.0)):.1f}" r="3.5"/>'
        )
    if column.missing is not None:
        parts += _missing(column, column.missing, up, end, foot)
    parts += [_text(LEFT - 5, float(up(tick)) + 4, f"{tick:+.3g}" if tick else "0", "end") for tick in scale.ticks()]
    parts += [_text(WIDTH - RIGHT + 4, float(up(at)) + 4, told, "start") for at, told in scale.factors()]
    parts += [
        _text(float(across(tick)), foot + 20, value_text(tick, digits))
        for tick in value_ticks(edges, end - LEFT, column.missing is not None)
    ]
    return _svg(column, HEIGHT, parts)


def _points(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


def _histogram(column: ColumnCurve, across: object, foot: float) -> list[str]:
    """Return the bars of what was seen, and under them a strip that is the stronger the more labels there are."""
    assert callable(across)
    most = max(*column.seen, column.missing_seen if column.missing is not None else 0, 1)
    told = column.labels or ()
    largest, parts, digits = max(told, default=0), [], digits_of(column)
    for k, count in enumerate(column.seen):
        low, high = column.edges[k : k + 2]
        x, wide = float(across(low)), float(across(high)) - float(across(low))
        tall = BARS * (foot - TOP) * count / most
        labels = f", {told[k]:,} labels" if told else ""
        title = f"{value_text(low, digits)} to {value_text(high, digits)}: {count:,} rows seen{labels}"
        parts.append(_rect(x + 0.5, foot - tall, wide - 1.0, tall, "bar", title))
        if told and told[k]:
            parts.append(_rect(x, foot + 2, wide, 4.0, "told", opacity=max(0.15, told[k] / largest)))
    return parts


def _missing(column: ColumnCurve, found: tuple[float, float], up: object, end: float, foot: float) -> list[str]:
    """Return the interval of missing values beside the curve, over a bar of how many were seen."""
    assert callable(up)
    middle = end + SLOT / 2.0 + 4.0
    most = max(*column.seen, column.missing_seen, 1)
    tall = BARS * (foot - TOP) * column.missing_seen / most
    title = f"missing: {column.missing_seen:,} rows seen, adds {found[0]:+.2f} ({factor_text(found[0])})"
    parts = [_rect(middle - 10, foot - tall, 20, tall, "bar", title)]
    for half, kind in ((1.6449, "outer"), (0.6745, "inner")):
        high, low = float(up(found[0] + half * found[1])), float(up(found[0] - half * found[1]))
        parts.append(_rect(middle - 6, high, 12, max(1.0, low - high), kind))
    parts.append(f'<circle class="dot" cx="{middle:.1f}" cy="{float(up(found[0])):.1f}" r="3.5"/>')
    return [*parts, _text(middle, foot + 20, "missing")]


def value_ticks(edges: Floats, width: float, narrow: bool = False) -> list[float]:
    """Return round values at which there is room for a number below a picture, to whose right may be another.

    Examples
    --------
    >>> value_ticks(np.linspace(0.0, 100.0, 25), 330.0)
    [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]
    >>> value_ticks(np.array([0.5, 1.5, 2.5, 3.5]), 330.0)
    [1.0, 2.0, 3.0]
    """
    low, high = float(edges[0]), float(edges[-1])
    exponent = math.floor(math.log10(high - low))
    steps = [unit * 10.0**power for power in (exponent - 1, exponent) for unit in (1.0, 2.0, 5.0)]
    step = next((s for s in steps if (high - low) / s <= 6.01), 10.0 ** (exponent + 1))
    even = np.allclose(np.diff(edges), (high - low) / (len(edges) - 1), rtol=1e-6)
    whole = [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]
    ends, last = np.linspace(0.0, width, len(edges)), width - (22.0 if narrow else 0.0)
    if even and len(edges) <= FEW + 1:  # a bin for each value
        return (0.5 * (edges[1:] + edges[:-1]))[:: math.ceil(len(edges) / 8)].tolist()  # type: ignore[no-any-return]
    if even:
        return [value for value in whole if np.interp(value, edges, ends) <= last]
    powers = [
        sign * unit * 10.0**k for k in range(exponent - 4, exponent + 2) for unit in (1, 2, 5) for sign in (1, -1)
    ]
    order = [0.0, *sorted(powers, key=lambda v: (round(math.log10(abs(v)), 9) % 1.0 > 0.0, -abs(v))), *whole]
    kept: list[tuple[float, float]] = []
    for value in order:
        at = float(np.interp(value, edges, ends))
        if low <= value <= high and at <= last and all(abs(at - other) >= 46.0 for _, other in kept):
            kept.append((float(value), at))
    return sorted(value for value, _ in kept)


# ---- levels


def _level_picture(column: ColumnCurve, scale: Scale) -> str:
    """Return an interval for each level, with how often it was seen and how many labels it has."""
    places = shown_levels(column)
    left, right, top = NAMES, WIDTH - (COUNTS if column.seen else 10.0), 20.0
    foot = top + ROW * len(places)

    def across(added: float) -> float:
        held = min(max(added, scale.low), scale.high)
        return left + (right - left) * (held - scale.low) / (scale.high - scale.low)

    parts = [_line(across(tick), top, across(tick), foot, "grid") for tick in scale.ticks()]
    parts.append(_line(across(0.0), top, across(0.0), foot, "zero"))
    most = max((column.seen[k] for k in places), default=0) if column.seen else 0
    bands = [(column.band(LEVEL), "outer", 5.0), (column.band(INNER), "inner", 5.0)]
    for row, k in enumerate(places):
        y, name = top + ROW * (row + 0.5), str(column.values[k])
        told = f", {column.labels[k]:,} labels" if column.labels is not None else ""
        rows = f"; {column.seen[k]:,} rows seen{told}" if column.seen else ""
        title = f"{name}: {column.mean[k]:+.2f}, {factor_text(column.mean[k])}{rows}"
        short = name if len(name) <= 18 else f"{name[:17]}…"
        parts.append(_text(left - 6, y + 4, short, "end", "name"))
        for (low, high), kind, half in bands:
            x = across(low[k])
            parts.append(_rect(x, y - half, across(high[k]) - x, 2 * half, kind, title))
        if column.trees is not None:
            start, told = across(column.trees.low[k]), f"{name}: trees add {column.trees.mean[k]:+.2f}"
            parts.append(_rect(start, y + 6, across(column.trees.high[k]) - start, 3.0, "eight", told))
            parts.append(_rect(across(column.trees.mean[k]) - 1.5, y + 5, 3.0, 5.0, "added"))
        kind = "typical" if name == column.typical else "dot"
        parts.append(f'<circle class="{kind}" cx="{across(column.mean[k]):.1f}" cy="{y:.1f}" r="3.5"/>')
        if column.seen:
            parts.append(_rect(right + 6, y - 6, (COUNTS - 8) * column.seen[k] / max(1, most), 12, "bar", title))
            parts.append(_text(WIDTH - 3, y + 4, f"{column.seen[k]:,}", "end"))
    parts += [_text(across(tick), foot + 14, f"{tick:+.3g}" if tick else "0") for tick in scale.ticks()]
    parts += [_text(across(at), top - 7, told) for at, told in scale.factors(5)]
    if column.seen:
        parts.append(_text(WIDTH - 3, top - 7, "rows", "end"))
    return _svg(column, foot + 18, parts)
