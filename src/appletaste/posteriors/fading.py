"""``Laplace`` with a half-life: labels are kept, and count less the older they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from ..kernels import fading, renewal, surprises
from ..kernels import gaussian as kernels
from ..kernels.logistic import make_work
from .belief import Arrays, Vector
from .forgetting import Clock, Forgetting
from .gaussian import GaussianBelief
from .groups import Groups
from .labels import Growing, Labels

if TYPE_CHECKING:
    from .laplace import Laplace

#: Labels that count less than this are passed over: together they are a thousandth of what is known.
NEGLIGIBLE = 2.0**-10
#: Renew when there are this share more labels than count, and at every label up to so many.
GROWTH, EVERY = 0.06, 16


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

    def relearn(self, changes: Mapping[int, int | None], fresh: FadingLaplaceBelief) -> FadingLaplaceBelief:
        """Return a fresh belief after the stored labels, with those at some places changed, each as old as it is."""
        fresh.follow(self)
        kept = [place for place in range(self._labels.n) if changes.get(place, 0) is not None]
        changed = zip(*self._labels.revised(changes), self.label_moments[kept].tolist(), strict=True)
        for x, label, moment in changed:
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
        """Be for a while what it will be at a moment."""
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
        self._due = n + max(1, math.ceil(GROWTH * (n - first)) if n - first >= EVERY else 1)

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
