"""``appletaste missed``: how many positives were passed, from a decision log."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import Message, OptionError, Remedy
from .options import add_daily, add_groups, add_log_options, add_verb

DESCRIPTION = """\
Say how many positives were passed, and which share of all positives was caught.

Nobody sees the label of a passed item, so the answer is an estimate, made three ways:

  by design      from the logged probabilities of acting alone; needs audits or a
                 policy that acts by lot, and says so where there is neither
  by the model   what the model believes of the passed items, scaled by the labels
                 seen on items that might have been passed; withheld without such labels
  not covered    the share of decisions that neither estimate can speak for

Beside the number of positives comes what they cost, each by its own costs (money
missed), and what acting on them would have saved.

Every number has an interval, or is a refusal with the reason."""

EXAMPLES = """\
examples:
  appletaste replay orders.csv --label fraud --costs miss=95,false_alarm=6,hit=4 --audit 2% --log decisions.jsonl
  appletaste missed decisions.jsonl
  appletaste missed decisions.jsonl --level 0.95 --json
  appletaste missed shop.db --since 2024-06-01 --until 2024-06-30    a month; reports of passed items are used
  appletaste missed shop.db --by country                        who bears what, group by group
  appletaste missed decisions.jsonl --by country --items orders.csv --id order
  appletaste missed june/ --engine dask --cluster HOST:PORT      a folder, one file a day say

More: docs/missed.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "missed", run, "how many positives were passed, from a decision log", DESCRIPTION, EXAMPLES
    )
    add_log_options(parser)
    add_groups(parser)
    add_daily(parser)
    for name, which in (("since", "from"), ("until", "up to")):
        parser.add_argument(
            f"--{name}",
            metavar="TIME",
            help=f"only decisions {which} this time: a date, or a number where the log counts its times (included)",
        )
    parser.add_argument(
        "--floor",
        type=float,
        default=1e-3,
        metavar="P",
        help="ignore decisions whose probability of acting was below P (default 0.001)",
    )


def run(args: argparse.Namespace) -> None:
    """Print what was missed, three ways."""
    from ..evaluate import missed
    from ..evaluate.daily import daily
    from ..evaluate.groups import missed_by
    from ..evaluate.reporting import window_of
    from .addresses import groups_asked, open_log
    from .console import print_json

    if args.by is not None and (args.since or args.until):
        raise OptionError(Message("groups are of the whole log: leave out ", Remedy("by")))
    if args.by is not None and args.daily is not None:
        raise OptionError(Message("intervals of groups hold together on one day: leave out ", Remedy("daily")))
    by = None if args.by is None else groups_asked(args)
    with open_log(args) as log:
        found: Any = (
            missed(log, args.level, floor=args.floor, **window_of(log, args.since, args.until))
            if by is None
            else missed_by(log, by, args.level, args.floor)
        )
    every = None
    if args.daily is not None:
        every = daily(found.design.missed, found.decisions, args.daily, 0.0, found.passes)
    if args.json:
        print_json(found.as_dict() | ({} if every is None else {"daily": every.as_dict()}))
        return
    print(found)
    if every is not None:
        print(f"missed, by design, for daily looks: {every}")
