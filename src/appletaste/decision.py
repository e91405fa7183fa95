"""What was decided, and what was seen because of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._sparse import SparseRows
from .costs import Costs
from .errors import FeedbackError

#: The label of an item whose label is not known.
UNKNOWN = -1
_NUMBERS = (int, float, np.number, np.bool_)  # bool counts as int
#: Makes a named tuple of all its fields without its constructor in Python: 0.1 us less for each of every round.
new_tuple = tuple.__new__


class Decision(NamedTuple):
    """Act or pass, the exact probability it was drawn with, and what was known then.

    ``round`` counts the decisions of one policy from 1 (t in the paper); ``probability`` is that of acting, whichever
    action was drawn (p_t); ``why`` holds the numbers the rule looked at, for people: nothing depends on it.
    """

    act: bool
    probability: float
    x: NDArray[np.float64]
    costs: Costs
    round: int
    why: dict[str, float]
    audit: bool = False  #: acted on by the audit lane alone (``appletaste.Desk``)
    time: float | None = None  #: of a policy that forgets by the time
    chance: float = math.nan  #: the model's P(positive); NaN where nobody asked for it
    worth: float = math.nan  #: up to which price acting pays: saving now plus value of the label; NaN: not known
    price: float = math.nan  #: the shadow price of a review; NaN where there is no budget
    spent: bool = False  #: the budget was used up, so that only an audit could act

    @property
    def propensity(self) -> float:
        """The probability of the action that was taken."""
        return self.probability if self.act else 1.0 - self.probability


@dataclass(frozen=True)
class Decisions:
    """Many decisions, as arrays; each of them by its place, ``decisions[k]``."""

    acts: NDArray[np.bool_]
    probabilities: NDArray[np.float64]
    items: NDArray[np.float64] | SparseRows
    costs: Costs
    first_round: int
    shadow_price: float = 0.0  #: what one more act would save, where a capacity was given
    time: float | None = None  #: of all, from a policy that forgets by the time
    each: tuple[Decision, ...] | None = None  #: where each was judged by itself

    def __len__(self) -> int:
        return len(self.acts)

    def __getitem__(self, place: int) -> Decision:
        k = range(len(self))[place]
        if self.each is not None:
            return self.each[k]
        act, probability = bool(self.acts[k]), float(self.probabilities[k])
        return Decision(act, probability, self.items[k], self.costs, self.first_round + k, {}, False, self.time)

    @classmethod
    def of(cls, made: Sequence[Decision], items: Any, costs: Costs, first: int, shadow_price: float = 0.0) -> Decisions:
        """Return decisions that were made one by one."""
        acts = np.array([decision.act for decision in made], dtype=bool)
        probabilities = np.array([decision.probability for decision in made], dtype=np.float64)
        time = made[0].time if made else None
        return cls(acts, probabilities, items, costs, first, shadow_price, time, tuple(made))

    def __iter__(self) -> Iterator[Decision]:
        return (self[k] for k in range(len(self)))


class Observation(NamedTuple):
    """An item and its label (x_t, C_t): seen by acting (``of``), or known from elsewhere (``given``).

    Examples
    --------
    >>> passed = Decision(False, 0.1, np.ones(2), Costs(1, 0.4, 0.05), 1, {})
    >>> Observation.of(passed, 1)
    Traceback (most recent call last):
    ...
    appletaste.errors.FeedbackError: round 1 was a pass: its label is never seen, so nothing can be learnt from it
    >>> Observation.given(np.ones(2), 1).label
    1
    """

    x: NDArray[np.float64]
    label: int
    round: int  #: of the decision; 0 where there was none
    time: float | None  #: of the decision of a policy that forgets by the time

    @classmethod
    def of(cls, decision: Decision, label: int) -> Observation:
        """Return the label that an act has shown; a pass shows none."""
        if not isinstance(decision, Decision):
            raise FeedbackError(f"learn takes the Decision that decide returned, got {type(decision).__name__}")
        return new_tuple(cls, (decision.x, shown_label(decision, label), decision.round, decision.time))

    @classmethod
    def given(cls, x: NDArray[np.float64], label: int, time: float | None = None) -> Observation:
        """Return a label that is known without an act: from a history, or from another desk."""
        return cls(x, check_label(label), 0, time)


def shown_label(decision: Decision, label: int) -> int:
    """Return the label that a decision has shown as 0 or 1, or say that it is neither, or that a pass shows none."""
    if not decision.act:
        raise FeedbackError(
            f"round {decision.round} was a pass: its label is never seen, so nothing can be learnt from it"
        )
    return label if type(label) is int and (label == 0 or label == 1) else check_label(label)


def check_label(label: int) -> int:
    """Return a label as 0 or 1, or say that it is neither."""
    if not isinstance(label, _NUMBERS) or label not in (0, 1):
        raise FeedbackError(f"a label is 0 (negative) or 1 (positive), got {label!r}")
    return int(label)
