"""The state of a stream: the latest, from a snapshot and the events behind it, or as it was after any event."""

from __future__ import annotations

from collections.abc import Iterator

from ..costs import Costs
from ..errors import InputError, RecordError
from ..features import FeatureMap
from ..policies import Policy
from ..policies.player import part_of
from ..records.codec import unpack_event
from ..records.durable import DurableRecord, checked
from ..records.events import Created, Decided, Event, ModeChanged
from ..records.stores.store import NOTHING, Head, Place
from .fold import Fold, Lookup
from .snapshots import Manifest, load_arrays, read_manifest, restore

#: The version of the settings of a stream.
FORMAT = 1


def settings_of(place: Place) -> Created:
    """Return the first event of a stream, which has its settings."""
    head = place.head()
    if head.seq == 0:
        raise RecordError(
            f"stream {place.name!r} was never finished: its process ended while the stream was made. Create the "
            "stream again",
            1,
        )
    for _, event in checked(place.read(), Head(0, NOTHING), {}):  # all that follows is read by these settings
        if isinstance(event, Created):
            if event.settings["format"] != FORMAT:
                raise RecordError(
                    f"stream {place.name!r} has settings of format {event.settings['format']}; this version reads "
                    f"format {FORMAT}",
                    1,
                )
            return event
        break
    raise RecordError(f"the first event of stream {place.name!r} does not say how it began", 1)


def first_map(place: Place) -> FeatureMap | None:
    """Return the map that a stream began with; None: its items are vectors."""
    settings = settings_of(place).settings
    if settings["features"] is None:
        return None
    first = read_manifest(place.snapshots()[0][1])
    return FeatureMap.restore(settings["features"], part_of(load_arrays(place, first), "features"))


def latest_fold(record: DurableRecord) -> tuple[Fold, int, RecordError | None]:
    """Return the state of a record, after how many events it has a snapshot, and what does not verify, if anything.

    A snapshot that is damaged is left aside for the one before. Where the tail does not verify, the state is that
    before the event that does not, with the modes of the whole record.
    """
    place, features = record.place, first_map(record.place)
    trouble: RecordError | None = None
    for seq, packed in reversed(place.snapshots()):
        try:
            manifest = read_manifest(packed)
            fold = restore(place, manifest, features)
        except RecordError as error:
            trouble = error
            continue
        return fold, seq, _take_tail(record, fold, manifest)
    raise trouble or RecordError(f"stream {place.name!r} has no snapshot to begin with", 1)


def policy_at(place: Place, seq: int) -> Policy:
    """Return the policy of a stream as it was after an event; 0: before the first.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "orders", policy)
    >>> _ = stream.decide([0.5], id="a"), stream.decide([0.5], id="b")
    >>> policy_at(stream.record.place, 2).round, stream.player.policy.round
    (1, 2)
    """
    before = [packed for number, packed in place.snapshots() if number <= seq]
    manifest = read_manifest(before[-1])
    fold, lookup = restore(place, manifest, first_map(place)), _lookup_in(DurableRecord(place))
    sheets: dict[tuple[float, ...], Costs] = {}
    for row in place.read(manifest.seq):
        if row.seq > seq:
            break
        event = unpack_event(row.kind, row.body, row.item, sheets)
        if isinstance(event, Decided) and row.item is None:
            raise InputError("features of decisions were erased since, so what was believed then cannot be told")
        fold.take(row, event, lookup)
    return fold.player.policy


def _lookup_in(record: DurableRecord) -> Lookup:
    def lookup(id: str) -> Decided:
        found = record.decision(id)
        if found is None or found.erased:
            raise RecordError(f"the record speaks of decision {id!r}, which it does not have")
        return found.event

    return lookup


def _take_tail(record: DurableRecord, fold: Fold, manifest: Manifest) -> RecordError | None:
    """Let a state take in the events behind its snapshot; return what does not verify, if anything."""
    place, head, lookup = record.place, Head(manifest.seq, manifest.digest), _lookup_in(record)
    sheets: dict[tuple[float, ...], Costs] = {}
    try:
        if _digest_at(place, head.seq) != head.digest:
            raise RecordError(f"the snapshot after event {head.seq} is of another record", head.seq)
        for row, event in checked(place.read(head.seq), head, sheets):
            if row.seq > record.head.seq:  # written since, by another process
                break
            fold.take(row, event, lookup)
            head = Head(row.seq, row.digest)
        if head != record.head:
            raise RecordError(f"the record ends with event {head.seq}, and should end with {record.head.seq}", head.seq)
    except RecordError as trouble:
        for seq, event in _readable(record, head.seq):
            if isinstance(event, ModeChanged):
                fold.modes.append((seq, event.mode))
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
