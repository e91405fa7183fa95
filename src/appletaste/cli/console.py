"""What people see on the terminal: tables, numbers for machines, and the work behind them as it is done."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from .._files import json_text
from ..costs import Costs
from ..engines import Engine, engine
from ..pages.table import Table
from ..pages.table import show as show
from ..problems import Problem
from ..simulate import Entry, Result, replicate
from .waiting import progress_of


@contextmanager
def open_engine(args: Namespace) -> Iterator[Engine]:
    """Open the engine that was asked for; what it has to say goes to the error stream, beside the results."""
    with redirect_stdout(sys.stderr), engine(args.engine, jobs=args.jobs, address=args.address) as workers:
        yield workers


def play_with_progress(
    title: str,
    problem: Problem,
    entries: list[Entry],
    args: Namespace,
    workers: Engine,
    costs: Costs | None = None,
) -> list[Result]:
    """Run ``replicate``, and show on the error stream how far it has come."""
    kinds = [entry.label for entry in entries for _ in range(args.replications)]
    with progress_of(title, kinds, args.jobs) as step:
        return replicate(
            problem,
            entries,
            args.replications,
            seed=args.seed,
            engine=workers,
            costs=costs,
            progress=lambda entry: step(f"{title}: {entry.label}"),
        )


def print_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of these parts; the first column is text, the others numbers."""
    show_table(Table(title, columns, rows))


def print_json(found: Any) -> None:
    """Print a result for machines; numbers that are none are null."""
    print(json_text(found))


def show_table(table: Table) -> None:
    """Print a table, as wide as the terminal; a file gets 140 letters a line."""
    shown = RichTable(title=table.title, title_justify="left", box=None, pad_edge=False)
    for i, name in enumerate(table.header):
        shown.add_column(name, justify="right" if i else "left", no_wrap=True)
    for row in table.rows:
        shown.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(shown, markup=False)
