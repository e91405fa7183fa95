"""``appletaste plan-audit``: how many audits it takes to know recall, and where to make them."""

from __future__ import annotations

import argparse
from typing import Any

from .options import add_log_options, add_verb

DESCRIPTION = """\
Say how many audits it takes, and where, to know recall to within a margin. An audit is
an act on an item that would have been passed, to see its label. The plan makes more
audits where the log's model expects more positives, and some everywhere. How many are
missed now is what 'missed' says by design; where the log cannot say, what the model's
chances say; and where labels seen contradict these, there is no plan.

Behind the plan stands what another rate of audits will show after a week, a month and a
year, that of live streams if none is named."""

EXAMPLES = """\
examples:
  appletaste plan-audit decisions.jsonl                  recall within 5 percentage points, 90 % confidence
  appletaste plan-audit decisions.jsonl --margin 0.1 --json
  appletaste plan-audit decisions.jsonl --audit 2%       what two audits in a hundred passes will show by and by

More: docs/streams.md
"""

COLUMNS = ("chance from", "to", "passed items", "positives expected", "audit", "audits")
AHEAD = ("after", "passed items", "audits", "positives that these find", "recall within")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "plan-audit", run, "how many audits it takes to know recall, and where", DESCRIPTION, EXAMPLES
    )
    add_log_options(parser)
    parser.add_argument("--margin", type=float, default=0.05, metavar="M", help="recall within +- M (default 0.05)")
    parser.add_argument(
        "--audit",
        default="auto",
        metavar="P%",
        help="say what this share of audits will show by and by (default auto: as many as pay, as in a live stream)",
    )


def run(args: argparse.Namespace) -> None:
    """Print how many audits to make, by the chance that the model gave."""
    from ..evaluate import plan_audit
    from ..evaluate.answers import known_truth
    from ..evaluate.outlook import LEAST_FOUND
    from ..evaluate.support import excluded
    from ..reports.phrases import count, percent
    from .addresses import open_log
    from .console import print_json, print_table

    with open_log(args) as log:
        plan = plan_audit(log, margin=args.margin, level=args.level, audit=args.audit)
    if args.json:
        print_json(plan.as_dict())
        return
    if plan.left_out:
        print(excluded(plan.left_out))
    if plan.left_out_early:
        early = f"{plan.left_out_early:,} early decisions are excluded"
        print(f"{early}: no label had arrived, so the model knew nothing of the items")
    ends = [f"{edge:.3g}" for edge in plan.edges]
    rows = zip(["0", *ends], [*ends, "1"], plan.items, plan.missed, plan.floors, strict=True)
    truth = "" if plan.true_recall is None else f"; {known_truth(f'{100 * plan.true_recall:.0f} %')}"
    sure = ", by the model's chances"
    if plan.recall_interval is not None:
        low, high = (100 * end for end in plan.recall_interval)
        sure = f", {100 * plan.level:.0f} % interval {low:.0f} to {high:.0f} %"
    known = (
        f"recall (now about {100 * plan.recall:.0f} %{sure}{truth}) to within {100 * plan.margin:.3g} percentage points"
    )
    print(f"To estimate {known}, audit about {count(plan.audits)} passed items as below")
    shown = [
        (low, high, count(items), count(missed), percent(floor), count(items * floor))
        for low, high, items, missed, floor in rows
    ]
    if plan.true_missed is None:
        print_table("", COLUMNS, shown)
    else:
        truths = [(*row, count(number)) for row, number in zip(shown, plan.true_missed, strict=True)]
        print_table("", (*COLUMNS, "positives, the truth"), truths)
    share = percent(plan.uniform / sum(plan.items))
    print(f"the same audit probability for every item would take {count(plan.uniform)} audits, {share} of passed items")
    if plan.outlook is not None:
        share = percent(plan.outlook.rate)
        print(f"audits at {args.audit} instead, {share} of what is passed on a stream like this one, will show:")
        ahead = [
            (
                one.after,
                count(one.passed),
                count(one.audits),
                f"{one.found:.1f}" if one.found < LEAST_FOUND else count(one.found),
                "too few to say" if one.margin is None else f"{100 * one.margin:.2g} points",
            )
            for one in plan.outlook.ahead
        ]
        print_table("", AHEAD, ahead)
