"""``appletaste doctor``: whether this machine is fit to keep a stream."""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from .options import FAILED, ExitError, add_json, add_verb

DESCRIPTION = """\
Look at what a stream that lasts needs of this machine: the version of SQLite, how long the
disk takes to confirm a write, the clock, and the processor. Exit code 1: something must be
changed before a stream is kept here."""

EXAMPLES = """\
examples:
  appletaste doctor
  appletaste doctor --folder /var/lib/appletaste --json
"""

#: Writes that are timed. A disk that confirms faster than this most likely confirms before it has written.
WRITES, TOO_FAST = 50, 0.00005
#: A clock before this date, the day the first version was made, is not set.
EARLIEST = 1_763_000_000.0


class Finding(NamedTuple):
    """One thing that was looked at."""

    name: str
    value: str
    fit: bool
    note: str = ""


def add(verbs: Any) -> None:
    """Add the verb to the parser."""
    parser = add_verb(verbs, "doctor", run, "is this machine fit to keep a stream?", DESCRIPTION, EXAMPLES)
    parser.add_argument("--folder", type=Path, default=Path(), metavar="FOLDER", help="where the store is to be")
    add_json(parser)


def run(args: argparse.Namespace) -> None:
    """Look, and say what was found."""
    from .console import print_json, print_table

    found = [_sqlite(), _disk(args.folder), _clock(), _processor(), *_packages()]
    fit = all(one.fit for one in found)
    if args.json:
        print_json({"fit": fit, "findings": [one._asdict() for one in found]})
    else:
        rows = [(one.name, one.value, "ok" if one.fit else "NOT FIT", one.note) for one in found]
        print_table("this machine", ("what", "found", "", ""), rows)
    if not fit:
        raise ExitError(FAILED)


def _sqlite() -> Finding:
    from ..errors import StoreError

    try:
        import apsw

        from ..records.stores.sqlite import check_version
    except ImportError:
        return Finding("SQLite", "not there", False, "pip install 'appletaste[stream]'")
    version = apsw.sqlite_lib_version()
    try:
        check_version(version)
    except StoreError:
        return Finding("SQLite", version, False, "a version that can lose a file: update apsw")
    return Finding("SQLite", version, True)


def fsync_seconds(folder: Path) -> float:
    """Return how long the disk of a folder takes to confirm a write, the median of fifty."""
    with tempfile.TemporaryFile(dir=folder) as file:
        times = []
        for _ in range(WRITES):
            file.write(b"\0" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return statistics.median(times)


def _disk(folder: Path) -> Finding:
    seconds = fsync_seconds(folder)
    note = "faster than disks are: does it confirm before it has written?" if seconds < TOO_FAST else ""
    return Finding("confirmed write", f"{1000 * seconds:.2f} ms", True, note)


def _clock() -> Finding:
    now, before = time.time(), time.monotonic()
    time.sleep(0.05)
    moved = (time.time() - now) - (time.monotonic() - before)
    if now < EARLIEST:
        return Finding("clock", time.strftime("%Y-%m-%d", time.gmtime(now)), False, "set the clock of this machine")
    return Finding("clock", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now)), abs(moved) < 0.05)


def _processor() -> Finding:
    return Finding("processor", f"{platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}", True)


def _packages() -> list[Finding]:
    found = []
    for name, extra in (
        ("psycopg", "postgres"),
        ("uvicorn", "service"),
        ("uvloop", "service"),
        ("httptools", "service"),
    ):
        try:
            module = __import__(name)
            found.append(Finding(name, str(getattr(module, "__version__", "there")), True))
        except ImportError:
            found.append(Finding(name, "not there", True, f"needed for more: pip install 'appletaste[{extra}]'"))
    return found
