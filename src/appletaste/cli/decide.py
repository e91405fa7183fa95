"""``appletaste decide``: every row of a file acted on or passed, by a desk."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from .flags import as_flags
from .options import add_desk, add_json, add_verb

DESCRIPTION = """\
Decide every row of a file, in the order of the file: act or pass. A row that cannot be
read refuses the whole file before anything is decided, with its line and column.

The desk remembers every decision by its id. The same id again gives the decision of then;
the same id with other values is refused. So a command that was cut off is simply run again.
One process at a time can use a desk. The desk's file is replaced when all is decided, or
not at all.

The rows of --out have: id, act (yes or no), chance (the model's chance that the item is
positive), probability (of acting, as it was drawn), code (EXPLOIT, EXPLORE, AUDIT,
CAPACITY, RANDOM or PASS), why (the code in words, with its numbers) and reasons (the three
columns that say most)."""

EXAMPLES = """\
examples:
  appletaste decide orders.at monday.csv --out decisions.csv
  appletaste decide orders.at monday.csv --id order --time placed_at --out decisions.jsonl
  appletaste decide orders.at monday.csv --json

More: docs/desk-commands.md
"""

#: The fields of a decided row.
FIELDS = ("id", "act", "chance", "probability", "code", "why", "reasons")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "decide", run, "decide every row of a file, by a live desk", DESCRIPTION, EXAMPLES)
    add_desk(parser)
    parser.add_argument("file", metavar="FILE", help="new items: CSV, JSON Lines (gzip too) or Parquet, with a header")
    parser.add_argument("--id", metavar="COLUMN", help="the column with the ids (default: as the desk was created)")
    parser.add_argument(
        "--make-ids", action="store_true", help="number the items instead; a file given twice is decided twice"
    )
    parser.add_argument("--time", metavar="COLUMN", help="when the items came (default: as the desk was created)")
    parser.add_argument("--stratum", metavar="COLUMN", help="a column to report by (default: as the desk was created)")
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="a column that the desk is not to see"
    )
    parser.add_argument(
        "--missing", action="append", default=[], metavar="TEXT", help="one more text that stands for a missing value"
    )
    parser.add_argument(
        "--separator", metavar="CHARACTER", help="between the fields of a CSV file, if the guess is wrong"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the decisions, .csv or .jsonl")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Decide a file, save the desk, and only then hand out the decisions."""
    from ..policies.reasons import reason_for
    from ..streams.deciding_tmp import decide_many
    from ..streams.desk_file_tmp import open_desk
    from ..streams.requests import read_items
    from ..streams.wording_tmp import Wording
    from .addresses import check_rows_path, counted, write_rows
    from .console import print_json, progress_to

    check_rows_path(args.out, args.desk, args.file)
    with open_desk(args.desk) as ledger:
        items = read_items(
            args.file,
            ledger,
            id=args.id,
            time=args.time,
            stratum=args.stratum,
            make_ids=args.make_ids,
            drop=args.drop,
            missing=args.missing,
            separator=args.separator,
        )
        with progress_to(len(items), "items decided") as reach:
            answers = decide_many(ledger, items, reach)
        room = ledger.player.room(items.times[-1])
    rows = []
    if args.out or args.json:
        wording = Wording(ledger)
        for (name, decision, _), record in zip(answers, items.records.rows(), strict=True):
            reason = reason_for(decision, ledger.features)
            row = (name, decision.act, decision.chance, decision.probability, *(reason or ("", "")))
            rows.append(dict(zip(FIELDS, (*row, wording.columns(decision.x, record)), strict=True)))
    new = [answer.decision for answer in answers if not answer.again]
    found = {
        "items": len(answers),
        "decided": len(new),
        "acted": sum(decision.act for decision in new),
        "passed": sum(not decision.act for decision in new),
        "audits": sum(decision.audit for decision in new),
        "decided_before": len(answers) - len(new),
        "capacity_left": room,
    }
    if args.out:
        write_rows(args.out, FIELDS, rows)
    for note in items.notes:
        print(f"note: {as_flags(note)}", file=sys.stderr)
    if args.json:
        print_json({**found, "decisions": rows})
        return
    if new:
        print(f"{counted(len(new), 'item')} decided: {found['acted']:,} acted on, {found['passed']:,} passed")
        print(f"audits alone among the acts: {found['audits']:,}")
    if found["decided_before"]:
        print(f"{counted(len(answers) - len(new), 'item')} decided before: the decisions of then are given again")
    if args.make_ids:
        print("the ids were made: the same file again would be decided again, as other items")
    if room is not None:
        at = "" if items.times[-1] is None else f" at {items.times[-1]}, the time of the last item"
        print(f"capacity left{at}: {counted(room, 'act')}")
    if args.out:
        print(f"the decisions are in {args.out}")
