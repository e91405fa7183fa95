"""A record that was changed behind our back: every byte of a small log, rows that are gone or swapped, snapshots."""

import itertools
import os
import random

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, RecordError, StoreError
from appletaste.records.stores import MemoryStore
from appletaste.records.stores.sqlite import AFFECTED, SqliteStore, check_version
from appletaste.records.stores.sqlite_stream import SPAN
from appletaste.streams.snapshots import load_arrays, read_manifest
from appletaste.streams.verify import verify

LONG = bool(os.environ.get("APPLETASTE_FAULTS"))
COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
ITEMS = np.random.default_rng(2).normal(size=(30, 2)) - 0.5


def small(store, items=ITEMS):
    """Return a stream of a few events of most kinds, with a snapshot in the middle."""
    stream = at.Stream.create(store, "orders", at.streams.Awaiting(at.policy("ts", n_features=2, costs=COSTS)), seed=6)
    for k in range(5):
        stream.decide(items[k], id=f"c{k}", stratum="new")
    stream.label(stream.pending[0], 1)
    stream.snapshot()
    stream.note("c1", "hm", by="ann")
    stream.set_mode("frozen", by="ann")
    stream.decide(ITEMS[9], id="c9")
    return stream


@pytest.fixture
def place():
    stream = small(MemoryStore())
    stream.verify()
    return stream.record.place


def flipped(content, k, bit):
    return content[:k] + bytes([content[k] ^ (1 << bit)]) + content[k + 1 :]


def test_every_byte_that_is_flipped_is_found_and_its_event_named(place):
    rows, chance, tried = list(place._rows), random.Random(1), 0
    for n, row in enumerate(rows):
        for field in ("body", "item", "digest"):
            content = getattr(row, field)
            for k in range(len(content or b"")):
                for bit in range(8) if LONG else [chance.randrange(8)]:
                    place._rows[n] = row._replace(**{field: flipped(content, k, bit)})
                    with pytest.raises(RecordError) as told:
                        verify(place)
                    assert told.value.seq == row.seq, (field, k, str(told.value))
                    tried += 1
        for change in ({"kind": "noted"}, {"kind": "labelled"}, {"id": "other"}, {"seq": row.seq + 1}):
            if all(getattr(row, field) == value for field, value in change.items()):
                continue
            place._rows[n] = row._replace(**change)
            with pytest.raises(RecordError) as told:
                verify(place)
            assert told.value.seq == row.seq, (change, str(told.value))
        place._rows[n] = row
    assert tried > 1500
    verify(place)  # the control: put back, the record verifies


def test_rows_that_are_gone_swapped_or_forgotten_are_found(place):
    rows = list(place._rows)
    head = place.head()
    for n in range(len(rows)):
        place._rows = rows[:n] + rows[n + 1 :]
        place.head = lambda: head
        with pytest.raises(RecordError) as told:
            verify(place)
        assert told.value.seq == n + 1
    for n in range(len(rows) - 1):
        place._rows = [*rows[:n], rows[n + 1], rows[n], *rows[n + 2 :]]
        with pytest.raises(RecordError) as told:
            verify(place)
        assert told.value.seq == n + 1
    made = next(n for n, row in enumerate(rows) if row.kind == "decided")
    place._rows = [*rows[:made], rows[made]._replace(item=None), *rows[made + 1 :]]
    with pytest.raises(RecordError, match="no event says why") as told:
        verify(place)
    assert told.value.seq == made + 1
    place._rows = rows
    verify(place)


