"""The recommended posterior, as it is set: a Gaussian at the mode, with a certificate of its fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .._checks import number
from ..errors import OptionError
from ..features.levels import SLOTS
from ..keys import Key
from .belief import link_of
from .gaussian import unrestricted
from .groups import Groups, check_groups
from .half_life import Forgetting, HalfLife
from .laplace_belief import FadingLaplaceBelief, LaplaceBelief
from .levels import LevelBelief
from .prior import Gaussian
from .reviewed_belief import ReviewedBelief
from .wide import WIDE, WideBelief


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
    surprises
        pi, the share of coefficients that are believed to be far beyond the learnt scale; 0: none. One that the labels
        say is, with a probability above 0.8, is given a prior variance of 25 times the prior's own and left out of the
        learnt scale; and ``ValueOfInformation`` looks for them in indicators (docs/rules.md). Needs ``adaptive`` and a
        prior without a matrix; with 256 features or more there are none.
    half_life
        The age at which a label counts half: a number of items, or a length of time (``"30d"``, a ``timedelta``);
        None: all labels count alike. With one, the mean is not corrected for skew and there is no certificate
        (docs/drift.md).
    groups
        The group of each feature, ``FeatureMap.groups``: 0, or the number of a curve whose coefficients share a scale
        that is learnt at every renewal, whatever ``adaptive`` says; below 0 where the column jumps (docs/curves.md).
        ``SLOTS`` (1,000,000) where a place holds the slot of a level, which has an effect of its own. None: all are in
        group 0.
    sensitivity, specificity
        The chance with which whoever labels calls a positive positive, and a negative negative (second looks tell:
        docs/how-to/check-the-checkers.md). Labels are then 1 with chance (1 - specificity) + (sensitivity +
        specificity - 1) sigma(z), while chances and costs stay those of the truth. Not with a half-life, nor with
        effects of levels.
    """

    prior: Gaussian = field(default_factory=Gaussian)
    skew: bool = False
    adaptive: bool = False
    half_life: HalfLife = None
    groups: Sequence[int] | None = None
    surprises: float = 0.0
    sensitivity: float = field(default=1.0, metadata={"later": True})
    specificity: float = field(default=1.0, metadata={"later": True})

    def __post_init__(self) -> None:
        unrestricted(self.prior, "Laplace")
        number("surprises", self.surprises, least=0.0, most=0.5)
        if self.surprises > 0.0 and not self.adaptive:
            raise OptionError("surprises are measured against a learnt scale: set adaptive=True, or surprises=0")
        link_of(self.sensitivity, self.specificity)
        found = Forgetting.of(self.half_life)
        if found is not None and self.errs:
            raise OptionError("labels of reviewers who err do not fade: leave out half_life, or their errors")
        object.__setattr__(self, "half_life", None if found is None else found.text)
        if self.groups is not None:
            object.__setattr__(self, "groups", check_groups(self.groups))

    @property
    def errs(self) -> bool:
        """Whether labels may be wrong."""
        return self.sensitivity < 1.0 or self.specificity < 1.0

    def takes_more(self, n_features: int) -> bool:
        """Return whether the coefficients are independent, so that one more can join them."""
        return self.prior.variances(n_features) is not None

    def start(self, n_features: int, key: Key) -> LaplaceBelief | FadingLaplaceBelief | WideBelief:
        """Return the belief before the first label."""
        if self.groups is not None and SLOTS in self.groups:
            return self._with_levels(n_features, key, tuple(self.groups))
        groups = Groups(self.groups or (0,) * n_features, n_features)
        if self.surprises > 0.0 and n_features >= WIDE:
            return replace(self, surprises=0.0).start(n_features, key)
        settings = replace(self, prior=groups.start(self.prior)) if groups.blocks else self
        forgetting, variances = Forgetting.of(self.half_life), settings.prior.variances(n_features)
        if self.surprises > 0.0 and variances is None:
            raise OptionError("surprises need a prior with one variance for each feature, not a matrix; or surprises=0")
        if self.errs:
            return ReviewedBelief(settings, n_features, key, groups)
        if forgetting is not None:
            return FadingLaplaceBelief(settings, n_features, forgetting, groups)
        if variances is not None and n_features >= WIDE:
            return WideBelief(settings, variances, key, groups)
        return LaplaceBelief(settings, n_features, key, groups)

    def _with_levels(self, n_features: int, key: Key, groups: tuple[int, ...]) -> LevelBelief:
        """Return the belief that keeps an effect for each level, or say what cannot be had beside it."""
        remedy = "encode with Encoder(many=False), which gives the frequent levels a column each"
        if self.half_life is not None:
            raise OptionError(f"the effects of levels do not fade: leave out half_life, or {remedy}")
        if self.errs:
            raise OptionError(
                f"the effects of levels take labels as true: leave out the errors of reviewers, or {remedy}"
            )
        if self.surprises > 0.0:
            raise OptionError(f"surprises are looked for among straight lines: set surprises=0, or {remedy}")
        return LevelBelief(self, n_features, key, groups)
