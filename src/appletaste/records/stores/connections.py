"""A few connections to a PostgreSQL database, each lent to one thread at a time; one that has broken is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import Any

from ...errors import MissingExtraError

try:
    import psycopg as psycopg  # whoever needs it takes it from here, where its absence is said
    from psycopg.conninfo import conninfo_to_dict, make_conninfo
except ImportError:
    raise MissingExtraError("a stream in PostgreSQL", "postgres") from None

#: Connections at most; a process has another one to be heard of.
MOST = 6
#: Seconds to wait for a connection, and milliseconds until one whose other end says nothing is given up.
CONNECT, UNHEARD = 5, 10_000


def connect(dsn: str, name: str, settings: str = "") -> psycopg.Connection[Any]:
    """Return a new connection, in which every statement by itself is a transaction."""
    usual: dict[str, Any] = {"connect_timeout": CONNECT, "tcp_user_timeout": UNHEARD, "application_name": name}
    connection = psycopg.connect(make_conninfo("", **{**usual, **conninfo_to_dict(dsn)}), autocommit=True)
    if settings:
        connection.execute(settings)
    return connection


class Connections:
    """Connections that are kept for the next one who asks, the last one used first."""

    def __init__(self, dsn: str, settings: str) -> None:
        self._dsn, self._settings = dsn, settings
        self._free: list[psycopg.Connection[Any]] = []
        self._slots, self._guard = BoundedSemaphore(MOST), Lock()

    @contextmanager
    def lent(self) -> Iterator[psycopg.Connection[Any]]:
        """Lend a connection; a transaction that is still open after the block is rolled back."""
        with self._slots:
            with self._guard:
                found = self._free.pop() if self._free else None
            connection = found or connect(self._dsn, "appletaste", self._settings)
            try:
                yield connection
            finally:
                self._take_back(connection)

    def _take_back(self, connection: psycopg.Connection[Any]) -> None:
        idle = psycopg.pq.TransactionStatus.IDLE
        try:
            if not connection.closed and connection.info.transaction_status != idle:
                connection.execute("ROLLBACK")
        except psycopg.Error:
            connection.close()
        if connection.closed or connection.info.transaction_status != idle:
            connection.close()
            self.forget()  # the others have probably broken, too
            return
        with self._guard:
            self._free.append(connection)

    def __del__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Close the connections that nobody uses."""
        with self._guard:
            old, self._free = self._free, []
        for connection in old:
            connection.close()
