"""The queue is what waits, in every order and through every filter; an item is claimed by one reviewer at a time."""

import random
import threading
import time
from contextlib import suppress
from itertools import product

import numpy as np
import pytest

import appletaste as at
from appletaste.records.events import NEVER_DUE, OBSERVED
from appletaste.records.states import Entries
from appletaste.records.stores import MemoryStore
from appletaste.service.review import queue as queues
from appletaste.service.review.claims import Claims, Lease
from appletaste.service.review.layout import Layout, NamedQueue
from appletaste.service.review.queue import Filter, Queue, since_when
from appletaste.streams import Stream
from appletaste.times import instant

from .serving import COSTS, Running, new_store

ORDERED = ("worth", "age", "amount", "chance")
FILTERS = [
    Filter(),
    Filter(code="EXPLOIT"),
    Filter(stratum="a"),
    Filter(stratum="b", escalated=True),
    Filter(escalated=False),
    Filter(since=instant("2024-02-01"), until=instant("2024-03-15")),
    Filter(code="ENACTED", since=instant("2024-01-15")),
]


def expected(stream, escalated, order, asked):
    """Return what the queue should be, worked out from nothing."""
    items = []
    for place, id_ in enumerate(stream.pending):
        case = stream.find(id_)
        decision, entry = case.answer.decision, case.entry
        code = case.answer.as_dict()["code"] if decision.act else "ENACTED"
        number = {"worth": decision.worth, "amount": decision.costs.catch_gain, "chance": decision.chance, "age": 0.0}
        moment = instant(entry.time)
        if (
            (asked.code in (None, code))
            and asked.stratum in (None, entry.stratum)
            and asked.escalated in (None, id_ in escalated)
            and (asked.since is None or moment >= asked.since)
            and (asked.until is None or moment < asked.until)
        ):
            items.append((-number[order], place, id_))
    return [id_ for _, _, id_ in sorted(items)]


def queue_of(store):
    return Queue(Claims(store, "orders"), Layout())


def refresh(stream, queue):
    """Let a queue know what has changed, as the service does."""
    ids = queue.touched(stream.record.place, len(stream))
    queue.take(ids, since_when(stream, ids), stream.record.place, stream.features)
    queue.seq = len(stream)


def seen(queue, order, asked):
    return [queue.at(row).id for row in queue.view(order, asked).tolist()]


def check_queue(stream, queue):
    refresh(stream, queue)
    for order, asked in product(ORDERED, FILTERS):
        wanted = expected(stream, queue.claims.escalations.ids, order, asked)
        assert seen(queue, order, asked) == wanted, (order, asked)
    assert len(queue) == len(stream.pending)
    assert {id_: queue[id_].since for id_ in stream.pending} == {id_: seq for id_, (seq, _) in stream.awaited.items()}
    codes, strata = queue.counts()
    assert sum(codes.values()) == len(queue)
    assert strata == sorted({queue[id_].stratum for id_ in stream.pending} - {None})


def play(stream, queue, rng, steps):
    """Do something to the stream at random."""
    for _ in range(steps):
        verb = rng.choice(["decide", "decide", "label", "label", "retract", "enact", "expire", "escalate", "lease"])
        waiting = stream.pending
        if verb == "decide":
            item = [rng.gauss(1, 1), rng.gauss(0, 1), 1.0]
            costs = {"miss": rng.choice([5, 9, 20]), "false_alarm": 1, "hit": 0}
            day = f"2024-0{rng.randint(1, 4)}-{rng.randint(10, 28)}"
            stream.decide(item, time=day, stratum=rng.choice(["a", "b", None]), costs=costs)
        elif verb == "label" and waiting:
            id_ = rng.choice(waiting)
            stream.label(id_, rng.randint(0, 1))
        elif verb == "retract":
            done = [id_ for id_, entry in stream_entries(stream).items() if entry == OBSERVED]
            if done:
                stream.retract(rng.choice(done))
        elif verb == "enact":
            states = stream_entries(stream)
            passed = [id_ for id_, state in states.items() if state == NEVER_DUE]
            if passed:
                stream.enacted(rng.choice(passed), True, "ann")
        elif verb == "expire" and waiting and rng.random() < 0.2:
            stream.expire("2024-01-20")
        elif verb == "escalate" and waiting:
            id_ = rng.choice(waiting)
            if id_ in queue:
                queue.claims.escalate(id_)
        elif verb == "lease" and waiting:
            queue.claims.leases.take([rng.choice(waiting)], Lease("ann", 9e9))


def stream_entries(stream):
    return {id_: entry.state for id_, entry in Entries(event for _, event in stream.events()).items()}


