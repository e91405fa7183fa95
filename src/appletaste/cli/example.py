"""``appletaste example``: a made-up raw file to try things on."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import InputError
from .options import add_verb

DESCRIPTION = """\
Write a made-up raw file to try things on: two months of a web shop's orders, with
categories, gaps, times and, in the last column, whether each order was fraud."""

EXAMPLES = """\
examples:
  appletaste example orders.csv
  appletaste replay orders.csv --label fraud --drop order --drop settled_on --time placed_at \\
      --costs miss=95,false_alarm=6,hit=4

What to do with the file: docs/guide.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "example", run, "write a made-up raw file to try things on", DESCRIPTION, EXAMPLES)
    parser.add_argument("file", type=Path, metavar="FILE.csv", help="the file to write; an existing file stays")
    parser.add_argument("--rows", type=int, default=36_600, metavar="N", help="how many orders (default 36600)")
    parser.add_argument("--seed", type=int, default=7, help="another seed makes other orders (default 7)")


def run(args: argparse.Namespace) -> None:
    """Write the example file, unless something is there."""
    from ..problems import write_orders

    if args.file.exists():
        raise InputError(f"{args.file} is there already: give another name, or delete the file first")
    write_orders(args.file, args.rows, args.seed)
    print(f"{args.rows} orders are in {args.file}; the column 'fraud' says how each turned out")
