"""Every view, light and dark, on a phone and on a desk: nothing serious for axe, nothing sticks out; its picture."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from appletaste.logs.stores import open_store

from .conftest import DeskServer, sign_in
from .looking import SIZES, findings, overflow, picture, settled
from .shop import make_shop

VIEWS = ("queue", "case", "stream", "model", "what-if", "health", "report")
EVENING = datetime(2024, 6, 30, 18, tzinfo=UTC)


@pytest.fixture(scope="module")
def full_desk(tmp_path_factory):
    """A service over a shop with enough orders to be worth looking at."""
    folder = tmp_path_factory.mktemp("full")
    store = open_store(make_shop(folder, 12_000, keep=0.2, capacity="40/day", teach=False))
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
        else:
            page.goto(f"/#/stream/orders/{view}")
            expect(page.get_by_test_id(f"view-{view}")).to_be_visible()
        look(page, view, theme, size)
