"""A decision log as people name it, a file or a folder, and rows for other programs, written whole or not at all."""

from __future__ import annotations

import csv
import io
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .._files import json_text, write_aside
from ..engines import Local, Threads
from ..errors import InputError
from ..features import FeatureMap
from ..logs import DecisionLog
from .console import BETWEEN, in_words, open_engine

#: Seconds before anything is said.
QUIET = 2.0


@contextmanager
def open_log(args: Namespace) -> Iterator[DecisionLog]:
    """Give the log that was asked for; while the block runs, its engine works and its progress is shown.

    A desk's file is a log too: that of its ledger.
    """
    if is_zipfile(args.log):
        from ..streams.desk_file_tmp import read_desk

        yield read_desk(args.log).log()
        return
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(args))
        workers = Threads(args.jobs) if isinstance(engine, Local) else engine
        shown = stack.enter_context(Shown())
        yield DecisionLog.scan(args.log, engine=workers, progress=shown)


def feature_names(args: Namespace) -> list[str] | None:
    """Return the names of the features, from the map that was named or from the desk whose log is asked for."""
    path = args.log if args.map is None and is_zipfile(args.log) else args.map
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
        elif done < of and now - self.said >= BETWEEN:
            self.said = now
            left = in_words((now - self.starts[what]) * (of - done) / done)
            print(f"{what}: {done} of {of} parts, {left} left", file=sys.stderr, flush=True)


def check_rows_path(path: Path | None, *taken: str | Path) -> None:
    """Refuse, before any work, a name that rows cannot be written to: of another kind, or of a file that is read."""
    if path is None:
        return
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError(f"--out is a file named .csv or .jsonl, got {str(path)!r}")
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            f"--out {path}: {'that is a folder' if path.is_dir() else f'there is no folder {path.parent}'}"
        )
    for other in taken:
        if path.exists() and Path(other).exists() and path.samefile(other):
            raise InputError(f"--out {path} would write over {other}, which this command reads: give another name")


def write_rows(path: Path, names: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Write rows with these fields; in CSV a list is joined by semicolons, and yes and no stand for true and false."""
    text = io.StringIO(newline="")
    if path.suffix == ".jsonl":
        text.writelines(json_text({name: row[name] for name in names}, None) + "\n" for row in rows)
    else:
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        writer.writerows([_cell(row[name]) for name in names] for row in rows)
    write_aside(path, text.getvalue().encode())


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return "; ".join(map(str, value))
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return "" if value is None else value


def counted(number: int, what: str) -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> counted(1, "label"), counted(1200, "item")
    ('1 label', '1,200 items')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"
