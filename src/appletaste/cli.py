"""The command line: thin verbs over the library. Heavy imports wait until a verb needs them."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import __version__
from .errors import AppleTasteError, OptionError

if TYPE_CHECKING:
    from .paper import Cell

DESCRIPTION = """\
Decide which items to act on when the true label is seen only if you act.

Policies (what decides) play problems (what arrives); regret is the expected
cost above that of the best action for every item."""

EXAMPLES = """\
examples:
  appletaste policies                        what can decide, and its options
  appletaste problems                        what can arrive
  appletaste simulate --problem i --policy pg-ts --policy pg-ids
  appletaste demo                            the paper's problems beside its tables
"""

SIMULATE_EXAMPLES = """\
examples:
  appletaste simulate --problem i --policy pg-ts --policy pg-ids --replications 200 --seed 1
  appletaste simulate --problem iii --policy pg-ids --option pg-ids.weight=0.2 --json
  appletaste simulate --problem i --policy 'pg-ids[weight=0]' --policy 'pg-ids[weight=0.4]' --out out/weights
  appletaste simulate --problem synthetic --features 10 --rounds 2000 --intercept -3 \\
      --costs miss=5,false_alarm=1,hit=0.5 --policy pg-ts --policy never
"""

PAPER_EXAMPLES = """\
studies: figure-1 (with Tables 1-3), figure-2a, figure-2b, figure-3 (with Tables 4-6), readings, estimators

examples:
  appletaste paper                                   50 replications, as in the paper
  appletaste paper --quick                           a smoke test
  appletaste paper --replications 200 --out out/200  four times as many
  appletaste paper --only figure-2b --only readings  parts of it
"""

#: Options of ``simulate`` that are settings of some problems.
PROBLEM_SETTINGS = (
    "reading",
    "features",
    "rounds",
    "scaling",
    "context_variance",
    "intercept",
    "theta",
    "theta_scale",
)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("appletaste", description=DESCRIPTION, epilog=EXAMPLES, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"appletaste {__version__}")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)

    simulate = verbs.add_parser(
        "simulate",
        help="play policies on a problem and compare their regret",
        description="Play policies on the same replications of a problem and compare them.",
        epilog=SIMULATE_EXAMPLES,
        formatter_class=raw,
    )
    simulate.add_argument("--problem", default="i", help="what arrives (see 'appletaste problems'; default i)")
    simulate.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="what decides; repeat to compare; NAME[option=value,...] sets options",
    )
    simulate.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME.OPTION=VALUE",
        help="set an option of a policy, e.g. pg-ids.weight=0.2",
    )
    simulate.add_argument("--replications", type=int, default=50, metavar="N", help="how many times (default 50)")
    simulate.add_argument("--seed", type=int, default=1, help="where all randomness comes from (default 1)")
    simulate.add_argument("--reading", help="the paper's losses: as-run (default) or as-printed (see docs/paper.md)")
    simulate.add_argument("--costs", metavar="miss=1,false_alarm=0.4,hit=0.05", help="costs instead of the problem's")
    add_common(simulate)
    simulate.add_argument("--out", type=Path, metavar="DIR", help="write results, a manifest and the regret plot")
    own = simulate.add_argument_group("the problem's own settings")
    own.add_argument("--features", type=int, metavar="D", help="number of features (dimension, synthetic)")
    own.add_argument("--rounds", type=int, metavar="T", help="number of items")
    own.add_argument("--scaling", help="dimension: items' variance d^-1/2 (printed) or d^-1 (constant)")
    own.add_argument("--context-variance", type=float, metavar="V", help="synthetic: variance of each feature")
    own.add_argument("--intercept", type=float, metavar="A", help="synthetic: add a constant feature with this weight")
    own.add_argument("--theta", help="synthetic: law of the true parameter, uniform or normal")
    own.add_argument("--theta-scale", type=float, metavar="S", help="synthetic: its half-width or standard deviation")
    simulate.set_defaults(run=run_simulate)

    paper = verbs.add_parser(
        "paper",
        help="rebuild every figure and table of the paper, and a report",
        description="Rebuild every figure and table of the paper and write a report: index.html (opens without a "
        "network), report.md, tables.json, figures as SVG and PNG. Finished work is kept: run it again after an "
        "interruption and it goes on where it stopped.",
        epilog=PAPER_EXAMPLES,
        formatter_class=raw,
    )
    paper.add_argument("--replications", type=int, default=50, metavar="N", help="default 50, as in the paper")
    paper.add_argument("--quick", action="store_true", help="4 replications: a smoke test; its z mean little")
    paper.add_argument("--only", action="append", default=[], metavar="STUDY", help="one study; repeat for more")
    paper.add_argument("--reading", default="as-run", help="the paper's losses: as-run (default) or as-printed")
    paper.add_argument("--seed", type=int, default=1, help="where all randomness comes from (default 1)")
    add_common(paper)
    paper.add_argument("--out", type=Path, default=Path("out/paper"), metavar="DIR", help="default out/paper")
    paper.set_defaults(run=run_paper)

    for verb, text, run in (
        ("policies", "list the policies and their options", run_policies),
        ("problems", "list the problems and their settings", run_problems),
    ):
        lister = verbs.add_parser(verb, help=text, description=text.capitalize() + ".")
        lister.add_argument("--json", action="store_true", help="print JSON for machines")
        lister.set_defaults(run=run)

    demo = verbs.add_parser(
        "demo",
        help="the paper's policies on its three problems, beside its tables",
        description="Play the paper's six policies on its three problems; show precision and recall beside the "
        "published tables and save the regret picture.",
    )
    demo.add_argument("--replications", type=int, default=100, metavar="N", help="how many times (default 100)")
    demo.add_argument("--seed", type=int, default=1, help="where all randomness comes from (default 1)")
    add_common(demo)
    demo.add_argument("--out", type=Path, default=Path("out/demo"), metavar="DIR", help="default out/demo")
    demo.set_defaults(run=run_demo)
    return parser


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that every playing verb has."""
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, metavar="J", help="processes (default: all cores)"
    )
    parser.add_argument(
        "--engine",
        default="local",
        metavar="NAME",
        help="who does the work: local (default), ray or dask (see docs/clusters.md); the numbers are the same",
    )
    parser.add_argument(
        "--address",
        metavar="HOST:PORT",
        help="of a Ray or Dask cluster (default: from the environment, or else a cluster of --jobs workers here)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON for machines")