@pytest.mark.parametrize("many", [0, 3, 500])
def test_the_queue_follows_the_stream(many, monkeypatch):
    """Few changes are asked about by name, many by asking for all that waits: the same queue."""
    monkeypatch.setattr(queues, "MANY", many)
    monkeypatch.setattr(queues, "ROOM", 4)
    monkeypatch.setattr(queues, "PART", 4)
    rng = random.Random(7)
    store = MemoryStore()
    policy = at.policy("voi", n_features=3, costs=COSTS)
    for k in range(40):  # so that some items are passed
        policy.teach([rng.gauss(0, 1), 0.0, 1.0], int(k == 7))
    stream = Stream.create(store, "orders", at.streams.Awaiting(policy), seed=3, expire_after=86400.0)
    queue = queue_of(store)
    for steps in (0, 60, 1, 1, 1, 5, 2, 1, 12, 1, 1, 3):
        play(stream, queue, rng, steps)
        check_queue(stream, queue)
    kinds = {type(event).__name__ for _, event in stream.events()}
    assert {"Decided", "Labelled", "Retracted", "Enacted"} <= kinds
    check_queue(stream, queue_of(store))  # of a process that begins with all of it


def four_waiting():
    """Return a stream of four items that wait, and a queue that knows them."""
    store = MemoryStore()
    stream = Stream.create(store, "orders", at.policy("voi", n_features=3, costs=COSTS), seed=3)
    queue = queue_of(store)
    for k in range(4):
        stream.decide([1.0, 1.0, k], id=f"i{k}", time="2024-05-01")
    check_queue(stream, queue)
    return stream, queue


def test_a_queue_that_forgets_a_change_is_seen(monkeypatch):
    """Negative control."""
    stream, queue = four_waiting()
    monkeypatch.setattr(Queue, "touched", lambda queue, place, last: [])
    stream.label(stream.pending[0], 1)
    with pytest.raises(AssertionError):
        check_queue(stream, queue)


def test_a_label_that_was_withdrawn_between_two_looks():
    stream, queue = four_waiting()
    first = stream.pending[0]
    queue.claims.escalate(first)
    queue.claims.leases.take([first], Lease("ann", 9e9))
    check_queue(stream, queue)
    stream.label(first, 1)
    stream.retract(first)
    check_queue(stream, queue)
    assert seen(queue, "age", Filter())[-1] == first
    assert seen(queue, "age", Filter(escalated=True)) == []
    assert queue.claims.leases.held(0.0).keys() == {first}


def test_finding_out_what_has_changed_does_not_look_at_the_rest():
    stream = Stream.create(MemoryStore(), "orders", at.policy("always", n_features=1, costs=COSTS), seed=3)
    queue = queue_of(MemoryStore())
    stream.decide_many(np.ones((300, 1)).tolist())
    assert queue.touched(stream.record.place, len(stream)) is None  # at first all is asked for
    refresh(stream, queue)
    stream.decide_many(np.ones((2, 1)).tolist())
    stream.label(stream.pending[0], 1)
    stream.note("", "nothing of a decision")
    ids = queue.touched(stream.record.place, len(stream))
    assert len(ids) == 3
    assert list(since_when(stream, ids)) == stream.pending[-2:]


def test_an_order_is_kept_until_something_changes():
    stream, queue = four_waiting()
    before = queue.order("worth")
    stream.note(stream.pending[0], "called the bank")
    refresh(stream, queue)
    assert queue.order("worth") is before
    stream.label(stream.pending[0], 1)
    refresh(stream, queue)
    assert len(queue.order("worth")) == 3


# ---- over HTTP

ORDERS_AT = "/v1/streams/orders"


@pytest.fixture
def desk(tmp_path):
    store = new_store(tmp_path)
    with Running(store) as running:
        key = running.key()
        items = [
            {"id": f"w{k}", "item": [2.0, 1.0, k / 10], "stratum": "ab"[k % 2], "time": f"2024-05-{10 + k}"}
            for k in range(8)
        ]
        running.ask("POST", ORDERS_AT + "/decisions:batch", {"decisions": items}, key=key)
        running.secret = key
        running.get = lambda path: running.ask("GET", ORDERS_AT + path, key=key)
        running.post = lambda path, body: running.ask("POST", ORDERS_AT + path, body, key=key)
        yield running
    store.close()


def ids(told):
    return [item["id"] for item in told.json()["items"]]


