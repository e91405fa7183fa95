"""What people see on the terminal: tables, numbers for machines, and how much of the work is done meanwhile."""

from __future__ import annotations

import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table as RichTable

from .._files import json_text
from ..costs import Costs
from ..engines import Engine, engine
from ..engines.pulse import SECONDS, SHARE, watched
from ..pages.page import Table
from ..pages.page import show as show
from ..policies import PolicySpec
from ..problems import Problem
from ..simulate import Result, replicate


@contextmanager
def open_engine(args: Namespace) -> Iterator[Engine]:
    """Open the engine that was asked for; what it has to say goes to the error stream, beside the results."""
    with redirect_stdout(sys.stderr), engine(args.engine, jobs=args.jobs, address=args.cluster) as workers:
        yield workers


def play_with_progress(
    title: str,
    problem: Problem,
    entries: list[PolicySpec],
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


#: Seconds of work after which the first estimate is made: the first items, before there are labels, are the quickest.
PROBE = 5.0
#: An estimate is said before work of more than this many seconds.
LONG = 60.0
#: Seconds for which estimates must have agreed before one is said.
STEADY = 5.0
#: Seconds between two lines where there is no terminal, and between two movements of a bar.
BETWEEN, BLINK = 10.0, 0.5


def in_words(seconds: float) -> str:
    """Return a length of time as people say it.

    Examples
    --------
    >>> [in_words(seconds) for seconds in (8, 47, 80, 400, 9000, 300_000)]
    ['about 10 seconds', 'about 50 seconds', 'about 1 minute', 'about 7 minutes', 'about 2.5 hours', 'about 3.5 days']
    """
    if seconds < 55.0:
        return f"about {max(1, round(seconds / 10)) * 10} seconds"
    if seconds < 5400.0:
        minutes = max(1, round(seconds / 60))
        return f"about {minutes} minute{'s' if minutes > 1 else ''}"
    if seconds < 129_600.0:
        return f"about {seconds / 3600:.1f} hours"
    return f"about {seconds / 86_400:.1f} days"


def time_left(table: NDArray[np.float64], kinds: Sequence[str], workers: int) -> float | None:
    """Return the seconds that the rest of a run will take, or None while nothing is known.

    Tasks of one kind (a policy) take alike: the seconds of those begun, over their shares that are done. A kind of
    which no task has begun is taken for the mean of the others; of one that has begun and said nothing yet, nothing is
    known. Rough where steps grow dearer, as those of a Gibbs sampler do; the next estimate knows better.

    Examples
    --------
    >>> table = np.array([[30.0, 0.5], [0.1, 1.0], [0.0, 0.0], [0.0, 0.0]])
    >>> time_left(table, ["pg-ids", "never", "pg-ids", "never"], workers=1)
    90.1
    """
    names, place = np.unique(kinds, return_inverse=True)
    seconds, shares, count = (
        np.bincount(place, values, len(names)) for values in (table[:, SECONDS], table[:, SHARE], np.ones(len(kinds)))
    )
    known = shares > 0.0
    if table[:, SECONDS].sum() < PROBE or (~known & (seconds > 0.0)).any():
        return None
    rates = np.full(len(names), (seconds[known] / shares[known]).mean())
    rates[known] = seconds[known] / shares[known]
    open_ = np.where(table[:, SHARE] < 1.0, rates[place] * (1.0 - table[:, SHARE]), 0.0)
    rest = float((rates * (count - shares)).sum())
    return max(rest / workers, float(open_.max()))  # one task has one worker, however many there are


@contextmanager
def progress_of(title: str, kinds: Sequence[str], workers: int) -> Iterator[Callable[[str], None]]:
    """Show how far a run has come, whose tasks are of these kinds; yields what to call after each task.

    On a terminal a bar; elsewhere a line every ten seconds. Both on the error stream, and both say how long the rest
    will take. Before work of more than a minute a line says so.
    """
    with watched(len(kinds)) as table:
        shown = Watch(title, table, kinds, workers)
        with shown:
            yield shown.step


@contextmanager
def progress_to(total: int, title: str) -> Iterator[Callable[[int], None]]:
    """Show in the same way how far this process has come among so many items; yields what to tell how many are done."""
    shown = Watch(title, np.zeros((1, 2)), [title], 1, total)
    with shown:
        yield shown.reach


class Watch(threading.Thread):
    """A thread that looks at the table of a run and says what it sees."""

    def __init__(
        self, title: str, table: NDArray[np.float64], kinds: Sequence[str], workers: int, total: int | None = None
    ) -> None:
        super().__init__(daemon=True)
        self.title, self.table, self.kinds, self.workers = title, table, kinds, workers
        self.total = len(kinds) if total is None else total  # what is counted, if not tasks
        self.text, self.done = title, 0
        self.began = time.monotonic()
        self.ended = threading.Event()
        console = Console(stderr=True)
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
        )
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self.terminal = console.is_terminal
        self.task = self.bar.add_task(title, total=self.total, left="")

    def step(self, text: str) -> None:
        """Take in that a task is done."""
        self.text, self.done = text, self.done + 1

    def reach(self, done: int) -> None:
        """Take in how much is done."""
        if not self.done:  # what came before, such as loading kernels, comes once and is no measure of the rest
            self.began = time.monotonic()
        self.done = done

    def __enter__(self) -> Watch:
        self.bar.start()
        self.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.ended.set()
        self.join()
        self.bar.stop()

    def left(self) -> float | None:
        """Return the seconds that the rest will take; None: not known yet."""
        found = time_left(self.table, self.kinds, self.workers)
        if self.done and not self.table.any():  # workers elsewhere say nothing before a task is done
            taken = time.monotonic() - self.began
            found = taken * (self.total - self.done) / self.done if taken >= PROBE else None
        return found

    def run(self) -> None:
        """Look until the run has ended."""
        estimated, said = False, self.began
        first: tuple[float, float] | None = None  # when an estimate was made that later ones have agreed with, and it
        while not self.ended.wait(BLINK):
            now, left = time.monotonic(), self.left()
            if self.terminal:
                completed = max(float(self.table[:, SHARE].sum()), float(self.done))
                told = "" if left is None else f"{in_words(left)} left"
                self.bar.update(self.task, completed=completed, description=self.text, left=told)
            if not estimated and left is not None and left > LONG:
                whole = now - self.began + left
                if first is None or not 0.5 < whole / first[1] < 2.0:  # kernels that compile are no measure of the rest
                    first = now, whole
                elif now - first[0] >= STEADY:
                    estimated, said = True, now
                    self.say(f"{self.title}: this will take {in_words(whole)}")
            if not self.terminal and now - said >= BETWEEN:
                said = now
                told = "" if left is None else f", {in_words(left)} left"
                self.say(f"{self.title}: {self.done} of {self.total} done{told}")

    def say(self, line: str) -> None:
        """Print a line to the error stream, above the bar if there is one."""
        if self.terminal:
            self.bar.console.print(line, markup=False, highlight=False)
        else:
            print(line, file=sys.stderr, flush=True)
