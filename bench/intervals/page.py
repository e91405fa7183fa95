"""The tables and the picture of coverage, from the results."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from ..figures.parts import Figure, Grid, Part, table
from .checks import BOUNDS, CONTROL, LEVEL, MISSED, SAVING, WHAT_IF
from .known import FAMILY
from .known import MISSED as KNOWN_MISSED
from .known import WHAT_IF as KNOWN_WHAT_IF
from .plans import MARGIN
from .rivals import OURS, SAME
from .store import Cell

#: Fewer answers than these are not enough to speak of coverage.
ENOUGH = 100
BAND = (0.86, 0.94)


def shown(cell: Cell, name: str) -> str:
    """Return the coverage of one interval in a cell, in percent, or how seldom it answers."""
    covered = cell.covered(name)
    if not len(covered):
        return "-"
    if len(covered) < ENOUGH:
        return f"({len(covered)})"
    share = covered.mean()
    most = 1.0 if name in BOUNDS else BAND[1]
    return f"{100 * share:.1f}" if name in CONTROL or BAND[0] <= share <= most else f"**{100 * share:.1f}**"


def rows_of(cells: list[Cell], names: tuple[str, ...], last: bool = True) -> Grid:
    """Return coverage by policy and setting, and of all streams together."""
    rows = [(f"`{c.policy}`, {c.setting}", *(shown(c, name) for name in names)) for c in cells]
    pooled = [np.concatenate([c.covered(name) for c in cells]) for name in names]
    everything = ("all", *(f"{100 * covered.mean():.1f}" if len(covered) else "-" for covered in pooled))
    return table(("covers, %", *names), [*rows, everything] if last else rows)


def outside(cells: list[Cell], names: tuple[str, ...]) -> Grid:
    """Return how many cells of each interval are in the band, below and above, with the least and the most."""
    rows = []
    for name in names:
        shares = np.array([c.covered(name).mean() for c in cells if len(c.covered(name)) >= ENOUGH])
        if not len(shares):
            continue
        inside = int(((shares >= BAND[0]) & (shares <= BAND[1])).sum())
        counts = (str(len(shares)), str(inside), str(int((shares < BAND[0]).sum())), str(int((shares > BAND[1]).sum())))
        ends = (f"{100 * shares.min():.1f}", f"{100 * shares.mean():.1f}", f"{100 * shares.max():.1f}")
        rows.append((name, *counts, *ends))
    return table(("cells", "answered", "86 to 94 %", "below", "above", "least", "mean", "most"), rows)


def beside(cells: list[Cell]) -> Grid:
    """Return how much there was to know, and how much the log says nothing about."""
    rows = []
    for c in cells:
        answers = c.of("missed, HT")
        numbers = ["-"] * 3
        if len(answers):
            value, low, high, truth = answers.T
            numbers = [f"{column.mean():.1f}" for column in (truth, value, high - low)]
        seen, silent = f"{c.mean('positives'):.1f}", f"{100 * c.mean('unsupported'):.0f} %"
        rows.append((f"`{c.policy}`, {c.setting}", *numbers, seen, silent))
    return table(("means", "missed, supported", "HT", "interval's width", "positives seen", "says nothing"), rows)


def plans_of(cells: list[Cell]) -> Grid:
    """Return what became of audit plans."""
    rows = []
    for c in cells:
        width, off = c.rows[:, c.names.index("half-width"), 0], c.rows[:, c.names.index("off"), 0]
        covers = (shown(c, name) for name in ("recall, HT", "recall, Hájek", "missed, HT"))
        within = f"{100 * (np.abs(off) <= MARGIN).mean():.1f}"
        rows.append((c.setting, f"{c.mean('audits'):.0f}", f"{100 * width.mean():.1f}", within, *covers))
    heads = ("the plan was made with", "audits", "half-width, points", "within 5 points, %")
    return table((*heads, "recall, HT covers, %", "recall, Hájek covers, %", "missed, HT covers, %"), rows)


def rivals_of(cells: list[Cell]) -> Grid:
    """Return whether other libraries find the same values on the same log, and whether their intervals cover."""
    names = list(dict.fromkeys(name for c in cells for name in c.names if name != "unsupported"))
    rows = []
    for name in names:
        mine = []
        for c in cells:
            found = c.of(name)
            if not len(found):
                mine.append("-")
                continue
            _, low, high, _ = found.T
            mine.append(f"{100 * c.covered(name).mean():.1f} ({1000 * (high - low).mean():.0f})")
        rows.append((name, agreement(cells, name), *mine))
    asked = (f"`{c.policy}`, {c.setting}" for c in cells)
    return table(("covers, % (mean width)", "differs from ours by at most", *asked), rows)


def agreement(cells: list[Cell], name: str) -> str:
    """Return the largest difference from our value of the same definition, over logs that support every item."""
    if name in OURS:
        return ""
    if name not in SAME:
        return "another estimate"
    most = 0.0
    for c in cells:
        places = [c.names.index(which) for which in (name, SAME[name], "unsupported")]
        theirs, ours, silent = (c.rows[:, place, 0] for place in places)
        differences = np.abs(theirs - ours)[(silent == 0) & ~np.isnan(ours)]
        most = max(most, float(differences.max(initial=0.0)))
    return f"{most:.0e}"


def draw(cells: list[Cell], path: Path) -> None:
    """Draw the coverage of every interval, one dot for each policy and setting."""
    mpl.rcParams.update({"svg.hashsalt": "appletaste", "font.size": 9})
    figure, axis = plt.subplots(figsize=(10, 4.5), layout="constrained")
    names = [*MISSED, *WHAT_IF, *SAVING, *CONTROL]
    for number, setting in enumerate(dict.fromkeys(c.setting for c in cells)):
        mine = [c for c in cells if c.setting == setting]
        points = [
            (k, c.covered(name).mean()) for k, name in enumerate(names) for c in mine if len(c.covered(name)) >= ENOUGH
        ]
        places = np.array([k for k, _ in points]) + 0.2 * (number - 1)
        axis.plot(places, [v for _, v in points], "o", ms=4, alpha=0.7, label=setting)
    axis.axhspan(*BAND, alpha=0.15, color="grey")
    axis.axhline(LEVEL, color="grey", lw=0.8)
    axis.set_xticks(range(len(names)), names, rotation=30, ha="right")
    axis.set(ylabel="share of streams whose interval covers the truth", ylim=(0, 1.02))
    axis.legend(frameon=False, loc="lower left")
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def pooled(cells: list[Cell]) -> list[Cell]:
    """Return one cell for each setting, all policies together: with few streams a policy, that is what can be told."""
    settings = dict.fromkeys(c.setting for c in cells)
    return [
        Cell("all policies", how, cells[0].names, np.concatenate([c.rows for c in cells if c.setting == how]))
        for how in settings
    ]


def error(streams: int) -> str:
    """Return one standard error of a share of 90 % in so many streams, in points."""
    return f"{100 * (LEVEL * (1 - LEVEL) / streams) ** 0.5:.1f} points"


def known_rows(cells: list[Cell], names: tuple[str, ...]) -> Grid:
    """Return coverage in percent of logs that were answered, with how many were in brackets where not all were."""
    rows = []
    for c in cells:
        shown_cells = []
        for name in names:
            covered, of = c.covered(name), len(c.rows)
            some = f" ({len(covered)})" if len(covered) < of else ""
            shown_cells.append(f"{100 * covered.mean():.0f}{some}" if len(covered) else "withheld")
        rows.append((c.setting, *shown_cells))
    return table(("covers, %", *names), rows)


def known_part(cells: list[Cell], what: str) -> list[Part]:
    """Return the tables of logs that know the truth."""
    count = len(cells[0].rows)
    together = [c for c in cells if len(c.covered(FAMILY[0]))]
    stretched = [c.rows[:, c.names.index("stretched by"), 0] for c in together]
    factors = table(
        ("all of three savings cover, %", *FAMILY, "stretched by"),
        [
            (c.setting, *(f"{100 * c.covered(name).mean():.0f}" for name in FAMILY), f"{np.nanmean(factor):.2f}")
            for c, factor in zip(together, stretched, strict=True)
        ],
    )
    every = [np.concatenate([c.covered(name) for c in cells]) for name in (*KNOWN_MISSED, *KNOWN_WHAT_IF, *FAMILY)]
    names = (*KNOWN_MISSED, *KNOWN_WHAT_IF, *FAMILY)
    total = sum(len(c.rows) for c in cells)
    summary = table(
        ("over all of these", "covers, %", "answered"),
        [
            (name, f"{100 * c.mean():.1f}", f"{len(c):,} of {total:,}")
            for name, c in zip(names, every, strict=True)
            if len(c)
        ],
    )
    parts: list[Part] = [
        f"{count} {what} a row; one standard error of a row is {error(count)}, more where fewer were answered (in "
        "brackets: how many).",
        known_rows(cells, (*KNOWN_MISSED, *KNOWN_WHAT_IF)),
        summary,
    ]
    if np.nanmax([np.nanmean(factor) for factor in stretched]) > 1.005:  # else only one of them is not known
        parts += [
            "Three thresholds, half, once and twice the one that the costs imply: how often all intervals of what they "
            "save cover, each by itself and stretched to hold at once (`evaluate/together.py`).",
            factors,
        ]
    return parts


def in_sentences(cells: list[Cell]) -> dict[str, Figure]:
    """Return what sentences tell of the interval of what is missed: its coverage, and the least and most by kind."""
    shares = [100 * c.covered("missed, HT").mean() for c in cells if len(c.covered("missed, HT"))]
    mean = 100 * np.concatenate([c.covered("missed, HT") for c in cells]).mean()
    return {"covered": f"{mean:.0f}", "least": f"{min(shares):.0f}", "most": f"{max(shares):.0f}"}


def streams_part(cells: list[Cell], picture: Path) -> list[Part]:
    """Return the tables of the registry's policies, and draw the picture."""
    count = len(cells[0].rows)
    told = cells if count >= ENOUGH else pooled(cells)
    draw(told, picture)
    late = [c for c in told if "late" in c.setting]
    least = min(len(c.rows) for c in told)
    return [
        "![Coverage of every interval](missed.svg)",
        f"{len(cells) * count:,} streams, {count} for each policy and setting; one standard error of a row is "
        f"{error(least)}. In brackets: how many were answered, where that is fewer than {ENOUGH}; bold: outside "
        f"{100 * BAND[0]:.0f} to {100 * BAND[1]:.0f} %.",
        *([outside(told, (*MISSED, *WHAT_IF, *SAVING))] if told is cells else []),
        rows_of(told, MISSED),
        beside(told),
        rows_of(told, WHAT_IF),
        "Where all labels have arrived, the logged cost is known and a saving is as sure as the doubly robust "
        "answer. With labels missing:",
        rows_of(late, (*SAVING, *(f"{kind}, DR" for kind in ("threshold", "rule"))), last=False),
        "Bounds allow for the worst (missing labels, passes without support), so they must cover 90 % *or more*.",
        rows_of(late, BOUNDS, last=False),
        rows_of([c for c in told if c not in late], BOUNDS[:2], last=False),
        "Controls, which must fail:",
        rows_of(told, CONTROL),
    ]


def replays_part(cells: list[Cell]) -> list[Part]:
    """Return whether standard errors of a replay cover."""
    said = "Mean ± t s.e. over ten orders of one file of 300 rows, against the mean over 1,000 orders (one standard "
    return [f"{said}error: 3 points).", rows_of(cells, ("cost per 1,000",), last=False)]
