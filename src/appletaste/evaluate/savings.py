"""What another policy saves against what was done, where some labels of what was done have not arrived.

With A acted, L labelled (probability q), p and e the probabilities of the log and of the alternative, g what acting
changes and m its guess, the saving is sum A g - sum e g. Both sums are estimated from the same labels, and the error of
their difference falls into two martingales that are not correlated,

    sum A (g - v) (L / q - 1)   and   - sum e (g - m) (A / p - 1),        v = e (g - m) / p:

what is not known because labels are missing, and because actions were drawn. The first is taken as normal, with its
variance estimated from what was seen; the second is drawn (``weighting``), each item standing for 1 / q of its kind.
Once all labels have arrived, the first is nothing, what was done is known, and the interval is the alternative's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from .answers import Answer, Estimate, Refusal
from .stand_ins import DRAWS, Floats, generator, interval
from .support import Support
from .weighting import Errors, Open, Seen

#: A logged chance is not believed closer to 0 or 1 than this when it says where an unseen positive may be.
LEAST_CHANCE = 1e-3


@dataclass(frozen=True)
class Question:
    """A log, what it can speak about, and the probability with which an alternative acts on each item."""

    log: DecisionLog
    support: Support
    acting: Floats  #: e

    @property
    def supported(self) -> Floats:
        """The probability of acting, and 0 where the log cannot speak."""
        return np.where(self.support.usable, self.acting, 0.0)

    @property
    def guess(self) -> Floats | None:
        """What acting on each item is expected to change by the logged chance; None where that is not there."""
        log = self.log
        if log.chance is None or np.isnan(log.chance[self.acting > 0]).any():
            return None
        chance = np.where(np.isnan(log.chance), 0.0, log.chance)
        return np.asarray(log.alarm_price * (1 - chance) - log.catch_gain * chance)

    @property
    def sway(self) -> Floats:
        """What a standard error of the slope of arrival moves 1 / (p q) of each seen item by."""
        arrival = self.support.arrival
        return np.asarray(
            arrival.slope_error
            * arrival.tilt
            / (np.maximum(self.log.probability, 1e-300) * np.maximum(arrival.seen, 1e-3) ** 2)
        )

    def beyond(self) -> tuple[float, float, float]:
        """Return the least, a middling and the most that acts without support can change."""
        apart, guess = self.acting - self.supported, self.guess
        least = float((apart * np.minimum(self.log.alarm_price, -self.log.catch_gain)).sum())
        most = float((apart * np.maximum(self.log.alarm_price, -self.log.catch_gain)).sum())
        return least, 0.5 * (most + least) if guess is None else float((apart * guess).sum()), most

    def open(self, guess: Floats) -> Open:
        """Return the supported items that might have been passed."""
        log, might = self.log, self.support.usable & (self.log.probability < 1)
        chance = np.full(len(log), 0.5)
        if self.guess is not None and log.chance is not None:
            chance = np.clip(np.where(np.isnan(log.chance), 0.0, log.chance), LEAST_CHANCE, 1.0 - LEAST_CHANCE)
        return Open(
            -log.catch_gain[might],
            log.alarm_price[might],
            self.acting[might],
            self.support.inclusion[might],
            guess[might],
            chance[might],
            self.support.band[might],
        )


def saving_of(question: Question, best: Answer, logged: Answer, doubly_robust: bool, level: float) -> Answer:
    """Return what the alternative saves, logged - alternative, with an interval that knows which labels are missing."""
    if isinstance(best, Refusal) or isinstance(logged, Refusal):
        return best if isinstance(best, Refusal) else logged
    log, support, value = question.log, question.support, logged.value - best.value
    if not question.acting.any():  # it passes everything: what is saved is what was done
        return Estimate(logged.value, logged.low, logged.high, level, logged.assumes)
    known = log.labelled & (support.share > 0)
    p, q, gain = log.probability[known], support.arrival.seen[known], log.relative_cost[known]
    if (q == 1.0).all():
        return Estimate(value, logged.value - best.high, logged.value - best.low, level, best.assumes)
    found = question.guess if doubly_robust else None
    guess = np.zeros(len(log)) if found is None else found
    off, acting, usable = gain - guess[known], question.supported[known], support.usable[known]
    out = gain - acting * off / p  # where the log cannot speak ``acting`` is 0, and p may be next to nothing
    spread = float(np.sqrt((out**2 * (1.0 - q) / q**2).sum()))
    rest = question.open(guess)
    drawn = Seen(gain[usable], (acting / np.sqrt(q))[usable], p[usable], guess[known][usable], 0.0 * p[usable])
    unsure = question.support.arrival.sway(_spread(known, out, len(log)))
    waiting = float(np.hypot(spread, unsure)) * generator("labels out").standard_normal(DRAWS)
    low, high = interval(waiting - Errors(drawn, rest).draws(off[usable], rest.guess), level)
    least, middle, most = question.beyond()
    return Estimate(value, value + middle + low - most, value + middle + high - least, level, best.assumes)


def _spread(known: NDArray[np.bool_], values: Floats, size: int) -> Floats:
    """Return values at the places of a mask, 0 elsewhere."""
    found = np.zeros(size)
    found[known] = values
    return found
