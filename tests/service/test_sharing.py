"""Streams over several processes on one PostgreSQL: shared, handed over, opened when asked for, closed when quiet."""

import json
import os
import random
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

import appletaste as at
from appletaste.errors import NotOwnerError
from appletaste.records.stores import MemoryStore, open_store
from appletaste.records.stores.migrations import POSTGRES, TABLE
from appletaste.records.stores.postgres import PostgresStore
from appletaste.records.stores.processes import Processes
from appletaste.service import crew, hosting
from appletaste.streams import Stream

from ..streams.stores import fresh_database
from .serving import COSTS, Running, ask, item, secret_of
from .test_machines import Machine, free_port
from .test_writing import soon

LONG = bool(os.environ.get("APPLETASTE_KILLS"))


def made(address, streams, capacity=None):
    """Make streams in a new store; return their names and a key."""
    store = open_store(address)
    for k in range(streams):
        policy = at.policy("voi", n_features=3, costs=COSTS)
        player = policy if capacity is None else at.Desk(at.streams.Awaiting(policy), at.Budget(per_day=capacity))
        Stream.create(store, f"s{k:03d}", player, seed=k).close()
    key, names = secret_of(store), store.names()
    store.close()
    return names, key


@contextmanager
def running(address):
    """Serve a store by a process of its own, as it seems: a store and a loop of their own."""
    store = open_store(address)
    try:
        with Running(store, free_port()) as service:
            yield service
    finally:
        store.close()


def decide(port, key, name, id_, k):
    body = {"id": id_, "item": item(k), "time": f"2024-05-{1 + k % 28:02d}"}
    return ask(port, "POST", f"/v1/streams/{name}/decisions", body, key=key)


def owned(address):
    """Return how many streams each process owns that lives."""
    with psycopg.connect(address, autocommit=True) as connection:
        question = "SELECT owner, count(*) FROM streams WHERE owner IN (SELECT number FROM processes) GROUP BY owner"
        return sorted(n for _, n in connection.execute(question))


