"""Many clients at once, labels in any order, overload, a commit that fails, and a process that is killed under load."""

import asyncio
import http.client
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import appletaste as at
from appletaste.errors import OutcomeUnknownError
from appletaste.live import Answer, Stream, keeping
from appletaste.service import writer as writing

from .serving import Running, ask, new_store, secret_of

ORDERS = "/v1/streams/orders"
#: Kills of a real process; ``make test-faults`` asks for more.
KILLS = int(os.environ.get("APPLETASTE_KILLS", "2"))


def item(k):
    chance = random.Random(k)
    return [round(chance.gauss(0, 1), 6) for _ in range(3)]


def test_64_clients_with_the_same_ids(service, key):
    """One decision for each id, the same bytes for everybody, in whatever order they come."""

    def client(number):
        order = list(range(40))
        random.Random(number).shuffle(order)
        return {
            k: service.ask("POST", ORDERS + "/decisions", {"id": f"storm-{k}", "item": item(k)}, key=key) for k in order
        }

    with ThreadPoolExecutor(64) as pool:
        told = list(pool.map(client, range(64)))
    for k in range(40):
        answers = [one[k] for one in told]
        assert len({answer.body for answer in answers}) == 1
        assert sorted(answer.status for answer in answers) == [200] * 63 + [201]
    lines = service.ask("GET", ORDERS + "/log", key=key).body.splitlines()
    made = [json.loads(line).get("id") for line in lines]
    assert sum(id_ is not None and id_.startswith("storm-") for id_ in made) == 40


def test_the_storm_is_seen_without_ids_that_are_looked_up(service, key, monkeypatch):
    """Negative control: a stream that decides anew whatever it is asked."""
    usual = Stream.decide_each

    def forgetful(stream, rows):
        return usual(stream, [(x, f"{id_} {random.random()}", *rest) for x, id_, *rest in rows])

    monkeypatch.setattr(Stream, "decide_each", forgetful)
    first, again = (
        service.ask("POST", ORDERS + "/decisions", {"id": "anew", "item": item(1)}, key=key) for _ in range(2)
    )
    assert first.body != again.body


def test_labels_in_any_order_twice_and_before_the_decision(service, key):
    """However labels are delivered, each is applied once, and one for an id that is not there leaves nothing behind."""
    ids = [f"any-{k}" for k in range(20)]
    early = service.ask("PUT", f"{ORDERS}/decisions/{ids[0]}/label", {"value": 1}, key=key)
    assert early.problem == "unknown-decision"
    for k, id_ in enumerate(ids):
        service.ask("POST", ORDERS + "/decisions", {"id": id_, "item": [abs(x) for x in item(k)]}, key=key)
    deliveries = [(k, id_) for k, id_ in enumerate(ids)] * 3
    random.Random(4).shuffle(deliveries)

    def deliver(delivery):
        k, id_ = delivery
        return id_, service.ask("PUT", f"{ORDERS}/decisions/{id_}/label", {"value": k % 2}, key=key).json()["status"]

    with ThreadPoolExecutor(16) as pool:
        told = list(pool.map(deliver, deliveries))
    for id_ in ids:
        statuses = sorted(status for one, status in told if one == id_)
        assert statuses[:2] == ["already_applied"] * 2
        assert statuses[2] in ("applied", "recorded_not_learned")
    assert service.ask("POST", ORDERS + "/verify", key=key).json()["verifies"]


class HeldUp:
    """Lets the commits of a writer wait until ``go`` is set; ``broken`` then fails them.

    ``begun``: the loop writes, ids that grow, and the thread waits for the disk; otherwise the thread does both, as it
    does while somebody else uses the store.
    """

    def __init__(self, writer, monkeypatch, broken=False, begun=False):
        self.begun, self.go, self.groups = threading.Event(), threading.Event(), []
        place, store = writer.place, writer._stream._store
        append, begin = place.append, place.begin

        def held(rows, finish, undo):
            self.groups.append([row.id for row in rows])

            def commit():
                self.begun.set()
                assert self.go.wait(20)
                if broken:
                    undo()
                    raise OutcomeUnknownError("the disk did not confirm")
                finish()

            return commit

        def undo():
            store.lock.enter()
            store.connection.execute("ROLLBACK")
            store.lock.release()

        monkeypatch.setattr(place, "append", lambda rows, before: held(rows, lambda: append(rows, before), int)())
        beginning = (lambda rows, before: held(rows, begin(rows, before), undo)) if begun else lambda rows, before: None
        monkeypatch.setattr(place, "begin", beginning)


