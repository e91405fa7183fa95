"""Fixtures for the tests of engines."""

import uuid

import pytest

import appletaste as at

from .clusters import ENTRIES, KINDS, PROBLEM


@pytest.fixture(autouse=True)
def no_address(monkeypatch):
    for name in ("APPLETASTE_ENGINE_ADDRESS", "RAY_ADDRESS", "DASK_SCHEDULER_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session", autouse=True)
def own_token(tmp_path_factory):
    """Guard the clusters of these tests with a token of their own, and leave the one in the home folder alone."""
    path = tmp_path_factory.mktemp("ray") / "token"
    path.write_text(uuid.uuid4().hex)
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("RAY_AUTH_MODE", "token")
        environment.setenv("RAY_AUTH_TOKEN_PATH", str(path))
        environment.delenv("RAY_AUTH_TOKEN", raising=False)
        yield


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="session")
def expected():
    """Return what the local engine gives, in this very process."""
    return at.replicate(PROBLEM, ENTRIES, 4, seed=5, jobs=1)
