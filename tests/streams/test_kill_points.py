"""Every write and sync at which a process can be killed or a disk can fail, counted, for all that changes a store.

A disk in memory (``disk``) fails at its k-th operation, or loses and tears what was not synced, for every k. Whatever
happens: what was acknowledged before is there to the byte, a stream is whole or not there and its name is free, a key
opens what it did or what it was to, and what is there verifies.
"""

import os
import random
import signal
from contextlib import closing, suppress
from pathlib import Path

import apsw
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, MissingExtraError
from appletaste.policies import boosting
from appletaste.records.events import Adopted
from appletaste.records.stores import open_store
from appletaste.records.stores.migrations import Migration
from appletaste.records.stores.sqlite import SqliteStore
from appletaste.service.keys import Keys
from appletaste.streams import transfer

from .crashing import COSTS, CROSSED, CROSSED_LABELS, ITEMS, player
from .disk import Disk

LONG = bool(os.environ.get("APPLETASTE_FAULTS"))


class Scene:
    """Something that changes a store which has a stream ``orders`` and a key already."""

    short = 8  #: points that are looked at in the short form
    reopened = SqliteStore  #: what the store is opened with afterwards

    def begin(self, store):
        """Make what is there before."""
        self.answers = {}
        with at.Stream.create(store, "orders", player(), seed=6) as stream:
            for k in range(40):
                told = stream.decide(ITEMS[k], id=str(k))
                self.answers[told.id] = told.json()
                if told.act:
                    stream.label(told.id, k % 2)
                if k == 20:
                    stream.snapshot()
        self.secret = Keys(store).create("ann", ["read"])[0]

    def change(self, store):
        """Change the store."""

    def check(self, store, done):
        """See that all of it or nothing was done; ``done``: it was acknowledged."""

    def check_rest(self, store):
        """What was there before is there."""
        assert Keys(store).find(self.secret) is not None or type(self) is Revoked
        with at.Stream.open(store, "orders") as stream:
            assert stream.trouble is None
            for id_, answer in self.answers.items():
                assert stream.find(id_).answer.json() == answer
            stream.verify()


class Created(Scene):
    def change(self, store):
        at.Stream.create(store, "new", player(), seed=7).close()

    def check(self, store, done):
        if done or "new" in store.names():
            with at.Stream.open(store, "new") as stream:
                assert (len(stream), stream.mode) == (1, "live")
                stream.verify()
        else:
            self.change(store)  # the name is free


class Imported(Scene):
    def begin(self, store):
        super().begin(store)
        with at.Stream.open(store, "orders") as stream:
            self.file = Path(store.address).with_suffix(".stream")
            self.file.unlink(missing_ok=True)
            self.events = transfer.export_stream(stream.record.place, self.file)

    def change(self, store):
        transfer.import_stream(self.file, store, "new")

    def check(self, store, done):
        if not done and "new" not in store.names():
            self.change(store)
        with at.Stream.open(store, "new") as stream:
            assert len(stream) == self.events
            assert stream.trouble is None
            stream.verify()


class Erased(Scene):
    def change(self, store):
        with at.Stream.open(store, "orders") as stream:
            stream.erase("3")

    def check(self, store, done):
        with at.Stream.open(store, "orders") as stream:
            assert stream.find("3").erased or not done
            stream.erase("3")
            assert all(gap.before for gap in stream.verify().gaps)


class Made(Scene):
    def change(self, store):
        Keys(store).create("ben", ["decide"], by="boss")

    def check(self, store, done):
        keys = Keys(store)
        there = [key.name for key in keys.all()]
        assert there == ["ann", "ben"] if done else there in (["ann"], ["ann", "ben"])
        noted = [entry.who for entry in keys.trail.latest(10)]
        assert set(there) <= set(noted)  # no key that nobody can find out about


class Revoked(Scene):
    def change(self, store):
        keys = Keys(store)
        keys.revoke(keys.find(self.secret).id, "boss")

    def check(self, store, done):
        keys = Keys(store)
        open_still = keys.find(self.secret) is not None
        assert not (open_still and done)
        if not open_still:
            assert "key revoked" in [entry.what for entry in keys.trail.latest(10)]


class Newer(SqliteStore):
    """A store of a later version, with eight migrations more."""

    MIGRATIONS = (
        *SqliteStore.MIGRATIONS,
        *(
            Migration(number, f"test {number}", (f"CREATE TABLE t{number} (a)", f"INSERT INTO t{number} VALUES (1)"))
            for number in range(len(SqliteStore.MIGRATIONS) + 1, len(SqliteStore.MIGRATIONS) + 9)
        ),
    )


class Migrated(Scene):
    """A store of an earlier version."""

    reopened = Newer

    def change(self, store):
        store.MIGRATIONS = Newer.MIGRATIONS
        store._migrate()

    def check(self, store, done):
        rows = store.ask("SELECT number FROM migrations ORDER BY number")
        assert [number for (number,) in rows] == [step.number for step in Newer.MIGRATIONS]
        for step in Newer.MIGRATIONS[len(SqliteStore.MIGRATIONS) :]:
            assert store.ask(f"SELECT count(*) FROM t{step.number}") == [(1,)]


