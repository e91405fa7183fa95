"""Page-Hinkley on residuals: whether labels are still what the model expects (Page 1954; Hinkley 1971)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from .._checks import number
from ..errors import InputError


def threshold_for(labels: float, shift: float) -> float:
    """Return the threshold that gives one false alarm in ``labels`` labels on average, or fewer.

    A sum of log likelihood ratios is nearly Brownian with variance shift^2 p (1 - p) a label and half as much drift
    down; reflected at zero it reaches h after (2 / shift^2) (e^h - h - 1) / (p (1 - p)) labels on average (Siegmund
    1985). With p (1 - p) <= 1/4 and two sides that is at least (4 / shift^2) (e^h - h - 1), which this solves for h.

    Examples
    --------
    >>> round(threshold_for(20_000, 0.5), 2)
    7.14
    """
    low, high = 0.0, 700.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        if 4.0 / shift**2 * (math.expm1(middle) - middle) < labels:
            low = middle
        else:
            high = middle
    return high


def largest_sum(labels: ArrayLike, chances: ArrayLike, shift: float) -> float:
    """Return the largest sum that ``PageHinkley`` comes to on labels in one direction, as if it never began anew.

    ``shift`` above zero: for more positives than expected; below: for fewer.

    Examples
    --------
    >>> test = PageHinkley(shift=0.5, labels_per_false_alarm=1e9)
    >>> sums = [(test.update(label, 0.5), test.statistic)[1] for label in [1, 1, 0, 1]]
    >>> round(max(sums), 12) == round(largest_sum([1, 1, 0, 1], [0.5] * 4, 0.5), 12)
    True
    """
    p = np.clip(np.asarray(chances, dtype=np.float64), 1e-9, 1.0 - 1e-9)
    total = np.cumsum(shift * np.asarray(labels, dtype=np.float64) - np.log1p(p * np.expm1(shift)))
    least = np.minimum.accumulate(np.concatenate(([0.0], total)))[:-1]
    return float(np.max(total - least, initial=0.0))


class PageHinkley:
    """Sum what each label says for a shift of the log-odds against none, from wherever that sum was least.

    With p = the chance that was logged before the label y was seen and r = y - p its residual,

        S_t = max(0, S_(t-1) + d r - k(p)),    k(p) = log(1 - p + p e^d) - d p,

    once with d = ``shift`` for more positives and once with d = -``shift`` for fewer; an alarm is S_t > h. The term
    k(p), nearly d^2 p (1 - p) / 2, is the drift that Page-Hinkley subtracts: chosen so, d r - k(p) is the logarithm of
    a likelihood ratio, the test is Page's own, and labels of different chances can be added up.

    A policy chooses what it acts on by the item and its own coin, never by the label. So given the item a residual is
    fair, E r = 0, whatever was chosen, if the chance is right. It says nothing of passes.

    Parameters
    ----------
    shift
        The least change of the log-odds worth an alarm. A bias of less than half of it never adds up to one.
    labels_per_false_alarm
        How many labels there are on average before a false alarm, at least.

    Examples
    --------
    >>> test = PageHinkley(shift=0.5)
    >>> [test.update(label, 0.5) for label in [0, 1] * 50].count(0)   # no alarm
    100
    >>> found = [test.update(1, 0.5) for _ in range(40)]
    >>> found.index(1), test.start
    (31, 99)
    """

    def __init__(self, shift: float = 0.5, labels_per_false_alarm: float = 20_000) -> None:
        self.shift = number("shift", shift, above=0.0, most=20.0)
        number("labels_per_false_alarm", labels_per_false_alarm, least=1.0)
        self.threshold = threshold_for(labels_per_false_alarm, shift)
        self.labels = 0  #: seen so far
        self.start = 0  #: where the change that the last alarm was about seems to have begun
        self.statistic = 0.0  #: the larger of the two sums, after the last label
        self._sums, self._starts = [0.0, 0.0], [0, 0]

    def update(self, label: int, chance: float, place: int | None = None) -> int:
        """Test a label against the chance of its item; return 1 (more positives), -1 (fewer) or 0 (no alarm).

        After an alarm the sums begin anew, so that a change that lasts is told again. ``start`` is the ``place`` of the
        label at which the sum was last zero: the number of labels, unless places are given.
        """
        if label not in (0, 1):
            raise InputError(f"a label is 0 (negative) or 1 (positive), got {label!r}")
        if not 0.0 <= chance <= 1.0:
            raise InputError(f"a chance is P(positive), from 0 to 1, got {chance!r}")
        p = min(max(chance, 1e-9), 1.0 - 1e-9)
        self.labels += 1
        place = self.labels if place is None else place
        for side, d in enumerate((self.shift, -self.shift)):
            total = self._sums[side] + d * label - math.log1p(p * math.expm1(d))
            if total <= 0.0:
                total, self._starts[side] = 0.0, place
            self._sums[side] = total
        side = 0 if self._sums[0] >= self._sums[1] else 1
        self.statistic = self._sums[side]
        if self.statistic <= self.threshold:
            return 0
        self.start = self._starts[side]
        self._sums, self._starts = [0.0, 0.0], [place, place]
        return 1 - 2 * side
