"""Second looks: labels to be looked at again by lot, what was said, and how often two people agree."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ...errors import ConflictError, FeedbackError, InputError, UnknownDecisionError
from ...evaluate.agreement import agreement, of_reviewers
from ...records.codec import unpack_item
from ...streams import Stream
from ...streams.lots import RATE
from ..door import check_plain, check_time
from ..operations import CASE, STREAM, Call, Query, Reply, operation
from ..problems import Problem, invalid
from ..types import MOST, Body, Cell, Estimates, Time, Who
from .labels import LabelValue

Rate = Annotated[float, Meta(gt=0, le=1)]
_RATE = Query(Rate, RATE, "The share of labels that is looked at again.")


class Blind(Struct, frozen=True):
    """An item to look at again; its label is not told."""

    id: str
    item: dict[str, Cell] | list[float] | None  #: null: the features were erased


class Due(Struct, frozen=True):
    """Items to look at again, the earliest first."""

    due: list[Blind]
    more: int  #: how many there are beside these


def _blind(stream: Stream, id: str) -> Blind:
    found = stream.record.decision(id)
    if found is None or found.item is None:
        return Blind(id, None)
    x, record = unpack_item(found.item)
    return Blind(id, x.tolist() if record is None else record)


@operation("GET", STREAM + "/second-looks", scope="review", query={"rate": _RATE})
async def second_looks_due(call: Call[None]) -> Reply[Due]:
    """Return the labelled items that are drawn by lot and not looked at again yet, without those of the asker."""
    rate, who = call.query["rate"], call.who(None)

    read_model = call.host.read_model(call.stream)

    def work() -> list[str]:
        with read_model.catch_up().lock:
            return read_model.second_looks.due(call.writer.place.secret, rate, who)

    due = await call.host.aside(work)
    some, more = due[:MOST], max(len(due) - MOST, 0)
    return await call.writer.do(lambda stream: Reply.of(Due([_blind(stream, one) for one in some], more)))


class Look(Body, frozen=True):
    """What a second look says."""

    value: LabelValue
    rate: Rate = RATE
    time: Time | None = None
    by: Who | None = None


class Looked(Struct, frozen=True):
    """What was done with a second look."""

    id: str
    status: Annotated[str, Meta(pattern="^(recorded|already_recorded)$")]


@operation(
    "PUT",
    CASE + "/second-look",
    scope="review",
    problems=("unknown-decision", "label-conflict", "cannot-happen", "time-in-future"),
)
async def look_again(call: Call[Look]) -> Reply[Looked]:
    """Send what a second look at a labelled item says; the label stays as it is."""
    id, said, who = call.params["id"], call.body, call.who(call.body.by)
    check_time(said.time)
    check_plain(who, "/by")

    def work(stream: Stream) -> Reply[Looked]:
        try:
            new = stream.look_again(id, said.value, rate=said.rate, time=said.time, by=who)
        except UnknownDecisionError:
            raise
        except ConflictError:
            raise Problem("label-conflict") from None
        except FeedbackError:
            raise Problem("cannot-happen", detail="no label of an act, or not drawn at this rate") from None
        except InputError:
            raise invalid("wrong-value", "/by", "another person than who gave the label") from None
        return Reply.of(Looked(id, "recorded" if new else "already_recorded"))

    return await call.writer.do(work, (id,))


class Agreed(Struct, frozen=True):
    """How often two people agree: an admin is told of the team and of everybody, anybody else of themselves."""

    team: Estimates | None
    reviewers: dict[str, Estimates]


@operation("GET", STREAM + "/agreement", scope="review")
async def show_agreement(call: Call[None]) -> Reply[Agreed]:
    """Return what second looks say of those who label; of fewer than 20 nothing is said."""
    admin, who = "admin" in call.key.scopes, call.key.name
    read_model = call.host.read_model(call.stream)

    def work() -> Agreed:
        with read_model.catch_up().lock:
            looks = list(read_model.second_looks.looks.values())
        people = {name: one.as_dict() for name, one in of_reviewers(looks).items() if admin or name == who}
        return Agreed(agreement(looks).as_dict() if admin else None, people)

    return Reply.of(await call.host.aside(work))
