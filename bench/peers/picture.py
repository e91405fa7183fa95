"""Regret against latency, log-log, as one SVG that follows the reader's light or dark."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 860, 520
LEFT, RIGHT, TOP, BOTTOM = 70, 170, 20, 50

#: Okabe & Ito's colours, each readable on white and on black.
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00")

STYLE = """
svg { color: #1b1b1b; background: #ffffff; font: 12px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) { svg { color: #e6e6e6; background: #14171a; } }
.line { stroke: currentColor; stroke-opacity: .18; } .axis { fill: currentColor; fill-opacity: .75; }
.name { fill: currentColor; } .ours { font-weight: 700; }
"""


@dataclass(frozen=True)
class Point:
    """One player: microseconds a round, and regret relative to the best peer."""

    name: str
    group: str
    x: float
    y: float
    strong: bool = False


def steps(low: float, high: float) -> list[float]:
    """Return round numbers from low to high: 1, 2 and 5 times powers of ten, and more where that would be few."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    leading = (1, 2, 5) if high > 20 * low else (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
    return [m * 10.0**e for e in exponents for m in leading if low <= m * 10.0**e <= high]


def spread_out(heights: Sequence[float], gap: float = 12.0) -> list[float]:
    """Return label heights at least ``gap`` apart, in the order given (rising): pushed down, then up from the end."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else height)
    lowest = HEIGHT - BOTTOM
    return [min(height, lowest - gap * left) for left, height in zip(range(len(placed))[::-1], placed, strict=True)]


def line(x0: float, y0: float, x1: float, y1: float, how: str = 'class="line"') -> str:
    """Return a line."""
    return f'<line {how} x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}"/>'


def text(x: float, y: float, content: str, kind: str = "axis", anchor: str = "middle") -> str:
    """Return a line of text."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(content)}</text>'


def draw(points: Sequence[Point], x_label: str, y_label: str) -> str:
    """Return the picture; dots are joined to their names at the right margin, in the order of their height."""
    points = sorted((p for p in points if p.x > 0 and p.y > 0), key=lambda p: -p.y)
    if not points:
        return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} 40">{text(80, 25, "no data")}</svg>'
    x0, x1 = min(p.x for p in points) / 1.3, max(p.x for p in points) * 1.3
    y0, y1 = min(p.y for p in points) / 1.1, max(p.y for p in points) * 1.1

    def across(x: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * math.log(x / x0) / math.log(x1 / x0)

    def up(y: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * math.log(y / y0) / math.log(y1 / y0)

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">']
    parts.append(f"<title>{html.escape(y_label)} against {html.escape(x_label)}</title><style>{STYLE}</style>")
    for x in steps(x0, x1):
        parts.append(line(across(x), TOP, across(x), HEIGHT - BOTTOM))
        parts.append(text(across(x), HEIGHT - BOTTOM + 16, f"{x:g}"))
    for y in steps(y0, y1):
        parts.append(line(LEFT, up(y), WIDTH - RIGHT, up(y)))
        parts.append(text(LEFT - 8, up(y) + 4, f"{y:g}", anchor="end"))
    parts.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12, x_label))
    parts.append(f'<g transform="translate(18 {(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)">{text(0, 0, y_label)}</g>')
    groups = sorted({p.group for p in points}, key=lambda group: (group != "appletaste", group))
    colours = {group: COLOURS[i % len(COLOURS)] for i, group in enumerate(groups)}
    edge = WIDTH - RIGHT + 12
    for point, height in zip(points, spread_out([up(p.y) for p in points]), strict=True):
        colour, x, y = colours[point.group], across(point.x), up(point.y)
        parts.append(line(x, y, edge, height, f'stroke="{colour}" stroke-opacity=".35"'))
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{7 if point.strong else 4.5}" fill="{colour}"/>')
        parts.append(text(edge + 4, height + 4, point.name, "name ours" if point.strong else "name", "start"))
    return "\n".join([*parts, "</svg>\n"])
