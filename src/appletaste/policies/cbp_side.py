"""CBP-SIDE for apple tasting: pass only when a confidence bound rules acting out (Bartok & Szepesvari 2012).

With its bounds drawn anew for each item it is RandCBPside* (Heuillet, Ahmad & Durand 2024).

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

from .._checks import number, whole
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


@dataclass(frozen=True)
class RandCbpSide(CbpSide):
    """RandCBPside*: act unless passing is better beyond a doubt that is drawn anew for each item.

    With U = sqrt(2 d log(1 + N R^2 / d) + 4 log N), the root in the width w of CBP-SIDE, the width is

        w = C (Z + R d) sqrt(x' V^-1 x),

    where Z is U itself with probability ``sure``, and else one of ``points`` from 0 to U at even distances, with
    probabilities in proportion to exp(-Z^2 / (2 spread^2)). The probability of acting is the sum over the points at
    which CBP-SIDE acts.

    References
    ----------
    Heuillet, Ahmad & Durand (2024), Randomized Confidence Bounds for Stochastic Partial Monitoring.
    """

    spread: float = 0.125
    points: int = 10
    sure: float = 1e-6

    def __post_init__(self) -> None:
        super().__post_init__()
        number("spread", self.spread, above=0.0)
        whole("points", self.points, least=2)
        number("sure", self.sure, least=0.0, most=1.0)

    def start(self, n_features: int, key: Key) -> RandCbpSideLearner:
        """Return the learner before the first item."""
        return RandCbpSideLearner(self, check_width(n_features))


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

    def doubts(self, x: Vector) -> tuple[float, float, float]:
        """Return the three parts (U, R d, C |x|) of the width w = C (U + R d) |x|, with |x| in the norm of V^-1."""
        d, n = x.size, self._fit.labels.n
        bound = self._settings.item_bound or max(self._largest, float(np.linalg.norm(x)))
        root = math.sqrt(2.0 * d * math.log1p(n * bound * bound / d) + 4.0 * math.log(max(n, 1)))
        return root, bound * d, self._settings.curvature * self._seen.width(x)

    def estimate(self) -> Vector:
        """Return theta-hat."""
        theta = self._fit.theta
        radius = self._settings.radius
        return theta if radius is None else project(theta, self._seen.matrix(), radius)

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return 0 if the upper confidence bound on P(positive) lies below the threshold, else 1."""
        root, still, scale = self.doubts(x)
        return self._verdict(x, costs, np.ones(1), np.array([root + still]), scale)

    def _verdict(self, x: Vector, costs: Costs, shares: Vector, factors: Vector, scale: float) -> Verdict:
        """Return the share of the widths, scale times factors, with which passing is not better beyond doubt."""
        chance = sigmoid(float(self.estimate() @ x))
        widths = scale * factors if math.isfinite(scale) else np.full(len(factors), math.inf)
        acts = chance - costs.threshold > -widths
        probability = 1.0 if acts.all() else float(shares @ acts)
        return Verdict(probability, {"chance_positive": chance, "width": float(widths[-1])}, chance)

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


class RandCbpSideLearner(CbpSideLearner):
    """The state of CBP-SIDE, asked with a width that is drawn."""

    def __init__(self, settings: RandCbpSide, n_features: int) -> None:
        super().__init__(settings, n_features)
        self._points = np.linspace(0.0, 1.0, settings.points)
        self._spread, self._sure = settings.spread, settings.sure

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability that the drawn upper bound on P(positive) is not below the threshold."""
        root, still, scale = self.doubts(x)
        drawn = root * self._points
        shares = np.exp(-0.5 * (drawn[:-1] / self._spread) ** 2)
        shares = np.append((1.0 - self._sure) / shares.sum() * shares, self._sure)
        return self._verdict(x, costs, shares, drawn + still, scale)


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
