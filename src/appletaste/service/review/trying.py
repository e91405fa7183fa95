"""What if: other costs, another threshold, other reviewers or audits, on the logged decisions, beside today's."""

from __future__ import annotations

import numpy as np

from ..._files import for_json
from ...costs import Costs
from ...evaluate import Plan, WhatIf, compare
from ...evaluate.alternatives import OwnThreshold
from ...evaluate.what_if import Ground, ask, ground_of
from .days import amount_of
from .numbers import Flip, Settings, WhatIfRead
from .read_model import ReadModel


def tried(following: ReadModel, then: Plan, now: Plan, costs: Costs | None, level: float, pure: bool) -> WhatIfRead:
    """Return what a plan comes to beside today's; ``pure``: the estimates leave reviewers and audits aside."""
    with following.lock:
        columns, seq = following.columns, following.seq
        sheet = None if costs is None else tuple(costs.outcomes().values())
        name = "ground" if costs is None else "ground at other costs"
        ground: Ground = following.once(name, (seq, sheet, level), lambda: _ground(following, costs, level))
        ids = list(columns.rows)
        version = (seq, sheet, level, now)
        today: WhatIf = following.once(f"today on {name}", version, lambda: ask(ground, now))
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


def _settings(found: WhatIf) -> Settings:
    plan, daily = found.plan, found.acts_a_day
    assert plan is not None
    assert daily is not None  # a stream knows the day of each decision
    return Settings(plan.threshold, plan.capacity_text, plan.audit_text, found.acts, daily, amount_of(found.best))
