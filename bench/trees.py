"""What trees are worth, and what they cost where nothing bends: ``make bench ARGS=trees``.

``voi`` with its defaults beside ``voi`` without trees and beside a booster that is told every label, in one replay
each: made-up streams of which the truth is known, the public files in random order, and files in the order of time with
late labels. With ``--part speed``: what an item, a replay and an adoption take, side by side.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import appletaste as at
from appletaste._files import write_aside
from appletaste.cli.console import progress_of
from appletaste.engines import engine
from appletaste.policies import PolicySpec
from appletaste.policies.trees import TreesLearner
from appletaste.replays.comparators import BOOSTER

from .figures.parts import Figure, Grid, table
from .figures.stored import keep_run
from .files.streams import STREAMS as FILES
from .ordered.__main__ import DATA, HOTEL
from .ordered.__main__ import FILES as ORDERED
from .peers.summary import mean_and_error

#: Rows of a file in random order that are played.
MOST = 12_000
PLAYERS = [PolicySpec("voi", {}), PolicySpec("voi", {"trees": False})]
WITH, WITHOUT = (player.label for player in PLAYERS)
COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)


def made(kind: str, seed: int, rows: int) -> dict[str, np.ndarray]:
    """Return a stream of which the truth is known: log-odds of six numbers, some of which say nothing."""
    rng = np.random.default_rng((7, seed, len(kind)))
    x = rng.normal(size=(rows, 6))
    a, b, c = x[:, 0], x[:, 1], x[:, 2]
    score = {
        "linear": a + b - c - 1.5,
        "noise": np.full(rows, -1.5),
        "rare": 1.2 * (a + b) - 6.5,
        "curved": 2.0 * np.abs(a) + 1.5 * (b > 0.5) - 4.0,
        "xor": 4.0 * np.sign(a * b) - 1.0,
        "three-way": 4.0 * np.sign(a * b * c) - 1.0,
    }[kind]
    columns: dict[str, np.ndarray] = {f"x{k}": column for k, column in enumerate(x.T)}
    return columns | {"bad": (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(int)}


KINDS = ("linear", "noise", "rare", "curved", "xor", "three-way")


@dataclass(frozen=True)
class Run:
    """One order of one stream."""

    name: str
    number: int
    rows: int
    part: str

    def play(self) -> dict[str, float]:
        """Return what everybody costs for 1,000 items."""
        options: dict[str, Any] = {"shuffles": 1, "seed": 1 + self.number}
        costs: Any = COSTS
        if self.part == "made":
            rows, label = made(self.name, self.number, self.rows), "bad"
        elif self.part == "random":
            rows, label, costs, more = self._shuffled()
            options |= more
        else:
            file, reading, costs = ORDERED[self.name]
            rows, label = DATA / file, reading["label"]
            options = {"seed": 1, **{name: told for name, told in reading.items() if name != "label"}}
            options |= {} if "time" in reading else {"order": "as is"}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = at.replay(rows, label, costs=costs, policies=PLAYERS, **options)
        return {name: float(found[name].cost_per_1000.mean) for name in found}

    def _shuffled(self) -> tuple[dict[str, np.ndarray], str, Any, dict[str, Any]]:
        """Return some rows of a file in random order, the label's column, what outcomes cost, and how rows are read."""
        more: dict[str, Any] = {}
        if self.name in ORDERED and self.name not in FILES:
            file, reading, costs = ORDERED[self.name]
            drop, label = list(HOTEL.values()), reading["label"]
            more = {name: told for name, told in reading.items() if name == "positive"}
        else:
            chosen = FILES[self.name]
            file, drop, label, costs = chosen.file, [], "label", chosen.costs
        table = {name: column for name, column in at.read_records(DATA / file).columns.items() if name not in drop}
        order = at.Key(1).at("bench-trees", self.name, self.number).generator()
        kept = order.permutation(len(table[label]))[:MOST]
        return {name: np.asarray(column)[kept] for name, column in table.items()}, label, costs, more


