"""The way back, and work that is shared: a case is found and corrected, many are labelled, views and keys are kept."""

import time

import pytest
from playwright.sync_api import expect

from .conftest import sign_in
from .looking import SIZES, findings, overflow, settled
from .test_review import arrived, current, eventually, other_case
from .watching import REQUEST

PEOPLE = ["Anna Bergström", "Ben Öz", "Cleo Winter", "Dario Monti", "Emma Frisch"]
ORDERS = "/v1/streams/shop"


def order(place):
    return {"amount": 20.0 + place, "country": ["DE", "FR", "IT"][place % 3], "customer": PEOPLE[place % len(PEOPLE)]}


@pytest.fixture
def shop_desk(empty_desk):
    """A service with a stream of twenty orders that wait, with names of customers in a column that is not learnt."""
    made = {
        "name": "shop",
        "costs": {"miss": 500, "false_alarm": 1, "hit": 0},
        "examples": [order(place) for place in range(6)],
        "shown": ["customer"],
        "words": {"item": "order", "positive": "fraud", "negative": "fine", "currency": "EUR"},
    }
    empty_desk.api("POST", "/v1/streams", made)
    asked = [{"id": f"o-{k}", "item": order(k), "stratum": ["card", "voucher"][k % 2]} for k in range(20)]
    told = empty_desk.api("POST", ORDERS + "/decisions:batch", {"decisions": asked})["results"]
    assert all(one["body"]["act"] for one in told)
    empty_desk.api(
        "PUT", ORDERS + "/layout", {"customers": ["customer"], "link": "https://shop.example/o/{id}?c={customer}"}
    )
    return empty_desk


def rows(page):
    return page.get_by_test_id("queue-row")


def ids(page):
    return [row.get_attribute("data-id") for row in rows(page).all()]


def in_shop(desk, path):
    return desk.of(path, "shop")


def test_a_labelled_case_is_found_by_the_name_of_the_customer_and_corrected(shop_desk, opened):
    """Journey, by keyboard alone: under 15 seconds."""
    shop_desk.api("PUT", ORDERS + "/decisions/o-7/label", {"value": 1})
    page = opened(shop_desk)
    sign_in(page, shop_desk.named("Ann", "read", "review", "label", "correct"))
    expect(rows(page).first).to_be_visible()
    began = time.monotonic()
    page.keyboard.press("/")
    page.keyboard.type("cleo winter")
    expect(rows(page)).to_have_count(4)  # those of Cleo, whatever became of them
    page.get_by_test_id("list").select_option("labelled")
    expect(rows(page)).to_have_count(1)
    page.get_by_test_id("search").focus()
    page.keyboard.press("Enter")
    assert current(page) == "o-7"
    page.keyboard.press("u")
    expect(page.get_by_test_id("correction")).to_be_visible()
    page.keyboard.type("the customer phoned")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("case-label")).to_have_attribute("data-value", "0")
    assert time.monotonic() - began < 15
    case = in_shop(shop_desk, "/cases/o-7")
    assert (case["label"], case["notes"][-1]["text"]) == (0, "corrected to 0: the customer phoned")
    expect(rows(page).first.get_by_test_id("row-label")).to_have_text("fine")  # and the list says so
    page.get_by_test_id("search").fill("")
    page.get_by_test_id("list").select_option("mine")
    expect(rows(page)).to_have_count(1)  # whoever corrected a label last has it
    page.get_by_test_id("search").fill("nobody")
    expect(page.get_by_test_id("queue-empty")).to_contain_text("No order has an id")


