"""One service for all tests of a file: each test has ids of its own."""

import pytest

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
