"""What ``Laplace`` and ``Adf`` share: a Gaussian N(m, V), whose scores need no sampling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..errors import OptionError
from ..kernels import fading
from ..kernels import gaussian as kernels
from ..kernels._jit import announce_compilation
from ..kernels.surprises import SCENARIO, make_slab
from .belief import Arrays, Belief, Doubt, Vector
from .half_life import Clock, Forgetting
from .pending_labels import Waiting
from .prior import Gaussian
from .scores import NormalScore, NormalScores


class GaussianBelief(Belief):
    """N(m, V); subclasses say how it learns."""

    #: What it takes to ask for coefficients far larger than the others; None: it believes in none.
    doubt: Doubt | None

    def __init__(self, prior: Gaussian, n_features: int, forgetting: Forgetting | None = None) -> None:
        d = n_features
        announce_compilation(kernels.score_item)
        precision = prior.precision(d)
        self._belief = np.zeros((kernels.COVARIANCE + d, d))
        self._belief[kernels.MODE] = self._belief[kernels.MEAN] = prior.mean_vector(d)
        variances = prior.variances(d)
        covariance = np.linalg.inv(precision) if variances is None else np.diag(1.0 / precision.diagonal())
        self._belief[kernels.COVARIANCE :] = 0.5 * (covariance + covariance.T)
        self._direction = self._belief[kernels.DIRECTION]
        self.waiting, self.clock = None, None  # looked up in every round: 30 ns less than on the class
        self.doubt = None
        if forgetting is not None:
            announce_compilation(fading.fade)
            self.clock = Clock(forgetting)
            self._origin = np.vstack([precision, prior.mean_vector(d)])  # where it goes without labels
            self._fading_work = np.zeros((3 * d + 1, d))

    @property
    def mean(self) -> Vector:
        """E theta."""
        return np.array(self._belief[kernels.MEAN])

    @property
    def covariance(self) -> Vector:
        """V."""
        return np.array(self._belief[kernels.COVARIANCE :])

    @property
    def matrix(self) -> Vector:
        """Everything, in the layout of the kernels; to be looked at."""
        return self._belief

    def score(self, x: Vector, round_: int) -> NormalScore:
        """Return how the score of x is distributed."""
        if self.waiting is not None:
            return self.waiting.score(x)
        mean, variance = kernels.score_item(x, self._belief)
        return NormalScore(mean, variance, self._direction, self.doubt)

    def expecting(self, before: Waiting | None = None) -> Waiting:
        """Return what keeps labels on their way in mind for this belief, going on from before."""
        if before is None:
            return Waiting(self)
        before.stand_on(self)
        return before

    def score_many(self, items: Vector) -> NormalScores:
        """Return how the scores of many items are distributed, each by itself."""
        scores = NormalScores(np.empty(len(items)), np.empty(len(items)), np.empty_like(items), self.doubt)
        scores.fill(lambda part: kernels.score_many(items[part], self._belief, *scores.parts(part)))
        return scores

    def doubt_of_all(self) -> Doubt | None:
        """Return what it takes to ask for surprises in any item, with labels on their way in mind."""
        return self.doubt if self.waiting is None else self.waiting.doubt_of_all()

    def commit(self, round_: int) -> None:
        """Carry on: a round by itself changes nothing, unless it is what ages are counted in."""
        if self.clock is not None and not self.clock.forgetting.timed:
            self.advance(float(round_))

    def advance(self, now: float) -> None:
        """Forget up to a moment, if that is due."""
        if self.clock is None:
            return
        factor = self.clock.advance(now)
        if factor < 1.0:
            fading.fade(self._belief, self._origin, factor, self._fading_work)
            self.fades += 1

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Temporarily advance to ``now``; restore on exit."""
        kept, fades = (self._belief.copy(), None if self.clock is None else self.clock.moments.copy()), self.fades
        self.advance(now)
        try:
            yield
        finally:
            self._belief[:] = kept[0]
            if self.clock is not None:
                self.clock.moments[:] = kept[1]
            self.fades = fades

    def expect_surprises(self, share: float, prior: Gaussian) -> None:
        """Believe that this share of the coefficients is far larger than the others.

        Whoever learns must keep ``doubt.slab`` up with the prior.
        """
        d = self._belief.shape[1]
        rows = make_slab(1.0 / prior.precision(d).diagonal(), prior.mean_vector(d))
        self.doubt = Doubt(self._belief, self._belief, rows, share)

    def slab(self) -> Arrays:
        """Return what is believed of surprises, for saving."""
        if self.doubt is None:
            return {}
        rows = self.doubt.slab.copy()
        rows[SCENARIO] = 0.0  # of whoever asked last
        return {"slab": rows}

    def restore_slab(self, arrays: Arrays) -> None:
        """Take back what ``slab`` returned."""
        if self.doubt is not None:
            self.doubt.slab[:] = arrays["slab"]

    def carried(self) -> Vector:
        """Return the matrix for saving; the direction is that of whoever asked last, and nobody's to keep."""
        kept = self._belief.copy()
        kept[kernels.DIRECTION] = 0.0
        return kept

    def moments(self) -> Arrays:
        """Return the clock of a belief that forgets, for saving."""
        return {} if self.clock is None else {"clock": self.clock.moments.copy()}

    def restore_moments(self, arrays: Arrays) -> None:
        """Take back what ``moments`` returned."""
        if self.clock is not None:
            self.clock.moments[:] = arrays["clock"]


def unrestricted(prior: Gaussian, name: str) -> None:
    """Refuse a prior with a region."""
    if prior.region is not None:
        raise OptionError(f"{name} takes a prior without a region; Gibbs takes a prior with one")
