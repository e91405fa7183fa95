"""A window of the queue for whoever asks: rows with the columns that say most, counts, and who holds what."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct

from ...policies.reasons import leading_columns
from ...records.codec import unpack_item
from ...streams import Stream
from ..door import moment_of
from ..operations import STREAM, Call, Query, Reply, operation
from ..problems import FieldError, Problem
from ..types import Cell, Time
from .past import columns_of
from .queue import CODES, PART, Filter, Order, Queue, Waiting, refreshed

if TYPE_CHECKING:
    from .claims import Lease

Offset = Annotated[int, Meta(ge=0, le=2**53)]
Limit = Annotated[int, Meta(ge=1, le=1000)]
Text = Annotated[str, Meta(max_length=256)]
#: Columns that may be shown of each item, and items whose leading columns are remembered.
MOST_COLUMNS, KEPT = 6, 20_000
Columns = Annotated[str, Meta(max_length=4000)] | None


def leading(stream: Stream, ids: list[str], items: list[bytes]) -> dict[str, list[str]]:
    """Return the columns that say most of items, by what is believed now."""
    X = np.array([unpack_item(item)[0] for item in items])
    return dict(zip(ids, leading_columns(stream.player.policy, stream.features, X), strict=True))


class CellRead(Struct, frozen=True):
    """A column of an item."""

    column: str
    value: Cell


def cells_of(record: Mapping[str, Any], columns: Sequence[str]) -> list[CellRead]:
    """Return some columns of a record, those that it has."""
    return [CellRead(name, record[name]) for name in columns if name in record]


class QueueItem(Struct, frozen=True):
    """An item whose label is awaited; ``worth`` and ``chance`` are those of the decision."""

    id: str
    worth: float | None
    amount: float
    chance: float | None
    time: Time | None
    code: str | None
    why: str
    stratum: str | None
    by: str | None  #: who holds it
    until: str | None
    escalated: bool
    escalated_to: str | None = None  #: for whom; null: anybody, or nobody
    cells: list[CellRead] = msgspec.field(
        default_factory=list
    )  #: the columns that were asked for, or the two that say most


class CodeRead(Struct, frozen=True):
    """How many items wait for one reason."""

    count: int
    why: str


class QueueRead(Struct, frozen=True):
    """A window of the queue."""

    items: list[QueueItem]
    total: int  #: after the filters
    waiting: int
    strata: list[str]
    codes: dict[str, CodeRead]
    queues: dict[str, int]  #: how many wait in each named queue, and in "others"; empty: no queue is named


def told(
    item: Waiting, lease: Lease | None, escalated: Mapping[str, str], cells: list[CellRead] | None = None
) -> QueueItem:
    """Return an item for JSON; ``escalated`` says which are, and for whom."""
    by, until = (None, None) if lease is None else (lease.by, lease.ends)
    worth, chance = (value if math.isfinite(value) else None for value in (item.worth, item.chance))
    return QueueItem(
        item.id,
        worth,
        item.amount,
        chance,
        item.time,
        item.code,
        item.why,
        item.stratum,
        by,
        until,
        item.id in escalated,
        escalated.get(item.id) or None,
        cells or [],
    )


async def told_rows(call: Call[Any], queue: Queue, items: list[Waiting]) -> list[QueueItem]:
    """Return items for JSON, each with the columns that were asked for, or with those that say most of it."""
    writer, asked = call.writer, columns_asked(call.query["columns"])
    rows = await asyncio.to_thread(writer.place.decisions, [item.id for item in items])
    if not asked:
        if len(queue.leading) > KEPT:
            queue.leading.clear()
        new = [item.id for item in items if item.id not in queue.leading and rows[item.id].item is not None]
        for start in range(0, len(new), PART):
            part = new[start : start + PART]
            packed = [item for id in part if (item := rows[id].item) is not None]
            queue.leading |= await writer.do(partial(leading, ids=part, items=packed))
    held, flagged, found = queue.claims.held(), queue.claims.escalations.ids, []
    for one in items:
        packed_item = rows[one.id].item
        record = {} if packed_item is None else columns_of(packed_item)
        cells = cells_of(record, asked or queue.leading.get(one.id) or list(record)[:2])
        found.append(told(one, held.get(one.id), flagged, cells))
    return found


def columns_asked(text: str | None) -> list[str]:
    """Return columns as a query names them: a JSON list, since a name may hold anything."""
    if text is None:
        return []
    try:
        found: list[str] = msgspec.json.decode(text, type=Annotated[list[str], Meta(max_length=MOST_COLUMNS)])
        return found
    except msgspec.MsgspecError:
        expected = f'a JSON list of at most {MOST_COLUMNS} names, such as ["country"]'
        raise Problem("validation", FieldError("wrong-value", parameter="columns", expected=expected)) from None


def filter_of(call: Call[Any], queue: Queue) -> Filter:
    """Return which items are asked for; times are dates, or numbers of the clock of the stream."""
    query = call.query
    since, until = end_of("since", query["since"]), end_of("until", query["until"])
    place, mine = queue.named(query["queue"]), call.key.name
    return Filter(query["code"], query["stratum"], since, until, query["escalated"], place, query["skipped"], mine)


def end_of(name: str, said: str | None) -> float | None:
    """Return one end of a time span, or the problem that it is none."""
    if said is None:
        return None
    try:
        moment: float | None = float(said)
    except ValueError:
        moment = moment_of(said)
    if moment is None or not math.isfinite(moment):
        raise Problem("validation", FieldError("wrong-value", parameter=name, expected="a date, or a number"))
    return moment


@operation(
    "GET",
    STREAM + "/queue",
    scope="read",
    query={
        "order": Query(Order, "worth", "By which the items are sorted: worth, age, amount or chance."),
        "code": Query(Text | None, None, "Why items wait, such as EXPLORE."),
        "stratum": Query(Text | None, None, "The stratum of the items."),
        "since": Query(Text | None, None, "The earliest time of an item."),
        "until": Query(Text | None, None, "Items are earlier than this."),
        "escalated": Query(bool | None, None, "Whether items were escalated."),
        "skipped": Query(bool | None, None, "Whether the holder of the key has skipped items."),
        "queue": Query(Text | None, None, "A named queue, or 'others' for what no named queue takes."),
        "columns": Query(Columns, None, "Columns to show, as a JSON list; left out: the two that say most."),
        "offset": Query(Offset, 0, "How many items to pass over."),
        "limit": Query(Limit, 200, "The most items to return."),
    },
)
async def queue(call: Call[None]) -> Reply[QueueRead]:
    """Return a window of what waits for its label: by worth, age, amount or chance."""
    queue, query = call.host.queue(call.stream), call.query
    asked = filter_of(call, queue)
    if not call.by_key:  # whoever looks at a queue may search soon
        call.host.search(call.stream).read_ahead(call.writer.place, call.writer.seq)

    def window() -> tuple[int, list[Waiting]]:
        rows = queue.view(query["order"], asked)
        return len(rows), [queue.at(row) for row in rows[query["offset"] : query["offset"] + query["limit"]].tolist()]

    async with queue.lock:
        await refreshed(call, queue)
        total, shown = await asyncio.to_thread(window)
        items = await told_rows(call, queue, shown)
        counts, strata = queue.counts()
        codes = {code: CodeRead(count, CODES[code]) for code, count in sorted(counts.items())}
        return Reply.of(QueueRead(items, total, len(queue), strata, codes, queue.queues()))
