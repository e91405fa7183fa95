"""A policy that knows which labels are on their way."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from ..costs import Costs
from ..decision import Decision
from ..posteriors.filter import Filter
from ..posteriors.outstanding import Outstanding
from .base import Policy


class Awaiting:
    """Wraps a policy whose labels come late, so that it does not pay again for what is on its way.

    A policy by itself knows the labels that it has learnt. Where they come 500 items late it meets the same doubt 500
    times and pays for it each time. This one counts a label that was bought as known in its width, though not in its
    value (``posteriors.outstanding``), from the act until ``learn`` or ``give_up``. With nothing on its way it decides
    exactly as the policy does. Policies on a Gaussian posterior are helped (``voi``, ``ucb``, ``ids``, ``ts``, ...);
    others are passed through.

    Examples
    --------
    >>> import appletaste as at
    >>> costs = at.Costs(miss=1, false_alarm=1.2, hit=0)
    >>> policy = at.policy(n_features=2, costs=costs)
    >>> sum(policy.decide([1.0, 0.0]).act for _ in range(300))   # no label has come: it asks each time
    300
    >>> desk = at.Awaiting(at.policy(n_features=2, costs=costs))
    >>> sum(desk.decide([1.0, 0.0]).act for _ in range(300)) < 100
    True
    """

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        belief = getattr(policy.learner, "belief", None)
        self._belief = belief if isinstance(belief, Filter) else None
        self._outstanding = None if self._belief is None else Outstanding(self._belief)

    def decide(self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None) -> Decision:
        """Decide on one item; an act is on its way from here on."""
        if self._belief is None or self._outstanding is None:
            return self.policy.decide(x, costs, time=time)
        self._belief.outstanding = self._outstanding if len(self._outstanding) else None
        try:
            decision = self.policy.decide(x, costs, time=time)
        finally:
            self._belief.outstanding = None
        if decision.act:
            self._outstanding.add(decision.round, decision.x)
        return decision

    def learn(self, decision: Decision, label: int) -> None:
        """Learn a label that has come."""
        self.policy.learn(decision, label)
        self.give_up(decision)

    def give_up(self, decision: Decision) -> None:
        """Wait no longer for the label of a decision."""
        if self._outstanding is not None:
            self._outstanding.remove(decision.round)
