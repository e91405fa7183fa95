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

import numpy as np

from .answers import Answer, Estimate, Refusal
from .questions import Question, changed
from .stand_ins import DRAWS, generator, interval
from .weighting import Draws, Errors, Seen


def saving_of(question: Question, best: Answer, logged: Answer, doubly_robust: bool, draws: Draws | None) -> Answer:
    """Return what the alternative saves, logged - alternative, with an interval that knows which labels are missing."""
    if isinstance(best, Refusal) or isinstance(logged, Refusal):
        return best if isinstance(best, Refusal) else logged
    log, support, value, level = question.log, question.support, logged.value - best.value, best.level
    if draws is None:  # it passes everything: what is saved is what was done
        return Estimate(logged.value, logged.low, logged.high, level, logged.assumes)
    known, q = support.arrival.known, support.arrival.seen
    if (q == 1.0).all():
        return Estimate(value, logged.value - best.high, logged.value - best.low, level, best.assumes)
    p, gain, usable = log.probability[known], changed(log, known), support.usable[known]
    guess = question.guess(known) if doubly_robust else np.zeros(len(known))
    off, acting = gain - guess, np.where(usable, question.acting[known], 0.0)
    out = gain - acting * off / p  # where the log cannot speak ``acting`` is 0, and p may be next to nothing
    spread = float(np.sqrt((out**2 * (1.0 - q) / q**2).sum()))
    drawn = Seen(gain[usable], (acting / np.sqrt(q))[usable], p[usable], guess[usable], 0.0 * p[usable])
    waiting = float(np.hypot(spread, support.arrival.sway(out))) * generator("labels out").standard_normal(DRAWS)
    errors = Errors(drawn, draws).draws(off[usable], None if doubly_robust else 0.0)
    low, high = interval(waiting - errors, level)
    least, middle, most = question.beyond()
    return Estimate(value, value + middle + low - most, value + middle + high - least, level, best.assumes)
