"""Kernels that are called by kernels get no machine code of their own.

Numba writes machine code, and a wrapper for Python, for everything that it compiles. A kernel has the code of those
that it calls in its own, so theirs is written in vain unless Python calls them too (how long that takes:
docs/decisions/0017-the-first-minute.md). Here a kernel that is compiled on behalf of another is optimised and no more.
If Python calls it later, as tests do, it is compiled again, in full.

Like ``_cache.py`` this file knows the inside of Numba, and is used with the versions that ``_jit.TRIED`` names.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature


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