def manifest_of(
    args: argparse.Namespace, problem: str, reading: str | None, started: float, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what made a run: enough to make it again."""
    return {
        "problem": problem,
        "reading": reading,
        "replications": args.replications,
        "seed": args.seed,
        "wall_seconds": time.perf_counter() - started,
        "policies": rows,
    }


def run_simulate(args: argparse.Namespace) -> None:
    """Play policies on a problem and print, and if asked store and draw, the results."""
    from .arguments import parse_costs, parse_entries
    from .console import open_engine, play_with_progress, print_table, show
    from .problems import problem
    from .runs import check_folder, describe, require_pyarrow, write_run

    settings = {name: getattr(args, name) for name in PROBLEM_SETTINGS if getattr(args, name) is not None}
    chosen = problem(args.problem, **settings)
    entries = parse_entries(args.policy or ["pg-ts", "pg-ids", "greedy"], args.option)
    costs = None if args.costs is None else parse_costs(args.costs)
    if costs is not None and args.reading is not None:
        raise OptionError("--reading and --costs both say what the losses are: give one")
    if args.out:
        from .plots import draw_runs, require_pyplot

        require_pyarrow(), require_pyplot()  # say what is missing before the work, not after it
        check_folder(args.out)
    reading = getattr(chosen, "reading", None) if costs is None else None
    started = time.perf_counter()
    with open_engine(args) as workers:
        results = play_with_progress(f"problem {args.problem}", chosen, entries, args, workers, costs)
    rows = [describe(result, args.problem, reading) for result in results]
    if args.out:
        manifest = manifest_of(args, args.problem, reading, started, rows)
        write_run(args.out, results, manifest | {"settings": settings, "costs": costs.outcomes() if costs else None})
        draw_runs([args.out], [args.out / "regret.png", args.out / "regret.svg"])
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    names = ("policy", "regret", "s.e.", "5 %", "median", "95 %", "precision", "recall", "acted", "ms/run")
    print_table(
        f"problem {args.problem}, {rows[0]['rounds']} items, {args.replications} replications, seed {args.seed}",
        names,
        [
            (
                result.entry.label,
                *(show(row["regret"][key], 2) for key in ("mean", "se", "q05", "q50", "q95")),
                *(show(row[key]["mean"]) for key in ("precision", "recall")),
                show(row["act_rate"]),
                show(1000 * row["seconds"] / args.replications, 1),
            )
            for result, row in zip(results, rows, strict=True)
        ],
    )
    if args.out:
        print(f"results, manifest and pictures are in {args.out}")


def run_demo(args: argparse.Namespace) -> None:
    """Play the paper's policies on its problems and set precision and recall beside its tables."""
    from .console import open_engine, play_with_progress, print_table, show
    from .paper import PRECISION_RECALL, precision_recall_cells
    from .plots import draw_runs, require_pyplot
    from .problems import problem
    from .runs import check_folder, describe, require_pyarrow, write_run
    from .simulate import Entry

    require_pyarrow(), require_pyplot()
    for name in PRECISION_RECALL:
        check_folder(args.out / name)
    cells: list[Cell] = []
    lines: list[tuple[str, ...]] = []
    with open_engine(args) as workers:
        for name, table in PRECISION_RECALL.items():
            started = time.perf_counter()
            entries = [Entry(policy, {}) for policy in table]
            results = play_with_progress(f"problem ({name})", problem(name), entries, args, workers)
            rows = [describe(result, name, "as-run") for result in results]
            write_run(args.out / name, results, manifest_of(args, name, "as-run", started, rows))
            for result in results:
                line = [f"({name}) {result.entry.name}", show(float(result.final_regret.mean()), 2)]
                measures = {"precision": result.precision, "recall": result.recall}
                for cell in precision_recall_cells("demo", name, result.entry.name, measures):
                    cells.append(cell)
                    line += [show(cell.ours), f"{cell.published:.2f}", f"{show(cell.z, 1)} {cell.verdict}"]
                lines.append(tuple(line))
    picture = args.out / "regret.png"
    draw_runs([args.out / name for name in PRECISION_RECALL], [picture, picture.with_suffix(".svg")])
    if args.json:
        print(json.dumps([cell.as_json() for cell in cells], indent=2))
        return
    print_table(
        f"the paper's problems, {args.replications} replications, seed {args.seed} (theirs: 50)",
        ("policy", "regret", "precision", "paper", "z", "recall", "paper", "z"),
        lines,
    )
    print("z: distance from the published cell in standard errors; 'ok' within 3, 'known': no reading gives that cell")
    print(f"picture: {picture}")


def run_paper(args: argparse.Namespace) -> None:
    """Rebuild the paper's evidence and write the report."""
    from .console import open_engine, print_table, progress_bar, show
    from .paper.play import missing, play_missing
    from .paper.report import build
    from .paper.store import Store, write_aside
    from .paper.studies import find_studies
    from .plots import require_pyplot
    from .runs import require_pyarrow

    require_pyarrow(), require_pyplot()
    replications = 4 if args.quick else args.replications
    if replications < 2:
        raise OptionError(f"replications must be at least 2, got {replications}")
    studies = find_studies(args.only, args.reading)
    store = Store(args.out / "pairings", args.seed)
    started = time.perf_counter()
    tasks = len(missing(studies, store, replications))
    with open_engine(args) as workers, progress_bar("paper", tasks) as step:
        work = play_missing(studies, store, replications, workers, lambda p: step(f"{p.problem.name}: {p.entry.label}"))
    played = time.perf_counter() - started
    cells = build(store, replications, studies, args.out, args.reading)
    wall = time.perf_counter() - started
    timing = {
        "wall_seconds": wall,
        "playing_seconds": played,
        "replications_played": tasks,
        "work_seconds_by_study": work,
    }
    write_aside(args.out / "timing.json", (json.dumps(timing, indent=1) + "\n").encode())
    if args.json:
        print(json.dumps(cells, indent=1))
        return
    rows = []
    for study in studies:
        mine = [cell for cell in cells if cell["study"] == study.name]
        apart = [cell for cell in mine if not cell["agrees"]]
        known = sum(cell["known_mismatch"] is not None for cell in apart)
        numbers = (len(mine), len(mine) - len(apart), known, len(apart) - known)
        counts = tuple(str(count) for count in numbers) if mine else ("", "", "", "")
        rows.append((study.name, str(len(study.pairings)), show(work[study.name], 1), *counts))
    header = ("study", "pairings", "seconds of work", "cells", "agree", "known mismatches", "disagree")
    print_table(f"{replications} replications, seed {args.seed}, {wall:.0f} s", header, rows)
    if args.quick:
        print("4 replications say little about agreement: leave --quick out for the real thing")
    print(f"report: {args.out / 'index.html'}")


def run_policies(args: argparse.Namespace) -> None:
    """List the policies."""
    from .policies import OPTION_HELP, policies

    if args.json:
        rows = [{"name": info.name, "summary": info.summary, "options": info.options} for info in policies()]
        print(json.dumps(rows, indent=2, default=str))
        return
    for info in policies():
        print(f"{info.name}\n    {info.summary}")
        for option, default in info.options.items():
            print(f"      {option}={str(default).lower() if default in (None, True, False) else default}")
            print(f"          {OPTION_HELP[option]}")


def run_problems(args: argparse.Namespace) -> None:
    """List the problems."""
    from .problems import PROBLEMS, settings_of

    if args.json:
        rows = [{"name": n, "summary": kind.summary, "settings": settings_of(n)} for n, kind in PROBLEMS.items()]
        print(json.dumps(rows, indent=2))
        return
    for name, kind in PROBLEMS.items():
        flags = " ".join(f"--{setting.replace('_', '-')}" for setting in settings_of(name))
        print(f"{name}\n    {kind.summary}\n    {kind.__doc__}\n      settings: {flags}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; a mistake in the call ends with one sentence and exit code 2."""
    args = build_parser().parse_args(arguments)
    try:
        args.run(args)
    except (AppleTasteError, OSError) as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"appletaste: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("appletaste: stopped", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
