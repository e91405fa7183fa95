"""Decisions a second over HTTP: beside the same server answering a constant, in batches, and beside a plain service.

The stream was taught 2,000 labels, as the model of the plain service was, and acts on about one item in seven. A second
one knows no label, and none arrives: it acts on every item, and awaits all of them. Random ids and batches have streams
of their own, so that each row is of one load. Everything is measured in turn,
several times, and the best of each is kept: the machine has others to serve. Of the ratios to a constant and to the
plain service the middle one, of rounds, is told beside that of the best.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import appletaste as at
from appletaste.service.keys import Keys

from .constant import PATH
from .embedded import COSTS, FEATURES, Row, items, synced
from .load import Load

CONNECTIONS, BATCHES, TAUGHT = 64, 2, 2000
#: The labels that each stream was taught.
STREAMS = {"orders": TAUGHT, "scattered": TAUGHT, "batches": TAUGHT, "untaught": 0}
DECIDE, SCATTERED, BATCH, UNTAUGHT = (f"/v1/streams/{name}/decisions" for name in STREAMS)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


class Started:
    """A server in a process of its own."""

    def __init__(self, *words: str) -> None:
        self.port = free_port()
        command = [sys.executable, "-m", *(word.replace("PORT", str(self.port)) for word in words)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise RuntimeError(f"{words[0]} did not start") from None
                time.sleep(0.1)

    def cpu(self) -> float:
        """Return the seconds of processor time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def measured(
    server: Started,
    path: str,
    key: str,
    connections: int,
    seconds: float,
    batch: bool = False,
    scattered: bool = False,
) -> Any:
    """Return the rate, the quantiles and the processor time of the server for each decision."""
    load = Load(server.port, path, key, connections, seconds, batch, scattered)
    before = server.cpu()
    told = subprocess.run(
        [sys.executable, "-m", "bench.service.load", json.dumps(load._asdict())],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(told.stdout)
    found["cpu"] = (server.cpu() - before) / (found["requests"] * (1000 if batch else 1))
    return found


def compare(folder: Path, rounds: int, seconds: float) -> list[Row]:
    """Return the table."""
    path = folder / "http.db"
    for old in folder.glob("http.db*"):
        old.unlink()
    (folder / ".http.db.lock").unlink(missing_ok=True)
    store = at.records.stores.open_store(path)
    key, _ = Keys(store).create("bench", ["decide"])
    for name, labels in STREAMS.items():
        policy = at.policy("voi", n_features=FEATURES, costs=COSTS)
        policy.learn_history(*items(labels))
        at.Stream.create(store, name, at.streams.Awaiting(policy)).close()
    store.close()
    plain = importlib.util.find_spec("fastapi") is not None
    servers = {
        "decisions": Started("appletaste", "serve", "--store", str(path), "--port", "PORT"),
        "constant": Started("bench.service.constant", "PORT", str(folder / "constant.key")),
    }
    if plain:
        (folder / "plain.db").unlink(missing_ok=True)
        servers["plain"] = Started("bench.service.plain", str(folder / "plain.db"), "PORT")
    constant_key = (folder / "constant.key").read_text()
    asked = {
        "decisions": lambda: measured(servers["decisions"], DECIDE, key, CONNECTIONS, seconds),
        "scattered": lambda: measured(servers["decisions"], SCATTERED, key, CONNECTIONS, seconds, scattered=True),
        "untaught": lambda: measured(servers["decisions"], UNTAUGHT, key, CONNECTIONS, seconds),
        "constant": lambda: measured(servers["constant"], PATH, constant_key, CONNECTIONS, seconds),
        "batch": lambda: measured(servers["decisions"], BATCH + ":batch", key, BATCHES, seconds, True),
        "plain": lambda: measured(servers["plain"], "/decisions", key, CONNECTIONS, seconds),
    }
    if not plain:
        del asked["plain"]
    try:
        asked["decisions"]()  # the first ones load compiled code
        runs = [{name: ask() for name, ask in asked.items()} for _ in range(rounds)]
    finally:
        for server in servers.values():
            server.stop()
    best = {name: max((run[name] for run in runs), key=lambda one: one["rate"]) for name in asked}
    least = {name: min(run[name]["cpu"] for run in runs) for name in asked}
    rows = _rows(best, least)
    for name, words in (("constant", "decisions to constants"), ("plain", "decisions to the plain service")):
        if name in asked:
            middle = statistics.median(run["decisions"]["rate"] / run[name]["rate"] for run in runs)
            ratio = best["decisions"]["rate"] / best[name]["rate"]
            rows.append((words, f"{ratio:.2f}", f"the middle one of {rounds} rounds: {middle:.2f}"))
    return [*rows, ("a sync of this disk, now", "", f"{1e3 * synced(folder):.2f} ms")]


def _rows(best: dict[str, Any], least: dict[str, float]) -> list[Row]:
    named = {
        "decisions": f"one by one, {CONNECTIONS} connections",
        "scattered": "with random ids",
        "untaught": "before the first label, all acted on",
        "constant": "the same server answering a constant",
        "batch": "in batches of 1,000",
        "plain": "FastAPI, scikit-learn, a commit for each",
    }
    rows: list[Row] = []
    for name, found in best.items():
        waits = f"p50 {1e3 * found['p50']:.1f} ms, p99 {1e3 * found['p99']:.1f} ms"
        rows.append((named[name], f"{found['rate']:,.0f}/s", f"{waits}, {1e6 * least[name]:.0f} us of processor"))
    return rows
