"""The seam between belief and decision.

A posterior is configured once (a frozen dataclass), carried as a ``Belief`` and asked one question: how is the
score z = x'theta of this item distributed? The answer is a ``Score``, and rules see nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..keys import Key

Vector = NDArray[np.float64]
Arrays = dict[str, NDArray[np.generic]]


class Outlook(NamedTuple):
    """What acting and passing are expected to bring: all that rules ask of a score beside its tail."""

    regret_pass: float  #: Delta(0), expected regret of passing
    regret_act: float  #: Delta(1), expected regret of acting
    chance: float  #: P(positive) = E sigma(z)
    slope: float  #: E sigma'(z), how much of a shift of the score the chance feels


@dataclass(frozen=True)
class Certificate:
    """How far an approximate belief is from the exact posterior, measured on this very stream.

    ``acceptance`` is the rate at which a Metropolis chain that proposes from the approximation accepts, in
    equilibrium; it is E min(1, w(theta') / w(theta)) with theta ~ posterior, theta' ~ approximation and w the ratio of
    their densities. No probability that the approximation gives is off by more than ``distance``. NaN: not known yet.
    """

    acceptance: float
    labels: int  #: how many labels it was measured with
    n_features: int

    @property
    def distance(self) -> float:
        """A bound on the total variation distance, 1 - acceptance."""
        return 1.0 - self.acceptance

    @property
    def per_feature(self) -> float:
        """The acceptance rate that one feature's share of the misfit would have by itself.

        A decision looks at one direction of theta only, while ``acceptance`` falls with the number of features even
        if each fits well. With log w ~ N(., s^2) the rate is 2 Phi(-s / 2), and s^2 is d times one feature's share.
        """
        if not 0.0 < self.acceptance < 1.0:
            return self.acceptance
        law = NormalDist()
        return 2.0 * law.cdf(law.inv_cdf(0.5 * self.acceptance) / math.sqrt(self.n_features))


class Score(Protocol):
    """The distribution of one item's score z = x'theta."""

    @property
    def mean(self) -> float:
        """E z."""

    @property
    def variance(self) -> float:
        """Var z = x'Vx."""

    def above(self, cut: float) -> float:
        """Return P(z >= cut)."""

    def expect(self, function: Callable[[Vector], Vector]) -> float:
        """Return E f(z)."""

    def outlook(self, costs: Costs) -> Outlook:
        """Return the expected regrets under these costs, the chance of a positive and the mean slope."""

    def information(self) -> float:
        """Return I(theta; label), in nats."""

    def direction(self) -> Vector:
        """Return V x = Cov(theta, z): where theta moves when the score does. Copy it to keep it."""


class Belief(Protocol):
    """What is carried from item to item."""

    def score(self, x: Vector, round_: int) -> Score:
        """Return how the score of x is distributed in a round; asking changes nothing that is carried.

        Read the answer before asking again: its points may be the belief's own storage.
        """

    def commit(self, round_: int) -> None:
        """Carry on to the next round."""

    def learn(self, x: Vector, label: int) -> None:
        """Take in one label."""

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""


class Posterior(Protocol):
    """A kind of belief and its settings."""

    def start(self, n_features: int, key: Key) -> Belief:
        """Return the belief before the first label."""