def test_a_second_process_gets_its_half_while_requests_go_on_and_gives_it_back():
    address = fresh_database()
    names, key = made(address, 100)
    told, stop = {}, threading.Event()

    with running(address) as first:
        assert len(first.app.host.here()) == 100

        def client(number):
            chance = random.Random(number)
            port = [first.port]
            for k in range(10**6):
                if stop.is_set():
                    return
                name, id_ = chance.choice(names), f"{number}-{k}"
                while (answer := decide(port[0], key, name, id_, k)).status == 503:  # on its way, once in a while
                    time.sleep(0.01)
                assert answer.status == 201
                told[name, id_] = answer.body

        with ThreadPoolExecutor(4) as pool:
            clients = [pool.submit(client, number) for number in range(4)]
            soon(lambda: len(told) > 50)
            began = time.monotonic()
            with running(address) as second:
                while len(second.app.host.here()) < 40 or sum(owned(address)) < 100:
                    assert time.monotonic() - began < 15
                    time.sleep(0.05)
                assert len(first.app.host.here()) + len(second.app.host.here()) == 100
                assert min(owned(address)) >= 40
                seen = len(told)
                soon(lambda: len(told) > seen + 50)
                for name in names[:10]:
                    assert decide(second.port, key, name, "second", 1).status in (200, 201, 503)
                assert set(first.ask("GET", "/v1/streams", key=key).json()["streams"]) == set(names)
            soon(lambda: owned(address) == [100])
            seen = len(told)
            soon(lambda: len(told) > seen + 50)
            stop.set()
            for one in clients:
                one.result()
        for (name, id_), body in list(told.items())[:: max(1, len(told) // 200)]:
            _, k = id_.split("-")
            assert decide(first.port, key, name, id_, int(k)).body == body
    for name in names:
        with Stream.open(address, name) as stream:
            stream.verify()
            assert sum(one == name for one, _ in told) <= len(stream)


def test_a_stream_is_opened_when_asked_for_and_closed_when_quiet(monkeypatch):
    """Whatever it is asked for works as before; its numbers stay in /metrics; one that is looked at stays open."""
    monkeypatch.setattr(hosting, "KEPT", 1)
    address = fresh_database()
    names, key = made(address, 4)
    taken, usual = [], hosting.Host.take
    monkeypatch.setattr(hosting.Host, "take", lambda host, stream: (taken.append(stream.name), usual(host, stream))[1])
    store = open_store(address)
    service = Running(store, free_port())
    service.app.host._idle = 0.4
    with service:
        host = service.app.host

        def opened():
            return [name for name in names if host.has(name)]

        assert host.here() == names
        assert taken == names[:1]  # one is opened at the start
        for name in names:
            assert decide(service.port, key, name, "a", 3).status == 201
        assert set(taken) == set(names)
        soon(lambda: len(opened()) == 1)
        threads = threading.active_count()
        for name in names:
            assert decide(service.port, key, name, "a", 3).status == 200  # the same answer
            act = json.loads(decide(service.port, key, name, "a", 3).body)["act"]
            path = f"/v1/streams/{name}/decisions/a/label"
            assert service.ask("PUT", path, {"value": 1}, key=key).json()["status"] in (
                "applied",
                "recorded_not_learned",
            )
            assert act in (True, False)
        soon(lambda: len(opened()) == 1)
        assert threading.active_count() <= threads + 4  # none for each stream
        told = service.ask("GET", "/metrics", key=key).body.decode()
        for name in names:
            assert f'appletaste_events{{stream="{name}"}} 3' in told
            assert f'appletaste_labels_awaited{{stream="{name}"}} 0' in told
        assert service.ask("POST", f"/v1/streams/{names[2]}/verify", key=key).json()["verifies"]
        assert service.ask("GET", "/v1/streams/nowhere", key=key).problem == "unknown-stream"
    store.close()


def test_an_owner_whose_sessions_are_ended_goes_on():
    """Where nothing was being committed: whatever it reads, says or writes goes by another connection."""
    address = fresh_database()
    names, key = made(address, 3)
    with running(address) as service, psycopg.connect(address, autocommit=True) as other:
        number = service.store.processes.number
        seen = "SELECT seen, backend FROM processes WHERE number = %s"
        first = other.execute(seen, (number,)).fetchone()
        for turn in range(3):
            ended = other.execute(
                "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE datname = "
                "current_database() AND pid <> pg_backend_pid()"
            ).fetchone()
            assert ended[0] >= 1  # the heartbeat comes back within a second
            for name in names:
                assert decide(service.port, key, name, f"turn {turn}", turn).status == 201
                assert service.ask("GET", f"/v1/streams/{name}/decisions/turn%20{turn}", key=key).status == 200
        question = "SELECT count(*) FROM streams WHERE owner = %s"
        assert other.execute(question, (number,)).fetchone() == (3,)
        soon(lambda: other.execute(seen, (number,)).fetchone()[1] != first[1])
        assert service.ask("GET", "/readyz").status == 200
        assert not service.server.failure


def test_a_commit_that_is_not_confirmed_ends_the_process():
    address = fresh_database()
    names, key = made(address, 2)
    slow = """
        CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(20); RETURN NULL; END';
        CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION slow()
    """
    store = open_store(address)
    with Running(store, free_port()) as service, psycopg.connect(address, autocommit=True) as other:
        other.execute(slow)
        with ThreadPoolExecutor(1) as pool:
            asked = pool.submit(decide, service.port, key, names[0], "a", 1)
            committing = "SELECT pid FROM pg_stat_activity WHERE query = 'COMMIT' AND state = 'active'"
            soon(lambda: other.execute(committing).fetchone())
            other.execute("SELECT pg_terminate_backend(%s, 10000)", other.execute(committing).fetchone())
            assert asked.result().problem == "outcome-unknown"
        soon(lambda: service.server.failure)
    store.close()


def test_an_old_token_writes_nothing_and_its_owner_goes_on_without_the_stream():
    address = fresh_database()
    names, key = made(address, 2)
    with running(address) as service:
        for name in names:
            assert decide(service.port, key, name, "a", 1).status == 201
        with psycopg.connect(address, autocommit=True) as other:
            other.execute("UPDATE streams SET token = token + 1 WHERE name = %s", (names[0],))
            assert decide(service.port, key, names[0], "b", 2).problem == "not-ready"
            assert other.execute("SELECT seq FROM streams ORDER BY name").fetchall() == [(2,), (2,)]
        assert decide(service.port, key, names[1], "b", 2).status == 201
        soon(lambda: decide(service.port, key, names[0], "b", 2).status == 201)  # opened anew, with a new token
        assert not service.server.failure


def test_two_databases_on_one_server_have_nothing_to_do_with_each_other():
    one, other = fresh_database(), fresh_database()
    (names, key), (_, other_key) = made(one, 2), made(other, 2)
    with running(other) as bystander:
        assert decide(bystander.port, other_key, names[0], "a", 1).status == 201
        machine = Machine(one).wait()
        try:
            assert decide(machine.port, key, names[0], "a", 1).status == 201
            os.kill(machine.process.pid, signal.SIGSTOP)
            with running(one) as second:
                soon(lambda: len(second.app.host.here()) == 2)
                assert decide(second.port, key, names[0], "a", 1).status == 200
                assert decide(bystander.port, other_key, names[0], "b", 1).status == 201
        finally:
            machine.end()
        assert not bystander.server.failure


def test_a_store_of_an_older_version_is_opened_and_an_older_process_writes_nothing_more(monkeypatch):
    """The step that makes processes takes away what older ones are heard of by."""
    address = fresh_database()
    with psycopg.connect(address) as old:
        old.execute(TABLE)
        for step in POSTGRES[:3]:
            for statement in step.statements:
                old.execute(statement)
            old.execute("INSERT INTO migrations VALUES (%s, %s, %s)", (step.number, step.name, step.checksum))
    kept = fresh_database()
    names, key = made(kept, 2)
    columns = {
        "streams": "name, secret, seq, digest",
        "events": "*",
        "snapshots": "*",
        "chunks": "*",
        "small_values": "*",
    }
    with psycopg.connect(kept) as source, psycopg.connect(address) as old:
        for table, names_ in columns.items():
            target = "" if names_ == "*" else f"({names_})"
            rows = source.execute(f"SELECT {names_} FROM {table} ORDER BY 1").fetchall()
            marks = ", ".join(["%s"] * len(rows[0]))
            with old.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {table} {target} VALUES ({marks})", rows)
    with running(address) as service, psycopg.connect(address, autocommit=True) as old:
        assert decide(service.port, key, names[0], "a", 1).status == 201
        with pytest.raises(psycopg.errors.UndefinedColumn):  # the heartbeat of before
            old.execute("UPDATE streams SET seen = clock_timestamp() WHERE number = 1 AND token = 1")
    for name in names:
        with Stream.open(address, name) as stream:
            stream.verify()


def test_a_silent_process_is_replaced_and_one_that_speaks_is_not(monkeypatch):
    """By the clock of the database; silence while the database was away does not count."""
    address = fresh_database()
    names, _ = made(address, 3)
    monkeypatch.setattr(Processes, "STALE", 1.0)
    monkeypatch.setattr(Processes, "GONE", 1.0)
    monkeypatch.setattr("appletaste.records.stores.processes.HEARTBEAT", 0.1)
    one, two = PostgresStore(address), PostgresStore(address)
    one.serve("http://one")
    assert sorted(one.claim(names)) == names
    assert two.claim(names) == []
    with pytest.raises(NotOwnerError, match="in use"):
        two.open(names[0])
    time.sleep(1.5)
    assert two.claim(names) == []
    with one.processes._speaking:  # it says nothing more
        time.sleep(1.2)
        assert two.census().owners == dict.fromkeys(names, 0)
        assert two.open(names[0]).token > 1
        assert sorted(two.claim(names[1:])) == names[1:]
    one.close()
    assert two.census().owners == dict.fromkeys(names, two.processes.number)
    two.close()


def test_a_commit_that_was_begun_is_finished_while_all_other_threads_wait():
    """It holds the file, for which the others may be waiting."""
    many, go, done = crew.Crew(MemoryStore()), threading.Event(), threading.Event()
    many.grow(100)
    for _ in range(100):
        many.do(go.wait)
    many.finish(done.set)
    assert done.wait(10)
    go.set()
    many.close()
