"""Cases for reviewers: one with all that is known of it, and one that somebody else should look at."""

from __future__ import annotations

from ...streams import Stream
from ..answers import Changed
from ..bodies import Escalate
from ..cells import check_plain
from ..operations import Call, Operation, Reply
from ..problems import Problem
from ..routes_decisions import CASE, STREAM
from .answers import WholeCase
from .cases import whole_cases


async def show(call: Call) -> Reply:
    """Return a case with all that is known of it."""
    return Reply.of((await whole_cases(call, [call.params["id"]]))[0])


async def escalate(call: Call) -> Reply:
    """Ask for somebody else: a note says so, the item is flagged in the queue, and nobody holds it any more."""
    id, said, by = call.params["id"], call.body.text, call.who(call.body.by)
    queue = call.host.queue(call.stream)
    check_plain(said, "/text")
    check_plain(by, "/by")

    def work(stream: Stream) -> Reply:
        stream.find(id)
        if id not in stream.awaited:
            raise Problem("cannot-happen", detail="the label of the decision is not awaited")
        queue.escalate(id)
        return Reply.of(Changed(stream.note(id, f"escalated: {said}" if said else "escalated", by=by)), 201)

    async with queue.lock:
        return await call.writer.do(work, alone=True)


OPERATIONS = (
    Operation(
        "show_case",
        "GET",
        STREAM + "/cases/{id}",
        "A case with all that is known of it: contributions, what is usual, what is alike, what happened",
        show,
        "read",
        {200: WholeCase},
        problems=("unknown-decision",),
    ),
    Operation(
        "escalate",
        "POST",
        CASE + "/escalation",
        "Ask for somebody else to look at an item",
        escalate,
        "review",
        {201: Changed},
        Escalate,
        problems=("unknown-decision", "cannot-happen"),
    ),
)
