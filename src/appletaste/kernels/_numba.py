"""What this package knows of the inside of Numba: its compiler, and its cache on disk.

The inside of Numba is the same in all versions that ``_jit.TRIED`` names; with other versions kernels are compiled as
Numba does, and kept in its own cache.

*Kernels that are called by kernels get no machine code of their own.* Numba writes machine code, and a wrapper for
Python, for everything that it compiles. A kernel has the code of those that it calls in its own, so theirs is written
in vain unless Python calls them too (how long that takes: docs/decisions/0017-the-first-minute.md). Here a kernel that
is compiled on behalf of another is optimised and no more. If Python calls it later, as tests do, it is compiled again,
in full.

*Compiled kernels are on disk, and loaded without what compiling needs; what another process compiles is waited for.*
Numba's own cache tries for every kernel at every start whether it may write, imports all that compilation needs before
it loads anything (SciPy's linear algebra with it, where there is one), and reads the intermediate code of what it
loads, which only the compilation of a new caller needs. docs/decisions/0017-the-first-minute.md has the times.

*Sums are grouped alike on all processors of a kind.* Numba optimises for the processor at hand, and one with wider
registers would add up the long sums of a kernel in another order. A stream that was written on one machine would then
not be the same, bit for bit, on another. So kernels are optimised for one processor, and machine code is made for that
at hand.
"""

from __future__ import annotations

import errno
import hashlib
import os
import pickle
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

import numba
from llvmlite import binding
from numba.core import config
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

from .._files import take_lock


class Depth:
    """How many kernels are being compiled, each on behalf of the one before; under the lock of Numba's compiler."""

    now = 0


def is_inner() -> bool:
    """Return whether what is being compiled or loaded is for another kernel."""
    return Depth.now > 1


class InnerLibrary(JITCodeLibrary):
    """Intermediate code for callers; read, where it was kept, when there is one."""

    bitcode: bytes | None = None

    def _finalize_final_module(self) -> None:
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None and self.bitcode is not None:
            self._shared_module = binding.parse_bitcode(self.bitcode)
        return super()._get_module_for_linking()

    def get_pointer_to_function(self, name: str) -> int:
        """Return that there is none."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        """Stand in for the engine, which this code is not in, where a new function is made known to it."""
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Leave the environment to the callers, whose code this will be a part of."""


class InnerCompiler(Compiler):
    """Numba's compiler, which stops before machine code where a kernel is for another."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function."""
        if is_inner():
            self.state.flags.no_cpython_wrapper = True
            self.state.library = InnerLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


#: The x86 processor that kernels are optimised for, with registers of eight numbers; where those of the processor at
#: hand are shorter, two stand for one. Processors without ``HAS`` round products before they are added.
COMMON, WIDE, HAS = "haswell", "+avx512f,+avx512vl,+avx512dq,+avx512bw,+avx512cd", ("avx2", "fma")


@cache
def common_processor() -> Any:
    """Return the processor that kernels are optimised for; None: the one at hand, or the one that Numba was told."""
    binding.initialize_native_target()  # as often as one likes
    settings: Any = config  # Numba fills this module when it is imported
    if settings.CPU_NAME is not None or not binding.Target.from_default_triple().name.startswith("x86"):
        return None
    features = binding.get_host_cpu_features()
    if not all(features.get(name) for name in HAS):
        return None
    target = binding.Target.from_triple(binding.get_process_triple())
    made = {"opt": int(settings.OPT), "reloc": "static", "codemodel": "jitdefault", "jit": True}
    return target.create_target_machine(cpu=COMMON, features=WIDE, **made)


@contextmanager
def optimised_alike(codegen: Any) -> Iterator[None]:
    """Let Numba optimise for the common processor meanwhile; machine code is written for the one at hand."""
    own = codegen._tm
    codegen._tm = common_processor() or own
    try:
        yield
    finally:
        codegen._tm = own


class KernelDispatcher(CPUDispatcher):
    """Numba's dispatcher, which does not let Python call what has no machine code."""

    def compile(self, sig: Any) -> Any:
        """Compile for a signature, or load what was compiled; in full, unless it is for another kernel."""
        with global_compiler_lock:
            arguments = tuple(normalize_signature(sig)[0])
            found: Any = self.overloads.get(arguments)
            if found is not None and Depth.now == 0 and isinstance(found.library, InnerLibrary):
                del self.overloads[arguments]
            Depth.now += 1
            try:
                with optimised_alike(self.targetdescr.target_context.codegen()):
                    return super().compile(sig)
            finally:
                Depth.now -= 1

    def add_overload(self, cres: Any) -> None:
        """Make a compiled form known: to callers, and to Python if it can be called."""
        if isinstance(cres.library, InnerLibrary):
            self.overloads[tuple(cres.signature.args)] = cres
            return
        super().add_overload(cres)
        for environment in cres._find_referenced_environments() if cres.metadata else ():  # those of inner kernels
            cres.codegen.set_env(environment.env_name, environment)


