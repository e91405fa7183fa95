"""``appletaste label``: labels that have arrived, learnt by a desk."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from .flags import as_flags
from .options import add_desk, add_json, add_verb

DESCRIPTION = """\
Give a desk labels that have arrived, whenever they arrive and in any order. A label is
learnt once, however often it is given. All is counted and said:

  learnt      labels of items that were acted on
  known       the same label again: nothing changes
  corrected   another label than the one that is known; refused without --correct
  passed      labels of items that were passed: not learnt, since the desk must not learn
              from labels that arrive for some kinds of items only
  unknown     ids that this desk has not decided
  missing     rows without a label: skipped

A file that contradicts itself or the desk is refused before anything is learnt, with its
line."""

EXAMPLES = """\
examples:
  appletaste label orders.at outcomes.csv
  appletaste label orders.at outcomes.csv --id order --label fraud --time settled_on
  appletaste label orders.at outcomes.csv --label outcome --positive chargeback
  appletaste label orders.at corrections.csv --correct
  appletaste label orders.at outcomes.csv --out done.csv       what became of each label

More: docs/desk-commands.md
"""

#: The fields of a row of --out.
FIELDS = ("id", "label", "done", "late")
#: Ids that are named where something was not learnt.
NAMED = 5


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "label", run, "give a live desk labels that have arrived", DESCRIPTION, EXAMPLES)
    add_desk(parser)
    parser.add_argument("file", metavar="FILE", help="labels: CSV, JSON Lines (gzip too) or Parquet, with a header")
    parser.add_argument("--id", metavar="COLUMN", help="the column with the ids (default: as the desk was created)")
    parser.add_argument(
        "--label", metavar="COLUMN", help="the column with the labels (default: as the desk was created)"
    )
    parser.add_argument(
        "--positive", metavar="VALUE", help="the label that means that acting was right, if not 1 or yes"
    )
    parser.add_argument("--time", metavar="COLUMN", help="when the labels arrived; not before their decisions")
    parser.add_argument("--correct", action="store_true", help="replace labels that differ from those of the file")
    parser.add_argument(
        "--separator", metavar="CHARACTER", help="between the fields of a CSV file, if the guess is wrong"
    )
    parser.add_argument("--out", type=Path, metavar="FILE", help="write what became of each label, .csv or .jsonl")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Learn the labels of a file, save the desk and say what became of each."""
    from ..reports.wording import labels_awaited
    from ..streams.desk_file_tmp import open_desk
    from ..streams.labelling_tmp import LEARNT, OUTCOMES, PASSED, UNKNOWN, label_many
    from ..streams.requests import read_told
    from .addresses import check_rows_path, counted, write_rows
    from .console import print_json

    check_rows_path(args.out, args.desk, args.file)
    with open_desk(args.desk) as ledger:
        told = read_told(
            args.file,
            ledger,
            id=args.id,
            label=args.label,
            positive=args.positive,
            time=args.time,
            separator=args.separator,
        )
        outcomes = label_many(ledger, told, args.correct)
        waiting = len(ledger.pending)
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
            named = f": {', '.join(ids)}{', ...' if counts[done] > NAMED else ''}" if done in (PASSED, UNKNOWN) else ""
            more = f" ({sum(outcome.label or 0 for outcome in learnt):,} positive)" if done == LEARNT else ""
            print(f"{counted(counts[done], 'label')} {words}{more}{named}")
    if late:
        print(f"{counted(late, 'label')} arrived after the review had expired, and learnt all the same")
    print(labels_awaited(waiting))
