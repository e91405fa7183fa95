"""``appletaste worklist``: what a stream has acted on and waits for, the most valuable first."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import OptionError
from .options import add_json, add_stream, add_verb

if TYPE_CHECKING:
    from ..streams.worklist import Work

DESCRIPTION = """\
List the items that were acted on and whose labels have not arrived, by what a review is
expected to save, the most valuable first. For each item: what a review is worth, the
chance that the item is positive (by what is known now), how old the decision is, why the
item is work, and the three columns that say most.

  a review pays   EXPLOIT: acting is expected to cost less than passing
  to learn        EXPLORE: the label teaches most; the item need not be suspicious
  audit           AUDIT: drawn to find out what is being missed. Audits come last by their
                  worth, and must be done all the same: what is skipped makes the answer of
                  'appletaste missed' wrong

Nothing is changed, and another process, a service say, may use the stream meanwhile."""

EXAMPLES = """\
examples:
  appletaste worklist shop.db
  appletaste worklist shop.db --top 20 --now 2024-06-03T08:00
  appletaste worklist shop.db --top 0 --out work.csv             all of the work, for a spreadsheet
  appletaste worklist shop.db --json

More: docs/stream-commands.md
"""

#: The fields of a row of --out and --json.
FIELDS = ("rank", "id", "worth", "chance", "age", "unit", "time", "stratum", "code", "why", "reasons")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs, "worklist", run, "what a live stream waits for, ranked, with reasons", DESCRIPTION, EXAMPLES
    )
    add_stream(parser)
    parser.add_argument("--top", type=int, default=50, metavar="N", help="how many items (default 50; 0: all)")
    parser.add_argument(
        "--now", metavar="TIME", help="count ages up to this time (default: the time of the latest decision)"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the work, .csv or .jsonl")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print, and if asked write, the work at hand."""
    from ..policies.reasons import AUDIT
    from ..reports.phrases import labels_awaited
    from ..streams.worklist import pending_work
    from .addresses import check_rows_path, open_stream, write_rows
    from .arguments import parse_value
    from .console import print_json

    if args.top < 0:
        raise OptionError(f"--top is a number of items, or 0 for all, got {args.top}")
    check_rows_path(args.out, args.store)
    with open_stream(args.store, args.stream, read_only=True) as stream:
        cases = pending_work(stream, None if args.now is None else parse_value(args.now))
    shown = cases[: args.top or len(cases)]
    rows = [
        {**vars(case), "rank": rank, "why": case.why, "reasons": list(case.reasons)}
        for rank, case in enumerate(shown, 1)
    ]
    if args.out:
        write_rows(args.out, FIELDS, rows)
    if args.json:
        print_json([{name: row[name] for name in FIELDS} for row in rows])
        return
    for rank, case in enumerate(shown, 1):
        print("\n".join(_lines(rank, case)))
    print(labels_awaited(len(cases)) + (f"; listed here: {len(shown):,}" if shown != cases else ""))
    audits = [case for case in cases if case.code == AUDIT]
    if audits:
        beyond = sum(case.code == AUDIT for case in cases[len(shown) :])
        print(f"audits among them: {len(audits):,}{f', {beyond:,} beyond the list' if beyond else ''}. Do all audits")
    if args.out:
        print(f"the list is in {args.out}")


def _lines(rank: int, case: Work) -> list[str]:
    """Return an item in two lines: what it is worth, and why."""
    known = f"worth {case.worth:.4g}, chance {case.chance:.3g}, " if case.code else ""
    numbers = f"{known}{case.age:.3g} {case.unit} old"
    return [
        f"{rank:>4}  {case.id}  {numbers}, {case.why}",
        f"      {', '.join(case.reasons) or 'no column stands out'}",
    ]
