"""A store in PostgreSQL: one owner for each stream by an advisory lock, and a token that fences off a former owner."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event as Signal
from threading import Lock, RLock, Thread
from typing import Any

from ...errors import MissingExtraError, OutcomeUnknownError, StoppedError, StoreError
from .memory import in_use, name_taken, no_stream, not_owner, two_decisions
from .migrations import POSTGRES, TABLE, still_to_run
from .store import NOTHING, PART, Fill, Head, Row

try:
    import psycopg
except ImportError:
    raise MissingExtraError("a stream in PostgreSQL", "postgres") from None

log = logging.getLogger("appletaste.stores")
#: The first half of the advisory locks of this package; the second is the number of the stream.
LOCKS = 0x4150
#: An owner is heard of this often, in seconds.
HEARTBEAT = 1.0
#: Seconds that closing a store waits until the bytes of what was erased are gone; PostgreSQL goes on by itself.
TIDYING = 5.0
_ROW = "seq, kind, id, body, item, digest"


class PostgresStore:
    """Streams in a PostgreSQL database, which any number of processes share; each stream has one owner."""

    #: An owner may be replaced after so many seconds without a word.
    STALE = 5.0

    def __init__(self, address: str, *, read_only: bool = False) -> None:
        self._dsn, self.read_only = address, read_only
        self.address = _without_password(address)
        self.lock = RLock()
        self.broken = False
        self.places: dict[str, PostgresPlace] = {}
        try:
            self.connection = psycopg.connect(address, autocommit=True, application_name="appletaste")
            self.connection.execute("SET synchronous_commit = on")
            if not read_only:
                self._migrate()
        except psycopg.Error as error:
            raise StoreError(f"{self.address} cannot be opened as a store: {type(error).__name__}") from error
        self._tidying, self._untidy = Lock(), False
        self._tidier: Thread | None = None
        self._over = Signal()
        self._heart = Thread(target=self._beat, name="appletaste owner", daemon=True)
        if not read_only:
            self._heart.start()

    def _migrate(self) -> None:
        run = self.connection.execute
        with self.connection.transaction():
            run("SELECT pg_advisory_xact_lock(%s, 0)", (LOCKS,))  # one process at a time
            run(TABLE)
        for _ in POSTGRES:
            with self.connection.transaction():
                run("SELECT pg_advisory_xact_lock(%s, 0)", (LOCKS,))
                done = run("SELECT number, checksum FROM migrations").fetchall()
                for step in still_to_run(POSTGRES, done, self.address)[:1]:
                    for statement in step.statements:
                        run(statement)
                    run("INSERT INTO migrations VALUES (%s, %s, %s)", (step.number, step.name, step.checksum))

    def _beat(self) -> None:
        """Say every now and then that the owner of these streams is alive."""
        while not self._over.wait(HEARTBEAT):
            with self.lock:
                if self.broken:
                    return
                try:
                    for place in self.places.values():
                        self.connection.execute(
                            "UPDATE streams SET seen = clock_timestamp() WHERE number = %s AND token = %s",
                            (place.number, place.token),
                        )
                except psycopg.Error:
                    self.broken = True

    @contextmanager
    def writing(self) -> Iterator[Any]:
        """Give a cursor within one transaction, which is on disk after the block; a failure stops the store."""
        with self.lock:
            if self.broken or self.read_only:
                raise self._stopped()
            try:
                with self.connection.transaction(), self.connection.cursor() as cursor:
                    yield cursor
            except psycopg.errors.UniqueViolation:
                raise
            except psycopg.Error as error:
                self.broken = True
                raise OutcomeUnknownError(
                    f"a write to {self.address} failed ({type(error).__name__}): whether it is stored is not known. "
                    "The store has stopped; open it again, and repeat the request with the same id"
                ) from error

    def _stopped(self) -> StoppedError:
        if self.read_only and not self.broken:
            return StoppedError(f"{self.address} was opened to look at: nothing is written")
        return StoppedError(f"{self.address} has stopped after a failed write, or was closed: open the store again")

    def ask(self, statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
        """Return the rows of a question."""
        with self.lock:
            if self.broken:
                raise self._stopped()
            try:
                return self.connection.execute(statement, values, prepare=True).fetchall()
            except psycopg.Error as error:
                self.broken = True
                raise StoreError(f"{self.address} cannot be read: {type(error).__name__}") from error

    # ---- streams

    def names(self) -> list[str]:
        """Return the names of all streams."""
        return [name for (name,) in self.ask('SELECT name FROM streams ORDER BY name COLLATE "C"')]

    def create(self, name: str, secret: bytes, fill: Fill | None = None) -> PostgresPlace:
        """Make a stream, and own it; what ``fill`` writes is in the same transaction, and nobody sees half of it."""
        made: PostgresPlace | None = None
        try:
            with self.writing() as cursor:
                cursor.execute(
                    "INSERT INTO streams (name, secret, seq, digest) VALUES (%s, %s, 0, %s) "
                    "ON CONFLICT (name) DO UPDATE SET secret = excluded.secret WHERE streams.seq = 0",
                    (name, secret, NOTHING),
                )
                if not cursor.rowcount:
                    raise name_taken(name)
                made = self.open(name)
                made.clear(cursor)
                if fill is not None:
                    fill(made)
        except BaseException:
            if made is not None:
                made.release()
            raise
        return made

    def open(self, name: str) -> PostgresPlace:
        """Own a stream; one whose owner has not been heard of for some seconds is taken over."""
        with self.lock:
            if name in self.places and not self.read_only:
                raise in_use(name)
            found = self.ask("SELECT number, secret FROM streams WHERE name = %s", (name,))
            if not found:
                raise no_stream(name, self.names(), self.address)
            number, secret = found[0]
            token = 0
            if not self.read_only:
                self._own(name, number)
                question = "UPDATE streams SET token = token + 1, seen = clock_timestamp() WHERE number = %s "
                token = self.ask(f"{question} RETURNING token", (number,))[0][0]
            self.places[name] = PostgresPlace(self, name, number, bytes(secret), token)
            return self.places[name]

    def _own(self, name: str, number: int) -> None:
        """Take the lock of a stream, from an owner that is silent if need be."""
        for _ in range(30):
            if self.ask("SELECT pg_try_advisory_lock(%s, %s::int)", (LOCKS, number))[0][0]:
                return
            silent = "SELECT seen < clock_timestamp() - make_interval(secs => %s) FROM streams WHERE number = %s"
            if not self.ask(silent, (self.STALE, number))[0][0]:
                raise in_use(name)
            self.ask(
                "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = %s "
                "AND objid = %s AND objsubid = 2 AND pid <> pg_backend_pid() AND granted "
                "AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
                (LOCKS, number),
            )
            time.sleep(0.1)
        raise in_use(name)

    def put(self, space: str, key: str, value: bytes) -> None:
        """Keep a small value, in the place of the one before."""
        with self.writing() as cursor:
            cursor.execute(
                "INSERT INTO small_values VALUES (%s, %s, %s) ON CONFLICT (space, key) DO UPDATE SET value = %s",
                (space, key, value, value),
            )

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
        with self.writing() as cursor:
            cursor.execute("DELETE FROM small_values WHERE space = %s AND key = %s", (space, key))

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
                with psycopg.connect(self._dsn, autocommit=True, application_name="appletaste vacuum") as connection:
                    connection.execute("VACUUM events, snapshots, chunks")
            except psycopg.Error as error:
                told = "what was erased from %s stays in the files of the database until its next vacuum (%s)"
                log.warning(told, self.address, type(error).__name__)

    def check(self) -> list[str]:
        """Return nothing: PostgreSQL checks its pages by itself where checksums are on."""
        return []

    def close(self) -> None:
        """Let go of all streams and of the database."""
        self._over.set()
        with self.lock:
            self.broken = True
            self.places.clear()
            self.connection.close()
        if self._heart.is_alive():
            self._heart.join()
        tidier = self._tidier
        if tidier is not None:
            tidier.join(TIDYING)


class PostgresPlace:
    """One stream in PostgreSQL."""

    near = False

    def __init__(self, store: PostgresStore, name: str, number: int, secret: bytes, token: int) -> None:
        self.name, self.secret, self.number, self.token = name, secret, number, token
        self._store = store

    def head(self) -> Head:
        """Return the last event that is kept."""
        seq, digest = self._store.ask("SELECT seq, digest FROM streams WHERE number = %s", (self.number,))[0]
        return Head(seq, bytes(digest))

    def append(self, rows: Sequence[Row], before: Head) -> None:
        """Keep rows, all or none."""
        try:
            with self._store.writing() as cursor:
                self._append(cursor, rows, before)
        except psycopg.errors.UniqueViolation:
            raise two_decisions(self.name) from None

    def begin(self, rows: Sequence[Row], before: Head) -> None:
        """Every statement is answered by another machine: ``append`` waits for all of them."""

    def _append(self, cursor: Any, rows: Sequence[Row], before: Head) -> None:
        cursor.execute(
            "UPDATE streams SET seq = %s, digest = %s WHERE number = %s AND token = %s AND seq = %s AND digest = %s",
            (rows[-1].seq, rows[-1].digest, self.number, self.token, *before),
        )
        if cursor.rowcount != 1:
            raise not_owner(self.name)
        cursor.executemany(
            f"INSERT INTO events (stream, {_ROW}) VALUES (%s, %s, %s, %s, %s, %s, %s)",
            [(self.number, *row) for row in rows],
        )

    def _rows(self, condition: str, values: tuple[Any, ...]) -> list[Row]:
        found = self._store.ask(f"SELECT {_ROW} FROM events WHERE {condition}", values)
        return [Row(*row) for row in found]

    def read(self, after: int = 0) -> Iterator[Row]:
        """Give the rows behind a number, in order."""
        while part := self._rows(f"stream = %s AND seq > %s ORDER BY seq LIMIT {PART}", (self.number, after)):
            yield from part
            after = part[-1].seq

    def decisions(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the row of the decision of each id that has one."""
        rows = self._rows("stream = %s AND id = ANY(%s) AND kind = 'decided'", (self.number, list(ids)))
        return {row.id: row for row in rows}

    def later(self, id: str) -> list[Row]:
        """Return the rows of what happened to a decision after it was made, in order."""
        condition = "stream = %s AND id = %s AND kind <> 'decided' AND id <> '' ORDER BY seq"
        return self._rows(condition, (self.number, id))

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Return the number and the manifest of every snapshot, in order."""
        found = self._store.ask("SELECT seq, manifest FROM snapshots WHERE stream = %s ORDER BY seq", (self.number,))
        return [(seq, bytes(manifest)) for seq, manifest in found]

    def chunks(self) -> set[bytes]:
        """Return the digests of all chunks."""
        found = self._store.ask("SELECT digest FROM chunks WHERE stream = %s", (self.number,))
        return {bytes(digest) for (digest,) in found}

    def chunk(self, digest: bytes) -> bytes | None:
        """Return a part of a snapshot; None: there is none."""
        question = "SELECT content FROM chunks WHERE stream = %s AND digest = %s"
        found = self._store.ask(question, (self.number, digest))
        return bytes(found[0][0]) if found else None

    def put_chunk(self, digest: bytes, content: bytes) -> None:
        """Keep a part of a snapshot under its digest."""
        with self._store.writing() as cursor:
            self._check_owner(cursor)
            cursor.execute(
                "INSERT INTO chunks VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", (self.number, digest, content)
            )

    def _check_owner(self, cursor: Any) -> None:
        """Refuse a write with an old token; the row stays locked until the transaction ends."""
        question = "SELECT 1 FROM streams WHERE number = %s AND token = %s FOR SHARE"
        if cursor.execute(question, (self.number, self.token)).fetchone() is None:
            raise not_owner(self.name)

    def put_snapshot(self, seq: int, manifest: bytes, seqs: Iterable[int], chunks: Iterable[bytes]) -> None:
        """Keep a snapshot, and of the others only those of ``seqs``; of chunks only ``chunks``."""
        with self._store.writing() as cursor:
            self._check_owner(cursor)
            self._put_snapshot(cursor, (seq, manifest), seqs, chunks)

    def _put_snapshot(
        self, cursor: Any, snapshot: tuple[int, bytes], seqs: Iterable[int], chunks: Iterable[bytes]
    ) -> None:
        number, (seq, manifest) = self.number, snapshot
        cursor.execute(
            "INSERT INTO snapshots VALUES (%s, %s, %s) ON CONFLICT (stream, seq) DO UPDATE SET manifest = %s",
            (number, seq, manifest, manifest),
        )
        kept = [seq, *seqs]
        cursor.execute("DELETE FROM snapshots WHERE stream = %s AND NOT seq = ANY(%s)", (number, kept))
        cursor.execute("DELETE FROM chunks WHERE stream = %s AND NOT digest = ANY(%s)", (number, list(chunks)))

    def clear(self, cursor: Any) -> None:
        """Forget what somebody wrote who never came to the first event."""
        for table in ("snapshots", "chunks"):
            cursor.execute(f"DELETE FROM {table} WHERE stream = %s", (self.number,))

    def erase(
        self, row: Row, before: Head, item: int, snapshot: tuple[int, bytes], seqs: Iterable[int], keep: Iterable[bytes]
    ) -> None:
        """Append a row, forget the features of event ``item``, and keep a snapshot; the bytes go afterwards."""
        with self._store.writing() as cursor:
            self._append(cursor, [row], before)
            cursor.execute("UPDATE events SET item = NULL WHERE stream = %s AND seq = %s", (self.number, item))
            self._put_snapshot(cursor, snapshot, seqs, keep)
        self._store.tidy()

    def release(self) -> None:
        """Let go of the stream, so that another process may own it at once."""
        store = self._store
        with store.lock:  # or the thread that says who is alive ends in the middle of its list
            owned = store.places.pop(self.name, None) is not None
        if owned and not store.broken and not store.read_only:
            store.ask("SELECT pg_advisory_unlock(%s, %s::int)", (LOCKS, self.number))


def _without_password(address: str) -> str:
    """Return an address that may be shown."""
    scheme, _, rest = address.partition("://")
    user, at, place = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{place}"
