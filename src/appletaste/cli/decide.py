"""``appletaste decide``: every row of a file acted on or passed, by a stream."""

from __future__ import annotations

import argparse
import sys
import time
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .options import add_json, add_stream, add_verb, add_writing, as_flags, writing_of

if TYPE_CHECKING:
    from ..streams.requests import Items

DESCRIPTION = """\
Decide every row of a file, in the order of the file: act or pass. A row that cannot be
read refuses the whole file before anything is decided, with its line and column.

The stream keeps every decision by its id. The same id again gives the decision that was made;
the same id with other values is refused. So a command that was cut off is simply run again.
All rows are written in one transaction. One process at a time writes a file: while a service
runs on the store, send the items to the service.

The rows of --out have: id, act (yes or no), chance (the model's chance that the item is
positive), probability (of acting, as it was drawn), code (EXPLOIT, EXPLORE, AUDIT,
CAPACITY, RANDOM or PASS), why (the code in words, with its numbers) and reasons (the three
columns that say most)."""

EXAMPLES = """\
examples:
  appletaste decide shop.db monday.csv --out decisions.csv
  appletaste decide shop.db monday.csv --id order --time placed_at --out decisions.jsonl
  appletaste decide shop.db monday.csv --json

More: docs/stream-commands.md
"""

#: The fields of a decided row.
FIELDS = ("id", "act", "chance", "probability", "code", "why", "reasons")


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "decide", run, "decide every row of a file, by a live stream", DESCRIPTION, EXAMPLES)
    add_stream(parser)
    parser.add_argument(
        "file", metavar="FILE", help="new items: CSV, JSON Lines, Parquet, Feather or a spreadsheet, with a header"
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column with the ids (default: as the stream was created)")
    parser.add_argument(
        "--make-ids", action="store_true", help="number the items instead; a file given twice is decided twice"
    )
    parser.add_argument("--time", metavar="COLUMN", help="when the items came (default: as the stream was created)")
    parser.add_argument(
        "--stratum", metavar="COLUMN", help="a column to report by (default: as the stream was created)"
    )
    parser.add_argument(
        "--drop", action="append", default=[], metavar="COLUMN", help="a column that the stream is not to see"
    )
    parser.add_argument(
        "--missing", action="append", default=[], metavar="TEXT", help="one more text that stands for a missing value"
    )
    add_writing(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the decisions, .csv or .jsonl")
    add_json(parser)
    parser.set_defaults(needs_key="a key that may decide")
    parser.set_defaults(over_http=lambda _: "POST /v1/streams/NAME/decisions:batch, or at.connect(...) from Python,")


def check_future(items: Items) -> None:
    """Refuse an item whose date is more than a day ahead, as the service does: all that come after it would be late."""
    import numpy as np

    from ..errors import DataError
    from ..times import DAY, instants

    dates = {row: told for row, told in enumerate(items.times) if isinstance(told, str)}
    ahead = instants(np.array([*dates.values()], dtype=np.str_)) > time.time() + DAY
    for row, told in (one for one, late in zip(dates.items(), ahead.tolist(), strict=True) if late):
        raise DataError(
            f"{items.records.where(row)}: {told} is more than a day ahead of the clock of this machine, which says "
            f"{datetime.now():%Y-%m-%dT%H:%M}. Correct the cell, or the clock"
        )


def run(args: argparse.Namespace) -> None:
    """Decide a file, and hand out the decisions once they are on disk."""
    from ..policies.reasons import Wording, reason_for
    from ..streams.requests import decide_table, read_items
    from .addresses import check_rows_path, counted, open_stream, write_rows
    from .console import print_json, progress_to

    check_rows_path(args.out, args.store, args.file)
    with open_stream(args.store, args.stream) as stream:
        items = read_items(
            args.file,
            stream,
            id=args.id,
            time=args.time,
            stratum=args.stratum,
            make_ids=args.make_ids,
            drop=args.drop,
            missing=args.missing,
            **writing_of(args),
        )
        check_future(items)
        with progress_to(len(items), "items decided") as reach:
            answers = decide_table(stream, items, reach)
        last = answers[-1].time
        room = stream.player.room(last)
        rows = []
        if args.out or args.json:
            wording = Wording(stream.player.policy, stream.features)
            for answer, record in zip(answers, items.records.rows(), strict=True):
                decision = answer.decision
                reason = reason_for(decision, stream.features)
                row = (answer.id, answer.act, decision.chance, decision.probability, *(reason or ("", "")))
                rows.append(dict(zip(FIELDS, (*row, wording.columns(decision.x, record)), strict=True)))
    new = [answer for answer in answers if not answer.again]
    found = {
        "items": len(answers),
        "decided": len(new),
        "acted": sum(answer.act for answer in new),
        "passed": sum(not answer.act for answer in new),
        "audits": sum(answer.decision.audit for answer in new),
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
        again = counted(len(answers) - len(new), "item")
        print(f"{again} had been decided already; their decisions are unchanged")
    if args.make_ids:
        print("the ids were made: the same file again would be decided again, as other items")
    if room is not None:
        at = f" at {last}, the time of the last item" if isinstance(items.times[-1], str) else ""
        print(f"capacity left{at}: {counted(room, 'act')}")
    if args.out:
        print(f"the decisions are in {args.out}")
