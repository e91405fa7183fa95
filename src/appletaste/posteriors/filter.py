"""What ``Laplace`` and ``Adf`` share: a Gaussian N(m, V), whose scores need no sampling."""

from __future__ import annotations

import numpy as np

from ..errors import OptionError
from ..kernels import filter as kernels
from ..kernels._jit import announce_compilation
from .base import Vector
from .normal import NormalScore, NormalScores
from .outstanding import Outstanding
from .prior import Gaussian


class Filter:
    """A Gaussian belief; subclasses say how it learns."""

    def __init__(self, prior: Gaussian, n_features: int) -> None:
        d = n_features
        announce_compilation(kernels.score_item)
        precision = prior.precision(d)
        self._belief = np.zeros((kernels.COVARIANCE + d, d))
        self._belief[kernels.MODE] = self._belief[kernels.MEAN] = prior.mean_vector(d)
        covariance = np.linalg.inv(precision)
        self._belief[kernels.COVARIANCE :] = 0.5 * (covariance + covariance.T)
        self._direction = self._belief[kernels.DIRECTION]
        #: Labels on their way, while a decision is made that takes account of them (``policies.awaiting``).
        self.outstanding: Outstanding | None = None

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
        if self.outstanding is not None:
            return self.outstanding.score(x)
        mean, variance = kernels.score_item(x, self._belief)
        return NormalScore(mean, variance, self._direction)

    def score_many(self, items: Vector) -> NormalScores:
        """Return how the scores of many items are distributed, each by itself."""
        scores = NormalScores(np.empty(len(items)), np.empty(len(items)), np.empty_like(items))
        scores.fill(lambda part: kernels.score_many(items[part], self._belief, *scores.parts(part)))
        return scores

    def commit(self, round_: int) -> None:
        """Carry on: a round by itself changes nothing."""


def unrestricted(prior: Gaussian, name: str) -> None:
    """Refuse a prior with a region."""
    if prior.region is not None:
        raise OptionError(f"{name} takes a prior without a region; Gibbs takes one with")
