"""Bets that the chances of a model are wrong: they win nothing in the long run if the chances are right.

Of a label y that arrives the model says p before the label is learnt. One bet is that the odds are e^2 times those of
p, another that they are e^-2 times those, a third that they are even. With q the chance so changed, a stake grows by
q / p if y = 1 and by (1 - q) / (1 - p) if y = 0. If the p are right the expected growth is 1, so stakes w_j put down at
the j-th label, with sum_j w_j = 1, together exceed 1 / alpha with a chance of at most alpha, however long the stream
goes on (Ville 1939). Here w_j = H / ((j + H - 1) (j + H)), a third of it for each bet. Only the best beginning is
followed, which can only be slower: the logarithm of a stake is kept at 0 until it grows, as a cumulative sum does (Page
1954). For bets that notice a change see Shin, Ramdas & Rinaldo (2024), E-detectors, *New England Journal of Statistics
in Data Science*.
"""

from __future__ import annotations

import math

from ._jit import Vector, kernel
from .logistic import sigmoid

#: More positives than the model says, fewer, and that it knows nothing.
UP, DOWN, EVEN, BETS = range(4)
# Entries of ``state``: of each bet the logarithm of the stake, the place of the label with which it began, the number
# of that label among those bet on; then how many were bet on, and how many before the last alarm (-1: none yet).
STAKE, PLACE, FIRST, COUNT, ALARM, ENTRIES = 0, BETS, 2 * BETS, 3 * BETS, 3 * BETS + 1, 3 * BETS + 2
#: By how much the log-odds are bet to be off, and H.
SHIFT, HEAD = 2.0, 500.0
#: A chance is kept this far from 0 and 1, so that one label never decides. Beyond, nobody bets that the model is not
#: sure enough: with the chance so kept that bet would win a little with each label of a model that is right.
EDGE = 1e-4


@kernel
def bet(mean: float, variance: float, label: float, place: int, rate: float, state: Vector) -> int:
    """Bet on a label of which the model says N(mean, variance), by MacKay's formula, and which is learnt at a place.

    Return the place of the label with which the labels began to contradict the model, if that is certain; else -1.
    """
    said = sigmoid(mean / math.sqrt(1.0 + math.pi * variance / 8.0))
    p = min(max(said, EDGE), 1.0 - EDGE)
    odds = math.log(p / (1.0 - p))
    state[COUNT] += 1.0
    for one in range(BETS):
        if (one == UP and said > p) or (one == DOWN and said < p):
            continue
        q = sigmoid(odds + SHIFT if one == UP else odds - SHIFT if one == DOWN else 0.0)
        if state[STAKE + one] <= 0.0:
            state[STAKE + one], state[PLACE + one], state[FIRST + one] = 0.0, place, state[COUNT]
        state[STAKE + one] += math.log(q / p) if label > 0.5 else math.log((1.0 - q) / (1.0 - p))
        j = state[FIRST + one]
        if state[STAKE + one] >= math.log(BETS / rate * (j + HEAD - 1.0) * (j + HEAD) / HEAD):
            for other in range(BETS):
                state[STAKE + other] = 0.0
            return int(state[PLACE + one])
    return -1
