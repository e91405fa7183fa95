"""Reviewers and audits in words, ``120/day`` and ``2%``, and the policy seated among them.

A wrapper of a replay gets the policy and the setting of the pass, and returns a player. A rule of one's own would be
``replay(..., wrap=with_my_rule)`` with ``def with_my_rule(policy, setting): return MyDesk(policy, ...)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from ..costs import Costs
from ..errors import Message, OptionError, Remedy
from ..policies import Player, Policy
from ..times import DAY
from .audit import AUTO, Audit
from .awaiting import Awaiting
from .budget import NAMES, Budget, Calendar
from .desk import Desk


@dataclass(frozen=True)
class Setting:
    """What a wrapper may know of the pass it is in."""

    items: int  #: how many will come
    costs: Costs
    late: bool  #: whether labels arrive late
    timed: bool  #: whether items have a time, that of a column
    day: float | None  #: how long a day is on that clock; None: it holds numbers, and nobody has said what they count
    seed: int


#: Makes a player of a policy. It travels to workers, so it must be a function of a module or a dataclass.
Wrapper: TypeAlias = Callable[[Policy, Setting], Player]


def bare(policy: Policy, setting: Setting) -> Player:
    """Return the policy as it is."""
    return policy


def awaiting(policy: Policy, setting: Setting) -> Player:
    """Return the policy with its labels on their way kept in mind, where they arrive late."""
    return seat(policy, None, setting.late)


#: ``"5%"`` or 0.05; a capacity also ``"120/day"`` or ``"Mon-Fri 120, Sat 40"``.
Share: TypeAlias = str | float


@dataclass(frozen=True)
class Staffing:
    """Put each policy at a desk with a budget, an audit lane or both (docs/streams.md).

    Where labels arrive late, those on their way are kept in mind (``Awaiting``): with 500 items of delay and a capacity
    of 20 % that took 5 to 11 % off the cost of ``voi`` on three made streams, with 5 % about 1 %.

    Examples
    --------
    >>> Staffing.of("5%", "2%").budget.share, Staffing.of("120/day", None).budget.per_day
    (0.05, 120)
    >>> Staffing.of("Mon-Fri 120, Sat 40", None, "Europe/Berlin").budget.per_day.acts
    (120, 120, 120, 120, 120, 40, 0)
    """

    budget: Budget | None = None
    audit: Audit | None = None

    @staticmethod
    def of(capacity: Share | None, audit: Share | None, time_zone: str | None = None) -> Staffing | None:
        """Return the staffing from text; None if there is none.

        A capacity such as ``120/day``, ``5%`` or ``Mon-Fri 120, Sat 40``, with the zone whose days are meant; audits
        such as ``2%``, ``auto`` (as many as pay, 1 % at most) or ``0``. A number is a share.
        """
        capacity, audit = _text(capacity, "capacity"), _text(audit, "audit")
        if time_zone is not None and (capacity is None or capacity.endswith("%")):
            told = " says when a day begins, for a capacity such as 120/day or Mon-Fri 120, Sat 40: give one with "
            raise OptionError(Message(Remedy("time_zone"), told, Remedy("capacity")))
        lane = None if audit is None else Audit.of(audit)
        if capacity is None and lane is None:
            return None
        return Staffing(None if capacity is None else Budget.of(capacity, time_zone), lane)

    def check(self, timed: bool, day: float | None = DAY, dated: bool = True) -> None:
        """Refuse a capacity per day of no acts, where items have no time, or where nobody knows what a day is."""
        if self.budget is None or self.budget.per_day is None:
            return
        if not any(map(self.budget.most_of, range(7))):
            told = " allows no act on any day: there is nothing to play, and nothing is ever learnt. Give 1/day or more"
            raise OptionError(Message(Remedy("capacity", capacity_text(self.budget)), told))
        if not timed:
            told = "a capacity per day needs the time of every item: name the time column with "
            raise OptionError(Message(told, Remedy("time")))
        if day is None:
            told = (
                "a capacity per day needs to know what a day is, and the column of times holds numbers that are no "
                "dates. Give dates, or seconds since 1970; or say what one unit is, day, hour, minute, s or ms, with "
            )
            raise OptionError(Message(told, Remedy("time_unit")))
        if isinstance(self.budget.per_day, Calendar) and not dated:
            raise OptionError(
                "a capacity by weekday or in a time zone needs dates, and the column of times holds other numbers: "
                "give dates, or seconds since 1970"
            )

    def __call__(self, policy: Policy, setting: Setting) -> Player:
        """Return the policy at its desk."""
        self.check(setting.timed, setting.day)
        return seat(policy, replace(self, budget=self.budget_of(setting.day)), setting.late)

    def budget_of(self, day: float | None) -> Budget | None:
        """Return the budget on a clock whose day is so long; a calendar knows its own days."""
        if self.budget is None or isinstance(self.budget.per_day, Calendar):
            return self.budget
        return replace(self.budget, day=day or DAY)


def seat(policy: Policy, staffing: Staffing | None, late: bool = True) -> Player:
    """Return a policy at work: its labels on their way kept in mind if they arrive late, at a desk if there is one.

    The one place that puts anything around a policy: a replay, a stream and a service ask here.
    """
    player: Player = Awaiting(policy) if late else policy
    if staffing is None or staffing == Staffing():
        return player
    return Desk(player, staffing.budget, staffing.audit)


def lane_of(audit: Share | Audit | None) -> Audit | None:
    """Return an audit lane from ``2%``, ``auto``, a number or a lane; 0 and None are none.

    Examples
    --------
    >>> lane_of(0.02) == lane_of("2%") == Audit(rate=0.02), lane_of(0), lane_of(None)
    (True, None, None)
    """
    if audit is None or isinstance(audit, Audit):
        return audit
    return Audit.of(_text(audit, "audit") or "0")


def staffing_of(budget: dict[str, Any] | None, audit: dict[str, Any] | None) -> tuple[Budget | None, Audit | None]:
    """Return a budget and a lane from their settings."""
    return (
        None if budget is None else Budget.from_settings(budget),
        None if audit is None else Audit.from_settings(audit),
    )


def capacity_text(budget: Budget | None) -> str | None:
    """Return a budget as ``Staffing.of`` reads it, which knows no budget with two caps; None: there is none.

    Examples
    --------
    >>> capacity_text(Budget(share=0.05)), capacity_text(Budget(per_day=120)), capacity_text(None)
    ('5%', '120/day', None)
    >>> capacity_text(Budget(per_day=Calendar.of("Mon-Fri 120, Sat 40")))
    'Mon 120, Tue 120, Wed 120, Thu 120, Fri 120, Sat 40, Sun 0'
    >>> capacity_text(Budget(per_day=120, share=0.05))
    '120/day and 5%'
    """
    if budget is None:
        return None
    caps = [] if budget.per_day is None else [_of_days(budget.per_day)]
    return " and ".join(caps + ([] if budget.share is None else [_per_cent(budget.share)]))


def _of_days(most: int | Calendar) -> str:
    if not isinstance(most, Calendar):
        return f"{most}/day"
    same = len(set(most.acts)) == 1
    return f"{most.acts[0]}/day" if same else ", ".join(f"{day} {n}" for day, n in zip(NAMES, most.acts, strict=True))


def audit_text(audit: Audit | None) -> str | None:
    """Return the share of passes that a lane audits, as ``Staffing.of`` reads it; None: there is no lane.

    Examples
    --------
    >>> audit_text(Audit(rate=0.02)), audit_text(Audit(floor=0.125)), audit_text(Audit.of("auto")), audit_text(None)
    ('2%', '12.5%', 'auto', None)
    """
    if audit is None:
        return None
    return AUTO if audit == Audit.of(AUTO) else _per_cent(max(audit.rate, audit.floor))


def _per_cent(share: float) -> str:
    return f"{100.0 * share:.10g}%"


def check_forgetting(label: str, policy: Policy, clock: str | None, day: float | None) -> None:
    """Refuse a policy that forgets by the time where there are no times, or nobody knows what a day is."""
    if policy.timed and clock is None:
        told = f"{label} forgets by time, and there are no times: name the time column with "
        raise OptionError(Message(told, Remedy("time"), ", or give half_life as a number of items"))
    if policy.timed and day is None:
        told = (
            f"{label} forgets by the time, and column {clock!r} holds numbers that are no dates. Say what one unit is, "
            "day, hour, minute, s or ms, with "
        )
        raise OptionError(Message(told, Remedy("time_unit"), ", or give half_life as a number of items"))


def _text(given: Share | None, what: str) -> str | None:
    """Return a share as text, as the command line has it."""
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, bool) or not isinstance(given, int | float | np.number):
        raise OptionError(f"{what} is a share such as '5%' or 0.05, got {given!r}")
    return str(given)
