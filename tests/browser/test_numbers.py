"""Numbers on screen are those of the service: days, the model, health; what if, applied; alarms; the report."""

import json

import pytest
from playwright.sync_api import expect

import appletaste as at
from appletaste.words import Words

from .conftest import sign_in
from .looking import settled
from .shop import later, orders


def shown(page, name, within="main"):
    """Return every number that the page shows under a name, in its order."""
    found = page.locator(f'{within} [data-name="{name}"]').evaluate_all("all => all.map((one) => one.dataset.value)")
    return [None if value == "null" else json.loads(value) for value in found]


def tile(page, name):
    (value,) = shown(page, name, f"[data-testid='tile-{name.partition('.')[0]}']")
    return value


def go(page, view):
    page.get_by_test_id(f"nav-{view}").click()
    expect(page.get_by_test_id(f"view-{view}")).to_be_visible()
    settled(page)


def test_the_stream_by_day(desk, signed_in):
    page = signed_in
    go(page, "stream")
    told = desk.of("/days")
    totals = told["totals"]
    for name in ("saved", "cost", "precision", "missed", "recall"):
        if totals[name].get("estimate") is None:
            assert tile(page, name) is None
        else:
            assert [tile(page, f"{name}{end}") for end in ("", ".low", ".high")] == [
                totals[name][end] for end in ("estimate", "low", "high")
            ]
    for name in ("acted", "explored", "audited"):
        assert tile(page, name) == totals[name]
    for name in ("label_delay_days", "waiting"):
        assert tile(page, name) == totals[name]
    charts = {"saved": "estimate", "cost": "estimate", "precision": "estimate"}
    for chart, part in charts.items():
        frame = page.get_by_test_id(f"chart-{chart}")
        frame.get_by_role("button", name="Show numbers").click()
        expect(frame.locator("tbody tr")).to_have_count(len(told["days"]))
        within = f"[data-testid=chart-{chart}]"
        assert shown(page, chart, within) == [day[chart][part] for day in told["days"] if day[chart]]
        assert frame.locator("[data-name=day]").evaluate_all("all => all.map((one) => one.dataset.value)") == [
            day["day"] for day in told["days"]
        ]
    assert sum(day["acted"] for day in told["days"]) == totals["acted"]


def test_after_one_decision_there_are_no_empty_charts(empty_desk, opened):
    made = {"name": "shop", "costs": {"miss": 9, "false_alarm": 1, "hit": 0}, "n_features": 1}
    empty_desk.api("POST", "/v1/streams", made)
    assert empty_desk.api("POST", "/v1/streams/shop/decisions", {"id": "a", "item": [1.0]})["act"]
    page = opened(empty_desk)
    sign_in(page, empty_desk.secret)
    go(page, "stream")
    expect(page.get_by_test_id("chart-shares")).to_be_visible()
    for unknown in ("saved", "cost", "precision"):
        expect(page.get_by_test_id(f"chart-{unknown}")).to_have_count(0)
    empty_desk.api("PUT", "/v1/streams/shop/decisions/a/label", {"value": 1})
    page.reload()
    expect(page.get_by_test_id("chart-precision")).to_be_visible()


def test_a_range_of_days(desk, signed_in):
    page = signed_in
    go(page, "stream")
    page.get_by_test_id("days-range").select_option("own")
    page.get_by_test_id("days-from").fill("2024-06-03")
    page.get_by_test_id("days-to").fill("2024-06-09")
    totals = desk.of("/days?from=2024-06-03&to=2024-06-09")["totals"]
    acted = page.locator("[data-testid=tile-acted] [data-name=acted]")
    expect(acted).to_have_attribute("data-value", str(totals["acted"]))


def test_the_model(desk, signed_in):
    page = signed_in
    go(page, "model")
    told = desk.of("/model/curves")
    assert tile(page, "labels") == told["labels"]
    assert tile(page, "threshold") == told["threshold"]
    for column in told["columns"]:
        frame = page.locator(f"[data-testid='column-{column['name']}']")
        frame.get_by_role("button", name="Show numbers").click()
        points = column["points"] if column["kind"] == "number" else column["levels"]
        expect(frame.locator("tbody tr")).to_have_count(len(points))
        for name in ("mean", "low50", "high90"):
            found = shown(page, name, f"[data-testid='column-{column['name']}']")
            assert found == [point[name] for point in points]
    calibration = page.get_by_test_id("chart-calibration")
    calibration.get_by_role("button", name="Show numbers").click()
    assert shown(page, "seen", "[data-testid=chart-calibration]") == [one["seen"] for one in told["calibration"]]