def test_two_reviewers_on_a_queue_of_twenty(shop_desk, opened):
    """Each label is given once, both have work to the end, and nobody is told that a case is taken."""
    people = {}
    for name in ("Ann", "Ben"):
        people[name] = opened(shop_desk)
        people[name].guard.allow(f"{REQUEST}.*409")
        sign_in(people[name], shop_desk.named(name, "read", "review", "label"))
        expect(rows(people[name]).first).to_be_visible()
    given = {"Ann": 0, "Ben": 0}
    for page in people.values():
        page.keyboard.press("j")
        current(page)
    for turn in range(60):
        name = ("Ann", "Ben")[turn % 2]
        page = people[name]
        if page.get_by_test_id("case").count() == 0:
            continue  # there was nothing left that was free
        if page.get_by_test_id("positive").count() == 0:
            page.keyboard.press("j")
            page.wait_for_timeout(100)
            continue
        before = current(page)
        page.keyboard.press("1")
        given[name] += 1
        if sum(given.values()) < 20:
            expect(page.locator(f'[data-testid=case][data-id="{before}"]').get_by_test_id("positive")).to_have_count(0)
            page.wait_for_timeout(100)
    for page in people.values():
        page.get_by_test_id("nav-stream").click()  # sends what is held
        expect(page.get_by_test_id("view-stream")).to_be_visible()
    eventually(people["Ann"], lambda: in_shop(shop_desk, "/queue")["total"], 0)
    found = in_shop(shop_desk, "/cases?of=labelled")["items"]
    assert sorted(one["id"] for one in found) == sorted(f"o-{k}" for k in range(20))
    by = [one["labelled_by"] for one in found]
    assert (by.count("Ann"), by.count("Ben")) == (given["Ann"], given["Ben"])
    assert min(given.values()) >= 8


def test_a_lead_frees_a_case(shop_desk, opened):
    ben, lea = opened(shop_desk), opened(shop_desk)
    lea.guard.allow(f"{REQUEST}.*409")
    secret = shop_desk.api("POST", "/v1/keys", {"name": "Lea", "role": "lead"})["secret"]
    sign_in(ben, shop_desk.named("Ben", "read", "review", "label"))
    ben.get_by_test_id("start").click()
    held = current(ben)
    expect(ben.get_by_test_id("case-held")).to_be_visible()
    sign_in(lea, secret)
    lea.get_by_test_id("queue-row").first.click()
    assert current(lea) == held
    lea.get_by_test_id("take-over").click()
    expect(lea.get_by_test_id("case-held")).to_be_visible()
    assert in_shop(shop_desk, f"/cases/{held}")["by"] == "Lea"


def test_rows_say_what_is_in_the_case(shop_desk, opened):
    """Two columns with their values, the amount, why and when; or the columns that somebody has chosen."""
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    expect(rows(page)).not_to_have_count(0)
    item = in_shop(shop_desk, "/queue?limit=1")["items"][0]
    first = page.locator(f'[data-testid=queue-row][data-id="{item["id"]}"]')
    expect(first).to_contain_text("pays")
    expect(first.locator("[data-name=amount]")).to_contain_text("500")
    for one in item["cells"]:
        expect(first).to_contain_text(one["column"])
    page.get_by_test_id("filter").click()
    page.locator("summary").click()
    page.get_by_label("customer").check()
    expect(first.locator(".row-cell")).to_have_count(1)
    expect(first).to_contain_text(order(int(item["id"][2:]))["customer"])
    assert "EXPLOIT" not in page.locator("body").inner_text()


def test_a_filter_closes_the_case_that_it_hides(shop_desk, opened):
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    voucher = in_shop(shop_desk, "/queue?stratum=voucher&limit=1")["items"][0]["id"]
    page.goto(f"/#/stream/shop/case/{voucher}")
    assert current(page) == voucher
    page.get_by_test_id("order").select_option("age")
    expect(page.get_by_test_id("case")).to_be_visible()  # another order hides nothing
    page.get_by_test_id("filter").click()
    page.get_by_test_id("filter-stratum").select_option("card")
    expect(page.get_by_test_id("case")).to_have_count(0)
    page.keyboard.press("Escape")
    page.locator("h1").first.click()
    page.keyboard.press("1")  # labels nothing
    assert in_shop(shop_desk, f"/cases/{voucher}")["label"] is None
    eventually(page, lambda: [one["by"] for one in in_shop(shop_desk, "/queue")["items"] if one["by"]], [])


