"""Every view, light and dark, on a phone and on a desk: nothing serious for axe, nothing sticks out; its picture."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from appletaste.problems import write_orders
from appletaste.records.stores import open_store

from .conftest import DeskServer, sign_in
from .looking import SIZES, findings, overflow, picture, settled
from .shop import make_shop
from .test_first_use import to_replay

VIEWS = ("queue", "case", "stream", "model", "what-if", "health", "report", "second-looks")
EVENING = datetime(2024, 6, 30, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def full_desk(tmp_path_factory):
    """A service over a shop with enough orders to be worth looking at."""
    folder = tmp_path_factory.mktemp("full")
    store = open_store(make_shop(folder, 12_000, keep=0.5, capacity="40/day", teach=False))
    with DeskServer(store) as running:
        yield running
    store.close()


@pytest.fixture(params=["light", "dark"])
def theme(request):
    return request.param


@pytest.fixture(params=list(SIZES))
def size(request):
    return request.param


def look(page, name, theme, size):
    settled(page)
    picture(page, f"{name}-{size}-{theme}")
    assert findings(page) == []
    assert overflow(page) == [0, []]


def test_all_views(full_desk, opened, theme, size):
    page = opened(full_desk, viewport=SIZES[size], color_scheme=theme)
    page.clock.set_fixed_time(EVENING)  # ages are those of the shop
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    look(page, "sign-in", theme, size)
    sign_in(page, full_desk.secret)
    for view in VIEWS:
        if view == "case":
            first = full_desk.of("/queue?limit=1")["items"][0]["id"]
            page.goto(f"/#/stream/orders/case/{first}")
            expect(page.get_by_test_id("case")).to_be_visible()
        else:
            page.goto(f"/#/stream/orders/{view}")
            expect(page.get_by_test_id(f"view-{view}")).to_be_visible()
        if view == "what-if":  # with something to see
            page.get_by_test_id("what-if-miss").fill("60")
            expect(page.get_by_test_id("flips")).to_be_visible()
        look(page, view, theme, size)


def test_first_use(empty_desk, opened, theme, size, tmp_path):
    path = tmp_path / "orders.csv"
    write_orders(path, 3000)
    page = opened(empty_desk, viewport=SIZES[size], color_scheme=theme)
    sign_in(page, empty_desk.secret)
    for step in to_replay(page, path):
        settled(page)
        assert findings(page) == [], step
        assert overflow(page) == [0, []], step
    look(page, "first-use", theme, size)


def test_dialogs_and_help(full_desk, opened, theme, size):
    """What opens over a view is held against the same."""
    page = opened(full_desk, viewport=SIZES[size], color_scheme=theme)
    sign_in(page, full_desk.secret)
    page.get_by_test_id("queue-row").first.click()
    expect(page.get_by_test_id("case")).to_be_visible()
    for key, name in (("?", "help-dialog"), ("e", "escalation")):
        page.keyboard.press(key)
        expect(page.get_by_test_id(name)).to_be_visible()
        assert findings(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_test_id(name)).to_have_count(0)
    page.goto("/#/stream/orders/health")
    page.get_by_test_id("mode-frozen").click()
    expect(page.get_by_test_id("mode-dialog")).to_be_visible()
    assert findings(page) == []


@pytest.mark.parametrize("wide", [360, 720, 1024, 3840])
def test_every_width(full_desk, opened, wide):
    """From a small phone to 4K nothing sticks out; 720 pixels are a desk of 1440 at 200 %."""
    page = opened(full_desk, viewport={"width": wide, "height": 800})
    sign_in(page, full_desk.secret)
    for view in VIEWS:
        if view == "case":
            page.get_by_test_id("queue-row").first.click()
            expect(page.get_by_test_id("case")).to_be_visible()
        else:
            page.goto(f"/#/stream/orders/{view}")
            expect(page.get_by_test_id(f"view-{view}")).to_be_visible()
        settled(page)
        assert overflow(page) == [0, []], view
