"""``appletaste label``: labels that have arrived, learnt by a stream."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from .options import add_json, add_stream, add_verb, add_writing, as_flags, writing_of

DESCRIPTION = """\
Give a stream labels that have arrived, whenever they arrive and in any order. A label is
learnt once, however often it is given. All is counted and said:

  learnt      labels of items that were acted on
  known       the same label again: nothing changes
  corrected   another label than the one that is known; refused without --correct
  passed      labels of items that were passed: recorded and not learnt, since such labels
              arrive for some kinds of items only
  recorded    labels that are kept and not learnt, because the stream is frozen
  unknown     ids that this stream has not decided
  missing     rows without a label: skipped

A file that contradicts itself or the stream is refused before anything is learnt, with its
line."""

EXAMPLES = """\
examples:
  appletaste label shop.db outcomes.csv
  appletaste label shop.db outcomes.csv --id order --label fraud --time settled_on
  appletaste label shop.db outcomes.csv --label outcome --positive chargeback
  appletaste label shop.db corrections.csv --correct
  appletaste label shop.db outcomes.csv --out done.csv       what became of each label

More: docs/stream-commands.md
"""

#: The fields of a row of --out.
FIELDS = ("id", "label", "done", "late")
#: Ids that are named where something was not learnt.
NAMED = 5


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "label", run, "give a live stream labels that have arrived", DESCRIPTION, EXAMPLES)
    add_stream(parser)
    parser.add_argument(
        "file", metavar="FILE", help="labels: CSV, JSON Lines, Parquet, Feather or a spreadsheet, with a header"
    )
    parser.add_argument("--id", metavar="COLUMN", help="the column with the ids (default: as the stream was created)")
    parser.add_argument(
        "--label", metavar="COLUMN", help="the column with the labels (default: as the stream was created)"
    )
    parser.add_argument(
        "--positive", metavar="VALUE", help="the label that means that acting was right, if not 1 or yes"
    )
    parser.add_argument("--time", metavar="COLUMN", help="when the labels arrived; not before their decisions")
    parser.add_argument("--by", default="", metavar="NAME", help="who says so: a person or a system")
    parser.add_argument("--correct", action="store_true", help="replace labels that differ from those of the file")
    add_writing(parser)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write what became of each label, .csv or .jsonl")
    add_json(parser)
    parser.set_defaults(needs_key="a key that may label")
    parser.set_defaults(over_http=lambda _: "POST /v1/streams/NAME/labels:batch, or at.connect(...) from Python,")


def run(args: argparse.Namespace) -> None:
    """Learn the labels of a file and say what became of each."""
    from ..reports.phrases import labels_awaited
    from ..streams.requests import LEARNT, OUTCOMES, PASSED, UNHEARD_OF, label_table, read_told
    from .addresses import check_rows_path, counted, open_stream, write_rows
    from .console import print_json

    check_rows_path(args.out, args.store, args.file)
    with open_stream(args.store, args.stream) as stream:
        told = read_told(
            args.file,
            stream,
            id=args.id,
            label=args.label,
            positive=args.positive,
            time=args.time,
            **writing_of(args),
        )
        outcomes = label_table(stream, told, args.correct, args.by)
        waiting = len(stream.pending)
    if args.out:
        write_rows(args.out, FIELDS, [outcome._asdict() for outcome in outcomes])
    for note in told.notes:
        print(f"note: {as_flags(note)}", file=sys.stderr)
    counts = Counter(outcome.done for outcome in outcomes)
    learnt = [outcome for outcome in outcomes if outcome.done == LEARNT]
    late = sum(outcome.late for outcome in learnt)
    if args.json:
        print_json({**{done: counts[done] for done in OUTCOMES}, "late": late, "awaited": waiting})
        return
    for done, words in OUTCOMES.items():
        if counts[done] or done == LEARNT:
            ids = [outcome.id for outcome in outcomes if outcome.done == done][:NAMED]
            named = (
                f": {', '.join(ids)}{', ...' if counts[done] > NAMED else ''}" if done in (PASSED, UNHEARD_OF) else ""
            )
            more = f" ({sum(outcome.label or 0 for outcome in learnt):,} positive)" if done == LEARNT else ""
            print(f"{counted(counts[done], 'label')} {words}{more}{named}")
    if late:
        print(f"{counted(late, 'label')} arrived after the review had expired, and learnt all the same")
    print(labels_awaited(waiting))
