"""``verify``: the record folded again from nothing; every probability and every snapshot compared, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..costs import Costs
from ..errors import AppleTasteError, RecordError
from ..records.codec import sha256, unpack_event
from ..records.durable import checked
from ..records.events import Created, Decided, Erased
from ..records.stores.store import NOTHING, Head, Place
from .fold import State
from .loop import uncollected
from .snapshots import Manifest, describe, read_manifest, restore

Progress = Callable[[int, int], None]


class Gap(NamedTuple):
    """Events that cannot be folded again, because features were erased; their digests were compared all the same."""

    first: int
    last: int
    ids: tuple[str, ...]  #: of the decisions whose features are gone


class Verified(NamedTuple):
    """A record that verifies: what was compared."""

    events: int
    decisions: int
    labels: int
    snapshots: int
    gaps: tuple[Gap, ...]

    def __str__(self) -> str:
        told = f"{self.events} events verify: {self.decisions} decisions, {self.labels} labels, "
        told += f"{self.snapshots} snapshots, bit for bit"
        for gap in self.gaps:
            ids = ", ".join(map(repr, gap.ids[:3])) + (" and others" if len(gap.ids) > 3 else "")
            told += f"; events {gap.first} to {gap.last} cannot be folded again: the features of {ids} were erased"
        return told


class Verifier:
    """One pass over a record.

    The chain of SHA-256 is compared for every event. The fold starts from the first snapshot, whose digest is in the
    first event; behind features that were erased it goes on from the next snapshot, whose digest is in the event that
    says so.
    """

    def __init__(self, place: Place) -> None:
        self._place, self._seed = place, int.from_bytes(place.secret, "big")
        self._sheets: dict[tuple[float, ...], Costs] = {}
        self._manifests = {seq: read_manifest(packed) for seq, packed in place.snapshots()}
        self._state: State | None = None
        self._acts: dict[str, Decided] = {}  # what waits for its label, so that it need not be read again
        self._erased: list[str] = []  # within the gap that is open
        self._gone: dict[str, int] = {}  # features that are missing, until an event says why
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
            try:
                if isinstance(event, Decided):
                    self._decisions += 1
                    self._decided(row.seq, event, row.item is None)
                else:
                    self._happened(row.seq, event)
            except RecordError:
                raise
            except (AppleTasteError, ArithmeticError, LookupError, TypeError) as error:
                raise RecordError(f"event {row.seq} cannot have happened: {error}", row.seq) from error
            self._compare(head)
            if progress is not None and row.seq % 1000 == 0:
                progress(row.seq, end.seq)
        if head.seq < end.seq or (head.seq == end.seq and head.digest != end.digest):
            raise RecordError(
                f"the record ends with event {head.seq}, and should end with event {end.seq}", head.seq + 1
            )
        if self._state is None:
            self._close_gap(head.seq)
        for id, seq in self._gone.items():
            raise RecordError(f"event {seq}: the features of {id!r} are missing, and no event says why", seq)
        return Verified(head.seq, self._decisions, self._labels, self._compared, tuple(self._gaps))

    def _decided(self, seq: int, event: Decided, erased: bool) -> None:
        if erased:
            if self._state is not None:
                self._state, self._first = None, seq
            self._erased.append(event.id)
            self._gone[event.id] = seq
        elif self._state is not None:
            self._state.replay(seq, event)
            if event.decision.act:
                self._acts[event.id] = event

    def _happened(self, seq: int, event: object) -> None:
        kind = type(event).__name__
        self._labels += kind == "Labelled"
        if isinstance(event, Created):
            self._begin(seq, event)
        elif isinstance(event, Erased):
            self._check_anchor(seq, event.anchor, seq - 1)
            if self._gone.pop(event.id, None) is None:
                raise RecordError(
                    f"event {seq} says that the features of {event.id!r} were erased, and they are there", seq
                )
        if self._state is not None:
            self._state.follow(seq, event, self._lookup)  # type: ignore[arg-type]
            if kind == "Labelled":
                self._acts.pop(event.id, None)  # type: ignore[attr-defined]

    def _begin(self, seq: int, event: Created) -> None:
        if seq != 1:
            raise RecordError(f"event {seq} says that the stream begins, and it has begun", seq)
        self._state = restore(self._place, self._check_anchor(seq, event.anchor, 0), self._seed)

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
        if self._state is None:
            self._state = restore(self._place, found, self._seed)
            self._close_gap(head.seq)
        else:
            ours = describe(head.seq, head.digest, self._state.header(), self._state.arrays(), found.chunk)
            if ours.packed() != found.packed():
                name = next((a[0] for a, b in zip(ours.arrays, found.arrays, strict=False) if a != b), "its settings")
                raise RecordError(f"the snapshot after event {head.seq} differs from the fold: {name}", head.seq)
            restore(self._place, found, self._seed)  # its chunks are what their digests say
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
