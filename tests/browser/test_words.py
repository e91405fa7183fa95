"""The page in the team's words and the reader's way of numbers; what stays in view; numbers as the report has them."""

import re
import time

import pytest
from playwright.sync_api import expect

from appletaste.service.review.read_model import ReadModel
from appletaste.words import Words

from .conftest import sign_in
from .looking import SIZES, findings, overflow
from .test_numbers import go, shown, tile

SHEET = {
    "item": "order", "positive": "fraud", "negative": "fine", "act": "hold", "pass": "let through", "currency": "EUR",
}  # fmt: skip
#: What nobody but a program should meet.
THEORY = re.compile(
    r"\b(EXPLOIT|positives?|negatives?|worth|shadow price|certificate|acting|passing|passed|acts|passes)\b", re.I
)
OWN_VIEWS = ("stream", "model", "what-if", "health", "report")


@pytest.fixture
def worded(desk):
    desk.api("POST", "/v1/streams/orders/words", {"words": SHEET})
    return desk


def test_every_page_speaks_the_words_of_the_team(worded, opened):
    page = opened(worded)
    sign_in(page, worded.secret)
    for view in OWN_VIEWS:
        go(page, view)
        lines = page.locator("main").inner_text().splitlines()
        said = "\n".join(
            line for line in lines if line not in ("items", "Measured from items.")
        )  # a column of the shop
        assert not THEORY.search(said), (view, THEORY.search(said), said)
        assert not re.search(r"\bitems?\b", said), (view, re.findall(r".*\bitems?\b.*", said))
    go(page, "stream")
    expect(page.get_by_test_id("tile-missed")).to_contain_text("Frauds missed")
    expect(page.get_by_test_id("tile-acted")).to_contain_text("Held")
    expect(page.get_by_test_id("tile-cost")).to_contain_text("€")


def test_words_are_changed_on_the_page_and_hold_at_once(worded, opened):
    page = opened(worded)
    sign_in(page, worded.secret)
    go(page, "health")
    expect(page.get_by_test_id("words-card")).to_contain_text("Each order is held or let through")
    page.get_by_test_id("words-change").click()
    page.guard.allow(r"422.*/words")
    page.get_by_test_id("word-act").fill("=1+1")
    page.get_by_test_id("words-confirm").click()
    expect(page.get_by_role("dialog")).to_contain_text("begins with a letter")
    page.get_by_test_id("word-act").fill("block")
    page.get_by_test_id("words-confirm").click()
    expect(page.get_by_test_id("words-card")).to_contain_text("Each order is blocked or let through")
    assert worded.of("")["words"]["acting"] == "blocking"


def test_the_page_and_the_library_tell_sentences_alike(worded, opened):
    page, words = opened(worded), Words.of(SHEET)
    sign_in(page, worded.secret)
    said = [
        "Acting on every item costs more than passing it; 12 items were acted on, 3 passed. Acting pays.",
        "It acts on 3 % of the items: 12 acts, 388 passes; an act, a pass, an item's positives, 'item', Negatives.",
        "Every passed item was passed with certainty; 3 acted items.",
        "Act from a chance of 3 %. A policy that acts by lot; the pass rate; positively, action, inactive.",
    ]
    told = page.evaluate(
        "async (said) => { const { told } = await import('./page/words.js'); return said.map(told); }", said
    )
    assert told == [words.told(one) for one in said]
    assert told != said


def test_numbers_and_times_are_those_of_the_reader(worded, opened):
    page = opened(worded, locale="de-DE", timezone_id="America/New_York")
    sign_in(page, worded.secret)
    go(page, "stream")
    (cost,) = shown(page, "cost", "[data-testid=tile-cost]")
    whole = f"{round(cost):,}".replace(",", ".")
    expect(page.get_by_test_id("tile-cost")).to_contain_text(f"{whole} €")
    go(page, "health")
    assert re.search(r"\bGMT-[45]\b|\bE[SD]T\b", page.get_by_test_id("view-health").inner_text())


