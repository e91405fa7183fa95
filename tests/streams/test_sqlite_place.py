"""A stream in a file: what others see of a write that is under way, and which writes take microseconds."""

import sqlite3
import threading
from contextlib import closing

import pytest

from appletaste.errors import ConflictError, StoreError
from appletaste.records.stores import Head, open_store

from .rows import filled, rows_after


def test_a_decision_in_a_file_is_looked_up_while_another_thread_commits(tmp_path):
    store = open_store(tmp_path / "shop.db")
    place, found = filled(store), []
    look = threading.Thread(target=lambda: found.append(place.decisions(["a", "c"])), daemon=True)
    with store.writing():
        look.start()
        look.join(20)
        assert [list(one) for one in found] == [["a"]]
    store.close()


def test_a_write_to_a_file_that_was_begun_is_not_seen_before_it_is_finished(tmp_path):
    store = open_store(tmp_path / "shop.db")
    place = filled(store)
    finish = place.begin(rows_after(place.head(), [("decided", "new")]), place.head())
    others = open_store(tmp_path / "shop.db", read_only=True)
    assert others.open("orders").head().seq == 6
    assert place.decisions(["a", "new"]).keys() == {"a"}
    finish()
    assert others.open("orders").head().seq == 7
    assert place.decisions(["a", "new"]).keys() == {"a", "new"}
    others.close()
    store.close()


def test_a_write_is_not_begun_while_others_use_the_file(tmp_path):
    """The event loop of the service begins writes, and must not wait."""
    store = open_store(tmp_path / "shop.db")
    place, busy, go = filled(store), threading.Event(), threading.Event()

    def use():
        with store.writing():
            busy.set()
            assert go.wait(20)

    other = threading.Thread(target=use, daemon=True)
    other.start()
    assert busy.wait(20)
    rows, head = rows_after(Head(6, (6).to_bytes(32, "big")), [("noted", "")]), Head(6, (6).to_bytes(32, "big"))
    assert place.begin(rows, head) is None
    go.set()
    other.join()
    place.begin(rows, head)()
    assert place.head().seq == 7
    scattered = rows_after(place.head(), [("decided", "A"), ("decided", "z")])  # a page of the index each
    assert place.begin(scattered, place.head()) is None
    assert place.head().seq == 7
    store.close()


def test_ids_in_order_are_written_at_once_whatever_others_there_are(tmp_path):
    """Two sources number their ids, between ids of all kinds: the first group shows where, and others need no look."""
    store = open_store(tmp_path / "shop.db")
    place = filled(store, kinds=[("decided", f"{k * 7919 % 1000:03d}") for k in range(200)])

    def group(start):
        named = [f"{source} {start + k:05d}" for k in range(8) for source in ("0 shop", "1 web")]
        return rows_after(place.head(), [("decided", one) for one in named])

    begun = []
    for start in (0, 8, 16, 24):
        rows, head = group(start), place.head()
        finish = place.begin(rows, head)
        begun.append(finish is not None)
        (finish or (lambda rows=rows, head=head: place.append(rows, head)))()
        assert len(place.decisions([row.id for row in rows])) == 16
        with pytest.raises(ConflictError):
            place.append(rows_after(place.head(), [("decided", rows[3].id)]), place.head())
    assert begun == [False, False, True, True]  # one source after the other
    assert place.begin(rows_after(place.head(), [("decided", "0 shop 00003x")]), place.head()) is None
    store.close()
    store = open_store(tmp_path / "shop.db")
    place = store.open("orders")
    assert place.decisions(["0 shop 00031", "0 shop 00032", "000"]).keys() == {"0 shop 00031", "000"}
    store.close()


def test_a_file_of_another_program_is_refused_and_not_changed(tmp_path):
    path = tmp_path / "theirs.db"
    with closing(sqlite3.connect(path)) as theirs, theirs:
        theirs.execute("CREATE TABLE customers (name TEXT)")
        theirs.execute("INSERT INTO customers VALUES ('Ada')")
    before = path.read_bytes()
    for opening in (lambda: open_store(path), lambda: open_store(path, create=False)):
        with pytest.raises(StoreError, match="belongs to another program: it has 'customers' and no streams"):
            opening()
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as theirs, theirs:
        theirs.execute("CREATE TABLE migrations (id INTEGER)")  # a common name
    before = path.read_bytes()
    with pytest.raises(StoreError, match="belongs to another program"):
        open_store(path)
    assert path.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir() if not one.name.startswith(".")) == ["theirs.db"]
    (tmp_path / "text.db").write_text("amount,label\n" * 100)
    with pytest.raises(StoreError, match=r"cannot be opened as a store: .*not a database"):
        open_store(tmp_path / "text.db")
