"""A reviewer's day: claim, label, next; a colleague; undo; correction; escalation; all of it from the keyboard."""

from playwright.sync_api import expect

from .conftest import sign_in
from .watching import REQUEST


def current(page):
    """Return the id of the case that is shown, when one is."""
    case = page.get_by_test_id("case")
    expect(case).to_be_visible()
    return case.get_attribute("data-id")


def other_case(page, than):
    """Wait until another case is shown, and return its id."""
    expect(page.locator(f'[data-testid=case]:not([data-id="{than}"])')).to_be_visible()
    return current(page)


def arrived(page, id_):
    """Wait until the page says that a label has arrived."""
    expect(page.get_by_test_id("announce").get_by_text(f"The label of {id_} has arrived.")).to_be_attached()


def case_of(desk, id_):
    return desk.of(f"/cases/{id_}")


def test_claim_label_next(desk, signed_in):
    page, before = signed_in, desk.of("/queue?limit=3")
    first, second = (item["id"] for item in before["items"][:2])
    expect(page.locator("[data-name=waiting_now]")).to_have_attribute("data-value", str(before["total"]))
    page.get_by_test_id("start").click()
    assert current(page) == first
    expect(page.get_by_test_id("case-held")).to_be_visible()
    assert case_of(desk, first)["by"] == "Ann"
    page.get_by_test_id("positive").click()
    assert other_case(page, first) == second
    page.get_by_test_id("negative").click()  # sends the label before
    third = other_case(page, second)
    arrived(page, first)
    assert case_of(desk, first)["label"] == 1
    arrived(page, second)  # by itself, when its five seconds are over
    assert case_of(desk, second)["label"] == 0
    assert case_of(desk, third)["label"] is None
    expect(page.get_by_test_id("waiting").locator("[data-name=waiting]")).to_have_attribute(
        "data-value", str(before["total"] - 2)
    )


def test_numbers_of_queue_and_case_are_those_of_the_service(desk, signed_in):
    page, told = signed_in, desk.of("/queue")
    rows = page.get_by_test_id("queue-row")
    expect(rows.first).to_be_visible()
    for place in range(5):
        item, row = told["items"][place], rows.nth(place)
        assert row.get_attribute("data-id") == item["id"]
        for name in ("chance", "amount"):
            assert float(row.locator(f"[data-name={name}]").get_attribute("data-value")) == item[name]
    page.get_by_test_id("start").click()
    case = case_of(desk, current(page))

    def figures(name):
        found = page.get_by_test_id("case").locator(f"[data-name={name}]").all()
        return [float(one.get_attribute("data-value")) for one in found]

    assert figures("chance_now") == [case["chance_now"]]
    assert figures("low") + figures("high") == case["interval"]
    assert figures("probability") == [case["probability"]]
    assert figures("contribution") == [one["contribution"] for one in case["contributions"]]
    assert figures("similar_chance") == [one["chance"] for one in case["similar"]]
    for name, value in case["costs"].items():
        assert figures(name) == [value]


def test_a_second_reviewer_meets_the_claim(desk, opened):
    page, second = opened(desk), opened(desk)
    sign_in(second, desk.named("Ben", "read", "review", "label"))
    expect(second.get_by_test_id("queue-row").first).to_be_visible()  # before anything is held
    sign_in(page, desk.secret)
    page.get_by_test_id("queue-row").first.click()
    held = current(page)
    expect(page.get_by_test_id("case-held")).to_be_visible()
    second.guard.allow(f"{REQUEST}.*409")
    second.get_by_test_id("queue-row").first.click()
    assert current(second) == held
    expect(second.get_by_test_id("case-held-by")).to_have_text("held by Ann")
    second.reload()
    expect(second.locator(f'[data-testid=queue-row][data-id="{held}"]').get_by_test_id("row-held")).to_have_text(
        "held by Ann"
    )
    page.get_by_test_id("nav-stream").click()  # leaving the queue gives cases back
    expect(page.get_by_test_id("view-stream")).to_be_visible()
    second.goto("/#/stream/orders/queue")
    second.get_by_test_id("start").click()
    assert current(second) == held
    expect(second.get_by_test_id("case-held")).to_be_visible()


