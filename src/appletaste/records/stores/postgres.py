"""A store in PostgreSQL: each stream has one owner among many processes, and a token that fences off a former one.

A write that fails before its commit was asked for is not there, and may be tried again on another connection. After a
commit that was not confirmed nobody knows, and the store writes no more.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from threading import Lock, RLock, Thread, local
from typing import Any, TypeVar

from ...errors import AppleTasteError, OutcomeUnknownError, StoppedError, StoreError
from .connections import Connections, connect, psycopg
from .memory import in_use, name_taken, no_stream, not_owner, two_decisions
from .migrations import POSTGRES, TABLE, still_to_run
from .postgres_stream import PostgresPlace, insert_rows, moved, place_of
from .processes import ALIVE, Processes, pause
from .store import NOTHING, Census, Fill, Write

log = logging.getLogger("appletaste.stores")
T = TypeVar("T")
#: The advisory lock of whoever changes the tables.
LOCKS = 0x4150
#: Seconds for which a database that cannot be reached is tried again.
PATIENCE = 15.0
#: Of a session: a commit is on disk, and a process that is stopped within a transaction holds nobody up for long.
SETTINGS = f"SET synchronous_commit = on; SET idle_in_transaction_session_timeout = {int(1000 * Processes.STALE)}"
#: Seconds that closing a store waits until the bytes of what was erased are gone; PostgreSQL goes on by itself.
TIDYING = 5.0
#: Streams that nobody owns who lives; a row that is locked is looked at again later.
_FREE = (
    f"WITH living AS MATERIALIZED (SELECT p.number FROM processes p WHERE {ALIVE}), free AS (SELECT number FROM "
    "streams WHERE name = ANY(%(names)s) AND (owner IS NULL OR owner = %(mine)s OR owner NOT IN (SELECT number FROM "
    "living)) FOR UPDATE SKIP LOCKED) UPDATE streams SET owner = %(me)s, token = token + 1 FROM free "
    "WHERE streams.number = free.number RETURNING streams.name, streams.number, streams.secret, streams.token"
)


class PostgresStore:
    """Streams in a PostgreSQL database, which any number of processes share; each stream has one owner."""

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self.opens_with, self.read_only = address, read_only
        self.address = _without_password(address)
        self.lock = RLock()
        #: Why nothing is read or written any more; empty: it is.
        self.broken = ""
        self.places: dict[str, PostgresPlace] = {}
        self.processes = Processes(address)
        self._connections, self._mine = Connections(address, SETTINGS), local()
        self._tidying, self._untidy = Lock(), False
        self._tidier: Thread | None = None
        try:
            with self._connections.lent() as connection:
                if not read_only:
                    self._migrate(connection)
        except psycopg.Error as error:
            raise StoreError(f"{self.address} cannot be opened as a store: {type(error).__name__}") from error

    def _migrate(self, connection: psycopg.Connection[Any]) -> None:
        run = connection.execute
        with connection.transaction():
            run("SELECT pg_advisory_xact_lock(%s, 0)", (LOCKS,))  # one process at a time
            run(TABLE)
        for _ in POSTGRES:
            with connection.transaction():
                run("SELECT pg_advisory_xact_lock(%s, 0)", (LOCKS,))
                done = run("SELECT number, checksum FROM migrations").fetchall()
                for step in still_to_run(POSTGRES, done, self.address)[:1]:
                    for statement in step.statements:
                        run(statement)
                    run("INSERT INTO migrations VALUES (%s, %s, %s)", (step.number, step.name, step.checksum))

    # ---- statements and transactions

    def _check_usable(self) -> None:
        if self.broken:
            raise StoppedError(f"{self.address} {self.broken}: open the store again")

    def _tried(self, what: str, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """Do some work on a connection, again on another one where that breaks; the work may be done twice."""
        until = time.monotonic() + PATIENCE
        while True:
            self._check_usable()
            connection = None
            try:
                with self._connections.lent() as connection:
                    return work(connection)
            except psycopg.errors.UniqueViolation:
                raise
            except psycopg.Error as error:
                if not ((connection is None or connection.closed) and pause(until)):
                    raise StoreError(f"{self.address} cannot be {what}: {type(error).__name__}") from error

    def ask(self, statement: str, values: Any = ()) -> list[Any]:
        """Return the rows of a question, which may be asked twice where a connection breaks."""

        def work(connection: psycopg.Connection[Any]) -> list[Any]:
            return connection.execute(statement, values, prepare=True).fetchall()

        within = getattr(self._mine, "connection", None)
        return work(within) if within is not None else self._tried("read", work)

    def write(self, work: Callable[[psycopg.Connection[Any]], T], *, again: bool = False) -> T:
        """Do some work in a transaction, which is on disk then; within another such work it is a part of that one.

        The work may be done twice, where a connection breaks before the commit. ``again``: the whole of it may, so that
        a commit that is not confirmed is tried again; any other one stops the store.
        """
        within = getattr(self._mine, "connection", None)
        if within is not None:
            return work(within)
        if self.read_only and not self.broken:
            raise StoppedError(f"{self.address} was opened to look at: nothing is written")
        return self._tried("written", lambda connection: self._transaction(connection, work, again))

    def _transaction(
        self, connection: psycopg.Connection[Any], work: Callable[[psycopg.Connection[Any]], T], again: bool
    ) -> T:
        connection.execute("BEGIN")
        self._mine.connection = connection
        committing = False
        try:
            done = work(connection)
            committing = True
            connection.execute("COMMIT")
        except (psycopg.errors.UniqueViolation, psycopg.errors.IdleInTransactionSessionTimeout):
            raise  # nothing was kept
        except psycopg.Error as error:
            if again or (connection.closed and not committing):
                raise
            self.broken = "has stopped after a failed write"
            raise OutcomeUnknownError(
                f"a write to {self.address} failed ({type(error).__name__}): whether it is stored is not known. "
                "The store has stopped; open it again, and repeat the request with the same id"
            ) from error
        finally:
            self._mine.connection = None
        return done

    # ---- streams

    def names(self) -> list[str]:
        """Return the names of all streams."""
        return list(self.sizes())

    def sizes(self) -> dict[str, int]:
        """Return how many events each stream has."""
        return dict(self.ask('SELECT name, seq FROM streams ORDER BY name COLLATE "C"'))

    def create(self, name: str, secret: bytes, fill: Fill | None = None) -> PostgresPlace:
        """Make a stream, and own it; what ``fill`` writes is in the same transaction, and nobody sees half of it."""
        me = self.processes.join()

        def work(connection: psycopg.Connection[Any]) -> PostgresPlace:
            connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")  # long ones are imported
            found = connection.execute(
                "INSERT INTO streams (name, secret, seq, digest, owner, token) VALUES (%(name)s, %(secret)s, 0, "
                "%(digest)s, %(me)s, 1) ON CONFLICT (name) DO UPDATE SET secret = excluded.secret, owner = "
                "excluded.owner, token = streams.token + 1 WHERE streams.seq = 0 AND NOT EXISTS (SELECT FROM "
                f"processes p WHERE p.number = streams.owner AND {ALIVE}) RETURNING number, token",
                {"name": name, "secret": secret, "digest": NOTHING, "me": me, **self.processes.limits},
            ).fetchone()
            if found is None:
                raise name_taken(name)
            made = PostgresPlace(self, name, found[0], secret, found[1])
            made.clear(connection)
            if fill is not None:
                fill(made)
            return made

        place = self.write(work)
        with self.lock:
            self.places[name] = place
        return place

    def open(self, name: str) -> PostgresPlace:
        """Own a stream; one whose owner has not been heard of for some seconds is taken over."""
        if self.read_only:
            found = self.ask("SELECT name, number, secret, token FROM streams WHERE name = %s", (name,))
        else:
            with self.lock:
                if name in self.places:
                    raise in_use(name)
            found = self._taken([name], self.processes.join())
        if not found:
            names = self.names()
            raise in_use(name) if name in names else no_stream(name, names, self.address)
        _, number, secret, token = found[0]
        place = PostgresPlace(self, name, number, bytes(secret), 0 if self.read_only else token)
        with self.lock:
            self.places[name] = place
        return place

    def _taken(self, names: Sequence[str], mine: int) -> list[Any]:
        """Own those of some streams that nobody owns who lives; ``mine``: also those of this process, anew."""
        given = {"names": list(names), "me": self.processes.join(), "mine": mine, **self.processes.limits}
        return self.write(lambda connection: connection.execute(_FREE, given).fetchall(), again=True)

    def append_all(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Keep the rows of several streams in one transaction, and tell each what became of its own.

        Whoever has lost its stream is left out; where an id is there twice all of them are tried apart.
        """

        def work(connection: psycopg.Connection[Any]) -> set[int]:
            there = moved(connection, writes)
            insert_rows(connection, [write for write in writes if place_of(write).number in there])
            return there

        try:
            there = self.write(work)
        except psycopg.errors.UniqueViolation:
            if len(writes) == 1:
                return [two_decisions(writes[0].place.name)]
            return [told for write in writes for told in self.append_all([write])]
        except AppleTasteError as error:
            return [error] * len(writes)
        return [None if place_of(write).number in there else not_owner(write.place.name) for write in writes]

    # ---- among other processes

    def serve(self, address: str) -> None:
        """Be reached at an address by other processes from now on; empty: take no more streams."""
        try:
            self.processes.serve(address)
        except psycopg.Error as error:
            raise StoreError(f"{self.address} cannot be written: {type(error).__name__}") from error

    def census(self) -> Census:
        """Return which processes live, and who owns what."""
        limits = self.processes.limits
        living = dict(self.ask(f"SELECT p.number, p.address FROM processes p WHERE {ALIVE}", limits))
        rows = self.ask("SELECT name, owner, seq FROM streams")
        owners = {name: owner if owner in living else 0 for name, owner, _ in rows}
        return Census(self.processes.join(), living, owners, {name: seq for name, _, seq in rows})

    def claim(self, names: Sequence[str]) -> list[str]:
        """Own streams that no living process owns; return the names of those that are this process's now."""
        return [name for name, *_ in self._taken(names, 0)] if names else []

    def hand_over(self, names: Sequence[str], to: int) -> None:
        """Let another process own streams that this one owns and has closed."""
        question = "UPDATE streams SET owner = %s, token = token + 1 WHERE owner = %s AND name = ANY(%s)"
        given = (to, self.processes.number, list(names))
        self.write(lambda connection: connection.execute(question, given), again=True)

    # ---- small values

    def put(self, space: str, key: str, value: bytes) -> None:
        """Keep a small value, in the place of the one before."""
        question = "INSERT INTO small_values VALUES (%s, %s, %s) ON CONFLICT (space, key) DO UPDATE SET value = %s"
        self.write(lambda connection: connection.execute(question, (space, key, value, value)), again=True)

    def get(self, space: str, key: str) -> bytes | None:
        """Return a small value; None: there is none."""
        found = self.ask("SELECT value FROM small_values WHERE space = %s AND key = %s", (space, key))
        return bytes(found[0][0]) if found else None

    def values(self, space: str) -> dict[str, bytes]:
        """Return all small values of a space."""
        found = self.ask('SELECT key, value FROM small_values WHERE space = %s ORDER BY key COLLATE "C"', (space,))
        return {key: bytes(value) for key, value in found}

    def remove(self, space: str, key: str) -> None:
        """Forget a small value, if there is one."""
        question = "DELETE FROM small_values WHERE space = %s AND key = %s"
        self.write(lambda connection: connection.execute(question, (space, key)), again=True)

    # ---- tidiness

    def tidy(self) -> None:
        """Have the bytes of what was erased removed by a session of its own: a vacuum may wait long for others."""
        with self._tidying:
            self._untidy = True
            if self._tidier is None:
                self._tidier = Thread(target=self._tidy, name="appletaste vacuum", daemon=True)
                self._tidier.start()

    def _tidy(self) -> None:
        while True:
            with self._tidying:
                if not self._untidy:
                    self._tidier = None
                    return
                self._untidy = False
            try:
                with connect(self.opens_with, "appletaste vacuum") as connection:
                    connection.execute("VACUUM events, snapshots, chunks")
            except psycopg.Error as error:
                told = "what was erased from %s stays in the files of the database until its next vacuum (%s)"
                log.warning(told, self.address, type(error).__name__)

    def check(self) -> list[str]:
        """Return nothing: PostgreSQL checks its pages by itself where checksums are on."""
        return []

    def close(self) -> None:
        """Let go of all streams and of the database."""
        self.broken = self.broken or "was closed"
        with self.lock:
            self.places.clear()
        self.processes.leave()
        self._connections.forget()
        tidier = self._tidier
        if tidier is not None:
            tidier.join(TIDYING)


def _without_password(address: str) -> str:
    """Return an address that may be shown."""
    scheme, _, rest = address.partition("://")
    user, at, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"
