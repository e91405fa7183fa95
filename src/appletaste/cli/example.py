"""``appletaste example``: a made-up raw file to try things on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import InputError
from .options import add_verb

DESCRIPTION = """\
Write a made-up raw file to try things on: two months of a web shop's orders, with
categories, gaps, times, whether the shop's own rule reviewed each order and, in the
last column, whether the order was fraud. With --last-year, write the orders of the
year before too, in which fraud is known only where an order was reviewed."""

EXAMPLES = """\
examples:
  appletaste example orders.csv --last-year last_year.csv
  appletaste replay orders.csv --history last_year.csv --label fraud --drop order --time placed_at \\
      --label-time settled_on --today reviewed --costs miss=95,false_alarm=6,hit=4

What to do with the file: docs/guide.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "example", run, "write a made-up raw file to try things on", DESCRIPTION, EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE.csv", help="the file to write; an existing file stays")
    parser.add_argument("--last-year", type=Path, metavar="FILE.csv", help="write the orders of the year before here")
    parser.add_argument("--rows", type=int, default=36_600, metavar="N", help="how many orders (default 36600)")
    parser.add_argument("--seed", type=int, default=7, help="another seed makes other orders (default 7)")


def run(args: argparse.Namespace) -> None:
    """Write the example file, unless something is there."""
    from ..problems import write_orders

    wanted = {args.file: "the column 'fraud' says how each turned out"}
    if args.last_year == args.file:
        raise InputError(f"{args.file} cannot hold both years: give another name to --last-year")
    if args.last_year is not None:
        wanted[args.last_year] = "they are of the year before, and 'fraud' is known where an order was reviewed"
    for path in wanted:
        if path.exists():
            raise InputError(f"{path} is there already: give another name, or delete the file first")
    for path, meaning in wanted.items():
        write_orders(path, args.rows, args.seed, year_before=path == args.last_year)
        print(f"{args.rows} orders are in {path}; {meaning}")
