"""The report: Markdown, one page of HTML that needs nothing else, JSON, and the figures of pages."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from appletaste._files import write_aside
from appletaste.pages.page import Table, html_page

from ..figures.parts import Figure, Part, words_of
from . import tables
from .budget import why_not
from .environments import Environment
from .picture import Point, draw
from .players import Configuration
from .promises import promises
from .store import Line
from .summary import Regrets, Summary, paired_difference

TITLE = "appletaste beside its peers"
INTRO = (
    "Each item is acted on or passed, and its label is seen only if it is acted on. Regret is expected cost above the "
    "best action's, on real files cost above an oracle's. All players meet the same items and labels. Time is that of "
    "one round, decide and learn, through the library's own interface (d = 20, T = 2000, nothing else running)."
)
WORDY = ("What we promise", "Every environment", "Who plays")  #: sections whose tables are read, not scanned


@dataclasses.dataclass(frozen=True)
class Report:
    """All that a report is made of."""

    summary: Summary
    latencies: Mapping[str, Line]
    environments: Mapping[str, Environment]
    players: Mapping[str, Configuration]
    skipped_players: Mapping[str, str]
    lines: Sequence[Line]

    def points(self) -> list[Point]:
        """Return the picture's points: those players that have both a latency and a mean."""
        found = []
        for name, player in self.players.items():
            mean, count = self.summary.geometric_mean(name)
            if count and not player.reference and "p50" in self.latencies.get(name, {}):
                strong = name == self.summary.reference
                found.append(Point(name, player.library, self.latencies[name]["p50"], mean, strong))
        return found

    def picture(self) -> str:
        return draw(self.points(), "microseconds a round (median)", "regret / best peer's (geometric mean)")

    def versions(self) -> dict[str, str]:
        found = {}
        for library in {player.library for player in self.players.values()}:
            try:
                found[library] = version(library)
            except PackageNotFoundError:
                continue
        return found

    def main_sections(self) -> list[tuple[str, list[Table]]]:
        """Return what docs/decisions/measured/bench.md shows, too."""
        ours = [name for name, player in self.players.items() if player.ours]
        names = self.summary.peers
        return [
            ("What we promise", [tables.promise_table(promises(self.summary))]),
            ("Every environment", [tables.environment_table(self.summary, self.environments)]),
            ("Every player", [tables.overview_table(self.summary, self.latencies)]),
            (
                "Regret",
                [
                    tables.regret_table(self.summary, ours, "Our policies: regret ± s.e. (replications)"),
                    tables.regret_table(self.summary, names, "Peers: regret ± s.e. (replications)"),
                ],
            ),
            ("Who plays", [tables.player_table(self.players, self.versions(), self.skipped_players)]),
        ]

    def details(self) -> list[tuple[str, list[Table]]]:
        """Return one section for each environment."""
        found = []
        for name, environment in self.environments.items():
            if name in self.summary.cells:
                absent = {n: why for n, p in self.players.items() if (why := why_not(environment, p))}
                found.append((f"{name}: {environment.summary}", [tables.detail_table(self.summary, name, absent)]))
            elif environment.skip:
                found.append((f"{name}: not played, {environment.skip}", []))
        return found


def as_markdown(sections: Sequence[tuple[str, list[Table]]], level: str = "##") -> str:
    parts = []
    for title, shown in sections:
        parts += [f"{level} {title}\n", *(table.markdown() for table in shown)]
    return "\n".join(parts)


def as_html(report: Report) -> str:
    parts = [f"<h1>{TITLE}</h1><p>{html.escape(INTRO)}</p>", report.picture()]
    for title, shown in [*report.main_sections(), *report.details()]:
        parts.append(f"<h2>{html.escape(title)}</h2>")
        # Markdown's code marks mean nothing here.
        parts += [table.html("text" if title in WORDY else "").replace("`", "") for table in shown]
    return html_page(TITLE, parts)


def as_json(report: Report) -> str:
    """Return every number: the raw lines, the latencies and what was made of them."""
    cells = {
        environment: {name: dataclasses.asdict(cell) for name, cell in everyone.items()}
        for environment, everyone in report.summary.cells.items()
    }
    content = {
        "reference": report.summary.reference,
        "versions": report.versions(),
        "promises": [dataclasses.asdict(promise) for promise in promises(report.summary)],
        "skipped_players": dict(report.skipped_players),
        "skipped_environments": {name: e.skip for name, e in report.environments.items() if e.skip},
        "geometric_means": {name: report.summary.geometric_mean(name) for name in report.players},
        "cells": cells,
        "latency": dict(report.latencies),
        "runs": list(report.lines),
    }
    return json.dumps(content, indent=1) + "\n"


def write(report: Report, folder: Path) -> None:
    """Write report.md, index.html, picture.svg and results.json."""
    sections = [*report.main_sections(), *report.details()]
    text = f"# {TITLE}\n\n{INTRO}\n\n![regret against latency](picture.svg)\n\n{as_markdown(sections)}"
    write_aside(folder / "picture.svg", report.picture().encode())
    write_aside(folder / "report.md", text.encode())
    write_aside(folder / "index.html", as_html(report).encode())
    write_aside(folder / "results.json", as_json(report).encode())


def _above(regrets: Mapping[str, Regrets], mine: str, other: str) -> bool:
    """Say whether a player loses more than another, over common replications."""
    return paired_difference(regrets.get(mine, {}), regrets.get(other, {}))[0] > 0


def figures(report: Report) -> dict[str, Figure]:
    """Return what pages show: all tables, and the numbers that sentences tell."""
    summary, mine = report.summary, report.summary.reference
    tables_: list[Part] = ["![Regret against latency](bench.svg)"]
    for title, shown in report.main_sections():
        tables_ += [f"## {title}", *map(words_of, shown)]
    places = summary.compared
    means = {name: summary.geometric_mean(name) for name in summary.peers}
    whole = {name: mean for name, (mean, count) in means.items() if count == len(places)}
    single = min(whole, key=whole.__getitem__)
    hindsight, _ = summary.geometric_mean(mine)
    ratios = {name: summary.to_best_peer(name, mine) for name in places}
    worst = max(ratios, key=ratios.__getitem__)
    found: dict[str, Figure] = {
        "tables": tables_,
        "environments": str(len(places)),
        "single": single,
        "ratio": f"{hindsight / whole[single]:.2f}",
        "hindsight": f"{hindsight:.2f}",
        "worst": f"{ratios[worst]:.1f}",
        "worst-in": worst,
        "dearer-than-never": str(sum(_above(summary.regrets[name], mine, "never") for name in places)),
        "adf": f"{summary.geometric_mean('adf-voi')[0]:.2f}",
    }
    return found | dict(zip(("won", "drawn", "lost"), map(str, summary.score(mine)), strict=True))
