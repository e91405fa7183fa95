"""What a policy is made of: a way to decide, configured, and a learner, carried (docs/decisions/0003-seams.md)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Observation
from ..errors import OptionError
from ..kernels._jit import Word
from ..keys import Key
from ..posteriors import Arrays, Belief, Certificate, Vector
from ..rules import Verdict

__all__ = ["Added", "Arrays", "Learner", "Method", "Vector", "Verdict"]


class Added(NamedTuple):
    """Features that a learner has added behind those of an item, which belong together."""

    places: NDArray[np.intp]  #: in the items that the posterior takes
    made_of: tuple[int, ...] = ()  #: of each column that they are made of, one place in the items as they are given
    name: str = ""  #: where they are made of all columns


class Learner(ABC):
    """What one policy carries from item to item; a new one needs the five abstract methods.

    The other methods have honest answers: a learner without a posterior, that keeps no labels, forgets nothing and
    judges item by item. One that can do more says so by overriding them.
    """

    #: Whether labels are kept, so that they can be corrected.
    keeps_labels = False
    #: Whether it forgets by the time, which it must be told.
    timed = False
    #: The places of an item that hold slots of levels.
    slots: tuple[int, ...] = ()
    #: The posterior; None: there is none to look at.
    belief: Belief | None = None

    @abstractmethod
    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x in a round, and why; asking changes nothing that is carried."""

    @abstractmethod
    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on to the next round, after the item of a verdict and what was done with it."""

    @abstractmethod
    def learn(self, observation: Observation) -> None:
        """Learn one label."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""

    def judge_many(self, items: Vector, costs: Costs, first_round: int, key: Word) -> Vector | None:
        """Return the probability of acting on each item in turn and carry on; None: judge one by one."""
        return None

    def play_many(self, items: Sequence[Vector], costs: Costs, first_round: int, key: Word) -> list[Verdict] | None:
        """Judge items in turn and carry on, each action drawn from ``uniform_at(key, round)``.

        To the bit as one by one, and with all that ``judge`` tells but for the memo. None: judge one by one; nothing
        was carried on.
        """
        return None

    def widened(self, items: Vector) -> Vector:
        """Return items, one row each, as the posterior takes them: some learners add features to them."""
        return items

    def widened_one(self, x: Vector) -> Vector:
        """Return one item as the posterior takes it."""
        return x

    def added(self) -> tuple[Added, ...]:
        """Return what features are added to items."""
        return ()

    def chance(self, x: Vector, costs: Costs, round_: int) -> float:
        """Return P(positive) of an item; NaN: there is no model."""
        return math.nan

    def certificate(self) -> Certificate | None:
        """Return how far an approximate posterior is from the exact one; None: nothing to certify."""
        return None

    def item(self, place: int) -> Vector | None:
        """Return the item of the label learnt at a place in the order of learning; None: not kept."""
        return None

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Carry what the labels give with those at some places changed; None: removed."""
        raise OptionError(f"{type(self).__name__} keeps no labels, so a label it has learnt cannot be changed")

    def advance(self, now: float) -> None:  # noqa: B027 (nothing is forgotten)
        """Forget up to a time."""

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Temporarily advance to ``now``; restore on exit."""
        yield


class Method(Protocol):
    """A way to decide and its settings: a frozen dataclass."""

    def start(self, n_features: int, key: Key) -> Learner:
        """Return the learner before the first item."""
