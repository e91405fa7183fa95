"""Two hundred strings that would run a script, as ids, notes, names of columns, values, strata and people: none runs.

The pages are opened a second time without their Content-Security-Policy, so that it is not the policy alone that holds.
"""

import csv
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

import appletaste as at
from appletaste.records.stores import open_store
from appletaste.streams import Stream

from .conftest import DeskServer, sign_in
from .injections import strings
from .looking import settled

STRINGS = strings()
COSTS = at.Costs(miss=5000, false_alarm=1, hit=0)
#: What a hostile team calls things; a word has forty letters at most.
RUNS = "x<svg data-injected onload=window.ran=1>"
WORDS = dict.fromkeys(("item", "positive", "act", "pass"), RUNS) | {"items": RUNS, "positives": RUNS}
WORDS |= {"negative": "x<script data-injected>ran=1</script>", "acted": RUNS, "acting": RUNS, "passed": RUNS}
WORDS |= {"passing": "x' onmouseover='window.ran=1' data-z='"}
#: Columns at a time: a model of all two hundred would take long to learn.
COLUMNS = 50
HOSTILE = "<img data-injected src=x onerror=window.ran=1>"


def hostile(store, name, columns):
    """Make a stream in which everything that somebody can choose is hostile."""
    records = [
        {column: STRINGS[(place + row) % 200] for place, column in enumerate(columns)} | {"size": float(row)}
        for row in range(4)
    ]
    features = at.Encoder().fit(records)
    policy = at.streams.Awaiting(at.policy("voi", n_features=features.n_features, costs=COSTS))
    with Stream.create(store, name, policy, features=features, seed=7, words=WORDS) as stream, stream.group():
        for place, text in enumerate(STRINGS):
            given = {"id": text, "stratum": STRINGS[-1 - place], "time": f"2024-05-{1 + place % 28:02d}"}
            stream.decide(records[place % 4], **given)
        for place, text in enumerate(STRINGS):
            stream.note(STRINGS[place - 1], text, by=text[:100])
            if place % 4 == 0:
                stream.label(text, place // 4 % 2)


@pytest.fixture(scope="module")
def hostile_desk(tmp_path_factory):
    store = open_store(tmp_path_factory.mktemp("hostile") / "hostile.db")
    for part in range(0, 200, COLUMNS):
        hostile(store, f"part-{part}", STRINGS[part : part + COLUMNS])
    with DeskServer(store) as running:
        yield running
    store.close()


def arrange(desk, part):
    """Choose views, queues, customers and words of a link that are hostile as well."""
    columns = STRINGS[part : part + COLUMNS]
    printable = [text for text in STRINGS[part : part + COLUMNS] if text.strip() and "\0" not in text]
    queues = [{"name": text[:60], "strata": [text]} for text in printable[:20]]
    layout = {"rows": columns[:6], "customers": columns[:4], "queues": queues, "link_title": printable[0][:60]}
    desk.api("PUT", f"/v1/streams/part-{part}/layout", {**layout, "link": "https://shop.example/{id}"})
    key = desk.named(HOSTILE, "read")
    for text in printable[:20]:
        name = text[:60]
        if name.isprintable():
            view = {"of": "waiting", "stratum": text[:256], "columns": columns[:2]}
            desk.api("PUT", f"/v1/streams/part-{part}/views/{quote(name, safe='')}", view, key=key)


def unharmed(page):
    """Nothing ran, and no element was made of what is only text."""
    assert page.evaluate("window.ran") is None
    assert page.locator("[data-injected]").count() == 0


@pytest.mark.parametrize("bypass", [False, True], ids=["policy", "no policy"])
def test_none_of_two_hundred_strings_runs(hostile_desk, opened, bypass, tmp_path):
    page = opened(hostile_desk, bypass_csp=bypass)
    sign_in(page, hostile_desk.named(HOSTILE, "read", "review", "lead", "label", "admin"))
    for part in range(0, 200, COLUMNS):
        name = f"part-{part}"
        arrange(hostile_desk, part)
        for view in ("stream", "model", "what-if", "health", "report", "second-looks", "layout", "queue"):
            page.goto(f"/#/stream/{name}/{view}")
            expect(page.get_by_test_id(f"view-{view}")).to_be_visible()
            settled(page)
            unharmed(page)
        texts = page.get_by_test_id("queue-list").inner_text() + page.get_by_test_id("filter-stratum").inner_text()
        assert STRINGS[50].split("\n")[0] in texts
        names = page.get_by_test_id("list").locator("option").all()
        assert len(names) > 40  # lists, queues and views
        page.get_by_test_id("list").select_option(names[-1].get_attribute("value"))
        settled(page)
        for text in STRINGS[part : part + 3]:
            page.get_by_test_id("search").fill(text)
            settled(page)
        unharmed(page)
    page.goto("/#/keys")
    expect(page.get_by_test_id("key-row").first).to_be_visible()
    unharmed(page)
    page.goto("/#/stream/part-0/queue")
    waiting = hostile_desk.of("/queue", "part-0")["items"]
    assert len(waiting) == 150
    page.get_by_test_id("start").click()
    for place, item in enumerate(waiting):
        case = page.get_by_test_id("case")
        expect(case).to_have_attribute("data-id", item["id"])
        page.keyboard.press("j" if place < len(waiting) - 1 else "?")
    unharmed(page)


def test_a_hostile_file_does_not_run(empty_desk, opened, tmp_path):
    path = tmp_path / "hostile.csv"
    columns = [text for text in STRINGS if text.strip() == text and "\n" not in text and "\r" not in text][:100]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "label"])
        for row in range(40):
            writer.writerow([*(columns[(place + row) % 3] for place in range(len(columns))), row % 2])
    page = opened(empty_desk)
    sign_in(page, empty_desk.secret)
    page.get_by_test_id("file-input").set_input_files(path)
    expect(page.get_by_test_id("step-2")).to_be_visible()
    expect(page.get_by_test_id("columns").locator("li")).to_have_count(len(columns) + 1)
    unharmed(page)


def test_the_report_makes_no_elements_of_texts(hostile_desk, opened):
    page = opened(hostile_desk, bypass_csp=True)  # reading it here would apply the policy of the desk to its styles
    told = hostile_desk.ask("GET", "/v1/streams/part-0/report.html?month=2024-05", key=hostile_desk.secret)
    assert told.status == 200
    count = "(html) => new DOMParser().parseFromString(html, 'text/html').querySelectorAll('[data-injected]').length"
    assert page.evaluate(count, told.body.decode()) == 0


def test_the_strings_would_do_harm(hostile_desk, opened):
    """The check can fail: put into a page as markup, the same strings run and make elements."""
    page = opened(hostile_desk, bypass_csp=True)
    page.guard.allow(".")
    made = page.evaluate(
        """(all) => all.map((text) => {
          const place = document.createElement("div");
          place.innerHTML = text;
          document.body.append(place);
          return place.querySelectorAll("[data-injected]").length;
        })""",
        STRINGS,
    )
    assert sum(count > 0 for count in made) >= 150
    page.wait_for_function("window.ran === 1")
