"""The population stability index: whether a feature is distributed as it was (Siddiqi 2006; Yurdakul 2018)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import number, whole
from ..errors import InputError
from ..features.levels import hold_slots

Values = Sequence[Any] | NDArray[Any]
#: What people call a shift, and a large one, whatever the number of items (Siddiqi 2006).
SHIFT, LARGE = 0.1, 0.25
#: Most levels of a category that have a bin of their own.
LEVELS = 20
#: Items of a block, by whose counts clumps are told.
BLOCK = 100
#: Added to each count, so that an empty bin does not make the index infinite.
HALF = 0.5


@dataclass(frozen=True)
class Bins:
    """Where the values of a feature are counted; made from the reference alone. The last bin is for missing values.

    Numbers have bins of equal share in the reference. Where the reference has few values, there is a bin for each
    value and, at either end, one for numbers beyond all of them: a column with one value in the reference is watched
    too. Texts have a bin for each of the 20 most frequent levels, and one for all others. The slots of a column with
    many levels are no quantity, and all have one bin: watch records, and not vectors, where such a column may shift.
    """

    edges: tuple[float, ...] = ()
    levels: tuple[Any, ...] = ()
    numeric: bool = True
    least: float | None = None  #: of few values, the smallest: the first bin is below it, the last above the largest

    @staticmethod
    def of(values: Values, bins: int) -> Bins:
        """Return the bins of a reference."""
        numbers = _numbers(values)
        if numbers is None:
            ranked = Counter(values).most_common()
            return Bins(levels=tuple(level for level, _ in ranked if not _missing(level))[:LEVELS], numeric=False)
        known = numbers[~np.isnan(numbers)]
        if hold_slots(known):  # names of levels: those that come late have the larger ones, and nothing has changed
            return Bins()
        distinct = np.unique(known)
        if len(distinct) <= bins:
            if not len(distinct):
                return Bins()
            below = np.nextafter(distinct[0], -np.inf)  # bins are closed above
            between = 0.5 * (distinct[1:] + distinct[:-1])
            return Bins(edges=(float(below), *between.tolist(), float(distinct[-1])), least=float(distinct[0]))
        return Bins(edges=tuple(np.unique(np.quantile(known, np.arange(1, bins) / bins)).tolist()))

    def count(self, values: Values) -> NDArray[np.float64]:
        """Return how many values are in each bin."""
        if self.numeric:
            numbers = _numbers(values)
            if numbers is None:
                raise InputError("this feature held numbers in the reference and holds text now")
            lost = np.isnan(numbers)
            places = np.searchsorted(self.edges, numbers[~lost], side="left")
            return np.append(np.bincount(places, minlength=len(self.edges) + 1), lost.sum()).astype(np.float64)
        index = {level: place for place, level in enumerate(self.levels)}
        counts = np.zeros(len(self.levels) + 2)
        for value, times in Counter(values).items():
            counts[-1 if _missing(value) else index.get(value, len(self.levels))] += times
        return counts

    def names(self) -> list[str]:
        """Return what each bin holds, in words."""
        if not self.numeric:
            return [*(repr(level) for level in self.levels), "other", "missing"]
        if not self.edges:
            return ["any number", "missing"]
        edges, first = self.edges, f"up to {self.edges[0]:.6g}"
        if self.least is not None:
            edges, first = (self.least, *edges[1:]), f"below {self.least:.6g}"
        between = [f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}" for low, high in pairwise(edges)]
        return [first, *between, f"above {edges[-1]:.6g}", "missing"]


@dataclass(frozen=True)
class Stability:
    """How far one sample of a feature is from another, by bins."""

    value: float  #: the index, sum over bins of (q - p) log(q / p)
    freedom: int  #: bins with anything in them, less one
    bins: Bins
    before: NDArray[np.float64]  #: counts of the reference
    now: NDArray[np.float64]
    clump: float = 1.0  #: how many items in a row are worth one that is independent (``clumping``)

    @property
    def names(self) -> tuple[str, ...]:
        """What each bin holds, in words."""
        return tuple(self.bins.names())

    def critical(self, rate: float) -> float:
        """Return what the index exceeds with this probability if nothing has changed.

        Then it is nearly (1/n + 1/m) chi-squared with B - 1 degrees of freedom for samples of n and m independent items
        in B bins (Yurdakul 2018); its quantile is by Wilson and Hilferty (1931). Where items come in clumps, n and m
        count clumps (Rao & Scott 1981).
        """
        number("rate", rate, above=0.0, most=0.5)
        if self.freedom < 1:
            return math.inf
        ninth = 2.0 / (9.0 * self.freedom)
        quantile = self.freedom * (1.0 - ninth + NormalDist().inv_cdf(1.0 - rate) * math.sqrt(ninth)) ** 3
        return float(self.clump * (1.0 / self.before.sum() + 1.0 / self.now.sum()) * quantile)

    def largest_change(self) -> tuple[str, float, float]:
        """Return the bin that adds most to the index, its share in the reference, and now."""
        part = _parts(self.before, self.now)
        place = int(np.argmax(part))
        before, now = self.before / self.before.sum(), self.now / self.now.sum()
        return self.names[place], float(before[place]), float(now[place])


def psi(reference: Values, current: Values, bins: int = 10) -> Stability:
    """Return the population stability index of a feature: numbers or texts, None and NaN are missing.

    PSI = sum_b (q_b - p_b) log(q_b / p_b) over the shares p of the reference and q of now, with half an item added to
    each bin. The folk levels are 0.1 and 0.25; ``critical`` says what chance alone would give.

    Examples
    --------
    >>> before, now = ["card"] * 80 + ["cash"] * 20, ["card"] * 50 + ["cash"] * 50
    >>> found = psi(before, now)
    >>> round(found.value, 2), found.value > found.critical(0.001)
    (0.41, True)
    >>> found.largest_change()
    ("'cash'", 0.2, 0.5)
    """
    whole("bins", bins, least=2, most=1000)
    if not len(reference) or not len(current):
        raise InputError("a stability index needs items in the reference and items now, got none")
    made = Bins.of(reference, bins)
    return compare(made, made.count(reference), made.count(current))


def compare(bins: Bins, before: NDArray[np.float64], now: NDArray[np.float64], clump: float = 1.0) -> Stability:
    """Return the index of the counts of a sample against those of the reference."""
    used = (before + now) > 0
    return Stability(float(indices(before, now)), int(used.sum()) - 1, bins, before, now, clump)


def clumping(bins: Bins, values: Values) -> float:
    """Return how many items of a reference, in their order, are worth one that is independent: 1, or more.

    A customer who comes twenty times in a row is one customer. The counts of blocks of items then vary more than those
    of independent items do: chi-squared over its degrees of freedom is the design effect (Kish 1965). Less than
    three standard errors above 1 it is 1; else the end of its interval is taken, two of them above.

    Examples
    --------
    >>> values = np.random.default_rng(1).normal(size=1000)
    >>> bins = Bins.of(values, 10)
    >>> clumping(bins, values), 15 < clumping(bins, np.repeat(values[:50], 20)) < 40
    (1.0, True)
    """
    blocks = len(values) // BLOCK
    if blocks < 2:
        return 1.0
    counts = np.array([bins.count(values[k * BLOCK : (k + 1) * BLOCK]) for k in range(blocks)])
    counts = counts[:, counts.sum(axis=0) > 0]
    freedom = (blocks - 1) * (counts.shape[1] - 1)
    if freedom < 1:
        return 1.0
    expected = counts.mean(axis=0)
    found = float(((counts - expected) ** 2 / expected).sum()) / freedom
    error = math.sqrt(2.0 / freedom)
    return found * (1.0 + 2.0 * error) if found > 1.0 + 3.0 * error else 1.0


def indices(before: NDArray[np.float64], now: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the index of each sample against the reference, many samples at once: counts are [..., bin].

    Examples
    --------
    >>> indices(np.array([50.0, 50.0]), np.array([[50.0, 50.0], [90.0, 10.0]])).round(3).tolist()
    [0.0, 0.853]
    """
    return np.asarray(_parts(before, now).sum(axis=-1))


def _parts(before: NDArray[np.float64], now: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what each bin adds to the index; a bin that is empty in both adds nothing."""
    used = (before + now) > 0
    p, q = (before + HALF) * used, (now + HALF) * used
    p, q = p / p.sum(axis=-1, keepdims=True), q / q.sum(axis=-1, keepdims=True)
    return np.asarray((q - p) * np.log(np.where(used, q, 1.0) / np.where(used, p, 1.0)))


def _missing(value: Any) -> bool:
    return value is None or value != value


def _numbers(values: Values) -> NDArray[np.float64] | None:
    """Return values as float64 with NaN where missing; None if any is text."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        return values.astype(np.float64)
    if any(isinstance(value, str) for value in values):
        return None
    if any(not _missing(value) and not isinstance(value, int | float | np.number | np.bool_) for value in values):
        return None
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)
