"""What is known of an item before it is decided: how likely the policy would act, and what a review of it is worth."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs

if TYPE_CHECKING:
    from .policy import Policy


class Prospect(NamedTuple):
    """An item that was looked at, under its own costs and a price on acting."""

    x: NDArray[np.float64]
    costs: Costs  #: without the price
    probability: float  #: with which the policy would act, at this price
    worth: float  #: up to which price acting is worth while: saving now plus value of the label; 0: not known
    chance: float  #: the model's P(positive); NaN: there is no model
    why: dict[str, float]


def look(policy: Policy, x: NDArray[np.float64], costs: Costs, price: float) -> Prospect:
    """Judge an item as if acting cost ``price`` more, and find the price from which on it would not be worth it.

    With mu = P(positive) the saving now is Delta(0) - Delta(1) = catch_gain mu - alarm_price (1 - mu), and a rule that
    knows the value of a label adds it. Rules that do not (Thompson sampling, say) explore by their probability.
    """
    learner, round_ = policy.learner, policy.round + 1
    charged = costs.charged(price)
    probability, why = learner.judge(x, charged, round_)
    chance = why.get("chance_positive", math.nan)
    if math.isnan(chance) and hasattr(learner, "chance"):
        chance = learner.chance(x, charged, round_)
    why = {**why, "chance_positive": chance} if not math.isnan(chance) else dict(why)
    if "value_of_label" in why:
        worth = price + why["value_of_label"] - why["price_of_acting"]
    elif math.isnan(chance):
        worth = 0.0
    else:
        worth = costs.catch_gain * chance - costs.alarm_price * (1.0 - chance)
    return Prospect(x, costs, probability, worth, chance, why)