#: Seconds to wait for another process that compiles the same kernel, before it is compiled here as well.
PATIENCE = 60.0
#: Bytes of the sum over a file, at its beginning.
SUM = 4


class KernelCache(NullCache):
    """The compiled forms of one kernel: a file for each signature, in the folder that Numba would take."""

    waited = 0.0  # seconds that this process has waited for another, over all kernels

    def __init__(self, stem: str, folder: Path, sources: str) -> None:
        self._stem, self._folder, self._sources = stem, folder, sources
        self._lock: IO[bytes] | None = None

    @property
    def cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for a signature; None: it is not there, and no other process is about to put it there."""
        self._release()
        path = self._path(sig, target_context)
        stop = time.monotonic() + PATIENCE
        while time.monotonic() < stop:
            if (found := _read(path)) is not None:
                return _rebuilt(found, target_context)
            if self._lock is not None or not self._begin(path):
                break  # the lock is ours, or there are no locks here: it is for us to compile
            if self._lock is None:
                began = time.monotonic()
                time.sleep(0.02)
                KernelCache.waited += time.monotonic() - began
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write a kernel that was compiled. Where that fails, for want of room, say, it is compiled again next time."""
        path, content = self._path(sig, data.target_context), _reduced(data)
        aside = path.with_suffix(f".{os.getpid()}.part")
        with suppress(OSError):
            # Not forced to the disk, which takes longer than some kernels: what a power cut leaves has another sum.
            aside.write_bytes(zlib.crc32(content).to_bytes(SUM) + content)
            aside.replace(path)
        self._release()

    def _path(self, sig: Any, context: Any) -> Path:
        """Return the file for a signature, for this processor, these sources and these versions."""
        made_of = (self._sources, sig, context.codegen().magic_tuple(), sys.version, numba.__version__)
        name = hashlib.sha256(repr(made_of).encode()).hexdigest()[:16]
        return self._folder / f"{self._stem}{'~' if is_inner() else '-'}{name}.nbc"  # ~: without machine code

    def _begin(self, path: Path) -> bool:
        """Try to become the one that compiles; return whether it is known who that is, this process or another."""
        try:
            lock = path.with_suffix(".lock").open("wb")
        except OSError:
            return False
        try:
            take_lock(lock.fileno())
            self._lock = lock
        except OSError as error:
            lock.close()
            return error.errno in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
        return True

    def _release(self) -> None:
        if self._lock is not None:
            with suppress(OSError):
                Path(self._lock.name).unlink()
            self._lock.close()
            self._lock = None


class LoadedLibrary(JITCodeLibrary):
    """Machine code that was loaded; the intermediate code, which callers are compiled with, is read when one is."""

    bitcode: bytes

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = binding.parse_bitcode(self.bitcode)
        return self._shared_module


def _read(path: Path) -> bytes | None:
    """Return what was kept; None where nothing is, or where it is damaged."""
    with suppress(OSError):
        found = path.read_bytes()
        if zlib.crc32(found[SUM:]).to_bytes(SUM) == found[:SUM]:
            return found[SUM:]
    return None


def _reduced(result: Any) -> bytes:
    """Return what is kept of a compiled kernel."""
    library, described = result.library, result.fndesc
    described.typemap = described.calltypes = None  # large, and used while compiling alone
    linked = library._get_module_for_linking()
    symbols = [one.name for one in (*linked.functions, *linked.global_variables) if not one.is_declaration]
    kept = (result.environment, result.signature, result.reload_init, result._find_referenced_environments())
    code = None if isinstance(library, InnerLibrary) else library._get_compiled_object()
    return dumps((library.name, code, linked.as_bitcode(), symbols, described, *kept))


def _rebuilt(content: bytes, context: Any) -> Any:
    """Return a compiled kernel of what was kept of it."""
    name, code, bitcode, symbols, described, environment, signature, starts, environments = pickle.loads(content)
    rtsys.initialize(context)  # all of what Numba's refresh of the context does that code which is compiled needs
    for start in starts or ():
        start()
    codegen = context.codegen()
    library: Any = (InnerLibrary if code is None else LoadedLibrary)(codegen, name)
    library.bitcode = bitcode
    if code is not None:
        library.enable_object_caching()
        library._set_compiled_object(code)
        codegen._engine._defined_symbols.update(symbols)
    library._finalize_final_module()
    entry = context.get_executable(library, described, environment)
    for other in environments:
        library.codegen.set_env(other.env_name, other)
    return compile_result(
        typing_context=context.typing_context,
        target_context=context,
        entry_point=entry,
        signature=signature,
        objectmode=False,
        lifted=(),
        fndesc=described,
        library=library,
        environment=environment,
        reload_init=starts,
        referenced_envs=environments,
    )
