"""The record of a stream in a store: numbered, chained, written in groups, and found again by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from ..costs import Costs
from ..decision import new_tuple
from ..errors import RecordError
from .codec import Stamp, chained, event_of, fits, pack_event, stamp_of, unpack, unpack_event
from .events import Decided, Event
from .stores.store import Head, Place, Row, Write
from .timepiece import Clock, Timepiece, machine_clock


class Found(NamedTuple):
    """A decision in the record."""

    seq: int
    event: Decided
    stamp: Stamp
    item: bytes | None  #: the features as the record has them; None: they were erased

    @property
    def erased(self) -> bool:
        """Whether the features were erased."""
        return self.item is None


class DurableRecord:
    """Events that wait to be written, on top of a place in a store.

    ``add`` gives an event its number and its digest; ``write`` makes all that wait durable, in one transaction. What
    waits is found by id like what is written.
    """

    def __init__(self, place: Place, clock: Clock = machine_clock) -> None:
        self.place = place
        self.head = place.head()  #: of all events, also those that wait
        self._written = self.head
        self._waiting: list[Row] = []
        self._of: dict[str, list[Row]] = {}  # what waits, by id
        self._sent, self._of_sent = self.head, self._of  # of what is being written
        self._asked: dict[str, Row | None] = {}  # decisions that were looked up for a group
        self._sheets: dict[tuple[float, ...], Costs] = {}
        self._last: tuple[str, Found] | None = None  # most are asked for twice in a row
        self.at = _time_of_last(place, self.head.seq)  #: the stamp of the last event
        self.timepiece = Timepiece(clock, last=self.at)

    def __len__(self) -> int:
        return self.head.seq

    @property
    def written(self) -> Head:
        """The last event that is on disk."""
        return self._written

    def now(self) -> int:
        """Return the time of the machine: when things happen, for people. A clock that was set may go back."""
        return self.timepiece.now()

    def stamp(self, now: int, last: int = 0) -> int:
        """Return the stamp of the next event at a time: that time, but behind the last event, or a later ``last``."""
        if last < self.at:
            last = self.at
        return now if now > last else last + 1

    def row(self, event: Event, at: int, item: bytes | None = None, own_costs: bool = False) -> Row:
        """Return the row that an event would be the next one by."""
        kind, body = pack_event(event, item, at, own_costs)
        seq, digest = self.head
        return new_tuple(Row, (seq + 1, kind, event.id, body, item, chained(digest, kind, body)))

    def add(self, event: Event, at: int, item: bytes | None = None, own_costs: bool = False) -> int:
        """Let an event with a stamp (``stamp``) wait to be written, and return its number."""
        self.at = at
        row = self.row(event, at, item, own_costs)
        seq, _, id, _, _, digest = row
        self._waiting.append(row)
        if id:
            self._of.setdefault(id, []).append(row)
        self.head = new_tuple(Head, (seq, digest))
        return seq

    def write(self) -> int:
        """Make all that waits durable; return how many events that were."""
        before = self._written.seq
        self.prepare()()
        self.committed()
        return self._written.seq - before

    def prepare(self, begin: bool = False) -> Callable[[], None]:
        """Return what makes all that waits durable, for another thread to call, and ``committed`` after it.

        Events may be added in the meantime; what is being written is found by id all the same. ``begin``: do here and
        now what takes no wait (``Place.begin``). A ``Write`` may be kept with those of other streams.
        """
        place, rows, before = self.place, self._waiting, self._written
        self._sent, self._of_sent = self.head, self._of
        self._waiting, self._of = [], {}
        self._asked.clear()
        return (place.begin(rows, before) if begin and rows else None) or Write(place, rows, before)

    def committed(self) -> None:
        """Take note that what was handed over is on disk."""
        self._written, self._of_sent = self._sent, {}
        self._asked.clear()  # some were looked up before they were there

    def note_written(self, row: Row) -> None:
        """Take note of a row that was written by itself (``Place.erase``)."""
        self.head = self._written = self._sent = Head(row.seq, row.digest)
        self._last = None

    # ---- finding

    def prefetch(self, ids: Sequence[str]) -> None:
        """Look up decisions that are about to be asked for, at once; forgotten at the next ``write``."""
        found = self.place.decisions(ids)
        self._asked = {id: found.get(id) for id in ids}

    def _decision_row(self, id: str) -> Row | None:
        for rows in (self._of.get(id), self._of_sent.get(id)):
            if rows is not None and rows[0].kind == "decided":
                return rows[0]
        if id in self._asked:
            return self._asked[id]
        return self.place.decisions((id,)).get(id)

    def decision(self, id: str) -> Found | None:
        """Return the decision with an id; None: there is none."""
        if self._last is not None and self._last[0] == id:
            return self._last[1]
        row = self._decision_row(id)
        if row is None:
            return None
        event = unpack_event(row.kind, row.body, row.item, self._sheets)
        assert isinstance(event, Decided)
        found = Found(row.seq, event, stamp_of(row.kind, row.body), row.item)
        self._last = id, found
        return found

    def later(self, id: str) -> list[tuple[int, Event]]:
        """Return what happened to a decision after it was made, in order."""
        rows = [row for row in self.place.later(id) if row.seq <= self._written.seq]
        rows += [row for of in (self._of_sent, self._of) for row in of.get(id, ()) if row.kind != "decided"]
        return [(row.seq, unpack_event(row.kind, row.body, row.item, self._sheets)) for row in rows]

    def read(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give the events that are written, behind a number, each with its own; nothing is checked."""
        for row in self.place.read(after):
            yield row.seq, unpack_event(row.kind, row.body, row.item, self._sheets)


def _time_of_last(place: Place, seq: int) -> int:
    """Return when the last event was written; 0: there is none, or it cannot be read."""
    for row in place.read(seq - 1) if seq else ():
        try:
            return stamp_of(row.kind, row.body).at
        except Exception:  # any bytes at all may be there, and whoever checks them says so
            return 0
    return 0


def checked(rows: Iterator[Row], before: Head, sheets: dict[tuple[float, ...], Costs]) -> Iterator[tuple[Row, Event]]:
    """Give rows with their events, and say at which row the chain of digests, or anything in the row, is broken."""
    seq, digest = before
    for row in rows:
        seq += 1
        if row.seq != seq:
            raise RecordError(f"event {seq} is missing: the next one there has the number {row.seq}", seq)
        try:
            digest = chained(digest, row.kind, row.body)
            if digest != row.digest:
                raise ValueError("it was changed after it was written, its SHA-256 is not the recorded one")
            fields = unpack(row.body)
            event = event_of(row.kind, fields, row.item, sheets)
            known = row.item is None or fits(fields, row.item)
        except Exception as error:  # any bytes at all may be there
            raise RecordError(f"event {seq} cannot be read: {error}", seq) from error
        if event.id != row.id:
            raise RecordError(f"event {seq} stands under the id {row.id!r}, and is about {event.id!r}", seq)
        if not known:
            raise RecordError(f"event {seq}: the features of {row.id!r} were changed after they were written", seq)
        if row.item is not None and row.kind != "decided":
            raise RecordError(f"event {seq} has features, and is no decision", seq)
        yield row, event
