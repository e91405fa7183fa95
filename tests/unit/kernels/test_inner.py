"""A kernel that another calls has no machine code, the same numbers, and gets machine code when Python calls it."""

import re

import numba
import numpy as np
import pytest
from llvmlite import binding

from appletaste.kernels import _jit, _numba

pytestmark = pytest.mark.skipif(_jit.INTERPRETED, reason="nothing is compiled")


def kept(function, folder):
    compiled = numba.njit(pipeline_class=_numba.InnerCompiler, error_model="numpy")(function)
    compiled.__class__ = _numba.KernelDispatcher
    compiled._cache = _numba.KernelCache(function.__name__, folder, "these")
    return compiled


def pair(folder):
    """Return a kernel and one that calls it."""

    def twice(x):
        return x + x

    inner = kept(twice, folder)

    def caller(x):
        return inner(x) + 1.0

    return inner, kept(caller, folder)


def names(folder):
    return sorted(path.name.replace("~", "-").split("-")[0] + path.name[-21] for path in folder.iterdir())


def test_what_a_kernel_calls_has_no_machine_code(tmp_path):
    inner, caller = pair(tmp_path)
    assert caller(1.5) == 4.0
    (found,) = inner.overloads.values()
    assert isinstance(found.library, _numba.InnerLibrary)
    assert names(tmp_path) == ["caller-", "twice~"]


def test_python_may_call_it_afterwards(tmp_path):
    inner, caller = pair(tmp_path)
    assert caller(1.5) == 4.0
    assert inner(1.5) == 3.0
    assert inner(2.5) == 5.0
    assert caller(2.5) == 6.0
    (found,) = inner.overloads.values()
    assert not isinstance(found.library, _numba.InnerLibrary)
    assert names(tmp_path) == ["caller-", "twice-", "twice~"]


def test_python_may_call_it_first(tmp_path):
    inner, caller = pair(tmp_path)
    assert inner(1.5) == 3.0
    assert caller(1.5) == 4.0
    assert names(tmp_path) == ["caller-", "twice-"]


def test_what_was_kept_without_machine_code_serves_a_caller_in_another_process(tmp_path):
    pair(tmp_path)[1](1.5)
    next(tmp_path.glob("caller-*")).unlink()
    inner, caller = pair(tmp_path)
    assert caller(1.5) == 4.0
    assert sum(inner.stats.cache_hits.values()) == 1
    assert sum(caller.stats.cache_hits.values()) == 0
    assert inner(1.5) == 3.0


def test_all_kernels_are_of_this_kind():
    assert all(type(kernel) is _numba.KernelDispatcher for kernel in _jit.KERNELS.values())


def lanes(dispatcher):
    """Return how many numbers are added at once where the sum is long."""
    x = np.ones(100)
    assert dispatcher(x) == 100.0
    (found,) = dispatcher.overloads.values()
    return max(int(width) for width in re.findall(r"<(\d+) x double>", found.library.get_llvm_str()))


@pytest.mark.skipif(_numba.common_processor() is None, reason="kernels are optimised for the processor at hand")
def test_sums_are_grouped_alike_on_all_processors(tmp_path):
    def total(x):
        found = 0.0
        for k in range(x.size):
            found += x[k]
        return found

    ours = numba.njit(pipeline_class=_numba.InnerCompiler, fastmath={"reassoc"})(total)
    ours.__class__ = _numba.KernelDispatcher
    assert lanes(ours) == 8
    plain = numba.njit(fastmath={"reassoc"})(total)
    before = (codegen := plain.targetdescr.target_context.codegen())._tm
    lanes(plain)  # goes by the processor: 2, 4 or 8
    assert codegen._tm is before
    narrow = binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        cpu="haswell", opt=3, reloc="static", codemodel="jitdefault", jit=True
    )
    codegen._tm = narrow
    try:
        assert lanes(numba.njit(fastmath={"reassoc"})(total)) == 4  # so the width does follow the processor
    finally:
        codegen._tm = before
