"""How a stream is: its alarms with who has taken note, its mode, its record, its store and its work.

An alarm is known by the event that raised it, so it has the same name whenever the record is read again. Who has taken
note is kept among the small values of the store, and as a note in the record.
"""

from __future__ import annotations

import hashlib
import statistics
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from ...drift.alarms import LABELS, Alarm
from ...drift.segments import Segment, segment_of
from ...records.codec import stamp_of, unpack_event
from ...records.events import UNKNOWN, Decided, ModeChanged
from ...records.stores import POSTGRES, Store
from ...records.stores.store import Place
from ...streams import Stream
from ...streams.journal import stamp_text
from ...streams.staffing import audit_text, capacity_text
from ..api.streams import VERIFIED, VerifiedAt
from ..door import check_plain
from ..operations import STREAM, Call, Reply, operation
from ..problems import Problem
from ..types import Body, Who
from ..writer import Writer
from .read_model import ReadModel, day_name

#: What is said of an alarm that does not stand, in the place of what to do about it.
TAKEN_BACK = "Taken back: with the labels that have come since, the same items say so no more. Nothing needs to be done"
#: The longest note that a record takes, less the words before it.
LONGEST = 9_000


class Acknowledged(Struct, frozen=True):
    """Who has taken note of an alarm."""

    by: str
    time: str
    text: str


class AlarmRead(Struct, frozen=True):
    """An alarm: when, what, how sure, and what to do."""

    id: str
    raised: str | float | None
    what: str
    change: str  #: what is other than before, in short
    column: str | None
    segment: str | None  #: the stratum that it is mostly about, in words
    since_day: str | None  #: the day on which the change seems to have begun; null: times are numbers
    statistic: float
    threshold: float
    item: int
    since: int
    until: int
    remedy: str
    stands: bool  #: false: the labels that came since, of the same items, do not say so any more
    acknowledged: Acknowledged | None


class AlarmList(Struct, frozen=True):
    """All alarms, the latest first, and what could not be watched."""

    alarms: list[AlarmRead]
    items: int
    notes: list[str]


def name_of(alarm: Alarm, seq: int) -> str:
    """Return what an alarm is called, for ever."""
    return hashlib.sha256(f"{alarm.kind} {alarm.feature} {seq}".encode()).hexdigest()[:12]


