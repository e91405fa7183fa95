"""Compiled kernels on disk: the same numbers, nothing that only compiling needs, one process that compiles for all."""

import subprocess
import sys
import threading
import time

import numba
import pytest

from appletaste._files import take_lock
from appletaste.kernels import _jit, _numba

pytestmark = pytest.mark.skipif(_jit.INTERPRETED, reason="nothing is compiled")


def twice(x):
    return x + x


def kept(function, folder, sources="these"):
    compiled = numba.njit(error_model="numpy", no_cfunc_wrapper=True)(function)
    compiled._cache = _numba.KernelCache(function.__name__, folder, sources)
    return compiled


def loads(compiled):
    return sum(compiled.stats.cache_hits.values())


def test_the_version_in_use_is_one_that_was_tried():
    """Where this fails, look at what _numba.py takes from Numba, run these tests and move TRIED."""
    assert _jit.IS_TRIED


def test_a_kernel_is_compiled_once_and_loaded_afterwards(tmp_path):
    first, second = kept(twice, tmp_path), kept(twice, tmp_path)
    assert first(1.5) == second(1.5) == 3.0
    assert (loads(first), loads(second)) == (0, 1)
    assert [path.suffix for path in tmp_path.iterdir()] == [".nbc"]
    assert second(2) == 4  # another type, another file
    assert loads(second) == 1
    assert len(list(tmp_path.iterdir())) == 2


def test_code_of_other_sources_is_not_loaded(tmp_path):
    first, other = kept(twice, tmp_path), kept(twice, tmp_path, "others")
    assert first(1.5) == other(1.5)
    assert loads(other) == 0


def test_a_caller_is_compiled_with_what_was_loaded(tmp_path):
    """The intermediate code of a loaded kernel is read only then."""
    kept(twice, tmp_path)(1.5)
    loaded = kept(twice, tmp_path)
    loaded(1.5)

    @numba.njit
    def caller(x):
        return loaded(x) + 1.0

    assert loads(loaded) == 1
    assert caller(1.5) == 4.0
    assert loads(loaded) == 1


def lock_of(compiled, folder):
    """Return the name that the lock has while a kernel is compiled for a float."""
    (file,) = folder.glob("*.nbc")
    file.unlink()
    return file.with_suffix(".lock")


def test_what_another_compiles_is_waited_for(tmp_path):
    first = kept(twice, tmp_path)
    first(1.5)
    (file,) = tmp_path.glob("*.nbc")
    content, lock = file.read_bytes(), lock_of(first, tmp_path)
    with lock.open("wb") as held:
        take_lock(held.fileno())
        threading.Timer(0.1, lambda: file.write_bytes(content)).start()
        second = kept(twice, tmp_path)
        assert second(1.5) == 3.0
    assert loads(second) == 1


def test_waiting_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr(_numba, "PATIENCE", 0.1)
    first = kept(twice, tmp_path)
    first(1.5)
    with lock_of(first, tmp_path).open("wb") as held:
        take_lock(held.fileno())
        second = kept(twice, tmp_path)
        assert second(1.5) == 3.0
    assert loads(second) == 0


def test_a_lock_that_a_dead_process_left_is_nobodys(tmp_path):
    first = kept(twice, tmp_path)
    first(1.5)
    lock_of(first, tmp_path).write_bytes(b"")
    started = time.monotonic()
    second = kept(twice, tmp_path)
    assert second(1.5) == 3.0
    assert time.monotonic() - started < _numba.PATIENCE / 2
    assert loads(second) == 0
    assert [path.suffix for path in tmp_path.iterdir()] == [".nbc"]


def test_a_later_start_imports_nothing_that_compiling_needs():
    script = (
        "import sys\n"
        "from appletaste.kernels import random\n"
        "import numpy as np\n"
        "random.uniform_at(np.uint64(1), 2)\n"
        "print('numba.np.arraymath' in sys.modules)\n"
    )
    for _ in range(2):  # the first may have to compile
        found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["False"]


def test_a_damaged_file_is_not_loaded(tmp_path):
    kept(twice, tmp_path)(1.5)
    (file,) = tmp_path.glob("*.nbc")
    content = file.read_bytes()
    for damaged in (b"", content[:-1], content[:-1] + bytes([content[-1] ^ 1])):
        file.write_bytes(damaged)
        again, later = kept(twice, tmp_path), kept(twice, tmp_path)
        assert again(1.5) == later(1.5) == 3.0
        assert (loads(again), loads(later)) == (0, 1)
