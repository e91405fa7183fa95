"""One stream in PostgreSQL: its statements; rows of many streams are kept by two of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from .memory import not_owner
from .store import PART, Head, Row, Write

if TYPE_CHECKING:
    from .postgres import PostgresStore

_ROW = "seq, kind, id, body, item, digest"
_MOVE = (
    "UPDATE streams SET seq = given.last, digest = given.last_digest FROM unnest(%s::bigint[], %s::bigint[], "
    "%s::bigint[], %s::bytea[], %s::bigint[], %s::bytea[]) AS given (number, token, seq, digest, last, last_digest) "
    "WHERE streams.number = given.number AND streams.token = given.token AND streams.seq = given.seq "
    "AND streams.digest = given.digest RETURNING streams.number"
)
_INSERT = (
    f"INSERT INTO events (stream, {_ROW}) SELECT * FROM unnest(%s::bigint[], %s::bigint[], %s::text[], %s::text[], "
    "%s::bytea[], %s::bytea[], %s::bytea[])"
)


def place_of(write: Write) -> PostgresPlace:
    """Return the place of a write, which is one of this store."""
    return cast(PostgresPlace, write.place)


def moved(connection: Any, writes: Sequence[Write]) -> set[int]:
    """Move the heads of streams; return the numbers of those whose head and token were as the write says."""
    given = []
    for write in writes:
        place, last = place_of(write), write.rows[-1]
        given.append((place.number, place.token, *write.before, last.seq, last.digest))
    columns = [list(column) for column in zip(*given, strict=True)]
    return {number for (number,) in connection.execute(_MOVE, columns, prepare=True)}


def insert_rows(connection: Any, writes: Sequence[Write]) -> None:
    """Insert the rows of streams."""
    rows = [(place_of(write).number, *row) for write in writes for row in write.rows]
    if rows:
        connection.execute(_INSERT, [list(column) for column in zip(*rows, strict=True)], prepare=True)


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
        (failed,) = self._store.append_all([Write(self, rows, before)])
        if failed is not None:
            raise failed

    def begin(self, rows: Sequence[Row], before: Head) -> None:
        """Every statement is answered by another machine: ``append`` waits for all of them."""

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

        def work(connection: Any) -> None:
            self._check_owner(connection)
            question = "INSERT INTO chunks VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
            connection.execute(question, (self.number, digest, content))

        self._store.write(work, again=True)

    def _check_owner(self, connection: Any) -> None:
        """Refuse a write with an old token; the row stays locked until the transaction ends."""
        question = "SELECT 1 FROM streams WHERE number = %s AND token = %s FOR SHARE"
        if connection.execute(question, (self.number, self.token)).fetchone() is None:
            raise not_owner(self.name)

    def put_snapshot(self, seq: int, manifest: bytes, seqs: Iterable[int], chunks: Iterable[bytes]) -> None:
        """Keep a snapshot, and of the others only those of ``seqs``; of chunks only ``chunks``."""
        kept = (seq, manifest), [seq, *seqs], list(chunks)

        def work(connection: Any) -> None:
            self._check_owner(connection)
            self._put_snapshot(connection, *kept)

        self._store.write(work, again=True)

    def _put_snapshot(
        self, connection: Any, snapshot: tuple[int, bytes], seqs: Sequence[int], chunks: Sequence[bytes]
    ) -> None:
        number, (seq, manifest) = self.number, snapshot
        connection.execute(
            "INSERT INTO snapshots VALUES (%s, %s, %s) ON CONFLICT (stream, seq) DO UPDATE SET manifest = %s",
            (number, seq, manifest, manifest),
        )
        connection.execute("DELETE FROM snapshots WHERE stream = %s AND NOT seq = ANY(%s)", (number, seqs))
        connection.execute("DELETE FROM chunks WHERE stream = %s AND NOT digest = ANY(%s)", (number, chunks))

    def clear(self, connection: Any) -> None:
        """Forget what somebody wrote who never came to the first event."""
        for table in ("snapshots", "chunks"):
            connection.execute(f"DELETE FROM {table} WHERE stream = %s", (self.number,))

    def erase(
        self, row: Row, before: Head, item: int, snapshot: tuple[int, bytes], seqs: Iterable[int], keep: Iterable[bytes]
    ) -> None:
        """Append a row, forget the features of event ``item``, and keep a snapshot; the bytes go afterwards."""
        write, kept = Write(self, [row], before), (snapshot, [snapshot[0], *seqs], list(keep))

        def work(connection: Any) -> None:
            if not moved(connection, [write]):
                raise not_owner(self.name)
            insert_rows(connection, [write])
            connection.execute("UPDATE events SET item = NULL WHERE stream = %s AND seq = %s", (self.number, item))
            self._put_snapshot(connection, *kept)

        self._store.write(work)
        self._store.tidy()

    def release(self) -> None:
        """Let go of the stream, so that another process may own it at once; one that serves keeps it until then."""
        store = self._store
        with store.lock:
            owned = store.places.get(self.name) is self
            if owned:
                del store.places[self.name]
        if owned and not (store.broken or store.read_only or store.processes.serves):
            question = "UPDATE streams SET owner = NULL WHERE number = %s AND token = %s"
            given = (self.number, self.token)
            store.write(lambda connection: connection.execute(question, given), again=True)
