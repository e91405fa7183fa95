"""Opening a stream: the latest snapshot that is whole, and the events behind it."""

from __future__ import annotations

from collections.abc import Iterator

from ..costs import Costs
from ..errors import AppleTasteError, RecordError
from ..records.codec import unpack_event
from ..records.durable import DurableRecord, checked
from ..records.events import Decided, Event, ModeChanged
from ..records.stores.store import NOTHING, Head, Place
from .fold import Lookup, State
from .snapshots import Manifest, read_manifest, restore


def latest_state(record: DurableRecord) -> tuple[State, int, RecordError | None]:
    """Return the state of a record, after how many events it has a snapshot, and what does not verify, if anything.

    A snapshot that is damaged is left aside for the one before. Where the tail does not verify, the state is that
    before the event that does not, with the modes of the whole record.
    """
    place, seed = record.place, int.from_bytes(record.place.secret, "big")
    trouble: RecordError | None = None
    for seq, packed in reversed(place.snapshots()):
        try:
            manifest = read_manifest(packed)
            state = restore(place, manifest, seed)
        except RecordError as error:
            trouble = error
            continue
        found = _tail(record, state, manifest, _lookup_in(record))
        return state, seq, found
    raise trouble or RecordError(f"stream {place.name!r} has no snapshot to begin with", 1)


def _lookup_in(record: DurableRecord) -> Lookup:
    def lookup(id: str) -> Decided:
        found = record.decision(id)
        if found is None or found.erased:
            raise RecordError(f"the record speaks of decision {id!r}, which it does not have")
        return found.event

    return lookup


def _tail(record: DurableRecord, state: State, manifest: Manifest, lookup: Lookup) -> RecordError | None:
    """Let a state take in the events behind its snapshot; return what does not verify, if anything."""
    place, head = record.place, Head(manifest.seq, manifest.digest)
    sheets: dict[tuple[float, ...], Costs] = {}
    try:
        if _digest_at(place, head.seq) != head.digest:
            raise RecordError(f"the snapshot after event {head.seq} is of another record", head.seq)
        for row, event in checked(place.read(head.seq), head, sheets):
            try:
                if isinstance(event, Decided):
                    if row.item is None:
                        raise RecordError(f"event {row.seq}: the features of {event.id!r} are missing", row.seq)
                    state.replay(row.seq, event)
                else:
                    state.follow(row.seq, event, lookup)
            except RecordError:
                raise
            except (AppleTasteError, ArithmeticError, LookupError, TypeError) as error:
                raise RecordError(f"event {row.seq} cannot have happened: {error}", row.seq) from error
            head = Head(row.seq, row.digest)
        if head != record.head:
            raise RecordError(f"the record ends with event {head.seq}, and should end with {record.head.seq}", head.seq)
    except RecordError as trouble:
        for seq, event in _readable(record, head.seq):
            if isinstance(event, ModeChanged):
                state.modes.append((seq, event.mode))
        return trouble
    return None


def _digest_at(place: Place, seq: int) -> bytes:
    """Return the digest of an event, as it is written."""
    if seq == 0:
        return NOTHING
    for row in place.read(seq - 1):
        return row.digest
    return b""


def _readable(record: DurableRecord, after: int) -> Iterator[tuple[int, Event]]:
    """Give the events of a damaged tail that can be read."""
    sheets: dict[tuple[float, ...], Costs] = {}
    for row in record.place.read(after):
        try:
            yield row.seq, unpack_event(row.kind, row.body, row.item, sheets)
        except Exception:  # any bytes at all may be there
            continue
