"""Processes that share a PostgreSQL database: one row for each, which says when it was last heard of, and where it is.

A stream belongs to a process. A process that is silent for too long owns nothing any more: whoever is next takes its
streams, with a new token, and what the former owner still tries to write is refused.
"""

from __future__ import annotations

import logging
import time
from threading import Event as Signal
from threading import Lock, Thread
from typing import Any

from .connections import connect, psycopg

log = logging.getLogger("appletaste.stores")
#: A process is heard of this often, in seconds.
HEARTBEAT = 1.0
#: Rows of processes that have not been heard of for so many seconds are thrown away.
FORGOTTEN = 3600.0
#: The condition under which process ``p`` is alive. Silence while the database was not there counts for nothing.
ALIVE = (
    "greatest(p.seen, pg_postmaster_start_time()) > clock_timestamp() - make_interval(secs => CASE WHEN EXISTS "
    "(SELECT FROM pg_stat_activity a WHERE a.pid = p.backend) THEN %(stale)s ELSE %(gone)s END)"
)


class Processes:
    """The process among all that share a database; it is heard of by a connection of its own."""

    #: Seconds without a word after which a process may be replaced: in all, and where its session has ended.
    STALE, GONE = 5.0, 2.0

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self.number = 0  #: of this process; 0: it owns nothing yet
        self.address = ""  #: where others reach this process; empty: it takes no streams
        self.serves = False  #: whether it was ever reached: it then keeps the streams that it closes
        self._connection: psycopg.Connection[Any] | None = None
        self._joining, self._speaking, self._over = Lock(), Lock(), Signal()
        self._heart = Thread(target=self._beat, name="appletaste process", daemon=True)

    @property
    def limits(self) -> dict[str, float]:
        """The seconds that the condition ``ALIVE`` asks for."""
        return {"stale": self.STALE, "gone": self.GONE}

    def join(self) -> int:
        """Be heard of from now on, and return the number of this process."""
        with self._joining:
            if not self.number and not self._over.is_set():
                self._connection = self._connect()
                question = "DELETE FROM processes WHERE seen < clock_timestamp() - make_interval(secs => %s)"
                self._connection.execute(question, (FORGOTTEN,))
                made = "INSERT INTO processes (address, backend) VALUES (%s, pg_backend_pid()) RETURNING number"
                found = self._connection.execute(made, (self.address,)).fetchone()
                assert found is not None
                self.number = found[0]
                self._heart.start()
        return self.number

    def serve(self, address: str) -> None:
        """Be reached at an address from now on; empty: take no more streams."""
        self.address, self.serves = address, self.serves or bool(address)
        if self.join():
            self._say()

    def _connect(self) -> psycopg.Connection[Any]:
        # a word that is lost with the power is no harm, and waits for no disk
        return connect(self._dsn, "appletaste process", "SET synchronous_commit = off; SET lock_timeout = 3000")

    def _beat(self) -> None:
        """Say every now and then that this process is alive; a connection that breaks is replaced."""
        answered = True
        while not self._over.wait(HEARTBEAT):
            try:
                self._say()
                answered = True
            except psycopg.Error as error:
                if answered:
                    log.warning("the database does not answer", extra={"error": type(error).__name__})
                answered = False

    def _say(self) -> None:
        with self._speaking:
            for _ in range(2):
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                try:
                    self._connection.execute(
                        "INSERT INTO processes (number, address, backend) OVERRIDING SYSTEM VALUE VALUES (%s, %s, "
                        "pg_backend_pid()) ON CONFLICT (number) DO UPDATE SET address = excluded.address, "
                        "backend = excluded.backend, seen = clock_timestamp()",
                        (self.number, self.address),
                    )
                    return
                except psycopg.OperationalError:
                    if not self._connection.closed:
                        raise

    def leave(self) -> None:
        """Own nothing any more, so that others need not wait; done as far as the database can be reached."""
        with self._joining:
            self._over.set()
        if not self.number:
            return
        self._heart.join()
        with self._speaking:
            try:
                if self._connection is None or self._connection.closed:
                    self._connection = self._connect()
                with self._connection.transaction():
                    self._connection.execute("UPDATE streams SET owner = NULL WHERE owner = %s", (self.number,))
                    self._connection.execute("DELETE FROM processes WHERE number = %s", (self.number,))
            except psycopg.Error as error:
                log.warning("others wait for these streams", extra={"error": type(error).__name__})
            finally:
                if self._connection is not None:
                    self._connection.close()


def pause(until: float) -> bool:
    """Wait a moment before the next try; return False where the time is over."""
    if time.monotonic() > until:
        return False
    time.sleep(0.1)
    return True
