"""What a store is: rows of bytes, in the order of their numbers, in one transaction or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

#: Rows that are read at once; between two such parts others may write.
PART = 1000
#: The digest before the first event.
NOTHING = bytes(32)


class Row(NamedTuple):
    """One event as a store keeps it."""

    seq: int  #: from 1 on, without gaps
    kind: str  #: a name of ``records.events.KINDS``
    id: str  #: of the decision; empty: of the stream
    body: bytes
    item: bytes | None  #: the features of a decision, which can be erased; their SHA-256 is in the body
    digest: bytes  #: SHA-256 of the digest before and the body


class Head(NamedTuple):
    """The last event of a stream."""

    seq: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class Write:
    """Rows for a stream that goes on from a head; calling a write keeps them."""

    place: Place
    rows: Sequence[Row]
    before: Head

    def __call__(self) -> None:
        """Keep the rows, if there are any."""
        if self.rows:
            self.place.append(self.rows, self.before)


class Place(Protocol):
    """One stream in a store; what a verb that writes has returned from is kept for good.

    A write names the head that it goes on from. Where another owner has taken the stream over, or has written in
    between, nothing is written (``NotOwnerError``).
    """

    name: str
    secret: bytes  #: the seed; nobody else is told
    near: bool  #: ``decisions`` and ``later`` take microseconds, also while another thread commits

    def head(self) -> Head:
        """Return the last event that is kept."""

    def append(self, rows: Sequence[Row], before: Head) -> None:
        """Keep rows, all or none; two decisions with one id are refused (``ConflictError``)."""

    def begin(self, rows: Sequence[Row], before: Head) -> Callable[[], None] | None:
        """Do what ``append`` does but for the wait for the disk; return what waits, for any thread to call, soon.

        None: nothing was done, since that would have to wait for others, too; ``append`` does.
        """

    def read(self, after: int = 0) -> Iterator[Row]:
        """Give the rows behind a number, in order."""

    def decisions(self, ids: Sequence[str]) -> dict[str, Row]:
        """Return the row of the decision of each id that has one."""

    def later(self, id: str) -> list[Row]:
        """Return the rows of what happened to a decision after it was made, in order."""

    def snapshots(self) -> list[tuple[int, bytes]]:
        """Return the number and the manifest of every snapshot, in order."""

    def chunks(self) -> set[bytes]:
        """Return the digests of all chunks."""

    def chunk(self, digest: bytes) -> bytes | None:
        """Return a part of a snapshot; None: there is none."""

    def put_chunk(self, digest: bytes, content: bytes) -> None:
        """Keep a part of a snapshot under its digest."""

    def put_snapshot(self, seq: int, manifest: bytes, seqs: Iterable[int], chunks: Iterable[bytes]) -> None:
        """Keep a snapshot, and of the others only those of ``seqs``; of chunks only ``chunks``."""

    def erase(
        self, row: Row, before: Head, item: int, snapshot: tuple[int, bytes], seqs: Iterable[int], keep: Iterable[bytes]
    ) -> None:
        """Append a row, forget the features of event ``item``, and keep a snapshot as ``put_snapshot`` does; at once.

        A store does what it can to have the bytes gone, too.
        """

    def release(self) -> None:
        """Let go of the stream, so that another process may own it."""


#: Writes the first things to a stream that is being made.
Fill = Callable[[Place], None]


class Store(Protocol):
    """A file or a database with any number of streams, and small values beside them.

    Its verbs may be called from several threads.
    """

    address: str  #: for people and logs
    opens_with: str  #: for another process of this machine; with the password, where there is one
    read_only: bool

    def names(self) -> list[str]:
        """Return the names of all streams."""

    def create(self, name: str, secret: bytes, fill: Fill | None = None) -> Place:
        """Make a stream, and own it; a name that is taken is refused (``ConflictError``).

        All that ``fill`` writes to the stream is kept together with its name, or nothing is. A stream without an event
        was never finished by an older version: another one takes its place.
        """

    def open(self, name: str) -> Place:
        """Own a stream; refused while another process does (``NotOwnerError``), or if there is none."""

    def append_all(self, writes: Sequence[Write]) -> list[Exception | None]:
        """Keep the rows of several streams of this store, in one transaction where it can; return what became of each.

        What is wrong with one of them alone does nothing to the others.
        """

    def sizes(self) -> dict[str, int]:
        """Return how many events each stream has."""

    def put(self, space: str, key: str, value: bytes) -> None:
        """Keep a small value, in the place of the one before."""

    def get(self, space: str, key: str) -> bytes | None:
        """Return a small value; None: there is none."""

    def values(self, space: str) -> dict[str, bytes]:
        """Return all small values of a space."""

    def remove(self, space: str, key: str) -> None:
        """Forget a small value, if there is one."""

    def check(self) -> list[str]:
        """Return what is wrong with the store by its own word; nothing: an empty list."""

    def close(self) -> None:
        """Let go of everything."""


class Census(NamedTuple):
    """Which processes share a store, and who owns what, as it was a moment ago."""

    me: int  #: the number of this process
    living: dict[int, str]  #: the processes that were heard of, and where those that serve are reached; else empty
    owners: dict[str, int]  #: of each stream the process that owns it; 0: none that lives
    sizes: dict[str, int]  #: how many events each stream has


class SharedStore(Store, Protocol):
    """A store that several processes share: each stream has one owner among them."""

    def serve(self, address: str) -> None:
        """Be reached at an address by other processes from now on; empty: take no more streams.

        A process that serves keeps the streams that it closes, until it hands them over or ends.
        """

    def census(self) -> Census:
        """Return which processes live, and who owns what."""

    def claim(self, names: Sequence[str]) -> list[str]:
        """Own streams that no living process owns; return the names of those that are this process's now."""

    def hand_over(self, names: Sequence[str], to: int) -> None:
        """Let another process own streams that this one owns and has closed."""
