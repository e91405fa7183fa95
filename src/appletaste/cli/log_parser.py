"""The arguments of the verbs that read a decision log; nothing heavy is imported here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

LOG = "a decision log, .jsonl or .parquet (docs/decision-log.md); 'appletaste replay ... --log FILE' writes one"

MISSED = """\
Say how many positives were passed, and which share of all positives was caught.

Nobody sees the label of what was passed, so this is an estimate, made three ways:

  by design      from the logged probabilities of acting alone; needs a policy that
                 randomises or an audit lane, and says so where there is none
  by the model   what the model believes of the passed items; right if the model is
  not at all     the share of traffic about which the log says nothing

Every number has an interval, or is a refusal with the reason."""

MISSED_EXAMPLES = """\
examples:
  appletaste missed decisions.jsonl
  appletaste missed decisions.jsonl --level 0.95 --json

More: docs/missed.md
"""

WHAT_IF = """\
Estimate what another threshold, or another cost sheet, would have cost on the logged
stream. Costs are relative to passing everything: what a pass costs depends on a label
that nobody saw, what acting changes does not. A saving above 0 is money that the
alternative would have saved. Where the log cannot tell, it says why."""

WHAT_IF_EXAMPLES = """\
examples:
  appletaste what-if decisions.jsonl --threshold 0.3          act where the model's chance is 0.3 or more
  appletaste what-if decisions.jsonl --costs miss=200,false_alarm=6,hit=4
  appletaste what-if decisions.jsonl --threshold 0.3 --json   with the ids that would be treated differently

More: docs/missed.md
"""

PLAN_AUDIT = """\
Say how many audits it takes, and where, to know recall to within a margin. An audit is
an act on an item that would have been passed, to see its label. The plan puts more of
them where the log's model expects more positives, and some everywhere."""

PLAN_AUDIT_EXAMPLES = """\
examples:
  appletaste plan-audit decisions.jsonl                  recall within 5 points, 90 % confidence
  appletaste plan-audit decisions.jsonl --margin 0.1 --json

More: docs/streams.md
"""

REPORT = """\
Write the monthly report of a decision log: index.html (opens without a network),
report.md, report.json and the pictures. What was decided, labels, precision, what was
saved, what is being missed, what another threshold would have saved, whether the
stream has changed, what is outstanding; by month, week or day where the log has dates,
and by stratum where it has strata."""

REPORT_EXAMPLES = """\
examples:
  appletaste report decisions.jsonl --out out/june
  appletaste report decisions.parquet --out out/june --period week --title "Orders, June 2024"

From a raw file to this report, step by step: docs/guide.md
"""

EXAMPLE = """\
Write a made-up raw file to try things on: two months of a web shop's orders, with
categories, gaps, times and, in the last column, whether each was fraud."""

EXAMPLE_EXAMPLES = """\
examples:
  appletaste example orders.csv
  appletaste replay orders.csv --label fraud --drop order --drop settled_on --time placed_at \\
      --costs miss=95,false_alarm=6,hit=4

What to do with it: docs/guide.md
"""


def add_log_verbs(verbs: Any) -> None:
    """Add ``missed``, ``what-if``, ``plan-audit``, ``report`` and ``example`` to the parser."""
    missed = _verb(verbs, "missed", "how many positives were passed, from a decision log", MISSED, MISSED_EXAMPLES)
    _common(missed)
    missed.add_argument(
        "--floor", type=float, default=1e-3, metavar="P", help="a smaller probability of acting is as good as none"
    )
    missed.set_defaults(run="run_missed")

    what_if = _verb(verbs, "what-if", "what another threshold or cost sheet would have cost", WHAT_IF, WHAT_IF_EXAMPLES)
    _common(what_if)
    change = what_if.add_mutually_exclusive_group(required=True)
    change.add_argument("--threshold", type=float, metavar="P", help="act where the model's chance is P or more")
    change.add_argument(
        "--costs", metavar="miss=5,false_alarm=1,hit=0", help="act where these costs say so, and price by them"
    )
    what_if.set_defaults(run="run_what_if")

    plan = _verb(verbs, "plan-audit", "how many audits tell recall, and where", PLAN_AUDIT, PLAN_AUDIT_EXAMPLES)
    _common(plan)
    plan.add_argument("--margin", type=float, default=0.05, metavar="M", help="recall within +- M (default 0.05)")
    plan.set_defaults(run="run_plan_audit")

    report = _verb(verbs, "report", "the monthly report of a decision log, as a page", REPORT, REPORT_EXAMPLES)
    _common(report)
    report.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="where the page goes")
    report.add_argument(
        "--period", metavar="PERIOD", help="month, week or day (default: what fits; blocks where there are no dates)"
    )
    report.add_argument("--title", default="Monthly report", help="the title of the page")
    report.add_argument(
        "--features", metavar="FILE", help="a saved policy with its map, or a map: names the features in alarms"
    )
    report.set_defaults(run="run_report")

    example = _verb(verbs, "example", "write a made-up raw file to try things on", EXAMPLE, EXAMPLE_EXAMPLES)
    example.add_argument("file", type=Path, metavar="FILE.csv", help="where to write it; an existing file stays")
    example.add_argument("--rows", type=int, default=36_600, metavar="N", help="how many orders (default 36600)")
    example.add_argument("--seed", type=int, default=7, help="another seed makes other orders (default 7)")
    example.set_defaults(run="run_example")


def _verb(verbs: Any, name: str, help_: str, description: str, examples: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=help_,
        description=description,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return parser


def _common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("log", metavar="LOG", help=LOG)
    parser.add_argument("--level", type=float, default=0.9, help="of the intervals (default 0.9)")
    parser.add_argument("--json", action="store_true", help="print JSON for machines")
