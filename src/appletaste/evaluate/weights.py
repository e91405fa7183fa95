"""The cost of another policy relative to passing, by weighting what was seen: IPS, SNIPS and doubly robust.

Acting on item t changes the cost of the stream by g_t: ``alarm_price`` if it is negative, ``-catch_gain`` if it is
positive; passing changes nothing. So sum e_t g_t, what a policy that acts with probabilities e_t costs more than
passing everything, needs the labels of acted items alone. With A_t acted, p_t its probability, and m_t a guess of g_t
made before the action (from the logged chance):

    IPS    sum A e g / p
    SNIPS  (sum e) (sum A e g / p) / (sum A e / p)
    DR     sum e m + sum A e (g - m) / p

The errors of IPS and DR are martingales, sum e (g - m) (A / p - 1), whatever the guess; that of SNIPS is one to first
order. So a seen item stands for a geometric number of unseen ones (``stand_ins``), and limits are quantiles of the
sum: few items carry much of it, and it is skew. In each band of probabilities one more positive and one more negative
are there with probability one half, as mid-p has it: the positive where the logged chances put it, the negative among
the items that the alternative acts on. References: Horvitz & Thompson 1952; Swaminathan & Joachims 2015; Dudík,
Langford & Li 2011.

What another policy saves against what was done, where some labels of what was done have not arrived.

With A acted, L labelled (probability q), p and e the probabilities of the log and of the alternative, g what acting
changes and m its guess, the saving is sum A g - sum e g. Both sums are estimated from the same labels, and the error of
their difference falls into two martingales that are not correlated,

    sum A (g - v) (L / q - 1)   and   - sum e (g - m) (A / p - 1),        v = e (g - m) / p:

what is not known because labels are missing, and because actions were drawn. The first is taken as normal, with its
variance estimated from what was seen; the second is drawn (``weighting``), each item standing for 1 / q of its kind.
Once all labels have arrived, the first is nothing, what was done is known, and the interval is the alternative's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .answers import Answer, Estimate, Refusal
from .arrival import TOLD
from .questions import Question, changed, changes
from .stand_ins import DRAWS, Floats, counted, generator, interval, one_more


def saving_of(question: Question, best: Answer, logged: Answer, doubly_robust: bool, draws: Draws | None) -> Answer:
    """Return what the alternative saves, logged - alternative, with an interval that knows which labels are missing.

    The low end of a saving is the high end of a cost, and allows for the same (``if_all_negative``).
    """
    if isinstance(best, Refusal) or isinstance(logged, Refusal):
        return best if isinstance(best, Refusal) else logged
    log, support, value, level = question.log, question.support, logged.value - best.value, best.level
    if draws is None:  # it passes everything: what is saved is what was done
        return Estimate(logged.value, logged.low, logged.high, level, logged.assumes)
    known, q = support.arrival.known, support.arrival.seen
    if (q == 1.0).all():
        return Estimate(value, logged.value - best.high, logged.value - best.low, level, best.assumes)
    if support.arrival.difference_error > TOLD:
        out = int((log.act & ~log.labelled).sum())
        return Refusal(
            f"{out:,} labels have not arrived, and the log cannot tell whether positives or negatives are lost",
            "wait for them, find out what became of those acts, or act on more items whose chances differ",
        )
    p, gain, usable = log.probability[known], changed(log, known), support.usable[known]
    acting, negative = np.where(usable, question.acting[known], 0.0), changes(log, known)[1]
    least, middle, most = question.beyond()

    def ends(guess: Floats, way: Guess) -> tuple[float, float]:
        off = gain - guess
        out = gain - acting * off / p  # where the log cannot speak ``acting`` is 0, and p may be next to nothing
        spread = float(np.sqrt((out**2 * (1.0 - q) / q**2).sum()))
        some, still = usable, np.zeros((1, int(usable.sum())))
        drawn = Seen(gain[some], (acting / np.sqrt(q))[some], p[some], guess[some], negative[some], still)
        waiting = float(np.hypot(spread, support.arrival.sway(out))) * generator("labels out").standard_normal(DRAWS)
        return interval(waiting - Errors(drawn, draws).draws(off[usable], way), level)

    guess = question.guess(known) if doubly_robust else np.zeros(len(known))
    low, high = ends(guess, by_chance if doubly_robust else no_guess)
    if doubly_robust and few_positives(question):
        cost = question.totals.negatives + weighted_sum(acting * (gain - negative), p * q) + middle
        low = min(low, logged.value - cost + ends(negative, all_negative)[0] - value)
    return Estimate(value, value + middle + low - most, value + middle + high - least, level, best.assumes)


#: Positives seen among the alternative's unsure acts, below which the end where all are negative is looked at as well.
ENOUGH_POSITIVES = 3
#: Seen items whose stand-ins are drawn; the rest, which carry least of the error, are together as good as normal.
MOST_DRAWN = 1000
ASSUMES = (
    "each action was drawn with its recorded probability; the alternative did not learn from labels of this log "
    "that it would not have seen; labels that have not arrived are missing at random within a block of rounds"
)


@dataclass(frozen=True)
class Seen:
    """The items whose cost is known: what acting on each changes (g), its probabilities, and the alternative's."""

    gain: Floats  #: g
    acting: Floats  #: e
    inclusion: Floats  #: p q
    guess: Floats  #: m, or 0
    negative: Floats  #: g if the item were negative
    sway: Floats  #: what each error of how labels arrive moves 1 / (p q) by: [error, item] (``arrival``)


