"""The Gaussian under labels of reviewers who err."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kernels import renewal, reviewed
from ..keys import Key
from .belief import Vector, link_of
from .groups import Groups
from .laplace_belief import AT_ONCE, ATTEMPTS, CONVERGED, LaplaceBelief

if TYPE_CHECKING:
    from .laplace import Laplace


class ReviewedBelief(LaplaceBelief):
    """The Gaussian at the mode of what the labels say if each is wrong with a known chance.

    Scores, chances and regrets are of the truth, as always. The covariance is the inverse of Fisher's information at
    the mode, a renewal takes steps of Fisher's scoring, and between two renewals a label moves the belief by its
    moments (``kernels.reviewed``).
    """

    _remedy = ""  # the exact posteriors take labels as true

    def __init__(self, settings: Laplace, n_features: int, key: Key, groups: Groups) -> None:
        super().__init__(settings, n_features, key, groups)
        self._false_ones, self._false_zeros = 1.0 - settings.specificity, 1.0 - settings.sensitivity
        self.link = link_of(settings.sensitivity, settings.specificity)
        self._few = max(self._few, AT_ONCE)

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label, and go on with the pass if one is under way or due."""
        labels = self._labels
        labels.make_room()
        n, errors = labels.n, (self._false_ones, self._false_zeros)
        reviewed.learn_reviewed(x, float(label), *errors, self._belief, labels.features, labels.values, n)
        labels.n = n + 1
        if n + 1 >= self._due:
            self._renew(n + 1)

    def _fit(self, n: int) -> None:
        """Go to the mode of a few labels at once, by passes without probes."""
        belief, prior, work, marks = self._belief, self._prior, self._work, self._marks
        renewal.begin(self._key, n, belief, prior, self._renewal, marks, work)
        marks[renewal.BEGUN] = 0.0
        for attempt in range(ATTEMPTS):
            short = CONVERGED if attempt + 1 < ATTEMPTS else self._trusted
            passed = self._pass_over(n, n)
            if passed and renewal.finish(n, self._skew, short, belief, prior, self._renewal, marks, work):
                break

    def _pass_over(self, rows: int, n: int) -> bool:
        """Let the pass go over that many more labels; return whether none is left."""
        labels, errors = self._labels, (self._false_ones, self._false_zeros)
        return reviewed.advance_reviewed(
            rows, labels.features, labels.values, n, self._skew, *errors, self._renewal, self._marks, self._work
        )