def test_what_if_apply_and_the_act_rate_moves(desk, signed_in, tmp_path):
    page, rows = signed_in, orders(tmp_path, 800, seed=11)
    before = desk.decide(later(rows[:400], 62))
    go(page, "what-if")
    today = desk.api("POST", "/v1/streams/orders/what-if", {})
    assert [tile(page, name) for name in ("threshold", "acts_a_day")] == [today["threshold"], today["acts_a_day"]]
    page.get_by_test_id("what-if-miss").fill("9")
    costs = {"miss": 9, "false_alarm": 6, "hit": 4, "correct_pass": 0}
    told = desk.api("POST", "/v1/streams/orders/what-if", {"costs": costs})
    threshold = page.locator("[data-testid=tile-threshold] [data-name=threshold]")
    expect(threshold).to_have_attribute("data-value", str(told["threshold"]))
    assert [tile(page, name) for name in ("threshold", "acts_a_day", "flip_count")] == [
        told[name] for name in ("threshold", "acts_a_day", "flip_count")
    ]
    assert tile(page, "cost") == told["cost"]["estimate"]
    assert shown(page, "flip.chance") == [flip["chance"] for flip in told["flips"]]
    events = desk.of("")["events"]
    page.get_by_test_id("apply").click()
    expect(page.get_by_test_id("apply-changes")).to_contain_text("9.00 instead of 95.00")
    # the page has the words of the library, by the same rules
    own = [Words().told(words) for words in told["words"]]
    assert page.get_by_test_id("apply-words").locator("li").all_inner_texts() == own
    page.get_by_test_id("apply-confirm").click()
    expect(page.get_by_test_id("apply-dialog")).to_have_count(0)
    stream = desk.of("")
    assert stream["costs"] == costs
    assert stream["events"] == events + 1  # an event of the record
    after = desk.decide(later(rows[400:], 62))
    assert after < before / 2
    go(page, "stream")
    acted = page.locator("[data-testid=tile-acted] [data-name=acted]")
    expect(acted).to_have_attribute("data-value", str(desk.of("/days")["totals"]["acted"]))
    assert desk.api("POST", "/v1/streams/orders/verify")["verifies"]


def test_capacity_and_audits_are_applied(desk, signed_in):
    page = signed_in
    go(page, "what-if")
    page.get_by_test_id("what-if-capacity").fill("5")
    page.get_by_test_id("what-if-audit").fill("8")
    page.get_by_test_id("apply").click()
    page.get_by_test_id("apply-confirm").click()
    expect(page.get_by_test_id("apply-dialog")).to_have_count(0)
    health = desk.of("/health")
    assert (health["capacity"], health["audit"]) == ("5/day", "8%")


def test_drift_alarm_raised_and_acknowledged(desk, signed_in, tmp_path):
    """Journey: an alarm appears while the page is open, says what to do, and somebody takes note of it."""
    page = signed_in
    go(page, "health")
    before = {alarm["id"] for alarm in desk.of("/alarms")["alarms"]}
    strange = [{**row, "amount": str(40 * float(row["amount"]))} for row in orders(tmp_path, 900, seed=12)]
    desk.decide(later(strange, 62))
    alarms = desk.of("/alarms")["alarms"]
    new = next(alarm for alarm in alarms if alarm["id"] not in before and alarm["column"] == "amount")
    card = page.get_by_test_id(f"alarm-{new['id']}")
    expect(card).to_be_visible()  # by itself
    expect(card).to_contain_text("Check where this column comes from")
    expect(card.get_by_test_id("alarm-since")).to_contain_text("Since about ")  # a day, and no number of an item
    assert shown(page, "statistic", f"[data-testid='alarm-{new['id']}']") == [new["statistic"]]
    page.get_by_test_id(f"acknowledge-{new['id']}").click()
    page.get_by_test_id("acknowledge-text").fill("prices are in pence since Monday")
    page.get_by_test_id("acknowledge-confirm").click()
    expect(card.get_by_test_id("acknowledged-by")).to_contain_text("Ann")
    expect(card).to_contain_text("prices are in pence since Monday")
    (noted,) = (alarm["acknowledged"] for alarm in desk.of("/alarms")["alarms"] if alarm["id"] == new["id"])
    assert (noted["by"], noted["text"]) == ("Ann", "prices are in pence since Monday")


def test_health_mode_and_verifying(desk, signed_in):
    page = signed_in
    go(page, "health")
    health = desk.of("/health")
    for name in ("pending", "events"):
        assert tile(page, name) == health[name]
    page.get_by_test_id("verify").click()
    expect(page.locator("[data-name='verified.events']")).to_have_attribute("data-value", str(health["events"]))
    page.get_by_test_id("mode-frozen").click()
    page.get_by_test_id("mode-reason").fill("an audit of the books")
    page.get_by_test_id("mode-confirm").click()
    expect(page.locator("main [data-name=mode]")).to_have_attribute("data-value", "frozen")
    expect(page.get_by_test_id("mode")).to_have_text("frozen")
    mode = desk.of("/health")["mode"]
    assert (mode["mode"], mode["by"], mode["reason"]) == ("frozen", "Ann", "an audit of the books")


def test_report_downloaded(desk, signed_in, tmp_path):
    page = signed_in
    go(page, "report")
    page.get_by_test_id("report-month").select_option("2024-05")
    with page.expect_download() as begun:
        page.get_by_test_id("report-make").click()
    assert begun.value.suggested_filename == "orders-2024-05.html"
    path = tmp_path / "report.html"
    begun.value.save_as(path)
    text = path.read_text()
    assert "<html" in text
    assert "http://" not in text.replace("http://www.w3.org", "")  # one page, without a network
    with page.expect_download() as begun:
        page.get_by_test_id("download-log.csv").click()
    begun.value.save_as(tmp_path / "log.csv")
    decisions = sum(day["decided"] for day in desk.of("/days?from=2024-05-01")["days"])
    assert len((tmp_path / "log.csv").read_text().splitlines()) == decisions + 1
    pytest.importorskip("pyarrow")
    with page.expect_download() as begun:
        page.get_by_test_id("download-log.parquet").click()
    begun.value.save_as(tmp_path / "log.parquet")
    assert len(at.DecisionLog.read(tmp_path / "log.parquet")) == decisions
