"""The seam between belief and decision.

A posterior is configured once (a frozen dataclass), carried as a ``Belief`` and asked one question: how is the
score z = x'theta of this item distributed? The answer is a ``Score``, and rules see nothing else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import number
from ..costs import Costs
from ..errors import OptionError
from ..keys import Key

if TYPE_CHECKING:
    from .half_life import Clock
    from .label_table import Labels
    from .pending_labels import Waiting
    from .scores import NormalScores

Vector = NDArray[np.float64]
Arrays = dict[str, NDArray[np.generic]]
#: Rounds that no stream has.
FOREVER = 2**62


class Outlook(NamedTuple):
    """What acting and passing are expected to bring: all that rules ask of a score beside its tail."""

    regret_pass: float  #: Delta(0), expected regret of passing
    regret_act: float  #: Delta(1), expected regret of acting
    chance: float  #: P(positive) = E sigma(z)
    slope: float  #: E sigma'(z), how much of a shift of the score the chance feels


class Doubt(NamedTuple):
    """What it takes to ask how an item would look if one coefficient were far larger (``kernels.surprises``)."""

    belief: Vector  #: the Gaussian, in the layout of ``kernels.gaussian``
    awaited: Vector  #: the same with V as it will be once labels on their way are seen
    slab: Vector  #: the prior that it was made with and the wide one, in the layout of ``kernels.surprises``
    share: float  #: pi, the share of coefficients that are believed to be that large


class Link(NamedTuple):
    """The chance that a label is 1, a + b P(positive): reviewers may err (``kernels.reviewed``)."""

    least: float  #: a = 1 - specificity
    span: float  #: b = sensitivity + specificity - 1


#: The link of labels that are true.
TRUE = Link(0.0, 1.0)


def link_of(sensitivity: float, specificity: float) -> Link:
    """Return the link of a desk that calls positives positive, and negatives negative, with these chances.

    Examples
    --------
    >>> link_of(1.0, 1.0), link_of(0.75, 0.5)
    (Link(least=0.0, span=1.0), Link(least=0.5, span=0.25))
    """
    number("sensitivity", sensitivity, above=0.0, most=1.0)
    number("specificity", specificity, above=0.0, most=1.0)
    if not sensitivity + specificity > 1.0:
        raise OptionError(
            f"sensitivity and specificity must add up to more than 1, got {sensitivity:g} and {specificity:g}: such "
            "labels say nothing of an item, or the contrary"
        )
    return Link(1.0 - specificity, sensitivity - (1.0 - specificity))


@dataclass(frozen=True)
class Certificate:
    """How far an approximate belief is from the exact posterior, measured on this very stream.

    ``acceptance`` is the rate at which a Metropolis chain that proposes from the approximation accepts, in
    equilibrium; it is E min(1, w(theta') / w(theta)) with theta ~ posterior, theta' ~ approximation and w the ratio of
    their densities. No probability that the approximation gives is off by more than ``distance``. NaN: not known yet.

    The rate is estimated from a few draws of the approximation, smoothed over renewals. Where the fit is bad the
    estimate is optimistic (0.52 was measured where the truth was 0.38): draws of the approximation seldom visit the
    places that it leaves out, so w is not seen at its largest. A low rate is bad news for sure, and a middling one may
    be worse than it looks.
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

    @property
    def stranger(self) -> float:
        """The share in which the labels that have arrived do not speak for the item (``kernels.strangers``)."""

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

    def doubt(self) -> Doubt | None:
        """Return what it takes to ask for surprises; None: the posterior does not believe in any."""


class Belief(ABC):
    """What is carried from item to item; a new one needs the five abstract methods, and serves every rule.

    The other methods have honest answers: a belief that keeps no labels, forgets nothing, is judged item by item, has
    no certificate and cannot wait for labels. One that can do more says so by overriding them.
    """

    #: By which labels age; None: nothing is forgotten.
    clock: Clock | None = None
    #: Whether theta is known by draws, which ``draws`` returns.
    sampled = False
    #: How often the belief has faded: what was derived from it before is stale.
    fades = 0
    #: The places of an item that hold slots of levels.
    slots: tuple[int, ...] = ()
    #: What a label says of its item.
    link: Link = TRUE
    #: Labels on their way, while a decision is made that takes account of them (``streams.awaiting``).
    waiting: Waiting | None = None

    @abstractmethod
    def score(self, x: Vector, round_: int) -> Score:
        """Return how the score of x is distributed in a round; asking changes nothing that is carried.

        Read the answer before asking again: its points may be the belief's own storage.
        """

    @abstractmethod
    def commit(self, round_: int) -> None:
        """Carry on to the next round."""

    @abstractmethod
    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label; ``moment``, on the clock by which labels age, is when its item came (None: now)."""

    @abstractmethod
    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""

    @property
    def labels(self) -> Labels | None:
        """The labels learnt so far; None: none are kept, so nothing can be corrected."""
        return None

    @property
    def mean(self) -> Vector | None:
        """E theta; None: known by draws alone."""
        return None

    @property
    def covariance(self) -> Vector | None:
        """V = Cov theta; None: there is none, or it is known by draws alone."""
        return None

    def draws(self, round_: int) -> Vector | None:
        """Return the draws of theta of a round, one row each; None: the belief is not made of draws."""
        return None

    def score_many(self, items: Vector) -> NormalScores | None:
        """Return how the scores of many items are distributed, each by itself; None: ask one by one."""
        return None

    def doubt_of_all(self) -> Doubt | None:
        """Return what it takes to ask for surprises in any item; None: there are none, or ask the score of the item."""
        return None

    def certificate(self) -> Certificate | None:
        """Return how far the belief is from the exact posterior; None: nothing to certify."""
        return None

    def expecting(self, before: Waiting | None = None) -> Waiting | None:
        """Return what keeps labels on their way in mind for this belief, going on from before; None: it cannot."""
        return None

    @property
    def timed(self) -> bool:
        """Whether the belief forgets by the time, which it must be told."""
        return self.clock is not None and self.clock.forgetting.timed

    def lasts(self) -> int:
        """Return for how many rounds, from the next one on, the belief stays as it is without labels."""
        return FOREVER if self.clock is None else self.clock.rounds_left() or FOREVER

    def advance(self, now: float) -> None:  # noqa: B027 (nothing is forgotten)
        """Forget up to a moment, if that is due."""

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Temporarily advance to ``now``; restore on exit."""
        yield

    def follow(self, other: Self) -> None:  # noqa: B027 (nothing else is carried)
        """Begin where another belief is, apart from its labels."""

    def label_weights(self) -> Vector:
        """Return how much each label counts."""
        return np.ones(0 if self.labels is None else self.labels.n)

    def relearn(self, changes: Mapping[int, int | None], fresh: Self, items: Vector | None = None) -> Self:
        """Return a fresh belief after the stored labels, with those at some places changed; None: removed.

        They are learnt again in their order, at the price of one pass over all of them. ``items``, where they are
        given, take the place of those that are left: they may be longer.
        """
        if self.labels is None:
            raise OptionError(
                f"{type(self).__name__} keeps no labels: each label was merged into the belief and cannot be "
                "removed again; use a posterior that keeps labels, such as Laplace ('voi')"
            )
        fresh.follow(self)
        stored, labels = self.labels.revised(changes)
        for x, label in zip(stored if items is None else items, labels.tolist(), strict=True):
            fresh.learn(x, int(label))
        return fresh


class Posterior(Protocol):
    """A kind of belief and its settings."""

    def start(self, n_features: int, key: Key) -> Belief:
        """Return the belief before the first label."""
