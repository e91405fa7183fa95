"""``appletaste demo``: the paper's policies on its three problems, beside its tables."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import add_engine_options, add_verb

if TYPE_CHECKING:
    from ..paper import Cell

DESCRIPTION = """\
Play the paper's six policies on its three problems; show precision and recall beside
the published tables and save the regret picture."""

EXAMPLES = """\
examples:
  appletaste demo                                      100 replications
  appletaste demo --replications 10 --out out/short
"""

COLUMNS = ("policy", "regret", "precision", "paper", "z", "recall", "paper", "z")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "demo", run, "the paper's policies on its three problems, beside its tables", DESCRIPTION, EXAMPLES
    )
    parser.add_argument("--replications", type=int, default=100, metavar="N", help="how many times (default 100)")
    add_engine_options(parser)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), metavar="DIR", help="default out/demo")


def run(args: argparse.Namespace) -> None:
    """Play the paper's policies on its problems and set precision and recall beside its tables."""
    from .._files import check_folder
    from ..pages.charts import require_pyplot
    from ..paper import PRECISION_RECALL, precision_recall_cells
    from ..paper.tables import LEAST_REPLICATIONS
    from ..problems import problem
    from ..simulate import Entry
    from ..simulate.pictures import draw_runs
    from ..simulate.runs import RESULTS, require_pyarrow, write_run
    from .console import open_engine, play_with_progress, print_json, print_table, show
    from .simulate import manifest_of

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
            rows = [{"problem": name, "reading": "as-run", **result.as_dict()} for result in results]
            manifest = manifest_of(args, name, "as-run", time.perf_counter() - started, rows)
            write_run(args.out / name, results, manifest)
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
        print_json(cells)
        return
    title = f"the paper's problems, {args.replications} replications, seed {args.seed} (the paper: 50)"
    print_table(title, COLUMNS, lines)
    print("z: distance from the published cell in standard errors; 'ok' within 3, 'known': no reading gives that cell")
    if any(cell.verdict == "few" for cell in cells):
        print(f"few: too few replications to judge; {LEAST_REPLICATIONS} or more are needed")
    print(f"picture: {picture}")
