"""What people see on the terminal: tables, and a progress bar on anything that takes a while."""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from ..costs import Costs
from ..engines import Engine, engine
from ..problems import Problem
from ..simulate import Entry, Result, replicate


@contextmanager
def open_engine(args: Namespace) -> Iterator[Engine]:
    """Open the engine that was asked for; what it has to say goes to the error stream, beside the results."""
    with redirect_stdout(sys.stderr), engine(args.engine, jobs=args.jobs, address=args.address) as workers:
        yield workers


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[str], None]]:
    """Show one bar for a whole piece of work, with the time left; yields what to call after each step.

    Lines printed to the error stream meanwhile appear above the bar.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda text: bar.update(task, advance=1, description=text)


def play_with_progress(
    title: str,
    problem: Problem,
    entries: list[Entry],
    args: Namespace,
    workers: Engine,
    costs: Costs | None = None,
) -> list[Result]:
    """Run ``replicate`` under a progress bar on the error stream."""
    with progress_bar(title, len(entries) * args.replications) as step:
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
    """Print a table; the first column is text, the others numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="right" if i else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(table, markup=False)


def show(value: float | None, digits: int = 3) -> str:
    """Return a number for a table; a dash where there is none."""
    return "-" if value is None or math.isnan(value) else f"{value:.{digits}f}"
