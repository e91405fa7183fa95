"""Work for reviewers: items claimed for a while, given back, or passed on to somebody else."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ...streams import Stream
from ..door import check_plain
from ..operations import CASE, STREAM, Call, Reply, operation
from ..problems import Problem
from ..types import MOST, Body, Cell, Changed, Id, Who
from .cases import WholeCase, whole_cases
from .leases import Lease
from .queue import ORDERS, Order, Queue, QueueItem, Waiting, refreshed, told, worth_now

#: Items that the writer looks at again in one go, at most.
AT_ONCE = 25


class Claim(Body, frozen=True):
    """Work for a reviewer: items with ids, or the first in an order; what was escalated only if asked for."""

    by: Who | None = None
    ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None
    order: Order = "worth"
    count: Annotated[int, Meta(ge=1, le=100)] = 1
    escalated: bool = False
    minutes: Annotated[float, Meta(gt=0, le=1440)] = 60.0


class ClaimedItem(QueueItem, frozen=True, kw_only=True):
    """An item to review, held for somebody; ``worth`` is by what is believed now where work was asked for by worth."""

    item: dict[str, Cell] | list[float] | None
    reasons: list[str]
    case: WholeCase


class Claimed(Struct, frozen=True):
    """Work that is held for whoever asked."""

    items: list[ClaimedItem]
    waiting: int  #: items whose labels are awaited, all in all


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


class Release(Body, frozen=True):
    """Work that a reviewer gives back; with ``force``, for admin, whoever holds the work."""

    ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST)]
    by: Who | None = None
    force: bool = False


class Released(Struct, frozen=True):
    """Work that was given back."""

    released: list[str]


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


class Escalate(Body, frozen=True):
    """Why somebody else should look at an item."""

    text: Annotated[str, Meta(max_length=9000)] = ""
    by: Who | None = None


@operation("POST", CASE + "/escalation", scope="review", status=201, problems=("unknown-decision", "cannot-happen"))
async def escalate(call: Call[Escalate]) -> Reply[Changed]:
    """Ask for somebody else to look at an item. A note says so, it is flagged in the queue, and nobody holds it."""
    id, said, by = call.params["id"], call.body.text, call.who(call.body.by)
    queue = call.host.queue(call.stream)
    check_plain(said, "/text")
    check_plain(by, "/by")

    def work(stream: Stream) -> Reply[Changed]:
        stream.find(id)
        if id not in stream.awaited:
            raise Problem("cannot-happen", detail="the label of the decision is not awaited")
        queue.escalate(id)
        return Reply.of(Changed(stream.note(id, f"escalated: {said}" if said else "escalated", by=by)), 201)

    async with queue.lock:
        return await call.writer.do(work, alone=True)
