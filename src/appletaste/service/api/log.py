"""The record to be read: as lines of JSON, in Parquet and live as it is written; what was missed, and what changed."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Annotated, Any

import msgspec
import numpy as np

from ... import evaluate
from ..._files import for_json
from ...costs import Costs
from ...errors import InputError
from ...evaluate.reporting import window_of
from ...logs import DecisionLog
from ...logs.decision_log import table_of
from ...records.codec import stamp_of, unpack_event, unpack_item
from ...records.durable import DurableRecord
from ...records.events import Created, Decided, Event
from ...records.states import Entries
from ...records.stores.store import PART, Place, Row
from ..operations import EVENTS, NDJSON, PARQUET, STREAM, Call, Query, Reply, operation
from ..problems import Problem
from ..side_process import Reading
from ..temporary import folder_of_ours
from ..types import Estimates

#: Seconds between two looks at the record, and after which a quiet connection hears that it is alive.
PAUSE, ALIVE = 0.1, 15.0
#: Bytes of a file that are read and sent at once.
AT_ONCE = 1 << 20
#: Seconds between two looks whether whoever watches still may.
MAY = 1.0
NO_FEATURES = np.empty(0)
#: The usual confidence of intervals.
LEVEL = 0.9
Level = Annotated[float, msgspec.Meta(gt=0, lt=1)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
_FEATURES = Query(bool, False, "Whether the features of decisions are among what is read.")


def event_of(row: Row, features: bool) -> dict[str, Any]:
    """Return an event for JSON; features only if they are asked for, the seed never."""
    sheets: dict[tuple[float, ...], Costs] = {}
    event = unpack_event(row.kind, row.body, row.item, sheets)
    found: dict[str, Any] = {"seq": row.seq, "kind": row.kind, "at": stamp_of(row.kind, row.body).at}
    if isinstance(event, Decided):
        decision = event.decision
        found |= {"id": event.id, "time": event.time, "stratum": event.stratum, "costs": decision.costs.outcomes()}
        names = ("act", "probability", "round", "audit", "chance", "worth", "price", "spent", "why")
        found |= {name: getattr(decision, name) for name in names}
        if features and row.item is not None:
            x, record = unpack_item(row.item)
            found |= {"x": x.tolist(), "record": record}
    elif isinstance(event, Created):
        found |= {"name": event.settings["name"], "mode": event.settings["mode"]}
    else:
        found |= {
            name: value for name, value in event._asdict().items() if not isinstance(value, bytes) and value != ""
        }
    found["digest"] = row.digest.hex()
    plain: dict[str, Any] = for_json(found)
    return plain


def _part(place: Place, after: int, last: int) -> list[Row]:
    """Return the next rows that are written."""
    rows: list[Row] = []
    for row in place.read(after):
        if row.seq > last or len(rows) == PART:
            break
        rows.append(row)
    return rows


@operation(
    "GET",
    STREAM + "/log",
    scope="read",
    query={
        "from_seq": Query(Number, 1, "The number of the first event."),
        "limit": Query(Number | None, None, "The most events to return; all, if left out."),
        "features": _FEATURES,
    },
    media=NDJSON,
)
async def log(call: Call[None]) -> Reply[str]:
    """Return the events from a number on, a line of JSON each. It ends with the last one that is on disk now."""
    writer, features = call.writer, call.query["features"]
    after, last = max(call.query["from_seq"] - 1, 0), writer.seq
    if call.query["limit"] is not None:
        last = min(last, after + call.query["limit"])

    async def parts() -> AsyncGenerator[bytes]:
        done = after
        while done < last:
            rows = await asyncio.to_thread(_part, writer.place, done, last)
            if not rows:
                return
            yield b"".join(msgspec.json.encode(event_of(row, features)) + b"\n" for row in rows)
            done = rows[-1].seq

    return Reply(200, media=NDJSON, parts=parts())


def table(reading: Reading, reasons: bool = True) -> DecisionLog:
    """Return the decision log of a stream, read beside its writer; with features unless some were erased.

    Features are gathered in one matrix while the record is read, and ``reasons`` may be left out: of a million
    decisions these are two thirds of the memory.
    """
    features, whole = bytearray(), True

    def events() -> Iterator[Event]:
        nonlocal whole
        for seq, event in DurableRecord(reading.place).read():
            if seq > reading.seq:
                return
            if isinstance(event, Decided):
                decision = event.decision
                features.extend(decision.x.tobytes())
                whole = whole and len(decision.x) > 0
                why = decision.why if reasons else {}
                event = event._replace(decision=decision._replace(x=NO_FEATURES, why=why))
            yield event

    entries = Entries(events())
    if not len(entries):
        raise Problem("cannot-happen", detail="the stream has no decisions yet")
    log = table_of(entries, reading.policy, features=False)
    return log.unchecked(x=np.frombuffer(features).reshape(len(log), -1)) if whole else log


def write_parquet(reading: Reading, path: str) -> bytes:
    """Write the decision log of a stream to a file."""
    table(reading).named(reading.names).write(path)
    return b""


@operation("GET", STREAM + "/log.parquet", scope="read", media=PARQUET, problems=("cannot-happen",))
async def log_parquet(call: Call[None]) -> Reply[bytes]:
    """Return the decision log in Parquet, one row a decision."""
    folder = await asyncio.to_thread(folder_of_ours)
    path = folder / "log.parquet"
    try:
        await call.host.beside.ask(call.writer, write_parquet, str(path))
    except BaseException:
        shutil.rmtree(folder)
        raise

    async def parts() -> AsyncGenerator[bytes]:
        try:
            with path.open("rb") as file:
                while part := await asyncio.to_thread(file.read, AT_ONCE):
                    yield part
        finally:
            shutil.rmtree(folder)

    return Reply(200, media=PARQUET, parts=parts())


@operation(
    "GET",
    STREAM + "/live",
    scope="read",
    query={
        "from_seq": Query(Number | None, None, "The number of the first event; left out: from now on."),
        "features": _FEATURES,
    },
    media=EVENTS,
)
async def live(call: Call[None]) -> Reply[str]:
    """Send events as they are written, as server-sent events; ``Last-Event-ID`` goes on after a cut."""
    writer, features = call.writer, call.query["features"]
    said = call.headers.get(b"last-event-id", b"")
    if said and not (said.isdigit() and len(said) < 16):
        raise Problem("bad-encoding")
    after = int(said) if said else writer.seq if call.query["from_seq"] is None else call.query["from_seq"] - 1

    async def parts() -> AsyncGenerator[bytes]:
        flag, done, quiet = writer.watch(), max(after, 0), 0.0
        try:
            yield b"retry: 1000\n\n"
            while not writer.stopped and call.host.ready and call.host.still(call.key, call.headers):
                rows = await asyncio.to_thread(_part, writer.place, done, writer.seq) if writer.seq > done else []
                for row in rows:
                    data = msgspec.json.encode(event_of(row, features))
                    yield b"id: %d\nevent: %b\ndata: %b\n\n" % (row.seq, row.kind.encode(), data)
                    done, quiet = row.seq, 0.0
                if not rows:
                    flag.clear()
                    try:
                        await asyncio.wait_for(flag.wait(), MAY)
                    except TimeoutError:
                        quiet += MAY
                    if quiet >= ALIVE:
                        quiet = 0.0
                        yield b": alive\n\n"
                await asyncio.sleep(PAUSE)
        finally:
            writer.unwatch(flag)

    return Reply(200, media=EVENTS, parts=parts(), headers={"X-Accel-Buffering": "no"})


@operation(
    "GET",
    STREAM + "/missed",
    scope="read",
    query={
        "level": Query(Level, LEVEL, "The confidence of the intervals."),
        "since": Query(str | None, None, "Only decisions from then on: a date, or a number of the stream's own clock."),
        "until": Query(str | None, None, "Only decisions up to then, a day as a whole."),
    },
    problems=("cannot-happen",),
)
async def missed(call: Call[None]) -> Reply[Estimates]:
    """Say how many positives were passed, with intervals, or why the log cannot say."""
    level, since, until = (call.query[name] for name in ("level", "since", "until"))
    body = await call.host.beside.ask(call.writer, missed_of, level, since, until)
    if level == LEVEL and since is None and until is None:
        call.host.read_model(call.stream).missed = msgspec.json.decode(body)["design_missed"], time.time()
    return Reply(200, body)


def missed_of(reading: Reading, level: float, since: str | None = None, until: str | None = None) -> bytes:
    """Return how many positives a stream has passed, or those of a part of it, as JSON."""
    log = table(reading, reasons=False)
    try:
        found = evaluate.missed(log, level, **window_of(log, since, until))
    except InputError as error:
        raise Problem("cannot-happen", detail=str(error)) from None
    return msgspec.json.encode(for_json(found.as_dict()))


@operation("GET", STREAM + "/drift", scope="read", problems=("cannot-happen",))
async def drift(call: Call[None]) -> Reply[Estimates]:
    """Say whether the stream is still the one that was learnt: the alarms of the stream that stand."""
    read_model = call.host.read_model(call.stream)

    def work() -> Any:
        with read_model.catch_up().lock:
            items, labels = len(read_model.columns), read_model.watch.test.labels
            if not items:
                raise Problem("cannot-happen", detail="the stream has no decisions yet")
            known = read_model.alarms()
            alarms, notes = [alarm for _, alarm, stands in known if stands], read_model.unwatched
            if len(alarms) < len(known):
                notes = [*notes, f"alarms that later labels took back: {len(known) - len(alarms)}; /alarms has them"]
            return {"alarms": alarms, "items": items, "labels": labels, "notes": notes}

    return Reply.of(for_json(await call.host.aside(work)))
