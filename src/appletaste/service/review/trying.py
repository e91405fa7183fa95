"""What if: other costs, another threshold, other reviewers or audits, on the logged decisions, beside today's.

A way to decide is worked out as the probability of acting on each decision: 1 where the chance reaches the threshold;
of these, where reviewers are few, the best of each day by what acting is expected to save; and where passes are
audited, the rate of audits on the others. Its cost is then estimated as ``appletaste.what_if`` estimates any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._files import for_json
from ...costs import Costs
from ...evaluate import Estimate
from ...evaluate.alternatives import Acting, Change, OwnThreshold, acting_probabilities
from ...evaluate.answers import Answer, Refusal, brief
from ...evaluate.questions import changes
from ...evaluate.support import excluded
from ...evaluate.what_if import Ground, WhatIf, ask, ground_of
from ...reports.model import share as per_cent
from ...streams import Audit, Budget
from ...streams.staffing import audit_text, capacity_text
from .days import amount_of
from .numbers import Flip, Settings, WhatIfRead
from .read_model import ReadModel

#: Decisions that would be others, of which so many are named.
NAMED = 50
BEST_OF_DAY = (
    "Reviewers: the best of each day are acted on, as if the whole day were known in the morning; a desk that meets "
    "items one by one comes close to that."
)


@dataclass(frozen=True)
class Way:
    """A way to decide; without a threshold each item has the one that its own costs imply."""

    threshold: float | None
    budget: Budget | None
    audit: Audit | None

    @property
    def change(self) -> Change:
        """The threshold alone, as ``what_if`` takes it."""
        return OwnThreshold() if self.threshold is None else self.threshold


def acting(way: Way, ground: Ground, days: NDArray[np.int64]) -> NDArray[np.float64] | Refusal:
    """Return the probability with which a way to decide acts on each decision of a ground, made on these days."""
    log = ground.as_logged if way.threshold is None else ground.log
    found = acting_probabilities(log, way.change, False)
    if isinstance(found, Refusal):
        return found
    rate = 0.0 if way.audit is None else max(way.audit.rate, way.audit.floor)
    if way.budget is None:
        return np.maximum(found, rate) if rate else found
    shared = way.audit is not None and way.audit.budget is None
    acts, left = _best_of_each_day(found, ground, days, way.budget, rate if shared else 0.0)
    return np.maximum(acts, np.minimum(rate, left) if shared else rate)


def _best_of_each_day(
    wanted: NDArray[np.float64], ground: Ground, days: NDArray[np.int64], budget: Budget, audits: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the acts that remain where each day has so many, and what is left for each pass of the day.

    Audits that share the budget have their part first.
    """
    positive, negative = changes(ground.log, slice(None))
    assert ground.log.chance is not None  # or there would be no threshold to reach
    saved = -(positive * ground.log.chance + negative * (1.0 - ground.log.chance))
    order = np.lexsort((-saved, wanted == 0.0, days))
    names, starts, counts = np.unique(days[order], return_index=True, return_counts=True)
    rank = np.arange(len(days)) - np.repeat(starts, counts)
    room = np.full(len(names), np.inf)
    if budget.share is not None:
        room = np.floor(budget.share * counts + 1e-9)
    if budget.per_day is not None:
        room = np.minimum(room, [budget.most_of(int(day)) for day in names])
    free = np.maximum(room - audits * np.maximum(counts - room, 0.0), 0.0)
    chosen = wanted[order] * (rank < np.repeat(np.floor(free), counts))
    acted = np.add.reduceat(chosen, starts)
    found, left = np.zeros(len(days)), np.zeros(len(days))
    found[order] = chosen
    left[order] = np.repeat((room - acted) / np.maximum(counts - acted, 1.0), counts)
    return found, np.maximum(left, 0.0)


