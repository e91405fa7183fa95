"""Whether a log can be what it says it is: acts as often as its recorded probabilities of acting say.

Each action is drawn afresh with its probability p, so the sum of A - p over any decisions that are chosen by p alone is
a martingale, also of a policy that learns. With v = sum p (1 - p), Freedman's inequality (1975) has

    P(|sum (A - p)| >= s)  <=  2 exp(-s^2 / (2 v + 2 s / 3)),

whatever the size of the log. Where the bound is below one in a billion, in some band of probabilities, somebody has
logged another number: P(positive), the probability of the action that was taken, or only some of the decisions.
"""

from __future__ import annotations

import math

import numpy as np

from ..logs.decision_log import DecisionLog
from .answers import Refusal, brief
from .pieces import pieces

#: Where one band of probabilities ends and the next begins.
EDGES = np.array([1e-3, 1e-2, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.99, 0.999])
#: The bound below which a log is not believed, in any of its bands.
LEAST = 1e-9
REMEDY = (
    "log every decision, passes too, with the probability of acting that it was drawn with: not P(positive), nor the "
    "probability of the action that was taken"
)


def contradiction(log: DecisionLog) -> Refusal | None:
    """Return why the actions of a log cannot have been drawn with its probabilities; None: they can.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "probability": 0.05}
    >>> rows = [{"id": k, "act": k % 2 == 0, **costs} for k in range(400)]
    >>> print(contradiction(DecisionLog.from_rows(rows)))
    no answer: the log contradicts itself: 200 of 400 decisions with a probability of acting from 0.01 to 0.1 are ...
    """
    count, acts, expected, spread = np.zeros((4, len(EDGES) + 1))
    for some in pieces(len(log)):
        p, act = log.probability[some], log.act[some]
        band = EDGES.searchsorted(p, side="right")
        for total, weights in ((count, None), (acts, act), (expected, p), (spread, p * (1.0 - p))):
            total += np.bincount(band, weights, len(total))
    off = np.abs(acts - expected)
    unlikely = off**2 / np.maximum(2.0 * spread + 2.0 * off / 3.0, 1e-300)
    worst = int(np.argmax(unlikely))
    if unlikely[worst] <= math.log(2.0 * len(count) / LEAST):
        return None
    low, high = np.concatenate([[0.0], EDGES, [1.0]])[worst : worst + 2].tolist()
    return Refusal(
        f"the log contradicts itself: {acts[worst]:,.0f} of {count[worst]:,.0f} decisions with a probability of acting "
        f"from {low:g} to {high:g} are acts, and {brief(expected[worst])} would be expected",
        REMEDY,
    )
