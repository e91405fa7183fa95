"""``appletaste what-if``: what another threshold, cost sheet or staffing would have cost on a logged stream."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import Message, OptionError, Remedy
from .options import add_daily, add_groups, add_log_options, add_verb

DESCRIPTION = """\
Estimate what another threshold, another cost sheet, other reviewers or audits would have
cost on the logged stream. Costs are relative to passing everything: the cost of a pass
depends on a label that nobody saw, the change that acting makes does not. A saving above
0 is money that the alternative would have saved. Where the log cannot tell, the answer
says why.

With --capacity the best of each day are acted on, by what acting is expected to save;
with --audit so many of the others, within the capacity. What is left out is not there:
without --capacity any number of acts, without --audit none of the passes. Without
--threshold and --costs acting is wanted from the chance on that each item's costs imply."""

EXAMPLES = """\
examples:
  appletaste what-if decisions.jsonl --threshold 0.3          act where the model's chance is 0.3 or more
  appletaste what-if decisions.jsonl --threshold 1.5x         from 1.5 times what each item's own costs imply
  appletaste what-if decisions.jsonl --costs miss=200,false_alarm=6,hit=4
  appletaste what-if decisions.jsonl --costs 'miss=2*miss,false_alarm=false_alarm,hit=hit'    each miss twice as dear
  appletaste what-if decisions.jsonl --capacity 120/day --audit 2%            so many reviewers, and so many audits
  appletaste what-if shop.db --threshold 0.3 --by country     what each group would save
  appletaste what-if decisions.jsonl --threshold 0.3 --json   with the ids that would be treated differently

More: docs/missed.md
"""
ONE_OF = ("--threshold", "--costs", "--capacity", "--audit")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "what-if", run, "what another threshold, cost sheet or staffing would have cost", DESCRIPTION, EXAMPLES
    )
    add_log_options(parser)
    add_groups(parser)
    add_daily(parser)
    change = parser.add_mutually_exclusive_group()
    change.add_argument(
        "--threshold",
        metavar="P",
        help="act where the model's chance is P or more; 1.5x is 1.5 times the threshold of each item's own costs",
    )
    change.add_argument(
        "--costs",
        metavar="miss=5,false_alarm=1,hit=0",
        help="act where these costs say so, and price by them; formulas may use what each item costs in the log: miss, "
        "false_alarm, hit, correct_pass",
    )
    parser.add_argument(
        "--capacity",
        metavar="REVIEWS",
        help="reviewers: 120/day or 'Mon-Fri 120, Sat 40' (in a log with dates), or 5%% of each day",
    )
    parser.add_argument("--audit", metavar="P%", help="audit this share of what is passed, e.g. 2%%")
    parser.set_defaults(refuse=parser.error)


def run(args: argparse.Namespace) -> None:
    """Print what another threshold, cost sheet or staffing would have cost."""
    if args.threshold is args.costs is args.capacity is args.audit is None:
        args.refuse(f"one of the arguments {' '.join(ONE_OF)} is required")
    from ..evaluate import what_if
    from ..evaluate.daily import daily
    from ..evaluate.groups import what_if_by
    from .addresses import groups_asked, open_log
    from .arguments import parse_costs, parse_threshold
    from .console import print_json

    costs = None if args.costs is None else parse_costs(args.costs)
    change = costs if args.threshold is None else parse_threshold(args.threshold)
    if args.by is not None and args.daily is not None:
        raise OptionError(Message("intervals of groups hold together on one day: leave out ", Remedy("daily")))
    by = None if args.by is None else groups_asked(args)
    with open_log(args) as log:
        if by is None:
            found: Any = what_if(log, change, capacity=args.capacity, audit=args.audit, level=args.level)
        else:
            found = what_if_by(log, by, change, capacity=args.capacity, audit=args.audit, level=args.level)
    every = daily(found.saving, found.decisions, args.daily) if args.daily is not None else None
    if args.json:
        print_json(found.as_dict() | ({} if every is None else {"daily": every.as_dict()}))
        return
    print(found)
    if every is not None:
        print(f"saving against what was done, for daily looks: {every}")
