"""What a policy is made of: a way to decide, configured, and a learner, carried (docs/decisions/0003-seams.md)."""

from __future__ import annotations

from typing import Protocol

from ..costs import Costs
from ..decision import Observation
from ..keys import Key
from ..posteriors import Arrays, Vector
from ..rules import Verdict

__all__ = ["Arrays", "Learner", "Method", "Vector", "Verdict"]


class Learner(Protocol):
    """What one policy carries from item to item."""

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x in a round, and why; asking changes nothing that is carried."""

    def commit(self, round_: int, act: bool) -> None:
        """Carry on to the next round, after the one that was judged last and what was done in it."""

    def learn(self, observation: Observation) -> None:
        """Take in one label."""

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""


class Method(Protocol):
    """A way to decide and its settings: a frozen dataclass."""

    def start(self, n_features: int, key: Key) -> Learner:
        """Return the learner before the first item."""