def test_escalation_by_keyboard_and_what_was_written_stays(shop_desk, opened):
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    page.get_by_test_id("start").click()
    first = current(page)
    page.keyboard.press("e")
    page.keyboard.type("a lawyer should see this")
    page.get_by_test_id("escalation-cancel").click()
    expect(page.get_by_test_id("escalation")).to_have_count(0)
    expect(page.get_by_test_id("notices")).to_contain_text("Nothing was sent")
    page.keyboard.press("e")
    expect(page.get_by_test_id("escalation-text")).to_have_value("a lawyer should see this")
    page.get_by_test_id("escalation-to").fill("Lea")
    page.get_by_test_id("escalation-text").press("Control+Enter")
    second = other_case(page, first)
    case = in_shop(shop_desk, f"/cases/{first}")
    assert (case["escalated_to"], case["notes"][-1]["text"]) == ("Lea", "escalated to Lea: a lawyer should see this")
    page.keyboard.press("e")
    page.keyboard.type("and this")
    page.keyboard.press("Enter")
    other_case(page, second)
    page.get_by_test_id("list").select_option("escalated")
    expect(rows(page)).to_have_count(2)
    expect(page.locator(f'[data-id="{first}"]').get_by_test_id("row-escalated")).to_have_text("⚑ Lea")


def test_skipped_cases_have_a_list_of_their_own(shop_desk, opened):
    page = opened(shop_desk)
    sign_in(page, shop_desk.named("Ann", "read", "review", "label"))
    page.get_by_test_id("start").click()
    first = current(page)
    page.keyboard.press("s")
    other_case(page, first)
    page.reload()
    expect(rows(page).first).to_be_visible()
    page.get_by_test_id("list").select_option("skipped")
    expect(rows(page)).to_have_count(1)
    rows(page).first.click()
    assert current(page) == first
    page.keyboard.press("0")
    arrived(page, first)
    eventually(page, lambda: in_shop(shop_desk, f"/cases/{first}")["label"], 0)


def test_many_at_once_after_a_check(shop_desk, opened):
    page, ben = opened(shop_desk), opened(shop_desk)
    sign_in(ben, shop_desk.named("Ben", "read", "review", "label"))
    ben.get_by_test_id("start").click()
    taken = current(ben)
    expect(ben.get_by_test_id("case-held")).to_be_visible()
    eventually(ben, lambda: len([one for one in in_shop(shop_desk, "/queue")["items"] if one["by"]]), 3)
    sign_in(page, shop_desk.secret)
    expect(page.get_by_test_id("row-held").first).to_be_visible()
    rows(page).nth(0).locator(".tick").click()
    rows(page).nth(5).click(modifiers=["Shift"])
    expect(page.get_by_test_id("together-count")).to_have_text("6")
    chosen = ids(page)[:6]
    assert taken in chosen
    page.get_by_test_id("together-negative").click()
    check = page.get_by_test_id("together-check")
    expect(check).to_contain_text("3 held by Ben")
    expect(page.get_by_test_id("together-confirm")).to_have_text("Label 3 orders as fine")
    assert all(in_shop(shop_desk, f"/cases/{id_}")["label"] is None for id_ in chosen)  # not before the check
    page.get_by_test_id("together-confirm").click()
    expect(page.get_by_test_id("notices")).to_contain_text("3 orders labelled as fine")
    labels = {id_: in_shop(shop_desk, f"/cases/{id_}")["label"] for id_ in chosen}
    assert sorted(str(label) for label in labels.values()) == ["0", "0", "0", "None", "None", "None"]
    assert labels[taken] is None
    expect(page.get_by_test_id("together")).to_be_hidden()


