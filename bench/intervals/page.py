"""The tables and the picture of docs/missed.md, from the results."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..scale.page import END, START, table
from .checks import CONTROL, LEVEL, MISSED, WHAT_IF

#: Fewer answers than these are not enough to speak of coverage.
ENOUGH = 100


def shown(cell: dict, name: str) -> str:
    """Return the coverage of one interval in a cell, in percent, or how seldom it answers."""
    answered = cell["answered"].get(name, 0)
    if answered < ENOUGH:
        return f"({answered})"
    return f"{100 * cell['mean'][name]:.0f}"


def rows_of(cells: list[dict], names: tuple[str, ...]) -> str:
    rows = [(f"`{c['policy']}`, {c['setting']}", *(shown(c, name) for name in names)) for c in cells]
    pooled = []
    for name in names:
        used = [c for c in cells if c["answered"].get(name, 0)]
        hits = sum(c["mean"][name] * c["answered"][name] for c in used)
        pooled.append(f"**{100 * hits / max(1, sum(c['answered'][name] for c in used)):.1f}**")
    return table(("covers, %", *names), [*rows, ("**all**", *pooled)])


def beside(cells: list[dict]) -> str:
    """Return how much there was to know, and how much the log says nothing about."""
    names = ("truth", "estimate", "width", "positives")
    rows = []
    for c in cells:
        numbers = (f"{c['mean'][name]:.1f}" if c["mean"].get(name) is not None else "-" for name in names)
        whole = c["mean"]["whole"]
        last = (f"{100 * c['mean']['unsupported']:.0f} %", "-" if whole is None else f"{100 * whole:.0f}")
        rows.append((f"`{c['policy']}`, {c['setting']}", *numbers, *last))
    heads = ("means", "missed, supported", "HT", "interval's width", "positives seen", "says nothing", "bounds hold, %")
    return table(heads, rows)


def draw(cells: list[dict], path: Path) -> None:
    """Draw the coverage of every interval, one dot for each policy and setting."""
    mpl.rcParams.update({"svg.hashsalt": "appletaste", "font.size": 9})
    figure, axis = plt.subplots(figsize=(10, 4.5), layout="constrained")
    names = [*MISSED, *WHAT_IF, *CONTROL]
    settings = list(dict.fromkeys(c["setting"] for c in cells))
    for number, setting in enumerate(settings):
        mine = [c for c in cells if c["setting"] == setting]
        points = [
            (k, c["mean"][name]) for k, name in enumerate(names) for c in mine if c["answered"].get(name, 0) >= ENOUGH
        ]
        places = np.array([k for k, _ in points]) + 0.2 * (number - 1)
        axis.plot(places, [v for _, v in points], "o", ms=4, alpha=0.7, label=setting)
    axis.axhspan(0.86, 0.94, alpha=0.15, color="grey")
    axis.axhline(LEVEL, color="grey", lw=0.8)
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axis.set(ylabel="share of streams whose interval covers the truth", ylim=(0, 1.02))
    axis.legend(frameon=False, loc="lower left")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def write(cells: list[dict], page: Path) -> None:
    """Put the tables between the marks of the page, and the picture beside it."""
    draw(cells, page.with_suffix(".svg"))
    count = cells[0]["streams"]
    parts = [
        "![Coverage of every interval](missed.svg)",
        f"{len(cells) * count:,} streams, {count} for each policy and setting; one standard error of a cell is "
        f"{100 * (LEVEL * (1 - LEVEL) / count) ** 0.5:.1f} points. In brackets: how many were answered, where that is "
        f"fewer than {ENOUGH}.",
        "## Missed positives and recall",
        rows_of(cells, MISSED),
        beside(cells),
        "## What-if",
        rows_of(cells, WHAT_IF),
        "## Controls that must fail",
        rows_of(cells, CONTROL),
    ]
    before, _, rest = page.read_text().partition(START)
    _, _, after = rest.partition(END)
    aside = page.with_name(f".{page.name}.part")
    aside.write_text(f"{before}{START}\n\n" + "\n\n".join(parts) + f"\n\n{END}{after}")
    aside.replace(page)
