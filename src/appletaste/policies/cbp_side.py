"""CBP-SIDE for apple tasting: pass only when a confidence bound rules acting out (Bartok & Szepesvari 2012).

The corrected formulas (see docs/paper.md): with theta-hat the maximum-likelihood estimate from the N labels, projected
into Theta in the norm of V if a radius is given, V = sum of x x' over acted items and threshold the probability at
which acting starts to pay,

    pass iff sigma(x'theta-hat) - threshold <= -w,
    w = C (sqrt(2 d log(1 + N R^2 / d) + 4 log N) + R d) sqrt(x' V^-1 x).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .._checks import number
from ..costs import Costs
from ..decision import Observation
from ..kernels.logistic import sigmoid
from ..keys import Key
from ..posteriors.directions import Directions
from ..posteriors.map import bare_fit
from .items import check_width
from .learner import Arrays, Learner, Vector, Verdict


@dataclass(frozen=True)
class CbpSide:
    """Act unless passing is better beyond doubt.

    Parameters
    ----------
    curvature
        C, the largest 1 / sigma'(x'theta) over Theta and all items. The theory needs at least 4; less is bolder.
    item_bound
        R, a bound on ``|x|``; by default the largest ``|x|`` learnt from or at hand.
    radius
        Theta is the ball of this radius; by default all of R^d.
    """

    curvature: float = 4.0
    item_bound: float | None = None
    radius: float | None = None

    def __post_init__(self) -> None:
        number("curvature", self.curvature, above=0.0)
        for name in ("item_bound", "radius"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), above=0.0)

    def start(self, n_features: int, key: Key) -> CbpSideLearner:
        """Return the learner before the first item."""
        return CbpSideLearner(self, check_width(n_features))


class CbpSideLearner(Learner):
    """The estimate, the factor of V and the largest item norm."""

    keeps_labels = True

    def __init__(self, settings: CbpSide, n_features: int) -> None:
        self._settings = settings
        self._begin(n_features)

    def _begin(self, n_features: int) -> None:
        self._fit = bare_fit(n_features)
        self._seen = Directions(n_features)
        self._largest = 0.0

    def width(self, x: Vector) -> float:
        """Return w, the confidence width of sigma(x'theta)."""
        d, n = x.size, self._fit.labels.n
        bound = self._settings.item_bound or max(self._largest, float(np.linalg.norm(x)))
        spread = math.sqrt(2.0 * d * math.log1p(n * bound * bound / d) + 4.0 * math.log(max(n, 1)))
        return self._settings.curvature * (spread + bound * d) * self._seen.width(x)

    def estimate(self) -> Vector:
        """Return theta-hat."""
        theta = self._fit.theta
        radius = self._settings.radius
        return theta if radius is None else project(theta, self._seen.matrix(), radius)

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return 0 if the upper confidence bound on P(positive) lies below the threshold, else 1."""
        chance = sigmoid(float(self.estimate() @ x))
        width = self.width(x)
        act = chance - costs.threshold > -width
        return Verdict(float(act), {"chance_positive": chance, "width": width}, chance)

    def commit(self, verdict: Verdict, round_: int, act: bool) -> None:
        """Carry on: the next fit starts from this one."""
        self._fit.keep()

    def learn(self, observation: Observation) -> None:
        """Learn one label."""
        self._add(observation.x, observation.label)

    def _add(self, x: Vector, label: int) -> None:
        self._fit.labels.add(x, label)
        self._seen.add(x)
        self._largest = max(self._largest, float(np.linalg.norm(x)))

    def item(self, place: int) -> Vector:
        """Return the item of the label learnt at a place in the order of learning."""
        return self._fit.labels.item(place)

    def revise(self, changes: Mapping[int, int | None]) -> None:
        """Carry what the stored labels give with those at some places changed (None: removed)."""
        items, values = self._fit.labels.revised(changes)
        self._begin(items.shape[1])
        for x, label in zip(items, values, strict=True):
            self._add(x, int(label))

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {**self._fit.arrays(), "factor": self._seen.factor.copy(), "largest": np.array(self._largest)}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._fit.restore(arrays)
        self._seen.factor[:] = arrays["factor"]
        self._largest = float(arrays["largest"])


def project(theta: Vector, matrix: Vector, radius: float) -> Vector:
    """Return the point of the ball nearest to theta in the norm of a matrix V.

    The minimiser of (t - theta)' V (t - theta) with |t| <= radius is (V + mu I)^-1 V theta for the mu >= 0 that puts it
    on the sphere; its norm falls with mu, which is found by bisection.
    """
    if np.linalg.norm(theta) <= radius:
        return theta
    eigenvalues, basis = np.linalg.eigh(matrix)
    eigenvalues = np.maximum(eigenvalues, 0.0)
    target = eigenvalues * (basis.T @ theta)
    low, high = 0.0, float(np.linalg.norm(target)) / radius
    for _ in range(100):
        middle = 0.5 * (low + high)
        if np.linalg.norm(target / (eigenvalues + middle)) > radius:
            low = middle
        else:
            high = middle
    return np.asarray(basis @ (target / (eigenvalues + high)))
