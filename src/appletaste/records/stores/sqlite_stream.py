"""One stream in a file: its statements, and the stretches of its index in which no id lies."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import MissingExtraError, StoreError
from .memory import not_owner, two_decisions
from .store import PART, Head, Row

if TYPE_CHECKING:
    from .sqlite import SqliteStore

try:
    import apsw
except ImportError:
    raise MissingExtraError("a stream in a file", "stream") from None


#: Behind every id: ids have at most 256 characters.
LAST = "\U0010ffff" * 257
#: So many stretches are kept, the most recently used.
KEPT = 8


class Gaps:
    """The stretches between neighbours of an index that ids have come into last.

    Ids that are numbered in their order, such as those of orders, come one behind the other, also where others are in
    other places: each source of ids has a stretch of its own. Stretches never overlap: opening one forgets those that
    would.

    Examples
    --------
    >>> gaps = Gaps()
    >>> gaps.open("shop-7", "web-1")
    >>> gaps.outside(["shop-8", "shop-9", "web-2"])
    ['web-2']
    >>> gaps.taken(["shop-8"])
    >>> gaps.outside(["shop-8", "shop-9"])  # what lies before an id that was taken is forgotten
    ['shop-8']
    """

    __slots__ = ("_gaps",)

    def __init__(self) -> None:
        self._gaps: list[tuple[str, str]] = []  # replaced and not changed: another thread may be looking

    def outside(self, ids: Sequence[str]) -> Sequence[str]:
        """Return the ids of which it is not known that they are new."""
        for low, high in self._gaps:
            ids = [id for id in ids if not low < id < high]
            if not ids:
                break
        return ids

    def taken(self, ids: Sequence[str]) -> None:
        """Take note of ids that are there from now on."""
        used, others = [], []
        for gap in self._gaps:
            low, high = gap
            inside = [id for id in ids if low < id < high] if ids else ()
            if inside:
                used.append((max(inside), high))
                ids = [id for id in ids if not low < id < high] if len(inside) < len(ids) else ()
            else:
                others.append(gap)
        self._gaps = used + others

    def open(self, low: str, high: str = LAST) -> None:
        """Take note that no id lies between two."""
        apart = [gap for gap in self._gaps if gap[1] <= low or high <= gap[0]]  # a rollback lets others begin inside
        self._gaps = [(low, high), *apart[: KEPT - 1]]


#: The number of a stream times this, plus that of an event, is where the event is.
SPAN = 1 << 40
#: The share of rows with ids between others up to which writing takes microseconds.
SCATTERED = 0.25
_ROW = "place, kind, id, body, item, digest"
#: Statements by how many rows each has. After every statement a thread waits until others let it go on, which is dear
#: in a service: so few statements, though longer ones take longer for each row.
_INSERTS = {
    size: f"INSERT INTO events (stream, {_ROW}) VALUES " + ", ".join(["(?, ?, ?, ?, ?, ?, ?)"] * size)
    for size in (16, 8, 4, 2, 1)
}
_DECISIONS = (
    f"SELECT {_ROW} FROM events WHERE stream = ? AND kind = 'decided' AND id IN (SELECT value FROM json_each(?))"
)
_LATER = f"SELECT {_ROW} FROM events WHERE stream = ? AND id = ? AND kind <> 'decided' AND id <> '' ORDER BY place"
_LARGEST = "SELECT id FROM events WHERE stream = ? AND kind = 'decided' ORDER BY id DESC LIMIT 1"
_NEXT = "SELECT id FROM events WHERE stream = ? AND kind = 'decided' AND id > ? ORDER BY id LIMIT 1"
_DECISION = f"SELECT {_ROW} FROM events WHERE stream = ? AND id = ? AND kind = 'decided'"


class SqlitePlace:
    """One stream in a file."""

    near = True

    def __init__(self, store: SqliteStore, name: str, number: int, secret: bytes) -> None:
        self.name, self.secret = name, bytes(secret)
        self._store, self._number, self._base = store, number, number * SPAN
        self._gaps = self._first_gaps()

    def _first_gaps(self) -> Gaps | None:
        """Return where no id lies: behind the last of all. None: that is not known.

        Nobody knows where another process writes, or where the file is damaged, which others say.
        """
        if self._store.read_only:
            return None
        try:
            found = self._store.ask(_LARGEST, (self._number,))
        except StoreError:
            return None
        largest, gaps = found[0][0] if found else "", Gaps()
        if not isinstance(largest, str):
            return None
        gaps.open(largest)
        return gaps

    def head(self) -> Head:
        """Return the last event that is kept."""
        seq, digest = self._store.ask("SELECT seq, digest FROM streams WHERE number = ?", (self._number,))[0]
        return Head(seq, bytes(digest))

    def append(self, rows: Sequence[Row], before: Head) -> None:
        """Keep rows, all or none."""
        try:
            with self._store.writing() as connection:
                self._append(connection, rows, before)
        except apsw.ConstraintError:
            raise two_decisions(self.name) from None

    def begin(self, rows: Sequence[Row], before: Head) -> Callable[[], None] | None:
        """Do what ``append`` does but for the wait for the disk; return what waits.

        Ids that lie all over the index have a page of it each, which takes a while: None.
        """
        if self._gaps is None or len(self._gaps.outside(_decided(rows))) > SCATTERED * len(rows):
            return None
        try:
            return self._store.begin(lambda connection: self._append(connection, rows, before))
        except apsw.ConstraintError:
            raise two_decisions(self.name) from None

    def _append(self, connection: Any, rows: Sequence[Row], before: Head) -> None:
        number, base = self._number, self._base
        connection.execute(
            "UPDATE streams SET seq = ?, digest = ? WHERE number = ? AND seq = ? AND digest = ?",
            (rows[-1].seq, rows[-1].digest, number, *before),
        )
        if not connection.changes():
            raise not_owner(self.name)
        gaps, ids, start = self._gaps, _decided(rows), 0
        unknown = ids if gaps is None else gaps.outside(ids)
        if gaps is not None:
            gaps.taken(ids)
        for size, statement in _INSERTS.items():
            while len(rows) - start >= size:
                values: list[Any] = []
                for seq, kind, id, body, item, digest in rows[start : start + size]:
                    values += (number, base + seq, kind, id, body, item, digest)
                connection.execute(statement, values)
                start += size
        if gaps is not None and len(unknown) > SCATTERED * len(rows):  # the next ones may come behind these
            low = max(unknown)
            found = connection.execute(_NEXT, (number, low)).fetchall()
            high = found[0][0] if found else LAST
            if isinstance(high, str):  # the file is not damaged there
                gaps.open(low, high)

    def _rows(self, condition: str, values: tuple[Any, ...]) -> list[Row]:
        found = self._store.ask(f"SELECT {_ROW} FROM events WHERE {condition}", values)
        base = self._base
        return [Row(place - base, kind, id, body, item, digest) for place, kind, id, body, item, digest in found]

    def read(self, after: int = 0) -> Iterator[Row]:
        """Give the rows behind a number, in order."""
        while True:
            ends = (self._base + after, self._base + SPAN)
            part = self._rows(f"place > ? AND place < ? ORDER BY place LIMIT {PART}", ends)
            if not part:
                return
            for row in part:
                if row.seq <= after:  # SQLite believes a damaged page, and reading would begin anew for ever
                    raise StoreError(
                        f"{self._store.address} is damaged: its events {after} and {row.seq} are in disorder"
                    )
                after = row.seq
                yield row

    def decisions(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the row of the decision of each id that has one."""
        found, number, ask = {}, self._number, self._store.look
        if self._gaps is not None:
            ids = self._gaps.outside(ids)
        if len(ids) > 1:
            rows = ask(_DECISIONS, (number, json.dumps(list(ids))))
        else:
            rows = [row for id in ids for row in ask(_DECISION, (number, id))]
        for place, kind, id, body, item, digest in rows:
            found[id] = Row(place - self._base, kind, id, body, item, digest)
        return found

    def later(self, id: str) -> list[Row]:
        """Return the rows of what happened to a decision after it was made, in order."""
        found = self._store.look(_LATER, (self._number, id))
        return [Row(place - self._base, *rest) for place, *rest in found]

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Return the number and the manifest of every snapshot, in order."""
        found = self._store.ask("SELECT seq, manifest FROM snapshots WHERE stream = ? ORDER BY seq", (self._number,))
        return [(seq, bytes(manifest)) for seq, manifest in found]

    def chunks(self) -> set[bytes]:
        """Return the digests of all chunks."""
        found = self._store.ask("SELECT digest FROM chunks WHERE stream = ?", (self._number,))
        return {bytes(digest) for (digest,) in found}

    def chunk(self, digest: bytes) -> bytes | None:
        """Return a part of a snapshot; None: there is none."""
        question = "SELECT content FROM chunks WHERE stream = ? AND digest = ?"
        found = self._store.ask(question, (self._number, digest))
        return bytes(found[0][0]) if found else None

    def put_chunk(self, digest: bytes, content: bytes) -> None:
        """Keep a part of a snapshot under its digest."""
        with self._store.writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO chunks (stream, digest, content) VALUES (?, ?, ?)",
                (self._number, digest, content),
            )

    def put_snapshot(self, seq: int, manifest: bytes, seqs: Iterable[int], chunks: Iterable[bytes]) -> None:
        """Keep a snapshot, and of the others only those of ``seqs``; of chunks only ``chunks``."""
        there = self.chunks()
        with self._store.writing() as connection:
            self._put_snapshot(connection, (seq, manifest), seqs, there - set(chunks))

    def _put_snapshot(
        self, connection: Any, snapshot: tuple[int, bytes], seqs: Iterable[int], gone: Iterable[bytes]
    ) -> None:
        number, (seq, manifest) = self._number, snapshot
        connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (number, seq, manifest))
        kept = {seq, *seqs}
        old = [n for (n,) in connection.execute("SELECT seq FROM snapshots WHERE stream = ?", (number,)).fetchall()]
        connection.executemany(
            "DELETE FROM snapshots WHERE stream = ? AND seq = ?", [(number, n) for n in old if n not in kept]
        )
        connection.executemany(
            "DELETE FROM chunks WHERE stream = ? AND digest = ?", [(number, digest) for digest in gone]
        )

    def clear(self, connection: Any) -> None:
        """Forget what somebody wrote who never came to the first event."""
        for table in ("snapshots", "chunks"):
            connection.execute(f"DELETE FROM {table} WHERE stream = ?", (self._number,))

    def erase(
        self, row: Row, before: Head, item: int, snapshot: tuple[int, bytes], seqs: Iterable[int], keep: Iterable[bytes]
    ) -> None:
        """Append a row, forget the features of event ``item``, and keep a snapshot; the bytes are overwritten."""
        store, gone = self._store, self.chunks() - set(keep)
        with store.lock:
            with store.writing() as connection:
                self._append(connection, [row], before)
                connection.execute("UPDATE events SET item = NULL WHERE place = ?", (self._base + item,))
                self._put_snapshot(connection, snapshot, seqs, gone)
            store.ask("PRAGMA wal_checkpoint(TRUNCATE)")  # the log of writes still held the bytes

    def release(self) -> None:
        """Let go of the stream."""
        self._store.places.pop(self.name, None)


def _decided(rows: Sequence[Row]) -> list[str]:
    """Return the ids of the decisions among rows."""
    return [row.id for row in rows if row.kind == "decided"]
