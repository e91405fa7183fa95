"""Parts of kernels are compiled in their callers, with the arithmetic of the caller."""

import importlib
import pkgutil

from appletaste import kernels
from appletaste.kernels._jit import INTERPRETED, KERNELS


def test_a_part_has_the_arithmetic_of_every_kernel_that_calls_it():
    """Sums of a part in a kernel that re-associates would be re-associated too, and its numbers would change."""
    for module in pkgutil.iter_modules(kernels.__path__):
        importlib.import_module(f"{kernels.__name__}.{module.name}")
    parts = 0
    for name, caller in KERNELS.items():
        for called in caller.py_func.__code__.co_names if not INTERPRETED else ():
            found = getattr(caller.py_func.__globals__.get(called), "targetoptions", {})
            if found.get("inline") == "always":
                parts += 1
                assert found["fastmath"] == caller.targetoptions["fastmath"], f"{name} calls {called}"
    assert INTERPRETED or parts > 20
