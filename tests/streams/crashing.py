"""What a process does until it is killed: imported by a server of forks, so that a start takes no time."""

from __future__ import annotations

import random
import sys
import time
from contextlib import suppress
from itertools import count

import numpy as np

import appletaste as at
from appletaste.errors import NotOwnerError
from appletaste.policies import boosting
from appletaste.records.stores import open_store
from appletaste.records.stores.migrations import Migration
from appletaste.streams import snapshots

with suppress(at.errors.MissingExtraError):
    from appletaste.records.stores.processes import Processes

    Processes.GONE = 0.0  # whoever was killed is replaced at once, and not after two seconds

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
ITEMS = np.random.default_rng(5).normal(size=(200, 2)) - 0.5


def player(costs=COSTS):
    return at.Desk(at.streams.Awaiting(at.policy("voi", n_features=2, costs=costs)), audit=at.Audit(floor=0.3))


def _warm():
    """Load what is compiled, and what fits trees, before any fork."""
    boosting.library()
    stream = at.Stream.create("memory", "warm", player())
    for k in range(30):
        if stream.decide(ITEMS[k], id=str(k)).act:
            stream.label(str(k), k % 2)


if "forkserver" in " ".join(sys.orig_argv):
    _warm()


def open_soon(address):
    """Open the stream of a process that was killed this moment: PostgreSQL may take a while to end its session."""
    for _ in range(200):
        try:
            return at.Stream.open(address, "orders")
        except NotOwnerError:
            time.sleep(0.05)
    return at.Stream.open(address, "orders")


def decide_and_label(address, told, seed):
    """Decide in groups of any size, label, and say what is on disk by now; for ever."""
    chance = random.Random(seed)
    stream = open_soon(address)
    n = len(stream)
    for start in count(n, 100):
        with stream.group():
            answers = [
                stream.decide(ITEMS[k % 200], id=f"{seed}-{k}") for k in range(start, start + chance.randrange(1, 9))
            ]
            labels = {id_: chance.randrange(2) for id_ in stream.pending[: chance.randrange(3)]}
            passed = [answer.id for answer in answers if not answer.act][: chance.randrange(2)]
            labels |= {id_: chance.randrange(2) for id_ in passed}  # reports
            for id_, value in labels.items():
                stream.label(id_, value)
        told.send(([(answer.id, answer.json()) for answer in answers], list(labels.items())))


def snapshot_all_the_time(address, told, seed):
    """The same, with a snapshot after every few decisions, in many small chunks."""
    snapshots.CHUNK = 512
    stream = at.Stream.open(address, "orders")
    for k in count(len(stream)):
        answer = stream.decide(ITEMS[k % 200], id=f"{seed}-{k}")
        told.send(([(answer.id, answer.json())], []))
        if k % 3 == 0:
            stream.snapshot()


#: Two numbers that say nothing each, and all together.
CROSSED = np.random.default_rng(9).normal(size=(6000, 2))
CROSSED_LABELS = (np.random.default_rng(10).random(6000) < 1 / (1 + np.exp(-4 * np.sign(CROSSED.prod(1))))).astype(int)


def grow_trees(address, told, seed):
    """Decide and label, one by one in the same order whoever goes on, until trees have joined and were grown anew."""
    stream = open_soon(address)
    go_on_with_trees(stream, 10**9, lambda answer: told.send(([(answer.id, answer.json())], [])))


def go_on_with_trees(stream, stop, said=lambda answer: None):
    """Decide on the items that are left before a stop, and label each that is acted on at once."""
    for id_ in list(stream.pending):  # of the decision at which another process was killed
        stream.label(id_, int(CROSSED_LABELS[int(id_) % 6000]))
    for k in range(stream.player.policy.round, stop):
        answer = stream.decide(CROSSED[k % 6000], id=str(k))
        if answer.act:
            stream.label(answer.id, int(CROSSED_LABELS[k % 6000]))
        said(answer)
        if k % 150 == 149:
            stream.snapshot()


def back_up_all_the_time(address, told, seed):
    """The same, with a copy of the file after every decision."""
    store = open_store(address)
    stream = at.Stream.open(store, "orders")
    for k in count(len(stream)):
        answer = stream.decide(ITEMS[k % 200], id=f"{seed}-{k}")
        told.send(([(answer.id, answer.json())], []))
        store.backup(f"{address}.{seed}.{k}.copy")


def migrate(address, told, seed):
    """Open a store that needs many migrations, and then as before."""
    from appletaste.records.stores.sqlite import SqliteStore

    more = tuple(
        Migration(number, f"test {number}", (f"CREATE TABLE t{number} (a)", f"INSERT INTO t{number} VALUES ({number})"))
        for number in range(len(SqliteStore.MIGRATIONS) + 1, 60)
    )
    SqliteStore.MIGRATIONS = (*SqliteStore.MIGRATIONS, *more)
    told.send(([], []))
    decide_and_label(address, told, seed)


def own_until_stopped(address, told, seed):
    """Decide one by one in PostgreSQL, and say what became of the attempt."""
    stream = at.Stream.open(address, "orders")
    try:
        for k in count():
            answer = stream.decide(ITEMS[k % 200], id=f"{seed}-{k}")
            told.send(([(answer.id, answer.json())], []))
    except at.AppleTasteError as error:
        told.send(type(error).__name__)
