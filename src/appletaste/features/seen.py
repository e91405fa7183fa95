"""What the warm-up had in a column, in few numbers: a histogram of numbers, or how often each level came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Bins of a histogram; numbers with at most ``FEW`` values have a bin for each.
BINS, FEW = 24, 12
#: Levels that are counted by name, the most frequent ones; all others are counted together.
LEVELS = 50
#: Of the values this share lies beyond each end of a histogram whose tails are long, and is counted in its last bin.
TAIL = 0.005
#: A range this many times the range without tails shows the tails, too.
WHOLE = 1.5
#: Where the median lies nearer to one end than this share of the range, bins grow wider away from that end.
SKEWED = 0.2


class Seen(NamedTuple):
    """Counts of what was seen in a column; it does not grow with the number of rows.

    Examples
    --------
    >>> Seen.of_numbers(np.array([0.0, 1.0, 1.0, 2.0, np.nan]))
    Seen(edges=(-0.5, 0.5, 1.5, 2.5), levels=(), counts=(1, 2, 1), missing=1, others=0)
    >>> Seen.of_levels(["chef", "pilot", "chef", None])
    Seen(edges=(), levels=('chef', 'pilot'), counts=(2, 1), missing=1, others=0)
    """

    edges: tuple[float, ...] = ()  #: of the bins of numbers; beyond both ends, values count in the last bins
    levels: tuple[str, ...] = ()  #: of a category, the most frequent first
    counts: tuple[int, ...] = ()  #: of each bin or level
    missing: int = 0
    others: int = 0  #: of levels that are not listed

    @classmethod
    def of_numbers(cls, values: NDArray[np.float64]) -> Seen:
        """Return the histogram of numbers, NaN where missing."""
        known = values[~np.isnan(values)]
        missing = len(values) - len(known)
        if not len(known):
            return cls(missing=missing)
        edges = _edges(known)
        return cls(tuple(edges.tolist()), (), tuple(count_between(edges, known)), missing)

    @classmethod
    def of_places(cls, places: Iterable[int], turns: int, missing: int) -> Seen:
        """Return how often each place on a circle was seen."""
        counts = np.bincount(np.array(list(places), dtype=np.int64), minlength=turns)
        return cls(tuple(map(float, range(turns + 1))), (), tuple(counts.tolist()), missing)

    @classmethod
    def of_levels(cls, levels: Iterable[str | None], most: int = LEVELS) -> Seen:
        """Return how often the most frequent levels were seen; None is missing."""
        counts = Counter(levels)
        missing = counts.pop(None, 0)
        found = sorted(((level, n) for level, n in counts.items() if level is not None), key=lambda one: (-one[1], one))
        listed, others = found[:most], sum(n for _, n in found[most:])
        return cls((), tuple(level for level, _ in listed), tuple(n for _, n in listed), missing, others)

    def of(self, level: str) -> int:
        """Return how often a level was seen."""
        return self.counts[self.levels.index(level)] if level in self.levels else 0

    def header(self) -> dict[str, Any]:
        """Return the counts as JSON, for saving."""
        return {name: list(found) if isinstance(found, tuple) else found for name, found in self._asdict().items()}

    @classmethod
    def restore(cls, saved: dict[str, Any]) -> Seen:
        """Return what ``header`` described."""
        edges, levels, counts = (tuple(saved[name]) for name in ("edges", "levels", "counts"))
        return cls(edges, levels, counts, saved["missing"], saved["others"])


def count_between(edges: ArrayLike, values: NDArray[np.float64]) -> list[int]:
    """Return how many values lie in each bin; those beyond the ends are in the last bins.

    Examples
    --------
    >>> count_between([0.0, 1.0, 2.0], np.array([-3.0, 0.5, 1.0, 9.0]))
    [2, 2]
    """
    ends = np.asarray(edges)
    nearly = 1e-9 * (ends[-1] - ends[0])  # a value that was standardised and back again stays in its bin
    places = np.searchsorted(ends, values + nearly, side="right") - 1
    return np.bincount(np.clip(places, 0, len(ends) - 2), minlength=len(ends) - 1).tolist()  # type: ignore[no-any-return]


def _edges(known: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ends of bins: around each of few values, else evenly, or ever wider where values crowd at one end."""
    levels = np.unique(known)
    if len(levels) == 1:
        return np.array([levels[0] - 0.5, levels[0] + 0.5])
    if len(levels) <= FEW:
        middle = 0.5 * (levels[1:] + levels[:-1])
        return np.concatenate([[2 * levels[0] - middle[0]], middle, [2 * levels[-1] - middle[-1]]])
    low, high = np.quantile(known, [TAIL, 1.0 - TAIL])
    if levels[-1] - levels[0] <= WHOLE * (high - low) or low == high:
        low, high = levels[0], levels[-1]
    median = float(np.median(known))
    share = (median - low) / (high - low)
    if SKEWED <= share <= 1.0 - SKEWED:
        return np.linspace(low, high, BINS + 1)
    right = share < SKEWED
    away = known - low if right else high - known
    size = float(np.median(away[away > 0.0]))  # half of what is not at the very end is within
    steps = size * np.sinh(np.linspace(0.0, np.arcsinh((high - low) / size), BINS + 1))
    steps[-1] = high - low
    return np.asarray(low + steps if right else (high - steps)[::-1])
