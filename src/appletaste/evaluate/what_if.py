"""What if: the cost of another policy, threshold, cost sheet or staffing on a logged stream, or why nobody can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..errors import InputError, Message, OptionError, Remedy
from ..logs.decision_log import DecisionLog, Log, opened
from ..streams import Audit, Budget
from ..streams.staffing import Share
from .alternatives import Change, OwnThreshold, Plan, acting_probabilities, days_for, with_staff
from .answers import Answer, Estimate, Refusal, beside, brief, cost_of_acting, per_cent
from .arrival import TOLD, Arrival
from .questions import Question, changed, changes
from .support import FLOOR, Support, check_question, excluded, settled_rows, support_of
from .weights import (
    Draws,
    Errors,
    Noise,
    Seen,
    doubly_robust,
    effective_sample_size,
    few_positives,
    if_all_negative,
    ips,
    saving_of,
    snips,
    weighted_sum,
)

#: The share of the alternative's acts on items with no support, beyond which there is no answer.
TOLERATED = 0.05
#: Labels to be expected, as equally weighted ones, on acts of the alternative that the log was not sure to make.
LEAST_EFFECTIVE = 10.0
#: Decisions that would be others, of which so many are named.
NAMED = 50
BEST_OF_DAY = (
    "Reviewers: the best of each day are acted on, as if the whole day were known in the morning; a desk that meets "
    "items one by one comes close to that."
)
BEST_OF_WINDOW = (
    "Reviewers: the log has no dates, so the best of every {:,} decisions in a row are acted on, as if all were "
    "known before the first; a desk that meets items one by one comes close to that."
)


@dataclass(frozen=True)
class WhatIf:
    """What another way to decide would have cost, relative to passing everything, on the logged stream (a sum).

    Where the alternative acts on a few items that the log cannot speak about, intervals are widened by the most that
    those can cost or save.
    """

    ips: Answer
    snips: Answer
    dr: Answer
    logged: Answer  #: what the logged decisions cost, relative to passing everything
    saving: Answer  #: what the alternative saves against that: logged - best (``savings``)
    acts: float  #: the expected number of acts of the alternative
    logged_acts: int
    effective_sample_size: float
    largest_weight: float  #: most items that a single seen one stands for
    unsupported_share: float  #: of the alternative's acts, those on items that the log cannot speak about
    would_act: NDArray[np.str_]  #: ids of passed items that the alternative acts on (probability at least one half)
    would_pass: NDArray[np.str_]  #: ids of acted items that it passes
    decisions: int  #: that were asked about
    left_out: int = 0  #: recent decisions beside those: most of their labels have not arrived yet
    plan: Plan | None = None  #: the reviewers and audits that were asked about
    days: int | None = None  #: on which those decisions were made; None: nobody asked, or the log has no dates

    @property
    def acts_a_day(self) -> float | None:
        """The expected number of acts on a day that has decisions, where days are known."""
        return None if self.days is None else self.acts / self.days

    @property
    def best(self) -> Answer:
        """The doubly robust answer, or IPS where the log has no chances."""
        return self.dr if self.dr else self.ips

    def __str__(self) -> str:
        acts = f"{brief(self.acts)} acts instead of {self.logged_acts:,}, on {self.decisions:,} decisions"
        return "\n".join(
            [
                *([excluded(self.left_out)] if self.left_out else []),
                f"cost relative to passing everything: {self.best}",
                f"saving against what was done: {self.saving}",
                f"{acts}; effective sample size {self.effective_sample_size:.0f}, "
                f"{self.unsupported_share:.1%} of the alternative's acts unsupported".replace("%", " %"),
                f"{len(self.would_act):,} passed items would be acted on, {len(self.would_pass):,} acted items passed",
                *self._staff(),
            ]
        )

    def _staff(self) -> list[str]:
        """Return what was asked about reviewers and audits, in sentences."""
        if self.plan is None:
            return []
        daily = "" if self.days is None else f"; {brief(self.acts / self.days)} acts a day"
        reviewers, audits = self.plan.capacity_text or "any number", self.plan.audit_text or "none"
        return [f"reviewers: {reviewers}, audited passes: {audits}{daily}", *_best_of(self.plan.budget, self.days)]

    def as_dict(self) -> dict[str, Any]:
        """Return the answers for JSON."""
        found: dict[str, Any] = {
            name: getattr(self, name).as_dict() for name in ("ips", "snips", "dr", "logged", "saving")
        }
        found |= {name: getattr(self, name) for name in ("acts", "logged_acts", "effective_sample_size")}
        found |= {
            name: getattr(self, name) for name in ("largest_weight", "unsupported_share", "decisions", "left_out")
        }
        if self.plan is not None:
            found |= {"capacity": self.plan.capacity_text, "audit": self.plan.audit_text, "acts_a_day": self.acts_a_day}
        return found | {"would_act": self.would_act.tolist(), "would_pass": self.would_pass.tolist()}


def _best_of(budget: Budget | None, days: int | None) -> list[str]:
    """Return of what the best are acted on, where reviewers are limited."""
    if budget is None:
        return []
    return [BEST_OF_WINDOW.format(budget.window) if days is None else BEST_OF_DAY]


def what_if(
    log: Log,
    change: Change | Mapping[str, Any] | None = None,
    *,
    threshold: float | OwnThreshold | None = None,
    capacity: Share | Budget | None = None,
    audit: Share | Audit | None = None,
    costs: Costs | CostsByItem | Mapping[str, Any] | None = None,
    level: float = 0.9,
    floor: float = FLOOR,
    learn: bool = False,
) -> WhatIf:
    """Estimate what another policy, threshold, cost sheet or staffing would have cost on the logged stream.

    ``change`` is a Policy (asked as it stands, or learning along with ``learn=True``), a function of the features that
    returns P(act), a number (act from that chance on), ``OwnThreshold(1.5)`` (act from 1.5 times the threshold on that
    the costs of each item imply) or ``Costs`` (act where these say so, and price by them); ``costs`` prices any of them
    by another sheet. Either may be formulas over what each item costs in the log, ``{"miss": "2*miss", "false_alarm":
    "false_alarm", "hit": "hit"}``. ``threshold`` is the same as a number or an ``OwnThreshold`` in its place. Without
    any of these, acting is wanted from the chance on that the costs of each item imply.

    ``capacity`` limits the acts (``"120/day"``, ``"5%"``, ``"Mon-Fri 120, Sat 40"``, or a ``Budget``): of those that
    are wanted, the best of each day are made, by what acting is expected to save at the logged chance. ``audit``
    (``"2%"``, or an ``Audit``) acts on so many of the others; audits share the capacity. Without them there is no limit
    and no audit, whatever there was when the log was written. Days are those that the clock on the wall said; in a log
    without dates a share is one of every 1,000 decisions in a row, and acts per day are refused (``with_staff``).

    Costs are relative to passing everything, which needs no label of a passed item (``weights`` has the formulas).
    Rounds of which most labels have not arrived are left out, and counted in ``left_out``. An alternative that was
    itself fitted to this log's labels is not judged fairly by it. Refused, by what is known before any label: more than
    5 % of its acts on items without support, or fewer than 10 labels to be expected, as equally weighted ones, on its
    acts that the log was not sure to make.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=2000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> found = at.what_if(log, lambda x: float(x[0] > 0))
    >>> acts = table.items[:, 0] > 0
    >>> truth = (table.costs.alarm_price * (1 - table.labels) - table.costs.catch_gain * table.labels)[acts].sum()
    >>> found.ips.covers(truth)
    True
    >>> few = at.what_if(log, threshold=0.3, capacity="10%", audit="2%")
    >>> few.acts <= 200, few.plan.capacity_text, few.plan.audit_text
    (True, '10%', '2%')
    """
    asked, sheet = as_asked(change, threshold, capacity, audit, costs)
    if learn and isinstance(asked, Plan):
        raise OptionError(
            Message("which labels a policy would have learnt from depends on its reviewers and audits: leave out ",
                    Remedy("learn"), ", or ", Remedy("capacity"), " and ", Remedy("audit"))
        )  # fmt: skip
    return ask(ground_of(log, sheet, level, floor), asked, learn)


def as_asked(
    change: Change | Mapping[str, Any] | None,
    threshold: float | OwnThreshold | None,
    capacity: Share | Budget | None,
    audit: Share | Audit | None,
    costs: Costs | CostsByItem | Mapping[str, Any] | None,
) -> tuple[Change | Plan, Costs | CostsByItem | Mapping[str, Any] | None]:
    """Return what would be otherwise, and the cost sheet that prices it, as ``what_if`` takes both."""
    if change is not None and threshold is not None:
        raise OptionError(Message("there is a change already, and a threshold is one: leave out ", Remedy("threshold")))
    if threshold is not None and not isinstance(threshold, int | float | np.number | OwnThreshold):
        raise InputError(f"a threshold is a number or an OwnThreshold, got {type(threshold).__name__}")
    change = threshold if change is None else change
    change = CostsByItem.of(change) if isinstance(change, Mapping) else change
    sheet = change if isinstance(change, Costs | CostsByItem) and costs is None else costs
    if change is None and costs is not None:
        change = CostsByItem.of(costs)
    if capacity is not None or audit is not None:
        return Plan.of(change, capacity, audit), sheet
    if change is None:
        needed = ("threshold", "costs", "capacity", "audit")
        options = [part for name in needed for part in (", ", Remedy(name))][1:]
        raise OptionError(Message("what_if takes something that would be otherwise: a policy, or ", *options))
    return change, sheet


@dataclass(frozen=True)
class Ground:
    """What all questions to a log have in common, so that many can be asked of a long one."""

    log: DecisionLog  #: without the decisions most of whose labels have not arrived
    as_logged: DecisionLog  #: the same with the costs that were logged, which formulas speak of
    support: Support
    logged: Answer  #: what the logged decisions cost, relative to passing everything
    level: float
    left_out: int  #: decisions of the whole log beside these
    given_days: NDArray[np.int64] | None = None  #: where somebody else knows the day of each decision

    @cached_property
    def days(self) -> NDArray[np.int64] | None:
        """The day of each decision by the clock on the wall; None: the log has no dates."""
        if self.given_days is not None or not self.log.dated:
            return self.given_days
        return self.log.days().astype(np.int64)

    def days_for(self, budget: Budget | None) -> NDArray[np.int64] | None:
        """Return the day of each decision, also by numbers that a budget per day counts days in; None: nobody knows."""
        if self.days is not None or budget is None or budget.per_day is None:
            return self.days
        return days_for(self.log, budget)

    @cached_property
    def noise(self) -> Noise:
        """The random numbers of every answer."""
        return Noise(len(self.support.seen_rows))


def ground_of(
    log: Log,
    costs: Costs | CostsByItem | Mapping[str, Any] | None = None,
    level: float = 0.9,
    floor: float = FLOOR,
    days: NDArray[np.int64] | None = None,
) -> Ground:
    """Return what questions to a log rest on, priced by another cost sheet if there is one.

    ``days`` has the number of the day of each decision, for a log without times.
    """
    log = opened(log)
    check_question(log, "what_if", level, floor)
    whole, kept = len(log), settled_rows(log)
    log = log if kept.all() else log.where(kept)
    as_logged, log = log, log if costs is None else log.priced(CostsByItem.of(costs))
    support = support_of(log, floor)
    logged = logged_cost(log, support.arrival, level)
    return Ground(log, as_logged, support, logged, level, whole - len(log), None if days is None else days[kept])


def acting(ground: Ground, change: Change | Plan, learn: bool = False) -> NDArray[np.float64] | Refusal:
    """Return the probability with which an alternative acts on each decision of a ground, or why nobody knows."""
    if not isinstance(change, Plan):
        return acting_probabilities(ground.as_logged if isinstance(change, CostsByItem) else ground.log, change, learn)
    if change.change is None:
        wanted = acting_probabilities(ground.as_logged, OwnThreshold(), learn)
    else:
        wanted = acting(ground, change.change, learn)
    if isinstance(wanted, Refusal):
        return wanted
    return with_staff(wanted, change, ground.log, ground.days_for(change.budget))


def ask(ground: Ground, change: Change | Plan, learn: bool = False) -> WhatIf:
    """Answer one question, as ``what_if`` does."""
    found = answer_of(ground, acting(ground, change, learn))
    return found if not isinstance(change, Plan) else replace(found, plan=change, days=_count_days(ground, change))


def _count_days(ground: Ground, plan: Plan) -> int | None:
    days = ground.days_for(plan.budget)
    return None if days is None else len(np.unique(days))


def answer_of(ground: Ground, asked: NDArray[np.float64] | Refusal) -> WhatIf:
    """Return what acting with these probabilities comes to."""
    log, support = ground.log, ground.support
    e = np.zeros(len(log)) if isinstance(asked, Refusal) else asked
    question = Question(log, support, e)
    refusal = asked if isinstance(asked, Refusal) else _refuse(question)
    answers: tuple[Answer, Answer, Answer]
    draws = None if refusal is not None or not question.totals.acts else ground.noise.about(question)
    answers = (refusal, refusal, refusal) if refusal is not None else _estimate(question, draws, ground.level)
    best, seen = answers[2] or answers[0], support.seen_rows
    weights = e[seen] / support.inclusion[seen]
    truth, done = cost_of_acting(log, e), cost_of_acting(log, log.act)
    saving = saving_of(question, best, ground.logged, bool(answers[2]), draws)
    return WhatIf(
        ips=beside(answers[0], truth),
        snips=beside(answers[1], truth),
        dr=beside(answers[2], truth),
        logged=ground.logged,
        saving=beside(saving, None if truth is None or done is None else done - truth),
        acts=question.totals.acts,
        logged_acts=int(log.act.sum()),
        effective_sample_size=effective_sample_size(weights),
        largest_weight=float(weights.max(initial=0.0)),
        unsupported_share=question.unsupported_share,
        would_act=log.id[~log.act & (e >= 0.5)],
        would_pass=log.id[log.act & (e < 0.5)] if not isinstance(asked, Refusal) else log.id[:0],
        decisions=len(log),
        left_out=ground.left_out,
    )


def _above(share: float, limit: float) -> str:
    """Return a share in per cent, with as many digits as tell it from the limit."""
    digits = next((n for n in range(15) if f"{share:.{n}%}" != f"{limit:.{n}%}"), 15)
    return f"{share:.{digits}%}"


def _refuse(question: Question) -> Refusal | None:
    remedy = "for a while, audit more of what is passed, or use a policy that decides by lot, such as ts"
    unsupported, size = question.unsupported_share, question.expected_size
    if question.totals.acts == 0:
        return None  # passing everything costs 0 more than passing everything
    if question.support.contradiction is not None:
        return question.support.contradiction
    if unsupported > TOLERATED:
        return Refusal(
            f"{_above(unsupported, TOLERATED)} of the alternative's acts are on items that the log (nearly) never acts "
            f"on, or whose labels have not arrived; at most {TOLERATED:.0%} are allowed".replace("%", " %"),
            remedy,
        )
    if size < LEAST_EFFECTIVE:
        return Refusal(
            f"the log is expected to hold the equivalent of only {size:.1f} labels on items that the alternative acts "
            f"on and that might have been passed; {LEAST_EFFECTIVE:.0f} are needed",
            remedy,
        )
    return None


def _estimate(question: Question, draws: Draws | None, level: float) -> tuple[Answer, Answer, Answer]:
    if draws is None:
        nothing = Estimate(0.0, 0.0, 0.0, level, "none: passing everything is what costs are relative to")
        return nothing, nothing, nothing
    support, totals = question.support, question.totals
    rows, arrival = support.seen_rows, support.arrival
    m = question.guess(rows) if totals.has_guess else np.zeros(len(rows))
    negative = changes(question.log, rows)[1]
    sway = arrival.pull[:, support.usable[arrival.known]] / question.log.probability[rows]
    seen = Seen(changed(question.log, rows), question.acting[rows], support.inclusion[rows], m, negative, sway)
    errors = Errors(seen, draws)
    least, middle, most = question.beyond()

    def widened(answer: Estimate) -> Estimate:
        return replace(answer, value=answer.value + middle, low=answer.low + least, high=answer.high + most)

    dr: Answer = Refusal("the log does not record the model's chance for every item", "log chance")
    if totals.has_guess:
        dr = doubly_robust(seen, errors, totals.guessed, level)
        if few_positives(question):
            dr = replace(dr, high=max(dr.high, if_all_negative(seen, errors, totals.negatives, level).high))
        dr = widened(dr)
    return widened(ips(seen, errors, level)), widened(snips(seen, errors, question.supported, level)), dr


def logged_cost(log: DecisionLog, arrival: Arrival, level: float) -> Answer:
    """Return what the logged decisions cost: known once labels have arrived, weighted by 1 / q while some have not."""
    if not log.act.any():
        return Estimate(0.0, 0.0, 0.0, level, "none: nothing was acted on")
    known, q = arrival.known, arrival.seen
    if not len(known):
        return Refusal("no label has arrived yet", "wait for labels")
    gain = changed(log, known)
    value = weighted_sum(gain, q)
    if arrival.difference_error > TOLD:  # what is missing may be all of one class: the interval holds whatever it is
        out = np.flatnonzero(log.act & ~log.labelled)
        ends = np.sort(np.array([-log.catch_gain[out], log.alarm_price[out]]), axis=0).sum(axis=1) + gain.sum()
        assumes = "nothing of labels that have not arrived: they may all be positive, or all negative"
        low, high = ends.tolist()
        return beside(Estimate(min(max(value, low), high), low, high, level, assumes), cost_of_acting(log, log.act))
    assumes = "labels that have not arrived are missing at random within a block of rounds"
    spread = float(np.hypot(np.sqrt((gain**2 * (1 - q) / q**2).sum()), arrival.sway(gain)))
    reach = NormalDist().inv_cdf(0.5 + 0.5 * level) * spread
    return beside(Estimate(value, value - reach, value + reach, level, assumes), cost_of_acting(log, log.act))


class Flip(NamedTuple):
    """A decision that would be another."""

    id: str
    chance: float
    act_now: bool
    act_then: bool


@dataclass(frozen=True)
class Comparison:
    """What one plan comes to beside another, which is that of today."""

    then: WhatIf
    now: WhatIf
    flips: tuple[Flip, ...]  #: decisions that would be others, the latest first, so many as ``NAMED``
    more: int  #: how many would be acts instead of passes
    fewer: int  #: and passes instead of acts

    def sentences(self) -> list[str]:
        """Return the difference in sentences."""
        then, now = self.then.plan, self.now.plan
        assert then is not None  # as ``compare`` makes them
        assert now is not None
        said = []
        words = _from(then.change), _from(now.change)
        if words[0] and words[1] and then.change != now.change:
            said.append(f"Acting pays {words[0]}; today {words[1]}.")
        if then.capacity_text != now.capacity_text:
            said.append(f"Reviewers: {then.capacity_text or 'any number'}; today {now.capacity_text or 'any number'}.")
        if then.audit_text != now.audit_text:
            said.append(f"Audited passes: {then.audit_text or 'none'}; today {now.audit_text or 'none'}.")
        acts = [found.acts if found.acts_a_day is None else found.acts_a_day for found in (self.then, self.now)]
        unit = "acts" if self.then.days is None else "acts a day"
        said.append(f"{brief(acts[0])} {unit}; with the settings of today {brief(acts[1])}.")
        costs = [_told(found.best) for found in (self.then, self.now)]
        said.append(f"Cost relative to passing everything: {costs[0]}; with the settings of today {costs[1]}.")
        of = f"of {self.then.decisions:,} decisions"
        said.append(f"{self.more:,} {of} would be acts instead of passes, and {self.fewer:,} passes instead of acts.")
        said += _best_of(then.budget or now.budget, self.then.days)
        if self.then.left_out:
            said.append(excluded(self.then.left_out).capitalize() + ".")
        return said


def compare(ground: Ground, then: Plan, now: Plan, today: WhatIf | None = None) -> Comparison:
    """Say what one plan would have cost beside another, that of today, on the decisions of a ground.

    ``today`` is what ``ask`` says of the plan of today, where somebody has asked before.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=2000).draw(at.Key(1))
    >>> log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    >>> found = compare(ground_of(log), Plan.of(0.6, "5%", None), Plan(0.6))
    >>> found.more, found.fewer == found.now.acts - found.then.acts
    (0, True)
    """
    plans = [acting(ground, plan) for plan in (then, now)]
    found = replace(answer_of(ground, plans[0]), plan=then, days=_count_days(ground, then))
    return Comparison(found, ask(ground, now) if today is None else today, *_flips(plans, ground.log))


def _flips(plans: list[NDArray[np.float64] | Refusal], log: DecisionLog) -> tuple[tuple[Flip, ...], int, int]:
    """Return decisions that would be others, the latest first, and how many are acts then, and passes."""
    acts = [plan >= 0.5 for plan in plans if not isinstance(plan, Refusal)]
    if len(acts) < len(plans):
        return (), 0, 0
    then, now = acts
    latest = np.flatnonzero(then != now)[::-1][:NAMED]
    chances = np.full(len(latest), np.nan) if log.chance is None else log.chance[latest]
    rows = zip(log.id[latest].tolist(), chances.tolist(), now[latest].tolist(), then[latest].tolist(), strict=True)
    return tuple(Flip(*row) for row in rows), int((then & ~now).sum()), int((now & ~then).sum())


def _from(change: Change | None) -> str:
    """Return from which chance on acting pays, in words; nothing where that is no threshold."""
    if change is None:
        return "from the chance on that the costs of each item imply"
    return f"from a chance of {per_cent(float(change))} on" if isinstance(change, int | float | np.number) else ""


def _told(answer: Answer) -> str:
    return str(answer) if isinstance(answer, Estimate) else f"no answer, because {answer.reason}"
