"""Work for reviewers over HTTP: claimed for a while, and given back."""

from __future__ import annotations

import time

from ..live import Stream
from .answers import Claimed, Released
from .bodies import Claim, Release
from .operations import Call, Operation, Reply
from .problems import Problem
from .queue import Lease, Leases, work_of
from .routes_decisions import STREAM


async def claim(call: Call) -> Reply:
    """Hold items for a reviewer, those first that are worth most, oldest, or of the largest amount."""
    asked, store, queue = call.body, call.host.store, call.host.queue(call.stream)
    name = call.stream

    def work(stream: Stream) -> Reply:
        now, leases = time.time(), Leases(store, name)
        held, waiting = leases.held(now), stream.pending
        free = [id for id in waiting if id not in held]
        lease = Lease(asked.by, now + 60.0 * asked.minutes)
        items = queue.ordered(stream, free, asked.order, asked.count)
        for item in items:
            leases.take(item.id, lease)
        return Reply.of(Claimed([work_of(stream, item, lease) for item in items], len(waiting)))

    return await call.writer.do(work, alone=True)


async def release(call: Call) -> Reply:
    """Give items back that a reviewer holds; what nobody holds is passed over."""
    asked, store, name = call.body, call.host.store, call.stream

    def work(stream: Stream) -> Reply:
        leases = Leases(store, name)
        held = leases.held(time.time())
        mine = [id for id in dict.fromkeys(asked.ids) if id in held]
        if any(held[id].by != asked.by for id in mine):
            raise Problem("claimed-by-other")
        for id in mine:
            leases.drop(id)
        return Reply.of(Released(mine))

    return await call.writer.do(work, alone=True)


OPERATIONS = (
    Operation(
        "claim",
        "POST",
        STREAM + "/queue:claim",
        "Hold items for a reviewer: by worth, age or amount",
        claim,
        "review",
        {200: Claimed},
        Claim,
    ),
    Operation(
        "release",
        "POST",
        STREAM + "/queue:release",
        "Give items back that a reviewer holds",
        release,
        "review",
        {200: Released},
        Release,
        problems=("claimed-by-other",),
    ),
)