@pytest.mark.parametrize("begun", [False, True])
def test_overload_is_answered_and_not_hidden(service, key, monkeypatch, begun):
    """While a commit is held up, requests wait up to a bound; those beyond are told so at once."""
    monkeypatch.setattr(writing, "WAITING", 5)
    writer = service.app.host.writer("orders")
    held, writer._each = HeldUp(writer, monkeypatch, begun=begun), 1e-6

    def one(k):
        return service.ask("POST", ORDERS + "/decisions", {"id": f"~load-{begun}-{k}", "item": item(k)}, key=key)

    with ThreadPoolExecutor(20) as pool:
        first = pool.submit(one, 0)
        assert held.begun.wait(20)
        later = [pool.submit(one, k) for k in range(1, 20)]
        while sum(one.done() for one in later) < 14:
            time.sleep(0.01)
        held.go.set()
        answers = [first.result(), *(future.result() for future in later)]
    refused = [told for told in answers if told.status == 503]
    assert len(refused) == 14
    assert {told.problem for told in refused} == {"overloaded"}
    assert {told.headers["retry-after"] for told in refused} == {"1"}
    assert sum(told.status == 201 for told in answers) == 6


@pytest.mark.parametrize("begun", [False, True])
def test_a_failed_commit_stops_the_service(tmp_path, monkeypatch, begun):
    """The answer is that nobody knows; the service is not ready, ends, and goes on from the disk when it is started."""
    store = new_store(tmp_path)
    key = secret_of(store)
    with Running(store) as running:
        path = ORDERS + "/decisions"
        kept = running.ask("POST", path, {"id": "kept", "item": item(1)}, key=key)
        writer = running.app.host.writer("orders")
        held, writer._each = HeldUp(writer, monkeypatch, broken=True, begun=begun), 1e-6
        held.go.set()
        told = running.ask("POST", path, {"id": "lost", "item": item(2)}, key=key)
        assert (told.status, told.problem, told.headers["retry-after"]) == (503, "outcome-unknown", "1")
        assert told.json()["retryable"]
        running.thread.join(30)
        assert not running.thread.is_alive()
        assert "did not confirm" in running.server.failure
    store.close()
    store = at.logs.stores.open_store(tmp_path / "desk.db")
    with Running(store) as running:
        again = running.ask("POST", path, {"id": "kept", "item": item(1)}, key=key)
        assert (again.status, again.body) == (200, kept.body)
        assert running.ask("POST", path, {"id": "lost", "item": item(2)}, key=key).status == 201
    store.close()


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("broken", [False, True])
def test_requests_are_applied_during_a_commit_and_answered_after_their_own(tmp_path, monkeypatch, broken, begun):
    """Others are applied on top of a commit under way; none is answered early, and all fall with one that fails."""
    monkeypatch.setattr(writing, "SLOW", math.inf)
    monkeypatch.setattr(writing, "FEW", 1)
    store = new_store(tmp_path)
    key, path = secret_of(store), ORDERS + "/decisions"
    with Running(store) as running, ThreadPoolExecutor(5) as pool:
        writer = running.app.host.writer("orders")
        record = writer._stream.record
        held, before, writer._each = HeldUp(writer, monkeypatch, broken, begun), len(record), 1e-6
        asked = [pool.submit(running.ask, "POST", path, {"id": "0", "item": item(0)}, key=key)]
        assert held.begun.wait(20)
        for k in (1, 2, 1):
            asked.append(pool.submit(running.ask, "POST", path, {"id": str(k), "item": item(k)}, key=key))
        asked.append(pool.submit(running.ask, "GET", path + "/0", key=key))
        deadline = time.monotonic() + 20
        while writer.depth < 4 or writer._waiting:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        assert len(record) == before + 3
        with at.Stream.open(tmp_path / "desk.db", "orders", read_only=True) as others:
            assert len(others) == before  # the rest is not on disk
        assert not any(one.done() for one in asked)
        assert record.written.seq == writer.seq == before
        assert held.groups == [["0"]]
        held.go.set()
        told = [one.result() for one in asked]
        if broken:
            assert {one.problem for one in told} == {"outcome-unknown"}
            assert held.groups == [["0"]]
            running.thread.join(30)
        else:
            assert sorted(one.status for one in told) == [200, 200, 201, 201, 201]
            assert len(running.ask("GET", ORDERS + "/log", key=key).body.splitlines()) == before + 3
            assert running.ask("POST", ORDERS + "/verify", key=key).json()["verifies"]
    store.close()
    store = at.logs.stores.open_store(tmp_path / "desk.db")
    with Running(store) as running:
        again = [running.ask("POST", path, {"id": str(k), "item": item(k)}, key=key).status for k in range(3)]
        assert again == ([201] * 3 if broken else [200] * 3)
    store.close()


