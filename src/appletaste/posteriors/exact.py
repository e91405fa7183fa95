"""The exact posterior at a cost per round that does not grow with the number of labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .._checks import freeze, whole
from ..errors import OptionError
from ..kernels import metropolis as kernels
from ..kernels._jit import announce_compilation
from ..keys import Key
from .anchors import Anchors
from .base import Arrays, Belief, Score, Vector
from .gibbs import Gibbs, Schedule
from .labels import Labels
from .prior import Gaussian
from .scores.corrected import ExactScore

#: Most Metropolis steps of a round.
MOST_STEPS = 64
#: The chance, by the running acceptance, that all steps of a round are rejected and its draw is the last round's.
STALE = 0.01
#: How much of the running acceptance a round replaces; and one that only tries whether Metropolis steps work again.
MEMORY, PROBE_MEMORY = 0.03, 0.25
#: Below this running acceptance Gibbs sweeps do better, while labels are fewer than 50 times the switch point; with
#: more, only where steps are in full, 64 of which cost as much as 15 sweeps.
COLLAPSED, SWEEPS_AGAIN, PROBE_EVERY = 0.15, 50, 25
#: A label looked at in a factorised step costs as much as this many in a pass over all: 85 ns, and 5 ns, at d = 20.
LOOK = 16.0
#: Factorised steps look at no more labels than this on average, or than a pass would cost; beyond, a pass is made.
LEAST_LIMIT = 32.0
#: Labels that came between two rounds, as a share of those before, which leave the chain behind.
STALE_SHARE = 0.2


@dataclass(frozen=True)
class Exact:
    """Draw theta from the exact posterior, by whichever exact sampler is cheapest for the labels at hand.

    Three regimes, each a chain that leaves the current posterior invariant and starts where the last round ended:

    1. ``gibbs``: Pólya-Gamma Gibbs sweeps while labels are few (Polson, Scott & Windle 2013);
    2. ``metropolis``: independence Metropolis steps from a Gaussian that is kept up with the labels, each with a pass
       over all of them;
    3. ``thinned``: the same proposals, accepted by a factorised rule that looks at a handful of labels a step however
       many there are (Cornish et al. 2019).

    Exact means: no approximation is left that more rounds would not remove. A round takes finitely many steps, as PG-TS
    does, so many that its draw is that of the round before with probability 0.01; how many, and the regime, follow the
    acceptance of the rounds before, a mild adaptation.

    Parameters
    ----------
    sweeps
        M, Gibbs sweeps of a round in the first regime: a number or a schedule as in ``Gibbs``.
    prior
        N(b, B) without a region.
    draws
        Least number of Metropolis steps of a round.
    switch
        How many labels end the first regime; none: max(100, 1.5 d^2).
    """

    sweeps: int | Schedule = 15
    prior: Gaussian = field(default_factory=Gaussian)
    draws: int = 4
    switch: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sweeps", freeze(self.sweeps))
        if self.prior.region is not None:
            raise OptionError("the exact posterior takes a prior without a region; Gibbs takes one with a region too")
        _ = self.gibbs  # checks the sweeps
        whole("draws", self.draws, least=1, most=MOST_STEPS)
        if self.switch is not None:
            whole("switch", self.switch, least=1)

    @property
    def gibbs(self) -> Gibbs:
        """The sampler of the first regime."""
        return Gibbs(self.sweeps, prior=self.prior, rao_blackwell=True)

    def start(self, n_features: int, key: Key) -> ExactChain:
        """Return the chain before the first label."""
        return ExactChain(self, n_features, key)


class ExactChain(Belief):
    """The state of the sampler: a Gibbs chain with all labels, the anchors, and the path of the round at hand."""

    sampled = True

    def __init__(self, settings: Exact, n_features: int, key: Key) -> None:
        d = n_features
        announce_compilation(kernels.run_steps)
        self._chain = settings.gibbs.start(d, key)
        self._anchors = Anchors(d, settings.prior)
        self._key = key.at("steps").word()
        self._least = settings.draws
        self._switch = max(100, 3 * d * d // 2) if settings.switch is None else settings.switch
        self._path = np.zeros((2, MOST_STEPS, d))
        self._scores = np.zeros((3, max(MOST_STEPS, d)))
        #: The running share of Metropolis proposals that were accepted.
        self.acceptance = 0.6
        self._moved = 0  # how many labels there were when the chain last moved
        self._stepped = 0  # the round that the path belongs to; 0 when there is none
        self._steps = self._accepted = 0

    def _collapsed(self) -> bool:
        if self.acceptance >= COLLAPSED:
            return False
        return self._chain.labels.n < SWEEPS_AGAIN * self._switch or self._limit() < 0.0

    def _sweeps(self, round_: int) -> bool:
        """Return whether a round runs Gibbs sweeps; a chain whose Metropolis steps failed tries them now and then."""
        return not self._anchors.ready or (self._collapsed() and round_ % PROBE_EVERY != 0)

    def _limit(self) -> float:
        """Return the rate up to which steps are factorised; negative where a pass over all labels is cheaper."""
        n, anchors = self._chain.labels.n, self._anchors
        if anchors.is_far or not LOOK * anchors.looks < n:
            return -1.0
        return max(LEAST_LIMIT, n / LOOK)

    @property
    def regime(self) -> str:
        """The sampler of the next round, apart from trials after a collapse: gibbs, metropolis or thinned."""
        if not self._anchors.ready or self._collapsed():
            return "gibbs"
        return "metropolis" if self._limit() < 0.0 else "thinned"

    def _start(self) -> Vector:
        """Return where this round's steps start: where the last ones ended, or m if many labels arrived since then.

        A theta from long before, far out in the present posterior, could wait for ages until a proposal is accepted.
        """
        if self._chain.labels.n > (1.0 + STALE_SHARE) * self._moved:
            return self._anchors.mean
        return self._chain.theta

    def _step(self, round_: int) -> None:
        """Run this round's steps unless they have been run; they do not depend on the item."""
        if self._stepped == round_:
            return
        missed = 1.0 - min(self.acceptance, 0.99)
        wanted = math.log(STALE) / math.log(missed) if missed < 1.0 else math.inf
        self._steps = MOST_STEPS if wanted >= MOST_STEPS else max(self._least, math.ceil(wanted))
        labels, anchors = self._chain.labels, self._anchors
        self._accepted = kernels.run_steps(
            self._key,
            round_,
            labels.features,
            labels.values,
            labels.n,
            anchors.prior,
            self._start(),
            anchors.live.matrix,
            anchors.live.cubes,
            anchors.live.heavy,
            anchors.live.sums,
            self._limit(),
            self._steps,
            self._path,
            anchors.work,
        )
        self._stepped = round_

    def score(self, x: Vector, round_: int) -> Score:
        """Return how the score of x is distributed in a round."""
        if self._sweeps(round_):
            return self._chain.score(x, round_)
        self._step(round_)
        return ExactScore(x, self._anchors.live.matrix, self._path, self._steps, self._scores)

    def draws(self, round_: int) -> Vector:
        """Return the draws of theta of a round, one row each."""
        if self._sweeps(round_):
            return self._chain.draws(round_)
        self._step(round_)
        return self._path[kernels.STATES, : self._steps].copy()

    def commit(self, round_: int) -> None:
        """Carry the last draw, and how often proposals were accepted, on to the next round."""
        if self._sweeps(round_):
            self._chain.commit(round_)
            self._moved = self._chain.labels.n
            return
        self._step(round_)
        self._chain.theta[:] = self._path[kernels.STATES, self._steps - 1]
        memory = PROBE_MEMORY if self._collapsed() else MEMORY
        self.acceptance += memory * (self._accepted / self._steps - self.acceptance)
        self._moved = self._chain.labels.n
        self._stepped = 0

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._chain.labels

    def follow(self, other: ExactChain) -> None:
        """Begin where another chain is, apart from its labels."""
        self._chain.follow(other._chain)
        self.acceptance, self._moved = other.acceptance, other._moved

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label; the first anchor is set when Gibbs sweeps end."""
        self._chain.learn(x, label)
        self._stepped = 0
        labels, anchors = self._chain.labels, self._anchors
        if anchors.ready:
            anchors.learn(labels, x, label)
        elif labels.n >= self._switch:
            anchors.settle(labels, anchors.prior[0])

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        progress = np.array([self.acceptance, self._moved])
        return {**self._chain.arrays(), **self._anchors.arrays(), "progress": progress}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._chain.restore(arrays)
        self._anchors.restore(arrays)
        progress = arrays["progress"].astype(np.float64)
        self.acceptance, self._moved = float(progress[0]), int(progress[1])
        self._stepped = 0