def tried(following: ReadModel, then: Way, now: Way, costs: Costs | None, level: float, pure: bool) -> WhatIfRead:
    """Return what a way to decide comes to beside today's; ``pure``: the estimates leave reviewers and audits aside."""
    with following.lock:
        columns, seq = following.columns, following.seq
        log = following.once("log", seq, following.log)
        log = log.unchecked(id=np.arange(len(log)))  # the row of each decision, also of those that are picked
        sheet = None if costs is None else tuple(costs.outcomes().values())
        name = "ground" if costs is None else "ground at other costs"
        ground: Ground = following.once(name, (seq, sheet, level), lambda: ground_of(log, costs, level))
        rows = np.asarray(ground.log.id, dtype=np.intp)
        days = columns.number("day")[rows]
        ids = list(columns.rows)
        plans = [acting(way, ground, days) for way in (then, now)]
        version = (seq, sheet, level, now)
        today: WhatIf = following.once(f"today on {name}", version, lambda: _asked(ground, plans[1], now))
    answers = [_asked(ground, plans[0], then), today]
    behind = ask(ground, then.change) if pure and (then.budget or then.audit) else answers[0]
    spread = max(len(np.unique(days)), 1)
    told = [_settings(way, found, spread) for way, found in zip((then, now), answers, strict=True)]
    flips, more, fewer = _flips(plans, ground, rows, ids)
    fields = {name: value for name, value in for_json(behind.as_dict()).items() if not name.startswith("would_")}
    return WhatIfRead(
        threshold=told[0].threshold,
        capacity=told[0].capacity,
        audit=told[0].audit,
        acts_a_day=told[0].acts_a_day,
        cost=told[0].cost,
        now=told[1],
        flips=flips,
        flip_count=more + fewer,
        words=words_of(told, [found.best for found in answers], (more, fewer), ground, then.budget or now.budget),
        would_act=len(behind.would_act),
        would_pass=len(behind.would_pass),
        **fields,
    )


def _asked(ground: Ground, plan: NDArray[np.float64] | Refusal, way: Way) -> WhatIf:
    """Return what a plan comes to; one that cannot be made is refused in the words of ``what_if``."""
    return ask(ground, way.change if isinstance(plan, Refusal) else Acting(plan))


def _settings(way: Way, found: WhatIf, days: int) -> Settings:
    capacity, audit = capacity_text(way.budget), audit_text(way.audit)
    return Settings(way.threshold, capacity, audit, found.acts, found.acts / days, amount_of(found.best))


def _flips(plans: list[Any], ground: Ground, rows: NDArray[np.intp], ids: list[str]) -> tuple[list[Flip], int, int]:
    """Return decisions that would be others, the latest first, and how many are acts then, and passes."""
    if any(isinstance(plan, Refusal) for plan in plans):
        return [], 0, 0
    then, now = (plan >= 0.5 for plan in plans)
    places = np.flatnonzero(then != now)
    chances = ground.log.chance
    assert chances is not None
    latest = places[::-1][:NAMED].tolist()
    named = [Flip(ids[rows[k]], float(chances[k]), bool(now[k]), bool(then[k])) for k in latest]
    return named, int((then & ~now).sum()), int((now & ~then).sum())


def words_of(
    told: list[Settings], costs: list[Answer], flips: tuple[int, int], ground: Ground, limited: Budget | None
) -> list[str]:
    """Return the difference in sentences."""
    then, now = told
    said = []
    if then.threshold != now.threshold:
        said.append(f"Acting pays {_from(then.threshold)}; today {_from(now.threshold)}.")
    if then.capacity != now.capacity:
        said.append(f"Reviewers: {then.capacity or 'any number'}; today {now.capacity or 'any number'}.")
    if then.audit != now.audit:
        said.append(f"Audited passes: {then.audit or 'none'}; today {now.audit or 'none'}.")
    said.append(f"{brief(then.acts_a_day)} acts a day; with the settings of today {brief(now.acts_a_day)}.")
    said.append(
        f"Cost relative to passing everything: {_told(costs[0])}; with the settings of today {_told(costs[1])}."
    )
    more, fewer = flips
    of = f"of {len(ground.log):,} decisions"
    said.append(f"{more:,} {of} would be acts instead of passes, and {fewer:,} passes instead of acts.")
    if limited is not None:
        said.append(BEST_OF_DAY)
    if ground.left_out:
        said.append(excluded(ground.left_out).capitalize() + ".")
    return said


def _from(threshold: float | None) -> str:
    if threshold is None:
        return "from the chance on that the costs of each item imply"
    return f"from a chance of {per_cent(threshold)} on"


def _told(answer: Answer) -> str:
    return str(answer) if isinstance(answer, Estimate) else f"no answer, because {answer.reason}"
