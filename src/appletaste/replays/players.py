"""Where a policy is dressed for a replay: a review budget or an audit lane goes around it here, and nowhere else.

A wrapper gets the policy and the setting of the pass, and returns a player. Reviewers per day, say, would be
``replay(..., wrap=at_most_120_a_day)`` with ``def at_most_120_a_day(policy, setting): return Limited(policy, ...)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from ..costs import Costs
from ..decision import Decision
from ..policies import Policy
from ..posteriors import Vector
from ..streams import Awaiting


@dataclass(frozen=True)
class Setting:
    """What a wrapper may know of the pass it is in."""

    items: int  #: how many will come
    costs: Costs
    late: bool  #: whether labels come late
    timed: bool  #: whether ``time`` is that of a column, rather than the number of the item
    seed: int


class Player(Protocol):
    """What plays a stream: decides at a time, and is told labels when they are due."""

    def decide(self, x: Vector, time: float) -> Decision:
        """Decide on the item that arrives at a time."""

    def learn(self, decision: Decision, label: int) -> None:
        """Learn a label; called once for each decision whose label became due."""


#: Makes a player of a policy. It travels to workers, so it must be a function of a module or a dataclass.
Wrapper: TypeAlias = Callable[[Policy, Setting], Player]


class Clockless:
    """A policy as it is: it does not look at the clock."""

    __slots__ = ("_decide", "learn")

    def __init__(self, policy: Policy | Awaiting) -> None:
        self._decide, self.learn = policy.decide, policy.learn

    def decide(self, x: Vector, time: float) -> Decision:
        """Decide on the item."""
        return self._decide(x)


class Clocked:
    """A policy that forgets by the time, and is told it."""

    __slots__ = ("_decide", "learn")

    def __init__(self, policy: Policy | Awaiting) -> None:
        self._decide, self.learn = policy.decide, policy.learn

    def decide(self, x: Vector, time: float) -> Decision:
        """Decide on the item that arrives at a time."""
        return self._decide(x, time=time)


def bare(policy: Policy, setting: Setting) -> Player:
    """Return the policy as it is."""
    return Clocked(policy) if policy.timed else Clockless(policy)


def awaiting(policy: Policy, setting: Setting) -> Player:
    """Return the policy with its labels on their way kept in mind, where they come late."""
    player = Awaiting(policy) if setting.late else policy
    return Clocked(player) if policy.timed else Clockless(player)
