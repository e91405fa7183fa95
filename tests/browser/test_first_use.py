"""Journey: an empty service, a file, and a running stream in shadow mode; the lines that are shown send a decision."""

import re
import subprocess
import sys

from playwright.sync_api import expect

from appletaste.problems import write_orders

from .conftest import sign_in
from .test_numbers import shown


def to_replay(page, path, miss="95"):
    """Go from the first step to the outcome of the replay; stop at each step on the way."""
    yield 1
    page.get_by_test_id("file-input").set_input_files(path)
    expect(page.get_by_test_id("step-2")).to_be_visible()
    page.get_by_test_id("role-label").select_option("fraud")
    page.get_by_test_id("role-time").select_option("placed_at")
    page.get_by_test_id("role-id").select_option("order")
    expect(page.locator("[data-testid=samples][data-column=payment]")).to_contain_text("card")
    page.get_by_test_id("before-settled_on").click()  # known only afterwards, or before: one click, and back
    expect(page.get_by_test_id("use-settled_on")).to_be_checked()
    page.get_by_test_id("after-settled_on").click()
    expect(page.get_by_test_id("use-settled_on")).not_to_be_checked()
    page.get_by_test_id("use-reviewed").uncheck()
    yield 2
    page.get_by_test_id("next").click()
    expect(page.get_by_test_id("step-3")).to_be_visible()
    for name, value in (("miss", miss), ("false_alarm", "6"), ("hit", "4")):
        page.get_by_test_id(f"cost-{name}").fill(value)
    yield 3
    page.get_by_test_id("next").click()
    expect(page.get_by_test_id("replay-headline")).to_be_visible(timeout=60_000)
    yield 4


def test_from_a_file_to_shadow_mode(empty_desk, opened, tmp_path):
    desk = empty_desk
    path = tmp_path / "orders of May.csv"
    write_orders(path, 1500)
    page = opened(desk)
    sign_in(page, desk.secret)
    expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
    assert list(to_replay(page, path)) == [1, 2, 3, 4]
    assert page.get_by_test_id("replay-table").locator("tbody tr").count() >= 3
    saved = shown(page, "saved_against_never", "[data-testid=replay-headline]")
    assert saved[0] > 0
    told = "for every 1,000 items, against letting through everything"
    expect(page.get_by_test_id("replay-headline")).to_contain_text(told)
    page.get_by_test_id("next").click()
    expect(page.get_by_role("radio", name="In shadow mode")).to_be_checked()
    expect(page.get_by_test_id("word-positive")).to_have_value("fraud")  # as the column with the labels is called
    for name, word in (("item", "order"), ("act", "hold"), ("currency", "EUR")):
        page.get_by_test_id(f"word-{name}").fill(word)
    page.get_by_test_id("stream-name").fill("orders")
    page.get_by_test_id("go-live").click()
    expect(page.get_by_test_id("code-python")).to_be_visible()
    stream = desk.of("")
    assert (stream["mode"], stream["pending"]) == ("shadow", 0)
    words = [stream["words"][name] for name in ("items", "positives", "acted", "passed", "currency")]
    assert words == ["orders", "frauds", "held", "let through", "EUR"]
    assert "settled_on" not in [column["name"] for column in stream["columns"]]
    python = page.get_by_test_id("code-python").inner_text()
    key = page.get_by_test_id("new-key").inner_text()
    assert key in python
    subprocess.run([sys.executable, "-c", python], check=True, capture_output=True)  # as somebody would paste it
    assert sum(day["decided"] for day in desk.of("/days")["days"]) == 1
    curl = page.get_by_test_id("code-curl").inner_text()
    assert re.search(r"/v1/streams/orders/decisions", curl)
    page.get_by_test_id("open-stream").click()
    expect(page.get_by_test_id("view-stream")).to_be_visible()
    expect(page.get_by_test_id("mode")).to_have_text("shadow")


def test_the_gain_is_told_against_the_better_constant(empty_desk, opened, tmp_path):
    """With misses as dear as these acting on everything is the one to beat."""
    path = tmp_path / "orders.csv"
    write_orders(path, 1500)
    page = opened(empty_desk)
    sign_in(page, empty_desk.secret)
    assert list(to_replay(page, path, miss="400")) == [1, 2, 3, 4]
    own = page.get_by_test_id("replay-table").locator("tr.own")
    gains = {
        name: float(own.locator(f"[data-name={name}]").get_attribute("data-value"))
        for name in ("saved_against_never", "saved_against_always")
    }
    assert gains["saved_against_always"] < gains["saved_against_never"]
    headline = page.get_by_test_id("replay-headline")
    assert shown(page, "saved_against_always", "[data-testid=replay-headline]") == [gains["saved_against_always"]]
    expect(headline).to_contain_text("acting on everything")
