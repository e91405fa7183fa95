"""A decision log as people name it, a file or a folder, opened with whoever does the work and a bar meanwhile."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..engines import Local, Threads
from ..logs import DecisionLog
from .console import open_engine

#: Seconds before anything is said, and between two lines where there is no terminal.
QUIET, BETWEEN = 2.0, 10.0


@contextmanager
def open_log(args: Namespace) -> Iterator[DecisionLog]:
    """Give the log that was asked for; while the block runs, its engine works and its progress is shown."""
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(args))
        workers = Threads(args.jobs) if isinstance(engine, Local) else engine
        shown = stack.enter_context(Shown())
        yield DecisionLog.scan(args.log, engine=workers, progress=shown)


class Shown:
    """Parts that are done, a bar on a terminal and lines elsewhere, on the error stream and after two seconds."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.console = Console(stderr=True)
        self.bar = Progress(*columns, console=self.console, transient=True)
        self.tasks: dict[str, int] = {}
        self.said = time.monotonic() - BETWEEN + QUIET
        self.began = time.monotonic()

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *error: object) -> None:
        if self.tasks:
            self.bar.stop()

    def __call__(self, what: str, done: int, of: int) -> None:
        """Take in that so many parts are done."""
        now = time.monotonic()
        if now - self.began < QUIET:
            return
        if self.console.is_terminal:
            self.bar.start()
            if what not in self.tasks:
                self.tasks[what] = self.bar.add_task(what, total=of)
            self.bar.update(self.bar.task_ids[self.tasks[what]], completed=done, total=of)
        elif now - self.said >= BETWEEN:
            self.said = now
            print(f"{what}: {done} of {of} parts", file=sys.stderr, flush=True)
