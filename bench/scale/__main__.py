"""How cost grows with labels and features, and over cores: ``make bench ARGS=scale``, about ten minutes on two cores.

Each stream runs in a process of its own, one at a time. Results are in out/bench-scale; those of a
whole run are stored, and put into the pages with their picture.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

import appletaste as at
from appletaste.policies import PolicySpec

from ..figures.pages import page_of
from ..figures.stored import keep_run
from ..peers.latency import ONE_THREAD, measure_alone
from ..peers.players import all_players
from .page import draw, parts, short, slowest

MILLION = 1_000_000
#: policy, features, labels, times played: the ratios that are promised are measured at d = 20.
STREAMS = [
    ("voi", 20, MILLION, 2),
    ("exact-ts", 20, MILLION, 2),
    ("exact-voi", 20, MILLION, 2),
    ("adf-voi", 20, MILLION, 2),
    ("voi", 5, MILLION, 2),
    ("exact-ts", 5, MILLION, 2),
    ("voi", 100, MILLION, 2),
    ("pg-ts", 5, 10_000, 2),
    ("pg-ts", 20, 3_000, 2),
]
GROWTH = [("voi", d, 10_000, 1) for d in (2, 5, 10, 20, 50, 100, 200)]
GROWTH += [("adf-voi", d, 3_000, 1) for d in (2, 5, 10, 20, 50, 100, 200)]


def stream(name: str, d: int, labels: int, passes: int) -> dict:
    """Return what one stream took."""
    command = [sys.executable, "-m", "bench.scale.stream", name, str(d), str(labels), str(passes)]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def batches() -> list[dict]:
    """Return items a second, deciding one by one and many at once, with 10,000 labels learnt."""
    rows = []
    for d in (5, 20, 100):
        items = at.problem("synthetic", features=d, rounds=10_000).draw(at.Key(1))
        policy = at.policy(n_features=d, costs=items.costs)
        at.play(policy, items)
        began = time.perf_counter()
        for x in items.items:
            policy.decide(x)
        one = time.perf_counter() - began
        policy.decide_many(items.items)
        began = time.perf_counter()
        policy.decide_many(items.items)
        rows.append({"d": d, "one": 1e4 / one, "many": 1e4 / (time.perf_counter() - began)})
    return rows


def replications() -> list[dict]:
    """Return rounds a second of ``replicate`` on one process and on all cores."""
    problem, entries, count = at.problem("synthetic", features=20, rounds=2000), [PolicySpec("voi", {})], 40
    rows = []
    for jobs in sorted({1, os.cpu_count() or 1}):
        at.replicate(problem, entries, jobs, jobs=jobs)  # starts the workers
        began = time.perf_counter()
        at.replicate(problem, entries, count, jobs=jobs)
        rows.append({"processes": jobs, "rounds_a_second": count * problem.rounds / (time.perf_counter() - began)})
    return rows


def vowpal_wabbit() -> dict | None:
    """Return the round of Vowpal Wabbit's fastest mode at d = 20 through its own interface, if it is installed."""
    names = [name for name, player in all_players().items() if player.library == "vowpalwabbit"]
    found = [row for row in map(measure_alone, names) if "error" not in row]
    return min(found, key=lambda row: row["p50"], default=None)


def main() -> None:
    """Measure, keep the results, write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m bench scale", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a smoke run of a minute: 3,000 labels; writes no page")
    parser.add_argument("--out", type=Path, default=Path("out/bench-scale"), help="where results are kept")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    args = parser.parse_args()
    limit = 3_000 if args.quick else MILLION
    jobs = [(name, d, min(labels, limit), passes) for name, d, labels, passes in STREAMS + GROWTH]
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    results: dict = {"streams": [], "growth": []}
    with Progress(*columns) as bar:
        task = bar.add_task("", total=len(jobs))
        for place, job in enumerate(jobs):
            bar.update(task, description=f"{job[0]}, d = {job[1]}, {job[2]:,} labels")
            results["streams" if place < len(STREAMS) else "growth"].append(stream(*job))
            bar.advance(task)
    results |= {"batches": batches(), "replications": replications(), "vowpal_wabbit": vowpal_wabbit()}
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    if args.json:
        print(json.dumps(results))
    if not args.quick:
        picture = page_of("scale.tables").with_name("scale.svg")
        draw(results, picture)
        keep_run("scale", {"tables": parts(results), "slowest": slowest(results), "short": [short(results)]}, [picture])


if __name__ == "__main__":
    main()
