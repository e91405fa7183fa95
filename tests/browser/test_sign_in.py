"""Journey 1: signing in and out; and a key that does not open anything."""

from playwright.sync_api import expect

from .conftest import sign_in


def test_sign_in_and_out(desk, page):
    sign_in(page, desk.secret)
    expect(page.get_by_test_id("who")).to_have_text("Ann")
    page.get_by_test_id("sign-out").click()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
