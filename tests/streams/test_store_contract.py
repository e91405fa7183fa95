"""What every store promises: in memory, in a file, in a database."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from appletaste.errors import ConflictError, NotOwnerError, StoppedError, StoreError, UnknownStreamError
from appletaste.records.stores import Head
from appletaste.records.stores.store import NOTHING, PART, Write

from .rows import SOME, filled, plain, rows_after
from .stores import Home


def test_what_was_appended_is_there_in_order_also_after_opening_again(home):
    store = home.open()
    place = filled(store)
    wanted = plain(rows_after(Head(0, NOTHING), SOME))
    for _ in range(2):
        assert plain(place.read()) == wanted
        assert plain(place.read(after=4)) == wanted[4:]
        assert plain(place.read(after=6)) == []
        assert place.head() == (6, (6).to_bytes(32, "big"))
        assert place.secret == b"secret"
        assert plain(place.decisions(["b", "nobody", "a"]).values()) in ([wanted[1], wanted[2]], [wanted[2], wanted[1]])
        assert plain(place.later("a")) == [wanted[3]]
        assert place.later("nobody") == []
        place.release()
        store.close()
        store = home.open()
        assert store.names() == ["orders"]
        place = store.open("orders")
    store.close()


def write(place, rows, head):
    """Write as the service does: begin, and let another thread finish; what a store does not begin is appended."""
    finish = place.begin(rows, head)
    if finish is None:
        place.append(rows, head)
        return
    assert not place.decisions([row.id for row in rows])
    other = threading.Thread(target=finish)
    other.start()
    other.join()


def test_a_write_may_begin_in_one_thread_and_end_in_another(home):
    store = home.open()
    place = filled(store)
    head = place.head()
    rows = rows_after(head, [("decided", "new"), ("noted", "")])
    write(place, rows, head)
    kept = plain(place.read())
    assert kept[6:] == plain(rows)
    assert place.decisions(["new"]).keys() == {"new"}
    with pytest.raises(NotOwnerError, match="nothing was written"):
        write(place, rows, head)
    with pytest.raises(ConflictError, match="decision with this id already"):
        write(place, rows_after(place.head(), [("noted", ""), ("decided", "new")]), place.head())
    assert plain(place.read()) == kept
    write(place, rows_after(place.head(), [("noted", "")]), place.head())
    assert place.head().seq == 9
    store.close()


def test_decisions_are_found_whatever_the_order_of_their_ids(home):
    """One behind all others needs no look in a file; texts are sorted in one way by Python and by SQLite."""
    store = home.open()
    place, known = store.create("orders", b"secret"), set()
    ids = ["m", "n", "a", "o-1", "o-10", "o-2", "\uffee", "\U0001f34f", "\uffef", "é", "~", "\U0001f34e", ""]
    for round_ in range(2):
        for id_ in ids:
            new = f"{id_}{round_}"
            assert place.decisions([*ids, *known, new]).keys() == known
            write(place, rows_after(place.head(), [("decided", new), ("noted", "zz")]), place.head())
            known.add(new)
        place.release()
        store.close()
        store = home.open()
        place = store.open("orders")
    assert place.decisions([*ids, *known]).keys() == known
    assert all(list(place.decisions([id_])) == [id_] for id_ in known)
    store.close()


def test_many_rows_are_read_in_parts_without_losing_one(home):
    store = home.open()
    n = 2 * PART + 3
    place = filled(store, kinds=[("decided", f"c{k}") for k in range(n)])
    assert [row.seq for row in place.read()] == list(range(1, n + 1))
    store.close()


def test_two_decisions_with_one_id_are_refused_and_nothing_of_the_write_is_kept(home):
    store = home.open()
    place = filled(store)
    before = plain(place.read())
    for kinds in ([("noted", ""), ("decided", "a")], [("decided", "new"), ("decided", "new")]):
        with pytest.raises(ConflictError, match="decision with this id already"):
            place.append(rows_after(place.head(), kinds), place.head())
        assert plain(place.read()) == before
        assert place.head().seq == 6
    place.append(rows_after(place.head(), [("decided", "new"), ("labelled", "a")]), place.head())
    other = filled(store, "other")  # another stream has ids of its own
    assert plain(other.read()) == before
    store.close()


def test_a_write_that_goes_on_from_another_head_is_refused(home):
    store = home.open()
    place = filled(store)
    before = plain(place.read())
    for head in (Head(5, (5).to_bytes(32, "big")), Head(6, (5).to_bytes(32, "big")), Head(0, NOTHING)):
        with pytest.raises(NotOwnerError, match="nothing was written"):
            place.append(rows_after(head, [("decided", "late")]), head)
    assert plain(place.read()) == before
    store.close()


def test_a_stream_has_one_owner_and_a_name_one_stream(home):
    store = home.open()
    place = filled(store)
    with pytest.raises(ConflictError, match="a stream 'orders' already"):
        store.create("orders", b"other")
    with pytest.raises(NotOwnerError, match="in use"):
        store.open("orders")
    with pytest.raises(UnknownStreamError, match=r"no stream 'order'.*'orders'"):
        store.open("order")
    place.release()
    assert store.open("orders").secret == b"secret"
    store.close()


def test_snapshots_keep_what_they_are_told_to_keep(home):
    store = home.open()
    place = filled(store)
    for digest, content in ((b"a" * 32, b"one"), (b"b" * 32, b"two"), (b"a" * 32, b"one")):
        place.put_chunk(digest, content)
    assert place.chunks() == {b"a" * 32, b"b" * 32}
    place.put_snapshot(0, b"first", (), place.chunks())
    place.put_snapshot(3, b"third", (0,), place.chunks())
    assert place.snapshots() == [(0, b"first"), (3, b"third")]
    place.put_snapshot(5, b"fifth", (0,), {b"b" * 32})
    assert place.snapshots() == [(0, b"first"), (5, b"fifth")]
    assert place.chunk(b"a" * 32) is None
    assert place.chunk(b"b" * 32) == b"two"
    place.put_snapshot(5, b"again", (0,), {b"b" * 32})
    assert place.snapshots()[-1] == (5, b"again")
    store.close()


def test_erasing_forgets_the_features_and_nothing_else(home):
    store = home.open()
    place = filled(store)
    before = plain(place.read())
    place.put_snapshot(0, b"first", (), ())
    place.put_snapshot(4, b"knows too much", (0,), ())
    head = place.head()
    (row,) = rows_after(head, [("erased", "a")])
    place.erase(row, head, 2, (6, b"anchor"), (0,), ())
    after = plain(place.read())
    assert after[-1][:3] == (7, "erased", "a")
    assert [r[4] for r in after if r[0] == 2] == [None]
    assert [r for r in after[:-1] if r[0] != 2] == [r for r in before if r[0] != 2]
    assert place.snapshots() == [(0, b"first"), (6, b"anchor")]
    with pytest.raises(NotOwnerError):
        place.erase(row, head, 3, (6, b"anchor"), (0,), ())
    assert plain(place.read()) == after
    store.close()


def test_small_values_are_kept_by_space_and_key(home):
    store = home.open()
    store.put("keys", "one", b"1")
    store.put("keys", "one", b"2")
    store.put("keys", "ä", b"")
    store.put("leases", "one", b"3")
    store.remove("leases", "nobody")
    assert store.values("keys") == {"one": b"2", "ä": b""}
    assert (store.get("keys", "one"), store.get("keys", "two"), store.get("leases", "one")) == (b"2", None, b"3")
    store.remove("keys", "one")
    store.close()
    store = home.open()
    assert store.values("keys") == {"ä": b""}
    assert store.check() == []
    if home.kind == "sqlite":
        with ThreadPoolExecutor(1) as other, store.lock:  # a commit that is under way
            assert other.submit(store.check).result(30.0) == []
    store.close()


def test_one_store_is_for_many_threads(home):
    store = home.open()
    places = [filled(store, f"s{k}") for k in range(4)]
    failed = []

    def work(place):
        try:
            for _ in range(25):
                head = place.head()
                place.append(rows_after(head, [("noted", "")]), head)
                place.put_chunk(head.digest, b"x")
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(place,)) for place in places]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert [place.head().seq for place in places] == [31] * 4
    store.close()


def test_writes_of_many_streams_are_kept_together_and_what_is_wrong_with_one_is_told_to_that_one(home):
    """A lost stream, another head and an id that is there already: the others are kept, and nothing of these."""
    store = home.open()
    names = [f"s{k}" for k in range(6)]
    places = [filled(store, name) for name in names]
    kinds = [[("decided", "new"), ("noted", "")]] * 6
    kinds[2] = [("decided", "new"), ("decided", "a")]  # there already
    writes = [
        Write(place, rows_after(place.head(), kind), place.head()) for place, kind in zip(places, kinds, strict=True)
    ]
    writes[4] = Write(
        places[4], rows_after(Head(5, (5).to_bytes(32, "big")), kinds[4]), Head(5, (5).to_bytes(32, "big"))
    )
    if home.kind == "postgres":
        store.ask("UPDATE streams SET token = token + 1 WHERE name = 's5' RETURNING token")
    else:
        writes[5] = Write(places[5], writes[5].rows, Head(6, NOTHING))
    told = store.append_all(writes)
    assert [type(one) for one in told] == [type(None)] * 2 + [ConflictError, type(None), NotOwnerError, NotOwnerError]
    assert list(store.sizes().values()) == [8, 8, 6, 8, 6, 6]
    for place, write in zip(places, writes, strict=True):
        rows = plain(place.read())
        assert rows[6:] == (plain(write.rows) if len(rows) == 8 else [])
    store.close()


def test_a_store_that_only_looks_writes_nothing(home):
    if home.kind == "memory":
        pytest.skip("memory is seen by one process alone")
    store = home.open()
    place = filled(store)
    looking = home.open(read_only=True)
    seen = looking.open("orders")
    assert plain(seen.read()) == plain(place.read())
    head = seen.head()
    with pytest.raises(StoppedError, match="to look at"):
        seen.append(rows_after(head, [("noted", "")]), head)
    place.append(rows_after(head, [("noted", "")]), head)
    assert seen.head().seq == 7
    looking.close()
    store.close()


def test_a_closed_store_says_so(home):
    if home.kind == "memory":
        pytest.skip("memory is there until the process ends")
    store = home.open()
    place = filled(store)
    store.close()
    with pytest.raises(StoreError, match="closed"):
        place.head()
    with pytest.raises(StoreError, match="closed"):
        place.append(rows_after(Head(6, NOTHING), [("noted", "")]), Head(6, NOTHING))


def test_two_processes_do_not_own_one_stream(home):
    if home.kind == "memory":
        pytest.skip("memory is seen by one process alone")
    store = home.open()
    filled(store)
    if home.kind == "sqlite":
        with pytest.raises(StoreError, match="in use"):
            home.open()
    else:
        other = home.open()
        with pytest.raises(StoreError, match="in use"):
            other.open("orders")
        other.close()
    store.close()
    again = home.open()
    again.open("orders")
    again.close()


def test_homes_are_apart(tmp_path):
    """The control: each test has a store of its own."""
    one, two = Home("sqlite", tmp_path).open(), Home("sqlite", tmp_path).open()
    filled(one)
    assert two.names() == []
    one.close()
    two.close()
