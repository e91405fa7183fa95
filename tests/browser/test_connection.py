"""The service goes away and comes back: live events without a gap, and a hundred cases of which no label is lost."""

import re
import shutil

import pytest
from playwright.sync_api import expect

from .conftest import sign_in
from .process import DeskProcess
from .relay import Relay
from .shop import later, orders
from .test_review import arrived, current, other_case
from .watching import REQUEST

#: What Chromium writes when a service does not answer, or ends in the middle of an answer.
AWAY = (f"{REQUEST}.*ERR_", "status of 503")


@pytest.fixture
def process(shop, tmp_path):
    path = tmp_path / "shop.db"
    shutil.copy(shop, path)
    running = DeskProcess(path).start()
    yield running
    running.kill()


def waiting(page):
    return page.get_by_test_id("waiting").locator("[data-name=waiting]")


def test_events_are_cut_and_go_on_without_a_gap(desk, opened, tmp_path):
    rows = later(orders(tmp_path, 300, seed=13), 62)
    with Relay(desk.port) as relay:
        page = opened(relay)
        page.guard.allow(*AWAY)
        sign_in(page, desk.secret)
        expect(page.get_by_test_id("alive")).to_have_text("connected")
        desk.decide(rows[:100])
        expect(waiting(page)).to_have_attribute("data-value", str(desk.of("")["pending"]))
        seen, asked = desk.of("")["events"], []
        page.on("request", lambda request: asked.append(request.url))
        relay.cut()
        expect(page.get_by_test_id("alive")).to_have_text("cut off")
        desk.decide(rows[100:200])  # happens while nobody listens
        relay.mend()
        expect(page.get_by_test_id("alive")).to_have_text("connected")
        desk.decide(rows[200:])
        expect(waiting(page)).to_have_attribute("data-value", str(desk.of("")["pending"]))
        page.context.close()
    assert f"{relay.url}/v1/streams/orders" not in asked  # nobody asked how the stream stands: events said so
    (first,) = {int(re.search(r"from_seq=(\d+)", url)[1]) for url in asked if "/live" in url}
    assert first == seen + 1


def test_the_page_goes_on_when_the_service_is_started_again(process, opened):
    page = opened(process)
    sign_in(page, process.secret)
    expect(page.get_by_test_id("alive")).to_have_text("connected")
    page.guard.allow(*AWAY)
    process.kill()
    expect(page.get_by_test_id("alive")).to_have_text("cut off")
    expect(page.get_by_test_id("banner")).to_contain_text("Not connected")
    process.start()
    expect(page.get_by_test_id("alive")).to_have_text("connected")
    expect(page.get_by_test_id("banner")).to_be_hidden()
    page.get_by_test_id("nav-stream").click()
    expect(page.get_by_test_id("tile-acted")).to_be_visible()  # the session is in the store


def claimed_by(request):
    """Return the ids that a request claims, if it does."""
    return request.post_data_json["ids"] if request.url.endswith("queue:claim") else ()


def hold_three(page, process, heard):
    """Wait until the open case and the next two are held, and the page has heard so: one claims after it shows."""
    for _ in range(300):
        held = {row["id"] for row in process.of("/queue")["items"] if row["by"]}
        if len(held) == 3 and held <= heard:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{held} are held; the page has heard of {held & heard}")


def test_a_hundred_cases_by_keyboard_and_the_server_killed(process, opened):
    """At most 2.2 requests a case; the server is killed in the middle of them, and no label is lost."""
    page = opened(process)
    sign_in(page, process.secret)
    page.guard.allow(*AWAY)
    expect(page.get_by_test_id("queue-row").first).to_be_visible()
    answered, heard = [], set()
    page.on("response", lambda response: answered.append(response.request))
    page.on("requestfinished", lambda request: heard.update(claimed_by(request)))
    page.keyboard.press("j")
    given, id_ = {}, current(page)
    for number in range(100):
        if number == 40:
            hold_three(page, process, heard)
            process.kill()
        if number == 42:  # by now the page has no other case that it knows
            expect(page.get_by_test_id("banner")).to_contain_text("labels wait here")
            process.start()
        given[id_] = number % 2
        page.keyboard.press(str(number % 2))
        id_ = other_case(page, id_)
    last = list(given)[-1]
    arrived(page, last)  # the last one is sent by itself
    expect(page.get_by_test_id("banner")).to_be_hidden()
    assert len(given) == 100
    lost = [id_ for id_, value in given.items() if process.of(f"/decisions/{id_}")["label"] != value]
    assert lost == []
    work = [f"{one.method} {one.url}" for one in answered if "/v1/" in one.url and "/live" not in one.url]
    claims = [one for one in work if "/label" not in one]
    print(f"a hundred cases took {len(work)} requests, {len(claims)} of them for cases")
    assert len(work) <= 220, work
    assert len(claims) <= 110, claims  # each step claims one more, two cases ahead; the labels alone are a hundred
    assert process.api("POST", "/v1/streams/orders/verify")["verifies"]
