"""A question to a log: how an alternative would have acted, and the sums over all items that every answer needs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from ..logs.lazy import pieces
from .stand_ins import Floats
from .support import Support

#: A logged chance is not believed closer to 0 or 1 than this when it says where an unseen positive may be.
LEAST_CHANCE = 1e-3
#: Some of the items: a piece of the log, or their places.
Some = slice | NDArray[np.intp]


class Totals(NamedTuple):
    """Sums over all items, with e the probability with which the alternative acts and m the guess of the change."""

    has_guess: bool  #: whether there is a chance for every item that the alternative may act on
    acts: float  #: sum e
    unsupported: float  #: sum e where the log cannot speak
    chosen: float  #: sum e where the log can speak and was not sure to act, and in the next field sum e^2 / (p q)
    squares: float
    least: float  #: the least that acts without support can change, their guess, and the most
    beyond: float
    most: float
    guessed: float  #: sum e m where the log can speak
    negatives: float  #: and what these acts change if all are on negatives


def changes(log: DecisionLog, some: Some) -> tuple[Floats, Floats]:
    """Return what acting on each of some items changes if it is positive, -catch_gain, and if not, alarm_price."""
    return log.hit[some] - log.miss[some], log.false_alarm[some] - log.correct_pass[some]


def changed(log: DecisionLog, rows: NDArray[np.intp]) -> Floats:
    """Return g, what acting changed, at places where the label is known."""
    positive, negative = changes(log, rows)
    return np.where(log.label[rows] == 1, positive, negative)


@dataclass(frozen=True)
class Question:
    """A log, what it can speak about, and the probability with which an alternative acts on each item."""

    log: DecisionLog
    support: Support
    acting: Floats  #: e

    @cached_property
    def totals(self) -> Totals:
        """The sums, in one pass."""
        found, has_guess = np.zeros(9), self.log.chance is not None
        for some in pieces(len(self.log)):
            e, usable, p = self.acting[some], self.support.usable[some], self.log.probability[some]
            apart, supported = np.where(usable, 0.0, e), np.where(usable, e, 0.0)
            unsure = np.where(p < 1.0, supported, 0.0)
            seen_with = np.where(unsure > 0, p * self.support.share[some], 1.0)
            ends = changes(self.log, some)
            guess = self.guess(some)
            if self.log.chance is not None:
                has_guess = has_guess and not np.isnan(self.log.chance[some][e > 0]).any()
            found += (
                e.sum(), apart.sum(), unsure.sum(), (unsure**2 / seen_with).sum(),
                (apart * np.minimum(*ends)).sum(), (apart * guess).sum(), (apart * np.maximum(*ends)).sum(),
                (supported * guess).sum(), (supported * ends[1]).sum(),
            )  # fmt: skip
        return Totals(has_guess, *found.tolist())

    @property
    def supported(self) -> float:
        """The expected number of acts on items that the log can speak about."""
        return self.totals.acts - self.totals.unsupported

    @property
    def unsupported_share(self) -> float:
        """Of the alternative's acts, those on items that the log cannot speak about."""
        return self.totals.unsupported / self.totals.acts if self.totals.acts > 0 else 0.0

    @property
    def expected_size(self) -> float:
        """How many labels, equally weighted, those to be expected on the alternative's unsure acts are worth.

        (sum e)^2 / sum e^2 / (p q) over items with p < 1 (Kish 1965): known before any label, so that refusing by it
        chooses no outcome. Infinite where the log was sure to act wherever the alternative does.
        """
        return self.totals.chosen**2 / self.totals.squares if self.totals.squares > 0 else math.inf

    def guess(self, some: Some) -> Floats:
        """Return m, what acting on each of some items is expected to change by the logged chance; 0 without chances."""
        if self.log.chance is None:
            return np.zeros(len(self.acting[some]))
        chance = np.nan_to_num(self.log.chance[some], nan=0.0)
        positive, negative = changes(self.log, some)
        return np.asarray(negative * (1 - chance) + positive * chance)

    def beyond(self) -> tuple[float, float, float]:
        """Return the least, a middling and the most that acts without support can change."""
        found = self.totals
        return found.least, found.beyond if found.has_guess else 0.5 * (found.most + found.least), found.most

    @cached_property
    def open(self) -> NDArray[np.intp]:
        """Where items may be that none of the seen ones stands for: supported, and either action may be taken.

        An item that the alternative passes for sure does not enter the sum, and is none of them.
        """
        return np.flatnonzero(self.support.usable & (self.log.probability < 1) & (self.acting > 0))

    def weigh(self, some: slice, positive: bool) -> Floats:
        """Return how likely each of some open items was to be seen, and to be positive, or negative.

        The chance is the logged one; one half where it is not known for all.
        """
        rows = self.open[some]
        weight = self.support.inclusion[rows]
        if not self.totals.has_guess or self.log.chance is None:
            return np.asarray(0.5 * weight)
        chance = np.clip(self.log.chance[rows], LEAST_CHANCE, 1.0 - LEAST_CHANCE)
        return np.asarray(weight * (chance if positive else 1.0 - chance))
