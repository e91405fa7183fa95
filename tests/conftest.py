"""Fixtures for all tests."""

import numpy as np
import pytest
from hypothesis import settings

# The same examples every time, and no clock: a first call may compile.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.load_profile("fixed")


@pytest.fixture
def rng():
    return np.random.default_rng(20240607)


@pytest.fixture
def costs():
    from appletaste import Costs

    return Costs(miss=1.0, false_alarm=0.4, hit=0.05)
