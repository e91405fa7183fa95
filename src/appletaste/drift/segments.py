"""In which part of the items labels are not what the model expected: the stratum that an alarm is mostly about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..logs.coded import counts_of

#: A part is named if it is so many standard errors off, and has at least this share of what is too many, or too few.
ERRORS, SHARE = 3.0, 0.5


@dataclass(frozen=True)
class Segment:
    """A stratum with other labels than the model expected."""

    name: str
    labels: int
    positives: int
    expected: float

    def __str__(self) -> str:
        return (
            f"most of all {self.name!r}: {self.positives:,} positives among {self.labels:,} labels, where the model "
            f"expected {self.expected:,.1f}"
        )


def segment_of(strata: Any, label: NDArray[Any], chance: NDArray[np.float64], more: bool) -> Segment | None:
    """Return the stratum that an alarm of labels is mostly about; None: it is about all of them, or about no one.

    The number of positives in each stratum is held against the sum of their chances, whose variance is the sum of
    c (1 - c); only the stratum that is furthest off is named, and only if it makes up half of the difference.

    Examples
    --------
    >>> strata = np.repeat(["card", "voucher"], 100)
    >>> print(segment_of(strata, np.arange(200) >= 150, np.full(200, 0.1), more=True))
    most of all 'voucher': 50 positives among 100 labels, where the model expected 10.0
    """
    sign = 1.0 if more else -1.0
    whole = sign * float(np.sum(label) - np.sum(chance))
    found: list[tuple[float, Segment]] = []
    counts = counts_of(strata)
    for name in counts if len(counts) > 1 else ():
        here = np.asarray(strata == name)
        positives, expected = int(np.sum(label[here])), float(np.sum(chance[here]))
        away = sign * (positives - expected)
        error = math.sqrt(max(float(np.sum(chance[here] * (1.0 - chance[here]))), 1e-12))
        if name and away > ERRORS * error and away >= SHARE * whole:
            found.append((away, Segment(str(name), int(here.sum()), positives, expected)))
    return max(found, key=lambda one: one[0])[1] if found else None
