"""One service for all tests of a file: each test has ids of its own."""

import pytest

from .filling import fill
from .serving import Running, new_store


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("service"))
    with Running(store) as running:
        yield running
    store.close()


@pytest.fixture(scope="module")
def key(service):
    return service.key()


@pytest.fixture(scope="module")
def desk_service(tmp_path_factory):
    """A service with a shop that has been running for forty days."""
    store = new_store(tmp_path_factory.mktemp("desk"))
    fill(store).close()
    with Running(store) as running:
        yield running
    store.close()


@pytest.fixture(scope="module")
def ask(desk_service):
    """Ask that service with a key for everything."""
    key = desk_service.key()
    return lambda method, path, body=None, **given: desk_service.ask(method, path, body, **{"key": key, **given})
