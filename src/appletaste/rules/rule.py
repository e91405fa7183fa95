"""The seam between belief and action: a rule turns the score of an item, with the costs, into a probability."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..kernels._jit import Word
from ..kernels.random import uniform_at, uniforms_at
from ..posteriors import Arrays, Belief, NormalScores, Score, Vector


def drawn(key: Word, round_: int, probability: float) -> bool:
    """Return whether the item of a round is acted on: every action is drawn here, or by ``kernels.random.drawn``.

    It is a function of the key, the round and the probability: the one uniform of the round is below the probability.

    Examples
    --------
    >>> from appletaste import Key
    >>> [drawn(Key(7).word(), 12, probability) for probability in (0.0, 1.0)]
    [False, True]
    """
    return bool(uniform_at(key, round_) < probability)


def drawn_many(key: Word, first_round: int, probabilities: Sequence[float] | Vector) -> NDArray[np.bool_]:
    """Return ``drawn`` for items of consecutive rounds."""
    return np.asarray(uniforms_at(key, first_round, len(probabilities)) < np.asarray(probabilities))


class Verdict(NamedTuple):
    """What a rule or a policy of one's own thinks of one item: a value that ``commit`` takes back.

    Several items may be judged before any of them is committed; each verdict is about its own item.
    """

    probability: float  #: of acting
    why: dict[str, float]  #: the numbers behind it, for people: nothing depends on them
    chance: float = math.nan  #: P(positive), where it was found on the way
    worth: float = math.nan  #: what acting saves now plus the value of the label, where the rule knows that
    memo: Any = None  #: what the judge wants to have back if this item is decided


class Judge(Protocol):
    """A rule at work, with what it remembers of the items it has seen."""

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the probability of acting and why; asking changes nothing that is remembered."""

    def commit(self, verdict: Verdict, act: bool) -> None:
        """Remember the item of a verdict, and what was done."""

    def judge_many(self, scores: NormalScores, costs: Costs, items: Vector, first_round: int, key: Word) -> Vector:
        """Return the probability of acting on each item, and remember them all, as if they came one by one.

        Actions are those of ``drawn``, for a memory that depends on them.
        """

    def play_many(
        self, belief: Belief, costs: Costs, items: Sequence[Vector], first_round: int, key: Word
    ) -> list[Verdict] | None:
        """Judge items in turn and remember them all, to the bit as if they came one by one.

        Each act counts as awaited for the items behind it, where labels on their way are kept in mind
        (``belief.waiting``); whoever asks must hold the items themselves. None: judge one by one; nothing was
        remembered.
        """

    def moved(self, places: NDArray[np.intp]) -> Judge:
        """Return the rule at work on items whose features are elsewhere: where each one was before; -1: it is new."""

    def arrays(self) -> Arrays:
        """Return all that is remembered, for saving."""

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""


class Rule(Protocol):
    """A way to decide: configured, a frozen dataclass."""

    def start(self, n_features: int) -> Judge:
        """Return the rule at work, before the first item."""


class Memoryless(ABC):
    """A rule that remembers nothing: it is its own judge."""

    def start(self, n_features: int) -> Self:
        """Return the rule at work: itself."""
        return self

    @abstractmethod
    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the probability of acting and why."""

    def judge_many(self, scores: NormalScores, costs: Costs, items: Vector, first_round: int, key: Word) -> Vector:
        """Return the probability of acting on each item."""
        return np.array([self.judge(scores[k], costs, x, first_round + k).probability for k, x in enumerate(items)])

    def play_many(
        self, belief: Belief, costs: Costs, items: Sequence[Vector], first_round: int, key: Word
    ) -> list[Verdict] | None:
        """Return that items are judged one by one."""
        return None

    def commit(self, verdict: Verdict, act: bool) -> None:  # noqa: B027 (empty is what it should be)
        """Remember nothing."""

    def moved(self, places: NDArray[np.intp]) -> Self:
        """Return the rule itself."""
        return self

    def arrays(self) -> Arrays:
        """Return nothing."""
        return {}

    def restore(self, arrays: Arrays) -> None:  # noqa: B027
        """Take back nothing."""