class Grown(Scene):
    """Trees are adopted."""

    short = 2

    def begin(self, store):
        super().begin(store)
        policy = at.policy("voi", n_features=2, costs=COSTS)
        with at.Stream.create(store, "trees", policy, seed=1) as stream, stream.group():
            stream.decide_many(list(CROSSED[:199]), ids=[str(k) for k in range(199)])
            for id_ in stream.pending:
                stream.label(id_, int(CROSSED_LABELS[int(id_)]))

    def change(self, store):
        self.told = {}
        with at.Stream.open(store, "trees") as stream:
            for k in range(199, 420):
                answer = stream.decide(CROSSED[k], id=str(k))
                self.told[answer.id] = answer.json()
                if answer.act:
                    stream.label(answer.id, int(CROSSED_LABELS[k]))

    def check(self, store, done):
        with at.Stream.open(store, "trees") as stream:
            assert stream.trouble is None
            for id_, answer in self.told.items():  # each was acknowledged
                assert stream.find(id_).answer.json() == answer
            adopted = [event for _, event in stream.events() if isinstance(event, Adopted)]
            assert adopted or not done
            stream.verify()


SCENES = [Created, Imported, Erased, Made, Revoked, Migrated, Grown]


def run(scene, path, files, fail_at, cut):
    """Change a store until the disk fails; return its operations, the files that are left, and whether it was done."""
    disk = Disk(files)
    store = SqliteStore(path, vfs=disk.name)
    disk.steps, disk.fail_at, disk.cut = 0, fail_at, cut
    done = True
    try:
        scene.change(store)
    except (AppleTasteError, apsw.Error):  # a migration is run by itself here, without the words around it
        assert fail_at
        done = False
    steps = disk.steps
    left = disk.survivors(random.Random(fail_at)) if cut and fail_at else disk.content()
    disk.fail_at = 0
    with suppress(AppleTasteError):  # without power nothing is tidied up
        store.close()
    return steps, left, done


@pytest.mark.parametrize("kind", SCENES, ids=lambda kind: kind.__name__.lower())
def test_wherever_a_process_dies_or_a_disk_fails_all_or_nothing_was_done(kind, tmp_path, monkeypatch, capsys):
    if kind is Grown:
        try:
            boosting.library()
        except MissingExtraError:
            pytest.skip("trees need LightGBM")
    monkeypatch.setattr("appletaste.streams.snapshots.CHUNK", 256)
    path, scene, empty = str(tmp_path / "shop.db"), kind(), Disk()
    store = SqliteStore(path, vfs=empty.name)
    scene.begin(store)
    store.close()
    files = empty.content()
    total, _, done = run(scene, path, files, 0, False)
    assert done
    few = 1 if LONG else max(1, total // kind.short)
    points = range(1, total + 1, few * (20 if LONG and kind is Grown else 1))  # each of those takes a second
    for cut in (False, True):
        for point in points:
            _, left, done = run(scene, path, files, point, cut)
            disk = Disk(left)
            store = scene.reopened(path, vfs=disk.name)
            scene.check_rest(store)
            scene.check(store, done)
            store.close()
    with capsys.disabled():
        print(f"\n{kind.__name__}: {len(points)} of {total} kill points, as many failing writes; 0 lost, 0 half done")


class Careless(SqliteStore):
    """A store that does not wait for the disk."""

    SYNCHRONOUS = "OFF"


@pytest.mark.parametrize("kind", [SqliteStore, Careless])
def test_the_check_can_fail(kind, tmp_path):
    """The control: without syncs a power cut loses keys that were acknowledged."""
    lost, path, chance = 0, str(tmp_path / "shop.db"), random.Random(1)
    for _ in range(20):
        disk, scene = Disk(), Made()
        store = kind(path, vfs=disk.name)
        scene.begin(store)
        scene.change(store)
        again = Disk(disk.survivors(chance))
        store.close()
        with closing(SqliteStore(path, vfs=again.name)) as store:
            try:
                scene.check_rest(store)
                scene.check(store, True)
            except (AppleTasteError, AssertionError):
                lost += 1
    assert (lost > 0) == (kind is Careless)


class Killer:
    """Kills the process at its k-th step, or counts."""

    def __init__(self, at_step):
        self.at_step, self.steps = at_step, 0

    def around(self, call):
        def instead(*given, **named):
            self.steps += 1
            if self.steps == self.at_step:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*given, **named)

        return instead


@pytest.mark.skipif(os.name == "nt", reason="no fork")
def test_wherever_a_backup_is_killed_there_is_a_whole_copy_or_none(tmp_path, capsys, monkeypatch):
    source, copy, scene = tmp_path / "shop.db", tmp_path / "copy.db", Scene()
    store = open_store(source)
    scene.begin(store)
    store.close()

    def back_up(killer):
        """Copy a store step by step."""
        from appletaste.records.stores import sqlite

        store = open_store(source)
        sqlite.make_private = killer.around(sqlite.make_private)
        sqlite.os.fsync = killer.around(os.fsync)
        Path.replace = killer.around(Path.replace)
        lock = store.lock
        store.lock = Locked(lock, killer)
        store.backup(copy)

    class Locked:
        """Counts the steps of a copy, which are made one by one under the lock."""

        def __init__(self, lock, killer):
            self.lock, self.enter = lock, killer.around(lock.__enter__)

        def __enter__(self):
            return self.enter()

        def __exit__(self, *error):
            return self.lock.__exit__(*error)

    def in_child(at_step):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            killer = Killer(at_step)
            back_up(killer)
            os.write(writing, str(killer.steps).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as told:
            steps = told.read()
        _, status = os.waitpid(child, 0)
        return steps, os.WIFSIGNALED(status)

    steps, killed = in_child(0)
    assert not killed
    total = int(steps)
    copy.unlink()
    for point in range(1, total + 1):
        _, killed = in_child(point)
        assert killed
        assert not copy.exists()
        store = open_store(source)
        scene.check_rest(store)
        store.backup(copy)  # whatever was left aside
        store.close()
        whole = open_store(copy)
        scene.check_rest(whole)
        whole.close()
        copy.unlink()
    assert total >= 4
    with capsys.disabled():
        print(f"\nbackup: {total} kill points; 0 lost, 0 half copies")
