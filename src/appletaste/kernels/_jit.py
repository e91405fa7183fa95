"""The decorators that compile kernels, and names for the arrays that kernels take.

Every kernel takes float64 arrays and scalars, validates nothing, allocates nothing, releases the GIL and is
cached on disk. With ``NUMBA_DISABLE_JIT=1`` the same source runs as plain Python: slow, and the specification.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

from .._files import written_aside

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
#: Items in blocks [block, feature, place in the block].
Blocks: TypeAlias = NDArray[np.float64]
#: What a chain went through [states or proposals, step, feature].
Walk: TypeAlias = NDArray[np.float64]
Word: TypeAlias = np.uint64
Words: TypeAlias = NDArray[np.uint64]
Indices: TypeAlias = NDArray[np.int64]
#: One word: the state of a random stream, advanced in place.
Stream: TypeAlias = NDArray[np.uint64]


F = TypeVar("F", bound=Callable[..., Any])

#: Every compiled function, by ``module.name``; the tests assert one signature each.
KERNELS: dict[str, Any] = {}

#: The file beside compiled code that says of which sources all of it was made.
STAMP = "appletaste.sources"
#: The versions of Numba, from and to, whose inside ``_numba.py`` knows; others compile as they do.
TRIED = ((0, 61), (0, 68))
IS_TRIED = TRIED[0] <= tuple(numba.version_info.short) <= TRIED[1]

if IS_TRIED:
    from ._numba import InnerCompiler, KernelCache, KernelDispatcher

INTERPRETED = bool(vars(numba.config)["DISABLE_JIT"])
if INTERPRETED:
    # Wrapping of 64-bit words is meant; NumPy warns of it only in interpreted code.
    np.seterr(over="ignore")


def sources() -> str:
    """Return what names the sources of all kernels: other sources have another name."""
    found = hashlib.sha256()
    for path in sorted(Path(__file__).parent.iterdir()):
        if path.suffix in (".py", ".npy"):  # tables are a part of what is compiled
            found.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()


#: The sources of the kernels of this process, read before any of them is imported: one that changes later is not meant.
SOURCES = sources()
_folder: Path | None = None  # where compiled kernels are kept; None: nowhere


def kernel(function: F) -> F:
    """Compile a function; its floating-point sums keep the order they are written in."""
    return _compile(function, fastmath=False)


def reduction_kernel(function: F) -> F:
    """Compile a function whose long sums may be re-associated, so that they use vector registers."""
    return _compile(function, fastmath={"reassoc", "contract"})


def part(function: F) -> F:
    """Make a function a part of each kernel that calls it, compiled there and not on its own.

    A kernel is compiled, optimised and written to disk alone and once more in every kernel that calls it. A part only
    in its callers, so small functions, and those with one caller, are parts (docs/decisions/0017-the-first-minute.md).
    Its sums are then those of the caller, in order or not: a test sees that no part belongs to a kernel of the other
    kind. From Python a part can be called like any kernel.
    """
    return _compile(function, fastmath=False, inline="always")


def reduction_part(function: F) -> F:
    """Make a function a part of the reduction kernels that call it."""
    return _compile(function, fastmath={"reassoc", "contract"}, inline="always")


def _compile(function: F, fastmath: bool | set[str], inline: str = "never") -> F:
    options: dict[str, Any] = {
        "nogil": True,
        "error_model": "numpy",
        "no_cfunc_wrapper": True,
        "fastmath": fastmath,
        "inline": inline,
    }
    if IS_TRIED and not INTERPRETED:
        compiled = numba.njit(pipeline_class=InnerCompiler, **options)(function)
        compiled.__class__ = KernelDispatcher
    else:
        compiled = numba.njit(**options)(function)
    if not INTERPRETED:
        _keep(compiled)
    KERNELS[f"{function.__module__}.{function.__name__}"] = compiled
    return cast(F, compiled)


def _keep(compiled: Any) -> None:
    """Let a kernel be kept on disk, in the folder that Numba finds for the first of them."""
    global _folder
    if not (KERNELS and IS_TRIED):
        with suppress(RuntimeError):  # no folder to write in, as in some containers: all is compiled at every start
            compiled.enable_caching()
    if not KERNELS and compiled.stats.cache_path is not None:
        _folder = Path(compiled.stats.cache_path)
        drop_stale(_folder)
    if IS_TRIED and _folder is not None:
        compiled._cache = KernelCache(_stem(compiled), _folder, SOURCES)


def _stem(compiled: Any) -> str:
    """Return how the names of the files of a kernel begin, in this cache and in Numba's own."""
    return f"{Path(compiled.__code__.co_filename).stem}.{compiled.__name__}"


def drop_stale(folder: Path) -> None:
    """Delete compiled code that was made of other sources than these.

    Numba looks at the file of a kernel alone, and a kernel has the code of those that it calls in its own. After an
    upgrade that changes one that is called, the caller would go on with the old code, and where the layout of an array
    has changed it would write beyond the end.
    """
    stamp = folder / STAMP
    with suppress(OSError):
        if stamp.read_text() == SOURCES:
            return
    with suppress(OSError):  # where nothing can be deleted nothing was written either
        for old in (*folder.glob("*.nb[ic]"), *folder.glob("*.part")):  # the latter are of processes that were killed
            old.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        with written_aside(stamp) as aside:
            aside.write_text(SOURCES)


def is_cached(compiled: Callable[..., Any]) -> bool:
    """Return whether a kernel has been compiled on this machine before."""
    if INTERPRETED:
        return True
    return _folder is not None and any(_folder.glob(f"{_stem(compiled)}-*.nbc"))


def can_cache() -> bool:
    """Return whether what is compiled is kept on disk, where other processes find it."""
    return _folder is not None


_looked_up: set[str] = set()
#: Set to the cache once it was said, so that workers, which inherit it, do not say it again.
ANNOUNCED = "APPLETASTE_ANNOUNCED_COMPILATION"


def announce_compilation(compiled: Callable[..., Any]) -> None:
    """Say once, on the screen, that the first use is about to compile."""
    if compiled.__name__ in _looked_up:
        return
    _looked_up.add(compiled.__name__)
    cache = os.environ.get("NUMBA_CACHE_DIR", "")
    if os.environ.get(ANNOUNCED) != cache and not is_cached(compiled):
        told = "appletaste: compiling its kernels, once on this machine (10 to 60 seconds, more on a busy machine)"
        print(told, file=sys.stderr, flush=True)
        os.environ[ANNOUNCED] = cache
