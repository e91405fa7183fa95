"""What to make of a table: settings, and the map that they and a warm-up give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .._checks import number, whole
from ..errors import Message, OptionError, Remedy
from ..tables.records import WARM_UP, Records, check_column, read_records
from .columns import Category, Column, Hashed, Hasher
from .dates import CYCLES, Date, Days, cycles_of
from .feature_map import FeatureMap
from .levels import OWN, Open, has_many
from .numbers import Number, Score
from .ramps import FEWER_KNOTS, KNOTS, MANY, Curve
from .seen import Seen
from .views import seen_in


@dataclass(frozen=True)
class Encoder:
    """How columns become features; ``fit`` decides the rest on the first ``warm_up`` rows and on nothing else.

    Parameters
    ----------
    standardise, clip
        Numbers less their mean, over their standard deviation, held within ``clip`` and within the range of the
        warm-up (None: not held). A number that was constant there is 0, and 1 or -1 above or below.
    levels, rare
        A category gets a column for each of its ``levels`` most frequent levels that the warm-up has at least
        ``rare`` times. All others, and levels never seen, share the column "other".
    spare
        Columns kept free in each category for levels that come after the warm-up: a new level is "other" once and
        then has its own.
    hashing
        The number of columns that all levels of all categories are hashed to, instead of a column for each.
    missing_indicator
        A column for "missing" where the warm-up has a missing value. The value itself becomes the mean.
    interactions
        Pairs of columns whose products are features too.
    curves
        Ramps beside the standardised value of each number that has at least 3 values in the warm-up, so that a score
        may bend in it (docs/curves.md). Give ``groups=features.groups`` to the policy, which learns how far.
    score
        The column that holds the score of another model, yesterday's booster or a vendor's. It is a curve whatever
        ``curves`` says, by log-odds where all scores of the warm-up lie from 0 to 1, and its line and its ramps share a
        scale that is open from the start (docs/curves.md). Give ``groups=features.groups`` to the policy.
    many
        A category with many levels, by what the warm-up shows, stays open: one place of the vector holds the number of
        the level's slot, levels join as they come, and the policy, given ``groups=features.groups``, keeps an effect
        for each (docs/curves.md). A category that is hashed or named in ``interactions`` does not.
    cycles
        What of a date comes round and is a feature, as sine and cosine: of ``"hour"``, ``"weekday"`` and ``"month"``
        those that the warm-up has been around at least once.
    dates
        Days between dates, by name: ``{"age_of_account": ("placed_at", "account_opened")}`` is the days from the second
        date to the first. None: the days from every other date to the time, or to the first column of dates.
    online
        Whether the mean and deviation of a number run on after the warm-up, each record standardised by those
        before it. Else they stay; without ``spare`` the same record then always gives the same vector.

    Examples
    --------
    >>> features = Encoder(interactions=[("age", "job")]).fit({"age": [30, 50], "job": ["student", "retired"]})
    >>> features.names()[-3:]
    ['age × job=retired', 'age × job=student', 'age × job other']
    """

    standardise: bool = True
    clip: float | None = 5.0
    levels: int = 50
    rare: int = 1
    spare: int = 0
    hashing: int | None = None
    missing_indicator: bool = True
    intercept: bool = True
    interactions: tuple[tuple[str, str], ...] = ()
    curves: bool = False
    score: str | None = None
    many: bool = False
    cycles: tuple[str, ...] = tuple(CYCLES)
    dates: Any = None  # a mapping when given, kept as (name, later, earlier)
    online: bool = False
    warm_up: int = WARM_UP

    def __post_init__(self) -> None:
        for name in ("standardise", "missing_indicator", "intercept", "online", "curves", "many"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(f"{name} must be true or false, got {getattr(self, name)!r}")
        if self.clip is not None:
            object.__setattr__(self, "clip", number("clip", self.clip, above=0))
        for name, least in (("levels", 1), ("rare", 1), ("spare", 0), ("warm_up", 1)):
            object.__setattr__(self, name, whole(name, getattr(self, name), least))
        if not isinstance(self.score, str | None):
            raise OptionError(f"score is the name of a column, got {self.score!r}")
        if self.hashing is not None:
            object.__setattr__(self, "hashing", whole("hashing", self.hashing, least=1))
        if self.spare and self.hashing:
            raise OptionError(
                f"spare={self.spare} is for levels that are not hashed: leave out spare, hashing has room for all"
            )
        pairs = tuple(tuple(pair) if isinstance(pair, list | tuple) else pair for pair in self.interactions)
        for pair in pairs:
            if not isinstance(pair, tuple) or len(pair) != 2 or pair[0] == pair[1]:
                raise OptionError(
                    f"interactions are pairs of different columns, such as [('age', 'job')], got {pair!r}"
                )
        object.__setattr__(self, "interactions", pairs)
        if not set(self.cycles) <= set(CYCLES):  # a text is a set of letters
            raise OptionError(f"cycles are some of {', '.join(CYCLES)}, in a list, got {self.cycles!r}")
        object.__setattr__(self, "cycles", tuple(self.cycles))
        object.__setattr__(self, "dates", _days_between(self.dates))

    def fit(
        self, source: Any, *, label: str | None = None, drop: Sequence[str] = (), time: str | None = None
    ) -> FeatureMap:
        """Return the map that the first ``warm_up`` rows of a table give; later rows are not looked at.

        The column of the label and those to ``drop`` are no features; records that have them are welcome all the same.
        The column of the ``time``, a date, is no feature by itself: other dates are counted in days before it.

        Examples
        --------
        >>> Encoder().fit({"id": [1, 2], "age": [30, 50], "bad": [0, 1]}, label="bad", drop=["id"]).names()
        ['intercept', 'age']
        """
        if isinstance(drop, str):
            raise OptionError(f"drop is a list of columns, got the text {drop!r}: drop=[{drop!r}]")
        records = read_records(source, warm_up=self.warm_up)
        without = (*([] if label is None else [label]), *drop)
        if without:
            for name in without:
                check_column(name, [*records.columns, *records.dropped], records.source)
            kept = {name: column for name, column in records.columns.items() if name not in without}
            if not kept:
                raise OptionError(f"without {', '.join(without)} {records.source} has no column to decide by")
            records = replace(records, columns=kept, dropped=tuple(dict.fromkeys((*records.dropped, *without))))
        for name in {name for pair in self.interactions for name in pair}:
            check_column(name, [*records.columns, *(days[0] for days in self.dates or ())], records.source)
        if self.score is not None:
            self._check_score(records, time)
        hasher = Hasher(self.hashing or 0)
        first = records[: self.warm_up]
        dated = self._dated(first, time)
        columns = [
            self._date(first, name, time, time or dated[0]) if name in dated else self._column(first, name, hasher)
            for name in first.columns
        ]
        columns += [self._days(first, *days) for days in self.dates or ()]
        seen: dict[str, Seen] = {}
        for column in columns:
            seen |= seen_in(column, column.cells(first))
        return FeatureMap(self, columns, first.missing, hasher, records.dropped, self._curves(first, columns), seen)

    def fit_transform(self, source: Any, sparse: bool = False, time: str | None = None) -> tuple[FeatureMap, Any]:
        """Return the map and the vectors of a whole table, whose first rows are the warm-up.

        Examples
        --------
        >>> features, X = Encoder(online=True, warm_up=2).fit_transform({"age": [30, 50, 60]})
        >>> X
        array([[ 1., -1.], [ 1.,  1.], [ 1.,  2.]])
        """
        records = read_records(source, warm_up=self.warm_up)
        features = self.fit(records, time=time)
        if not features.changes or len(records) <= self.warm_up:
            return features, features.transform_many(records, sparse, update=False)
        parts = [
            features.transform_many(records[: self.warm_up], sparse, update=False),
            features.transform_many(records[self.warm_up :], sparse),
        ]
        if sparse:
            from scipy.sparse import vstack

            return features, vstack(parts, format="csr")
        return features, np.concatenate(parts)

    def _dated(self, first: Records, time: str | None) -> list[str]:
        """Return the columns that are dates: by what they hold, or because days are counted from them."""
        for name, *both in self.dates or ():
            if name in first.columns:
                raise OptionError(f"dates: there is a column {name!r} already; give the days another name")
            for column in both:
                check_column(column, first.columns, first.source)
        if time is not None:
            check_column(time, first.columns, first.source)
        named = {time, *(column for _, *both in self.dates or () for column in both)}
        return [name for name in first.columns if name in named or name in first.dates]

    def _date(self, first: Records, name: str, time: str | None, last: str) -> Date:
        """Return what a column of dates becomes, from the rows of the warm-up; days are counted up to ``last``."""
        if name == time:
            return Date(name, (), None, False)
        since = None if self.dates is not None or name == last else last
        wall = Date(name, (), None, False).cells(first)[:, 0]
        absent = self.missing_indicator and bool(np.isnan(wall).any())
        settings = (self.standardise, self.clip, self.online)
        column = Date(name, cycles_of(wall, self.cycles), since, absent, *settings)
        column.fit(column.cells(first))
        return column

    def _days(self, first: Records, name: str, later: str, earlier: str) -> Days:
        """Return the days between two dates, from the rows of the warm-up."""
        settings = (self.standardise, self.clip, self.online)
        values = Days(name, later, earlier, *settings, False).cells(first)
        column = Days(name, later, earlier, *settings, self.missing_indicator and bool(np.isnan(values).any()))
        column.fit(values)
        return column

    def _curves(self, first: Records, columns: list[Column]) -> list[Curve]:
        """Return the curves of the numbers, from the rows of the warm-up."""
        numbers = [column for column in columns if isinstance(column, Number)]
        knots = KNOTS if len(numbers) <= MANY else FEWER_KNOTS
        bent = [column for column in numbers if self.curves or isinstance(column, Score)]
        found = (Curve.fit(column, column.cells(first), knots) for column in bent)
        return [curve for curve in found if curve is not None]

    def _check_score(self, records: Records, time: str | None) -> None:
        """Refuse a score that is no column of numbers."""
        name = self.score
        assert name is not None
        if name in records.dropped:
            raise OptionError(
                Message(f"{name!r} cannot be the score and no feature as well: take the column out of ", Remedy("drop"))
            )
        check_column(name, records.columns, records.source)
        if name == time or records.columns[name].dtype != np.float64:
            held = "the time" if name == time else "not a column of numbers"
            told = f"the score of another model is a number, and {name!r} is {held}. If its texts are numbers: "
            raise OptionError(Message(told, Remedy("numbers", [name])))

    def _column(self, first: Records, name: str, hasher: Hasher) -> Column:
        """Return what a column becomes, from the rows of the warm-up."""
        values = first.columns[name]
        if values.dtype == np.float64:
            absent = bool(np.isnan(values).any())
            settings = (self.standardise, self.clip, self.online, self.missing_indicator and absent)
            column = Score(name, *settings, Score.edge_of(values)) if name == self.score else Number(name, *settings)
            column.fit(column.cells(first))
            return column
        if self.hashing:
            return Hashed(name, hasher)
        counts = Counter(values.tolist())
        absent = counts.pop(None, 0) > 0
        crossed = {other for pair in self.interactions for other in pair}
        if self.many and name not in crossed and has_many(counts, self.levels):
            return Open(name, list(counts)[:OWN])  # in the order in which they came
        frequent = sorted((level for level in counts if counts[level] >= self.rare), key=lambda v: (-counts[v], v))
        levels = sorted(frequent[: self.levels])
        return Category(name, levels, len(levels) + self.spare, self.missing_indicator and absent)


def _days_between(given: Any) -> tuple[tuple[str, str, str], ...] | None:
    """Return days between dates as (name, later, earlier); from a mapping, or as a saved map has them."""
    if given is None:
        return None
    rows = (
        [(name, *pair) if isinstance(pair, list | tuple) else (name, pair) for name, pair in given.items()]
        if (isinstance(given, Mapping))
        else [tuple(row) for row in given]
    )
    for row in rows:
        if len(row) != 3 or row[1] == row[2] or not all(isinstance(text, str) for text in row):
            raise OptionError(
                "dates names the days between two columns, such as {'age_of_account': ('placed_at', "
                f"'account_opened')}}, got { {row[0]: row[1:]}!r}"
            )
    return tuple(rows)
