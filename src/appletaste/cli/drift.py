"""``appletaste drift``: whether the stream of a decision log is still the one that was learnt."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_features, add_json, add_log, add_verb, add_workers

DESCRIPTION = """\
Say whether the stream has changed. Labels are compared with the chances that the model
gave (Page-Hinkley), features with those at the start of the log, or with another log's
(population stability index). Each alarm says since when, and what to do about it."""

EXAMPLES = """\
examples:
  appletaste drift decisions.parquet
  appletaste drift june/ --baseline may/ --map policy.at

More: docs/drift.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "drift", run, "whether the stream of a decision log has changed", DESCRIPTION, EXAMPLES)
    add_log(parser)
    parser.add_argument("--baseline", metavar="LOG", help="compare features with those of this log, last month's say")
    parser.add_argument("--window", type=int, default=1000, metavar="N", help="items compared at a time (default 1000)")
    add_features(parser)
    add_workers(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the alarms of a log."""
    from ..drift import check
    from ..logs import DecisionLog
    from .addresses import feature_names, open_log
    from .console import print_json

    names = feature_names(args)
    with open_log(args) as log:
        baseline = None if args.baseline is None else DecisionLog.scan(args.baseline)
        found = check(log, baseline, names, window=args.window)
    print_json(found) if args.json else print(found)