def held_by(desk, name):
    """Return the places in the queue that somebody holds."""
    return [place for place, item in enumerate(desk.of("/queue?limit=200")["items"]) if item["by"] == name]


def eventually(page, ask, wanted):
    """Wait until the service says something, as it does soon after a page has asked."""
    for _ in range(100):
        if (seen := ask()) == wanted:
            return
        page.wait_for_timeout(50)
    assert seen == wanted


def test_two_reviewers_share_a_queue(desk, opened):
    """A claim is of the open case and the next two; what was walked past is free; a revoked key holds nothing."""
    ann, ben = opened(desk), opened(desk)
    ann.guard.allow(f"{REQUEST}.*(409|401)")
    ben.guard.allow(f"{REQUEST}.*409")
    sign_in(ann, desk.secret)
    expect(ann.get_by_test_id("queue-row").first).to_be_visible()
    sign_in(ben, desk.named("Ben", "read", "review", "label"))
    expect(ben.get_by_test_id("queue-row").first).to_be_visible()  # before anything is held
    queue = [item["id"] for item in desk.of("/queue?limit=20")["items"]]
    ann.keyboard.press("j")
    assert current(ann) == queue[0]
    eventually(ann, lambda: held_by(desk, "Ann"), [0, 1, 2])
    ann.keyboard.press("j")
    other_case(ann, queue[0])
    eventually(ann, lambda: held_by(desk, "Ann"), [1, 2, 3])  # the first is free again
    ben.reload()
    expect(ben.get_by_test_id("row-held").first).to_be_visible()
    ben.keyboard.press("j")
    assert current(ben) == queue[0]
    eventually(ben, lambda: held_by(desk, "Ben"), [0, 4, 5])
    ann.keyboard.press("j")  # Ann's list is older than Ben's claim
    assert other_case(ann, queue[1]) == queue[2]
    eventually(ann, lambda: held_by(desk, "Ann"), [2, 3, 6])
    ann.keyboard.press("1")
    assert other_case(ann, queue[2]) == queue[3]
    ann.keyboard.press("0")
    assert other_case(ann, queue[3]) == queue[6]  # not what Ben holds
    expect(ann.get_by_test_id("case-held")).to_be_visible()
    desk.api("DELETE", f"/v1/keys/{desk.secrets['Ann']}", key=desk.named("Cara"))
    expect(ann.get_by_test_id("key")).to_be_visible()
    assert {one["by"] for one in desk.api("GET", "/v1/streams/orders/queue", key=desk.named("Dan"))["items"]} == {
        None,
        "Ben",
    }


def test_a_short_queue_is_shared(desk, signed_in):
    """With five cases left, the first reviewer holds two of them; with four, one."""
    page = signed_in
    for item in desk.of("/queue?limit=1000")["items"][5:]:
        desk.api("PUT", f"/v1/streams/orders/decisions/{item['id']}/label", {"value": 0})
    page.reload()
    expect(page.get_by_test_id("queue-row")).to_have_count(5)
    page.keyboard.press("j")
    first = current(page)
    eventually(page, lambda: held_by(desk, "Ann"), [0, 1])
    page.keyboard.press("1")
    other_case(page, first)
    arrived(page, first)
    eventually(page, lambda: held_by(desk, "Ann"), [0])
    page.goto("/#/stream/orders/queue")  # nothing is open, nothing is held
    eventually(page, lambda: held_by(desk, "Ann"), [])


def test_an_admin_takes_a_case_over(desk, opened):
    ann, ben = opened(desk), opened(desk)
    ann.guard.allow(f"{REQUEST}.*409")
    sign_in(ben, desk.named("Ben", "read", "review", "label"))
    ben.get_by_test_id("start").click()
    held = current(ben)
    expect(ben.get_by_test_id("case-held")).to_be_visible()
    sign_in(ann, desk.secret)
    ann.get_by_test_id("queue-row").first.click()
    assert current(ann) == held
    ann.get_by_test_id("take-over").click()
    expect(ann.get_by_test_id("case-held")).to_be_visible()
    assert case_of(desk, held)["by"] == "Ann"
    ben.reload()
    expect(ben.get_by_test_id("case-held-by")).to_have_text("held by Ann")
    expect(ben.get_by_test_id("take-over")).to_have_count(0)  # for admins


