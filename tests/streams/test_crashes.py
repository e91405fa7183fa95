"""``kill -9``, at any moment: nothing acknowledged is lost, to the byte, and the next process goes on by itself."""

import multiprocessing
import os
import random
import signal
import time
from pathlib import Path

import pytest

import appletaste as at
from appletaste.errors import NotOwnerError
from appletaste.records.events import Adopted
from appletaste.records.stores.postgres import PostgresStore
from appletaste.records.stores.processes import Processes
from appletaste.records.stores.sqlite import SqliteStore

from . import crashing
from .stores import fresh_database

LONG = bool(os.environ.get("APPLETASTE_FAULTS"))


@pytest.fixture(scope="module")
def forks():
    found = multiprocessing.get_context("forkserver")
    found.set_forkserver_preload(["tests.streams.crashing"])
    return found


def started(forks, work, address, seed):
    """Start a process; return it and where it says what is on disk."""
    told, here = forks.Pipe(duplex=False)
    process = forks.Process(target=work, args=(address, here, seed), daemon=True)
    process.start()
    here.close()
    return process, told


def heard(told, answers, labels):
    """Take in what a process has said, until it says no more."""
    while True:
        try:
            if not told.poll(0.2):
                return
            new, known = told.recv()
        except (EOFError, OSError):
            return
        answers |= dict(new)
        labels |= dict(known)


def killed(forks, work, address, seed, after):
    """Let a process work for a while, kill it, and return what it had acknowledged."""
    process, told = started(forks, work, address, seed)
    answers, labels = {}, {}
    new, known = told.recv()  # it is at work
    answers |= dict(new)
    labels |= dict(known)
    time.sleep(after)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    heard(told, answers, labels)
    return answers, labels


def check(address, answers, labels):
    """Everything that was acknowledged is there, to the byte, and the record verifies."""
    with crashing.open_soon(address) as stream:
        assert stream.trouble is None
        lost = [id_ for id_, told in answers.items() if id_ not in stream or stream.find(id_).answer.json() != told]
        entries = {id_: stream.find(id_).entry for id_ in labels}
        lost += [id_ for id_, one in entries.items() if labels[id_] not in (one.label, one.report)]
        assert lost == []
        stream.verify()


@pytest.mark.parametrize(
    ("kind", "kills"), [("sqlite", 500 if LONG else 40), ("postgres", 100 if LONG else 8)], ids=["sqlite", "postgres"]
)
def test_killed_under_load(forks, tmp_path, kind, kills):
    address = str(tmp_path / "shop.db") if kind == "sqlite" else fresh_database()
    dear = at.Costs(miss=1, false_alarm=2, hit=0)  # half of all items are passed, and some of them are reported
    at.Stream.create(address, "orders", crashing.player(dear), seed=6).close()
    chance, answers, labels = random.Random(8), {}, {}
    for seed in range(kills):
        new, known = killed(forks, crashing.decide_and_label, address, seed, chance.uniform(0.0, 0.06))
        answers |= new
        labels |= known
        if seed % 10 == 9:
            check(address, answers, labels)
    check(address, answers, labels)
    assert len(answers) > 3 * kills
    assert len(labels) > kills // 2
    with crashing.open_soon(address) as stream:
        log = stream.log()
    assert log.report is not None
    assert (
        dict(zip(log.id[~log.act].tolist(), log.report[~log.act].tolist(), strict=True)).items()
        >= {id_: value for id_, value in labels.items() if id_ in set(log.id[~log.act].tolist())}.items()
    )


@pytest.mark.parametrize(
    ("kind", "kills"), [("sqlite", 200 if LONG else 10), ("postgres", 50 if LONG else 3)], ids=["sqlite", "postgres"]
)
def test_killed_while_trees_join_it_goes_on_as_one_that_was_not(forks, tmp_path, kind, kills):
    """The adoption of a model is on disk with the label that it came after, or neither is."""
    pytest.importorskip("lightgbm")
    address = str(tmp_path / "shop.db") if kind == "sqlite" else fresh_database()
    at.Stream.create(address, "orders", crashing.player(), seed=6).close()
    chance, answers = random.Random(8), {}
    for seed in range(kills):
        answers |= killed(forks, crashing.grow_trees, address, seed, chance.uniform(0.0, 0.8 if LONG else 0.6))[0]
    check(address, answers, {})
    whole = at.Stream.create("memory", "orders", crashing.player(), seed=6)
    with crashing.open_soon(address) as stream:
        stop = max(len(stream), 700)
        crashing.go_on_with_trees(stream, stop)
        crashing.go_on_with_trees(whole, stop)
        assert adoptions(stream) == adoptions(whole)
        assert len(adoptions(stream)) >= 3
        one, other = stream.log(), whole.log()
        assert (one.act == other.act).all()
        assert (one.probability == other.probability).all()
        assert [array.tobytes() for array in stream.player.arrays().values()] == [
            array.tobytes() for array in whole.player.arrays().values()
        ]


