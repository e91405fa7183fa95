"""A case is found again by its id, by a cell and by its label; layouts and views are kept; links lead nowhere else."""

import random
import time
from urllib.parse import quote

import pytest

import appletaste as at
from appletaste.records.stores import MemoryStore
from appletaste.service.review import search as searches
from appletaste.service.review.layout import fields_of, link_for
from appletaste.service.review.search import Search, plain
from appletaste.streams import Stream

from .serving import COSTS, Running, new_store

NAMES = ["Anna Berg", "ANNA Bergström", "Ben Öz", "Ça va", "berg\tanna", "0", "a\x1fb", "Straße 3", "\n", ""]
PEOPLE = [
    {"age": 20.0 + k, "job": "chef" if k % 2 else "pilot", "customer": NAMES[k % 3], "account": 7.0} for k in range(6)
]
MADE = {
    "name": "shop",
    "costs": {"miss": 5, "false_alarm": 1, "hit": 0},
    "examples": PEOPLE,
    "shown": ["customer", "account"],
}


def stream_of(store):
    features = at.Encoder().fit(PEOPLE, drop=["customer", "account"])
    return Stream.create(
        store, "orders", at.policy("voi", n_features=features.n_features, costs=COSTS), features=features
    )


def fits(item, id_, wanted, column):
    """Return whether a case fits, worked out from nothing."""
    cells = {name: str(value) if isinstance(value, str) else f"{value:.15g}" for name, value in (item or {}).items()}
    cells.pop("age", None)  # a number that is learnt
    if column is not None:
        return plain(cells.get(column, "")) == wanted
    return wanted in plain(id_) or any(wanted in plain(value) for value in cells.values())


