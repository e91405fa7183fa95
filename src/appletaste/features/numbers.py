"""How a column of numbers becomes an entry of a vector: in deviations from the mean, within the range that was seen.

A column that holds another model's score: a number, as log-odds where it is a probability (docs/curves.md).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..tables.values import LARGEST, as_number
from .columns import Column, ColumnEntries, Entries

if TYPE_CHECKING:
    from ..tables.records import Records


#: A variance below this share of the mean square is rounding, not variation.
ROUNDING = 1e-12
#: What is nearer to the one value of a constant column than this share of it is that value.
SAME = 1e-9
#: The statistics of a number before the first value: none, no shift, empty sums, an empty range.
UNSEEN = (0.0, 0.0, 0.0, 0.0, math.inf, -math.inf)


class Number(Column):
    """A number, standardised by what was seen before it; where it is missing, the mean and an indicator.

    The statistics are sums over what was seen of v - shift and its square, and the least and largest v - shift. The
    shift, the median of the warm-up, keeps their digits; plain sums, in order, make a column at once equal to cell by
    cell.

    A score is linear in the number, and nothing is known of it beyond what was seen. So a number is held within the
    range that was seen, widened by (high - low) / (n - 1), as the ends of a uniform law are estimated from n values. A
    column that was constant has no scale: it says whether a value is as before (0), above (1) or below (-1). Before
    the first value it says nothing (0).
    """

    kind = "number"
    wants = "numbers"
    numeric = True

    def __init__(self, name: str, standardise: bool, clip: float | None, online: bool, indicator: bool) -> None:
        self.name, self.standardise, self.online, self.indicator = name, standardise, online, indicator
        self.clip = math.inf if clip is None else clip
        self.take(*UNSEEN)

    def take(self, count: float, shift: float, total: float, squares: float, low: float, high: float) -> None:
        """Take these statistics: how many, the shift, the sums of v - shift and its square, the least and largest."""
        self.statistics = (count, shift, total, squares, low, high)
        self.count, self.shift = count, shift
        self.centre, self.scale, self.constant = 0.0, 1.0, True
        self.lowest, self.highest = -math.inf, math.inf  # of v - shift, as it is held
        if count:
            self.centre = total / count
            variance = (squares - total * total / count) / count
            if variance > ROUNDING * (squares / count):
                self.scale, self.constant = math.sqrt(variance), False
                if self.clip < math.inf:
                    room = (high - low) / (count - 1.0)
                    self.lowest, self.highest = low - room, high + room

    def fit(self, values: NDArray[np.float64]) -> None:
        """Take the statistics of a column."""
        seen = values[~np.isnan(values)]
        if len(seen):
            shift = float(np.median(seen))
            away = seen - shift
            sums = float(np.cumsum(away)[-1]), float(np.cumsum(away * away)[-1])
            self.take(float(len(seen)), shift, *sums, float(away.min()), float(away.max()))

    @property
    def names(self) -> list[str]:
        """The names of the entries' places."""
        return [self.name, f"{self.name} missing"] if self.indicator else [self.name]

    def read(self, value: Any, missing: Collection[str]) -> float:
        """Return a cell as a number, NaN where missing; ValueError where it is none."""
        if type(value) is float and -LARGEST < value < LARGEST:
            return value
        return as_number(value, missing)

    def encode(self, value: float, update: bool) -> Entries:
        """Return the entries of a cell, from what was seen before it; then count it, if the statistics run on."""
        if value != value:
            fill = 0.0 if self.standardise else self.shift + self.centre
            return [(0, fill), (1, 1.0)] if self.indicator else [(0, fill)]
        away = value - self.shift
        if self.standardise:
            value = self._standardised(away)
        if update and self.online:
            count, shift, total, squares, low, high = self.statistics
            self.take(count + 1.0, shift, total + away, squares + away * away, min(low, away), max(high, away))
        return [(0, value)]

    def _standardised(self, away: float) -> float:
        """Return v - shift in deviations from the mean, held; of a constant column, on which side it is."""
        if self.constant:
            step, least = away - self.centre, SAME * abs(self.shift)
            return 0.0 if not self.count or -least <= step <= least else math.copysign(1.0, step)
        held = self.lowest if away < self.lowest else self.highest if away > self.highest else away
        value = (held - self.centre) / self.scale
        return -self.clip if value < -self.clip else self.clip if value > self.clip else value

    def encode_column(self, values: NDArray[np.float64], update: bool) -> ColumnEntries:
        """Return the entries of a column, each row's from what was seen before it if the statistics run on."""
        absent = np.isnan(values)
        away = np.where(absent, 0.0, values - self.shift)
        now: Any = (self.count, self.centre, self.scale, self.constant, self.lowest, self.highest)
        count, centre, scale, constant, lowest, highest = self._running(away, absent) if update and self.online else now
        if self.standardise:
            held = np.where(away < lowest, lowest, np.where(away > highest, highest, away))
            usual = np.clip((held - centre) / scale, -self.clip, self.clip)
            step, least = away - centre, SAME * abs(self.shift)
            side = np.where((count == 0) | ((-least <= step) & (step <= least)), 0.0, np.copysign(1.0, step))
            numbers = np.where(absent, 0.0, np.where(constant, side, usual))
        else:
            numbers = np.where(absent, self.shift + centre, values)
        entries = [(np.zeros(len(values), np.intp), numbers)]
        if self.indicator:
            entries.append((np.ones(len(values), np.intp), absent.astype(np.float64)))
        return entries

    def _running(self, away: NDArray[np.float64], absent: NDArray[np.bool_]) -> tuple[NDArray[Any], ...]:
        """Take in a column; return what ``take`` made of the statistics before each row. ``cumsum`` adds in order."""
        started = zip(self.statistics, (~absent, absent, away, away * away, away, away), strict=True)
        first, shift, total, squares, low, high = (np.concatenate([[one], more]) for one, more in started)
        low[1:][absent], high[1:][absent] = math.inf, -math.inf
        sums = np.cumsum(first), np.cumsum(total), np.cumsum(squares)
        ends = np.minimum.accumulate(low), np.maximum.accumulate(high)
        self.take(float(sums[0][-1]), float(shift[0]), *(float(one[-1]) for one in (*sums[1:], *ends)))
        count, total, squares, low, high = (one[:-1] for one in (*sums, *ends))
        n = np.maximum(count, 1.0)
        variance = (squares - total * total / n) / n
        constant = ~(variance > ROUNDING * (squares / n))
        free = constant | (self.clip == math.inf)
        low, high = np.where(free, -math.inf, low), np.where(free, math.inf, high)
        room = np.where(free, 0.0, (high - low) / np.maximum(n - 1.0, 1.0))
        return count, total / n, np.sqrt(np.where(constant, 1.0, variance)), constant, low - room, high + room

    def usual(self) -> list[float]:
        """Return the mean, which is 0 where numbers are standardised."""
        return [0.0 if self.standardise else self.shift + self.centre]

    def running(self) -> list[Number]:
        """Return the number, whose statistics are saved."""
        return [self]

    def value(self, entry: float) -> float:
        """Return the number that an entry stands for, as far as an entry can say; its scale must not have moved on."""
        return self.shift + self.centre + entry * self.scale if self.standardise else entry

    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return the number, or that it is missing."""
        value = float(block[0])
        if (known and cell != cell) or (self.indicator and block[1]):
            return f"{self.name} is missing"
        if known:
            return f"{self.name} = {cell:.6g}"
        if not self.standardise:
            return f"{self.name} = {value:.6g}"
        if self.online:  # the scale it was standardised by has moved on
            return f"{self.name} is {value:+.2g} deviations from its mean"
        if self.constant and value:
            return f"{self.name} is {'above' if value > 0 else 'below'} {self.value(0.0):.6g}"
        held = self._standardised(math.copysign(LARGEST, value))
        beyond = " or beyond" if abs(value) >= abs(held) > 0 else ""
        return f"{self.name} = {self.value(value):.6g}{beyond}"

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving; the statistics are an array."""
        return {"kind": self.kind, "name": self.name, "indicator": self.indicator}