def test_undo(desk, signed_in):
    page = signed_in
    page.get_by_test_id("start").click()
    first = current(page)
    page.get_by_test_id("positive").click()
    second = other_case(page, first)
    page.get_by_test_id("undo").click()
    assert other_case(page, second) == first
    expect(page.get_by_test_id("undo-bar")).to_have_count(0)
    page.get_by_test_id("negative").click()
    other_case(page, first)
    arrived(page, first)
    case = case_of(desk, first)
    assert case["label"] == 0
    assert [event["kind"] for event in case["history"]].count("labelled") == 1  # the first one was never sent


def test_correction(desk, signed_in):
    page = signed_in
    page.get_by_test_id("start").click()
    first = current(page)
    page.get_by_test_id("positive").click()
    other_case(page, first)
    arrived(page, first)
    page.keyboard.press("u")  # too late to undo: a correction
    dialog = page.get_by_test_id("correction")
    dialog.get_by_test_id("correction-reason").fill("the customer phoned back")
    dialog.get_by_test_id("correction-send").click()
    expect(dialog).to_have_count(0)
    page.goto(f"/#/stream/orders/case/{first}")
    expect(page.get_by_test_id("case-label")).to_have_attribute("data-value", "0")
    expect(page.get_by_test_id("history")).to_contain_text("the customer phoned back")
    case = case_of(desk, first)
    assert case["label"] == 0
    assert "corrected" in [event["kind"] for event in case["history"]]


def test_escalation_and_notes(desk, signed_in):
    page = signed_in
    page.get_by_test_id("start").click()
    first = current(page)
    page.get_by_test_id("note-text").fill("address was changed yesterday")
    page.get_by_test_id("note-add").click()
    expect(page.get_by_test_id("history")).to_contain_text("address was changed yesterday")
    page.get_by_test_id("escalate").click()
    page.get_by_test_id("escalation-text").fill("a lawyer should see this")
    page.get_by_test_id("escalation-send").click()
    other_case(page, first)
    case = case_of(desk, first)
    assert case["escalated"] is True
    assert case["by"] is None
    expect(page.locator(f'[data-id="{first}"]').get_by_test_id("row-escalated")).to_be_visible()


def test_filters_and_orders(desk, signed_in):
    page = signed_in
    page.get_by_test_id("filter").click()
    told = desk.of("/queue")
    code = min(told["codes"], key=lambda name: told["codes"][name]["count"])
    page.get_by_test_id("filter-code").select_option(code)
    total = page.get_by_test_id("queue-total").locator("[data-name=total]")
    expect(total).to_have_attribute("data-value", str(told["codes"][code]["count"]))
    page.get_by_test_id("filter-clear").click()
    expect(total).to_have_attribute("data-value", str(told["total"]))
    for order in ("age", "amount", "chance", "worth"):
        page.get_by_test_id("order").select_option(order)
        first = desk.of(f"/queue?order={order}&limit=1")["items"][0]["id"]
        expect(page.get_by_test_id("queue-row").first).to_have_attribute("data-id", first)


def test_keyboard_only(desk, page):
    """Journey: from signing in to the last label without a mouse."""
    expect(page.get_by_test_id("key")).to_be_focused()
    page.keyboard.type(desk.secret)
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("queue-row").first).to_be_visible()
    page.keyboard.press("j")
    first = current(page)
    page.keyboard.press("j")
    second = other_case(page, first)
    page.keyboard.press("k")
    assert other_case(page, second) == first
    page.keyboard.press("1")
    assert other_case(page, first) == second
    page.keyboard.press("u")
    assert other_case(page, second) == first
    page.keyboard.press("0")
    assert other_case(page, first) == second
    page.keyboard.press("s")
    third = other_case(page, second)
    page.keyboard.press("e")
    expect(page.get_by_test_id("escalation")).to_be_visible()
    page.keyboard.type("look at this")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    other_case(page, third)
    page.keyboard.press("?")
    expect(page.get_by_test_id("help-dialog")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("help-dialog")).to_have_count(0)
    arrived(page, first)
    assert case_of(desk, first)["label"] == 0
    assert case_of(desk, second)["label"] is None
    assert case_of(desk, third)["escalated"] is True
