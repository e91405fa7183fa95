"""Bets that the chances of a model are wrong: they win nothing in the long run if the chances are right.

Of a label y that arrives the model says p before the label is learnt. One bet is that the odds are e^2 times those of
p, another that they are e^-2 times those, three more that the model knows nothing and the chance is 1/2, 1/8 or 1/32.
With q the chance so changed, a stake grows by q / p if y = 1 and by (1 - q) / (1 - p) if y = 0. If the p are right the
expected growth is 1, so stakes w_j put down at the j-th label, with sum_j w_j = 1, together exceed 1 / alpha with a
chance of at most alpha, however long the stream goes on (Ville 1939). Here w_j = H / ((j + H - 1) (j + H)), a fifth of
it for each bet. Only the best beginning is followed, which can only be slower: the logarithm of a stake is kept at 0
until it grows, as a cumulative sum does (Page 1954). For bets that notice a change see Shin, Ramdas & Rinaldo (2024),
E-detectors, *New England Journal of Statistics in Data Science*.

Labels that come late are bet on by blocks of items that were decided one after the other, as soon as nearly all labels
of a block are there: which come first says something of what they are. Those still missing count as the worst that they
could be, on average over the others. Late labels of one time are alike, so that a stake grows by the power 0.7 of the
above; the power of a fair bet is no better than fair. They are learnt before they are bet on, since the question is
whether the model of today contradicts them; that makes a bet worth less, never more.

Late labels that come in the order of decisions are bet on as prompt ones are, too: which have come says nothing of what
they are. These are the bets that the model knows nothing alone, in a ``state`` of their own. A level that has moved, as
it does with the seasons, makes them win as well, and mends itself, so that ``outdone`` asks whether labels rank items
the other way.
"""

from __future__ import annotations

import math

from ._jit import Vector, kernel, part
from .logistic import sigmoid

#: More positives than the model says, fewer, and from ``RATE`` on that it knows nothing but a rate.
UP, DOWN, RATE, BETS = 0, 1, 2, 5
RATES = (0.5, 0.125, 0.03125)
# Entries of ``state``: of each bet the logarithm of the stake, the place of the label with which it began, the number
# of that label among those bet on; then how many were bet on, and how many before the last alarm (-1: none yet).
STAKE, PLACE, FIRST, COUNT, ALARM, ENTRIES = 0, BETS, 2 * BETS, 3 * BETS, 3 * BETS + 1, 3 * BETS + 2
#: By how much the log-odds are bet to be off, and H.
SHIFT, HEAD = 2.0, 500.0
#: A chance is kept this far from 0 and 1, so that one label never decides. Beyond, nobody bets that the model is not
#: sure enough: with the chance so kept that bet would win a little with each label of a model that is right.
EDGE = 1e-4
#: How many times as probable labels must be by one rate for all, and by how much stakes fall where they are not.
FAR, LESS = 10.0, 10.0
#: Steps of Newton's method, each of at most 1.
STEPS = 30
#: The share of the rate of false alarms that bets on late labels in their turn have.
IN_ORDER = 0.1

#: The power of bets on late labels, chosen on two hotels (docs/decisions/0021).
ALIKE = 0.7


@part
def grown(one: int, said: float, label: float) -> float:
    """Return the logarithm by which the stake of a bet grows with a label of which the model says a chance."""
    p = min(max(said, EDGE), 1.0 - EDGE)
    if (one != DOWN and said > p) or (one != UP and said < p):
        return 0.0
    odds = math.log(p / (1.0 - p))
    q = RATES[one - RATE] if one >= RATE else sigmoid(odds + SHIFT if one == UP else odds - SHIFT)
    return math.log(q / p) if label > 0.5 else math.log((1.0 - q) / (1.0 - p))


@part
def log_odds_of(mean: float, variance: float) -> float:
    """Return the log-odds of a positive of a score N(mean, variance), by MacKay's formula."""
    return mean / math.sqrt(1.0 + math.pi * variance / 8.0)