def test_windows_of_the_queue(desk):
    whole = desk.get("/queue?order=age").json()
    assert (whole["total"], whole["waiting"], whole["strata"]) == (8, 8, ["a", "b"])
    assert ids(desk.get("/queue?order=age")) == [f"w{k}" for k in range(8)]
    assert ids(desk.get("/queue?order=age&offset=3&limit=2")) == ["w3", "w4"]
    assert ids(desk.get("/queue?order=age&offset=99")) == []
    for order in ("worth", "chance"):
        values = [item[order] for item in desk.get(f"/queue?order={order}").json()["items"]]
        assert values == sorted(values, reverse=True)
    part = desk.get("/queue?order=age&stratum=b&since=2024-05-12&until=2024-05-15T00:00:00").json()
    assert ([item["id"] for item in part["items"]], part["total"], part["waiting"]) == (["w3"], 1, 8)
    assert desk.get("/queue?stratum=nowhere").json()["total"] == 0
    codes = whole["codes"]
    assert sum(code["count"] for code in codes.values()) == 8
    assert all(code["why"] == queues.CODES[name] for name, code in codes.items())
    for wrong in ("order=colour", "limit=0", "limit=1001", "offset=-1", "since=soon", "until=nan", "escalated=maybe"):
        assert desk.get(f"/queue?{wrong}").problem == "validation"


def test_particular_items_are_claimed_with_their_whole_cases(desk):
    first = desk.post("/queue:claim", {"by": "ann", "ids": ["w5", "w2", "w5", "gone"]}).json()
    assert [item["id"] for item in first["items"]] == ["w5", "w2"]
    case = first["items"][0]["case"]
    assert {"by", "until", "history", "contributions", "similar", "usual", "interval"} <= case.keys()
    assert (case["id"], case["by"], case["item"]) == (
        "w5",
        "ann",
        {"feature 1": 2.0, "feature 2": 1.0, "feature 3": 0.5},
    )
    held = {item["id"]: item["by"] for item in desk.get("/queue").json()["items"] if item["by"]}
    assert held == {"w5": "ann", "w2": "ann"}
    before = desk.digest()
    assert desk.post("/queue:claim", {"by": "bob", "ids": ["w1", "w2"]}).problem == "claimed-by-other"
    assert desk.digest() == before
    assert len(desk.post("/queue:claim", {"by": "ann", "ids": ["w2"]}).json()["items"]) == 1
    rest = desk.post("/queue:claim", {"by": "bob", "count": 100, "order": "chance"}).json()["items"]
    assert {item["id"] for item in rest} == {f"w{k}" for k in range(8)} - {"w2", "w5"}


def test_leases_end_with_time_with_the_label_and_outlive_the_process(desk):
    desk.post("/queue:claim", {"by": "bob", "ids": ["w3", "w4"]})
    desk.post("/queue:claim", {"by": "ann", "ids": ["w0", "w1", "w2"], "minutes": 0.0005})  # over by the next claim
    desk.ask("PUT", ORDERS_AT + "/decisions/w4/label", {"value": 1}, key=desk.secret)
    time.sleep(0.05)
    assert [item["by"] for item in desk.get("/queue?order=age").json()["items"]] == [None] * 3 + ["bob"] + [None] * 3
    assert Claims(desk.store, "orders").leases.held(0.0).keys() == {"w0", "w1", "w2", "w3"}
    assert len(desk.post("/queue:claim", {"by": "bob", "ids": ["w0"]}).json()["items"]) == 1
    assert Claims(desk.store, "orders").leases.held(0.0).keys() == {"w0", "w3"}


def test_a_lease_ends_with_its_key(desk):
    secrets = {}
    for name in ("ann", "bob"):
        made = desk.ask("POST", "/v1/keys", {"name": name, "scopes": ["review", "read"]}, key=desk.secret).json()
        secrets[name] = made["secret"], made["key"]["id"]

    def claim(name, *wanted):
        return desk.ask("POST", ORDERS_AT + "/queue:claim", {"ids": list(wanted)}, key=secrets[name][0])

    assert ids(claim("ann", "w1", "w2")) == ["w1", "w2"]
    assert ids(claim("bob", "w3")) == ["w3"]
    assert claim("bob", "w2").problem == "claimed-by-other"
    assert desk.ask("DELETE", f"/v1/keys/{secrets['ann'][1]}", key=desk.secret).status == 200
    held = {item["id"]: item["by"] for item in desk.get("/queue").json()["items"] if item["by"]}
    assert held == {"w3": "bob"}
    assert desk.get("/cases/w1").json()["by"] is None
    assert ids(claim("bob", "w2")) == ["w2"]
    assert Claims(desk.store, "orders").leases.held(0.0).keys() == {"w2", "w3"}  # the store has forgotten the others


