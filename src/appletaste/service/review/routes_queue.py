"""Work for reviewers over HTTP: a window of what waits, items claimed for a while, and items given back."""

from __future__ import annotations

import asyncio
import math
import time
from functools import partial
from typing import Annotated, Any

import msgspec

from ..bodies import Claim, Order, Release
from ..cells import check_plain, moment_of
from ..operations import Call, Query, Reply, operation
from ..problems import FieldError, Problem
from ..routes_decisions import STREAM
from .answers import Claimed, CodeRead, QueueItem, QueueRead, Released
from .cases import holder, whole_cases
from .leases import Lease
from .queue import CODES, ORDERS, Filter, Queue, Waiting, worth_now

#: Items that the writer looks at again in one go, at most.
AT_ONCE = 25
Place = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Text = Annotated[str, msgspec.Meta(max_length=256)]


async def refreshed(call: Call[Any], queue: Queue) -> None:
    """Let a queue know what has changed; whoever calls holds its lock."""
    writer = call.writer
    changes = await writer.do(lambda stream: queue.changes(stream.awaited))
    if changes.new or changes.gone:
        await asyncio.to_thread(queue.take, changes, writer.place, writer.features)


def told(item: Waiting, lease: Lease | None, escalated: bool) -> QueueItem:
    """Return an item for JSON."""
    by, until = holder(lease).values()
    worth, chance = (value if math.isfinite(value) else None for value in (item.worth, item.chance))
    return QueueItem(
        item.id, worth, item.amount, chance, item.time, item.code, item.why, item.stratum, by, until, escalated
    )


def filter_of(call: Call[Any]) -> Filter:
    """Return which items are asked for; times are dates, or numbers of the clock of the stream."""
    query = call.query
    since, until = end_of("since", query["since"]), end_of("until", query["until"])
    return Filter(query["code"], query["stratum"], since, until, query["escalated"])


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
        "offset": Query(Place, 0, "How many items to pass over."),
        "limit": Query(Limit, 200, "The most items to return."),
    },
)
async def queue(call: Call[None]) -> Reply[QueueRead]:
    """Return a window of what waits for its label: by worth, age, amount or chance."""
    queue, asked, query = call.host.queue(call.stream), filter_of(call), call.query

    def window() -> bytes:
        found, held, flagged = queue.view(query["order"], asked), queue.leases.held(time.time()), queue.escalations.ids
        shown = found[query["offset"] : query["offset"] + query["limit"]]
        items = [told(item, held.get(item.id), item.id in flagged) for item in shown]
        codes = {code: CodeRead(count, CODES[code]) for code, count in sorted(queue.codes.items())}
        return msgspec.json.encode(QueueRead(items, len(found), len(queue), sorted(queue.strata), codes))

    async with queue.lock:
        await refreshed(call, queue)
        return Reply(200, await asyncio.to_thread(window))


@operation("POST", STREAM + "/queue:claim", scope="review", problems=("claimed-by-other",))
async def claim(call: Call[Claim]) -> Reply[Claimed]:
    """Hold items for a reviewer, particular ones or the first in an order, each with its whole case."""
    queue, asked = call.host.queue(call.stream), call.body
    by = call.who(asked.by)
    check_plain(by, "/by")
    async with queue.lock:
        await refreshed(call, queue)
        now = time.time()
        lease = Lease(by, now + 60.0 * asked.minutes, call.key.id)
        items = await _chosen(call, queue, by, now)
        if items:
            await asyncio.to_thread(queue.hold, items, lease, now)
        waiting, flagged = len(queue), queue.escalations.ids
    found = []
    for item, case in zip(items, await whole_cases(call, [item.id for item in items]), strict=True):
        plain = msgspec.to_builtins(told(item, lease, item.id in flagged))
        found.append({**plain, "item": case["item"], "reasons": case["reasons"], "case": case})
    return Reply.plain({"items": found, "waiting": waiting})


async def _chosen(call: Call[Any], queue: Queue, by: str, now: float) -> list[Waiting]:
    asked = call.body
    if asked.ids is not None:
        held, ids = queue.leases.held(now), [id for id in dict.fromkeys(asked.ids) if id in queue]
        if any(id in held and held[id].by != by for id in ids):
            raise Problem("claimed-by-other")
        return [queue[id] for id in ids]
    items = queue.free(asked.order, asked.count, asked.escalated, now)
    if asked.order != "worth" or not items:
        return items
    found: list[Waiting] = []
    while len(found) < len(items):
        found += await call.writer.do(partial(worth_now, items=items[len(found) : len(found) + AT_ONCE]))
    return sorted(found, key=ORDERS["worth"])[: asked.count]


@operation("POST", STREAM + "/queue:release", scope="review", problems=("claimed-by-other",))
async def release(call: Call[Release]) -> Reply[Released]:
    """Give items back that a reviewer holds; with ``force``, for admin, those of anybody.

    What nobody holds is passed over.
    """
    queue, by, force = call.host.queue(call.stream), call.who(call.body.by), call.body.force
    if force and "admin" not in call.key.scopes:
        raise Problem("insufficient-scope", scope="admin")

    def give_back() -> Reply[Released]:
        held = queue.leases.held(time.time())
        mine = [id for id in dict.fromkeys(call.body.ids) if id in held]
        if not force and any(held[id].by != by for id in mine):
            raise Problem("claimed-by-other")
        queue.leases.drop(mine)
        return Reply.of(Released(mine))

    async with queue.lock:
        await refreshed(call, queue)
        return await asyncio.to_thread(give_back)
