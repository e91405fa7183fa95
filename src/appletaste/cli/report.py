"""``appletaste report``: the monthly report of a decision log, as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import add_features, add_log_options, add_verb

DESCRIPTION = """\
Write the monthly report of a decision log: index.html (opens without a network),
report.md, report.json and the pictures. What was decided, labels, precision, what was
saved, what is being missed, what another threshold would have saved, whether the
stream has changed, which labels are awaited; by month, week or day where the log has
dates, and by stratum where the log has strata."""

EXAMPLES = """\
examples:
  appletaste report decisions.jsonl --out out/june
  appletaste report decisions.parquet --out out/june --period week --title "Orders, June 2024"

From a raw file to this report, step by step: docs/guide.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "report", run, "the monthly report of a decision log, as a page", DESCRIPTION, EXAMPLES)
    add_log_options(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="the folder for the page")
    parser.add_argument(
        "--period",
        metavar="PERIOD",
        help="month, week or day (default: what fits the dates; blocks of items where the log has no dates)",
    )
    parser.add_argument("--title", default="Monthly report", help="the title of the page")
    add_features(parser)


def run(args: argparse.Namespace) -> None:
    """Write the report and print it in short."""
    from ..reports import write_report
    from ..reports.sections import in_short
    from .console import print_json
    from .logs import feature_names, open_log

    names = feature_names(args)
    with open_log(args) as log:
        facts = write_report(
            log, args.out, level=args.level, period=args.period, names=names, title=args.title, source=args.log
        )
        said = facts.as_dict() if args.json else [*in_short(facts).sentences]
    print_json(said) if args.json else print("\n".join([*said, f"the report is in {args.out / 'index.html'}"]))
