"""Each store in turn, for tests of what all of them promise."""

import pytest

from .stores import KINDS, Home


@pytest.fixture(params=KINDS)
def home(request, tmp_path):
    return Home(request.param, tmp_path)
