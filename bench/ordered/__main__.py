"""Streams in the order of time, late and prompt: real files, their quarters, twelve made-up ones, shuffled controls."""

from __future__ import annotations

import argparse
import json
import warnings
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import appletaste as at
from appletaste.costs_by_item import CostsByItem
from appletaste.engines import engine
from appletaste.history.labelled import read_labelled
from appletaste.pages.page import Table

from ..figures.parts import Grid
from ..figures.stored import keep_run
from . import made, nightly

DATA = Path(__file__).parents[3] / "shared" / "data"
HOTEL = {"time": "booked_on", "label_time": "settled_on"}
#: Files with a time: how they are read, and what outcomes cost.
FILES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "hotel_inn": (
        "hotel_inn.csv.gz",
        {"label": "cancelled", "positive": "Canceled", **HOTEL},
        {"miss": "avg_price_per_room*nights*0.4+5", "false_alarm": 12, "hit": 4},
    ),
    "hotel_resort": (
        "hotel_resort.csv.gz",
        {"label": "cancelled", **HOTEL},
        {"miss": "adr*nights*0.4+5", "false_alarm": 12, "hit": 4},
    ),
    "bank_marketing": ("bank_marketing.csv.gz", {"label": "label"}, {"miss": 0, "false_alarm": 1, "hit": -8}),
}
QUARTERS, SEED = 4, 1
RIVALS = {
    "logistic, nightly": (nightly.vectors, nightly.logistic),
    "booster, nightly": (nightly.codes, nightly.booster),
}