def adoptions(stream):
    """Return the trees that a stream has gone on with."""
    return [(event.labels, event.sha256, event.evidence) for _, event in stream.events() if isinstance(event, Adopted)]


@pytest.mark.parametrize("work", [crashing.snapshot_all_the_time, crashing.back_up_all_the_time, crashing.migrate])
def test_killed_during_a_snapshot_a_backup_or_a_migration(forks, tmp_path, work, monkeypatch):
    kills = 60 if LONG else 6
    address = str(tmp_path / "shop.db")
    at.Stream.create(address, "orders", crashing.player(), seed=6).close()
    chance, answers, labels = random.Random(9), {}, {}
    for seed in range(kills):
        new, known = killed(forks, work, address, seed, chance.uniform(0.0, 0.1))
        answers |= new
        labels |= known
    if work is crashing.migrate:
        with pytest.raises(at.AppleTasteError, match="newer version"):
            SqliteStore(address)
        done = crashing.open_store(address, read_only=True)
        run = [number for (number,) in done.ask("SELECT number FROM migrations ORDER BY number")]
        tables = [name for (name,) in done.ask("SELECT name FROM sqlite_master WHERE name GLOB 't[0-9]*'")]
        done.close()
        assert run == list(range(1, len(run) + 1))  # in order, none left out
        assert len(tables) == len(run) - len(SqliteStore.MIGRATIONS)  # each whole
        return
    check(address, answers, labels)
    assert len(answers) > kills
    copies = sorted(tmp_path.glob("*.copy"))
    for copy in copies[-3:]:
        with at.Stream.open(copy, "orders") as stream:
            stream.verify()
    assert bool(copies) == (work is crashing.back_up_all_the_time)


def test_an_owner_that_is_stopped_is_replaced_and_writes_nothing_more(forks, monkeypatch):
    address = fresh_database()
    at.Stream.create(address, "orders", crashing.player(), seed=6).close()
    process, told = started(forks, crashing.own_until_stopped, address, 1)
    answers, labels = {}, {}
    for _ in range(5):
        new, _ = told.recv()
        answers |= dict(new)
    with pytest.raises(NotOwnerError, match="in use"):  # alive: nobody takes its stream
        at.Stream.open(address, "orders")
    os.kill(process.pid, signal.SIGSTOP)
    heard(told, answers, labels)
    began = time.monotonic()
    monkeypatch.setattr(Processes, "STALE", 1.5)
    while True:
        try:
            stream = at.Stream.open(address, "orders")
            break
        except NotOwnerError:
            assert time.monotonic() - began < 10
            time.sleep(0.1)
    taken = len(stream)
    mine = stream.decide(crashing.ITEMS[0], id="mine")
    os.kill(process.pid, signal.SIGCONT)
    said = told.recv()
    while not isinstance(said, str):
        said = told.recv()
    assert said in ("OutcomeUnknownError", "NotOwnerError", "StoreError", "StoppedError")
    process.join()
    assert mine.seq == taken + 1
    assert len(stream) == stream.record.place.head().seq == taken + 1
    for id_, answer in answers.items():
        assert stream.find(id_).answer.json() == answer
    stream.verify()
    stream.close()


def test_a_write_with_an_old_token_is_refused():
    """Without the lock, too: the token alone fences a former owner off."""
    address = fresh_database()
    stream = at.Stream.create(address, "orders", crashing.player(), seed=6)
    other = PostgresStore(address)
    other.ask("UPDATE streams SET token = token + 1 WHERE name = 'orders' RETURNING token")
    with pytest.raises(NotOwnerError, match="another owner"):
        stream.decide(crashing.ITEMS[0], id="a")
    assert stream.stopped
    assert other.ask("SELECT seq FROM streams") == [(1,)]
    other.close()
    stream.close()


def test_copies_are_not_written_over(tmp_path):
    store = SqliteStore(tmp_path / "shop.db")
    store.backup(tmp_path / "copy.db")
    with pytest.raises(at.errors.InputError, match="there already"):
        store.backup(tmp_path / "copy.db")
    store.close()
    assert not list(Path(tmp_path).glob(".*.part"))
