"""Compile beside the work that can already run.

While one process makes its first decisions, another compiles what learning will need and leaves it in Numba's cache.
The kernels of a renewal take most of the time, and are asked for only when the first label has been learnt. What is not
ready then is compiled where it is asked for, so nothing waits and nothing depends on the other process.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import subprocess
import sys
import threading

import numpy as np

from . import renewal
from ._jit import can_cache, is_cached
from .gaussian import COVARIANCE
from .linear import BLOCK
from .logistic import make_work

#: Set to the cache once another process compiles for it, so that workers, which inherit it, start no other.
BESIDE = "APPLETASTE_COMPILES_BESIDE"


def compile_beside() -> None:
    """Let another process compile the kernels of a renewal, if there is a core for it and a cache to share."""
    cache = os.environ.get("NUMBA_CACHE_DIR", "")
    if os.environ.get(BESIDE) == cache or is_cached(renewal.advance):
        return
    os.environ[BESIDE] = cache
    alone = (os.cpu_count() or 1) < 2 or multiprocessing.parent_process() is not None
    if alone or not sys.executable or not can_cache(renewal.advance):
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


def compile_renewal() -> None:
    """Go through a renewal of nothing, the slowest kernel first."""
    d = 1
    belief, prior = np.ones((COVARIANCE + d, d)), np.ones((d + 1, d))
    features, labels = np.ones((1, d, BLOCK)), np.ones(1)
    sums, marks = renewal.make_renewal(d)
    work, _ = make_work(d)
    renewal.advance(1, features, labels, 1, True, sums, marks, work)
    renewal.begin(np.uint64(1), 1, belief, prior, sums, marks, work)
    renewal.finish(1, True, 1.0, belief, prior, sums, marks, work)
