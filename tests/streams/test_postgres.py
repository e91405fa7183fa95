"""What only PostgreSQL can get wrong: other databases of the same server, and locks of other sessions."""

import threading
import time

import psycopg
import pytest

import appletaste as at
from appletaste.errors import NotOwnerError
from appletaste.records.stores.postgres import PostgresStore
from appletaste.records.stores.processes import Processes

from .crashing import ITEMS, player
from .rows import filled, rows_after
from .stores import fresh_database


def test_a_takeover_leaves_the_owners_in_other_databases_alone(monkeypatch):
    """Streams are numbered from 1 on in every database, and the locks of all databases are in one list."""
    address = fresh_database()
    owner, elsewhere = PostgresStore(address), PostgresStore(fresh_database())
    place, other = filled(owner), filled(elsewhere)
    assert place.number == other.number
    monkeypatch.setattr(Processes, "STALE", 0.0)  # every owner has been silent for too long
    successor = PostgresStore(address)
    successor.open("orders")
    other.append(rows_after(other.head(), [("noted", "")]), other.head())
    with pytest.raises(at.errors.StoreError):  # whose stream was taken
        place.append(rows_after(place.head(), [("noted", "")]), place.head())
    for store in (owner, elsewhere, successor):
        store.close()


def vacuums(connection):
    """Return how often each table was tidied up because somebody asked."""
    found = connection.execute("SELECT relname, vacuum_count FROM pg_stat_user_tables").fetchall()
    return {name: count for name, count in found if name in ("events", "snapshots", "chunks")}


def until(holds):
    """Wait until something holds that another session does."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_erasing_waits_for_no_lock_of_another_session_and_the_bytes_go_afterwards():
    """CREATE INDEX CONCURRENTLY and a long vacuum hold such a lock; decisions go on beside it, and so must erasing."""
    address = fresh_database()
    with (
        psycopg.connect(address) as busy,
        psycopg.connect(address, autocommit=True) as watch,
        at.Stream.create(address, "orders", player(), seed=6) as stream,
    ):
        for k in range(3):
            stream.decide(ITEMS[k], id=str(k))
        busy.execute("LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE")
        erasing = threading.Thread(target=stream.erase, args=("1",), daemon=True)
        erasing.start()
        erasing.join(10)
        assert not erasing.is_alive()
        assert stream.find("1").erased
        stream.erase("2")  # while the bytes of the first still wait
        stream.decide(ITEMS[3], id="3")
        seen = "SELECT seen FROM processes"
        before = watch.execute(seen).fetchone()
        until(lambda: watch.execute(seen).fetchone() > before)  # the owner is heard of
        with pytest.raises(NotOwnerError, match="in use"):
            at.Stream.open(address, "orders")
        assert set(vacuums(watch).values()) == {0}
        busy.commit()
        until(lambda: all(vacuums(watch).values()))


def test_a_store_is_closed_while_another_session_holds_the_table(monkeypatch):
    address = fresh_database()
    monkeypatch.setattr("appletaste.records.stores.postgres.TIDYING", 0.1)
    stream = at.Stream.create(address, "orders", player(), seed=6)
    stream.decide(ITEMS[0], id="0")
    with psycopg.connect(address) as busy:
        busy.execute("LOCK TABLE events IN SHARE UPDATE EXCLUSIVE MODE")
        stream.erase("0")
        stream.close()
    again = at.Stream.open(address, "orders")
    assert again.find("0").erased
    again.close()


def test_a_password_is_for_who_opens_the_store_and_for_nobody_who_reads():
    """A process beside the service opens the database by the whole address."""
    address = fresh_database().replace("postgres:@", "postgres:secret@")
    assert "secret" in address
    store = PostgresStore(address)
    assert (store.opens_with, "secret" in store.address) == (address, False)
    PostgresStore(store.opens_with, read_only=True).close()
    store.close()
