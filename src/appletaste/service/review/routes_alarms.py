"""How a stream is: its alarms with who has taken note, its mode, its record, its store and its work."""

from __future__ import annotations

import statistics
from typing import Any

import msgspec

from ...records.codec import stamp_of, unpack_event
from ...records.events import ModeChanged
from ...records.stores import POSTGRES
from ...records.stores.store import Place
from ...streams import Stream
from ...streams.journal import stamp_text
from ...streams.staffing import audit_text, capacity_text
from ..cells import check_plain
from ..operations import Call, Reply, operation
from ..routes_decisions import STREAM
from ..routes_streams import VERIFIED
from ..writer import Writer
from .alarms import Noticed, alarms_of, find_alarm
from .bodies import Acknowledge
from .numbers import AlarmList, AlarmRead, Commits, ModeSince, StreamHealth, VerifiedAt


@operation("GET", STREAM + "/alarms", scope="read")
async def alarms(call: Call[None]) -> Reply[AlarmList]:
    """List alarms: what has changed, since when, what to do, and who has taken note."""
    following, noticed = call.host.following(call.stream), Noticed(call.host.store, call.stream)
    return Reply.of(await call.host.aside(lambda: alarms_of(following, noticed.all())))


@operation("POST", STREAM + "/alarms/{alarm}/acknowledge", scope="review", problems=("unknown-alarm",))
async def acknowledge(call: Call[Acknowledge]) -> Reply[AlarmRead]:
    """Take note of an alarm; who was first stands."""
    following, noticed = call.host.following(call.stream), Noticed(call.host.store, call.stream)
    said, by = call.body, call.who(call.body.by)
    check_plain(said.text, "/text")
    check_plain(by, "/by")
    found = await call.host.aside(lambda: find_alarm(following, call.params["alarm"], noticed.all()))
    told = await call.writer.do(lambda stream: noticed.add(stream, found, by, said.text))
    return Reply.of(msgspec.structs.replace(found, acknowledged=told))


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
    >>> store_of("postgresql://ann:secret@db/desk"), store_of("desk.db"), store_of("memory")
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
