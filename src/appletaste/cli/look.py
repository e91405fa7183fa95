"""``appletaste look``: a file before it is played, column by column."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .options import add_json, add_reading_options, add_verb, flag, writing_of

DESCRIPTION = """\
Look at a file before it is played: what each column will be used as, how well each
column alone tells the label, and what would make a replay say more than the truth.

used as    number, category, date or text (a text that nearly every row has for itself);
           of a date, the features that are made of it
tells      the share of pairs of a positive and a negative that the column alone tells
           apart, on rows that were not learnt from: 0.50 is nothing, 1.00 is everything

findings, each with what to do:
  LEAK           the column alone tells the label nearly always (0.99 or more)
  DATE_AFTER     a date after --time: known only afterwards
  LABEL_KNOWN    the column tells exactly which rows have a label: where somebody looked
  DATE_FORMAT    dates that are not in ISO 8601, and are texts
  TIME_ZONES     times with and without a zone in one column
  INFINITE       cells that are infinite or of 1e100 or more, and missing therefore
  LABEL_MISSING  rows without a label
  FEW_POSITIVES  too few of the rarer label to learn from
  CALENDAR       a year, month, week or day that moves with the order of the rows
  MOVING_RANGE   later rows are beyond the range of the first 500
  RARE_AT_FIRST  with --time: a value that is rare in the first 500 rows and usual later
  CODE           whole numbers in which the rate of positives has no order, or written
                 with zeros in front
  IDENTIFIER     another value in nearly every row; a date that may be --time
  DUPLICATE      copies of rows, columns that say the same
  CONSTANT, NEAR_CONSTANT, MISSING

The important ones are notes of every replay, too. Where --label or --time is left out,
the columns that seem to be them are named; --json has what every column seems to be."""

EXAMPLES = """\
examples:
  appletaste look orders.csv
  appletaste look orders.csv --label fraud --time placed_at
  appletaste look loans.csv --label outcome --positive default --drop customer --out out/look
  appletaste look cards.parquet --label fraud --json

Each finding, and how it is found: docs/look.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(
        verbs,
        "look",
        run,
        "look at your own file before it is played: leaks, codes, moving ranges",
        DESCRIPTION,
        EXAMPLES,
    )
    parser.add_argument(
        "file", metavar="FILE", help="CSV, JSON Lines, Parquet, Feather or a spreadsheet, with a header"
    )
    parser.add_argument("--label", metavar="COLUMN", help="the column with the true labels, if there is one")
    parser.add_argument("--time", metavar="COLUMN", help="when the items came; rows are looked at in its order")
    add_reading_options(parser)
    add_json(parser)
    parser.add_argument("--out", type=Path, metavar="DIR", help="write a page (index.html), look.md and look.json")


def run(args: argparse.Namespace) -> None:
    """Look at a file and print, and if asked write, what was found."""
    from .._files import check_folder
    from ..history import look
    from ..history.look_page import SIGN
    from ..tables.values import MISSING
    from .console import print_json, show_table

    if args.out:
        check_folder(args.out, SIGN)
    found = look(
        args.file,
        args.label,
        time=args.time,
        drop=args.drop,
        positive=args.positive,
        missing=(*MISSING, *args.missing),
        categories=args.category,
        numbers=args.number,
        **writing_of(args),
    )
    if args.out:
        found.write(args.out, flag)
    if args.json:
        print_json(found.as_dict(flag))
        return
    show_table(found.table())
    print("\n".join(found.sentences(flag)))
    if args.out:
        print(f"the page is in {args.out / 'index.html'}")