@dataclass(frozen=True)
class More:
    """One more item for each band, [band, draw]: how many of its kind, and what acting on each would change."""

    count: Floats
    acting: Floats
    gain: Floats
    guess: Floats
    negative: Floats  #: what acting on each would change if it were negative


#: What acting on an item is expected to change, of items that may be there beside the seen ones.
Guess = Callable[[More], Floats | float]


def no_guess(more: More) -> float:
    """Return 0: nothing is expected."""
    return 0.0


def by_chance(more: More) -> Floats:
    """Return the guess by the logged chance."""
    return more.guess


def all_negative(more: More) -> Floats:
    """Return what acting changes if every item is negative."""
    return more.negative


class Draws(NamedTuple):
    """The random numbers behind the errors of one question."""

    units: Floats  #: standard exponentials, [item, draw]
    normal: Floats
    unsure: Floats  #: normal as well, of how labels arrive
    more: tuple[More, More]  #: a positive and a negative that none of the seen items may stand for


class Noise:
    """The random numbers that all questions to one log have in common."""

    def __init__(self, seen: int) -> None:
        self._rng = generator("weighting")
        self._units = self._rng.standard_exponential((min(seen, MOST_DRAWN), DRAWS))
        self._normal, self._unsure = self._rng.standard_normal((2, DRAWS))
        self._state = self._rng.bit_generator.state

    def about(self, question: Question) -> Draws:
        """Return these, and the items that may be there beside those that the seen ones stand for."""
        self._rng.bit_generator.state = self._state  # whatever was asked before
        more = _one_more(question, True, self._rng), _one_more(question, False, self._rng)
        return Draws(self._units, self._normal, self._unsure, more)


def _one_more(question: Question, positive: bool, rng: np.random.Generator) -> More:
    """Return one more positive, or negative, for each band."""
    support, rows = question.support, question.open

    def means(places: NDArray[np.intp]) -> Floats:
        return np.asarray((1.0 - support.inclusion[rows[places]]) / support.inclusion[rows[places]])

    found, count = one_more(lambda some: question.weigh(some, positive), support.band[rows], means, DRAWS, rng)
    like = rows[found]
    gains = changes(question.log, like)
    return More(count, question.acting[like], gains[0 if positive else 1], question.guess(like), gains[1])


