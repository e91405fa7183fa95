"""Decisions: one, many, and one again with what became of it; what was done instead, notes, and erasure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from .. import evaluate
from ..errors import ConflictError, InputError, OptionError
from ..streams import Answer, Stream
from .answers import BatchResults, CaseRead, Changed, Decided, Estimates
from .batches import in_one_commit
from .bodies import LARGEST_BATCH, Decide, DecideBatch, EnactedBody, Note
from .cells import check_decide, check_time
from .operations import Call, Reply, operation
from .problems import FieldError, Problem, problem_of

_ONE = msgspec.json.Decoder(Decide)
STREAM = "/v1/streams/{stream}"
CASE = STREAM + "/decisions/{id}"


def _decide_each(stream: Stream, asked: list[Decide]) -> list[Callable[[], Reply[Decided]] | Problem]:
    """Decide on items that were checked, and return what words the answers: 201, or 200 where one was decided before.

    What a stream still refuses is worded without what was asked.
    """
    rows = [
        (
            one.item,
            one.id,
            one.time,
            one.stratum,
            None if one.costs is None else msgspec.structs.asdict(one.costs),
            one.baseline,
        )
        for one in asked
    ]
    pairs = zip(stream.decide_each(rows), asked, strict=True)
    return [partial(_worded, told) if isinstance(told, Answer) else _refused(stream, told, one) for told, one in pairs]


def _worded(answer: Answer) -> Reply[Decided]:
    return Reply(200 if answer.again else 201, answer.json())


def _refused(stream: Stream, error: Exception, asked: Decide) -> Problem:
    refused = isinstance(error, InputError) and not isinstance(error, ConflictError)
    if refused and stream.mode == "shadow" and asked.baseline is None:
        told = "in shadow mode the caller's own action stands"
        return Problem("validation", FieldError("required", "/baseline"), detail=told)
    return problem_of(error)


@operation(
    "POST", STREAM + "/decisions", scope="decide", status=(201, 200), problems=("event-conflict", "time-in-future")
)
async def decide(call: Call[Decide]) -> Reply[Decided]:
    """Decide on an item; it is on disk before the answer leaves. The same id gives the same answer."""
    asked, writer = call.body, call.writer
    check_decide(asked, writer.door)

    return await writer.do_each(_decide_each, asked, asked.id)


@operation("POST", STREAM + "/decisions:batch", scope="decide", limit=LARGEST_BATCH)
async def decide_batch(call: Call[DecideBatch]) -> Reply[BatchResults]:
    """Decide on up to 1,000 items in one commit. Those that are wrong are told so, and the others count."""
    door = call.writer.door
    return await in_one_commit(
        call.writer, call.body.decisions, _ONE, lambda one: check_decide(one, door), _decide_each
    )


@operation("GET", CASE, scope="read", problems=("unknown-decision",))
async def show_decision(call: Call[None]) -> Reply[CaseRead]:
    """Return a decision as it was given, and what became of it."""
    id = call.params["id"]
    return await call.writer.do(lambda stream: Reply.plain(stream.find(id).as_dict()), (id,), quick=True)


@operation("GET", CASE + "/explanation", scope="read", problems=("unknown-decision", "cannot-happen"))
async def explain(call: Call[None]) -> Reply[Estimates]:
    """Say why an item was acted on or passed."""
    id = call.params["id"]

    def work(stream: Stream) -> Reply[Estimates]:
        if stream.find(id).erased:
            raise Problem("cannot-happen", detail="the features of the decision were erased")
        try:
            return Reply.of(evaluate.explain(stream, id).as_dict())
        except OptionError:
            raise Problem("cannot-happen", detail="the policy of the stream has no model to explain by") from None

    return await call.writer.do(work, (id,))


@operation("PUT", CASE + "/enacted", scope="review", problems=("unknown-decision", "cannot-happen"))
async def enacted(call: Call[EnactedBody]) -> Reply[CaseRead]:
    """Record what was done, whatever was decided."""
    id, said, by = call.params["id"], call.body, call.who(call.body.by)
    check_time(said.time)

    def work(stream: Stream) -> Reply[CaseRead]:
        return Reply.plain(stream.enacted(id, said.act, by, time=said.time).as_dict())

    return await call.writer.do(work, (id,))


@operation("POST", CASE + "/notes", scope="review", status=201, problems=("unknown-decision",))
async def note(call: Call[Note]) -> Reply[Changed]:
    """Write something down about a decision."""
    id, said, by = call.params["id"], call.body, call.who(call.body.by)

    def work(stream: Stream) -> Reply[Changed]:
        return Reply.of(Changed(stream.note(id, said.text, by=by)), 201)

    return await call.writer.do(work, (id,))


@operation("DELETE", CASE + "/item", scope="admin", problems=("unknown-decision", "cannot-happen"))
async def erase(call: Call[None]) -> Reply[CaseRead]:
    """Erase the features of a decision; hashes, action and probability remain."""
    id = call.params["id"]

    def work(stream: Stream) -> Reply[CaseRead]:
        return Reply.plain(stream.erase(id).as_dict())

    return await call.writer.do(work, alone=True)
