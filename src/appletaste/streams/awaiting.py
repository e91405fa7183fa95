"""A policy that knows which labels are on their way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from .._files import open_archive
from ..costs import Costs
from ..decision import Decision
from ..errors import InputError
from ..policies.loading import load, parts_of
from ..policies.moments import glimpse
from ..policies.policy import Policy
from ..policies.prospects import Prospect
from ..policies.saving import FORMAT, save
from ..posteriors import Arrays
from ..posteriors.gaussian import Filter
from ..posteriors.waiting import Outstanding

if TYPE_CHECKING:
    from ..features import FeatureMap


class Awaiting:
    """Wraps a policy whose labels come late, so that it does not pay again for what is on its way.

    A policy by itself knows the labels that it has learnt. Where they come 500 items late it meets the same doubt 500
    times and pays for it each time. This one counts a label that was bought as known in its width, though not in its
    value (``posteriors.outstanding``), from the act until ``learn`` or ``give_up``. With nothing on its way it decides
    exactly as the policy does. Policies on a Gaussian posterior are helped (``voi``, ``ucb``, ``ids``, ``ts``, ...);
    others are passed through. A ``Desk`` takes one in the place of a policy.

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
        if not isinstance(policy, Policy):
            raise InputError(f"Awaiting wraps a policy, as appletaste.policy makes it, got {type(policy).__name__}")
        self.policy = policy
        belief = self._belief()
        self._outstanding = None if belief is None else Outstanding(belief)

    def _belief(self) -> Filter | None:
        """Return the belief of the policy, if it is Gaussian; a correction puts another one in its place."""
        belief = getattr(self.policy.learner, "belief", None)
        return belief if isinstance(belief, Filter) else None

    def __len__(self) -> int:
        """Return how many labels are on their way."""
        return 0 if self._outstanding is None else len(self._outstanding)

    def __bool__(self) -> bool:
        return True

    def decide(self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None) -> Decision:
        """Decide on one item; an act is on its way from here on."""
        belief = self._expecting()
        try:
            decision = self.policy.decide(x, costs, time=time)
        finally:
            if belief is not None:
                belief.outstanding = None
        return self._sent(decision)

    def look(self, x: ArrayLike, costs: Costs | None = None, price: float = 0.0) -> Prospect:
        """Return what is known of an item before it is decided (``Policy.look``)."""
        belief = self._expecting()
        try:
            return self.policy.look(x, costs, price)
        finally:
            if belief is not None:
                belief.outstanding = None

    def settle(self, prospect: Prospect, probability: float, floor: float = 0.0) -> Decision:
        """Decide on the item that was looked at last (``Policy.settle``); an act is on its way from here on."""
        return self._sent(self.policy.settle(prospect, probability, floor))

    def probability(self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None) -> float:
        """Return the probability with which ``decide`` would act on x now, or at a time; asking changes nothing."""
        with glimpse(self.policy, time), self.asking():
            return self.look(x, costs).probability

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Let items be looked at that will not be decided: nothing is changed by that."""
        if self._outstanding is None:
            yield
            return
        with self._outstanding.asking():
            yield

    def _expecting(self) -> Filter | None:
        """Let the belief take account of what is on its way, and return it; None where nothing is."""
        belief = self._belief()
        if belief is None or self._outstanding is None or not len(self._outstanding):
            return None
        self._outstanding.stand_on(belief)
        belief.outstanding = self._outstanding
        return belief

    def _sent(self, decision: Decision) -> Decision:
        if decision.act and self._outstanding is not None:
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

    def correct(self, decision: Decision, label: int) -> None:
        """Replace the label learnt for a decision (``Policy.correct``)."""
        self.policy.correct(decision, label)

    def retract(self, decision: Decision) -> None:
        """Take out the label learnt for a decision, and wait for it again."""
        self.revise([(decision, None)])

    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct or, with None, retract many labels at the price of one; those retracted are waited for again."""
        asked = list(changes)
        self.policy.revise(asked)
        for decision, label in asked:
            if label is None:
                self._sent(decision)

    def arrays(self) -> Arrays:
        """Return what is on its way, for saving."""
        belief = self._belief()
        if self._outstanding is None or belief is None:
            return {}
        self._outstanding.stand_on(belief)  # what was learnt anew since the last decision is not to be missed
        return self._outstanding.arrays()

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        if self._outstanding is not None and arrays:
            self._outstanding.restore(arrays)

    def __getstate__(self) -> dict[str, Any]:
        """Return the policy and what is on its way, for ``copy.deepcopy`` and other processes (as ``Policy`` does)."""
        return {"policy": self.policy, "awaiting": self.arrays()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue from what ``__getstate__`` returned."""
        Awaiting.__init__(self, state["policy"])
        self.restore(state["awaiting"])

    def save(self, path: str | PathLike[str], features: FeatureMap | None = None) -> None:
        """Write the policy and what is on its way to one file; ``Awaiting.load`` continues bit for bit.

        ``appletaste.load`` reads the policy alone from it.
        """
        save(self.policy, path, features, awaiting=self.arrays())

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Awaiting:
        """Read what ``save`` wrote; a policy saved by itself has nothing on its way."""
        awaiting = cls(load(path))
        with open_archive(path, "policy", FORMAT) as (_, state):
            awaiting.restore(parts_of(state)["awaiting"])
        return awaiting