def test_an_admin_frees_what_somebody_holds(desk):
    made = desk.ask("POST", "/v1/keys", {"name": "eve", "scopes": ["review"]}, key=desk.secret).json()
    desk.post("/queue:claim", {"by": "ann", "ids": ["w1", "w2"]})
    refused = desk.ask("POST", ORDERS_AT + "/queue:release", {"ids": ["w1"], "force": True}, key=made["secret"])
    assert (refused.problem, refused.json()["scope"]) == ("insufficient-scope", "lead")
    assert desk.post("/queue:release", {"ids": ["w1"]}).problem == "claimed-by-other"
    assert desk.post("/queue:release", {"ids": ["w1"], "force": True}).json() == {"released": ["w1"]}
    assert {item["id"] for item in desk.get("/queue").json()["items"] if item["by"]} == {"w2"}


def test_escalation(desk):
    desk.post("/queue:claim", {"by": "ann", "ids": ["w3"]})
    told = desk.post("/decisions/w3/escalation", {"text": "odd", "by": "ann"})
    assert told.status == 201
    item = desk.get("/queue?escalated=true").json()["items"]
    assert [(one["id"], one["escalated"], one["by"]) for one in item] == [("w3", True, None)]
    assert desk.get("/queue?escalated=false").json()["total"] == 7
    case = desk.get("/cases/w3").json()
    assert (case["escalated"], case["notes"]) == (True, [{"by": "ann", "text": "escalated: odd"}])
    given = desk.post("/queue:claim", {"by": "ann", "count": 100}).json()["items"]
    assert "w3" not in {one["id"] for one in given}
    assert ids(desk.post("/queue:claim", {"by": "eve", "escalated": True})) == ["w3"]
    assert Claims(desk.store, "orders").escalations.ids == {"w3": ""}
    desk.ask("PUT", ORDERS_AT + "/decisions/w3/label", {"value": 1}, key=desk.secret)
    assert desk.get("/queue?escalated=true").json()["total"] == 0
    assert Claims(desk.store, "orders").escalations.ids == {}
    assert desk.post("/decisions/w3/escalation", {}).problem == "cannot-happen"
    assert desk.post("/decisions/nobody/escalation", {}).problem == "unknown-decision"


def test_work_by_worth_goes_by_what_is_believed_now(desk):
    """Labels have made some items worth more than others since they were decided."""
    for k in range(40):
        desk.post("/decisions", {"id": f"n{k}", "item": [-2.0, 0.0, 3.0], "time": "2024-06-01"})
        desk.ask("PUT", f"{ORDERS_AT}/decisions/n{k}/label", {"value": k % 7 == 0}, key=desk.secret)
    given = desk.post("/queue:claim", {"by": "ann", "count": 5}).json()["items"]
    worth = [item["worth"] for item in given]
    assert worth == sorted(worth, reverse=True)
    first = {item["id"]: item["worth"] for item in desk.get("/queue?limit=1000").json()["items"]}
    assert any(abs(first[item["id"]] - item["worth"]) > 1e-6 for item in given)


def test_all_threads_have_one_book_of_leases():
    both = threading.Barrier(2)

    class Slow(MemoryStore):
        def values(self, space):
            if space.startswith("held"):
                with suppress(threading.BrokenBarrierError):
                    both.wait(0.2)  # until the other one reads, too
            return super().values(space)

    claims, found = Claims(Slow(), "orders"), []
    threads = [threading.Thread(target=lambda: found.append(claims.leases)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]


def test_work_is_routed_to_named_queues():
    """Each item is in the first queue that takes it, worked out from nothing; together they are the whole queue."""
    rng, store = random.Random(11), MemoryStore()
    policy = at.streams.Awaiting(at.policy("voi", n_features=3, costs=COSTS))
    stream = Stream.create(store, "orders", policy, seed=3, expire_after=86400.0)
    named = (
        NamedQueue("large a", strata=["a"], amount_from=9.0),
        NamedQueue("to learn", codes=["EXPLORE", "ENACTED"]),
        NamedQueue("small", strata=["a", "b"], amount_below=9.0),
    )
    queue = Queue(Claims(store, "orders"), Layout(queues=list(named)))
    play(stream, queue, rng, 120)
    refresh(stream, queue)

    def takes(one, item):
        return (
            (not one.codes or item.code in one.codes)
            and (not one.strata or item.stratum in one.strata)
            and (one.amount_from is None or item.amount >= one.amount_from)
            and (one.amount_below is None or item.amount < one.amount_below)
        )

    wanted = {one.name: set() for one in named} | {"others": set()}
    for id_ in stream.pending:
        wanted[next((one.name for one in named if takes(one, queue[id_])), "others")].add(id_)
    assert {name: set(seen(queue, "worth", Filter(queue=queue.named(name)))) for name in wanted} == wanted
    assert queue.queues() == {name: len(ids_) for name, ids_ in wanted.items()}
    assert sum(1 for ids_ in wanted.values() if ids_) >= 3  # or nothing is routed