def test_views_are_kept_by_the_service(shop_desk, opened):
    secret = shop_desk.named("Ann", "read", "review")
    page = opened(shop_desk)
    sign_in(page, secret)
    page.get_by_test_id("filter").click()
    page.get_by_test_id("filter-stratum").select_option("voucher")
    page.get_by_test_id("order").select_option("amount")
    expect(rows(page)).to_have_count(10)
    page.get_by_test_id("view-save").click()
    page.get_by_test_id("view-name").fill("vouchers")
    page.get_by_test_id("view-confirm").click()
    expect(page.get_by_test_id("view-dialog")).to_have_count(0)
    elsewhere = opened(shop_desk)  # another browser
    sign_in(elsewhere, secret)
    expect(rows(elsewhere).first).to_be_visible()
    elsewhere.get_by_test_id("list").select_option("view:vouchers")
    expect(rows(elsewhere)).to_have_count(10)
    expect(elsewhere.get_by_test_id("order")).to_have_value("amount")
    elsewhere.get_by_test_id("filter").click()
    elsewhere.get_by_test_id("view-forget").click()
    eventually(elsewhere, lambda: shop_desk.api("GET", ORDERS + "/views", key=secret), {"views": {}})


def test_the_same_customer_and_a_link_elsewhere(shop_desk, opened):
    shop_desk.api("PUT", ORDERS + "/decisions/o-2/label", {"value": 1})
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    page.goto("/#/stream/shop/case/o-7")
    card = page.get_by_test_id("customer")
    expect(card.get_by_test_id("customer-case")).to_have_count(3)  # o-2, o-12 and o-17
    expect(card).to_contain_text("3 other orders")
    expect(card.locator("li", has_text="o-2")).to_contain_text("fraud")
    link = page.get_by_test_id("case-link")
    expect(link).to_have_attribute("href", "https://shop.example/o/o-7?c=Cleo%20Winter")
    expect(link).to_have_attribute("rel", "noopener noreferrer")
    expect(page.locator("tr", has_text="customer")).to_contain_text("shown, not learnt")
    words = page.get_by_test_id("case").inner_text()
    assert words.count("Decided") == 1
    card.locator("a", has_text="o-12").click()
    expect(page.get_by_test_id("case")).to_have_attribute("data-id", "o-12")


def test_the_page_is_arranged_by_a_lead(shop_desk, opened):
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    page.get_by_test_id("arrange").click()
    page.get_by_test_id("layout-add").click()
    queue = page.get_by_test_id("layout-queue")
    queue.locator("[name=name]").fill("vouchers")
    queue.locator("[name=strata]").fill("voucher")
    page.get_by_test_id("layout-rows").get_by_label("country").check()
    page.get_by_test_id("layout-link").fill("javascript:alert(1)")
    page.guard.allow(f"{REQUEST}.*422")
    page.get_by_test_id("layout-save").click()
    expect(page.get_by_test_id("layout-outcome")).to_contain_text("https://")
    page.get_by_test_id("layout-link").fill("")
    page.get_by_test_id("layout-save").click()
    expect(rows(page).first.locator(".row-cell")).to_contain_text("country")
    page.get_by_test_id("list").select_option("queue:vouchers")
    expect(page.get_by_test_id("queue-total").locator("[data-name=total]")).to_have_attribute("data-value", "10")
    page.get_by_test_id("list").select_option("queue:others")
    expect(page.get_by_test_id("queue-total").locator("[data-name=total]")).to_have_attribute("data-value", "10")


def test_keys_are_made_and_revoked_on_a_page(shop_desk, opened):
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    page.get_by_test_id("keys-link").click()
    page.get_by_test_id("key-name").fill("Cara <img src=x>")
    page.get_by_test_id("key-make").click()
    secret = page.get_by_test_id("key-secret").inner_text()
    cara = opened(shop_desk)
    cara.guard.allow(f"{REQUEST}.*401")
    sign_in(cara, secret)
    expect(cara.get_by_test_id("keys-link")).to_be_hidden()
    expect(rows(cara).first).to_be_visible()
    page.reload()
    row = page.get_by_test_id("key-row").filter(has_text="Cara")
    expect(row).to_contain_text("reviewer")
    expect(row).not_to_contain_text("Last used never")
    row.get_by_test_id("revoke").click()
    page.get_by_test_id("revoke-confirm").click()
    expect(row).to_contain_text("revoked")
    expect(cara.get_by_test_id("key")).to_be_visible()