def runs(args: argparse.Namespace) -> list[Run]:
    """Return what is to be played."""
    found = [Run(kind, seed, args.rows, "made") for kind in KINDS for seed in range(args.seeds)]
    if DATA.exists():
        files = ["hotel_inn", "hotel_resort", *(name for name, one in FILES.items() if one.shuffled)]
        found = [Run(name, number, 0, "random") for name in files for number in range(args.orders)] + found
        found = [Run(name, 0, 0, "in order") for name in ORDERED] + found
    return [run for run in found if not args.only or any(word in (run.name, run.part) for word in args.only)]


def summary(found: dict[str, list[dict[str, float]]]) -> Grid:
    """Return the table: what is saved against the better constant, and as a share of what the booster saves."""
    rows = []
    for name, orders in found.items():
        constant = np.array([min(one["never"], one["always"]) for one in orders])
        saved = {who: constant - np.array([one[who] for one in orders]) for who in orders[0]}
        gained = list(saved[WITH] - saved[WITHOUT])
        share = float(saved[WITH].sum() / saved[BOOSTER].sum()) if saved[BOOSTER].sum() > 0 else float("nan")
        before = float(saved[WITHOUT].sum() / saved[BOOSTER].sum()) if saved[BOOSTER].sum() > 0 else float("nan")
        mean, error = mean_and_error(gained)
        rows.append(
            (
                name,
                f"{constant.mean():,.1f}",
                *(f"{saved[who].mean():,.1f}" for who in (BOOSTER, WITHOUT, WITH)),
                f"{mean:+,.2f}" + (f" ± {error:,.2f}" if len(orders) > 1 else ""),
                *("-" if one != one or abs(one) > 9 else f"{one:.2f}" for one in (before, share)),
                str(len(orders)),
            )
        )
    heading = ("stream", "better constant", f"{BOOSTER} saves", "without trees", "with trees", "difference")
    return table((*heading, "share without", "share with", "orders"), rows)


def in_sentences(told: Grid) -> dict[str, Figure]:
    """Return the least and the most that is saved on files in random order, as a share of what the booster saves."""
    place = told.header.index("share with")
    shares = [row[place] for row in told.rows if row[0].endswith(", random") and row[place] != "-"]
    return {"least": min(shares, key=float), "most": max(shares, key=float)}


# ---- speed


def decisions(d: int, trees: bool, rounds: int = 6000, batch: int = 200) -> list[float]:
    """Return microseconds of decide with d columns and 3,000 labels, in each of many short runs."""
    rng = np.random.default_rng(1)
    items = np.column_stack([np.ones(rounds), rng.normal(size=(rounds, d - 1))])
    chance = 1 / (1 + np.exp(-3 * np.sign(items[:, 1] * items[:, 2])))
    labels = (rng.random(rounds) < chance).astype(int)
    policy = at.policy("voi", n_features=d, costs=COSTS, seed=1, trees=True)
    for x, label in zip(items[:3000], labels[:3000], strict=True):
        policy.teach(x, int(label))
    learner = policy.learner
    assert isinstance(learner, TreesLearner)
    assert learner.forest is not None
    if not trees:
        policy = at.policy("voi", n_features=d, costs=COSTS, seed=1, trees=False)
        for x, label in zip(items[:3000], labels[:3000], strict=True):
            policy.teach(x, int(label))
    taken = []
    for start in range(3000, rounds, batch):
        began = time.perf_counter()
        for x in items[start : start + batch]:
            policy.decide(x)
        taken.append(1e6 * (time.perf_counter() - began) / batch)
    return taken


def adoption(labels: int) -> dict[str, float]:
    """Return milliseconds: of fitting beside decisions, and of what a decision waits for, at so many labels."""
    rng = np.random.default_rng(2)
    items = np.column_stack([np.ones(labels), rng.normal(size=(labels, 19))])
    truth = rng.random(labels) < 1 / (1 + np.exp(-3 * np.sign(items[:, 1] * items[:, 2])))
    policy = at.policy("voi", n_features=20, costs=COSTS, seed=1, trees=True)
    policy.fits_trees = False
    for x, label in zip(items, truth, strict=True):
        policy.teach(x, int(label))
    learner = policy.learner
    assert isinstance(learner, TreesLearner)
    marks = [time.perf_counter()]
    fitting = learner.fitting()
    marks.append(time.perf_counter())
    found = fitting.run()
    marks.append(time.perf_counter())
    for x, label in zip(items[:200], truth[:200], strict=True):  # that came meanwhile
        policy.teach(x, int(label))
    marks.append(time.perf_counter())
    learner.adopt(found)
    marks.append(time.perf_counter())
    held, fitted, _, adopted = (1000.0 * (b - a) for a, b in pairwise(marks))
    return {"hold labels, ms": held, "fit beside, ms": fitted, "adopt, ms": adopted}


