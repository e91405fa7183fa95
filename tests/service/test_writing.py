"""One writer for each stream: what is applied during a commit, what waits, what a failed commit ends, and overload."""

import asyncio
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import apsw
import pytest

import appletaste as at
from appletaste.errors import OutcomeUnknownError
from appletaste.service import writer as writing
from appletaste.streams import Answer, Stream, snapshots
from appletaste.streams.reader import Reader

from .serving import ORDERS, Running, item, new_store, secret_of


def soon(holds):
    """Wait until something holds."""
    deadline = time.monotonic() + 10
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.005)


class HeldUp:
    """Lets the commits of a writer wait until ``go`` is set; ``broken`` then fails them.

    ``begun``: the loop writes, ids that grow, and the thread waits for the disk; otherwise the thread does both, as it
    does while somebody else uses the store.
    """

    def __init__(self, writer, monkeypatch, broken=False, begun=False):
        self.begun, self.go, self.groups = threading.Event(), threading.Event(), []
        place, store = writer.place, writer._stream._journal.store
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
    held, writer._seconds = HeldUp(writer, monkeypatch, begun=begun), 1e-6

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
        held, writer._seconds = HeldUp(writer, monkeypatch, broken=True, begun=begun), 1e-6
        held.go.set()
        told = running.ask("POST", path, {"id": "lost", "item": item(2)}, key=key)
        assert (told.status, told.problem, told.headers["retry-after"]) == (503, "outcome-unknown", "1")
        assert told.json()["retryable"]
        running.thread.join(30)
        assert not running.thread.is_alive()
        assert "did not confirm" in running.server.failure
    store.close()
    store = at.records.stores.open_store(tmp_path / "shop.db")
    with Running(store) as running:
        again = running.ask("POST", path, {"id": "kept", "item": item(1)}, key=key)
        assert (again.status, again.body) == (200, kept.body)
        assert running.ask("POST", path, {"id": "lost", "item": item(2)}, key=key).status == 201
    store.close()


def test_a_stream_of_a_file_that_somebody_else_has_written_ends_the_service(tmp_path):
    """Nobody else serves the file, so that an answer such as 404 would stand for ever."""
    store = new_store(tmp_path)
    key = secret_of(store)
    with Running(store) as running:
        assert running.ask("POST", ORDERS + "/decisions", {"id": "a", "item": item(1)}, key=key).status == 201
        other = apsw.Connection(str(tmp_path / "shop.db"))
        other.setbusytimeout(5000)
        other.execute("UPDATE streams SET digest = zeroblob(32) WHERE name = 'orders'")
        other.close()
        told = running.ask("POST", ORDERS + "/decisions", {"id": "b", "item": item(2)}, key=key)
        assert (told.status, told.problem) == (503, "not-ready")
        soon(lambda: running.server.failure)
        assert "another owner" in running.server.failure
        assert not running.app.host.ready
        running.thread.join(30)
        assert not running.thread.is_alive()
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
        held, before, writer._seconds = HeldUp(writer, monkeypatch, broken, begun), len(record), 1e-6
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
        with at.Stream.open(tmp_path / "shop.db", "orders", read_only=True) as others:
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
    store = at.records.stores.open_store(tmp_path / "shop.db")
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
    writer._seconds = 1e-6

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
    held, writer._seconds = HeldUp(writer, monkeypatch, begun=True), 1e-6

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
        try:
            soon(lambda: writer.depth == 3)
            writer._loop.call_soon_threadsafe(writer._go_on)
            assert held.begun.wait(20)
            soon(lambda: len(worded) == 3)
            assert service.ask("GET", "/healthz").status == 200
            assert not any(one.done() for one in asked)
        finally:
            held.go.set()  # or those who ask would wait for ever
        told = [one.result() for one in asked]
    assert [one.status for one in told] == [201, 500, 201]
    assert len(worded) == 3
    monkeypatch.undo()
    assert service.ask("POST", ORDERS + "/decisions", body[1], key=key).status == 200  # the decision was made


def test_an_answer_of_a_batch_that_cannot_be_worded_takes_no_other_along(service, key, monkeypatch):
    usual = Answer.json

    def json_of(answer):
        if answer.id == "~batch-1":
            raise RuntimeError("no words")
        return usual(answer)

    monkeypatch.setattr(Answer, "json", json_of)
    body = {"decisions": [{"id": f"~batch-{k}", "item": item(k)} for k in range(3)]}
    told = service.ask("POST", ORDERS + "/decisions:batch", body, key=key)
    assert [one["status"] for one in told.json()["results"]] == [201, 500, 201]
    monkeypatch.undo()
    again = service.ask("POST", ORDERS + "/decisions:batch", body, key=key)
    assert [one["status"] for one in again.json()["results"]] == [200, 200, 200]


def test_an_item_that_nobody_foresaw_is_told_so_and_stops_nobody(service, key, monkeypatch):
    """Reading changes nothing, so that an error in it is that of one request."""
    usual = Reader.read

    def read(reader, given, id_, *others):
        if id_ == "~unread":
            raise ZeroDivisionError("a fault of ours")
        return usual(reader, given, id_, *others)

    monkeypatch.setattr(Reader, "read", read)
    body = {"decisions": [{"id": id_, "item": item(k)} for k, id_ in enumerate(("~read-1", "~unread", "~read-2"))]}
    told = service.ask("POST", ORDERS + "/decisions:batch", body, key=key)
    assert [one["status"] for one in told.json()["results"]] == [201, 500, 201]
    assert b"fault" not in told.body
    assert service.ask("POST", ORDERS + "/decisions", body["decisions"][1], key=key).status == 500
    assert service.ask("GET", "/readyz").status == 200
    monkeypatch.undo()
    assert service.ask("POST", ORDERS + "/decisions", body["decisions"][1], key=key).status == 201


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
    writer._seconds = 1e-6
    service.ask("POST", ORDERS + "/decisions", {"id": f"who-{slow}-{near}", "item": item(1)}, key=key)
    assert len(threads) == 1
    assert (threads[0] is service.thread) == bool(near and slow)


def test_snapshots_are_of_what_is_on_disk(service, key, monkeypatch):
    """However many are applied on top of commits, each snapshot verifies to the bit."""
    monkeypatch.setattr(snapshots, "EVERY", 25)
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