@part
def chance_of(mean: float, variance: float, least: float, span: float) -> float:
    """Return the chance of a label of 1, a + b P(positive), of a score N(mean, variance), by MacKay's formula."""
    return float(least + span * sigmoid(log_odds_of(mean, variance)))


@part
def bet_on(said: float, label: float, place: int, power: float, least: int, rate: float, state: Vector) -> int:
    """Place the bets from the least on, on a label; return where labels began to contradict the model, or -1."""
    state[COUNT] += 1.0
    began = -1
    for one in range(least, BETS):
        if state[STAKE + one] <= 0.0:
            state[STAKE + one], state[PLACE + one], state[FIRST + one] = 0.0, place, state[COUNT]
        state[STAKE + one] += power * grown(one, said, label)
        j = state[FIRST + one]
        enough = math.log((BETS - least) / rate * (j + HEAD - 1.0) * (j + HEAD) / HEAD)
        if began < 0 and state[STAKE + one] >= enough:
            began = int(state[PLACE + one])
    return began


@kernel
def bet(
    mean: float, variance: float, least: float, span: float, label: float, place: int, rate: float, state: Vector
) -> int:
    """Bet on a label of which the model says N(mean, variance), and which is learnt at a place.

    Return the place of the label with which the labels began to contradict the model, if that is certain; else -1.
    """
    return bet_on(chance_of(mean, variance, least, span), label, place, 1.0, 0, rate, state)


@kernel
def bet_in_order(mean: float, variance: float, label: float, place: int, rate: float, state: Vector) -> int:
    """Bet that the model knows nothing, on a late label that has come in its turn; return what ``bet`` returns."""
    began = bet_on(chance_of(mean, variance, 0.0, 1.0), label, place, 1.0, RATE, rate, state)
    if began >= 0:
        for one in range(RATE, BETS):
            state[STAKE + one] -= math.log(LESS)
    return began


@kernel
def outdone(means: Vector, variances: Vector, labels: Vector) -> bool:
    """Return whether labels rank items the other way, and one rate says them far better than the model at its best.

    The other way: positives have less log-odds z by the model than negatives, on average. At its best: with one number
    c added, which is fitted to the labels as the rate is, by Newton's method on sum_k y_k - sigma(z_k + c) = 0.
    """
    n = labels.size
    positives = labels.sum()
    if positives <= 0.0 or positives >= n:
        return False
    rate, apart = positives / n, 0.0
    for k in range(n):
        apart += (labels[k] - rate) * log_odds_of(means[k], variances[k])
    if apart >= 0.0:
        return False
    level = 0.0
    for _ in range(STEPS):
        rise = curvature = 0.0
        for k in range(n):
            p = sigmoid(log_odds_of(means[k], variances[k]) + level)
            rise += labels[k] - p
            curvature += p * (1.0 - p)
        level += min(max(rise / max(curvature, EDGE), -1.0), 1.0)
    better = 0.0
    for k in range(n):
        p = min(max(sigmoid(log_odds_of(means[k], variances[k]) + level), EDGE), 1.0 - EDGE)
        better += math.log(rate / p) if labels[k] > 0.5 else math.log((1.0 - rate) / (1.0 - p))
    return better > math.log(FAR)


@kernel
def bet_late(
    means: Vector,
    variances: Vector,
    least: float,
    span: float,
    labels: Vector,
    places: Vector,
    missing: int,
    rate: float,
    state: Vector,
) -> int:
    """Bet on the labels of a block that came late, of which some are missing; return what ``bet`` returns.

    After an alarm the rest of the block is let be.
    """
    n = labels.size
    for k in range(n):
        began = bet_on(chance_of(means[k], variances[k], least, span), labels[k], int(places[k]), ALIKE, 0, rate, state)
        if began >= 0:
            return began
    if missing > 0:
        for one in range(BETS):
            worst = 0.0
            for k in range(n):
                said = chance_of(means[k], variances[k], least, span)
                worst += min(grown(one, said, 0.0), grown(one, said, 1.0))
            state[STAKE + one] += missing * ALIKE * worst / n
    return -1
