"""A policy that knows which labels are on their way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Decision
from ..errors import InputError
from ..policies import Player, Policy, Prospect
from ..policies.player import named
from ..posteriors import Arrays
from ..posteriors.pending_labels import Waiting


class Awaiting(Player):
    """Wraps a policy whose labels arrive late, so that it does not pay again for labels on their way.

    A policy by itself knows the labels that it has learnt. Where they arrive 500 items late it meets the same doubt 500
    times and pays for it each time. This one counts a label that was bought as known in its width, though not in its
    value (``posteriors.pending_labels``), from the act until ``learn`` or ``give_up``. With nothing on its way it
    decides exactly as the policy does. Policies on a Gaussian posterior are helped (``voi``, ``ucb``, ``ids``, ``ts``,
    ...); others are passed through. A ``Desk`` takes one in the place of a policy.

    The labels that arrive first may be of another kind than those that wait, and then the model speaks with confidence
    of items that it knows nothing of. So ``voi`` doubts an item that is more like those that wait than like those that
    are known (``strangers``): its chance is partly 1/2, as it was before the first label.

    Examples
    --------
    >>> import appletaste as at
    >>> costs = at.Costs(miss=1, false_alarm=1.2, hit=0)
    >>> policy = at.policy(n_features=2, costs=costs)
    >>> sum(policy.decide([1.0, 0.0]).act for _ in range(300))   # no label has arrived: it asks each time
    300
    >>> patient = at.streams.Awaiting(at.policy(n_features=2, costs=costs))
    >>> sum(patient.decide([1.0, 0.0]).act for _ in range(300)) < 100
    True
    """

    def __init__(self, policy: Policy, strangers: bool = True) -> None:
        if not isinstance(policy, Policy):
            raise InputError(f"Awaiting wraps a policy, as appletaste.policy makes it, got {type(policy).__name__}")
        self._policy, self._strangers = policy, strangers
        self._waiting: Waiting | None = None
        self._expected()

    @property
    def policy(self) -> Policy:
        """The policy by itself."""
        return self._policy

    def _expected(self) -> Waiting | None:
        """Return what is on its way, on top of the belief of now: a correction puts another in its place."""
        belief, waiting = self._policy.learner.belief, self._waiting
        if waiting is not None and waiting.belief is belief:
            return waiting
        self._waiting = waiting = None if belief is None else belief.expecting(waiting)
        if waiting is not None:
            waiting.strangers = self._strangers
        if waiting is not None and waiting.items:
            n_features = self._policy.n_features
            own = np.array([x[:n_features] for x in waiting.items.values()])
            waiting.put(self._policy.learner.widened(own))
        return waiting

    def _add(self, waiting: Waiting, decision: Decision) -> None:
        """Note that the label of a decision is on its way."""
        x = np.asarray(decision.x, dtype=np.float64)
        waiting.add(decision.round, self._policy.learner.widened_one(x))

    def __len__(self) -> int:
        """Return how many labels are on their way."""
        return 0 if self._waiting is None else len(self._waiting)

    def __bool__(self) -> bool:
        return True

    def see(
        self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None, price: float
    ) -> Prospect:
        """Return what is known of an item before it is decided, as if the labels on their way had been seen."""
        policy, waiting = self._policy, self._expected()
        if waiting is None or not waiting.items:
            return policy.see(x, costs, now, stratum, price)
        belief = waiting.belief
        belief.waiting = waiting
        try:
            return policy.see(x, costs, now, stratum, price)
        finally:
            belief.waiting = None

    def play(self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None) -> Decision:
        """Decide on an item that was checked and carry on (``Policy.play``)."""
        policy, waiting = self._policy, self._expected()
        if waiting is None or not waiting.items:
            decision = policy.play(x, costs, now, stratum)
        else:
            if policy.timed:  # V_w is that of the belief as it has faded by now
                policy.advance(now)
            waiting.settle()
            belief = waiting.belief
            belief.waiting = waiting
            try:
                decision = policy.play(x, costs, now, stratum)
            finally:
                belief.waiting = None
        if decision.act and waiting is not None:
            waiting.add(decision.round, policy.learner.widened_one(x))
        return decision

    def play_many(self, items: Sequence[NDArray[np.float64]], costs: Costs) -> list[Decision] | None:
        """Decide on items that were checked and carry on, in one call (``Policy.play_many``).

        On the first alone where nothing is on its way, since an act changes what those behind it are judged by, and
        where V_w is due to be computed afresh.
        """
        policy, waiting = self._policy, self._expected()
        if waiting is None or policy.timed:
            return policy.play_many(items, costs)
        if not (waiting.items and waiting.current):
            return [self.play(items[0], costs, None, None)]
        belief = waiting.belief
        belief.waiting = waiting
        try:
            made = policy.play_many(items, costs)
        finally:
            belief.waiting = None
        for decision in made or ():
            if decision.act:
                waiting.hold(decision.round, policy.learner.widened_one(decision.x))
        return made

    def draw(self, prospect: Prospect) -> Decision:
        """Return the decision on an item that was looked at (``Policy.draw``)."""
        return self._policy.draw(prospect)

    def commit(self, prospect: Prospect, decision: Decision) -> None:
        """Carry on after a decision; after an act its label is on its way."""
        policy, waiting = self._policy, self._expected()
        if waiting is not None and waiting.items:
            if decision.round != policy.round + 1:  # before anything is carried on
                raise policy.not_next(decision)
            if policy.timed:  # V_w is that of the belief as it has faded by now
                policy.advance(prospect.time)
            waiting.settle()
        policy.commit(prospect, decision)
        if decision.act and waiting is not None:
            self._add(waiting, decision)

    def learn(self, decision: Decision, label: int) -> None:
        """Learn a label that has arrived."""
        self._policy.learn(decision, label)
        if self._waiting is not None:
            self._waiting.remove(decision.round)

    def give_up(self, decision: Decision) -> None:
        """Wait no longer for the label of a decision."""
        if self._waiting is not None:
            self._waiting.remove(decision.round)

    def enact(self, decision: Decision, act: bool) -> None:
        """Take note of what was done whatever was decided: its label is on its way, or is not."""
        self._policy.enact(decision, act)
        waiting = self._expected()
        if waiting is None:
            return
        if act:
            self._add(waiting, decision)
        else:
            waiting.remove(decision.round)

    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct or, with None, retract many labels at the price of one; those retracted are waited for again."""
        asked = list(changes)
        self._policy.revise(asked)
        waiting = self._expected()
        for decision, label in asked:
            if label is None and waiting is not None:
                self._add(waiting, decision)

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving."""
        known = {"strangers": True} if self._strangers else {}  # a header of old, which has none, stays as it was
        return {"kind": "awaiting", "policy": self._policy.header(), **known}

    def arrays(self) -> Arrays:
        """Return the policy and what is on its way, for saving."""
        return {**named("policy", self._policy.arrays()), **named("waiting", self._on_their_way())}

    def _on_their_way(self) -> Arrays:
        waiting = self._expected()
        return {} if waiting is None else waiting.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take back what is on its way."""
        if self._waiting is not None and arrays:
            self._waiting.restore(arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Return the policy and what is on its way, for ``copy.deepcopy`` and other processes (as ``Policy`` does)."""
        return {"policy": self._policy, "strangers": self._strangers, "waiting": self._on_their_way()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue from what ``__getstate__`` returned."""
        Awaiting.__init__(self, state["policy"], state["strangers"])
        self.restore(state["waiting"])
