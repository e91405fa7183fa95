"""Folders of this process among the temporary files; those of processes that were killed go when another one starts."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from .._files import lock_beside

PREFIX = "appletaste-files-"
#: Seconds after which a folder that nobody has locked was left behind, and is not being made.
LEFT = 60.0
_held: dict[int, tuple[Path, int]] = {}  # by process, or a fork would take the folder for its own


def _ours() -> Path:
    """Return the folder of this process, which is locked as long as the process lives."""
    found = _held.get(os.getpid())
    if found is None:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        lock = lock_beside(folder / "files")
        assert lock is not None  # nobody else knows the name
        found = _held[os.getpid()] = folder, lock
        atexit.register(_forget, os.getpid())
    return found[0]


def _forget(process: int) -> None:
    if process == os.getpid():
        folder, lock = _held.pop(process)
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def folder_of_ours() -> Path:
    """Return a new folder for files of this process, for its owner alone; it goes with the process at the latest.

    Examples
    --------
    >>> folder = folder_of_ours()
    >>> sorted(folder.iterdir())
    []
    >>> folder.rmdir()
    """
    return Path(tempfile.mkdtemp(dir=_ours()))


def sweep() -> int:
    """Delete what processes left behind that were killed; return of how many. Folders in use and of others stay."""
    swept = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # of somebody else, or gone by now
            young = time.time() - folder.stat().st_mtime < LEFT
            lock = None if young else lock_beside(folder / "files")
            if lock is not None:
                os.close(lock)
                shutil.rmtree(folder)
                swept += 1
    return swept
