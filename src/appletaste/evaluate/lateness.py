"""How late labels are: the law of a delay from labels that have arrived, by the product limit in reversed time.

A label is seen only if it arrived before the log ended: its delay D is at most the age A of its decision. Delays that
are seen are therefore the short ones. Given the ages, with d(s) labels of delay s, and R(s) of those with D <= s <= A,

    F(t) = product over s > t of (1 - d(s) / R(s)),        var log F(t) = sum over s > t of d / (R (R - d)),

is the share of labels that arrive within t, of those that arrive within the age of the oldest decisions (Lagakos,
Barraj & De Gruttola 1988; Woodroofe 1985). No decision without a label is needed for it, so it can be had for each
class by itself. A delay that hardly any decision is old enough for is left out: it counts as never.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..logs.lazy import each_batch
from ..times import DAY, instants

Floats = NDArray[np.float64]
#: Labels whose decisions are old enough for a delay, below which nobody can say how often it is that long.
LEAST_OLD = 10
#: Labels of a class with a time of arrival, below which the class has no law of its own.
LEAST_TIMED = 10
#: Labels with a time of arrival, below which nobody can say how long labels take.
LEAST = 20
#: Seconds without a label, after the last decision, behind which labels have the times of another clock.
SILENCE = 180 * DAY


@dataclass(frozen=True)
class Lateness:
    """The law of a delay: F at the delays that were seen, and the standard error of log F there.

    Examples
    --------
    >>> law = Lateness.of(np.array([1.0, 1.0, 2.0, 4.0]), np.array([1.0, 9.0, 9.0, 9.0]), least=1)
    >>> law.within(np.array([0.5, 1.0, 3.0, 4.0])).round(3).tolist()  # 1 of 3 took 4, of those before it 1 of 2 took 2
    [0.0, 0.333, 0.667, 1.0]
    """

    delays: Floats  #: in order, each once
    shares: Floats  #: F from each delay on, after F below the first
    errors: Floats  #: standard errors of log F, likewise

    @classmethod
    def of(cls, delays: Floats, ages: Floats, least: int = LEAST_OLD) -> Lateness:
        """Return the law by the product limit for right-truncated delays."""
        found, seen = np.unique(delays, return_counts=True)
        by_age = np.sort(ages)
        old_enough = len(ages) - by_age.searchsorted(found, side="left")
        at_risk = np.cumsum(seen) - by_age.searchsorted(found, side="left")  # D <= s <= A
        told = old_enough >= least
        part = np.where(told, seen / at_risk, 0.0)
        noise = np.where(told, seen / (at_risk * np.maximum(at_risk - seen, 0.5)), 0.0)
        shares = np.cumprod((1.0 - part)[::-1])[::-1]
        errors = np.sqrt(np.cumsum(noise[::-1])[::-1])
        return cls(found, np.append(shares, 1.0), np.append(errors, 0.0))

    def within(self, ages: Floats) -> Floats:
        """Return F: the share of labels that have arrived at these ages."""
        return self.shares[self.delays.searchsorted(ages, side="right")]

    def error(self, ages: Floats) -> Floats:
        """Return the standard error of log F at these ages."""
        return self.errors[self.delays.searchsorted(ages, side="right")]


def seconds_of(column: NDArray[np.generic]) -> Floats:
    """Return times as numbers; NaN where there is none."""
    if column.dtype.kind == "M":
        return np.where(np.isnat(column), np.nan, column.astype("datetime64[us]").astype(np.int64) / 1e6)
    if column.dtype.kind != "U":
        return np.asarray(column[:], dtype=np.float64)
    return np.concatenate([np.empty(0), *each_batch(column, instants, what="reading times")])


def of_another_clock(decided: Floats, arrived: Floats) -> NDArray[np.bool_]:
    """Return which labels came behind a silence of half a year, longer than the log until then.

    Labels came before the silence, too: where all of them are late, that is how late labels are.
    """
    last, times = float(np.nanmax(decided)), np.sort(arrived[~np.isnan(arrived)])
    ends = np.concatenate([[last], times[times > last]])
    silent = np.flatnonzero(np.diff(ends) > np.maximum(SILENCE, ends[:-1] - float(np.nanmin(decided))))
    other = arrived > (ends[silent[0]] if len(silent) else np.inf)
    return other if len(times) - int(other.sum()) >= LEAST else np.zeros(len(arrived), dtype=np.bool_)
