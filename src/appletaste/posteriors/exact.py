"""The exact posterior at a cost per round that does not grow with the number of labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .._checks import freeze, whole
from ..errors import OptionError
from ..kernels import metropolis as kernels
from ..kernels._jit import Word, announce_compilation
from ..kernels.information import WHITENED
from ..keys import Key
from .anchors import Anchors
from .belief import Arrays, Belief, Score, Vector
from .gibbs import Gibbs, Schedule
from .groups import Groups, check_groups
from .label_table import Labels
from .prior import Gaussian
from .scores import ExactScore

#: Most Metropolis steps of a round.
MOST_STEPS = 64
#: The chance, by the acceptance of the trial, that all steps of a round are rejected and its draw is the last round's.
STALE = 0.01
#: Steps of the trial that an anchor is put to when it takes over.
TRIAL = MOST_STEPS
#: Below this acceptance Gibbs sweeps do better, while labels are fewer than 50 times the switch point; with more, only
#: where steps are in full, 64 of which cost as much as 15 sweeps.
COLLAPSED, SWEEPS_AGAIN = 0.15, 50
#: One round in this many, times labels over the switch point, begins with a wide step, up to ten times that point.
WIDE_EVERY, WIDE_UNTIL = 3, 10
#: Wide proposals have 1 + this / sqrt(d) times the variance, which keeps their acceptance much the same in any d.
WIDTH = 3.0
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
    does, so many that its draw is that of the round before with probability 0.01. How many, and the regime, follow from
    the labels and from a trial of the anchor by steps of its own, and never from where the chain has been: a choice
    that looked at the chain would leave its tails too early (docs/decisions/0010-exact-adaptation.md).

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
    groups
        The group of each feature, ``FeatureMap.groups``, as ``Laplace`` takes it. The scales of curves are learnt as
        ``Gibbs`` does in the first regime and afterwards, from the Gaussian at hand, with each new anchor: in between
        the target is fixed, the exact posterior given the scales. None: all are in group 0.
    """

    sweeps: int | Schedule = 15
    prior: Gaussian = field(default_factory=Gaussian)
    draws: int = 4
    switch: int | None = None
    groups: Sequence[int] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sweeps", freeze(self.sweeps))
        if self.prior.region is not None:
            raise OptionError("the exact posterior takes a prior without a region; Gibbs takes one with a region too")
        _ = self.gibbs  # checks the sweeps
        whole("draws", self.draws, least=1, most=MOST_STEPS)
        if self.switch is not None:
            whole("switch", self.switch, least=1)
        if self.groups is not None:
            object.__setattr__(self, "groups", check_groups(self.groups))

    @property
    def gibbs(self) -> Gibbs:
        """The sampler of the first regime."""
        return Gibbs(self.sweeps, prior=self.prior, rao_blackwell=True, groups=self.groups)

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
        groups = Groups(settings.groups or (0,) * d, d)
        bent = groups if groups.blocks else None
        self._anchors = Anchors(d, settings.prior if bent is None else bent.start(settings.prior), bent)
        self._key, self._wide_key = key.at("steps").word(), key.at("wide").word()
        self._trial_key, self._side_key = key.at("trial").word(), key.at("side").word()
        self._width = math.sqrt(1.0 + WIDTH / math.sqrt(d))
        self._least = settings.draws
        self._switch = max(100, 3 * d * d // 2) if settings.switch is None else settings.switch
        self._path = np.zeros((2, MOST_STEPS, d))
        self._scores = np.zeros((3, max(MOST_STEPS, d)))
        #: The share of Metropolis proposals that were accepted when the anchor in use was tried.
        self.acceptance = 0.6
        self._tried = 0  # the anchor that was tried last, by how many labels there were when it was begun
        self._moved = 0  # how many labels there were when the chain last moved
        self._stepped = 0  # the round that the path belongs to; 0 when there is none
        self._steps = 0
        self._height = math.nan  # log target - log proposal at the last state, where it is known

    def _sweeps(self) -> bool:
        """Return whether rounds run Gibbs sweeps and no steps."""
        if self._anchors.ready and self.acceptance < COLLAPSED:
            return self._chain.labels.n < SWEEPS_AGAIN * self._switch or self._limit() < 0.0
        return not self._anchors.ready

    def _limit(self) -> float:
        """Return the rate up to which steps are factorised; negative where a pass over all labels is cheaper."""
        n, anchors = self._chain.labels.n, self._anchors
        if anchors.is_far or not LOOK * anchors.looks < n:
            return -1.0
        return max(LEAST_LIMIT, n / LOOK)

    @property
    def regime(self) -> str:
        """The sampler of the next round: gibbs, metropolis or thinned."""
        if self._sweeps():
            return "gibbs"
        return "metropolis" if self._limit() < 0.0 else "thinned"

    def _start(self, round_: int) -> Vector:
        """Return where this round's steps start: where the last ones ended or, by the schedule, a wide step leads.

        Where the posterior has heavier tails than the Gaussian, steps enter its tails rarely and then stay for long;
        wide steps go in and out more often. If labels came in bulk since the last round, steps start at m: a theta from
        long before, far out in the present posterior, could wait for ages until a proposal is accepted.
        """
        n = self._chain.labels.n
        if n > (1.0 + STALE_SHARE) * self._moved:
            return self._anchors.mean
        share = n // self._switch
        if share < WIDE_UNTIL and round_ % (WIDE_EVERY * max(1, share)) == 0:
            self._run(self._wide_key, round_, self._chain.theta, 1, self._width)
            return np.array(self._path[kernels.STATES, 0])
        return self._chain.theta

    def _run(self, key: Word, index: int, start: Vector, steps: int, width: float = 1.0) -> tuple[int, float]:
        """Write Metropolis steps into the path; return how many were accepted, and the height of the last state."""
        labels, anchors = self._chain.labels, self._anchors
        return kernels.run_steps(
            key,
            index,
            labels.features,
            labels.values,
            labels.n,
            anchors.prior,
            start,
            anchors.live.matrix,
            anchors.live.cubes,
            anchors.live.heavy,
            anchors.live.sums,
            self._limit() if width == 1.0 else -1.0,
            width,
            steps,
            self._path,
            anchors.work,
        )

    def _try(self) -> None:
        """Put an anchor that has taken over to its trial; one that is far is soon replaced and not tried.

        The steps of the trial start at m and have random numbers of their own: given the labels, what they find does
        not depend on the chain.
        """
        if self._tried != self._anchors.live.reference:
            self._tried = self._anchors.live.reference
            self._chain.precision[:] = self._anchors.prior[1:]  # sweeps have the same target
            if not self._anchors.is_far:
                accepted, _ = self._run(self._trial_key, self._tried, self._anchors.mean, TRIAL)
                self.acceptance = accepted / TRIAL

    def _step(self, round_: int) -> None:
        """Run this round's steps unless they have been run; they do not depend on the item."""
        if self._stepped == round_:
            return
        missed = 1.0 - min(self.acceptance, 0.99)
        wanted = math.log(STALE) / math.log(missed) if missed < 1.0 else math.inf
        self._steps = MOST_STEPS if wanted >= MOST_STEPS else max(self._least, math.ceil(wanted))
        _, self._height = self._run(self._key, round_, self._start(round_), self._steps)
        self._stepped = round_

    def _across(self, score: ExactScore, cut: float) -> float:
        """Return the probability that one more step, along the line on which the score moves, ends above a cut."""
        labels, anchors = self._chain.labels, self._anchors
        return kernels.chance_above(
            self._side_key,
            self._stepped,
            labels.features,
            labels.values,
            labels.n,
            anchors.prior,
            self._path[kernels.STATES, self._steps - 1],
            self._height,
            anchors.live.matrix,
            anchors.live.cubes,
            anchors.live.heavy,
            anchors.live.sums,
            self._limit(),
            score.mean,
            score.variance,
            self._scores[kernels.STATES, self._steps - 1],
            cut,
            self._scores[WHITENED],
            anchors.work,
        )

    def score(self, x: Vector, round_: int) -> Score:
        """Return how the score of x is distributed in a round."""
        if self._sweeps():
            return self._chain.score(x, round_)
        self._step(round_)
        return ExactScore(x, self._anchors.live.matrix, self._path, self._steps, self._scores, self._across)

    def draws(self, round_: int) -> Vector:
        """Return the draws of theta of a round, one row each."""
        if self._sweeps():
            return self._chain.draws(round_)
        self._step(round_)
        return self._path[kernels.STATES, : self._steps].copy()

    def commit(self, round_: int) -> None:
        """Carry the last draw on to the next round."""
        if self._sweeps():
            self._chain.commit(round_)
            self._moved = self._chain.labels.n
            return
        self._step(round_)
        self._chain.theta[:] = self._path[kernels.STATES, self._steps - 1]
        self._moved = self._chain.labels.n
        self._stepped = 0

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._chain.labels

    def follow(self, other: ExactChain) -> None:
        """Begin where another chain is, apart from its labels."""
        self._chain.follow(other._chain)
        self._moved = other._moved

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label; the first anchor is set when Gibbs sweeps end."""
        self._stepped = 0
        labels, anchors, chain = self._chain.labels, self._anchors, self._chain
        if anchors.ready:  # from now on scales move with anchors
            chain.add(x, label)
            anchors.learn(labels, x, label)
        else:
            chain.learn(x, label)
            if labels.n >= self._switch:
                anchors.prior[1:] = chain.precision
                anchors.settle(labels, anchors.prior[0])
        self._try()

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
        self._tried = self._anchors.live.reference
        self._stepped = 0
