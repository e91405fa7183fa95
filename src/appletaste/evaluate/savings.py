"""What another policy saves against what was done, where some labels of what was done are still out.

With A acted, L labelled (probability q), p and e the probabilities of the log and of the alternative, g what acting
changes and m its guess, the saving is sum A g - sum e g. Both sums are estimated from the same labels, and the error of
their difference falls into two martingales that are not correlated,

    sum A (g - v) (L / q - 1)   and   - sum e (g - m) (A / p - 1),        v = e (g - m) / p:

what is not known because labels are out, and because actions were drawn. Their cumulants are estimated from what was
seen (``weighting``); the second is summed with weights 1 / q. Once all labels are in, the first is nothing, what was
done is known, and the interval is that of the alternative's cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .answers import Answer, Estimate, Refusal
from .exports import relative_cost
from .log import DecisionLog
from .support import Support
from .weighting import Cumulants, Floats, Open, cornish_fisher, weighted_sum


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

    def beyond(self) -> tuple[float, float, float]:
        """Return the least, a middling and the most that acts without support can change."""
        apart, guess = self.acting - self.supported, self.guess
        least = float((apart * np.minimum(self.log.alarm_price, -self.log.catch_gain)).sum())
        most = float((apart * np.maximum(self.log.alarm_price, -self.log.catch_gain)).sum())
        return least, 0.5 * (most + least) if guess is None else float((apart * guess).sum()), most

    def open(self, guess: Floats) -> Open:
        """Return the supported items that might have been passed."""
        might = self.support.usable & (self.log.probability < 1)
        inclusion, band = self.support.inclusion[might], self.support.band[might]
        return Open(-self.log.catch_gain[might], self.acting[might], inclusion, guess[might], band)


def saving_of(question: Question, best: Answer, logged: Answer, doubly_robust: bool, level: float) -> Answer:
    """Return what the alternative saves, logged - alternative, with an interval that knows which labels are out."""
    if isinstance(best, Refusal) or isinstance(logged, Refusal):
        return best if isinstance(best, Refusal) else logged
    log, support = question.log, question.support
    found = question.guess if doubly_robust else None
    guess = np.zeros(len(log)) if found is None else found
    least, middle, most = question.beyond()
    if not question.acting.any():  # it passes everything: what is saved is what was done
        return Estimate(logged.value, logged.low, logged.high, level, logged.assumes)
    known = log.labelled & (support.share > 0)
    p, q, gain = log.probability[known], support.share[known], relative_cost(log)[known]
    rest = question.supported[known] * (gain - guess[known])
    usable = support.usable[known]  # elsewhere ``rest`` is 0, and p may be next to nothing
    out, drawn = weighted_sum(gain - rest / p, q), _drawn(rest[usable], p[usable], 1.0 / q[usable])
    open_ = question.open(guess)
    more = open_.halves(open_.acting * (open_.gain - open_.guess))
    value = logged.value - best.value + middle
    low, high = cornish_fisher(
        value - more[0], out[1] + drawn[1] + more[1], out[2] - drawn[2] - more[2], level
    )  # the alternative's cost is taken away, and its odd cumulants with it
    return Estimate(value - middle, low - most, high - least, level, best.assumes)


def _drawn(values: Floats, inclusion: Floats, weights: Floats) -> Cumulants:
    """Return the cumulants of ``weighted_sum`` with each item standing for ``weights`` of its kind."""
    w = (1.0 - inclusion) / inclusion
    spread = weights * w * (1.0 + w)
    return 0.0, float((values**2 * spread).sum()), float((values**3 * spread * (1.0 + 2.0 * w)).sum())
