"""A stream that is made or imported is there whole or not at all, whatever fails, and its name stays free."""

import random

import psycopg
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, ConflictError, NotOwnerError, OutcomeUnknownError
from appletaste.records.stores.memory import MemoryPlace, MemoryStore
from appletaste.records.stores.postgres import PostgresPlace
from appletaste.records.stores.sqlite import SqliteStore
from appletaste.records.stores.sqlite_stream import SqlitePlace
from appletaste.streams import snapshots
from appletaste.streams import transfer as moving

from .crashing import ITEMS, player
from .disk import Disk
from .stores import Home

PLACES = {"memory": MemoryPlace, "sqlite": SqlitePlace, "postgres": PostgresPlace}
WRITES = ("put_chunk", "put_snapshot", "append")


@pytest.fixture(autouse=True)
def in_small_parts(monkeypatch):
    """Let there be many writes: chunks of a snapshot, and parts of a file."""
    monkeypatch.setattr(snapshots, "CHUNK", 64)
    monkeypatch.setattr(moving, "PART", 10)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A stream in a file, with a snapshot in the middle."""
    path = tmp_path_factory.mktemp("making") / "orders.stream"
    stream = at.Stream.create("memory", "orders", player(), seed=6)
    for k in range(30):
        stream.decide(ITEMS[k], id=str(k))
        if k == 12:
            stream.snapshot()
    moving.export_stream(stream.record.place, path)
    stream.close()
    return path


def created(store, path):
    at.Stream.create(store, "orders", player(), seed=6).close()


def imported(store, path):
    moving.import_stream(path, store)


WAYS = {created: 1, imported: 31}  #: and how many events there are then


class Rehearsed(MemoryPlace):
    """Where an import is tried out, whatever becomes of streams in memory."""

    put_chunk, put_snapshot, append = (getattr(MemoryPlace, name) for name in WRITES)


class Rehearsal(MemoryStore):
    def create(self, name, secret):
        place = Rehearsed(name, secret)
        place.owned = True
        return place


class BrokenError(Exception):
    """What was asked for."""


def break_at(monkeypatch, kind, k, what):
    """Let something happen before the k-th write to a stream of a store, or after it; return how many there were."""
    counted = [0]

    def of(write):
        def instead(place, *given):
            counted[0] += 1
            if 2 * counted[0] - 1 == k:
                what(place)
            write(place, *given)
            if 2 * counted[0] == k:
                what(place)

        return instead

    for name in WRITES:
        monkeypatch.setattr(PLACES[kind], name, of(getattr(PLACES[kind], name)))
    return counted


def check_whole(store, events):
    """A stream that is there has all its events, and verifies."""
    with at.Stream.open(store, "orders") as stream:
        assert (len(stream), stream.mode, stream.trouble) == (events, "live", None)
        stream.verify()


def each_write(monkeypatch, kind, way, store, path):
    """Return how many writes making a stream takes."""
    with monkeypatch.context() as patch:
        counted = break_at(patch, kind, 0, print)
        way(store, path)
    assert counted[0] > 5
    return counted[0]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_whichever_write_fails_nothing_is_left_and_the_name_is_free(home, exported, tmp_path, monkeypatch, way):
    monkeypatch.setattr(moving, "MemoryStore", Rehearsal)
    other = Home(home.kind, tmp_path)
    writes = each_write(monkeypatch, home.kind, way, other.open(), exported)
    store = home.open()

    def fail(place):
        raise BrokenError

    for k in range(1, 2 * writes + 1):
        with monkeypatch.context() as patch:
            break_at(patch, home.kind, k, fail)
            with pytest.raises(BrokenError):
                way(store, exported)
        assert store.names() == []
        if home.kind != "memory":
            looking = home.open(read_only=True)
            assert looking.names() == []
            looking.close()
    way(store, exported)
    check_whole(store, WAYS[way])
    with pytest.raises(ConflictError, match="a stream 'orders' already"):
        way(store, exported)
    store.close()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_whenever_the_session_of_postgresql_ends_the_stream_is_whole_or_not_there(exported, tmp_path, monkeypatch, way):
    """What breaks before the commit is made again in another session; of a commit nobody knows, until one looks."""
    home = Home("postgres", tmp_path)
    writes = each_write(monkeypatch, "postgres", way, Home("postgres", tmp_path).open(), exported)
    made, unknown = 0, 0

    def end_session(place):
        with psycopg.connect(home.address, autocommit=True) as other:
            session = place._store._mine.connection.info.backend_pid
            assert other.execute("SELECT pg_terminate_backend(%s, 10000)", (session,)).fetchone() == (True,)

    for k in [*range(1, 2 * writes, 3), 2 * writes]:
        home = Home("postgres", tmp_path)
        store = home.open()
        with monkeypatch.context() as patch:
            break_at(patch, "postgres", k, end_session)
            try:
                way(store, exported)
                made += 1
            except OutcomeUnknownError:
                unknown += 1
        store.close()
        store = home.open()
        if "orders" not in store.names():
            way(store, exported)
        check_whole(store, WAYS[way])
        store.close()
    assert made > writes // 3
    assert unknown == 1  # the commit is what comes after the last write


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("cut", [False, True], ids=["fails", "power cut"])
def test_whichever_write_or_sync_of_the_disk_fails_the_stream_is_whole_or_not_there(exported, tmp_path, way, cut):
    path, chance = str(tmp_path / "shop.db"), random.Random(3)
    empty = Disk()
    SqliteStore(path, vfs=empty.name).close()
    files = empty.content()

    def run(fail_at):
        """Make the stream on a disk that fails; return the disk and what a process finds that starts afterwards."""
        disk = Disk(files)
        store = SqliteStore(path, vfs=disk.name)
        disk.steps, disk.fail_at, disk.cut = 0, fail_at, cut
        try:
            way(store, exported)
        except AppleTasteError:
            assert fail_at
        left = disk.survivors(chance) if cut and fail_at else disk.content()
        disk.fail_at = 0
        store.close()
        return disk.steps, left

    total, _ = run(0)
    absent = 0
    for k in range(1, total + 1):
        disk = Disk(run(k)[1])
        store = SqliteStore(path, vfs=disk.name)
        if "orders" not in store.names():
            absent += 1
            way(store, exported)
        check_whole(store, WAYS[way])
        store.close()
    assert absent > total // 2


def test_what_an_older_version_left_half_made_is_replaced(home):
    """A name and parts of a snapshot without an event; one that is being made this moment is not touched."""
    store = home.open()
    half = store.create("orders", b"old secret")
    half.put_chunk(b"a" * 32, b"old")
    half.put_snapshot(0, b"old", (), {b"a" * 32})
    with pytest.raises((ConflictError, NotOwnerError)):
        created(store, None)
    half.release()
    with pytest.raises(at.errors.RecordError, match=r"never finished.*Create the stream again"):
        at.Stream.open(store, "orders")
    created(store, None)
    check_whole(store, 1)
    place = store.open("orders")
    assert b"a" * 32 not in place.chunks()
    assert [seq for seq, _ in place.snapshots()] == [0]
    assert place.secret == (6).to_bytes(16, "big")
    store.close()