def test_what_is_found_is_what_is_there(monkeypatch):
    """Compared with a look at every record, block borders, erasures and odd letters included."""
    monkeypatch.setattr(searches, "BLOCK", 4)
    rng, store = random.Random(5), MemoryStore()
    stream, kept = stream_of(store), {}
    search = Search(stream.features)
    asked = ["anna", "ANNA berg", "berg", "ö", "0", "3", "a b", "id-1", "id-17", "x", "straße", "STRASSE", "7", "chef"]
    for k in range(60):
        person = {
            "age": float(k),
            "job": rng.choice(["chef", "pilot"]),
            "customer": rng.choice(NAMES),
            "account": float(k % 9),
        }
        stream.decide(person, id=f"id-{k}")
        kept[f"id-{k}"] = person
        if k % 7 == 3:
            gone = f"id-{rng.randrange(k)}"
            stream.erase(gone)
            kept[gone] = None
        if k % 5:
            continue
        search.refresh(stream.record.place, len(stream))
        for text in asked:
            for column in (None, "customer", "account", "nowhere"):
                found = search.find(text, column, None)
                wanted = {id_ for id_, item in kept.items() if fits(item, id_, plain(text), column)}
                assert set(search.ids(found.rows)) == wanted, (k, text, column)
                assert len(set(found.rows)) == len(found.rows)
                assert not found.more
    assert search.ids(search.find("id-1", None, None).rows)[0] == "id-1"  # whole before beginning
    assert search.find(" \x1f ", None, None).rows == []
    monkeypatch.setattr(searches, "MOST", 3)
    assert search.find("id-", None, None).more
    stream.close()


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("search"))
    with Running(store) as running:
        running.all = running.key()
        assert running.ask("POST", "/v1/streams", MADE, key=running.all).status == 201
        for k in range(40):
            item = {"age": 20.0 + k, "job": "chef", "customer": NAMES[k % 3], "account": float(100 + k // 4)}
            told = running.ask("POST", "/v1/streams/shop/decisions", {"id": f"o/{k}", "item": item}, key=running.all)
            assert told.status == 201
        yield running
    store.close()


def of(shop, path, key=None, method="GET", body=None):
    told = shop.ask(method, "/v1/streams/shop" + path, body, key=key or shop.all)
    assert told.status < 300, (told.status, told.body)
    return told.json() if told.body else None


def test_lists_of_labels_and_the_way_back(shop):
    """A label is found by what stands in the record, by whom it is, and corrected; who corrected it last has it."""
    ann, _ = shop.keys.create("Ann", ["read", "review", "label", "correct"])
    ben, _ = shop.keys.create("Ben", ["read", "review", "label", "correct"])
    waiting = [one["id"] for one in of(shop, "/queue")["items"]]
    first, second, third = waiting[:3]
    for id_, key in ((first, ann), (second, ben), (third, ann)):
        of(shop, f"/decisions/{id_.replace('/', '%2F')}/label", key, "PUT", {"value": 1})

    def ids(query, key=ann):
        return [one["id"] for one in of(shop, "/cases?" + query, key)["items"]]

    assert ids("of=labelled") == [third, second, first]  # the latest first
    assert ids("of=mine") == [third, first]
    assert ids("of=mine", ben) == [second]
    customer = of(shop, f"/cases/{second.replace('/', '%2F')}")["item"]["customer"]
    found = of(shop, f"/cases?text={quote(customer)}&of=labelled&columns=%5B%22customer%22%5D")["items"]
    assert {one["id"] for one in found} >= {second}
    told = next(one for one in found if one["id"] == second)
    assert (told["label"], told["labelled_by"], told["state"]) == (1, "Ben", "observed")
    assert told["cells"] == [{"column": "customer", "value": customer}]
    of(
        shop,
        f"/decisions/{second.replace('/', '%2F')}/label/corrections",
        ann,
        "POST",
        {"value": 0, "reason": "phoned"},
    )
    assert ids("of=mine") == [second, third, first]
    assert ids("of=mine", ben) == []
    of(shop, f"/decisions/{third.replace('/', '%2F')}/label", ann, "DELETE")
    assert ids("of=mine") == [second, first]
    assert of(shop, "/cases?text=100&column=account")["total"] == 4  # the orders of one account
    assert of(shop, "/cases?limit=5&offset=3")["total"] == 40
    assert shop.ask("GET", "/v1/streams/shop/cases?columns=x", key=ann).problem == "validation"


def test_skipped_items_are_found_again(shop):
    ann, _ = shop.keys.create("Ann", ["read", "review"])
    ben, _ = shop.keys.create("Ben", ["read", "review"])
    ids = [one["id"] for one in of(shop, "/queue")["items"]][:2]
    assert of(shop, "/queue:skip", ann, "POST", {"ids": [*ids, "stranger"]}) == {"skipped": 2}
    assert {one["id"] for one in of(shop, "/queue?skipped=true", ann)["items"]} == set(ids)
    assert of(shop, "/queue?skipped=true", ben)["items"] == []
    assert of(shop, "/queue:skip", ann, "POST", {"ids": ids[:1], "again": True}) == {"skipped": 1}
    of(shop, f"/decisions/{ids[1].replace('/', '%2F')}/label", shop.all, "PUT", {"value": 0})
    assert of(shop, "/queue?skipped=true", ann)["items"] == []


def test_named_queues_share_the_work(shop):
    """Each item is in the first queue that takes it, and in others where none does."""
    amounts = sorted(one["amount"] for one in of(shop, "/queue")["items"])
    layout = {
        "customers": ["customer", "account"],
        "queues": [{"name": "large", "amount_from": amounts[-1]}, {"name": "odd", "strata": ["nowhere"]}],
    }
    lead, _ = shop.keys.create("Lea", ["read", "lead"])
    assert (
        shop.ask("PUT", "/v1/streams/shop/layout", layout, key=shop.key("read", "admin")).problem
        == "insufficient-scope"
    )
    of(shop, "/layout", lead, "PUT", layout)
    assert of(shop, "/layout")["columns"] == ["age", "job", "customer", "account"]
    told = of(shop, "/queue")
    assert sum(told["queues"].values()) == told["waiting"]
    assert list(told["queues"]) == ["large", "odd", "others"]
    assert of(shop, "/queue?queue=large")["total"] == told["queues"]["large"] > 0
    claimed = of(shop, "/queue:claim", shop.all, "POST", {"queue": "odd", "count": 5})
    assert claimed["items"] == []
    assert shop.ask("GET", "/v1/streams/shop/queue?queue=nope", key=shop.all).problem == "validation"
    wrong = [
        {"queues": [{"name": "others"}]},
        {"queues": [{"name": "a"}, {"name": "a"}]},
        {"queues": [{"name": "a", "amount_from": 5, "amount_below": 5}]},
        {"customers": ["nowhere"]},
        {"link": "javascript:alert(1)"},
        {"link": "https://x.example/{nowhere}"},
    ]
    for body in wrong:
        assert shop.ask("PUT", "/v1/streams/shop/layout", body, key=shop.all).problem == "validation", body
    of(shop, "/layout", shop.all, "PUT", {"link": "https://shop.example/orders/{id}?who={customer}"})
    case = of(shop, "/cases/o%2F1")
    assert case["link"] == "https://shop.example/orders/o%2F1?who=ANNA%20Bergstr%C3%B6m"


def test_rows_say_the_columns_that_say_most(shop):
    shop.app.host.queue("shop").leading.clear()
    item = of(shop, "/queue?limit=1")["items"][0]
    case = of(shop, f"/cases/{item['id'].replace('/', '%2F')}")
    leading = [one["column"] for one in case["contributions"] if abs(one["contribution"]) >= 0.005][:2]
    assert [one["column"] for one in item["cells"]] == leading or not leading
    assert all(case["item"][one["column"]] == one["value"] for one in item["cells"])


def test_escalated_to_somebody(shop):
    id_ = of(shop, "/queue")["items"][-1]["id"].replace("/", "%2F")
    of(shop, f"/decisions/{id_}/escalation", shop.all, "POST", {"text": "odd", "to": "Lea"})
    case = of(shop, f"/cases/{id_}")
    assert (case["escalated"], case["escalated_to"]) == (True, "Lea")
    assert case["history"][-1]["text"] == "escalated to Lea: odd"
    assert [one["escalated_to"] for one in of(shop, "/queue?escalated=true")["items"]] == ["Lea"]


def test_views_are_kept_for_each_person(shop):
    ann, _ = shop.keys.create("Ann", ["read"])
    ben, _ = shop.keys.create("Ben", ["read"])
    view = {"order": "amount", "stratum": "card", "columns": ["job"]}
    assert of(shop, "/views/large%20cards", ann, "PUT", view)["views"] == {"large cards": view}
    assert of(shop, "/views", ann)["views"] == {"large cards": view}
    assert of(shop, "/views", ben)["views"] == {}
    assert shop.ask("PUT", "/v1/streams/shop/views/x", {"order": "colour"}, key=ann).problem == "validation"
    assert of(shop, "/views/large%20cards", ann, "DELETE")["views"] == {}


@pytest.mark.parametrize(
    "template",
    [
        "javascript:alert({id})",
        "data:text/html,{id}",
        "//x.example/{id}",
        "https://{id}.example/",
        "https://{id}/",
        "/a/{id}",
        "https://x@y.example/{id}",
        "https://x.example/{}",
        "https://x.example/{id!r}",
        "https://x.example/{id",
        "https://",
        "https://x.example/ {id}",
        "https://x.example\\@y/{id}",
        "https://x.example/{id:>9}",
    ],
)
def test_a_link_that_could_lead_elsewhere_is_refused(template):
    with pytest.raises(ValueError, match=r"."):
        fields_of(template)


@pytest.mark.parametrize(
    "value", ["../..", "a?b=c#d", "javascript:alert(1)", '"><script>', "a b", "é", "%2F", "//evil.example"]
)
def test_a_value_stays_one_part_of_a_link(value):
    from urllib.parse import unquote, urlsplit

    found = urlsplit(link_for("https://x.example/o/{id}/end", {"id": value}))
    assert (found.scheme, found.netloc, found.query, found.fragment) == ("https", "x.example", "", "")
    assert [unquote(part) for part in found.path.split("/")] == ["", "o", value, "end"]


def test_a_value_that_is_not_there_makes_no_link():
    assert link_for("https://x.example/{id}/{mail}", {"id": "1", "mail": None}) is None
    assert link_for("https://x.example/{id}/x", {"id": ".."}) is None


def test_a_look_of_a_person_reads_ahead(shop):
    """A program that looks at the queue searches nothing: its looks cost no reading."""
    shop.app.host._searches.pop("shop", None)
    of(shop, "/queue")
    assert "shop" not in shop.app.host._searches
    headers = shop.sign_in(shop.all)
    assert shop.ask("GET", "/v1/streams/shop/queue", headers=headers).status == 200
    search, deadline = shop.app.host._searches["shop"], time.monotonic() + 30
    while len(search) < 40:
        assert time.monotonic() < deadline
        time.sleep(0.01)