def test_keys_lead_from_page_to_page(shop_desk, opened):
    page = opened(shop_desk)
    sign_in(page, shop_desk.secret)
    expect(rows(page).first).to_be_visible()
    for keys, view in (("gs", "stream"), ("gh", "health"), ("gq", "queue")):
        page.keyboard.type(keys)
        expect(page.get_by_test_id(f"view-{view}")).to_be_visible()
    page.keyboard.press("?")
    expect(page.get_by_test_id("help-dialog")).to_contain_text("Stream")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
def test_what_is_new_is_readable(shop_desk, opened, theme, size):
    """Nothing serious for axe, and nothing sticks out."""
    page = opened(shop_desk, viewport=SIZES[size], color_scheme=theme)
    sign_in(page, shop_desk.secret)
    expect(rows(page).first).to_be_visible()
    page.get_by_test_id("filter").click()
    page.locator("summary").click()
    rows(page).nth(0).locator(".tick").click()
    rows(page).nth(1).locator(".tick").click()

    def fine(what):
        settled(page)
        assert findings(page) == [], what
        assert overflow(page) == [0, []], what

    fine("filters")
    page.get_by_test_id("together-positive").click()
    expect(page.get_by_test_id("together-dialog")).to_be_visible()
    fine("together")
    page.keyboard.press("Escape")
    page.goto("/#/stream/shop/case/o-7")
    expect(page.get_by_test_id("customer-case").first).to_be_visible()
    fine("case")
    page.goto("/#/stream/shop/layout")
    page.get_by_test_id("layout-add").click()
    fine("layout")
    page.goto("/#/keys")
    expect(page.get_by_test_id("key-row").first).to_be_visible()
    fine("keys")


def test_second_looks_are_blind_and_said_by_keyboard(shop_desk, opened):
    """A lane of its own: no label and no chance are shown, a reviewer is told of himself, an admin of everybody."""
    for k in range(20):
        shop_desk.api("PUT", f"/v1/streams/shop/decisions/o-{k}/label", {"value": k % 2, "source": "ben"})
    page = opened(shop_desk)
    sign_in(page, shop_desk.named("Carla", "read", "review"))
    page.get_by_test_id("nav-second-looks").click()
    page.get_by_test_id("second-look-share").select_option("1")
    pane = page.get_by_test_id("second-look")
    expect(pane.locator("[data-name=due]")).to_have_attribute("data-value", "20")
    expect(pane.get_by_role("row")).to_have_count(3)  # amount, country, customer: the item and nothing else
    for said in "fraud", "fine":
        expect(pane.get_by_text(said, exact=True)).to_have_count(0)
    for left in range(20, 0, -1):
        expect(pane.locator("[data-name=due]")).to_have_attribute("data-value", str(left))
        k = int(pane.get_by_test_id("second-look-id").inner_text().split("-")[1])
        page.keyboard.press(str(k % 2 if k < 18 else 1 - k % 2))
    expect(page.get_by_test_id("empty")).to_contain_text("Nothing to look at again")
    expect(page.get_by_test_id("agreement")).to_contain_text("Nobody has looked at a label of yours again")
    told = shop_desk.of("/agreement", "shop")
    assert (told["team"]["looks"], told["team"]["agree"]) == (20, 18)
    admin = opened(shop_desk)
    sign_in(admin, shop_desk.secret)
    admin.get_by_test_id("nav-second-looks").click()
    expect(admin.locator("[data-name='ben.agreement']")).to_have_attribute("data-value", "0.9")
    expect(admin.locator("[data-name='team.agreement']")).to_have_attribute("data-value", "0.9")
    for seen in (page, admin):
        assert findings(seen) == []
        assert overflow(seen)[0] <= 0
