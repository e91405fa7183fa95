"""What people name, a store with its streams or a decision log; and rows for other programs, written whole."""

from __future__ import annotations

import csv
import io
import sys
import time
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .._files import json_text, write_aside
from ..engines import Local, Threads
from ..errors import InputError, Message, OptionError, Remedy
from ..evaluate.groups import cells_of
from ..features import FeatureMap
from ..logs import DecisionLog
from ..records.stores import POSTGRES
from ..streams.saving import load
from ..tables import read_records
from ..tables.records import listed
from .console import BETWEEN, in_words, open_engine

if TYPE_CHECKING:
    from ..streams import Stream

#: Seconds before anything is said.
QUIET = 2.0


#: How a file of SQLite begins.
SQLITE = b"SQLite format 3\0"


def opened(address: str, read_only: bool = False, create: bool = True) -> Any:
    """Return the store at an address; ``create`` makes a file that is not there."""
    from ..records.stores import open_store

    return open_store(address, read_only=read_only, create=create)


@contextmanager
def open_stream(store: str, name: str | None, read_only: bool = False) -> Iterator[Stream]:
    """Give the stream of a store, by its name or the only one; ``read_only`` looks while others write."""
    from ..streams import Stream

    with closing(opened(store, read_only=read_only, create=False)) as place:
        names = place.names()
        if name is None:
            if not names:
                raise OptionError(f"{store} has no stream yet: 'appletaste stream create' makes one")
            if len(names) > 1:
                there = f"{store} has {len(names)} streams: {listed(names)}. Say which with "
                raise OptionError(Message(there, Remedy("stream")))
            name = names[0]
        with Stream.open(place, name, read_only=read_only) as stream:
            yield stream


def is_store(address: str) -> bool:
    """Return whether an address is that of a store, rather than of a decision log."""
    if address.startswith(POSTGRES):
        return True
    path = Path(address)
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(SQLITE)) == SQLITE


@contextmanager
def open_log(args: Namespace) -> Iterator[DecisionLog]:
    """Give the log that was asked for; while the block runs, its engine works and its progress is shown.

    A stream has a log, too: ``args.log`` may name a store, and ``args.stream`` which of its streams is meant.
    """
    if is_store(args.log):
        with open_stream(args.log, args.stream, read_only=True) as stream:
            yield stream.log()
        return
    if args.stream is not None:
        raise OptionError(Message(f"{args.log} is no store: leave out ", Remedy("stream", args.stream)))
    if is_zipfile(args.log):
        load(args.log)  # an earlier version's desk says what to do
    with ExitStack() as stack:
        engine = stack.enter_context(open_engine(args))
        workers = Threads(args.jobs) if isinstance(engine, Local) else engine
        shown = stack.enter_context(Shown())
        yield DecisionLog.scan(args.log, engine=workers, progress=shown)


def groups_asked(args: Namespace) -> str | dict[str, Any]:
    """Return the column of the log, or the values by id, that ``--by`` asks for."""
    if args.items is None:
        if args.id is not None:
            raise OptionError(Message("ids are a column of a table: name the table with ", Remedy("items")))
        if args.by in ("stratum", "policy") or not is_store(args.log):
            return str(args.by)
        with open_stream(args.log, args.stream, read_only=True) as stream:
            return cells_of(stream, args.by)
    wanted = [args.by] if args.id is None else [args.by, args.id]
    table = read_records(args.items, columns=wanted, categories=[] if args.id is None else [args.id])
    values = table.columns[args.by].tolist()
    lines = [f"{table.unit} {line}" for line in ([] if table.lines is None else table.lines.tolist())]
    ids = lines if args.id is None else table.columns[args.id].tolist()
    return {str(one): value for one, value in zip(ids, values, strict=True)}


def feature_names(args: Namespace) -> list[str] | None:
    """Return the names of the features, from the map that was named or from the stream whose log is asked for."""
    if args.map is not None:
        return FeatureMap.load(args.map).names()
    if not is_store(args.log):
        return None
    with open_stream(args.log, args.stream, read_only=True) as stream:
        return None if stream.features is None else stream.features.names()


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
