"""Signing in and out, keys that open nothing or not everything, and a key that is revoked in mid-session."""

import shutil

from playwright.sync_api import expect

from appletaste.records.stores import open_store
from appletaste.service.proxy import Proxy

from .conftest import DeskServer, sign_in
from .watching import REQUEST


def test_sign_in_and_out(desk, page):
    sign_in(page, desk.secret)
    expect(page.get_by_test_id("who")).to_have_text("Ann")
    expect(page.get_by_test_id("queue-row").first).to_be_visible()
    page.reload()
    expect(page.get_by_test_id("queue-row").first).to_be_visible()  # the session is a cookie, and lasts
    assert page.evaluate("document.cookie") == ""  # that no script reads
    page.get_by_test_id("sign-out").click()
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    page.goto("/#/stream/orders/queue")
    page.reload()
    expect(page.get_by_test_id("sign-in")).to_be_visible()
    assert page.context.cookies() == []


def test_a_key_that_opens_nothing(desk, page):
    page.guard.allow(f"{REQUEST}.*401.*/v1/session")
    page.get_by_test_id("key").fill("at_guess")
    page.get_by_test_id("sign-in").click()
    expect(page.get_by_test_id("sign-in-problem")).to_contain_text("opens nothing")
    sign_in(page, desk.secret)


def test_what_a_key_does_not_allow_is_not_shown(desk, page):
    sign_in(page, desk.named("Rita", "read"))
    page.get_by_test_id("queue-row").first.click()
    expect(page.get_by_test_id("case")).to_be_visible()
    expect(page.get_by_test_id("only-look")).to_be_visible()
    for name in ("positive", "negative", "escalate", "note-text", "case-held"):
        expect(page.get_by_test_id(name)).to_have_count(0)
    page.get_by_test_id("nav-what-if").click()
    expect(page.get_by_test_id("tile-acts_a_day")).to_be_visible()
    expect(page.get_by_test_id("apply")).to_have_count(0)
    page.get_by_test_id("nav-health").click()
    expect(page.get_by_test_id("health-tiles")).to_be_visible()
    expect(page.get_by_role("button", name="Verify")).to_have_count(0)


def test_a_key_revoked_in_mid_session(desk, page):
    """Journey: everything that is open under the key ends at once, the live view too, and labels are kept."""
    sign_in(page, desk.named("Carl", "read", "review", "label"))
    page.get_by_test_id("start").click()
    expect(page.get_by_test_id("case")).to_be_visible()
    expect(page.get_by_test_id("alive")).to_have_text("connected")
    page.guard.allow(f"{REQUEST}.*401")
    desk.api("DELETE", f"/v1/keys/{desk.secrets['Carl']}")
    expect(page.get_by_test_id("why")).to_contain_text("revoked")  # without a click
    expect(page.get_by_test_id("case")).to_have_count(0)
    assert page.request.get("/v1/streams/orders/queue").status == 401
    sign_in(page, desk.secret)
    expect(page.get_by_test_id("who")).to_have_text("Ann")


def test_whom_the_proxy_names_needs_no_key(shop, tmp_path, opened):
    """The page begins with the queue, labels under the name of the person, and has nothing to sign out of."""
    shutil.copy(shop, tmp_path / "shop.db")
    store = open_store(tmp_path / "shop.db")
    with DeskServer(store, proxy=Proxy.of(["127.0.0.1"], ["team=reviewer"])) as behind:
        named = {"X-Forwarded-User": "Cleo", "X-Forwarded-Groups": "team"}
        page = opened(behind, extra_http_headers=named)
        expect(page.get_by_test_id("who")).to_have_text("Cleo")
        expect(page.get_by_test_id("sign-out")).to_be_hidden()
        page.get_by_test_id("start").click()
        expect(page.get_by_test_id("case-held")).to_be_visible()
        first = page.get_by_test_id("case").get_attribute("data-id")
        page.keyboard.press("0")
        expect(page.get_by_test_id("announce").get_by_text(f"The label of {first} has arrived.")).to_be_attached()
        assert behind.of("/cases?of=labelled&limit=1")["items"][0]["labelled_by"] == "Cleo"
        stranger = opened(behind, extra_http_headers={**named, "X-Forwarded-Groups": "staff"})
        expect(stranger.get_by_test_id("key")).to_be_visible()
    store.close()