@pytest.mark.parametrize("size", list(SIZES))
def test_apply_and_the_outcome_are_always_in_view(worded, opened, size):
    page = opened(worded, viewport=SIZES[size])
    sign_in(page, worded.secret)
    go(page, "what-if")
    bar, apply = page.get_by_test_id("what-if-bar"), page.get_by_test_id("apply")
    high = SIZES[size]["height"]
    for scrolled in (0, 600, 100_000):
        page.evaluate("(to) => window.scrollTo(0, to)", scrolled)
        box = apply.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= high
    page.evaluate("window.scrollTo(0, 0)")
    page.get_by_test_id("what-if-miss").fill("40")
    expect(page.get_by_test_id("what-moved")).to_contain_text("judged by the same money")
    (moved,) = shown(page, "today.cost")
    costs = {"miss": 40, "false_alarm": 6, "hit": 4, "correct_pass": 0}
    told = worded.api("POST", "/v1/streams/orders/what-if", {"costs": costs})
    assert moved == told["now"]["cost"]["estimate"]
    expect(page.get_by_test_id("what-if-short")).to_contain_text("Orders held a day")
    days = worded.of("/days")
    assert days["first"].startswith("2024-05")
    expect(page.get_by_test_id("tile-cost")).to_contain_text("2024")  # the days that the cost is of
    assert findings(page) == []
    assert overflow(page)[0] <= 0
    assert bar.is_visible()


def test_the_first_numbers_after_a_start_say_how_far_they_are(desk, opened, monkeypatch):
    """The record is read slowly here, as a long one is."""
    take = ReadModel._take

    def slowly(self, *event):
        time.sleep(0.002)
        take(self, *event)

    monkeypatch.setattr(ReadModel, "_take", slowly)
    page = opened(desk, "/#/stream/orders/stream")
    sign_in(page, desk.secret)
    page.goto("/#/stream/orders/stream")
    reading = page.get_by_test_id("reading-record")
    expect(reading).to_contain_text(f"of {desk.of('')['events']:,} events of the record are read")
    expect(page.get_by_test_id("tile-acted")).to_be_visible(timeout=60_000)
    expect(reading).to_have_count(0)


def test_the_month_of_the_report_is_that_of_the_page_to_the_cent(worded, opened):
    page = opened(worded)
    sign_in(page, worded.secret)
    go(page, "stream")
    page.get_by_test_id("days-range").select_option("own")
    page.get_by_test_id("days-from").fill("2024-06-01")
    page.get_by_test_id("days-to").fill("2024-06-30")
    totals = worded.of("/days?from=2024-06-01&to=2024-06-30")["totals"]
    expect(page.locator("[data-testid=tile-acted] [data-name=acted]")).to_have_attribute(
        "data-value", str(totals["acted"])
    )
    saved = [tile(page, name) for name in ("saved", "saved_acting") if totals[name].get("estimate") is not None]
    best = min(saved)
    report = worded.ask("GET", "/v1/streams/orders/report.html?month=2024-06", key=worded.secret).body.decode()
    body, _ = report.split("Appendix")
    body = re.sub(r"<style>.*?</style>|<img[^>]*>", "", body, flags=re.S)
    assert f'<p class="amount">{Words.of(SHEET) and _euros(best)}</p>' in report
    assert not THEORY.search(re.sub(r"<[^>]+>", " ", body)), THEORY.search(re.sub(r"<[^>]+>", " ", body))


def _euros(amount):
    from appletaste.words import Currency

    return Currency("EUR")(amount)


def test_columns_of_a_few_whole_numbers_are_drawn_at_these(empty_desk, opened):
    """0 and 1 are two bars, years have no comma, and there is no month 12.1."""
    rows = [{"new": float(k % 2), "year": 2016.0 + k % 2, "month": 1.0 + k % 12, "price": k**1.5} for k in range(240)]
    costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    empty_desk.api("POST", "/v1/streams", {"name": "orders", "costs": costs, "examples": rows})
    page = opened(empty_desk)
    sign_in(page, empty_desk.secret)
    go(page, "model")
    told = {column["name"]: column for column in empty_desk.of("/model/curves")["columns"]}
    assert [point["x"] for point in told["month"]["points"]] == [*range(1, 13)]
    assert len(told["price"]["points"]) > 40
    for name, values in (("new", ["0", "1"]), ("year", ["2016", "2017"])):
        names = page.locator(f"[data-testid='column-{name}'] .row-name")
        assert [re.sub(r"^(.+)\1$", r"\1", one) for one in names.all_text_contents()] == values
    ticks = page.locator("[data-testid=column-month] .axis-text").all_text_contents()
    assert "12" in ticks or "10" in ticks
