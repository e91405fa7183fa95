"""``appletaste simulate``: play policies on a problem and compare their regret."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from ..errors import OptionError
from .options import add_engine_options, add_policy_options, add_verb

EXAMPLES = """\
examples:
  appletaste simulate --problem i --policy pg-ts --policy pg-ids --replications 200 --seed 1
  appletaste simulate --problem iii --policy 'pg-ids[weight=0.2]' --json
  appletaste simulate --problem i --policy 'pg-ids[weight=0]' --policy 'pg-ids[weight=0.4]' --out out/weights
  appletaste simulate --problem synthetic --features 10 --rounds 2000 --intercept -3 \\
      --costs miss=5,false_alarm=1,hit=0.5 --policy pg-ts --policy never
"""

#: What plays where nobody says.
DEFAULT = ("pg-ts", "pg-ids", "greedy")
#: Options that are settings of some problems.
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
COLUMNS = ("policy", "regret", "s.e.", "5 %", "median", "95 %", "precision", "recall", "acted", "ms/run")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs,
        "simulate",
        run,
        "play policies on a problem and compare their regret",
        "Play policies on the same replications of a problem and compare them.",
        EXAMPLES,
    )
    parser.add_argument("--problem", default="i", help="what arrives (see 'appletaste problems'; default i)")
    add_policy_options(parser, ", ".join(DEFAULT))
    parser.add_argument("--replications", type=int, default=50, metavar="N", help="how many times (default 50)")
    parser.add_argument("--reading", help="the paper's losses: as-run (default) or as-printed (see docs/paper.md)")
    parser.add_argument("--costs", metavar="miss=1,false_alarm=0.4,hit=0.05", help="costs instead of the problem's")
    add_engine_options(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write results, a manifest and the regret plot")
    own = parser.add_argument_group("the problem's own settings")
    own.add_argument("--features", type=int, metavar="D", help="number of features (dimension, synthetic)")
    own.add_argument("--rounds", type=int, metavar="T", help="number of items")
    own.add_argument("--scaling", help="dimension: items' variance d^-1/2 (printed) or d^-1 (constant)")
    own.add_argument("--context-variance", type=float, metavar="V", help="synthetic: variance of each feature")
    own.add_argument("--intercept", type=float, metavar="A", help="synthetic: add a constant feature with this weight")
    own.add_argument("--theta", help="synthetic: law of the true parameter, uniform or normal")
    own.add_argument("--theta-scale", type=float, metavar="S", help="synthetic: its half-width or standard deviation")


def run(args: argparse.Namespace) -> None:
    """Play policies on a problem and print, and if asked store and draw, the results."""
    from .._files import check_folder
    from ..pages.charts import require_pyplot
    from ..problems import problem, settings_of
    from ..simulate.runs import RESULTS, draw_runs, require_pyarrow, write_run
    from .arguments import parse_entries, parse_one_sheet
    from .console import open_engine, play_with_progress, print_json, print_table, show

    settings = {name: getattr(args, name) for name in PROBLEM_SETTINGS if getattr(args, name) is not None}
    chosen = problem(args.problem, **settings)
    entries = parse_entries(args.policy or DEFAULT)
    costs = None if args.costs is None else parse_one_sheet(args.costs)
    if costs is not None and args.reading is not None:
        raise OptionError("--reading and --costs both say what the losses are: give one")
    if args.out:
        require_pyarrow(), require_pyplot()  # say what is missing before the work, not after it
        check_folder(args.out, RESULTS)
    reading = (args.reading or "as-run") if costs is None and "reading" in settings_of(args.problem) else None
    started = time.perf_counter()
    with open_engine(args) as workers:
        results = play_with_progress(f"problem {args.problem}", chosen, entries, args, workers, costs)
    rows = [{"problem": args.problem, "reading": reading, **result.as_dict()} for result in results]
    if args.out:
        manifest = manifest_of(args, args.problem, reading, time.perf_counter() - started, rows)
        write_run(args.out, results, manifest | {"settings": settings, "costs": costs.outcomes() if costs else None})
        draw_runs([args.out], [args.out / "regret.png", args.out / "regret.svg"])
    if args.json:
        print_json(rows)
        return
    print_table(
        f"problem {args.problem}, {rows[0]['rounds']} items, {args.replications} replications, seed {args.seed}",
        COLUMNS,
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


def manifest_of(
    args: argparse.Namespace, problem: str, reading: str | None, seconds: float, rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return what made a run: enough to make it again."""
    return {
        "problem": problem,
        "reading": reading,
        "replications": args.replications,
        "seed": args.seed,
        "wall_seconds": seconds,
        "policies": rows,
    }