class Noticed:
    """Who has taken note of which alarm of a stream, in the small values of its store."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._space = store, f"alarms {stream}"

    def all(self) -> dict[str, Acknowledged]:
        """Return who has taken note, by alarm."""
        found = self._store.values(self._space)
        return {name: msgspec.json.decode(value, type=Acknowledged) for name, value in found.items()}

    def add(self, stream: Stream, alarm: AlarmRead, by: str, text: str) -> Acknowledged:
        """Take note of an alarm, once: who was first stands."""
        known = self.all().get(alarm.id)
        if known is not None:
            return known
        said = f"alarm acknowledged: {alarm.what}"[:LONGEST] + (f"; {text}" if text else "")
        stream.note("", said, by=by)
        found = Acknowledged(by, datetime.now(UTC).isoformat(), text)
        self._store.put(self._space, alarm.id, msgspec.json.encode(found))
        return found


def alarms_of(read_model: ReadModel, noticed: dict[str, Acknowledged]) -> AlarmList:
    """Return all alarms, the latest first."""
    with read_model.catch_up().lock:
        found = [alarm_read(*one, noticed, read_model) for one in read_model.alarms()]
        return AlarmList(found[::-1], read_model.watch.items, read_model.unwatched)


def alarm_read(
    seq: int, alarm: Alarm, stands: bool, noticed: dict[str, Acknowledged], read_model: ReadModel
) -> AlarmRead:
    """Return one alarm."""
    name, feature, rows = name_of(alarm, seq), alarm.feature, read_model.rows_about(alarm)
    segment: Segment | None = read_model.once(
        ("segment", name), read_model.seq, lambda: segment_about(read_model, alarm, rows)
    )
    return AlarmRead(
        name,
        alarm.time,
        read_model.called_now(alarm.meaning, feature),
        read_model.called_now(alarm.change, feature),
        None if feature is None else read_model.called_now(feature, feature),
        None if segment is None else str(segment),
        day_name(int(read_model.columns.number("day")[rows[0]])) if read_model.columns.dated else None,
        alarm.statistic,
        alarm.threshold,
        alarm.item,
        alarm.since,
        alarm.until,
        alarm.advice if stands else TAKEN_BACK,
        stands,
        noticed.get(name),
    )


def segment_about(read_model: ReadModel, alarm: Alarm, rows: NDArray[np.intp]) -> Segment | None:
    """Return the stratum that an alarm of labels is mostly about."""
    if alarm.kind != LABELS:
        return None
    columns = read_model.columns
    chance, label = columns.amount("chance")[rows], columns.flag("label")[rows]
    known = (label != UNKNOWN) & (columns.flag("act")[rows] != 0) & (chance == chance)
    if not known.any():
        return None
    wanted = set(columns.number("seq")[rows[known]].tolist())
    strata: list[str] = []
    for row in read_model.writer.place.read(min(wanted) - 1):
        if row.seq in wanted:
            event = unpack_event(row.kind, row.body, None, {})
            strata.append((event.stratum if isinstance(event, Decided) else None) or "")
        if row.seq >= max(wanted):
            break
    return segment_of(np.array(strata), label[known], chance[known], alarm.more)


def find_alarm(read_model: ReadModel, name: str, noticed: dict[str, Acknowledged]) -> AlarmRead:
    """Return the alarm with a name, or the problem that there is none."""
    for alarm in alarms_of(read_model, noticed).alarms:
        if alarm.id == name:
            return alarm
    raise Problem("unknown-alarm")


@operation("GET", STREAM + "/alarms", scope="read")
async def alarms(call: Call[None]) -> Reply[AlarmList]:
    """List alarms: what has changed, since when, what to do, and who has taken note."""
    read_model, noticed = call.host.read_model(call.stream), Noticed(call.host.store, call.stream)
    return Reply.of(await call.host.aside(lambda: alarms_of(read_model, noticed.all())))


class Acknowledge(Body, frozen=True):
    """Somebody has taken note of an alarm."""

    text: Annotated[str, Meta(max_length=1000)] = ""
    by: Who | None = None


@operation("POST", STREAM + "/alarms/{alarm}/acknowledge", scope="review", problems=("unknown-alarm",))
async def acknowledge(call: Call[Acknowledge]) -> Reply[AlarmRead]:
    """Take note of an alarm; who was first stands."""
    read_model, noticed = call.host.read_model(call.stream), Noticed(call.host.store, call.stream)
    said, by = call.body, call.who(call.body.by)
    check_plain(said.text, "/text")
    check_plain(by, "/by")
    found = await call.host.aside(lambda: find_alarm(read_model, call.params["alarm"], noticed.all()))
    told = await call.writer.do(lambda stream: noticed.add(stream, found, by, said.text))
    return Reply.of(msgspec.structs.replace(found, acknowledged=told))


class ModeSince(Struct, frozen=True):
    """The mode that holds, and since when."""

    mode: str
    since: str
    by: str
    reason: str


class Commits(Struct, frozen=True):
    """How long the last commits took, the sync of the disk among it, in milliseconds."""

    count: int
    median: float
    most: float


class StreamHealth(Struct, frozen=True):
    """How a stream is."""

    mode: ModeSince
    events: int
    verified: VerifiedAt | None
    store: str
    commits: Commits | None
    queue: int  #: requests that wait for the writer
    pending: int  #: decisions whose label is awaited
    trouble: str | None
    capacity: str | None
    audit: str | None
    time_zone: str | None  #: whose days a capacity is of; null: those of UTC


class ReadSoFar(Struct, frozen=True):
    """How many events of the record the numbers of the page have taken in."""

    read: int
    events: int


@operation("GET", STREAM + "/progress", scope="read")
async def progress(call: Call[None]) -> Reply[ReadSoFar]:
    """Say how far the record is read for numbers and alarms: after a start it is read once, from its first event on."""
    return Reply.of(ReadSoFar(call.host.read_model(call.stream).seq, call.writer.seq))


def _now(stream: Stream) -> dict[str, Any]:
    trouble = None if stream.trouble is None else f"event {stream.trouble.seq} does not verify"
    found = {"events": len(stream), "pending": len(stream.awaited), "trouble": trouble}
    staffing = {"capacity": capacity_text(stream.budget), "audit": audit_text(stream.audit)}
    return found | staffing | {"time_zone": stream.time_zone}


def mode_since(place: Place, seq: int, mode: str) -> ModeSince:
    """Return the mode that holds since an event, and who said so."""
    row = next(place.read(seq - 1))
    event = unpack_event(row.kind, row.body, row.item, {})
    by, reason = (event.by, event.reason) if isinstance(event, ModeChanged) else ("", "")
    return ModeSince(mode, stamp_text(stamp_of(row.kind, row.body).at), by, reason)


def commits_of(writer: Writer) -> Commits | None:
    """Return how long the last commits took."""
    last = [1000.0 * seconds for seconds in writer.commits]
    return Commits(len(last), statistics.median(last), max(last)) if last else None


def store_of(address: str) -> str:
    """Return what kind of store a stream lies in; its address may hold a password.

    Examples
    --------
    >>> store_of("postgresql://ann:secret@db/shop"), store_of("shop.db"), store_of("memory")
    ('PostgreSQL', 'SQLite, a file', 'memory: all of it goes when the process ends')
    """
    if address.startswith(POSTGRES):
        return "PostgreSQL"
    return "memory: all of it goes when the process ends" if address == "memory" else "SQLite, a file"


@operation("GET", STREAM + "/health", scope="read")
async def health(call: Call[None]) -> Reply[StreamHealth]:
    """Return the mode and since when, the last check of the record, the store, and what waits."""
    writer, store, name = call.writer, call.host.store, call.stream
    found, (seq, mode) = await writer.do(lambda stream: (_now(stream), stream.mode_since))

    def work() -> StreamHealth:
        kept = store.get(VERIFIED, name)
        return StreamHealth(
            mode=mode_since(writer.place, seq, mode),
            verified=None if kept is None else msgspec.json.decode(kept, type=VerifiedAt),
            store=store_of(store.address),
            commits=commits_of(writer),
            queue=writer.depth,
            **found,
        )

    return Reply.of(await call.host.aside(work))