class Errors:
    """Draws of the errors of weighted sums over one log, the same ones for every estimate."""

    def __init__(self, seen: Seen, draws: Draws) -> None:
        self._acting, self._sway, self._draws = seen.acting, seen.sway, draws
        means = (1.0 - seen.inclusion) / seen.inclusion
        self._variances = means * (1.0 + means)
        self._drawn = np.sort(np.argsort(-(seen.acting**2) * self._variances, kind="stable")[:MOST_DRAWN])
        self._errors = counted(draws.units, means[self._drawn])
        self._errors -= means[self._drawn][:, None]

    def draws(self, values: Floats, guess: Guess) -> Floats:
        """Return draws of the error of sum e v / p, v = g - guess, with what may not have been stood for."""
        carried = self._acting * values
        total = carried[self._drawn] @ self._errors
        left = np.delete(carried**2 * self._variances, self._drawn).sum()
        total += self._draws.normal * np.sqrt(left) + self._draws.unsure * math.hypot(*(self._sway @ carried).tolist())
        for more in self._draws.more:
            off = more.gain - guess(more)
            total += (more.count * (more.acting * off)).sum(axis=0)
        return np.asarray(total)

    def limits(self, values: Floats, guess: Guess, level: float) -> tuple[float, float]:
        """Return the interval of that error."""
        return interval(self.draws(values, guess), level)


def weighted_sum(values: Floats, inclusion: Floats) -> float:
    """Return the sum of v / p over seen items."""
    return float((values / inclusion).sum())


def ips(seen: Seen, errors: Errors, level: float) -> Estimate:
    """Return the inverse-probability estimate of sum e g."""
    return _around(
        weighted_sum(seen.acting * seen.gain, seen.inclusion), errors.limits(seen.gain, no_guess, level), level
    )


def snips(seen: Seen, errors: Errors, acts: float, level: float) -> Estimate:
    """Return the self-normalised estimate: the mean of g under the alternative, times its number of acts, sum e."""
    weight = weighted_sum(seen.acting, seen.inclusion)
    mean = weighted_sum(seen.acting * seen.gain, seen.inclusion) / weight
    low, high = errors.limits(seen.gain - mean, lambda _: mean, level)
    return _around(acts * mean, (low * acts / weight, high * acts / weight), level)


def doubly_robust(seen: Seen, errors: Errors, guessed: float, level: float) -> Estimate:
    """Return the guess for all items, sum e m, corrected by what was seen; right even if the guess is wrong."""
    off = seen.gain - seen.guess
    value = guessed + weighted_sum(seen.acting * off, seen.inclusion)
    return _around(value, errors.limits(off, by_chance, level), level)


def if_all_negative(seen: Seen, errors: Errors, negatives: float, level: float) -> Estimate:
    """Return the estimate whose guess is that every act is on a negative.

    The number of the alternative's acts is known, but weights of seen negatives treat the number as if it were not: the
    end at which *all* extra acts are negative is then excluded though no positive was seen among them. With this guess
    positives alone are weighted, and that end is the guess itself. Where positives are many, the guess by chance is
    better (``few_positives``).
    """
    off = seen.gain - seen.negative
    value = negatives + weighted_sum(seen.acting * off, seen.inclusion)
    return _around(value, errors.limits(off, all_negative, level), level)


def few_positives(question: Question) -> bool:
    """Return whether few positives were seen among the alternative's acts that the log was not sure to make."""
    log, rows = question.log, question.support.seen_rows
    unsure = (question.acting[rows] > 0.0) & (log.probability[rows] < 1.0)
    return int((log.label[rows][unsure] == 1).sum()) < ENOUGH_POSITIVES


def _around(value: float, limits: tuple[float, float], level: float) -> Estimate:
    return Estimate(value, value + limits[0], value + limits[1], level, ASSUMES)


def effective_sample_size(weights: Floats) -> float:
    """Return (sum w)^2 / sum w^2: as many equally weighted items would be as good (Kish 1965)."""
    squares = float((weights**2).sum())
    return float(weights.sum()) ** 2 / squares if squares > 0 else 0.0
