"""What if, and apply: other costs, another threshold, other reviewers or audits, tried on the log and then let hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import UNSET

from ...costs import Costs
from ...errors import InputError, OptionError
from ...streams import Stream
from ...streams.staffing import Staffing
from ..api.streams import sheet_of
from ..operations import STREAM, Call, Reply, operation
from ..problems import Problem, invalid
from ..types import Changed
from .bodies import AuditBody, CapacityBody, WhatIf
from .numbers import WhatIfRead
from .trying import Way, tried

CAPACITY, AUDIT = "such as 120/day, 5% or Mon-Fri 120, Sat 40", "a share of passes such as 2%"


def staffed(capacity: str | None, audit: str | None, time_zone: str | None = None) -> Staffing:
    """Return reviewers and audits from texts, or the problem that they are none."""
    try:
        found = Staffing.of(capacity, None, time_zone) or Staffing()
    except (InputError, OptionError):
        raise invalid("wrong-value", "/capacity", CAPACITY) from None
    try:
        return Staffing(found.budget, (Staffing.of(None, audit) or Staffing()).audit)
    except (InputError, OptionError):
        raise invalid("wrong-value", "/audit", AUDIT) from None


def _today(stream: Stream) -> Way:
    """Return how a stream decides today."""
    by_item = stream.settings["costs_by_item"] is not None
    return Way(None if by_item else stream.costs.threshold, stream.budget, stream.audit)


@operation("POST", STREAM + "/what-if", scope="read", problems=("no-answer",))
async def what_if(call: Call[WhatIf]) -> Reply[WhatIfRead]:
    """Say what other costs, another threshold, other reviewers or audits would have cost, beside those of today."""
    asked, following = call.body, call.host.read_model(call.stream)
    named = [asked.capacity is not UNSET, asked.audit is not UNSET]
    costs = None if asked.costs is None else sheet_of(asked.costs)
    given = staffed(asked.capacity or None, asked.audit or None)
    now: Way = await call.writer.do(_today)
    then = Way(
        _threshold(asked, costs, now),
        given.budget if named[0] else now.budget,
        given.audit if named[1] else now.audit,
    )

    def work() -> Any:
        if not len(following.catch_up().columns):
            raise Problem("no-answer", detail="the stream has no decisions yet")
        return tried(following, then, now, costs, asked.level, not any(named))

    return Reply.of(await call.host.aside(work))


def _threshold(asked: WhatIf, costs: Costs | None, now: Way) -> float | None:
    if asked.threshold is not None:
        return float(asked.threshold)
    return now.threshold if costs is None else costs.threshold


@operation("POST", STREAM + "/capacity", scope="admin", problems=("no-answer",))
async def set_capacity(call: Call[CapacityBody]) -> Reply[Changed]:
    """Change the review capacity from now on: a number of acts a day, or a share."""
    said, by = call.body, call.who(call.body.by)
    staffed(said.capacity, None, said.time_zone)  # what is wrong is said before anything waits

    def change(stream: Stream) -> int:
        return stream.set_capacity(said.capacity, time_zone=said.time_zone, by=by)

    return await call.writer.do(lambda stream: _changed(stream, change))


@operation("POST", STREAM + "/audit", scope="admin", problems=("no-answer",))
async def set_audit(call: Call[AuditBody]) -> Reply[Changed]:
    """Change the share of passes that are audited from now on."""
    by, lane = call.who(call.body.by), staffed(None, call.body.audit).audit
    return await call.writer.do(lambda stream: _changed(stream, lambda one: one.set_audit(lane, by=by)))


def _changed(stream: Stream, change: Callable[[Stream], int]) -> Reply[Any]:
    try:
        return Reply.of(Changed(change(stream)))
    except InputError as error:  # of settings that do not go together: nothing in the words is of an item
        raise Problem("no-answer", detail=str(error)) from None
