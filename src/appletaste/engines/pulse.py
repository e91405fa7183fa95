"""How far every task of a run has come, told by the workers while they are at it to whoever waits.

A run that somebody watches has a small file, one row for each task: the seconds it has taken so far and the share of it
that is done. Workers on this machine write into it, and so does this process; workers elsewhere do not see the file
and say nothing until a task is done.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SECONDS, SHARE = 0, 1
#: A task says how far it has come at its first steps, which may be long, and then at every so many: a word costs
#: 0.3 us, a step 8 us or more.
STEPS = 8
#: The seconds of a task that has begun and not yet said anything.
BEGUN = 1e-9

#: The file of the run that is being watched, in the process that waits.
_watched: list[Path] = []
#: The row of the task at work and when it began, in the process that works.
_row: list[tuple[NDArray[np.float64], float]] = []


@contextmanager
def watched(tasks: int) -> Iterator[NDArray[np.float64]]:
    """Give the table [tasks, 2] of the runs in this block: seconds so far, and the share that is done.

    Examples
    --------
    >>> from appletaste.engines import engine
    >>> with watched(2) as table, engine("local") as workers:
    ...     done = dict(workers.run(abs, [-3, 2]))
    ...     table[:, SHARE].tolist()
    [1.0, 1.0]
    """
    with tempfile.TemporaryDirectory(prefix="appletaste-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "pulse"
        table = np.memmap(path, np.float64, "w+", shape=(max(1, tasks), 2))
        _watched.append(path)
        try:
            yield table
        finally:
            _watched.remove(path)


def current() -> Path | None:
    """Return the file of the run that is being watched; None: nobody waits."""
    return _watched[-1] if _watched else None


def follow(path: Path | None, index: int, function: Callable[[Any], Any], task: Any) -> Any:
    """Return the function's result on a task; while it is at work, ``tell`` writes into the row of that index."""
    if path is None:
        return function(task)
    try:
        table = np.memmap(path, np.float64, "r+").reshape(-1, 2)
    except OSError:  # a worker on another machine
        return function(task)
    if index >= len(table):  # another run than the one that is watched
        return function(task)
    row = table[index]
    row[SECONDS] = BEGUN
    _row.append((row, time.perf_counter()))
    try:
        return function(task)
    finally:
        _, began = _row.pop()
        row[SECONDS], row[SHARE] = time.perf_counter() - began, 1.0


def tell(done: int, of: int) -> None:
    """Report progress: ``done`` of so many steps. Ignored unless the run is watched."""
    if _row and (done < STEPS or done % STEPS == 0):
        row, began = _row[-1]
        now = time.perf_counter()
        if done == 0:  # what came before, such as loading kernels, comes once and is no measure of the rest
            _row[-1] = row, now
            return
        row[SECONDS], row[SHARE] = now - began, done / of
