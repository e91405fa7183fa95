"""What if, and apply: other costs, another threshold, other reviewers or audits, tried on the log and then let hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
from msgspec import UNSET, Meta, Struct, UnsetType

from ..._files import for_json
from ...costs import Costs
from ...errors import InputError, OptionError
from ...evaluate import Plan, compare
from ...evaluate import WhatIf as Answered
from ...evaluate.alternatives import OwnThreshold
from ...evaluate.what_if import Ground, ask, ground_of
from ...streams import Stream
from ...streams.staffing import Staffing
from ..api.streams import sheet_of
from ..operations import STREAM, Call, Reply, operation
from ..problems import Problem, invalid
from ..types import Body, Changed, CostSheet, Who
from .days import Amount, amount_of
from .read_model import ReadModel

CapacityText = Annotated[str, Meta(min_length=1, max_length=100, description="Such as 120/day, 5% or Mon-Fri 120.")]
AuditText = Annotated[
    str, Meta(min_length=1, max_length=20, description="A share of passes, such as 2%; auto: as many as pay; 0: none.")
]
Zone = Annotated[str, Meta(min_length=1, max_length=100, description="Such as Europe/Berlin.")]
CAPACITY, AUDIT = "such as 120/day, 5% or Mon-Fri 120, Sat 40", "a share of passes such as 2%, auto or 0"


class WhatIf(Body, frozen=True):
    """Another way to decide; what is left out stays as it is today, and null is no limit, or no audits."""

    threshold: Annotated[float, Meta(ge=0, le=1)] | None = None
    costs: CostSheet | None = None
    capacity: CapacityText | UnsetType | None = UNSET
    audit: AuditText | UnsetType | None = UNSET
    level: Annotated[float, Meta(gt=0, lt=1)] = 0.9


class CapacityBody(Body, frozen=True):
    """Other reviewers; null: any number of acts."""

    capacity: CapacityText | None
    time_zone: Zone | None = None
    by: Who | None = None


class AuditBody(Body, frozen=True):
    """Another share of passes to audit; null: none."""

    audit: AuditText | None
    by: Who | None = None


class Settings(Struct, frozen=True):
    """A way to decide, and what it comes to on the log."""

    threshold: float | None  #: null: each item has its own, by its costs
    capacity: str | None
    audit: str | None
    acts: float
    acts_a_day: float
    cost: Amount  #: relative to passing everything


class Flip(Struct, frozen=True):
    """A decision that would be another."""

    id: str
    chance: float
    act_now: bool
    act_then: bool


class WhatIfRead(Struct, frozen=True):
    """What another way to decide would have cost, beside today's; and the estimates behind it."""

    threshold: float | None
    capacity: str | None
    audit: str | None
    acts_a_day: float
    cost: Amount
    now: Settings
    flips: list[Flip]
    flip_count: int
    words: list[str]
    ips: dict[str, Any]
    snips: dict[str, Any]
    dr: dict[str, Any]
    logged: dict[str, Any]
    saving: dict[str, Any]
    acts: float
    logged_acts: int
    effective_sample_size: float
    largest_weight: float
    unsupported_share: float
    decisions: int
    left_out: int
    would_act: int
    would_pass: int


def tried(following: ReadModel, then: Plan, now: Plan, costs: Costs | None, level: float, pure: bool) -> WhatIfRead:
    """Return what a plan comes to beside today's; ``pure``: the estimates leave reviewers and audits aside."""
    with following.lock:
        columns, seq = following.columns, following.seq
        sheet = None if costs is None else tuple(costs.outcomes().values())
        name = "ground" if costs is None else "ground at other costs"
        ground: Ground = following.once(name, (seq, sheet, level), lambda: _ground(following, costs, level))
        ids = list(columns.rows)
        version = (seq, sheet, level, now)
        today: Answered = following.once(f"today on {name}", version, lambda: ask(ground, now))
    found = compare(ground, then, now, today)
    behind = found.then
    if pure and then.staffed:
        behind = ask(ground, OwnThreshold() if then.change is None else then.change)
    told = [_settings(one) for one in (found.then, found.now)]
    names = ("ips", "snips", "dr", "logged", "saving")
    numbers = ("acts", "logged_acts", "effective_sample_size", "largest_weight", "unsupported_share", "decisions")
    return WhatIfRead(
        threshold=told[0].threshold,
        capacity=told[0].capacity,
        audit=told[0].audit,
        acts_a_day=told[0].acts_a_day,
        cost=told[0].cost,
        now=told[1],
        flips=[Flip(ids[int(flip.id)], *flip[1:]) for flip in found.flips],
        flip_count=found.more + found.fewer,
        words=found.sentences(),
        **{name: for_json(getattr(behind, name).as_dict()) for name in names},
        **{name: for_json(getattr(behind, name)) for name in numbers},
        left_out=behind.left_out,
        would_act=len(behind.would_act),
        would_pass=len(behind.would_pass),
    )


def _ground(following: ReadModel, costs: Costs | None, level: float) -> Ground:
    """Return what questions to a stream rest on; the id of a decision is its row."""
    log = following.log()
    log = log.unchecked(id=np.arange(len(log)))
    return ground_of(log, costs, level, days=following.columns.number("day").copy())


def _settings(found: Answered) -> Settings:
    plan, daily = found.plan, found.acts_a_day
    assert plan is not None
    assert daily is not None  # a stream knows the day of each decision
    return Settings(plan.threshold, plan.capacity_text, plan.audit_text, found.acts, daily, amount_of(found.best))


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


@operation("POST", STREAM + "/what-if", scope="read", problems=("no-answer",))
async def what_if(call: Call[WhatIf]) -> Reply[WhatIfRead]:
    """Say what other costs, another threshold, other reviewers or audits would have cost, beside those of today."""
    asked, following = call.body, call.host.read_model(call.stream)
    named = [asked.capacity is not UNSET, asked.audit is not UNSET]
    costs = None if asked.costs is None else sheet_of(asked.costs)
    given = staffed(asked.capacity or None, asked.audit or None)
    now: Plan = await call.writer.do(Plan.today)
    then = Plan(
        _threshold(asked, costs, now),
        given.budget if named[0] else now.budget,
        given.audit if named[1] else now.audit,
    )

    def work() -> Any:
        if not len(following.catch_up().columns):
            raise Problem("no-answer", detail="the stream has no decisions yet")
        return tried(following, then, now, costs, asked.level, not any(named))

    return Reply.of(await call.host.aside(work))


def _threshold(asked: WhatIf, costs: Costs | None, now: Plan) -> float | None:
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
