"""``appletaste theory``: what the paper proves, beside measurements."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from .options import add_run_options, add_verb

DESCRIPTION = """\
Compute what the paper proves and measure it: the regret bound of Theorem 1 and how
regret really grows with rounds and features; the assumptions on runs; the sampler
against the exact posterior (Theorem 2) and regret per round (Theorem 3). How to read
the tables: docs/theory.md."""

EXAMPLES = """\
examples:
  appletaste theory --quick     seconds instead of minutes
  appletaste theory --json
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs,
        "theory",
        run,
        "the paper's theory beside measurements: bound, growth, assumptions, convergence",
        DESCRIPTION,
        EXAMPLES,
    )
    parser.add_argument("--quick", action="store_true", help="seconds instead of minutes, with coarser numbers")
    add_run_options(parser)


def run(args: argparse.Namespace) -> None:
    """Set the paper's theory beside measurements."""
    from ..theory.report import study, study_tables
    from .console import print_json, print_table

    def say(step: str) -> None:
        print(f"{step} ...", file=sys.stderr, flush=True)

    found = study(quick=args.quick, seed=args.seed, jobs=args.jobs, progress=say)
    if args.json:
        print_json(found)
        return
    for sheet in study_tables(found):
        print(sheet.title)
        print_table("", sheet.header, sheet.rows)
        print()
