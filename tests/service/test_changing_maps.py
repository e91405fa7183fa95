"""A service over a stream whose map changes: what is alike, what is usual, alarms, and what was erased."""

import random

import appletaste as at
from appletaste.records.stores import open_store

from .serving import COSTS, Running

S = "/v1/streams/shop"


def shop(path, seed=1):
    """Make a stream whose column of shops stays open."""
    chance, n = random.Random(seed), 400
    past = {"amount": [chance.gauss(50, 20) for _ in range(n)], "shop": [f"s{chance.randrange(200)}" for _ in range(n)]}
    past["bad"] = [int(chance.random() < 0.2 + 0.3 * (amount > 60)) for amount in past["amount"]]
    made = at.streams.from_history(past, "bad", costs={"miss": 50, "false_alarm": 1, "hit": 0}, teach=True)
    assert [column.kind for column in made.features.columns] == ["number", "open"]
    store = open_store(path / "shop.db")
    made.create(store, "shop", seed=3).close()
    return store


def decide(service, key, id_, amount, name):
    told = service.ask("POST", S + "/decisions", {"id": id_, "item": {"amount": amount, "shop": name}}, key=key)
    assert told.status == 201, told.body
    return told.json()


def test_another_level_is_one_difference_whatever_its_slot(tmp_path):
    """Likeness must not hang on the order in which shops first came."""
    with Running(shop(tmp_path)) as service:
        key = service.key()
        decide(service, key, "far", 50.0, "s199")
        for k in range(60):
            decide(service, key, f"n{k}", 130.0 + k, f"new {k}")
        decide(service, key, "same", 50.0, "new 59")
        for id_ in ("same", *(f"n{k}" for k in range(60))):
            service.ask("PUT", f"{S}/decisions/{id_}/label", {"value": 1}, key=key)
        similar = service.ask("GET", S + "/cases/far", key=key).json()["similar"]
        assert similar[0]["id"] == "same"
        assert similar[0]["likeness"] > 2 * similar[1]["likeness"] or similar[1]["likeness"] < 0.5
    service.store.close()


def test_what_was_erased_is_not_usual_any_more(tmp_path):
    with Running(shop(tmp_path)) as service:
        key = service.key()
        for k in range(14):
            decide(service, key, f"i{k}", 50.0 + k, "Jane Doe, Elm St 3" if k == 0 else f"x{k}")
        assert b"Jane Doe" in service.ask("GET", S + "/cases/i5", key=key).body  # the control
        assert service.ask("DELETE", S + "/decisions/i0/item", key=key).status == 200
        for path in ("/cases/i5", "/model", "/model/curves", "/log?features=true", "/queue"):
            assert b"Jane Doe" not in service.ask("GET", S + path, key=key).body, path
        service.ask("POST", S + "/queue:claim", {"count": 14, "order": "worth"}, key=key)
    service.store.close()


def test_what_is_flagged_or_held_ends_with_its_label_also_over_a_restart(tmp_path):
    store = shop(tmp_path)
    with Running(store) as service:
        key = service.key()
        for k in range(4):
            assert decide(service, key, f"i{k}", 90.0, f"s{k}")["act"]
        service.ask("GET", S + "/queue", key=key)
        service.ask("PUT", S + "/decisions/i1/label", {"value": 1}, key=key)
        service.ask("DELETE", S + "/decisions/i1/label?by=ann", key=key)
        assert service.ask("POST", S + "/decisions/i1/escalation", {}, key=key).status == 201
        shown = {one["id"]: one for one in service.ask("GET", S + "/queue", key=key).json()["items"]}
        assert shown["i1"]["escalated"]
        service.ask("POST", S + "/decisions/i2/escalation", {}, key=key)
        service.ask("POST", S + "/queue:claim", {"ids": ["i3"], "by": "ann", "minutes": 1000}, key=key)
    with Running(store) as service:
        for id_ in ("i2", "i3"):
            service.ask("PUT", f"{S}/decisions/{id_}/label", {"value": 1}, key=key)
        service.ask("GET", S + "/queue", key=key)
        for id_ in ("i2", "i3"):
            case = service.ask("GET", f"{S}/cases/{id_}", key=key).json()
            assert (case["escalated"], case["by"]) == (False, None)
    store.close()


def test_an_alarm_keeps_its_name_when_a_level_takes_a_place(tmp_path):
    chance = random.Random(2)
    people = [{"amount": chance.gauss(50, 20), "kind": chance.choice("abcd")} for _ in range(200)]
    features = at.Encoder(spare=3).fit(people)
    store = open_store(tmp_path / "shop.db")
    policy = at.policy("greedy", n_features=features.n_features, costs=COSTS)
    at.Stream.create(store, "shop", policy, features=features, seed=3).close()
    with Running(store) as service:
        key = service.key()
        service.ask("GET", S + "/alarms", key=key)  # watched from the first item on
        for start in range(0, 4000, 500):
            kinds = "abcd" if start < 2000 else "abcdzz"
            rows = [
                {"id": f"i{k}", "item": {"amount": chance.gauss(50, 20), "kind": chance.choice(kinds)}}
                for k in range(start, start + 500)
            ]
            assert service.ask("POST", S + "/decisions:batch", {"decisions": rows}, key=key).status == 200
        before = service.ask("GET", S + "/alarms", key=key).json()["alarms"]
        assert before
        assert not any("(free" in (alarm["column"] or "") + alarm["what"] for alarm in before)
    with Running(store) as service:
        assert [alarm["id"] for alarm in service.ask("GET", S + "/alarms", key=key).json()["alarms"]] == [
            alarm["id"] for alarm in before
        ]
    store.close()


def test_a_stream_over_http_has_the_verbs_of_one_in_a_file(tmp_path):
    with Running(shop(tmp_path)) as service:
        stream = at.connect(service.url, key=service.key()).stream("shop")
        assert stream.decide({"amount": 90.0, "shop": "s1"}, id="a").act
        stream.label("a", 1, by="ann")
        stream.retract("a", by="ben")
        events = [event for _, event in stream.events() if type(event).__name__ in ("Labelled", "Retracted")]
        assert [event.by for event in events] == ["ann", "ben"]
        stream.note("a", "looked at")
        assert "somebody" not in str(stream.find("a")["notes"])
    service.store.close()
