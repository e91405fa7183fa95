"""Forward-only numbered migrations: each is one transaction, and what was run is written down with its checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from ...errors import StoreError


class Migration(NamedTuple):
    """One step; a step that was published is never changed, another one follows it."""

    number: int
    name: str
    statements: tuple[str, ...]

    @property
    def checksum(self) -> str:
        """The SHA-256 of the statements."""
        return hashlib.sha256("\n".join(self.statements).encode()).hexdigest()


#: The table of what was run, in any dialect.
TABLE = "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL)"


def numbered(*steps: tuple[str, tuple[str, ...]]) -> tuple[Migration, ...]:
    """Return steps with their numbers."""
    return tuple(Migration(number, name, statements) for number, (name, statements) in enumerate(steps, 1))


def still_to_run(known: tuple[Migration, ...], run: Iterable[tuple[int, str]], address: str) -> tuple[Migration, ...]:
    """Return the steps that a store has not seen, or say that the store is not of this version.

    Examples
    --------
    >>> steps = numbered(("record", ("CREATE TABLE a (b)",)), ("values", ("CREATE TABLE c (d)",)))
    >>> [step.name for step in still_to_run(steps, [(1, steps[0].checksum)], "shop.db")]
    ['values']
    """
    done = dict(run)
    if not all(isinstance(number, int) for number in done):
        raise StoreError(f"{address} is damaged: its table of migrations cannot be read")
    newer = [number for number in done if number > len(known)]
    if newer:
        raise StoreError(
            f"{address} was written by a newer version of appletaste (migration {max(newer)}, and this version knows "
            f"{len(known)}): install that version; nothing was changed"
        )
    for step in known:
        if step.number in done and done[step.number] != step.checksum:
            raise StoreError(
                f"{address}: migration {step.number} ({step.name}) is not the one that this version knows, so another "
                "program made the store; nothing was changed"
            )
    return tuple(step for step in known if step.number not in done)


#: Of SQLite. ``place`` is the number of the stream times 2^40 plus that of the event: one tree in order of writing.
SQLITE = numbered(
    (
        "record",
        (
            "CREATE TABLE streams (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, secret BLOB NOT NULL, "
            "seq INTEGER NOT NULL, digest BLOB NOT NULL)",
            "CREATE TABLE events (place INTEGER PRIMARY KEY, stream INTEGER NOT NULL, kind TEXT NOT NULL, "
            "id TEXT NOT NULL, body BLOB NOT NULL, item BLOB, digest BLOB NOT NULL)",
            "CREATE UNIQUE INDEX one_decision ON events (stream, id) WHERE kind = 'decided'",
            "CREATE INDEX later_events ON events (stream, id) WHERE kind <> 'decided' AND id <> ''",
        ),
    ),
    (
        "snapshots",
        (
            "CREATE TABLE snapshots (stream INTEGER NOT NULL, seq INTEGER NOT NULL, manifest BLOB NOT NULL, "
            "PRIMARY KEY (stream, seq)) WITHOUT ROWID",
            "CREATE TABLE chunks (number INTEGER PRIMARY KEY, stream INTEGER NOT NULL, digest BLOB NOT NULL, "
            "content BLOB NOT NULL)",
            "CREATE UNIQUE INDEX chunk_digests ON chunks (stream, digest)",
        ),
    ),
    (
        "values",
        (
            "CREATE TABLE small_values (space TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, "
            "PRIMARY KEY (space, key)) WITHOUT ROWID",
        ),
    ),
)

#: Of PostgreSQL; ``token`` is what fences off a former owner, ``seen`` when a process was last heard of. Processes of
#: versions before the step *processes* write to ``streams.seen``, and end where it is gone.
POSTGRES = numbered(
    (
        "record",
        (
            "CREATE TABLE streams (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL UNIQUE, "
            "secret BYTEA NOT NULL, seq BIGINT NOT NULL, digest BYTEA NOT NULL, token BIGINT NOT NULL DEFAULT 0, "
            "seen TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())",
            "CREATE TABLE events (stream BIGINT NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, "
            "id TEXT NOT NULL, body BYTEA NOT NULL, item BYTEA, digest BYTEA NOT NULL, PRIMARY KEY (stream, seq))",
            "CREATE UNIQUE INDEX one_decision ON events (stream, id) WHERE kind = 'decided'",
            "CREATE INDEX later_events ON events (stream, id) WHERE kind <> 'decided' AND id <> ''",
        ),
    ),
    (
        "snapshots",
        (
            "CREATE TABLE snapshots (stream BIGINT NOT NULL, seq BIGINT NOT NULL, manifest BYTEA NOT NULL, "
            "PRIMARY KEY (stream, seq))",
            "CREATE TABLE chunks (stream BIGINT NOT NULL, digest BYTEA NOT NULL, content BYTEA NOT NULL, "
            "PRIMARY KEY (stream, digest))",
        ),
    ),
    (
        "values",
        (
            "CREATE TABLE small_values (space TEXT NOT NULL, key TEXT NOT NULL, value BYTEA NOT NULL, "
            "PRIMARY KEY (space, key))",
        ),
    ),
    (
        "processes",
        (
            "CREATE TABLE processes (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, address TEXT NOT NULL, "
            "backend INTEGER NOT NULL, seen TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp())",
            "ALTER TABLE streams ADD COLUMN owner BIGINT, DROP COLUMN seen",
        ),
    ),
)
