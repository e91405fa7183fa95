"""A case says what the stream believes, what is usual, what is alike, and what happened: each against its source."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.records.stores import MemoryStore
from appletaste.service.review import past as pasts
from appletaste.service.review.cases import history
from appletaste.service.review.past import Past
from appletaste.streams import Stream

from .serving import COSTS, PEOPLE, Running, new_store

PEOPLE_AT = "/v1/streams/people"
JOBS = ("student", "retired", "pilot", "clerk")


def person(k):
    return {"age": 20.0 + (k * 7) % 50, "job": JOBS[k % 4]}


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    store = new_store(tmp_path_factory.mktemp("cases"))
    with Running(store) as running:
        key = running.key()
        running.get = lambda path: running.ask("GET", PEOPLE_AT + path, key=key)
        running.send = lambda method, path, body=None: running.ask(method, PEOPLE_AT + path, body, key=key)
        items = [{"id": f"p{k}", "item": person(k), "time": "2024-05-01"} for k in range(60)]
        running.send("POST", "/decisions:batch", {"decisions": items})
        labels = [{"id": f"p{k}", "value": int(k % 4 == 1)} for k in range(40)]
        running.send("POST", "/labels:batch", {"labels": labels})
        yield running
    store.close()


def test_a_case_says_what_the_stream_believes(desk):
    case, why = desk.get("/cases/p41").json(), desk.get("/decisions/p41/explanation").json()
    assert desk.get("/decisions/p41").json().items() <= case.items()
    assert case["chance_now"] == why["chance"]
    half = 1.6448536269514722 * why["score_sd"]
    ends = [1 / (1 + math.exp(-(why["score"] + sign * half))) for sign in (-1, 1)]
    assert case["interval"] == pytest.approx(ends, abs=1e-15)
    assert case["interval"][0] < case["chance_now"] < case["interval"][1]
    parts = {part["column"]: part for part in case["contributions"]}
    assert {name: (part["words"], part["value"]) for name, part in parts.items()} == {
        "age": ("age = 57", 57.0),
        "job": ("job = retired", "retired"),
    }
    for column, value, sd in ((one["column"], one["value"], one["sd"]) for one in why["contributions"]):
        assert parts[column]["contribution"] == value
        assert (parts[column]["low"], parts[column]["high"]) == pytest.approx(
            (value - 1.6448536269514722 * sd, value + 1.6448536269514722 * sd), abs=1e-12
        )
    sizes = [abs(part["contribution"]) for part in case["contributions"]]
    assert sizes == sorted(sizes, reverse=True)
    assert case["costs"] == {"miss": 5, "false_alarm": 1, "hit": 0, "correct_pass": 0}
    assert (case["amount"], case["item"]) == (5, person(41))


def test_what_is_usual(desk):
    usual = desk.get("/cases/p41").json()["usual"]
    ages = [person(k)["age"] for k in range(60)]
    low, median, high = np.quantile(ages, [0.05, 0.5, 0.95])
    assert usual["age"] == {"kind": "number", "low": low, "median": median, "high": high}
    assert usual["job"]["kind"] == "category"
    assert usual["job"]["share"] == 0.25
    assert dict(usual["job"]["top"]) == dict.fromkeys(JOBS, 0.25)


def test_what_is_alike(desk):
    features = at.Encoder().fit(PEOPLE)
    x = {k: features.transform(person(k)) for k in range(60)}
    distance = {k: math.sqrt(np.mean((x[k] - x[41]) ** 2)) for k in range(40)}
    wanted = sorted((1 / (1 + far) for far in distance.values()), reverse=True)[:8]
    found = desk.get("/cases/p41").json()["similar"]
    assert [one["likeness"] for one in found] == pytest.approx(wanted, abs=1e-12)
    for one in found:
        k = int(one["id"][1:])
        assert one["likeness"] == pytest.approx(1 / (1 + distance[k]), abs=1e-12)
        assert (one["label"], one["act"]) == (int(k % 4 == 1), True)
    assert "p12" not in [one["id"] for one in desk.get("/cases/p12").json()["similar"]]


def test_what_happened(desk):
    path = "/decisions/p50"
    desk.send("POST", path + "/notes", {"text": "called the bank", "by": "ann"})
    desk.send("PUT", path + "/label", {"value": 1, "source": "bank"})
    desk.send("POST", path + "/label/corrections", {"value": 0, "reason": "the bank was wrong", "by": "ann"})
    again = desk.send("POST", path + "/label/corrections", {"value": 0, "reason": "sent again", "by": "ann"})
    assert again.json()["status"] == "already_applied"
    told = desk.get("/cases/p50").json()["history"]
    assert [(one["kind"], one["by"], one["text"]) for one in told] == [
        ("decided", "", "acted, probability 1"),
        ("noted", "ann", "called the bank"),
        ("labelled", "bank", "label 1"),
        ("corrected", "ann", "label corrected to 0"),
        ("noted", "ann", "corrected to 0: the bank was wrong"),
    ]
    assert [one["seq"] for one in told] == sorted(one["seq"] for one in told)
    assert [note["text"] for note in desk.get(path).json()["notes"]] == [
        "called the bank",
        "corrected to 0: the bank was wrong",
    ]
    wrong = desk.send("POST", path + "/label/corrections", {"value": 1, "reason": "a\0b"})
    assert (wrong.status, wrong.json()["errors"][0]["pointer"]) == (422, "/reason")
    assert desk.get(path).json()["label"] == 0


def test_a_label_of_an_older_record_has_no_name_and_its_note_is_a_note():
    stream = stream_of(1, ())
    stream.label("i0", 1)
    stream.note("i0", "label 1 from ann", by="ann")
    place = stream.record.place
    told = history([place.decisions(["i0"])["i0"], *place.later("i0")])
    assert [(one.kind, one.by, one.text) for one in told][1:] == [
        ("labelled", "", "label 1"),
        ("noted", "ann", "label 1 from ann"),
    ]


def test_labels_that_change_and_features_that_are_erased(desk):
    def alike():
        return {one["id"]: one["label"] for one in desk.get("/cases/p53").json()["similar"]}

    desk.send("POST", "/decisions", {"id": "twin", "item": person(53), "time": "2024-05-01"})
    assert "twin" not in alike()
    desk.send("PUT", "/decisions/twin/label", {"value": 1})
    assert alike()["twin"] == 1
    desk.send("POST", "/decisions/twin/label/corrections", {"value": 0})
    assert alike()["twin"] == 0
    assert desk.send("DELETE", "/decisions/twin/label").json()["status"] == "applied"
    assert "twin" not in alike()
    desk.send("PUT", "/decisions/twin/label", {"value": 1})
    assert "twin" in alike()
    desk.send("DELETE", "/decisions/twin/item")
    assert "twin" not in alike()
    case = desk.get("/cases/twin").json()
    assert (case["erased"], case["item"], case["interval"], case["chance_now"]) == (True, None, None, None)
    assert case["contributions"] == case["similar"] == []
    assert case["usual"] == {}
    assert case["history"][-1]["text"] == "the features were erased"


def test_a_case_that_there_is_not(desk):
    assert desk.get("/cases/nobody").problem == "unknown-decision"


def test_a_policy_without_a_model(tmp_path):
    store = new_store(tmp_path)
    Stream.create(store, "all", at.policy("always", n_features=2, costs=COSTS), seed=1).close()
    with Running(store) as running:
        key = running.key()
        ask = lambda method, path, body=None: running.ask(method, "/v1/streams/all" + path, body, key=key)  # noqa: E731
        ask("POST", "/decisions", {"id": "a", "item": [1, 2]})
        case = ask("GET", "/cases/a").json()
        assert (case["chance"], case["interval"], case["contributions"]) == (None, None, [])
        assert case["item"] == {"feature 1": 1.0, "feature 2": 2.0}
        (item,) = ask("GET", "/queue").json()["items"]
        assert (item["code"], item["chance"], item["why"]) == (None, None, "")
    store.close()


# ---- the memory of past cases


def stream_of(n, labelled):
    stream = Stream.create(MemoryStore(), "s", at.policy("always", n_features=2, costs=COSTS), seed=1)
    rng = np.random.default_rng(3)
    for k, x in enumerate(rng.normal(size=(n, 2)) * [1, 100]):
        stream.decide(x, id=f"i{k}")
        if k in labelled:
            stream.label(f"i{k}", k % 2)
    return stream


def known(past):
    return {id_: case.label for id_, case in past._labelled.items()}


def test_the_past_is_bounded_and_the_same_whenever_it_is_read(monkeypatch):
    """Read at once, or after every few events: the last labels, from parts of the record that grow."""
    monkeypatch.setattr(pasts, "MOST", 20)
    monkeypatch.setattr(pasts, "FIRST", 8)
    stream = stream_of(120, range(0, 120, 2))
    place, last = stream.record.place, len(stream)
    at_once = Past(None)
    at_once.refresh(place, last)
    wanted = {f"i{k}": k % 2 for k in range(80, 120, 2)}
    assert known(at_once) == wanted
    in_steps = Past(None)
    for seq in range(1, last + 1, 7):
        in_steps.refresh(place, seq)
    in_steps.refresh(place, last)
    assert known(in_steps) == wanted
    x = np.array([0.3, 40.0])
    assert at_once.similar("", x) == in_steps.similar("", x)
    assert at_once._recent == in_steps._recent
    assert len(at_once._recent) == 20


def test_vectors_are_compared_by_their_spread():
    stream = stream_of(50, range(50))
    past = Past(None)
    past.refresh(stream.record.place, len(stream))
    table = np.stack([stream.find(f"i{k}").answer.decision.x for k in range(50)])
    x = table[7]
    far = np.sqrt(np.mean(((table - x) / table.std(axis=0)) ** 2, axis=1))
    wanted = [f"i{k}" for k in np.argsort(far)[1:9]]
    found = past.similar("i7", x)
    assert [one.id for one in found] == wanted
    assert [one.likeness for one in found] == pytest.approx((1 / (1 + np.sort(far)[1:9])).tolist(), abs=1e-12)


def test_rows_before_the_farthest_count_no_more(monkeypatch):
    monkeypatch.setattr(pasts, "FARTHEST", 30)
    stream = stream_of(60, range(5))
    past = Past(None)
    past.refresh(stream.record.place, len(stream))
    assert known(past) == {}
    assert past.similar("", np.zeros(2)) == []
