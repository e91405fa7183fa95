"""``appletaste model``: what a stream believes of each column, as curves with bands on one page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..errors import InputError, OptionError
from .options import add_json, add_stream, add_verb

DESCRIPTION = """\
Show what a stream believes of each column: how much each value adds to the score, with
bands that say how sure that is, over what was seen of the column. Columns that move the
score most come first. Without --out a table; with --out one HTML page, which opens without
a network and has a picture for each column.

What is added is measured from the typical value of a column, in log-odds: +1 multiplies
the odds of a positive by 2.7.

Nothing is changed, and another process may use the stream meanwhile."""

EXAMPLES = """\
examples:
  appletaste model shop.db
  appletaste model shop.db --out model.html
  appletaste model shop.db --out model.html --top 10
  appletaste model shop.db --json

What the curves are: docs/curves.md
"""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "model", run, "what a live stream believes of each column, drawn", DESCRIPTION, EXAMPLES)
    add_stream(parser)
    parser.add_argument("--out", type=Path, metavar="FILE.html", help="write the page; an earlier page is written over")
    parser.add_argument("--top", type=int, default=50, metavar="N", help="how many columns (default 50; 0: all)")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Print the curves, and if asked draw them."""
    from .._files import write_aside
    from ..reports.model import model_of
    from ..reports.model_page import as_html
    from .addresses import open_stream
    from .console import print_json, progress_to, show_table

    if args.top < 0:
        raise OptionError(f"--top is a number of columns, or 0 for all, got {args.top}")
    _check_page(args.out)
    with progress_to(3, "the model") as reached:
        with open_stream(args.store, args.stream, read_only=True) as stream:
            reached(1)
            name, model = stream.name, model_of(stream).top(args.top)
        reached(2)
        if args.out:
            write_aside(args.out, as_html(model, f"The model of {name}").encode())
        reached(3)
    if args.json:
        print_json({"stream": name, **model.as_dict()})
        return
    print("\n".join(model.sentences()))
    show_table(model.table())
    print(f"the page is in {args.out}" if args.out else "--out model.html draws the curves with their bands")


def _check_page(path: Path | None) -> None:
    """Refuse, before any work, a name that the page cannot have; only an earlier page is written over."""
    from ..reports.model_page import MARK

    if path is None:
        return
    if path.suffix not in (".html", ".htm"):
        raise InputError(f"--out is a file named .html, got {str(path)!r}")
    if path.is_dir() or not path.parent.is_dir():
        told = "that is a folder" if path.is_dir() else f"there is no folder {path.parent}"
        raise InputError(f"--out {path}: {told}")
    if path.exists() and MARK.encode() not in path.read_bytes()[:4096]:
        raise InputError(f"--out {path} is there already and is no page of a model: give another name")
