"""Policies that learn nothing: always, never, and the oracle that knows theta*."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._checks import freeze
from ..costs import Costs
from ..decision import Observation
from ..errors import OptionError
from ..kernels.logistic import sigmoid
from ..keys import Key
from .learner import Arrays, Learner, Vector, Verdict


@dataclass(frozen=True)
class Constant:
    """Always act, or never."""

    act: bool

    def start(self, n_features: int, key: Key) -> ConstantLearner:
        """Return the learner before the first item."""
        return ConstantLearner(float(self.act))


class _Unmoved(Learner):
    """A learner that carries nothing."""

    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on."""

    def learn(self, observation: Observation) -> None:
        """Take note of nothing."""

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Change nothing: no label was taken note of."""

    def arrays(self) -> Arrays:
        """Return nothing: nothing is carried."""
        return {}

    def restore(self, arrays: Arrays) -> None:
        """Take back nothing."""


class ConstantLearner(_Unmoved):
    """One probability for every item."""

    def __init__(self, probability: float) -> None:
        self._probability = probability

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the constant."""
        return Verdict(self._probability, {})


@dataclass(frozen=True)
class Oracle:
    """Take the best action for the true parameter theta*: what regret is measured against (simulation only)."""

    theta: ArrayLike | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", freeze(self.theta))

    def start(self, n_features: int, key: Key) -> OracleLearner:
        """Return the learner; it needs theta*."""
        if self.theta is None:
            raise OptionError("oracle needs the true parameter, known only in simulation: theta=[...]")
        try:
            theta = np.atleast_1d(np.asarray(self.theta, dtype=np.float64))
        except (TypeError, ValueError):
            raise OptionError(f"theta must be {n_features} numbers, got {self.theta!r}") from None
        if theta.shape != (n_features,) or not np.isfinite(theta).all():
            raise OptionError(f"theta must be {n_features} finite numbers, got {self.theta!r}")
        return OracleLearner(theta)


class OracleLearner(_Unmoved):
    """The truth."""

    def __init__(self, theta: Vector) -> None:
        self._theta = theta

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return 1 if acting is best, else 0."""
        chance = sigmoid(float(self._theta @ x))
        return Verdict(float(costs.best(chance)), {"chance_positive": chance}, chance)
