"""``verify``: the record folded again from nothing; every probability and every snapshot compared, bit for bit."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from ..costs import Costs
from ..errors import RecordError
from ..features import FeatureMap
from ..records.codec import sha256, unpack_event
from ..records.durable import checked
from ..records.events import Created, Decided, Erased, Event, Labelled
from ..records.stores.store import NOTHING, Head, Place, Row
from .fold import Fold
from .loop import uncollected
from .recovery import first_map
from .snapshots import Manifest, describe, read_manifest, restore

Progress = Callable[[int, int], None]


class Gap(NamedTuple):
    """Events that cannot be folded again, because features were erased; their digests were compared all the same."""

    first: int
    last: int
    ids: tuple[str, ...]  #: of the decisions whose features are gone
    before: bool = False  #: all of them were folded and compared before the features went, and are as they were

    def __str__(self) -> str:
        ids = ", ".join(map(repr, self.ids[:3])) + (" and others" if len(self.ids) > 3 else "")
        if self.before:
            return (
                f"events {self.first} to {self.last} verified before the features of {ids} were erased, and are as "
                "they were"
            )
        return f"events {self.first} to {self.last} cannot be folded again: the features of {ids} were erased"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class Verified(NamedTuple):
    """A record that verifies: what was compared."""

    events: int
    decisions: int
    labels: int
    snapshots: int
    gaps: tuple[Gap, ...]

    def __str__(self) -> str:
        kinds = (self.decisions, "decision"), (self.labels, "label"), (self.snapshots, "snapshot")
        there = ", ".join(_counted(number, what) for number, what in kinds)
        told = f"{_counted(self.events, 'event')} {'verifies' if self.events == 1 else 'verify'}: {there}, bit for bit"
        return "; ".join([told, *map(str, self.gaps)])


class Verifier:
    """One pass over a record.

    The chain of SHA-256 is compared for every event. The fold starts from the first snapshot, whose digest is in the
    first event; behind features that were erased it goes on from the next snapshot, whose digest is in the event that
    says so.
    """

    def __init__(self, place: Place) -> None:
        self._place = place
        self._sheets: dict[tuple[float, ...], Costs] = {}
        self._manifests = {seq: read_manifest(packed) for seq, packed in place.snapshots()}
        self._fold: Fold | None = None
        self._map: FeatureMap | None = None  # that the stream began with
        self._acts: dict[str, Decided] = {}  # what waits for its label, so that it need not be read again
        self._erased: list[str] = []  # within the gap that is open
        self._gone: dict[str, int] = {}  # features that are missing, until an event says why
        # Events that were compared before features went, from one to another; and since which the fold could be begun.
        self._before: list[tuple[int, int]] = []
        self._earliest, self._anchored = math.inf, 1
        self._gaps: list[Gap] = []
        self._first = 0
        self._compared = self._decisions = self._labels = 0

    def run(self, progress: Progress | None = None) -> Verified:
        """Compare everything, or raise ``RecordError`` with the first event that differs."""
        place, end = self._place, self._place.head()
        head = Head(0, NOTHING)
        for row, event in checked(place.read(), head, self._sheets):
            if row.seq > end.seq:  # written since
                break
            head = Head(row.seq, row.digest)
            if isinstance(event, Decided):
                self._decided(row, event)
            else:
                self._happened(row, event)
            self._compare(head)
            if progress is not None and row.seq % 1000 == 0:
                progress(row.seq, end.seq)
        if head.seq < end.seq or (head.seq == end.seq and head.digest != end.digest):
            raise RecordError(
                f"the record ends with event {head.seq}, and should end with event {end.seq}", head.seq + 1
            )
        if self._fold is None:
            self._close_gap(head.seq)
        for id, seq in self._gone.items():
            raise RecordError(f"event {seq}: the features of {id!r} are missing, and no event says why", seq)
        gaps = tuple(gap._replace(before=self._proved(gap)) for gap in self._gaps)
        return Verified(head.seq, self._decisions, self._labels, self._compared, gaps)

    def _proved(self, gap: Gap) -> bool:
        """Return whether each event of a gap was compared before features went."""
        next_ = gap.first
        for first, last in sorted(self._before):
            if first <= next_:
                next_ = max(next_, last + 1)
        return next_ > gap.last

    def _decided(self, row: Row, event: Decided) -> None:
        self._decisions += 1
        if row.item is None:
            if self._fold is not None:
                self._fold, self._first = None, row.seq
            self._erased.append(event.id)
            self._gone[event.id] = row.seq
        elif self._fold is not None:
            self._fold.take(row, event, self._lookup)
            if event.decision.act:
                self._acts[event.id] = event

    def _happened(self, row: Row, event: Event) -> None:
        seq = row.seq
        if isinstance(event, Created):
            self._begin(seq, event)
        elif isinstance(event, Erased):
            self._check_anchor(seq, event.anchor, seq - 1)
            made = self._gone.pop(event.id, None)
            if made is None:
                raise RecordError(
                    f"event {seq} says that the features of {event.id!r} were erased, and they are there", seq
                )
            # what lay between features that were gone before and their anchor could not be compared then
            self._before.append((1, int(min(event.compared, self._earliest - 1))))
            self._before.append((self._anchored, event.compared))
            self._earliest, self._anchored = min(self._earliest, made), seq
        if self._fold is not None:
            self._fold.take(row, event, self._lookup)
        if isinstance(event, Labelled):
            self._labels += 1
            self._acts.pop(event.id, None)

    def _begin(self, seq: int, event: Created) -> None:
        if seq != 1:
            raise RecordError(f"event {seq} says that the stream begins, and it has begun", seq)
        first = self._check_anchor(seq, event.anchor, 0)
        self._map = first_map(self._place)
        self._fold = restore(self._place, first, self._map)

    def _check_anchor(self, seq: int, digest: bytes, at: int) -> Manifest:
        """Return the snapshot that an event vouches for; a later one may have taken its place, but for the first."""
        found = self._manifests.get(at)
        if found is None:
            if at == 0:
                raise RecordError("the snapshot that the stream began with is missing", seq)
            return next(iter(self._manifests.values()))
        if sha256(found.packed()).digest() != digest:
            raise RecordError(f"the snapshot before event {seq} is not the one that event {seq} names", seq)
        return found

    def _compare(self, head: Head) -> None:
        """Compare the state after an event with its snapshot; behind a gap, go on from there."""
        found = self._manifests.get(head.seq)
        if found is None:
            return
        if found.digest != head.digest:
            raise RecordError(f"the snapshot after event {head.seq} is of another record", head.seq)
        if self._fold is None:
            self._fold = restore(self._place, found, self._map)
            self._close_gap(head.seq)
        else:
            ours = describe(head.seq, head.digest, self._fold.header(), self._fold.arrays(), found.chunk)
            if ours.packed() != found.packed():
                name = next((a[0] for a, b in zip(ours.arrays, found.arrays, strict=False) if a != b), "its settings")
                raise RecordError(f"the snapshot after event {head.seq} differs from the fold: {name}", head.seq)
            restore(self._place, found, self._map)  # its chunks are what their digests say
        self._compared += 1

    def _close_gap(self, last: int) -> None:
        self._gaps.append(Gap(self._first, last, tuple(self._erased)))
        self._erased = []

    def _lookup(self, id: str) -> Decided:
        known = self._acts.get(id)
        if known is None:
            row = self._place.decisions((id,)).get(id)
            if row is None or row.item is None:
                raise RecordError(f"the record speaks of decision {id!r}, which it does not have")
            event = unpack_event(row.kind, row.body, row.item, self._sheets)
            assert isinstance(event, Decided)
            known = event
        return known


def verify(place: Place, progress: Progress | None = None) -> Verified:
    """Fold a record again from nothing and compare; ``RecordError`` names the first event that differs."""
    with uncollected():
        return Verifier(place).run(progress)
