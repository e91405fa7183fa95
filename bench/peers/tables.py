"""The tables of the report, as people read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from appletaste.pages.page import Table, show

from .environments import Environment
from .players import REFERENCES, Configuration
from .promises import Promise
from .store import Line
from .summary import Cell, Summary

#: A verdict as a cell shows it.
MARKS = {"won": "won ✓", "drawn": "drawn", "lost": "lost ✗", "": ""}


def with_error(mean: float, se: float) -> str:
    """Return a mean with its standard error, with two digits more where it is small."""
    if math.isnan(mean):
        return "-"
    digits = 2 if abs(mean) < 10 else 1 if abs(mean) < 1000 else 0
    return f"{mean:.{digits}f}" if math.isnan(se) else f"{mean:.{digits}f} ± {se:.{digits}f}"


def promise_table(promises: Sequence[Promise]) -> Table:
    rows = [(p.promise, p.found, "✓" if p.kept else "✗") for p in promises]
    return Table("", ("promise", "found", ""), rows)


def overview_table(summary: Summary, latencies: Mapping[str, Line]) -> Table:
    """Return one row for each player: over all environments, time and memory."""
    relative = summary.relative_regret()

    def row(name: str, player: Configuration) -> tuple[str, ...]:
        mean, count = summary.geometric_mean(name)
        cells = [everyone[name] for everyone in summary.cells.values() if name in everyone]
        runs, locked = sum(cell.count for cell in cells), sum(cell.locked for cell in cells)
        line = latencies.get(name, {})
        times = tuple(show(line.get(key), 1) for key in ("p50", "p99", "mean"))
        memory = tuple(show(line.get(key), 0) for key in ("library_mb", "run_mb"))
        found = relative.get(name)
        share = with_error(found[0], found[1]) if found else "-"
        total = f"{found[2]:.0f}" if found else "-"
        values = (
            show(mean, 2),
            str(count),
            ", ".join(map(str, summary.score(name))),
            share,
            total,
            f"{locked} of {runs}",
        )
        return (name, player.library, *values, *times, *memory)

    order = {name: summary.geometric_mean(name)[0] for name in summary.players}
    names = sorted(order, key=lambda name: (math.isnan(order[name]), order[name]))
    header = (
        "player",
        "library",
        "regret / best peer",
        "environments",
        "won, drawn, lost",
        "relative, random",
        "total, random",
    )
    header += ("runs < 3 acts", "p50 µs", "p99 µs", "mean µs", "library MB", "run MB")
    return Table("", header, [row(name, summary.players[name]) for name in names])


def environment_table(summary: Summary, environments: Mapping[str, Environment]) -> Table:
    """Return one row for each environment: the reference beside the best peer, and beside those that learn nothing."""
    rows = []
    for name in summary.compared:
        best, mine = summary.best_peer(name), summary.cells[name][summary.reference]
        theirs = summary.cells[name][best]
        ratio = 1.0 / theirs.ratio
        constants = (summary.cells[name].get(constant) for constant in REFERENCES)
        rows.append(
            (
                name,
                environments[name].summary,
                f"{with_error(mine.mean, mine.se)} ({mine.count})",
                f"{best} {with_error(theirs.mean, theirs.se)} ({theirs.count})",
                *(with_error(cell.mean, cell.se) if cell else "-" for cell in constants),
                with_error(-theirs.difference, theirs.difference_se),
                f"{ratio:.2f}",
                MARKS[summary.verdict(name, summary.reference)],
            )
        )
    title = (
        f"{summary.reference} beside the best peer of each environment: regret ± s.e. (replications); "
        "the difference and the ratio are over common replications; won and lost: by two standard errors or more"
    )
    return Table(
        title, ("environment", "", summary.reference, "best peer", *REFERENCES, "difference", "ratio", ""), rows
    )


def regret_table(summary: Summary, names: Sequence[str], title: str) -> Table:
    """Return mean regret ± s.e. (replications) of some players in every environment."""

    def text(cell: Cell | None) -> str:
        if cell is None or not cell.count:
            return "failed" if cell and cell.error else "-"
        return f"{with_error(cell.mean, cell.se)} ({cell.count})"

    rows = [(name, *(text(everyone.get(player)) for player in names)) for name, everyone in summary.cells.items()]
    return Table(title, ("environment", *names), rows)


def detail_table(summary: Summary, environment: str, absent: Mapping[str, str]) -> Table:
    """Return every player in one environment: regret, difference to the reference, runs that gave up, who sat out."""
    cells = summary.cells[environment]
    rows = []
    for name in sorted(cells, key=lambda name: (cells[name].count == 0, cells[name].mean)):
        cell = cells[name]
        if not cell.count:
            rows.append((name, "0", f"failed: {cell.error}", "-", "-"))
            continue
        mine = name == summary.reference
        difference = "-" if mine else with_error(cell.difference, cell.difference_se)
        rows.append((name, str(cell.count), with_error(cell.mean, cell.se), difference, str(cell.locked)))
    rows += [(name, "0", why, "-", "-") for name, why in absent.items()]
    header = ("player", "replications", "regret", f"difference to {summary.reference}", "runs < 3 acts")
    return Table("", header, rows)


def player_table(
    players: Mapping[str, Configuration], versions: Mapping[str, str], skipped: Mapping[str, str]
) -> Table:
    """Return how each player is configured, and why some do not play."""
    rows = [(name, f"{p.library} {versions.get(p.library, '')}".strip(), p.says, "") for name, p in players.items()]
    rows += [(name, "", "", why) for name, why in skipped.items()]
    return Table("", ("player", "library", "configuration", "not played because"), rows)