#: A group of coefficients numbered so or higher was chosen because it should matter (``posteriors.groups``).
OPEN = 10_000


class Score(Number):
    """The score of another model, yesterday's booster or a vendor's; a probability is taken by its log-odds.

    Where all values of the warm-up lie from 0 to 1, v becomes log(v / (1 - v)): the score x'theta is on that scale, so
    that a score which is right as it stands is a straight line of slope 1. Values nearer to 0 or 1 than ``edge``, half
    the least distance that the warm-up has, are held there: a 0.00 among scores of two digits is read as 0.005.

    Examples
    --------
    >>> score = Score("risk", True, 5.0, False, False, edge=Score.edge_of(np.array([0.5, 0.9, 0.0])))
    >>> round(score.read(0.9, ()), 4), round(score.read(0.0, ()), 4), score.read(None, ())
    (2.1972, -2.9444, nan)
    """

    kind = "score"

    def __init__(
        self, name: str, standardise: bool, clip: float | None, online: bool, indicator: bool, edge: float | None
    ) -> None:
        super().__init__(name, standardise, clip, online, indicator)
        #: How near to 0 and 1 a probability may be; None: the score is no probability and is taken as it is.
        self.edge = edge

    @staticmethod
    def edge_of(values: NDArray[np.float64]) -> float | None:
        """Return how near to 0 and 1 the scores of a warm-up may be taken; None: they are no probabilities."""
        seen = values[~np.isnan(values)]
        near = np.minimum(seen, 1.0 - seen)
        inside = near[near > 0.0]
        return float(inside.min()) / 2.0 if len(inside) and near.min() >= 0.0 else None

    def read(self, value: Any, missing: Collection[str]) -> float:
        """Return a cell as the column takes it, NaN where missing; ValueError where it is no number."""
        return self._taken(super().read(value, missing))

    def cells(self, records: Records) -> NDArray[np.float64]:
        """Return the cells of a table, one for each row."""
        values = records.numbers(self.name)
        return values if self.edge is None else np.array([self._taken(value) for value in values.tolist()])

    def _taken(self, value: float) -> float:
        """Return a score on the scale that it is used on."""
        if self.edge is None or value != value:
            return value
        held = min(max(value, self.edge), 1.0 - self.edge)
        return math.log(held / (1.0 - held))

    def _given(self, taken: float) -> float:
        """Return the score that was taken so."""
        return taken if self.edge is None else 1.0 / (1.0 + math.exp(-taken))

    def value(self, entry: float) -> float:
        """Return the score that an entry stands for, as far as an entry can say."""
        return self._given(super().value(entry))

    def words(self, block: NDArray[np.float64], cell: Any, known: bool) -> str:
        """Return the score as it was given, or that it is missing."""
        return super().words(block, self._given(cell) if known and cell == cell else cell, known)

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving; the statistics are an array."""
        return {**super().header(), "edge": self.edge}
