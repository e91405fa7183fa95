"""Cases for reviewers: one with all that is known of it, and one that somebody else should look at."""

from __future__ import annotations

from ...streams import Stream
from ..answers import Changed
from ..bodies import Escalate
from ..cells import check_plain
from ..operations import Call, Reply, operation
from ..problems import Problem
from ..routes_decisions import CASE, STREAM
from .answers import WholeCase
from .cases import whole_cases


@operation("GET", STREAM + "/cases/{id}", scope="read", problems=("unknown-decision",))
async def show_case(call: Call[None]) -> Reply[WholeCase]:
    """Return a case with all that is known of it: contributions, what is usual, what is alike, what happened."""
    return Reply.plain((await whole_cases(call, [call.params["id"]]))[0])


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
