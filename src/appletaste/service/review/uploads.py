"""Files that somebody sent to make a stream from: in a folder of this process, for a day at most."""

from __future__ import annotations

import asyncio
import csv
import re
import secrets
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...tables.files import SEPARATORS
from ...times import DAY, instants
from ..operations import Call
from ..problems import Problem
from ..temporary import folder_of_ours

T = TypeVar("T")

#: The longest file in bytes, its most cells and columns, and how many files are kept.
LARGEST, CELLS, WIDEST, MOST = 64 * 1024 * 1024, 5_000_000, 1000, 8
#: The longest name of a column.
NAME = 200
#: Seconds that a file is kept.
LASTS = DAY


class Kept(NamedTuple):
    """A file that is there."""

    path: Path
    since: float


class Files:
    r"""The files of a process; ``close`` forgets all of them.

    Examples
    --------
    >>> files = Files()
    >>> file = files.put(b"age,bad\n30,0\n")
    >>> files.find(file).read_bytes()
    b'age,bad\n30,0\n'
    >>> files.close()
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._known: dict[str, Kept] = {}
        self._lock = threading.Lock()

    def put(self, content: bytes) -> str:
        """Keep a file and return its name, which nobody can guess; one that is no table of text is refused."""
        check_text(content)
        name = secrets.token_urlsafe(12)
        with self._lock:
            if self._folder is None:
                self._folder = folder_of_ours()
            path = self._folder / f"{name}.csv"
        path.write_bytes(content)  # which takes its time, and ``find`` is asked in the event loop
        with self._lock:
            self._sweep(MOST - 1)
            self._known[name] = Kept(path, time.time())
        return name

    def find(self, name: str) -> Path:
        """Return where a file lies, or the problem that it does not."""
        with self._lock:
            self._sweep(MOST)
            found = self._known.get(name)
        if found is None:
            raise Problem("unknown-file")
        return found.path

    def sweep(self) -> None:
        """Forget files whose time is over."""
        with self._lock:
            self._sweep(MOST)

    def drop(self, name: str) -> None:
        """Forget a file."""
        with self._lock:
            self._forget(name)

    def __len__(self) -> int:
        return len(self._known)

    def close(self) -> None:
        """Forget all files."""
        with self._lock:
            self._known.clear()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = None

    def _sweep(self, most: int) -> None:
        """Forget files whose time is over, and the oldest beyond so many."""
        now = time.time()
        for name, kept in list(self._known.items()):
            if now - kept.since >= LASTS or len(self._known) > most:
                self._forget(name)

    def _forget(self, name: str) -> None:
        kept = self._known.pop(name, None)
        if kept is not None:
            kept.path.unlink(missing_ok=True)


def unreadable(detail: str) -> Problem:
    """Return the problem of a file that cannot be used, with what is wrong and what to do about it."""
    return Problem("unreadable-file", detail=detail)


def check_text(content: bytes) -> None:
    """Refuse what is no table of text, before anybody reads it: that takes many times its length in memory."""
    if not content.strip():
        raise unreadable("the file is empty: a table begins with a line that names its columns")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise unreadable(f"line {line} is not UTF-8: save the table as CSV in UTF-8; a spreadsheet is no CSV") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise unreadable(f"line {line} has a NUL byte, which is no text: save the table as CSV in UTF-8")
    header = text.lstrip().split("\n", 1)[0]
    separator = max(SEPARATORS, key=header.count)
    if text.count(separator) + text.count("\n") > CELLS:
        raise unreadable(f"the file has more than {CELLS:,} cells: send its latest rows, or fewer columns")
    names = header.split(separator)
    if len(names) > WIDEST:
        raise unreadable(f"the file has more than {WIDEST:,} columns: send those that could matter")
    if max(map(len, names)) > NAME:
        raise unreadable(f"the name of a column is longer than {NAME} letters: the first line has to name the columns")


def plain_words(path: Path, told: str, name: str = "the file") -> str:
    """Return what the library says of a file, by a name that says something to whoever sent the file.

    Examples
    --------
    >>> plain_words(Path("/tmp/x.csv"), "/tmp/x.csv, line 3: 2 fields, but the header has 4")
    'the file, line 3: 2 fields, but the header has 4'
    """
    return told.replace(str(path), name).replace(path.name, name)


def latest_rows(path: Path, time_column: str | None, most: int, folder: Path) -> tuple[Path, int]:
    """Return a file in a folder with the latest rows of a file, and how many there are in all; of a short one itself.

    Rows are later further down, or by a column of dates or numbers.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        first = file.readline()
        if said := re.fullmatch(r"sep=(.)", first.strip("\r\n")):
            separator, header = said[1], file.readline()
        else:
            separator, header = max(SEPARATORS, key=first.count), first
        names = [name.strip() for name in next(csv.reader([header], delimiter=separator))]
        rows = [row for row in csv.reader(file, delimiter=separator) if row]
    if len(rows) <= most:
        return path, len(rows)
    order = np.arange(len(rows))
    if time_column in names:
        place = names.index(time_column)
        order = np.argsort(moments_of([row[place] for row in rows]), kind="stable")
    chosen = sorted(order[-most:].tolist())
    target = folder / "latest.csv"
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator)
        writer.writerow(names)
        writer.writerows(rows[row] for row in chosen)
    return target, len(rows)


def moments_of(times: list[str]) -> NDArray[np.float64]:
    """Return numbers or dates as numbers that grow with time; what is neither comes before all others.

    Examples
    --------
    >>> moments_of(["9", "10", ""]), moments_of(["1970-01-02T01:00:00+02:00", "1970-01-02T00:00:00Z"])
    (array([  9.,  10., -inf]), array([82800., 86400.]))
    """
    try:
        found = np.array([float(time or "nan") for time in times])
    except ValueError:
        found = instants(np.array(times, dtype=object))
    return np.where(np.isnan(found), -np.inf, found)


async def take_in(call: Call[bytes], look_at: Callable[[str, Path], T]) -> T:
    """Keep the file that somebody sends and look at it; one that is no table leaves nothing behind."""
    files, content = call.host.files, call.body

    def work() -> T:
        name = files.put(content)
        try:
            return look_at(name, files.find(name))
        except BaseException:
            files.drop(name)
            raise

    found: T = await call.host.aside(work)
    asyncio.get_running_loop().call_later(LASTS, files.sweep)  # also where nobody asks for files any more
    return found


async def with_file(call: Call[Any], work: Callable[..., Any], *given: Any) -> Any:
    """Do something with the file that an address names; files may go at any time."""
    try:
        return await call.host.aside(work, call.host.files.find(call.params["file"]), *given)
    except FileNotFoundError:
        raise Problem("unknown-file") from None
