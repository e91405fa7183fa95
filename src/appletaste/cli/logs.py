"""A decision log as people name it, a file or a folder, opened with whoever does the work and a bar meanwhile."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from zipfile import is_zipfile

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..engines import Local, Threads
from ..features import FeatureMap
from ..logs import DecisionLog
from .console import open_engine
from .waiting import BETWEEN, in_words

#: Seconds before anything is said.
QUIET = 2.0


@contextmanager
def open_log(args: Namespace) -> Iterator[DecisionLog]:
    """Give the log that was asked for; while the block runs, its engine works and its progress is shown.

    A desk's file is a log too: that of its ledger.
    """
    if is_zipfile(args.log):
        from ..desks import read_desk

        yield read_desk(args.log).log()
        return
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(args))
        workers = Threads(args.jobs) if isinstance(engine, Local) else engine
        shown = stack.enter_context(Shown())
        yield DecisionLog.scan(args.log, engine=workers, progress=shown)


def feature_names(args: Namespace) -> list[str] | None:
    """Return the names of the features, from the map that was named or from the desk whose log is asked for."""
    path = args.log if args.features is None and is_zipfile(args.log) else args.features
    return None if path is None else FeatureMap.load(path).names()


class Shown:
    """Parts that are done, a bar on a terminal and lines elsewhere, on the error stream and after two seconds."""

    def __init__(self) -> None:
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self.console = Console(stderr=True)
        self.bar = Progress(*columns, console=self.console, transient=True)
        self.tasks: dict[str, int] = {}
        self.said = time.monotonic() - BETWEEN + QUIET
        self.began = self.last = time.monotonic()
        self.starts: dict[str, float] = {}  # when each kind of pass began: when the one before ended

    def __enter__(self) -> Shown:
        return self

    def __exit__(self, *error: object) -> None:
        if self.tasks:
            self.bar.stop()

    def __call__(self, what: str, done: int, of: int) -> None:
        """Take in that so many parts are done."""
        now = time.monotonic()
        if done == 1:
            self.starts[what] = self.last
        self.last = now
        if now - self.began < QUIET:
            return
        if self.console.is_terminal:
            self.bar.start()
            if what not in self.tasks:
                self.tasks[what] = self.bar.add_task(what, total=of)
            self.bar.update(self.bar.task_ids[self.tasks[what]], completed=done, total=of)
        elif now - self.said >= BETWEEN:
            self.said = now
            left = in_words((now - self.starts[what]) * (of - done) / done)
            print(f"{what}: {done} of {of} parts, {left} left", file=sys.stderr, flush=True)
