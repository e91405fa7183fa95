"""A kernel that another calls has no machine code, the same numbers, and gets machine code when Python calls it."""

import numba
import pytest

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
