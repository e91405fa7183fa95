"""Assumed-density filtering: match two moments, forget the label (Opper 1998; Minka 2001)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ..kernels import gaussian as kernels
from ..keys import Key
from .belief import Arrays, Vector
from .gaussian import GaussianBelief, unrestricted
from .groups import Groups, check_groups
from .half_life import Forgetting, HalfLife
from .label_table import next_renewal
from .prior import Gaussian

#: Where labels fade, scales are learnt at the latest after so many more.
LATEST = 256


@dataclass(frozen=True)
class Adf:
    """Replace the posterior by the Gaussian with its mean and variance after every label.

    Nothing is stored but N(m, V), so memory does not grow; nothing can be corrected either: each label is judged by
    the belief of its time. Where scores are far from zero before much is known (rare positives, wide priors) the
    belief stays wrong for long: with Thompson sampling on rare positives its regret is 16 % above the exact
    posterior's, at d = 20 7 %, at d = 5 1 %. Use it where a microsecond matters more; otherwise ``Laplace``.

    Parameters
    ----------
    prior
        N(b, B), without a region.
    half_life
        The age at which a label counts half: a number of items, or a length of time (``"30d"``, a ``timedelta``) for
        streams whose items come with their time. Without labels the belief then goes back to the prior
        (docs/drift.md). None: nothing is forgotten.
    groups
        The group of each feature, ``FeatureMap.groups``, as ``Laplace`` takes it. N(m, V) and the prior tell what the
        labels say of each curve, so scales are learnt without labels, whenever there are 6 % more of them. None: all
        are in group 0.

    Examples
    --------
    >>> import numpy as np
    >>> import appletaste as at
    >>> belief = at.posteriors.Adf(half_life=960).start(1, at.Key(0))
    >>> belief.learn(np.array([2.0]), 1)
    >>> known = 1.0 / belief.covariance[0, 0] - 1.0   # precision beyond the prior's
    >>> for round_ in range(1, 961):
    ...     belief.commit(round_)
    >>> float(round((1.0 / belief.covariance[0, 0] - 1.0) / known, 9))
    0.5
    """

    prior: Gaussian = field(default_factory=Gaussian)
    half_life: HalfLife = None
    groups: Sequence[int] | None = None

    def __post_init__(self) -> None:
        unrestricted(self.prior, "Adf")
        found = Forgetting.of(self.half_life)
        object.__setattr__(self, "half_life", None if found is None else found.text)
        if self.groups is not None:
            object.__setattr__(self, "groups", check_groups(self.groups))

    def start(self, n_features: int, key: Key) -> AdfBelief | BentAdfBelief:
        """Return the belief before the first label."""
        groups, forgetting = Groups(self.groups or (0,) * n_features, n_features), Forgetting.of(self.half_life)
        if not groups.blocks:
            return AdfBelief(self.prior, n_features, forgetting)
        return BentAdfBelief(groups.start(self.prior), n_features, forgetting, groups)


class AdfBelief(GaussianBelief):
    """N(m, V) and, if it forgets, a clock."""

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label; the moment of its item is that on the clock by which labels age, and now if not given."""
        power = 1.0 if self.clock is None else self.clock.weight(moment)
        kernels.learn_adf(x, float(label), power, self._belief)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {"belief": self.carried(), **self.moments()}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._belief[:] = arrays["belief"]
        self.restore_moments(arrays)


class BentAdfBelief(AdfBelief):
    """The same with curves, whose scales are learnt from N(m, V) and the prior that it was made with."""

    def __init__(self, prior: Gaussian, n_features: int, forgetting: Forgetting | None, groups: Groups) -> None:
        super().__init__(prior, n_features, forgetting)
        self._groups = groups
        if forgetting is None:
            self._origin = np.vstack([prior.precision(n_features), prior.mean_vector(n_features)])
        self._counts = np.array([0.0, 1.0])  # labels so far, and at how many the scales are learnt next

    def learn(self, x: Vector, label: int, moment: float | None = None) -> None:
        """Learn one label, and the scales of curves if that is due."""
        super().learn(x, label, moment)
        self._counts[0] += 1.0
        if self._counts[0] >= self._counts[1]:
            self._groups.learn(self._belief, self._origin)
            n = int(self._counts[0])
            self._counts[1] = next_renewal(n) if self.clock is None else min(next_renewal(n), n + LATEST)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {**super().arrays(), "prior": self._origin.copy(), "counts": self._counts.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        super().restore(arrays)
        self._origin[:], self._counts[:] = arrays["prior"], arrays["counts"]
