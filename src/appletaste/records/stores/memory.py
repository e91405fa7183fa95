"""A store in memory: it ends with the process, and is otherwise like the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...errors import ConflictError, NotOwnerError, UnknownStreamError
from .store import NOTHING, PART, Fill, Head, Row, Write


class MemoryPlace:
    """One stream in memory."""

    near = True

    def __init__(self, name: str, secret: bytes) -> None:
        self.name, self.secret = name, secret
        self._rows: list[Row] = []
        self._made: dict[str, int] = {}
        self._later: dict[str, list[int]] = {}
        self._snapshots: dict[int, bytes] = {}
        self._chunks: dict[bytes, bytes] = {}
        self.owned = False

    def head(self) -> Head:
        """Return the last event that is kept."""
        return Head(self._rows[-1].seq, self._rows[-1].digest) if self._rows else Head(0, NOTHING)

    def append(self, rows: Sequence[Row], before: Head) -> None:
        """Keep rows, all or none."""
        if not self.owned or self.head() != before:
            raise not_owner(self.name)
        twice = [row.id for row in rows if row.kind == "decided" and row.id in self._made]
        made = [row.id for row in rows if row.kind == "decided"]
        if twice or len(set(made)) < len(made):
            raise two_decisions(self.name)
        for row in rows:
            self._rows.append(row)
            if row.kind == "decided":
                self._made[row.id] = row.seq
            elif row.id:
                self._later.setdefault(row.id, []).append(row.seq)

    def begin(self, rows: Sequence[Row], before: Head) -> None:
        """Nobody waits for a disk: ``append`` does it all."""

    def read(self, after: int = 0) -> Iterator[Row]:
        """Give the rows behind a number, in order."""
        while part := self._rows[after : after + PART]:
            yield from part
            after = part[-1].seq

    def decisions(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the row of the decision of each id that has one."""
        return {id: self._rows[self._made[id] - 1] for id in ids if id in self._made}

    def later(self, id: str) -> list[Row]:
        """Return the rows of what happened to a decision after it was made, in order."""
        return [self._rows[seq - 1] for seq in self._later.get(id, ())]

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Return the number and the manifest of every snapshot, in order."""
        return sorted(self._snapshots.items())

    def chunks(self) -> set[bytes]:
        """Return the digests of all chunks."""
        return set(self._chunks)

    def chunk(self, digest: bytes) -> bytes | None:
        """Return a part of a snapshot; None: there is none."""
        return self._chunks.get(digest)

    def put_chunk(self, digest: bytes, content: bytes) -> None:
        """Keep a part of a snapshot under its digest."""
        self._chunks[digest] = content

    def put_snapshot(self, seq: int, manifest: bytes, seqs: Iterable[int], chunks: Iterable[bytes]) -> None:
        """Keep a snapshot, and of the others only those of ``seqs``; of chunks only ``chunks``."""
        if not self.owned:
            raise not_owner(self.name)
        kept, parts = {seq, *seqs}, set(chunks)
        self._snapshots = {n: found for n, found in (*self._snapshots.items(), (seq, manifest)) if n in kept}
        self._chunks = {digest: content for digest, content in self._chunks.items() if digest in parts}

    def erase(
        self, row: Row, before: Head, item: int, snapshot: tuple[int, bytes], seqs: Iterable[int], keep: Iterable[bytes]
    ) -> None:
        """Append a row, forget the features of event ``item``, and keep a snapshot."""
        self.append([row], before)
        self._rows[item - 1] = self._rows[item - 1]._replace(item=None)
        self.put_snapshot(*snapshot, seqs, keep)

    def release(self) -> None:
        """Let go of the stream."""
        self.owned = False


class MemoryStore:
    """Streams in memory.

    Examples
    --------
    >>> store = MemoryStore()
    >>> place = store.create("orders", b"secret")
    >>> store.names(), place.head().seq
    (['orders'], 0)
    """

    address, opens_with, read_only = "memory", "memory", False

    def __init__(self) -> None:
        self._places: dict[str, MemoryPlace] = {}
        self._values: dict[str, dict[str, bytes]] = {}

    def names(self) -> list[str]:
        """Return the names of all streams."""
        return sorted(self._places)

    def create(self, name: str, secret: bytes, fill: Fill | None = None) -> MemoryPlace:
        """Make a stream, and own it; what ``fill`` writes is there with it, or nothing is."""
        known = self._places.get(name)
        if known is not None and (known.owned or known.head().seq):
            raise name_taken(name)
        made = MemoryPlace(name, secret)
        made.owned = True
        if fill is not None:
            fill(made)
        self._places[name] = made
        return made

    def open(self, name: str) -> MemoryPlace:
        """Own a stream."""
        if name not in self._places:
            raise no_stream(name, self.names(), self.address)
        found = self._places[name]
        if found.owned:
            raise in_use(name)
        found.owned = True
        return found

    def append_all(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Keep the rows of several streams, one after the other."""
        return [outcome_of(write) for write in writes]

    def sizes(self) -> dict[str, int]:
        """Return how many events each stream has."""
        return {name: place.head().seq for name, place in sorted(self._places.items())}

    def put(self, space: str, key: str, value: bytes) -> None:
        """Keep a small value, in the place of the one before."""
        self._values.setdefault(space, {})[key] = value

    def get(self, space: str, key: str) -> bytes | None:
        """Return a small value; None: there is none."""
        return self._values.get(space, {}).get(key)

    def values(self, space: str) -> dict[str, bytes]:
        """Return all small values of a space."""
        return dict(self._values.get(space, {}))

    def remove(self, space: str, key: str) -> None:
        """Forget a small value, if there is one."""
        self._values.get(space, {}).pop(key, None)

    def check(self) -> list[str]:
        """Return nothing: memory has no word of its own."""
        return []

    def close(self) -> None:
        """Let go of all streams; they stay until the process ends."""
        for place in self._places.values():
            place.release()


def outcome_of(write: Write) -> Exception | None:
    """Keep the rows of one write, and return why that failed; None: they are kept."""
    try:
        write()
    except Exception as error:
        return error
    return None


def two_decisions(name: str) -> ConflictError:
    """Return what a second decision with one id is told."""
    return ConflictError(f"stream {name!r} has a decision with this id already; nothing was written")


def not_owner(name: str) -> NotOwnerError:
    """Return what a writer is told that has lost its stream."""
    return NotOwnerError(
        f"stream {name!r} has another owner by now, or was written to in between; nothing was written. Open the stream "
        "again to go on from what the other has written"
    )


def in_use(name: str) -> NotOwnerError:
    """Return what a second owner is told."""
    return NotOwnerError(
        f"stream {name!r} is in use: one stream has one owner at a time. Close the other Stream first, or wait "
        "until the other process is done"
    )


def name_taken(name: str) -> ConflictError:
    """Return what is said of a name that there is already."""
    return ConflictError(f"there is a stream {name!r} already: give another name, or open the stream")


def no_stream(name: str, names: list[str], address: str) -> UnknownStreamError:
    """Return what is said of a name that nobody has."""
    there = ", ".join(map(repr, names[:8])) or "none yet"
    return UnknownStreamError(f"there is no stream {name!r} in {address}; streams there: {there}")
