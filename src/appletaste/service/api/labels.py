"""Labels: one, many, corrected, withdrawn, and no longer waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ...errors import ConflictError, FeedbackError, InputError, UnknownDecisionError
from ...streams import LabelReceipt, Stream
from ..door import check_plain, check_time
from ..operations import CASE, LARGEST_BATCH, STREAM, Call, Doing, Query, Reply, in_one_commit, one_by_one, operation
from ..problems import Problem, ProblemDocument, invalid
from ..types import MOST, Body, Id, Time, Who

LabelValue = Annotated[int, Meta(ge=0, le=1, description="1: positive, 0: negative.")]
_CHANGES = ("unknown-decision", "no-label", "cannot-happen")


class Label(Body, frozen=True):
    """The label of a decision."""

    value: LabelValue
    time: Time | None = None
    source: Who | None = None


class Labelled(Struct, frozen=True):
    """What was done with a label."""

    id: str
    status: Annotated[str, Meta(pattern="^(applied|already_applied|recorded_not_learned)$")]
    state: str
    late: bool


class BatchLabel(Body, frozen=True):
    """The label of one decision among many."""

    id: Id
    value: LabelValue
    time: Time | None = None
    source: Who | None = None


def _read(receipt: LabelReceipt) -> Labelled:
    return Labelled(*receipt)


def check_label(said: Label | BatchLabel) -> None:
    """Refuse a label that a stream would not take as it is meant."""
    check_time(said.time)
    check_plain(said.source, "/source")


def _label(stream: Stream, id: str, said: Label | BatchLabel, by: str) -> Labelled:
    """Take a label; what a stream refuses is worded without what was said."""
    try:
        return _read(stream.label(id, said.value, time=said.time, by=by))
    except ConflictError:
        raise Problem("label-conflict") from None
    except UnknownDecisionError:
        raise
    except FeedbackError:
        raise invalid("wrong-value", "/time", "a time not before that of the decision") from None


@operation("PUT", CASE + "/label", scope="label", problems=("unknown-decision", "label-conflict", "time-in-future"))
async def label(call: Call[Label]) -> Reply[Labelled]:
    """Send the label of a decision; it is applied once, however often it is sent."""
    id, said, by = call.params["id"], call.body, call.who(call.body.source)
    check_label(said)
    return await call.writer.do(lambda stream: Reply.of(_label(stream, id, said, by)), (id,), quick=True)


class LabelBatch(Body, frozen=True):
    """Many labels, taken in their order."""

    labels: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=MOST)]


class LabelResult(Struct, frozen=True):
    """What was done with one label of many."""

    status: int
    body: Labelled | None = None
    problem: ProblemDocument | None = None


class LabelResults(Struct, frozen=True):
    """What was done with a batch of labels, in its order."""

    results: list[LabelResult]


_ONE = msgspec.json.Decoder(BatchLabel)


def label_each(who: Callable[[str | None], str]) -> Doing[BatchLabel]:
    """Return what takes labels in their order; ``who`` says who gave one, by what the label says of that."""

    def label_one(stream: Stream, said: BatchLabel) -> Reply[Labelled]:
        return Reply.of(_label(stream, said.id, said, who(said.source)))

    return one_by_one(label_one)


@operation("POST", STREAM + "/labels:batch", scope="label", limit=LARGEST_BATCH)
async def label_batch(call: Call[LabelBatch]) -> Reply[LabelResults]:
    """Send up to 1,000 labels in one commit. Those that are wrong are told so, and the others count."""
    return await in_one_commit(call.writer, call.body.labels, _ONE, check_label, label_each(call.who))


def _revised(stream: Stream, id: str, change: Callable[[], LabelReceipt]) -> Labelled:
    """Change a label, or say that there is none."""
    try:
        return _read(change())
    except (UnknownDecisionError, ConflictError):
        raise
    except FeedbackError:
        case = stream.find(id)
        none = case.entry.label is None and case.outcome is None
        raise Problem("no-label" if none else "cannot-happen") from None
    except InputError:
        raise Problem("cannot-happen", detail="the stream does not learn now, or its policy keeps no labels") from None


class Correction(Body, frozen=True):
    """Another label, and why."""

    value: LabelValue
    time: Time | None = None
    reason: Annotated[str, Meta(min_length=1, max_length=9000)] | None = None
    by: Who | None = None


@operation("POST", CASE + "/label/corrections", scope="correct", problems=(*_CHANGES, "time-in-future"))
async def correct_label(call: Call[Correction]) -> Reply[Labelled]:
    """Replace a label by another; what was learnt from it is learnt anew."""
    id, said, by = call.params["id"], call.body, call.who(call.body.by)
    check_time(said.time)
    check_plain(said.reason, "/reason")
    check_plain(by, "/by")

    def work(stream: Stream) -> Reply[Labelled]:
        done = _revised(stream, id, lambda: stream.correct(id, said.value, time=said.time, by=by))
        if said.reason is not None and done.status != "already_applied":
            stream.note(id, f"corrected to {said.value}: {said.reason}", by=by)
        return Reply.of(done)

    return await call.writer.do(work, (id,))


@operation(
    "DELETE",
    CASE + "/label",
    scope="correct",
    problems=_CHANGES,
    query={"by": Query(Who | None, None, "Who withdraws the label; left out: the name of the key.")},
)
async def retract_label(call: Call[None]) -> Reply[Labelled]:
    """Withdraw a label as if it had never arrived."""
    id, by = call.params["id"], call.who(call.query["by"])

    def work(stream: Stream) -> Reply[Labelled]:
        return Reply.of(_revised(stream, id, lambda: stream.retract(id, by=by)))

    return await call.writer.do(work, (id,))


class ExpireBody(Body, frozen=True):
    """Up to when to look for labels that are no longer waited for."""

    now: Time | None = None
    by: Who | None = None


class Expired(Struct, frozen=True):
    """Decisions whose labels are no longer waited for."""

    ids: list[str]


@operation("POST", STREAM + "/expire", scope="correct", problems=("cannot-happen", "time-in-future"))
async def expire(call: Call[ExpireBody]) -> Reply[Expired]:
    """Give up waiting for labels that are too late: they are unknown, never negative."""
    now, by = call.body.now, call.who(call.body.by)
    check_time(now, "/now")
    check_plain(by, "/by")

    def work(stream: Stream) -> Reply[Expired]:
        if stream.settings["expire_after"] is None:
            raise Problem("cannot-happen", detail="nothing expires in this stream: it has no expire_after")
        return Reply.of(Expired(stream.expire(now, by=by)))

    return await call.writer.do(work)
