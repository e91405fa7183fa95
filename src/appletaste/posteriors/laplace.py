"""The recommended posterior: a Gaussian at the mode, kept there at flat cost, with a certificate of its fit."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field

import numpy as np

from ..errors import PoorFitWarning
from ..kernels import gaussian as kernels
from ..kernels import renewal
from ..kernels.linear import BLOCK
from ..kernels.logistic import make_work
from ..keys import Key
from .base import Arrays, Certificate, Vector
from .fading import FadingLaplaceBelief
from .forgetting import Forgetting, HalfLife
from .gaussian import GaussianBelief, unrestricted
from .labels import Labels
from .prior import Gaussian

#: Renew when there are this many times the labels of the last time: every label up to 16, then ever more rarely.
GROWTH = 1.06
#: Up to here the fit is run to convergence (20 us); beyond, a pass is one Newton step, and spread out.
AT_ONCE = 64
#: Labels that a pass goes over per label learnt, at d = 20: 8 us. In other dimensions as many as cost the same.
ROWS = 128
POOR = 0.7  # acceptance per feature below which the fit is called poor
SETTLED = 20  # labels per feature before that is said


@dataclass(frozen=True)
class Laplace:
    """Believe N(m, V): the posterior mode and the curvature there (MacKay 1992).

    A label moves the belief by an exact one-dimensional Laplace step in O(d^2); the joint mode and curvature are
    renewed from all labels whenever their number has grown by 6 %, a few at a time, so that a decision costs the same
    at a million labels as at a thousand. ``certificate()`` says how far the Gaussian is from the exact posterior.

    Parameters
    ----------
    prior
        N(b, B), without a region.
    skew
        Correct the mean for the skew of the posterior, to first order.
    adaptive
        Learn the scale of the prior: its covariance is multiplied by s^2, which starts at 1 and takes an EM step at
        every renewal, s^2 = (nu + E (theta - b)' B^-1 (theta - b)) / (nu + k) over the k features that vary, with
        nu = 5. A feature that is the same in all items, and not zero, is an intercept: it is given twice the standard
        deviation of the prior instead.
    half_life
        The age at which a label counts half: a number of items, or a length of time (``"30d"``, a ``timedelta``);
        None: all labels count alike. With one, the mean is not corrected for skew and there is no certificate
        (docs/drift.md).
    """

    prior: Gaussian = field(default_factory=Gaussian)
    skew: bool = False
    adaptive: bool = False
    half_life: HalfLife = None

    def __post_init__(self) -> None:
        unrestricted(self.prior, "Laplace")
        found = Forgetting.of(self.half_life)
        object.__setattr__(self, "half_life", None if found is None else found.text)

    def start(self, n_features: int, key: Key) -> LaplaceBelief | FadingLaplaceBelief:
        """Return the belief before the first label."""
        forgetting = Forgetting.of(self.half_life)
        if forgetting is not None:
            return FadingLaplaceBelief(self, n_features, forgetting)
        return LaplaceBelief(self, n_features, key)


class LaplaceBelief(GaussianBelief):
    """The Gaussian, the labels, and the pass that will renew it."""

    def __init__(self, settings: Laplace, n_features: int, key: Key) -> None:
        super().__init__(settings.prior, n_features)
        d = n_features
        self._skew, self._adaptive = settings.skew, settings.adaptive
        self._key = key.at("certificate").word()
        self._labels = Labels(d)
        self._precision = settings.prior.precision(d)
        self._prior = np.vstack([self._precision, settings.prior.mean_vector(d)])
        self._renewal, self._marks = renewal.make_renewal(d)
        self._work, self._hessian = make_work(d)
        self._rows = min(BLOCK, max(16, int(ROWS * (20 / d) ** 2)))
        self._due = 1  # the number of labels at which the next pass begins
        self._warned = False

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._labels

    def follow(self, other: LaplaceBelief) -> None:
        """Begin where another belief was apart from its labels: what it has warned of is not said again."""
        self._warned = other._warned

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label, and go on with the pass if one is under way or due."""
        labels = self._labels
        n = labels.n
        if n == labels.capacity:
            labels.make_room()
        kernels.learn_laplace(x, float(label), self._belief, labels.features, labels.values, n)
        labels.n = n + 1
        if n + 1 >= self._due:
            self._renew(n + 1)

    def _renew(self, n: int) -> None:
        labels, marks = self._labels, self._marks
        features, values, rows = labels.features, labels.values, self._rows
        if marks[renewal.POSITION] < 0.0:
            if self._adaptive:
                renewal.rescale_prior(self._belief, features, self._precision, self._prior)
            if n <= AT_ONCE:
                renewal.fit_now(self._belief, features, values, n, self._prior, self._hessian, self._work)
                rows = n
            renewal.begin(self._key, n, self._belief, self._prior, self._renewal, marks, self._work)
        ended = renewal.advance(
            rows, features, values, n, self._skew, self._belief, self._prior, self._renewal, marks, self._work
        )
        if ended:
            self._due = max(n + 1, math.ceil(GROWTH * n)) if n >= 16 else n + 1
            self._look()

    def _look(self) -> None:
        """Warn, once, of a Gaussian that is far from the posterior although there are labels enough."""
        if self._warned or self._labels.n < SETTLED * self._belief.shape[1]:
            return
        found = self.certificate()
        if not found.per_feature < POOR:
            return
        self._warned = True
        warnings.warn(
            f"the Laplace approximation fits poorly here: acceptance {found.acceptance:.2f} (1 is perfect) with "
            f"{found.n_features} features after {found.labels} labels; use the posterior Exact, as 'exact-voi' and "
            "'exact-ts' do, or a narrower prior",
            PoorFitWarning,
            stacklevel=5,
        )

    def certificate(self) -> Certificate:
        """Return the running acceptance rate of the Metropolis correction that would make this belief exact."""
        found = float(self._marks[renewal.ACCEPTANCE])
        acceptance = math.nan if found < 0.0 else found
        return Certificate(acceptance, int(self._marks[renewal.ENDED]), self._belief.shape[1])

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {
            **self._labels.arrays(),
            "belief": self.carried(),
            "renewal": self._renewal.copy(),
            "marks": self._marks.copy(),
            "due": np.array(self._due),
            "prior": self._prior.copy(),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._labels = Labels.from_arrays(arrays, self._belief.shape[1])
        self._belief[:], self._renewal[:] = arrays["belief"], arrays["renewal"]
        self._marks[:], self._prior[:] = arrays["marks"], arrays["prior"]
        self._due = int(arrays["due"])
