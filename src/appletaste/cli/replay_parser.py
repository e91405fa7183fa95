"""The arguments of ``appletaste replay``; nothing heavy is imported here."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

DESCRIPTION = """\
Play a fully labelled file as a stream in which a label is seen only if you act.

Every row has its label, so what any policy would have cost is known exactly. The
table shows cost per 1,000 items (mean and standard error over shuffles), what is
saved against never and always acting, precision and recall against the labels,
and how many labels were bought. Beside your policies it always has

  never, always      the two rules that need no learning
  oracle             hindsight: acts on exactly the positives; nobody reaches it
  full-information   logistic regression that is shown every label, passes too

Labels are 0/1, true/false or yes/no; 1 means that acting was right. A negative
cost is a gain. Numbers, categories and missing values are made into features on
the first 500 rows of each order, never on later ones (docs/features.md)."""

EXAMPLES = """\
late labels (--delay), counted in items, or with --time COLUMN in its units (days for dates):
  500                    every label 500 items after its decision
  exponential:200        200 on average
  lognormal:200,1.0      half of them within 200, some very much later

examples:
  appletaste replay loans.csv --label bad --costs miss=5,false_alarm=1,hit=0
  appletaste replay loans.csv --label outcome --positive default --drop customer_id \\
      --costs miss=5,false_alarm=1,hit=0 --policy voi --policy 'greedy[epsilon=0.05]' --shuffles 20
  appletaste replay calls.csv.gz --label sold --costs miss=0,false_alarm=1,hit=-8 --order as-is --out out/calls
  appletaste replay cards.parquet --label fraud --costs miss=80,false_alarm=4,hit=4 \\
      --time booked_at --delay lognormal:14,0.8 --json
  appletaste replay cards.parquet --label fraud --costs miss=80,false_alarm=4,hit=4 \\
      --time booked_at --capacity 120/day --audit 1% --log decisions.jsonl

From a raw file to a table and a picture in ten minutes: docs/replay.md
and on to a monthly report: docs/guide.md
"""


def add_replay(verbs: Any, add_engine_options: Callable[[argparse.ArgumentParser], None]) -> None:
    """Add the verb to the parser."""
    parser = verbs.add_parser(
        "replay",
        help="play policies on a labelled file of yours and compare what they cost",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="CSV, JSON Lines (gzip too) or Parquet, with a header")
    parser.add_argument("--label", required=True, metavar="COLUMN", help="the column with the true labels")
    parser.add_argument(
        "--costs", required=True, metavar="miss=5,false_alarm=1,hit=0", help="what outcomes cost; also correct_pass"
    )
    parser.add_argument(
        "--policy",
        action="append",
        metavar="NAME",
        help="what decides (default voi); repeat to compare; NAME[option=value,...] sets options",
    )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME.OPTION=VALUE", help="set an option of a policy"
    )
    stream = parser.add_argument_group("the stream")
    stream.add_argument("--shuffles", type=int, metavar="N", help="random orders to play (default 10)")
    stream.add_argument(
        "--order", default="shuffled", metavar="ORDER", help="shuffled (default), or as-is: once, and show the drift"
    )
    stream.add_argument("--delay", metavar="LAW", help="how late labels come (see below; default: at once)")
    stream.add_argument("--time", metavar="COLUMN", help="play in the order of this column; --delay is in its units")
    stream.add_argument("--capacity", metavar="N/day|P%", help="reviewers: 120/day (with --time), or 5%% of any 1,000")
    stream.add_argument("--audit", metavar="P%", help="act on every item with at least this probability, e.g. 2%%")
    stream.add_argument("--flip-label", action="store_true", help="act on the other class: 0 becomes 1")
    table = parser.add_argument_group("the table")
    table.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="no feature: an id, or known only afterwards"
    )
    table.add_argument("--positive", metavar="VALUE", help="the label that means acting was right, if not 1 or yes")
    table.add_argument(
        "--missing", action="append", default=[], metavar="TEXT", help="one more text that stands for a missing value"
    )
    table.add_argument(
        "--category", action="append", default=[], metavar="COLUMN", help="a category, whatever it looks like"
    )
    table.add_argument(
        "--number", action="append", default=[], metavar="COLUMN", help="a number, whatever it looks like"
    )
    table.add_argument("--separator", metavar="CHARACTER", help="of the fields of a CSV file, if it is guessed wrong")
    table.add_argument(
        "--encoder", metavar="SETTINGS", help="e.g. hashing=64 or warm_up=1000,spare=4 (docs/features.md)"
    )
    add_engine_options(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write tables (CSV), a manifest and pictures")
    parser.add_argument(
        "--log",
        type=Path,
        metavar="FILE",
        help="write the first policy's decision log, .jsonl or .parquet, for 'missed', 'what-if' and 'report'",
    )
    parser.add_argument("--stratum", metavar="COLUMN", help="with --log: a column to report by")
    parser.set_defaults(run="run_replay")
