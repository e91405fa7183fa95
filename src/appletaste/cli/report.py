"""``appletaste report``: the monthly report of a decision log, as a page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import add_features, add_log_options, add_verb

DESCRIPTION = """\
Write the monthly report of a decision log: index.html (opens without a network),
report.md, report.json and the pictures. The first page fits on one sheet of paper and
says in money what was saved, what is being missed and what was at stake, against the
days before and against doing nothing, and what to change. Then comes the evidence: by
month, week or day where the log has dates, by stratum where the log has strata, what
another threshold would have saved, whether the stream has changed, which labels are
awaited. An appendix names methods and assumptions. docs/report.md explains each part."""

EXAMPLES = """\
examples:
  appletaste report decisions.jsonl --out out/june
  appletaste report decisions.parquet --out out/june --from 2024-06-01 --to 2024-06-30
  appletaste report decisions.parquet --out out/june --currency EUR --words order,fraud \\
      --period week --title "Orders, June 2024"

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
    parser.add_argument("--from", dest="first_day", metavar="DATE", help="the first day (default: that of the log)")
    parser.add_argument(
        "--to",
        dest="last_day",
        metavar="DATE",
        help="the last day (default: that of the log); the days are compared with as many months, or days, before",
    )
    parser.add_argument(
        "--currency", default="", metavar="CODE", help="what amounts are in, EUR say (default: nothing)"
    )
    parser.add_argument(
        "--words",
        metavar="WORDS",
        help="what your team calls an item, the outcomes, the actions, and the currency: "
        "order,fraud,fine,hold,let through,EUR, or the first few; delivery/deliveries says a plural",
    )
    parser.add_argument("--title", default="Monthly report", help="the title of the page")
    add_features(parser)


def run(args: argparse.Namespace) -> None:
    """Write the report and print it in short."""
    from ..reports import write_report
    from .addresses import feature_names, open_log
    from .console import print_json

    names = feature_names(args)
    with open_log(args) as log:
        report = write_report(
            log,
            args.out,
            level=args.level,
            period=args.period,
            names=names,
            title=args.title,
            source=args.log,
            first_day=args.first_day,
            last_day=args.last_day,
            currency=args.currency,
            words=args.words,
        )
        said = report.as_dict() if args.json else report.first.sentences()
    print_json(said) if args.json else print("\n".join([*said, f"the report is in {args.out / 'index.html'}"]))