async def asked_of(writer, work):
    return await writer.do(work, alone=True)


def test_what_takes_long_holds_up_its_stream_and_not_the_service(service, key, monkeypatch):
    """While a verb has the stream for itself, others answer, and requests for the stream wait in their order."""
    writer, begun, go = service.app.host.writer("orders"), threading.Event(), threading.Event()
    monkeypatch.setattr(writing, "SLOW", math.inf)
    writer._each = 1e-6

    def long(stream):
        begun.set()
        assert go.wait(20)
        return len(stream)

    with ThreadPoolExecutor(2) as pool:
        alone = asyncio.run_coroutine_threadsafe(asked_of(writer, long), writer._loop)
        assert begun.wait(20)
        asked = [
            pool.submit(service.ask, "POST", ORDERS + "/decisions", {"id": f"long-{k}", "item": item(k)}, key=key)
            for k in range(2)
        ]
        while writer.depth < 2:
            time.sleep(0.005)
        assert service.ask("GET", "/healthz").status == 200
        assert len(writer._waiting) == 2
        go.set()
        assert [one.result().json()["seq"] > alone.result(20) for one in asked] == [True, True]


def test_answers_are_worded_while_the_disk_is_waited_for(service, key, monkeypatch):
    """None leaves before the commit; one that cannot be worded is told so, and takes no other along."""
    monkeypatch.setattr(writing, "SLOW", math.inf)
    writer, usual, worded = service.app.host.writer("orders"), Answer.json, []
    held, writer._each = HeldUp(writer, monkeypatch, begun=True), 1e-6

    def json_of(answer):
        worded.append(answer.id)
        if answer.id == "~word-1":
            raise RuntimeError("no words")
        return usual(answer)

    monkeypatch.setattr(Answer, "json", json_of)
    body = [{"id": f"~word-{k}", "item": item(k)} for k in range(3)]
    writer._gathering = True  # until all of them have come
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(service.ask, "POST", ORDERS + "/decisions", one, key=key) for one in body]
        while writer.depth < 3:
            time.sleep(0.005)
        writer._loop.call_soon_threadsafe(writer._go_on)
        assert held.begun.wait(20)
        while len(worded) < 3:
            time.sleep(0.005)
        assert service.ask("GET", "/healthz").status == 200
        assert not any(one.done() for one in asked)
        held.go.set()
        told = [one.result() for one in asked]
    assert [one.status for one in told] == [201, 500, 201]
    assert len(worded) == 3
    monkeypatch.undo()
    assert service.ask("POST", ORDERS + "/decisions", body[1], key=key).status == 200  # the decision was made


