"""A stream as one file, to be moved from store to store: every event, the snapshots, and the seed.

The file is as secret as the store: whoever has the seed can foresee audits.
"""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from .._files import written_aside
from ..errors import DataError, InputError
from ..records.codec import pack, unpack
from ..records.stores import MemoryStore, Store
from ..records.stores.store import NOTHING, PART, Head, Place, Row
from .snapshots import read_manifest
from .verify import Verified, verify

#: What such a file begins with, and its version.
MARK, FORMAT = b"appletaste stream\n", 1


def _frames(path: Path) -> Iterator[Any]:
    """Give the parts of a file, each with its length before it."""
    with path.open("rb") as file:
        if file.read(len(MARK)) != MARK:
            raise DataError(f"{path} is no exported stream: 'appletaste stream export' writes one")
        while size := file.read(8):
            part = file.read(int.from_bytes(size, "big"))
            try:
                yield unpack(part)
            except Exception as error:  # any bytes at all may be there
                raise DataError(f"{path} is damaged: {error}") from None


def export_stream(place: Place, path: str | PathLike[str]) -> int:
    """Write a stream to a file; return the number of its events."""
    target = Path(path)
    if target.exists():
        raise InputError(f"{target} is there already: give another name, or delete the file first")
    with written_aside(target, private=True) as aside, aside.open("wb") as file:
        file.write(MARK)

        def put(part: Any) -> None:
            packed = pack(part)
            file.write(len(packed).to_bytes(8, "big") + packed)

        last = place.head().seq
        put({"format": FORMAT, "name": place.name, "secret": place.secret, "events": last})
        for seq, packed in place.snapshots():
            if seq <= last:
                for digest in sorted(read_manifest(packed).chunks()):
                    put({"chunk": place.chunk(digest), "digest": digest})
                put({"manifest": packed, "seq": seq})
        rows: list[tuple[Any, ...]] = []
        for row in place.read():
            if row.seq > last:
                break
            rows.append(tuple(row))
            if len(rows) == PART:
                put({"rows": rows})
                rows = []
        put({"rows": rows})
    return last


def import_stream(path: str | PathLike[str], store: Store, name: str | None = None) -> Verified:
    """Read a stream from a file into a store, in one transaction; nothing is written unless all of it verifies."""
    rehearsal = MemoryStore()
    found: Place | None = None
    chunks: dict[bytes, bytes] = {}
    manifests: dict[int, bytes] = {}
    rows: list[Row] = []
    events = 0
    for part in _frames(Path(path)):
        if "format" in part:
            if part["format"] != FORMAT:
                raise DataError(f"{path} has format {part['format']}; this version reads format {FORMAT}")
            found, events = rehearsal.create(part["name"], part["secret"]), part["events"]
        elif "manifest" in part:
            manifests[part["seq"]] = part["manifest"]
        elif "chunk" in part:
            chunks[part["digest"]] = part["chunk"]
        else:
            rows += [Row(*row) for row in part["rows"]]
    if found is None or len(rows) != events:
        raise DataError(f"{path} ends too early: {len(rows)} of {events} events are there")
    _fill(found, manifests, chunks, rows)
    told = verify(found)
    store.create(name or found.name, found.secret, lambda place: _fill(place, manifests, chunks, rows)).release()
    return told


def _fill(place: Place, manifests: dict[int, bytes], chunks: dict[bytes, bytes], rows: list[Row]) -> None:
    for digest, content in chunks.items():
        place.put_chunk(digest, content)
    for seq, manifest in manifests.items():
        place.put_snapshot(seq, manifest, manifests, chunks)
    before = Head(0, NOTHING)
    for start in range(0, len(rows), PART):
        part = rows[start : start + PART]
        place.append(part, before)
        before = Head(part[-1].seq, part[-1].digest)
