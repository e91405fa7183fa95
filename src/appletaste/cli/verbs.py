"""What the verbs of the command line do. Extras are imported where they are needed, everything else here."""

from __future__ import annotations

import argparse
import json
import sys
import time
from typing import Any

from .._files import check_folder, write_aside
from ..errors import OptionError
from ..pages.charts import require_pyplot
from ..paper import PRECISION_RECALL, Cell, precision_recall_cells
from ..paper.play import missing, play_missing
from ..paper.store import Store
from ..paper.studies import find_studies
from ..policies import OPTION_HELP, list_policies
from ..problems import PROBLEMS, problem, settings_of
from ..simulate import Entry
from ..simulate.pictures import draw_runs
from ..simulate.runs import RESULTS, describe, require_pyarrow, write_run
from .arguments import parse_costs, parse_entries
from .console import open_engine, play_with_progress, print_table, progress_bar, show
from .log_verb import run_example as run_example
from .log_verb import run_missed as run_missed
from .log_verb import run_plan_audit as run_plan_audit
from .log_verb import run_report as run_report
from .log_verb import run_what_if as run_what_if
from .replay_verb import run_replay as run_replay

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
    settings = {name: getattr(args, name) for name in PROBLEM_SETTINGS if getattr(args, name) is not None}
    chosen = problem(args.problem, **settings)
    entries = parse_entries(args.policy or ["pg-ts", "pg-ids", "greedy"], args.option)
    costs = None if args.costs is None else parse_costs(args.costs)
    if costs is not None and args.reading is not None:
        raise OptionError("--reading and --costs both say what the losses are: give one")
    if args.out:
        require_pyarrow(), require_pyplot()  # say what is missing before the work, not after it
        check_folder(args.out, RESULTS)
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
    require_pyarrow(), require_pyplot()
    for name in PRECISION_RECALL:
        check_folder(args.out / name, RESULTS)
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
    from ..paper.report import build

    require_pyarrow(), require_pyplot()
    replications = 4 if args.quick else args.replications
    if replications < 2:
        raise OptionError(f"replications must be at least 2, got {replications}")
    studies = find_studies(args.only, args.reading)
    store = Store(args.out / "pairings", args.seed)
    started = time.perf_counter()
    tasks = len(missing(studies, store, replications))
    with open_engine(args) as workers, progress_bar("paper", tasks) as step:
        work = play_missing(
            studies,
            store,
            replications,
            workers,
            progress=lambda pairing: step(f"{pairing.problem.name}: {pairing.entry.label}"),
            finished=lambda name, seconds: print(f"{name}: played, {seconds:.0f} s of work", file=sys.stderr),
        )
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


def run_game(args: argparse.Namespace) -> None:
    """Say what kind of game a file holds."""
    from ..theory.game import read_game
    from ..theory.report import describe_game, game_sheets

    found = describe_game(read_game(args.file))
    if args.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{found['name']}: {found['class']}, minimax regret of order {found['rate']}\n")
    print("\n".join(found["in_words"]))
    for sheet in game_sheets(found):
        print(f"\n{sheet.title}")
        print_table("", sheet.columns, sheet.rows)


def run_theory(args: argparse.Namespace) -> None:
    """Set the paper's theory beside measurements."""
    from ..theory.report import plain, study, study_sheets

    def say(step: str) -> None:
        if sys.stderr.isatty():
            print(f"{step} ...", file=sys.stderr)

    found = study(quick=args.quick, seed=args.seed, jobs=args.jobs, progress=say)
    if args.json:
        print(json.dumps(plain(found), indent=2))
        return
    for sheet in study_sheets(found):
        print(sheet.title)
        print_table("", sheet.columns, sheet.rows)
        print()


def run_policies(args: argparse.Namespace) -> None:
    """List the policies."""
    if args.json:
        rows = [{"name": info.name, "summary": info.summary, "options": info.options} for info in list_policies()]
        print(json.dumps(rows, indent=2, default=str))
        return
    for info in list_policies():
        print(f"{info.name}\n    {info.summary}")
        for option, default in info.options.items():
            print(f"      {option}={str(default).lower() if default in (None, True, False) else default}")
            print(f"          {OPTION_HELP[option]}")


def run_problems(args: argparse.Namespace) -> None:
    """List the problems."""
    if args.json:
        rows = [{"name": n, "summary": kind.summary, "settings": settings_of(n)} for n, kind in PROBLEMS.items()]
        print(json.dumps(rows, indent=2))
        return
    for name, kind in PROBLEMS.items():
        flags = " ".join(f"--{setting.replace('_', '-')}" for setting in settings_of(name))
        print(f"{name}\n    {kind.summary}\n    {kind.__doc__}\n      settings: {flags}")
