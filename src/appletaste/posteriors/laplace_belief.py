"""The Gaussian at the mode, kept there at flat cost, and how well it fits.

With a half-life labels are kept, and count less the older they are: ``FadingLaplaceBelief``.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import PoorFitWarning
from ..kernels import fading, renewal, surprises
from ..kernels import gaussian as kernels
from ..kernels.ahead import compile_beside, meet_halfway
from ..kernels.linear import BLOCK
from ..kernels.logistic import make_work
from ..keys import Key
from .belief import Arrays, Certificate, Vector
from .gaussian import GaussianBelief
from .groups import Groups
from .half_life import Clock, Forgetting
from .label_table import Growing, Labels, next_renewal

if TYPE_CHECKING:
    from .laplace import Laplace


#: Up to here the fit is run to convergence (20 us); beyond, a pass is one Newton step, and spread out.
AT_ONCE = 64
#: Labels that a pass goes over per label learnt, at d = 20: 8 us. In other dimensions as many as cost the same.
ROWS = 128
#: Labels for each feature up to which a renewal is not spread out: there every label moves the mode far.
FEW = 2
#: A step that needs no other pass after it, in posterior deviations: where a renewal is at once, and where it is not.
CONVERGED, SHORT = 0.03, 0.3
#: Passes of a renewal that is at once; after so many rounding hides any further gain.
ATTEMPTS = 20
#: The least, and the least where there are curves: those open late if renewals are late (docs/curves.md).
LEAST, LEAST_BENT = 16, 64
POOR = 0.7  # acceptance per feature below which the fit is called poor
SETTLED = 20  # labels per feature before that is said
#: Labels that count less than this are passed over: together they are a thousandth of what is known.
NEGLIGIBLE = 2.0**-10
#: Where labels fade, renew when there are this share more labels than count, and at every label up to so many.
SHARE_MORE, EVERY = 0.06, 16


class Fitted(NamedTuple):
    """The mode, and the prior with the scales that it has learnt: its precisions, and its mean."""

    mode: Vector
    precisions: Vector
    mean: Vector


class LaplaceBelief(GaussianBelief):
    """The Gaussian, the labels, and the pass that will renew it."""

    _remedy = "the posterior Exact, as 'exact-voi' and 'exact-ts' do, or "

    def __init__(self, settings: Laplace, n_features: int, key: Key, groups: Groups) -> None:
        super().__init__(settings.prior, n_features)
        compile_beside()
        d = n_features
        self._skew, self._adaptive = settings.skew, settings.adaptive
        self._key, self._groups = key.at("certificate").word(), groups
        self._labels = Labels(d)
        self._precision = settings.prior.precision(d)
        self._prior = np.vstack([self._precision, settings.prior.mean_vector(d)])
        self._renewal, self._marks = renewal.make_renewal(d)
        self._work, self._hessian = make_work(d)
        self._rows = min(BLOCK, max(LEAST_BENT if groups.blocks else LEAST, int(ROWS * (20 / d) ** 2)))
        # What arrives during a pass, one label in so many rows, moves the mode by about sqrt(d / rows) deviations.
        self._short = max(SHORT, math.sqrt(2.0 * d / self._rows))
        self._trusted = 2.0 + math.sqrt(d)
        self._due = 1  # the number of labels at which the next pass begins
        self._few = FEW * d
        self.warned = False
        if settings.surprises > 0.0:
            self.expect_surprises(settings.surprises, settings.prior)

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._labels

    def fitted(self) -> Fitted:
        """Return the mode and the prior that it was found with."""
        return Fitted(self._belief[kernels.MODE].copy(), *_prior_in(self._prior))

    def follow(self, other: LaplaceBelief) -> None:
        """Begin where another belief was apart from its labels: what it has warned of is not said again."""
        self.warned = other.warned

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
        features, marks, rows, numbers = self._labels.features, self._marks, self._rows, self._groups.numbers
        if marks[renewal.POSITION] < 0.0:
            if self.doubt is not None:
                surprises.rescale_with_slab(
                    self._belief, features, numbers, self._precision, self._prior, self.doubt.slab
                )
            elif self._adaptive:
                renewal.rescale_prior(self._belief, features, numbers, self._precision, self._prior)
            if self._groups.blocks:
                self._groups.learn(self._belief, self._prior)
            if n <= AT_ONCE:
                meet_halfway()
                self._fit(n)
                rows = n
            renewal.begin(self._key, n, self._belief, self._prior, self._renewal, marks, self._work)
        at_once = n <= self._few
        for attempt in range(ATTEMPTS if at_once else 1):
            short = self._short if not at_once else CONVERGED if attempt + 1 < ATTEMPTS else self._trusted
            ended = self._pass_over(n if at_once else rows, n) and renewal.finish(
                n, self._skew, short, self._belief, self._prior, self._renewal, marks, self._work
            )
            if ended:
                break
        if ended:
            if self.doubt is not None:
                surprises.enforce(self._prior, self.doubt.slab)
                surprises.note_surprises(self._belief, self.doubt.slab, self.doubt.share)
            self._due = next_renewal(n)
            self._look()

    def _fit(self, n: int) -> None:
        """Go to the mode of a few labels at once, before the pass over them."""
        labels = self._labels
        renewal.fit_now(self._belief, labels.features, labels.values, n, self._prior, self._hessian, self._work)

    def _pass_over(self, rows: int, n: int) -> bool:
        """Let the pass go over that many more labels; return whether none is left."""
        labels, marks = self._labels, self._marks
        return renewal.advance(rows, labels.features, labels.values, n, self._skew, self._renewal, marks, self._work)

    def _look(self) -> None:
        """Warn, once, of a Gaussian that is far from the posterior although there are labels enough."""
        if self.warned or self._labels.n < SETTLED * self._belief.shape[1]:
            return
        found = self.certificate()
        if not found.per_feature < POOR:
            return
        self.warned = True
        warnings.warn(
            f"the Laplace approximation fits poorly here: acceptance {found.acceptance:.2f} (1 is perfect) with "
            f"{found.n_features} features after {found.labels} labels; use {self._remedy}a narrower prior",
            PoorFitWarning,
            stacklevel=5,
        )

    def certificate(self) -> Certificate:
        """Return the running acceptance rate of the Metropolis correction that would make this belief exact.

        Optimistic where the fit is bad, see ``Certificate``.
        """
        found = float(self._marks[renewal.ACCEPTANCE])
        acceptance = math.nan if found < 0.0 else found
        return Certificate(acceptance, int(self._marks[renewal.ENDED]), self._belief.shape[1])

    def take_over(self, matrix: Vector, labels: Labels, precisions: Vector, marks: Vector, due: int) -> None:
        """Go on from a Gaussian that was kept otherwise: its labels, the prior's precisions, when it was renewed."""
        self._belief[:], self._labels = matrix, labels
        np.fill_diagonal(self._prior[:-1], precisions)
        self._marks[:], self._due = marks, due

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {
            **self._labels.arrays(),
            "belief": self.carried(),
            "renewal": self._renewal.copy(),
            "marks": self._marks.copy(),
            "due": np.array(self._due),
            "prior": self._prior.copy(),
            **self.slab(),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._labels = Labels.from_arrays(arrays, self._belief.shape[1])
        self._belief[:], self._renewal[:] = arrays["belief"], arrays["renewal"]
        self._marks[:], self._prior[:] = arrays["marks"], arrays["prior"]
        self._due = int(arrays["due"])
        self.restore_slab(arrays)


class FadingLaplaceBelief(GaussianBelief):
    """The Gaussian, the labels, and when the item of each came.

    A label moves the belief by a Laplace step in one dimension, forgetting moves it towards the prior, and both are
    put right from the labels that still count whenever there are 6 % more of them. That takes a few passes over them at
    once: their number is bounded by some ten half-lives, so the cost of a label does not grow, though some cost more.
    """

    clock: Clock

    def __init__(self, settings: Laplace, n_features: int, forgetting: Forgetting, groups: Groups) -> None:
        super().__init__(settings.prior, n_features, forgetting)
        self._adaptive, self._groups = settings.adaptive, groups
        self._precision = settings.prior.precision(n_features)
        self._labels, self._moments = Labels(n_features), Growing(1024)
        self._work, self._hessian = make_work(n_features)
        self._due = 1
        if settings.surprises > 0.0:
            self.expect_surprises(settings.surprises, settings.prior)

    @property
    def labels(self) -> Labels:
        """The labels learnt so far."""
        return self._labels

    @property
    def label_moments(self) -> Vector:
        """When the item of each label came."""
        return self._moments.array[: self._labels.n]

    def follow(self, other: FadingLaplaceBelief) -> None:
        """Begin at the moment where another belief is."""
        self.clock.moments[:] = other.clock.moments

    def label_weights(self) -> Vector:
        """Return how much each label counts now."""
        return self.clock.weights(self.label_moments)

    def fitted(self) -> Fitted:
        """Return the mode and the prior that it was found with."""
        return Fitted(self._belief[kernels.MODE].copy(), *_prior_in(self._origin))

    def relearn(
        self, changes: Mapping[int, int | None], fresh: FadingLaplaceBelief, items: Vector | None = None
    ) -> FadingLaplaceBelief:
        """Return a fresh belief after the stored labels, with those at some places changed, each as old as it is."""
        fresh.follow(self)
        kept = [place for place in range(self._labels.n) if changes.get(place, 0) is not None]
        stored, labels = self._labels.revised(changes)
        told = zip(stored if items is None else items, labels.tolist(), self.label_moments[kept].tolist(), strict=True)
        for x, label, moment in told:
            fresh.learn(x, int(label), moment)
        fresh.renew()
        return fresh

    def advance(self, now: float) -> None:
        """Forget up to a moment, if that is due; what was learnt before time began is as old as the beginning."""
        if math.isnan(self.clock.moments[1]):
            self.label_moments[:] = now
        super().advance(now)

    @contextmanager
    def glimpse(self, now: float) -> Iterator[None]:
        """Temporarily advance to ``now``; restore on exit."""
        try:
            with super().glimpse(now):
                yield
        finally:
            if math.isnan(self.clock.moments[1]):  # it has not begun, it was only looked at
                self.label_moments[:] = math.nan

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label; the moment of its item is that on the clock by which labels age, and now if not given."""
        clock, labels = self.clock, self._labels
        if labels.n == len(self._moments.array):
            self._moments.grow(2 * labels.n)
        now = float(clock.moments[1])
        self._moments.array[labels.n] = now if moment is None else min(moment, now)
        labels.add(x, label)
        self._belief[kernels.VARIED][x != labels.features[0, :, 0]] = 1.0
        fading.learn_shared(x, float(label), clock.weight(moment), self._belief)
        if labels.n >= self._due:
            self.renew()

    def renew(self) -> None:
        """Put the belief back at the mode of what the labels say, each by its weight at the time weights refer to."""
        labels, n = self._labels, self._labels.n
        shares = self.clock.weights(self.label_moments)
        counts = np.flatnonzero(shares >= NEGLIGIBLE)
        first = int(counts[0]) if len(counts) else n
        fading.renew(
            labels.features, labels.values, shares, first, n, self._belief, self._origin, self._hessian, self._work
        )
        # after, not before: a far label may have thrown the mode, and it is back now
        numbers, precision = self._groups.numbers, self._precision
        if n and self.doubt is not None:
            rows = self.doubt.slab
            surprises.enforce(self._origin, rows)
            surprises.note_surprises(self._belief, rows, self.doubt.share)
            surprises.rescale_with_slab(self._belief, labels.features, numbers, precision, self._origin, rows)
            surprises.enforce(self._origin, rows)
        elif n and self._adaptive:
            renewal.rescale_prior(self._belief, labels.features, numbers, precision, self._origin)
        if n and self._groups.blocks:
            self._groups.learn(self._belief, self._origin)
        self._due = n + max(1, math.ceil(SHARE_MORE * (n - first)) if n - first >= EVERY else 1)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {
            **self._labels.arrays(),
            **self.moments(),
            "belief": self.carried(),
            "moments": self.label_moments.copy(),
            "due": np.array(self._due),
            "prior": self._origin.copy(),
            **self.slab(),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._labels = Labels.from_arrays(arrays, self._belief.shape[1])
        self._belief[:], self._origin[:] = arrays["belief"], arrays["prior"]
        self._moments = Growing(max(1024, self._labels.n))
        self._moments.array[: self._labels.n] = arrays["moments"]
        self._due = int(arrays["due"])
        self.restore_moments(arrays)
        self.restore_slab(arrays)


def _prior_in(rows: Vector) -> tuple[Vector, Vector]:
    """Return the precisions and the mean of a prior that is kept as a matrix with its mean below."""
    return np.array(rows[:-1].diagonal()), np.array(rows[-1])
