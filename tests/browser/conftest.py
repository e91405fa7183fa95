"""The review page as people have it: a real service over a real store of its own for each test, and Chromium."""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

if importlib.util.find_spec("playwright") is None:  # make test-browser installs it
    collect_ignore_glob = ["*.py"]
else:
    from playwright.sync_api import expect, sync_playwright

    from .watching import Guard

    expect.set_options(timeout=15_000)  # others use this machine, too

from appletaste.records.stores import open_store

from ..service.serving import Running
from .shop import cells, make_shop


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent == item.config.rootpath / "tests" / "browser":
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("APPLETASTE_CHROMIUM") or shutil.which("chromium")
    assert path, "there is no Chromium: run 'make test-browser', which installs one or says what to do"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--force-color-profile=srgb"])
        yield started
        started.close()


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    return make_shop(tmp_path_factory.mktemp("shop"))


class DeskServer(Running):
    """A service with the page, and what a test asks of it beside the page."""

    def __init__(self, store, **given):
        super().__init__(store, **given)
        self.secrets = {}

    def __enter__(self):
        super().__enter__()
        self.secret = self.named("Ann")
        return self

    def named(self, name, *scopes, streams=("*",)):
        """Return a key for somebody, with some scopes or with all."""
        from appletaste.service.keys import SCOPES

        secret, key = self.keys.create(name, scopes or tuple(SCOPES), streams)
        self.secrets[name] = key.id
        return secret

    def api(self, method, path, body=None, key=None):
        """Return what the service answers to a program, as JSON."""
        told = self.ask(method, path, body, key=key or self.secret)
        assert told.status < 300, (method, path, told.status, told.body[:500])
        return told.json() if told.body else None

    def of(self, path, stream="orders"):
        return self.api("GET", f"/v1/streams/{stream}{path}")

    def decide(self, rows):
        """Send orders, as a shop does; return how many were acted on."""
        kinds = {column["name"]: column["kind"] for column in self.of("")["columns"]}
        acts = 0
        for start in range(0, len(rows), 500):
            asked = [
                {"id": row["order"], "item": cells(row, kinds), "time": row["placed_at"], "stratum": row["payment"]}
                for row in rows[start : start + 500]
            ]
            told = self.api("POST", "/v1/streams/orders/decisions:batch", {"decisions": asked})["results"]
            assert {one["status"] for one in told} == {201}, told[0]
            acts += sum(one["body"]["act"] for one in told)
        return acts


@pytest.fixture
def desk(shop, tmp_path):
    """A service over a copy of the shop."""
    path = tmp_path / "shop.db"
    shutil.copy(shop, path)
    store = open_store(path)
    with DeskServer(store) as running:
        yield running
    store.close()


@pytest.fixture
def empty_desk(tmp_path):
    """A service without any stream."""
    store = open_store(tmp_path / "empty.db")
    with DeskServer(store) as running:
        yield running
    store.close()


@pytest.fixture
def opened(browser):
    """Open pages in contexts of their own, each guarded; what went wrong in any of them fails the test."""
    made = []

    def open_page(desk, path="/", **settings):
        given = {"viewport": {"width": 1440, "height": 900}, "locale": "en-GB", "timezone_id": "UTC", **settings}
        context = browser.new_context(base_url=desk.url, **given)
        guard = Guard(context, f"127.0.0.1:{desk.port}")
        made.append((context, guard))
        page = context.new_page()
        page.guard = guard
        page.goto(path)
        return page

    yield open_page
    for context, _ in made:
        context.close()
    for _, guard in made:
        guard.check()


@pytest.fixture
def page(desk, opened):
    """The first page of the desk, before signing in."""
    return opened(desk)


@pytest.fixture
def signed_in(desk, page):
    """The queue of the shop, for a key that may do everything."""
    sign_in(page, desk.secret)
    return page


def sign_in(page, secret):
    """Sign in, and wait for what follows."""
    page.get_by_label("Key").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_test_id("sign-out")).to_be_visible()
