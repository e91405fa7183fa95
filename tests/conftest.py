"""Fixtures for all tests, and a guard: Numba's disk cache does not notice a change in an imported kernel file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# The same examples every time, and no clock: a first call may compile.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.load_profile("fixed")

KERNELS = Path(__file__).parent.parent / "src" / "appletaste" / "kernels"


def pytest_configure(config):
    if hasattr(config, "workerinput"):
        return  # only the first process cleans up, before workers start
    cached = list(KERNELS.glob("__pycache__/*.nb[ic]"))
    newest_source = max(path.stat().st_mtime for path in [*KERNELS.glob("*.py"), *KERNELS.glob("*.npy")])
    if any(path.stat().st_mtime < newest_source for path in cached):
        for path in cached:
            path.unlink(missing_ok=True)


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture
def costs():
    from appletaste import Costs

    return Costs(miss=1.0, false_alarm=0.4, hit=0.05)
