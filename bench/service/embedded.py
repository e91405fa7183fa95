"""``at.Stream`` in a file: how fast it decides, opens and verifies, what it holds, how long a decision waits."""

from __future__ import annotations

import os
import resource
import statistics
import time
from pathlib import Path

import numpy as np

import appletaste as at
from appletaste.records.stores import MemoryStore
from appletaste.streams import snapshots

FEATURES, GROUP = 20, 100
COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
Row = tuple[str, str, str]


def items(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return items with an intercept, of which about one in eight is worth acting on, and their labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, FEATURES))
    X[:, 0] = 1.0
    theta = np.random.default_rng(0).normal(size=FEATURES) * 0.5
    theta[0] = -4.0
    return X, (rng.random(n) < 1 / (1 + np.exp(-X @ theta))).astype(int)


def player() -> at.policies.Player:
    return at.streams.Awaiting(at.policy("voi", n_features=FEATURES, costs=COSTS))


def synced(folder: Path) -> float:
    """Return how long the disk takes to sync a page, in seconds: the median of some."""
    with (folder / "sync").open("wb") as file:
        times = []
        for _ in range(30):
            file.write(bytes(4096))
            file.flush()
            began = time.perf_counter()
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    (folder / "sync").unlink()
    return statistics.median(times)


def groups(folder: Path, rounds: int) -> list[Row]:
    """Decide in groups of 100, in a file, in memory and in a ledger without any store, in turn; the best of each."""
    X, y = items(rounds * 1000 + 2000)
    path = folder / "groups.db"
    path.unlink(missing_ok=True)
    streams = {
        "SQLite, FULL": at.Stream.create(path, "orders", player()),
        "memory": at.Stream.create(MemoryStore(), "orders", player()),
    }
    ledger = at.streams.Ledger(player())
    for k in range(2000):
        for stream in streams.values():
            if stream.decide(X[k], id=f"first{k}", time=float(k)).act:
                stream.label(f"first{k}", int(y[k]))
        if ledger.decide(X[k], id=f"first{k}", time=float(k)).act:
            ledger.label(f"first{k}", int(y[k]))
    best = dict.fromkeys([*streams, "processor alone", "a ledger without a store"], float("inf"))
    for n in range(rounds):
        start = 2000 + 1000 * n
        for name, stream in streams.items():
            began, spent = time.perf_counter(), time.process_time()
            for first in range(start, start + 1000, GROUP):
                with stream.group():
                    for k in range(first, first + GROUP):
                        stream.decide(X[k], id=f"c{k}", time=float(k))
            best[name] = min(best[name], (time.perf_counter() - began) / 1000)
            if name.startswith("SQLite"):
                best["processor alone"] = min(best["processor alone"], (time.process_time() - spent) / 1000)
        began = time.perf_counter()
        for k in range(start, start + 1000):
            ledger.decide(X[k], id=f"c{k}", time=float(k))
        best["a ledger without a store"] = min(best["a ledger without a store"], (time.perf_counter() - began) / 1000)
    for stream in streams.values():
        stream.close()
    wait = synced(folder)
    rows = [
        (f"decide in groups of {GROUP}: {name}", f"{1 / took:,.0f}/s", f"{1e6 * took:.1f} us")
        for name, took in best.items()
    ]
    return [*rows, ("one sync of this disk", "", f"{1e3 * wait:.2f} ms")]


def fill(path: Path, decisions: int, told=None) -> None:
    """Write a stream of so many decisions, the label of every act but one in nine, by groups of 1,000."""
    path.unlink(missing_ok=True)
    stream = at.Stream.create(path, "orders", player())
    for start in range(0, decisions, 1000):
        X, y = items(1000, seed=start + 2)
        ids = [f"order-{start + k}" for k in range(1000)]
        answers = stream.decide_many(X, ids=ids)
        with stream.group():
            for answer, label in zip(answers, y.tolist(), strict=True):
                if answer.act and answer.seq % 9:
                    stream.label(answer.id, label)
        if told is not None:
            told(start + 1000)
    stream.close()


def million(folder: Path, decisions: int) -> list[Row]:
    """Open, verify, and decide on, a file of so many decisions."""
    path = folder / f"{decisions}.db"
    if not (path.exists() and path.with_suffix(".whole").exists()):
        fill(path, decisions)
        path.with_suffix(".whole").touch()
    rows: list[Row] = []
    opened = []
    for _ in range(3):
        began = time.perf_counter()
        stream = at.Stream.open(path, "orders")
        opened.append(time.perf_counter() - began)
        stream.close()
    stream = at.Stream.open(path, "orders")
    began, spent = time.perf_counter(), time.process_time()
    found = stream.verify()
    took, worked = time.perf_counter() - began, time.process_time() - spent
    rows.append((f"open {found.decisions:,} decisions and {found.labels:,} labels", "", f"{min(opened):.2f} s"))
    rows.append(("verify", f"{found.events / took:,.0f} events/s", f"{1e6 * took / found.events:.1f} us"))
    rows.append(("verify, processor alone", f"{found.events / worked:,.0f} events/s", ""))
    stream.close()
    return rows


def passes(folder: Path, decisions: int) -> list[Row]:
    """Return by how much memory grows over so many passes."""
    path = folder / "passes.db"
    path.unlink(missing_ok=True)
    stream = at.Stream.create(path, "orders", at.policy("never", n_features=FEATURES, costs=COSTS))
    X, _ = items(1000)
    most = []
    for start in range(0, decisions + 100_000, 1000):
        stream.decide_many(X, ids=[f"order-{start + k}" for k in range(1000)])
        if start == 99_000:
            most.append(_held())
    most.append(_held())
    stream.close()
    return [(f"memory for {decisions:,} more passes", "", f"{(most[1] - most[0]) / 1e6:.1f} MB")]


def _held() -> int:
    """Return how much memory this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def pauses(folder: Path, path: Path, groups: int) -> list[Row]:
    """Return how long a group of decisions waits where a snapshot is being made, and where none is."""
    stream = at.Stream.open(path, "orders")
    waits: dict[bool, list[float]] = {True: [], False: []}
    copies = []
    aside = stream._journal._snapshot_aside

    def timed() -> None:
        began = time.perf_counter()
        aside()
        copies.append(time.perf_counter() - began)

    stream._journal._snapshot_aside = timed  # type: ignore[method-assign]
    every, snapshots.EVERY = snapshots.EVERY, 2000
    for n in range(groups):
        X, _ = items(10, seed=n)
        busy = stream._journal.keeper.busy
        began = time.perf_counter()
        with stream.group():
            for k, x in enumerate(X):
                stream.decide(x, id=f"pause-{time.time_ns()}-{n}-{k}")
        waits[busy].append(time.perf_counter() - began)
    snapshots.EVERY = every
    stream.close()
    told = {
        busy: f"{1e3 * statistics.median(found):.1f} ms, at most {1e3 * max(found):.1f}"
        for busy, found in waits.items()
        if found
    }
    return [
        ("copy of the state for a snapshot, at most", f"{len(copies)} snapshots", f"{1e3 * max(copies):.1f} ms"),
        ("a group of 10 while a snapshot is written", f"{len(waits[True])} groups", told.get(True, "")),
        ("a group of 10 while none is", f"{len(waits[False])} groups", told.get(False, "")),
    ]