@dataclass(frozen=True)
class Stream:
    """One stream to be played: a file or a part of it, or a made-up one; in order, or shuffled for control."""

    name: str
    seed: int = 0
    late: bool = True
    quarter: int | None = None
    shuffled: bool = False
    rows: int = made.ROWS

    @property
    def label(self) -> str:
        """What the lines of one kind of stream are called."""
        part = "" if self.quarter is None else ", quarters"
        return f"{self.name}{part}{'' if self.late else ', prompt'}{', shuffled' if self.shuffled else ''}"

    def table(self) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """Return the table, how it is read, and what outcomes cost."""
        if self.name in made.KINDS:
            table = made.table_of(self.name, self.late, self.seed, self.rows)
            return table, {"label": "bad", "time": "day", "label_time": "told"}, made.COSTS
        file, reading, costs = FILES[self.name]
        options = {key: value for key, value in reading.items() if key in ("positive",)}
        columns = at.read_records(DATA / file, **options).columns
        rows = len(next(iter(columns.values())))
        if self.quarter is not None:
            part = slice(self.quarter * rows // QUARTERS, (self.quarter + 1) * rows // QUARTERS)
            columns = {name: column[part] for name, column in columns.items()}
        return columns, dict(reading), costs


def play(stream: Stream, policies: list[str]) -> dict[str, Any]:
    """Return what everybody costs for 1,000 items of a stream."""
    table, reading, costs = stream.table()
    label = reading.pop("label")
    if not stream.late and stream.name not in made.KINDS:
        table = {name: column for name, column in table.items() if name != reading["label_time"]}
        reading.pop("label_time")
    order: dict[str, Any] = {"order": "as is"} if "time" not in reading else {}
    if stream.shuffled:
        drop = [reading.pop(name) for name in ("time", "label_time") if name in reading]
        table, order = {name: column for name, column in table.items() if name not in drop}, {"shuffles": 1}
    sheet = CostsByItem.of(costs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = at.replay(table, label, costs=costs, policies=policies, seed=SEED + stream.seed, **order, **reading)
        told = {name: float(found[name].cost_per_1000.mean) for name in found}
        if not stream.shuffled:
            by_item = sheet if isinstance(sheet, CostsByItem) else None
            labelled = read_labelled(table, label, costs=by_item, **reading)
            each = labelled.costs if labelled.costs is not None else sheet
            for name, (items, model) in RIVALS.items():
                told[name] = nightly.play(labelled, each, items(labelled), model, stream.seed)
    return {**asdict(stream), "label": stream.label, "costs": told}


def streams(args: argparse.Namespace) -> list[Stream]:
    """Return what is to be played, the longest first."""
    found = []
    if DATA.exists():
        for name, (_, reading, _) in FILES.items():
            found.append(Stream(name))
            found += [Stream(name, late=False)] if "label_time" in reading else []
            found += [Stream(name, quarter=part, seed=part) for part in range(QUARTERS)]
            found += [Stream(name, shuffled=True, seed=seed) for seed in range(args.seeds)]
    for kind in made.KINDS:
        for seed in range(args.seeds):
            found += [Stream(kind, seed, late, rows=args.rows) for late in (True, False)]
        found += [Stream(kind, seed, shuffled=True, rows=args.rows) for seed in range(args.seeds)]
    return [one for one in found if not args.only or any(word in one.label for word in args.only)]


def summary(lines: list[dict[str, Any]], policies: list[str]) -> Table:
    """Return a line for each kind of stream: the constants, the nightly models, the policies, and what is too dear.

    ``above constant`` is what the first policy costs above the better constant, in % of the distance between the two;
    ``above booster`` in % of what the booster costs. Both with a standard error over seeds or quarters.
    """
    first, rows = policies[0], []
    heading = ("stream", "never", "always", *RIVALS, *policies, "above constant", "above booster")
    for label in dict.fromkeys(line["label"] for line in lines):
        costs = [line["costs"] for line in lines if line["label"] == label]
        means = {name: np.mean([one[name] for one in costs]) for name in costs[0]}
        apart = [
            100.0 * (one[first] - min(one["never"], one["always"])) / abs(one["never"] - one["always"]) for one in costs
        ]
        shown = [f"{means[name]:,.0f}" if name in means else "" for name in ("never", "always", *RIVALS, *policies)]
        booster = "booster, nightly"
        dearer = (
            [100.0 * (one[first] - one[booster]) / max(abs(one[booster]), 1.0) for one in costs]
            if booster in means
            else []
        )
        rows.append((label, *shown, _mean(apart), _mean(dearer)))
    return Table("streams in the order of time: cost of 1,000 items", heading, rows)


def _mean(values: list[float]) -> str:
    if not values:
        return ""
    error = f" ± {np.std(values, ddof=1) / np.sqrt(len(values)):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):+.1f}{error} %"


def main() -> None:
    """Play, print the table, and keep every line."""
    parser = argparse.ArgumentParser(prog="python -m bench time", description=__doc__)
    parser.add_argument("--seeds", type=int, default=4, help="of every made-up stream and shuffled control (default 4)")
    parser.add_argument("--rows", type=int, default=made.ROWS, help=f"of every made-up stream (default {made.ROWS})")
    parser.add_argument("--only", action="append", metavar="WORDS", help="streams with these words in their name")
    parser.add_argument("--policy", action="append", metavar="NAME", help="beside voi; repeat for more")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("out/bench-time"))
    args = parser.parse_args()
    policies = ["voi", *(args.policy or [])]
    tasks, lines = streams(args), []
    with engine("local", jobs=args.jobs) as workers:
        for done, (_, line) in enumerate(workers.run(partial(play, policies=policies), tasks), 1):
            lines.append(line)
            print(f"{done} of {len(tasks)}: {line['label']}", flush=True)
    order = {one.label: place for place, one in enumerate(tasks)}
    lines.sort(key=lambda line: order[line["label"]])
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "lines.json").write_text(json.dumps(lines, indent=1) + "\n")
    table = summary(lines, policies)
    (args.out / "table.md").write_text(table.markdown() + "\n")
    print(table.text())
    if (args.only, args.seeds, policies) == (list(FILES), 0, ["voi"]):
        keep_run("time-files", {"table": [Grid("", table.header, table.rows)]})


if __name__ == "__main__":
    main()