def test_a_snapshot_that_was_changed_is_found_and_opening_goes_back_to_the_one_before(place):
    (first, genesis), (seq, manifest) = place.snapshots()
    assert first == 0
    for digest, content in list(place._chunks.items()):
        place._chunks[digest] = flipped(content, len(content) // 2, 3)
        with pytest.raises(RecordError, match=r"snapshot after event \d+ is damaged"):
            verify(place)
        place._chunks[digest] = content
    for k in range(0, len(manifest), 1 if LONG else 5):
        place._snapshots[seq] = flipped(manifest, k, k % 8)
        with pytest.raises(RecordError):
            verify(place)
    told = read_manifest(manifest)
    for bit in range(32):  # where every array is shorter than a chunk, nothing else would tell
        with pytest.raises(RecordError, match=r"chunks of \d+ bytes"):
            read_manifest(told._replace(chunk=told.chunk ^ (1 << bit)).packed())
    place._snapshots[seq] = manifest
    for k in range(0, len(genesis), 1 if LONG else 5):
        place._snapshots[0] = flipped(genesis, k, k % 8)
        with pytest.raises(RecordError):
            verify(place)
    place._snapshots[0] = genesis
    verify(place)


def test_a_damaged_tail_opens_in_safe_mode_and_says_why():
    store = MemoryStore()
    stream = small(store)
    place = stream.record.place
    stream.close()
    row = place._rows[-1]
    place._rows[-1] = row._replace(item=flipped(row.item, 30, 0))
    stream = at.Stream.open(store, "orders")
    assert stream.mode == "safe"
    assert stream.trouble.seq == row.seq
    assert stream.decide(ITEMS[0], id="new").act is False
    with pytest.raises(RecordError, match="stays in safe mode"):
        stream.set_mode("live")
    events = len(stream)
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert (stream.mode, len(stream)) == ("safe", events)  # it says so once
    assert stream.decide(ITEMS[0], id="new").again


def test_a_stream_whose_settings_were_changed_is_not_opened():
    """All that follows is read by the first event: a name in it, or a number that still makes sense."""
    store = MemoryStore()
    stream = small(store)
    place = stream.record.place
    stream.close()
    row = place._rows[0]
    for word, other in ((b"roles", b"rolet"), (b"orders", b"ordert")):
        assert word in row.body
        place._rows[0] = row._replace(body=row.body.replace(word, other))
        with pytest.raises(RecordError, match="event 1 cannot be read"):
            at.Stream.open(store, "orders")
    place._rows[0] = row
    at.Stream.open(store, "orders").close()


def test_a_state_that_does_not_verify_is_never_kept(monkeypatch):
    """Not by itself, not when asked for, and not at the end: later openings would take it for the truth."""
    store = MemoryStore()
    stream = small(store)
    place = stream.record.place
    stream.close()
    place._rows[-1] = place._rows[-1]._replace(item=flipped(place._rows[-1].item, 0, 1))
    kept = place.snapshots()
    monkeypatch.setattr(at.streams.snapshots, "EVERY", 5)
    stream = at.Stream.open(store, "orders")
    assert stream.trouble is not None
    for k in range(10, 20):
        stream.decide(ITEMS[k], id=f"c{k}")
        stream._journal.keeper.wait()
        assert place.snapshots() == kept
    stream.snapshot()
    assert place.snapshots() == kept
    stream.close()
    assert place.snapshots() == kept


def test_a_snapshot_of_another_record_is_found():
    stream, stranger = small(MemoryStore()), small(MemoryStore(), 0.5 * ITEMS)
    place, other = stream.record.place, stranger.record.place
    (_, _), (seq, manifest) = other.snapshots()
    assert seq == place.snapshots()[-1][0]
    stream.close()
    place._snapshots[seq] = manifest
    place._chunks |= other._chunks  # whole, and of the very same event number
    with pytest.raises(RecordError, match=f"after event {seq} is of another record"):
        verify(place)
    opened = at.Stream.open(stream._journal.store, "orders")
    assert f"after event {seq} is of another record" in str(opened.trouble)
    assert opened.mode == "safe"


def test_a_damaged_snapshot_is_a_shortcut_less():
    store = MemoryStore()
    stream = small(store)
    place = stream.record.place
    kept = {name: array.tobytes() for name, array in stream._journal.fold.arrays().items()}
    stream.close()
    seq = place.snapshots()[-1][0]
    first = at.streams.snapshots.read_manifest(place.snapshots()[0][1]).chunks()
    mine = next(digest for digest in place.chunks() if digest not in first)
    place._chunks[mine] = b"x" + place._chunks[mine][1:]
    stream = at.Stream.open(store, "orders")
    assert stream.trouble is None
    assert {name: array.tobytes() for name, array in stream._journal.fold.arrays().items()} == kept
    with pytest.raises(RecordError, match=f"after event {seq} is damaged"):
        stream.verify()


@pytest.mark.parametrize(
    ("kind", "shape"), [("<f8", [0, 7]), ("<f8", [-5, -5]), ("<f8", "x"), ("oh", [1]), ("<f8", [2**70])]
)
def test_a_manifest_whose_sizes_are_damaged_is_a_damaged_snapshot(kind, shape):
    place = small(MemoryStore()).record.place
    manifest = read_manifest(place.snapshots()[-1][1])
    (name, _, _, digests), *others = manifest.arrays
    damaged = manifest._replace(arrays=[(name, kind, shape, digests), *others])
    with pytest.raises(RecordError, match=f"after event {manifest.seq} is damaged: the size of {name}"):
        load_arrays(place, damaged)


def test_any_byte_of_the_file_that_is_flipped_is_found_or_was_nothing(tmp_path):
    store = SqliteStore(tmp_path / "shop.db")
    stream = small(store)
    wanted = [tuple(row) for row in stream.record.place.read()]
    stream.close()
    store.close()
    whole = (tmp_path / "shop.db").read_bytes()
    chance, found = random.Random(4), 0
    places = range(0, len(whole), 29) if LONG else chance.sample(range(len(whole)), 150)
    for n, k in enumerate(places):
        path = tmp_path / f"copy{n}.db"
        path.write_bytes(flipped(whole, k, chance.randrange(8)))
        store = None
        try:
            store = SqliteStore(path)
            with at.Stream.open(store, "orders") as stream:
                stream.verify()
                assert [tuple(row) for row in stream.record.place.read()] == wanted
        except AppleTasteError:
            found += 1
        finally:
            if store is not None:
                store.close()
            path.unlink()
    assert found > len(places) // 20


def varint(number):
    """Return a number as SQLite writes it: seven bits a byte, the highest first."""
    groups = [number >> 7 * k & 127 for k in range((number.bit_length() + 6) // 7)]
    return bytes([*(group | 128 for group in groups[:0:-1]), groups[0]])


def test_rows_in_disorder_end_the_reading_instead_of_beginning_it_anew(tmp_path):
    path = tmp_path / "shop.db"
    store = SqliteStore(path)
    small(store).close()
    store.close()
    whole, third = path.read_bytes(), varint(SPAN + 3)
    assert third in whole
    path.write_bytes(whole.replace(third, varint(SPAN + 24)))
    store = SqliteStore(path)
    place = store.open("orders")
    with pytest.raises(StoreError, match=r"shop.db is damaged: its events 24 and 4 are in disorder"):
        list(itertools.islice(place.read(), 1000))
    place.release()
    with at.Stream.open(store, "orders") as stream, pytest.raises(RecordError, match="event 3"):
        stream.verify()
    store.close()


def test_versions_of_sqlite_with_the_bug_are_refused():
    for version in ("3.7.0", "3.40.1", "3.51.2"):
        with pytest.raises(at.errors.StoreError, match=r"WAL-reset bug.*pip install"):
            check_version(version)
    for version in ("3.51.3", "3.54.1", "4.0.0"):
        check_version(version)
    assert AFFECTED[0] < AFFECTED[1]
