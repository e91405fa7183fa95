"""Decisions: one, many, and one again with what became of it; what was done instead, notes, and erasure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ... import evaluate
from ...errors import ConflictError, InputError, OptionError, RecordError
from ...streams import Answer, Stream
from ...streams.verify import verify
from ..door import Door, check_plain, check_time
from ..operations import CASE, LARGEST_BATCH, STREAM, Call, Reply, in_one_commit, operation
from ..problems import FieldError, Problem, ProblemDocument, problem_of
from ..types import MOST, Body, Cell, Changed, CostSheet, Estimates, Id, Time, Who

Item = Annotated[
    dict[str, Cell] | Annotated[list[float], Meta(max_length=10_000)],
    Meta(description="Columns and their values, null where one is missing; or the numbers of a vector."),
]


class Decide(Body, frozen=True):
    """One item to decide on."""

    id: Id
    item: Item
    time: Time | None = None
    stratum: Annotated[str, Meta(max_length=256)] | None = None
    costs: CostSheet | None = None
    baseline: bool | None = None


class ExpectedCost(Struct, frozen=True):
    """What either action is expected to cost."""

    act: float | None
    pass_: float | None = msgspec.field(name="pass")


class Decided(Struct, frozen=True):
    """A decision as it was given; the same id gives the same bytes for ever."""

    id: str
    seq: int
    act: bool
    probability: float
    chance: float | None
    audit: bool
    code: str | None
    threshold: float | None
    expected_cost: ExpectedCost
    reasons: list[str]
    mode: str
    time: Time | None
    suggested: bool | msgspec.UnsetType = msgspec.UNSET


def check_decide(body: Decide, door: Door) -> None:
    """Refuse what a stream would not decide on as it is meant."""
    door.check(body.item)
    if body.time is not None:
        check_time(body.time)
    check_plain(body.id, "/id")
    if body.stratum is not None:
        check_plain(body.stratum, "/stratum")


def decide_each(stream: Stream, asked: list[Decide]) -> list[Callable[[], Reply[Decided]] | Problem]:
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

    return await writer.do_each(decide_each, asked, asked.id)


class DecideBatch(Body, frozen=True):
    """Many items, decided in their order."""

    decisions: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST)]


class BatchResult(Struct, frozen=True):
    """The answer to one of many: its status, and a body or a problem."""

    status: int
    body: Decided | None = None
    problem: ProblemDocument | None = None


class BatchResults(Struct, frozen=True):
    """The answers to a batch of decisions, in its order."""

    results: list[BatchResult]


_ONE = msgspec.json.Decoder(Decide)


@operation("POST", STREAM + "/decisions:batch", scope="decide", limit=LARGEST_BATCH)
async def decide_batch(call: Call[DecideBatch]) -> Reply[BatchResults]:
    """Decide on up to 1,000 items in one commit. Those that are wrong are told so, and the others count."""
    door = call.writer.door
    return await in_one_commit(call.writer, call.body.decisions, _ONE, lambda one: check_decide(one, door), decide_each)


class NoteRead(Struct, frozen=True):
    """A note on a decision."""

    by: str
    text: str


class CaseRead(Decided, frozen=True, kw_only=True):
    """A decision as it was given, and what became of it."""

    state: str
    label: int | None
    label_time: Time | None
    learnt: bool
    outcome: int | None
    labelled_by: str | None
    acted: bool
    enacted_by: str | None
    erased: bool
    notes: list[NoteRead]


@operation("GET", CASE, scope="read", problems=("unknown-decision",))
async def show_decision(call: Call[None]) -> Reply[CaseRead]:
    """Return a decision as it was given, and what became of it."""
    id = call.params["id"]
    return await call.writer.do(lambda stream: Reply.of_dict(stream.find(id).as_dict()), (id,), quick=True)


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


class EnactedBody(Body, frozen=True):
    """What was done, whatever was decided."""

    act: bool
    by: Who | None = None
    time: Time | None = None


@operation("PUT", CASE + "/enacted", scope="review", problems=("unknown-decision", "cannot-happen"))
async def enacted(call: Call[EnactedBody]) -> Reply[CaseRead]:
    """Record what was done, whatever was decided."""
    id, said, by = call.params["id"], call.body, call.who(call.body.by)
    check_time(said.time)

    def work(stream: Stream) -> Reply[CaseRead]:
        return Reply.of_dict(stream.enacted(id, said.act, by, time=said.time).as_dict())

    return await call.writer.do(work, (id,))


class Note(Body, frozen=True):
    """Something to write down about a decision."""

    text: Annotated[str, Meta(min_length=1, max_length=10_000)]
    by: Who | None = None


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
    id, place = call.params["id"], call.writer.place

    def compare() -> int:
        try:
            return verify(place).events  # beside decisions, so that little is left to compare when the features go
        except RecordError:
            return 0

    verified = await call.host.aside(compare)

    def work(stream: Stream) -> Reply[CaseRead]:
        return Reply.of_dict(stream.erase(id, verified=verified).as_dict())

    return await call.writer.do(work, alone=True)
