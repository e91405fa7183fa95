"""What another policy, threshold or cost sheet would have done with each logged item: its probability of acting."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import Decision
from ..errors import InputError
from ..logs.decision_log import DecisionLog
from ..policies import Policy
from .answers import Refusal

Floats = NDArray[np.float64]
#: Items that are read at a time.
BLOCK = 2**16
#: A policy (as it stands), a function x -> P(act), a threshold on ``chance``, or a cost sheet.
Change = Policy | Callable[[Floats], Any] | float | Costs


def acting_probabilities(log: DecisionLog, change: Change, learn: bool) -> Floats | Refusal:
    """Return e, the probability with which the alternative acts on each item, or why that cannot be known."""
    if isinstance(change, Costs):
        return _above(log, change.threshold)
    if isinstance(change, int | float | np.number):
        if not math.isfinite(change) or not 0.0 <= change <= 1.0:
            raise InputError(f"a threshold on the chance is in [0, 1], got {change!r}")
        return _above(log, float(change))
    if not isinstance(change, Policy) and not callable(change):
        raise InputError(
            f"what_if takes a Policy, a function x -> P(act), a threshold or Costs, got {type(change).__name__}"
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


def _above(log: DecisionLog, threshold: float) -> Floats | Refusal:
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
