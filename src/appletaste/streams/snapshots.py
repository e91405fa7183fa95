"""Snapshots: a state in chunks that are kept under their SHA-256, so that only what is new is written.

Arrays that only grow (items learnt from, marks of rounds) share all but their last chunk with the snapshot before.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from ..errors import RecordError
from ..features import FeatureMap
from ..posteriors import Arrays
from ..records.codec import pack, sha256, unpack
from ..records.stores.store import Place
from .fold import Fold, as_text

#: Bytes of a chunk, a power of two; a manifest says how many its own have.
CHUNK = 1 << 18
#: Snapshots that are kept, beside the first one.
KEPT = 2
#: Seconds between two chunks, for decisions that wait at the door of the store.
PAUSE = 0.002
#: After a snapshot, so many times as long as it took go to decisions alone.
RESTS = 10
#: Events between two snapshots that are made by themselves, and so many times as many where a snapshot would begin
#: before the last one has rested: opening a busy stream then takes a second more, and decisions have that time.
EVERY, LONGER = 20_000, 3
#: Seconds that copying a state may take; a larger one has its snapshots when it is opened and closed.
LONGEST_COPY = 0.04


class Manifest(NamedTuple):
    """What a snapshot says of itself: where it belongs, the settings, and the chunks of each array."""

    seq: int
    digest: bytes  #: of event ``seq``
    header: str
    chunk: int
    arrays: list[tuple[str, str, list[int], list[bytes]]]

    def packed(self) -> bytes:
        """Return the manifest as bytes; two states are the same to the bit if these are."""
        found: bytes = pack(self)
        return found

    def chunks(self) -> set[bytes]:
        """Return the digests of all its chunks."""
        return {digest for *_, digests in self.arrays for digest in digests}


def read_manifest(packed: bytes) -> Manifest:
    """Return the manifest of bytes, or say that they are none."""
    try:
        seq, digest, header, chunk, arrays = unpack(packed)
        if not (isinstance(chunk, int) and chunk.bit_count() == 1 and chunk > 0):  # a flipped bit leaves none of these
            raise ValueError(f"chunks of {chunk} bytes")
        return Manifest(seq, digest, header, chunk, [(name, kind, shape, parts) for name, kind, shape, parts in arrays])
    except Exception as error:  # any bytes at all may be there
        raise RecordError(f"a snapshot cannot be read: {error}") from error


def parts_of(array: np.ndarray[Any, Any], chunk: int) -> Iterator[memoryview]:
    """Give the bytes of an array, a chunk at a time."""
    content = memoryview(np.ascontiguousarray(array).view(np.uint8).reshape(-1))  # type: ignore[arg-type]
    for start in range(0, len(content), chunk):
        yield content[start : start + chunk]


def describe(seq: int, digest: bytes, header: dict[str, Any], arrays: Arrays, chunk: int | None = None) -> Manifest:
    """Return the manifest of a state, in chunks of the usual length, or of those of another manifest."""
    chunk = CHUNK if chunk is None else chunk
    found = [
        (name, array.dtype.str, list(array.shape), [sha256(part).digest() for part in parts_of(array, chunk)])
        for name, array in arrays.items()
    ]
    return Manifest(seq, digest, as_text(header), chunk, found)


def put_chunks(place: Place, manifest: Manifest, arrays: Arrays, pause: float = 0.0) -> None:
    """Write the chunks of a snapshot that are not there yet, each in a transaction of its own."""
    there = place.chunks()
    for name, _, _, digests in manifest.arrays:
        for digest, part in zip(digests, parts_of(arrays[name], manifest.chunk), strict=True):
            if digest not in there:
                place.put_chunk(digest, bytes(part))
                there.add(digest)
                if pause:
                    time.sleep(pause)


def load_arrays(place: Place, manifest: Manifest) -> Arrays:
    """Return the arrays of a snapshot, or say that a chunk is not what it was."""
    arrays: Arrays = {}
    for name, kind, shape, digests in manifest.arrays:
        parts = []
        for digest in digests:
            part = place.chunk(digest)
            if part is None or sha256(part).digest() != digest:
                raise RecordError(f"the snapshot after event {manifest.seq} is damaged: a part of {name}", manifest.seq)
            parts.append(part)
        try:
            arrays[name] = np.frombuffer(bytearray().join(parts), dtype=np.dtype(kind)).reshape(shape)
        except Exception as error:  # any bytes at all may be there
            told = f"the snapshot after event {manifest.seq} is damaged: the size of {name}"
            raise RecordError(told, manifest.seq) from error
    return arrays


def restore(place: Place, manifest: Manifest, features: FeatureMap | None) -> Fold:
    """Return the state of a snapshot; ``features`` is the map that the stream began with."""
    arrays = load_arrays(place, manifest)
    try:
        seed = int.from_bytes(place.secret, "big")
        return Fold.restore(json.loads(manifest.header), arrays, seed, features)
    except Exception as error:  # any bytes at all may be there
        raise RecordError(f"the snapshot after event {manifest.seq} is damaged: {error}", manifest.seq) from error


def kept_beside(place: Place) -> tuple[list[int], set[bytes]]:
    """Return the snapshots that stay when another one is written, and their chunks: the first, and the latest."""
    found = place.snapshots()
    stay = [*found[:1], *found[1:][-KEPT + 1 :]] if KEPT > 1 else found[:1]
    chunks: set[bytes] = set()
    for _, packed in stay:
        chunks |= read_manifest(packed).chunks()
    return [seq for seq, _ in stay], chunks


def keep(place: Place, manifest: Manifest, arrays: Arrays, pause: float = 0.0) -> None:
    """Write a snapshot: its new chunks first, and then, at once, its manifest in the place of the oldest."""
    put_chunks(place, manifest, arrays, pause)
    seqs, chunks = kept_beside(place)
    place.put_snapshot(manifest.seq, manifest.packed(), seqs, chunks | manifest.chunks())


class Keeper:
    """Writes snapshots in a thread, one at a time, while decisions go on."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._thread: Thread | None = None
        self._rests_until, self._slow = 0.0, False
        self.error: Exception | None = None  #: of the last snapshot; a snapshot is a shortcut, and nothing is lost

    @property
    def busy(self) -> bool:
        """Whether a snapshot is being written."""
        return self._thread is not None and self._thread.is_alive()

    def due(self, events: int) -> bool:
        """Return whether a snapshot should be written, after so many events since the last one."""
        if events < EVERY or self._slow or self.busy:
            return False
        return events >= LONGER * EVERY or time.monotonic() >= self._rests_until

    def start(self, seq: int, digest: bytes, fold: Fold) -> None:
        """Copy a state, and let a thread write it: decisions wait for the copy alone, or for one small write."""
        began = time.perf_counter()
        header, arrays = fold.header(), fold.arrays()
        self._slow = time.perf_counter() - began > LONGEST_COPY

        def work() -> None:
            began = time.monotonic()
            try:
                keep(self._place, describe(seq, digest, header, arrays), arrays, PAUSE)
            except Exception as error:
                self.error = error
            ended = time.monotonic()
            self._rests_until = ended + RESTS * (ended - began)

        self._thread = Thread(target=work, name="appletaste snapshot")
        self._thread.start()

    def wait(self) -> None:
        """Wait until the snapshot that is being written is."""
        if self._thread is not None:
            self._thread.join()
            self._thread = None
