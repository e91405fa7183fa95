"""What another policy, threshold, cost sheet or staffing would have done with each item: its probability of acting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import number
from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..decision import Decision
from ..errors import InputError, Message, OptionError, Remedy
from ..logs.decision_log import DecisionLog
from ..policies import Policy
from ..streams import Audit, Budget, Stream
from ..streams.audit import Bill
from ..streams.staffing import Share, Staffing, audit_text, capacity_text
from ..times import DAY, dates_in
from .answers import Refusal
from .questions import changes

Floats = NDArray[np.float64]
#: Items that are read at a time.
BLOCK = 2**16


@dataclass(frozen=True)
class OwnThreshold:
    """Act from so many times the threshold on that the costs of each item imply, alarm_price / (alarm_price + gain)."""

    times: float = 1.0

    def __post_init__(self) -> None:
        number("times", self.times, least=0.0)


@dataclass(frozen=True, eq=False)
class Acting:
    """Act on each decision of a log with a probability that was worked out beforehand."""

    probabilities: Floats


#: A policy (as it stands), a function x -> P(act), a threshold on ``chance`` (one, or of each item), or a cost sheet.
Change = Policy | Callable[[Floats], Any] | float | OwnThreshold | Costs | CostsByItem | Acting


@dataclass(frozen=True)
class Plan:
    """A way to decide with reviewers and audits.

    Where acting is wanted: ``change`` as ``what_if`` takes it, or None for the chance from which on acting pays by what
    each item costs in the log. Of these acts, where reviewers are few, the best of each day by what acting is expected
    to save; and of what is then passed, a share of audits. Audits share the budget unless they have one of their own.

    Examples
    --------
    >>> plan = Plan.of(0.3, capacity="120/day", audit="2%")
    >>> plan.budget.per_day, plan.audit.rate, plan.staffed, Plan(0.3).staffed
    (120, 0.02, True, False)
    """

    change: Change | None = None
    budget: Budget | None = None
    audit: Audit | None = None

    @staticmethod
    def of(change: Change | None, capacity: Share | Budget | None, audit: Share | Audit | None) -> Plan:
        """Return the plan from texts such as ``120/day``, ``5%`` or ``Mon-Fri 120, Sat 40``, and ``2%``."""
        budget = capacity if isinstance(capacity, Budget) else (Staffing.of(capacity, None) or Staffing()).budget
        lane = audit if isinstance(audit, Audit) else (Staffing.of(None, audit) or Staffing()).audit
        return Plan(change, budget, lane)

    @staticmethod
    def today(stream: Stream) -> Plan:
        """Return how a stream decides today."""
        by_item = stream.settings["costs_by_item"] is not None
        return Plan(None if by_item else stream.costs.threshold, stream.budget, stream.audit)

    @property
    def threshold(self) -> float | None:
        """The chance from which on acting is wanted, where that is one number."""
        return float(self.change) if isinstance(self.change, int | float | np.number) else None

    @property
    def staffed(self) -> bool:
        """Whether reviewers are limited, or passes audited."""
        return self.budget is not None or self.audit is not None

    @property
    def capacity_text(self) -> str | None:
        """The reviewers in words; None: any number."""
        return capacity_text(self.budget)

    @property
    def audit_text(self) -> str | None:
        """The share of audits in words; None: there are none."""
        return audit_text(self.audit)


def acting_probabilities(log: DecisionLog, change: Change, learn: bool) -> Floats | Refusal:
    """Return e, the probability with which the alternative acts on each item, or why that cannot be known."""
    if isinstance(change, Acting):
        return change.probabilities
    if isinstance(change, Costs):
        return _above(log, change.threshold)
    if isinstance(change, CostsByItem):
        return _above(log, thresholds_of(log.priced(change)))
    if isinstance(change, OwnThreshold):
        own = thresholds_of(log)
        never = np.isinf(own)  # nothing times infinity is no number
        return _above(log, np.where(never, np.inf, change.times * np.where(never, 1.0, own)))
    if isinstance(change, int | float | np.number):
        if not math.isfinite(change) or not 0.0 <= change <= 1.0:
            raise InputError(f"a threshold on the chance is in [0, 1], got {change!r}")
        return _above(log, float(change))
    if not isinstance(change, Policy) and not callable(change):
        raise InputError(
            "what_if takes a Policy, a function x -> P(act), a threshold, an OwnThreshold, Costs or CostsByItem, got "
            f"{type(change).__name__}"
        )
    if log.x is None:
        return Refusal("the log has no features x, so another policy cannot be asked about its items", "log x")
    if isinstance(change, Policy):
        return _replayed(log, log.x, change, learn)
    try:
        asked = np.array([float(change(x)) for x in log.x])
    except (TypeError, ValueError) as error:
        raise InputError(f"the function must return P(act) for the features of one item: {error}") from error
    if not ((asked >= 0) & (asked <= 1)).all():
        raise InputError(
            f"the function must return probabilities in [0, 1], got {asked[~((asked >= 0) & (asked <= 1))][0]}"
        )
    return asked


def thresholds_of(log: DecisionLog) -> Floats:
    """Return the chance from which on acting pays on each item by its own costs; infinite: never, 0: always.

    Examples
    --------
    >>> rows = [{"id": k, "act": False, "probability": 0.5, "miss": k, "false_alarm": 1, "hit": 1} for k in (1, 5)]
    >>> thresholds_of(DecisionLog.from_rows(rows))
    array([inf, 0.2])
    """
    price, gain = log.alarm_price, log.catch_gain
    weighed = (price > 0) & (gain > 0)
    found = np.divide(price, price + gain, out=np.zeros(len(log)), where=weighed)
    return np.where(weighed, found, np.where((price > 0) | (gain < 0), np.inf, 0.0))


def _above(log: DecisionLog, threshold: float | Floats) -> Floats | Refusal:
    if log.chance is None or np.isnan(log.chance).any():
        return Refusal("the log does not record the model's chance for every item", "log chance, or give a policy")
    return np.asarray(log.chance >= threshold, dtype=np.float64)


def _replayed(log: DecisionLog, items: Floats, policy: Policy, learn: bool) -> Floats:
    """Ask a copy of a policy in the order of the log.

    Frozen (``learn`` false) it is asked as it stands. Learning, it is shown a label only where it acts and the log
    has acted too, so it sees fewer labels than it would have: its cost is that of this slower learner.
    """
    player = policy.copy() if learn else policy  # asking changes nothing
    asked = np.empty(len(log))
    for k, x in _in_order(log, items):
        costs = Costs.of_item(
            *(float(getattr(log, name)[k]) for name in ("miss", "false_alarm", "hit", "correct_pass"))
        )
        if not learn:
            asked[k] = player.probability(x, costs=costs)
            continue
        decision: Decision = player.decide(x, costs=costs)
        asked[k] = decision.probability
        if decision.act and log.act[k] and log.label[k] >= 0:
            player.learn(decision, int(log.label[k]))
    return asked


def _in_order(log: DecisionLog, items: Floats) -> Iterator[tuple[int, Floats]]:
    """Give the items with their places by round, some thousands read at a time."""
    order = np.argsort(log.round, kind="stable")
    for start in range(0, len(order), BLOCK):
        some = order[start : start + BLOCK]
        yield from zip(some.tolist(), items[some], strict=True)


def with_staff(wanted: Floats, plan: Plan, log: DecisionLog, days: NDArray[np.int64] | None) -> Floats | Refusal:
    """Return with which probability each item is acted on where reviewers are few, and passes audited.

    ``wanted`` is the probability with which the plan would act if there were no limit, ``days`` the day of each item
    (None: what ``days_for`` says). Of each day's items the best are acted on, by what acting is expected to save at the
    logged chance; the expected acts of a day, shared audits among them, are never more than its room. An item is
    audited with the rate of the lane, or with what is left of a shared budget for each pass where that is less.

    Examples
    --------
    >>> row = {"act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 1, "time": "2024-05-31"}
    >>> log = DecisionLog.from_rows([{"id": k, "chance": 0.2 * k, **row} for k in range(4)])
    >>> with_staff(np.array([0.0, 1.0, 1.0, 1.0]), Plan(budget=Budget(per_day=1)), log, None)
    array([0., 0., 0., 1.])
    >>> with_staff(np.array([0.0, 0.0, 0.0, 1.0]), Plan(audit=Audit(rate=0.1)), log, None)
    array([0.1, 0.1, 0.1, 1. ])
    """
    rates = None if plan.audit is None else _audit_rates(plan.audit, log, wanted)
    if plan.budget is None:
        return wanted if rates is None else np.maximum(wanted, rates)
    if log.chance is None or np.isnan(log.chance).any():
        return Refusal(
            "the log does not record the model's chance for every item, so nobody can say which items are the best of "
            "a day",
            "log chance",
        )
    shared = plan.audit is not None and plan.audit.budget is None
    groups = days_for(log, plan.budget) if days is None else days
    acts, left = _best_of_each_day(wanted, log, groups, plan.budget, rates if shared else None)
    if rates is None:
        return acts
    return np.maximum(acts, np.minimum(rates, left) if shared else rates)


def _audit_rates(audit: Audit, log: DecisionLog, wanted: Floats) -> Floats:
    """Return the share of audits among items like each one: that of its stratum or its chance, or the common one.

    ``wanted`` is the probability of acting without audits, which says what audits cost where they have to pay.
    """
    common = max(audit.rate, audit.floor)
    if audit.spend and log.chance is not None:
        positive, negative = changes(log, slice(None))
        chance = np.asarray(log.chance[:])
        known = ~np.isnan(chance)
        if known.any():
            bill = Bill.of(chance[known], -positive[known], negative[known], 1.0 - wanted[known])
            common = max(min(audit.rate, bill.affords(audit.spend)), audit.floor)
    found = np.full(len(log), common)
    if audit.floors and log.chance is not None:
        chance = np.asarray(log.chance[:])
        by_chance = np.asarray(audit.floors)[np.searchsorted(audit.edges, chance, side="left")]
        found = np.where(np.isnan(chance), found, by_chance)
    if log.stratum is not None:
        for name, floor in audit.strata.items():
            found[np.asarray(log.stratum == name)] = floor
    return found


def days_for(log: DecisionLog, budget: Budget) -> NDArray[np.int64]:
    """Return the day of each decision, by the clock on the wall, for a budget.

    Times that are numbers are seconds since 1970, or whatever ``budget.day`` says a day is. A log without dates has a
    share of every ``budget.window`` decisions in a row instead; acts per day are refused.
    """
    if log.time is not None and log.dated:
        return log.days().astype(np.int64)
    if log.time is not None and budget.per_day is not None:
        times = np.asarray(log.time[:], dtype=np.float64)
        read = dates_in(times)
        if budget.day != DAY or (read is not None and read.ticks == 1.0):
            return np.floor(times / budget.day).astype(np.int64)
    if budget.per_day is not None:
        has = "has no times" if log.time is None else "has times that are numbers, and no dates"
        raise OptionError(
            Message(f"a capacity per day needs to know what a day is, and the log {has}: give a share, ",
                    Remedy("capacity", "5%"))
        )  # fmt: skip
    rank = np.argsort(np.argsort(log.round, kind="stable"), kind="stable")
    return np.asarray(rank // budget.window, dtype=np.int64)


def _best_of_each_day(
    wanted: Floats, log: DecisionLog, days: NDArray[np.int64], budget: Budget, audits: Floats | None
) -> tuple[Floats, Floats]:
    """Return the acts that remain where each day has so many, and what is left for each pass of the day.

    Audits that share the budget have their part first.
    """
    assert log.chance is not None  # or nobody could say which are the best
    positive, negative = changes(log, slice(None))
    saved = -(positive * log.chance + negative * (1.0 - log.chance))
    order = np.lexsort((-saved, wanted == 0.0, days))
    names, starts, counts = np.unique(days[order], return_index=True, return_counts=True)
    room = np.full(len(names), np.inf)
    if budget.share is not None:
        room = np.floor(budget.share * counts + 1e-9)
    if budget.per_day is not None:
        room = np.minimum(room, [budget.most_of(int(day)) for day in names])
    free = room
    if audits is not None:
        even = bool((audits == audits[0]).all())
        mean = audits[0] if even else np.add.reduceat(audits[order], starts) / counts
        free = np.maximum(room - mean * np.maximum(counts - room, 0.0), 0.0)
    asked = wanted[order]
    before = np.cumsum(asked) - asked
    before -= np.repeat(before[starts], counts)
    chosen = np.clip(np.repeat(np.floor(free), counts) - before, 0.0, asked)
    acted = np.add.reduceat(chosen, starts)
    acts, left = np.zeros(len(days)), np.zeros(len(days))
    acts[order] = chosen
    left[order] = np.repeat((room - acted) / np.maximum(counts - acted, 1.0), counts)
    return acts, np.maximum(left, 0.0)
