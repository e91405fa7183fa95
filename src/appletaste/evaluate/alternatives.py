"""What another policy, threshold or cost sheet would have done with each logged item: its probability of acting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import number
from ..costs import Costs
from ..costs_by_item import CostsByItem
from ..decision import Decision
from ..errors import InputError
from ..logs.decision_log import DecisionLog
from ..policies import Policy
from .answers import Refusal

Floats = NDArray[np.float64]
#: Items that are read at a time.
BLOCK = 2**16


@dataclass(frozen=True)
class OwnThreshold:
    """Act from so many times the threshold on that the costs of each item imply, alarm_price / (alarm_price + gain)."""

    times: float = 1.0

    def __post_init__(self) -> None:
        number("times", self.times, least=0.0)


@dataclass(frozen=True, eq=False)
class Acting:
    """Act on each decision of a log with a probability that was worked out beforehand."""

    probabilities: Floats


#: A policy (as it stands), a function x -> P(act), a threshold on ``chance`` (one, or of each item), or a cost sheet.
Change = Policy | Callable[[Floats], Any] | float | OwnThreshold | Costs | CostsByItem | Acting


def acting_probabilities(log: DecisionLog, change: Change, learn: bool) -> Floats | Refusal:
    """Return e, the probability with which the alternative acts on each item, or why that cannot be known."""
    if isinstance(change, Acting):
        return change.probabilities
    if isinstance(change, Costs):
        return _above(log, change.threshold)
    if isinstance(change, CostsByItem):
        return _above(log, thresholds_of(log.priced(change)))
    if isinstance(change, OwnThreshold):
        own = thresholds_of(log)
        never = np.isinf(own)  # nothing times infinity is no number
        return _above(log, np.where(never, np.inf, change.times * np.where(never, 1.0, own)))
    if isinstance(change, int | float | np.number):
        if not math.isfinite(change) or not 0.0 <= change <= 1.0:
            raise InputError(f"a threshold on the chance is in [0, 1], got {change!r}")
        return _above(log, float(change))
    if not isinstance(change, Policy) and not callable(change):
        raise InputError(
            "what_if takes a Policy, a function x -> P(act), a threshold, an OwnThreshold, Costs or CostsByItem, got "
            f"{type(change).__name__}"
        )
    if log.x is None:
        return Refusal("the log has no features x, so another policy cannot be asked about its items", "log x")
    if isinstance(change, Policy):
        return _replayed(log, log.x, change, learn)
    try:
        asked = np.array([float(change(x)) for x in log.x])
    except (TypeError, ValueError) as error:
        raise InputError(f"the function must return P(act) for the features of one item: {error}") from error
    if not ((asked >= 0) & (asked <= 1)).all():
        raise InputError(
            f"the function must return probabilities in [0, 1], got {asked[~((asked >= 0) & (asked <= 1))][0]}"
        )
    return asked


def thresholds_of(log: DecisionLog) -> Floats:
    """Return the chance from which on acting pays on each item by its own costs; infinite: never, 0: always.

    Examples
    --------
    >>> rows = [{"id": k, "act": False, "probability": 0.5, "miss": k, "false_alarm": 1, "hit": 1} for k in (1, 5)]
    >>> thresholds_of(DecisionLog.from_rows(rows))
    array([inf, 0.2])
    """
    price, gain = log.alarm_price, log.catch_gain
    weighed = (price > 0) & (gain > 0)
    found = np.divide(price, price + gain, out=np.zeros(len(log)), where=weighed)
    return np.where(weighed, found, np.where((price > 0) | (gain < 0), np.inf, 0.0))


def _above(log: DecisionLog, threshold: float | Floats) -> Floats | Refusal:
    if log.chance is None or np.isnan(log.chance).any():
        return Refusal("the log does not record the model's chance for every item", "log chance, or give a policy")
    return np.asarray(log.chance >= threshold, dtype=np.float64)


def _replayed(log: DecisionLog, items: Floats, policy: Policy, learn: bool) -> Floats:
    """Ask a copy of a policy in the order of the log.

    Frozen (``learn`` false) it is asked as it stands. Learning, it is shown a label only where it acts and the log
    has acted too, so it sees fewer labels than it would have: its cost is that of this slower learner.
    """
    player = policy.copy() if learn else policy  # asking changes nothing
    asked = np.empty(len(log))
    for k, x in _in_order(log, items):
        costs = Costs.of_item(
            *(float(getattr(log, name)[k]) for name in ("miss", "false_alarm", "hit", "correct_pass"))
        )
        if not learn:
            asked[k] = player.probability(x, costs=costs)
            continue
        decision: Decision = player.decide(x, costs=costs)
        asked[k] = decision.probability
        if decision.act and log.act[k] and log.label[k] >= 0:
            player.learn(decision, int(log.label[k]))
    return asked


def _in_order(log: DecisionLog, items: Floats) -> Iterator[tuple[int, Floats]]:
    """Give the items with their places by round, some thousands read at a time."""
    order = np.argsort(log.round, kind="stable")
    for start in range(0, len(order), BLOCK):
        some = order[start : start + BLOCK]
        yield from zip(some.tolist(), items[some], strict=True)