@pytest.mark.parametrize(("slow", "near"), [(math.inf, True), (math.inf, False), (0.0, True)])
def test_a_slow_policy_and_a_store_far_away_do_not_hold_up_the_event_loop(service, key, monkeypatch, slow, near):
    """The loop applies what is quick; a policy that takes long, and a store over a network, are for the thread."""
    writer, usual, threads = service.app.host.writer("orders"), Stream.decide_each, []

    def decide(stream, rows):
        threads.append(threading.current_thread())
        return usual(stream, rows)

    monkeypatch.setattr(writing, "SLOW", slow)
    monkeypatch.setattr(writer.place, "near", near)
    monkeypatch.setattr(Stream, "decide_each", decide)
    writer._each = 1e-6
    service.ask("POST", ORDERS + "/decisions", {"id": f"who-{slow}-{near}", "item": item(1)}, key=key)
    assert threads == [service.thread if near and slow else writer._thread]


def test_snapshots_are_of_what_is_on_disk(service, key, monkeypatch):
    """However many are applied on top of commits, each snapshot verifies to the bit."""
    monkeypatch.setattr(keeping, "EVERY", 25)
    place = service.app.host.writer("orders").place
    before = {seq for seq, _ in place.snapshots()}

    def client(number):
        for k in range(30):
            id_ = f"snap-{number}-{k}"
            service.ask("POST", ORDERS + "/decisions", {"id": id_, "item": item(k)}, key=key)
            service.ask("PUT", f"{ORDERS}/decisions/{id_}/label", {"value": k % 2}, key=key)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(client, range(8)))
    assert service.ask("POST", ORDERS + "/verify", key=key).json()["verifies"]
    assert {seq for seq, _ in place.snapshots()} > before


# ---- a real process


def start(folder, port=0):
    """Start ``appletaste serve`` and return the process and its port."""
    command = [sys.executable, "-m", "appletaste", "serve", "--store", str(folder / "desk.db"), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        if '"listening"' in line:
            return process, json.loads(line)["port"]
    raise AssertionError("the service did not start")


def end(process):
    """End a process, if it has not ended."""
    process.kill()
    process.wait()
    process.stderr.close()


@pytest.fixture
def folder(tmp_path):
    store = new_store(tmp_path)
    secret = secret_of(store)
    store.close()
    (tmp_path / "key").write_text(secret)
    return tmp_path


def test_kill_9_under_load_loses_nothing(folder):
    """Everything that was acknowledged is there after a start, to the byte; what is sent again settles the rest."""
    key = (folder / "key").read_text()
    told, numbers, lock = {}, iter(range(10**9)), threading.Lock()

    def client(port, over):
        while not over.is_set():
            with lock:
                k = next(numbers)
            try:
                answer = ask(port, "POST", ORDERS + "/decisions", {"id": f"k{k}", "item": item(k)}, key=key)
                if answer.status == 201:
                    told[k] = answer.body
                if answer.status == 201 and k % 3 == 0:
                    path = f"{ORDERS}/decisions/k{k}/label"
                    labelled = ask(port, "PUT", path, {"value": k % 2}, key=key)
                    if labelled.status == 200:
                        told[k, "label"] = k % 2
            except (OSError, ValueError, http.client.HTTPException):
                continue  # no answer, or half of one

    for kill in range(KILLS):
        process, port = start(folder)
        over = threading.Event()
        threads = [threading.Thread(target=client, args=(port, over)) for _ in range(8)]
        for thread in threads:
            thread.start()
        wanted, deadline = len(told) + 60 + 17 * kill, time.monotonic() + 60
        while len(told) < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
        end(process)
        over.set()
        for thread in threads:
            thread.join()
    process, port = start(folder)
    try:
        for k, body in told.items():
            if isinstance(k, int):
                again = ask(port, "POST", ORDERS + "/decisions", {"id": f"k{k}", "item": item(k)}, key=key)
                assert (again.status, again.body) == (200, body)
            else:
                case = ask(port, "GET", f"{ORDERS}/decisions/k{k[0]}", key=key).json()
                assert body in (case["label"], case["outcome"])
        assert ask(port, "POST", ORDERS + "/verify", key=key).json()["verifies"]
        process.terminate()
        assert process.wait(30) == 0  # told to end, and done with everything
    finally:
        end(process)
