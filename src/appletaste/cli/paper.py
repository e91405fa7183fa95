"""``appletaste paper``: rebuild every figure and table of the paper, and a report."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

from ..errors import OptionError
from .options import add_engine_options, add_verb

DESCRIPTION = """\
Rebuild every figure and table of the paper and write a report: index.html (opens
without a network), report.md, tables.json, figures as SVG and PNG. Finished work is
kept: run the command again after an interruption and it continues where it stopped."""

EXAMPLES = """\
studies: figure-1 (with Tables 1-3), figure-2a, figure-2b, figure-3 (with Tables 4-6), readings, estimators;
parts of figure-1 by themselves: table-1, table-2, table-3

examples:
  appletaste paper                                   50 replications, as in the paper
  appletaste paper --quick                           a smoke test
  appletaste paper --replications 200 --out out/200  four times as many
  appletaste paper --only figure-1                   the six policies beside Tables 1-3, in a minute
  appletaste paper --only table-1 --replications 20  the same on problem (i), in seconds
"""

COLUMNS = ("study", "pairings", "seconds of work", "cells", "agree", "known", "stray", "too few to judge", "disagree")
#: What the column z of a table says.
MARKS = """\
z: how far the published cell is from ours, in standard errors. A tick: within 3. known: a mismatch at 500 replications
too. stray: beyond 3 here, by chance; at 500 replications the cell agrees. docs/paper.md tells of both."""
#: Replications of a smoke test.
QUICK = 4


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "paper", run, "rebuild every figure and table of the paper, and a report", DESCRIPTION, EXAMPLES
    )
    parser.add_argument("--replications", type=int, default=50, metavar="N", help="default 50, as in the paper")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} replications: a smoke test; too few to judge")
    parser.add_argument("--only", action="append", default=[], metavar="STUDY", help="one study; repeat for more")
    parser.add_argument("--reading", default="as-run", help="the paper's losses: as-run (default) or as-printed")
    add_engine_options(parser)
    parser.add_argument("--out", type=Path, default=Path("out/paper"), metavar="DIR", help="default out/paper")


def run(args: argparse.Namespace) -> None:
    """Rebuild the paper's evidence and write the report."""
    from .._files import write_json
    from ..pages.charts import require_pyplot
    from ..paper.reproduction import build, cells_of
    from ..paper.results import Store, missing, play_missing
    from ..paper.studies import find_studies
    from ..paper.tables import VERDICTS
    from ..simulate.runs import require_pyarrow
    from .console import open_engine, print_json, print_table, progress_of, show, show_table

    require_pyarrow(), require_pyplot()
    replications = QUICK if args.quick else args.replications
    if replications < 2:
        raise OptionError(f"replications must be at least 2, got {replications}")
    studies = find_studies(args.only, args.reading)
    store = Store(args.out / "pairings", args.seed)
    started = time.perf_counter()
    kinds = [f"{task.problem}: {task.entry.label}" for task in missing(studies, store, replications)]
    with open_engine(args) as workers, progress_of("paper", kinds, args.jobs) as step:
        work = play_missing(
            studies,
            store,
            replications,
            workers,
            progress=lambda pairing: step(f"{pairing.problem.name}: {pairing.entry.label}"),
            finished=lambda name, seconds: print(f"{name}: played, {seconds:.0f} s of work", file=sys.stderr),
        )
    played = time.perf_counter() - started
    sections = build(store, replications, studies, args.out, args.reading)
    cells = cells_of(sections)
    wall = time.perf_counter() - started
    timing = {
        "wall_seconds": wall,
        "playing_seconds": played,
        "replications_played": len(kinds),
        "work_seconds_by_study": work,
    }
    write_json(args.out / "timing.json", timing, indent=1)
    if args.json:
        print_json([cell.as_dict() for cell in cells])
        return
    if args.only:
        for section in sections:
            for table in section.finding.tables:
                show_table(table)
                print()
            print(textwrap.fill(section.finding.sentence, 100) + "\n")
        if cells:
            print(textwrap.fill(MARKS, 100) + "\n")
    rows = []
    for study in studies:
        mine = [cell for cell in cells if cell.study == study.name]
        count = Counter(cell.verdict for cell in mine)
        numbers = (len(mine), *(count[verdict] for verdict in VERDICTS))
        counts = tuple(str(count) for count in numbers) if mine else ("",) * len(numbers)
        rows.append((study.name, str(len(study.pairings)), show(work[study.name], 1), *counts))
    print_table(f"{replications} replications, seed {args.seed}, {wall:.0f} s", COLUMNS, rows)
    if args.quick:
        print(f"{QUICK} replications say little about agreement: leave out --quick for the real thing")
    print(f"report: {args.out / 'index.html'}")
