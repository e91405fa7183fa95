"""Compile beside the work that can already run.

While one process makes its first decisions, another compiles what learning will need. The kernels of a renewal take
most of the time, and all of them are asked for when the first label has been learnt. The two processes go through them
from either end; a kernel that one of them is about to finish, the other waits for (``_numba.py``). Where there is no
other process, or it dies, everything is compiled where it is asked for.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np

from . import linear, logistic, renewal
from ._jit import INTERPRETED, can_cache, is_cached
from .gaussian import COVARIANCE, MODE
from .linear import BLOCK

_has_met = False
#: Set to the cache once another process compiles for it, so that workers, which inherit it, start no other.
BESIDE = "APPLETASTE_COMPILES_BESIDE"


def compile_beside() -> None:
    """Let another process compile the kernels of a renewal, if there is a core for it and a cache to share."""
    cache = os.environ.get("NUMBA_CACHE_DIR", "")
    if os.environ.get(BESIDE) == cache or is_cached(renewal.advance):
        return
    os.environ[BESIDE] = cache
    alone = (os.cpu_count() or 1) < 2 or multiprocessing.parent_process() is not None
    if alone or not sys.executable or not can_cache():
        return
    threading.Thread(target=_run_beside, daemon=True).start()


def _run_beside() -> None:
    """Run the other process to its end; where none may be started, all is compiled in this one."""
    with contextlib.suppress(OSError):
        subprocess.run(
            [sys.executable, "-c", f"from {__name__} import compile_renewal; compile_renewal()"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def meet_halfway() -> None:
    """Before the first renewal, compile its kernels from the other end, unless they are there."""
    global _has_met
    if not _has_met:
        _has_met = True
        if not INTERPRETED and not (is_cached(renewal.advance) and is_cached(logistic.fit)):
            compile_renewal(from_the_end=True)


def compile_renewal(from_the_end: bool = False) -> None:
    """Go through the steps of a renewal of nothing, from the one that takes longest on; or towards it."""
    d = 1
    belief, prior = np.ones((COVARIANCE + d, d)), np.ones((d + 1, d))
    features, labels = np.ones((1, d, BLOCK)), np.ones(1)
    sums, marks = renewal.make_renewal(d)
    work, hessian = logistic.make_work(d)
    steps: list[Callable[[], object]] = [
        lambda: renewal.advance(1, features, labels, 1, True, sums, marks, work),
        lambda: linear.invert(np.ones((d, d)), belief[COVARIANCE:], work[logistic.TILE :]),
        lambda: logistic.fit(features, labels, 1, prior[-1], prior[:-1], belief[MODE], work, hessian),
        lambda: renewal.take_step(1, True, 1.0, belief, prior, sums, marks),
        lambda: renewal.begin(np.uint64(1), 1, belief, prior, sums, marks, work),
    ]
    for step in reversed(steps) if from_the_end else steps:
        step()
