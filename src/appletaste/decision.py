"""What was decided, and what was seen because of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._sparse import SparseRows
from .costs import Costs
from .errors import FeedbackError

_NUMBERS = (int, float, np.number, np.bool_)  # bool counts as int


class Decision(NamedTuple):
    """Act or pass, the exact probability it was drawn with, and why.

    ``round`` counts the decisions of one policy from 1 (t in the paper); ``probability`` is that of
    acting, whichever action was drawn (p_t); ``why`` holds the numbers the rule looked at; ``audit`` is true of an
    act that only the audit lane made (``appletaste.Desk``); ``time`` is that of a policy that forgets by the time.
    """

    act: bool
    probability: float
    x: NDArray[np.float64]
    costs: Costs
    round: int
    why: dict[str, float]
    audit: bool = False
    time: float | None = None

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
    whys: tuple[dict[str, float], ...] | None = None  #: where each was judged by itself
    shadow_price: float = 0.0  #: what one more act would save, where a capacity was given
    audits: NDArray[np.bool_] | None = None  #: which acts only the audit lane made, where there is one
    time: float | NDArray[np.float64] | None = None  #: of all or of each, from a policy that forgets by the time

    def __len__(self) -> int:
        return len(self.acts)

    def __getitem__(self, place: int) -> Decision:
        k = range(len(self))[place]
        why = {} if self.whys is None else self.whys[k]
        act, probability = bool(self.acts[k]), float(self.probabilities[k])
        audit = self.audits is not None and bool(self.audits[k])
        round_ = self.first_round + k
        time = float(self.time[k]) if isinstance(self.time, np.ndarray) else self.time
        return Decision(act, probability, self.items[k], self.costs, round_, why, audit, time)

    def __iter__(self) -> Iterator[Decision]:
        return (self[k] for k in range(len(self)))


@dataclass(frozen=True, slots=True)
class Observation:
    """An acted-on item and its label (x_t, C_t); cannot be made from a pass.

    Examples
    --------
    >>> passed = Decision(False, 0.1, np.ones(2), Costs(1, 0.4, 0.05), 1, {})
    >>> Observation(passed, 1)
    Traceback (most recent call last):
    ...
    appletaste.errors.FeedbackError: round 1 was a pass: its label is never seen, so nothing can be learnt from it
    """

    decision: Decision
    label: int

    def __post_init__(self) -> None:
        decision, label = self.decision, self.label
        if not isinstance(decision, Decision):
            raise FeedbackError(f"learn takes the Decision that decide returned, got {type(decision).__name__}")
        if not decision.act:
            raise FeedbackError(
                f"round {decision.round} was a pass: its label is never seen, so nothing can be learnt from it"
            )
        if not isinstance(label, _NUMBERS) or label not in (0, 1):
            raise FeedbackError(f"a label is 0 (negative) or 1 (positive), got {label!r}")

    @property
    def x(self) -> NDArray[np.float64]:
        """The features of the item."""
        return self.decision.x