def replayed(trees: bool, rows: int = 12_000) -> float:
    """Return the seconds of a replay of made-up rows, refits included."""
    table = made("xor", 3, rows)
    player = PLAYERS[0 if trees else 1]
    found = at.replay(table, "bad", costs=COSTS, policies=[player], shuffles=1, jobs=1)
    return rows / found[player.label].items_per_second


def speed(labels: int) -> Grid:
    """Measure with and without trees in turn, in one run."""
    at.replay(made("xor", 1, 800), "bad", costs=COSTS, policies=PLAYERS[:1], shuffles=1, jobs=1)  # loads what there is
    rows: list[tuple[str, str, str, str]] = []
    for d in (5, 20, 60):
        ours, plain = (float(np.median(decisions(d, trees))) for trees in (True, False))
        rows.append((f"deciding, {d} columns, µs", f"{ours:.1f}", f"{plain:.1f}", f"{ours / plain:.1f}"))
    ours, plain = (
        float(np.median(times)) for times in zip(*((replayed(True), replayed(False)) for _ in range(3)), strict=True)
    )
    rows.append(("a replay of 12,000 rows, refits included, s", f"{ours:.2f}", f"{plain:.2f}", f"{ours / plain:.1f}"))
    found = adoption(labels)
    what = (("fitting beside decisions", "fit beside, ms", 1e3), ("holding the labels for it", "hold labels, ms", 1e3))
    for said, name, unit in what:
        rows.append((f"{said} at {labels:,} labels of 20 columns, s", f"{found[name] / unit:.2g}", "", ""))
    rows.append(("what a decision waits for when these trees are adopted, ms", f"{found['adopt, ms']:.1f}", "", ""))
    return table(("", "with trees", "without", "ratio"), rows)


def main() -> None:
    """Play, keep what was found, write the table."""
    parser = argparse.ArgumentParser(prog="python -m bench trees", description=__doc__)
    parser.add_argument("--part", choices=("all", "play", "speed"), default="all", help="all, or one of two")
    parser.add_argument("--only", nargs="+", metavar="STREAM", help="these streams, or 'made', 'random', 'in order'")
    parser.add_argument("--seeds", type=int, default=20, help="seeds of each made-up stream (default 20)")
    parser.add_argument("--rows", type=int, default=6000, help="items of each made-up stream (default 6000)")
    parser.add_argument("--orders", type=int, default=3, help="random orders of each file (default 3)")
    parser.add_argument("--labels", type=int, default=100_000, help="labels at which an adoption is timed")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default 2)")
    parser.add_argument("--out", type=Path, default=Path("out/bench-trees.json"), help="where results are kept")
    args = parser.parse_args()
    args.out.parent.mkdir(parents=True, exist_ok=True)
    if args.part != "play":
        told = speed(args.labels)
        print(told.text())
        if args.labels == parser.get_default("labels"):
            keep_run("trees-speed", {"table": [told]})
    if args.part == "speed":
        return
    tasks = runs(args)
    kinds = [f"{run.name}, {run.part}" for run in tasks]
    costs: list[dict[str, float]] = [{}] * len(tasks)
    with progress_of("playing", kinds, args.jobs) as step, engine("local", jobs=args.jobs) as workers:
        for index, found in workers.run(Run.play, tasks):
            costs[index] = found
            step(kinds[index])
    grouped: dict[str, list[dict[str, float]]] = {}
    for kind, one in zip(kinds, costs, strict=True):
        grouped.setdefault(kind, []).append(one)
    write_aside(args.out, json.dumps(grouped, indent=1).encode())
    told = summary(grouped)
    print(told.text())
    sizes = all(vars(args)[name] == parser.get_default(name) for name in ("seeds", "rows", "orders"))
    if not args.only and DATA.exists() and sizes:
        keep_run("trees", {"table": [told]} | in_sentences(told))


if __name__ == "__main__":
    main()
