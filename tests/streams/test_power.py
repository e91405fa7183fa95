"""Power cuts and failing disks: nothing that was acknowledged is lost, and what failed is never called stored or not.

A disk in memory (``disk``) loses and tears what was not synced. That the tests can fail is shown: with
``synchronous=NORMAL`` acknowledged decisions are lost.
"""

import os
import random
from contextlib import contextmanager

import apsw
import numpy as np
import pytest

import appletaste as at
from appletaste.errors import AppleTasteError, OutcomeUnknownError, StoppedError
from appletaste.records.stores.sqlite import SqliteStore

from .disk import Disk

LONG = bool(os.environ.get("APPLETASTE_FAULTS"))
CUTS = 5000 if LONG else 300
COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
ITEMS = np.random.default_rng(5).normal(size=(200, 2)) - 0.5


class Careless(SqliteStore):
    """A store that does not wait for the disk: the tests must notice."""

    SYNCHRONOUS = "NORMAL"


class Told:
    """What was acknowledged: answers to the byte, and labels."""

    def __init__(self):
        self.answers, self.labels = {}, {}

    def lost(self, stream):
        """Return the ids whose answer or label is not what was acknowledged."""
        gone = []
        for id_, answer in self.answers.items():
            if id_ not in stream or stream.find(id_).answer.json() != answer:
                gone.append(id_)
        return gone + [
            id_ for id_, value in self.labels.items() if id_ not in stream or stream.find(id_).entry.label != value
        ]


def work(stream, told, start=0, groups=6):
    """Decide and label in groups; what a group did is acknowledged when its block has ended."""
    n = start
    for group in range(groups):
        answers, labels = [], {}
        with stream.group():
            for _ in range(1 + group % 3):
                answers.append(stream.decide(ITEMS[n % 200], id=f"c{n}"))
                n += 1
            for id_ in stream.pending[:1]:
                labels[id_] = n % 2
                stream.label(id_, n % 2)
        told.answers |= {answer.id: answer.json() for answer in answers}
        told.labels |= labels
        if group == 2:
            stream.snapshot()


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A stream that has some events, as files of a disk; and where they are."""
    path = str(tmp_path_factory.mktemp("power") / "shop.db")
    disk = Disk()
    store = SqliteStore(path, vfs=disk.name)
    policy = at.Desk(at.streams.Awaiting(at.policy("voi", n_features=2, costs=COSTS)), audit=at.Audit(floor=0.3))
    stream = at.Stream.create(store, "orders", policy, seed=6)
    told = Told()
    work(stream, told)
    stream.close()
    store.close()
    return path, disk.content(), told


def run(kind, path, files, fail_at, cut, error=apsw.IOError):
    """Go on with a stream until the disk fails; return the disk, what was acknowledged, and what was said."""
    disk, told, said = Disk(files), Told(), None
    disk.error = error
    store = kind(path, vfs=disk.name)
    disk.steps, disk.fail_at, disk.cut = 0, fail_at, cut
    try:
        stream = at.Stream.open(store, "orders")
        work(stream, told, start=100, groups=4)
        stream.close()
    except AppleTasteError as failed:
        said = failed
        if not cut:
            with pytest.raises(StoppedError):
                stream.decide(ITEMS[0], id="after")
    left = disk.content()  # as the process leaves it that exits now
    disk.fail_at = 0
    store.close()
    return disk, told, said, left


def operations(kind, begun):
    """Return how many writes and syncs a run without failure takes."""
    disk, _, said, _ = run(kind, *begun[:2], 0, False)
    assert said is None
    return disk.steps


@contextmanager
def recovered(path, files):
    """Give the stream as a process finds it that starts on these files."""
    disk = Disk(files)  # held: a file system that nobody holds is gone
    store = SqliteStore(path, vfs=disk.name)
    try:
        yield at.Stream.open(store, "orders")
    finally:
        store.close()


def cuts(kind, begun, number, seed):
    """Cut the power that often, at random; return how many acknowledged things were lost, and how many there were."""
    path, files, before = begun
    chance, total = random.Random(seed), operations(kind, begun)
    lost = kept = 0
    for _ in range(number):
        disk, told, _, _ = run(kind, path, files, chance.randrange(1, total + 1), True)
        with recovered(path, disk.survivors(chance)) as stream:
            gone = told.lost(stream) + before.lost(stream)
            lost, kept = lost + len(gone), kept + len(told.answers)
            assert stream.trouble is None
            if not gone and kept % 4 == 0:
                stream.verify()
    return lost, kept


def test_a_power_cut_loses_nothing_that_was_acknowledged(begun):
    lost, kept = cuts(SqliteStore, begun, CUTS, seed=1)
    assert lost == 0
    assert kept > 2 * CUTS


def test_without_full_sync_the_same_test_fails(begun):
    lost, _ = cuts(Careless, begun, 40, seed=2)
    assert lost > 20


def test_a_commit_is_one_sync(begun):
    path, files, _ = begun
    disk = Disk(files)
    store = SqliteStore(path, vfs=disk.name)
    stream = at.Stream.open(store, "orders")
    stream.decide(ITEMS[0], id="first")  # begins a new log of writes
    before = disk.syncs
    for k in range(20):
        stream.decide(ITEMS[k], id=f"one{k}")
    assert disk.syncs - before == 20
    store.close()


@pytest.mark.parametrize("error", [apsw.IOError, apsw.FullError] if LONG else [apsw.IOError])
def test_whichever_write_or_sync_fails_the_outcome_is_called_unknown_and_nothing_acknowledged_is_lost(begun, error):
    path, files, before = begun
    total = operations(SqliteStore, begun)
    surfaced = stored = 0
    for k in range(1, total + 1):
        _, told, said, left = run(SqliteStore, path, files, k, False, error)
        if said is not None:
            surfaced += 1
            assert isinstance(said, OutcomeUnknownError)
            assert "not known" in str(said)
        with recovered(path, left) as stream:
            assert told.lost(stream) + before.lost(stream) == []
            assert stream.trouble is None
            stored += any(f"c{n}" in stream and f"c{n}" not in told.answers for n in range(100, 120))
            again = Told()
            work(stream, again, start=100, groups=4)  # the same requests settle what happened
            assert {id_: answer for id_, answer in again.answers.items() if id_ in told.answers} == told.answers
            if k % 7 == 0:
                stream.verify()
    assert surfaced > total // 3
    assert stored  # some of what failed was there afterwards: the reason for "not known"
