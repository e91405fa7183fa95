"""How a column of dates becomes entries of a vector: hour, weekday and month as cycles, and the days between two dates.

A date itself is no number to learn from: what is learnt of one month would be carried on along a line into the next.
What comes back, the time of day, the weekday and the month, is a place on a circle, its sine and cosine. What is long
ago or recent is a number of days. Each of these is a ``Number``: in deviations from its mean, and held within what the
warm-up has seen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..tables.values import as_level
from ..times import DAY, instants, read_date
from .columns import Column, ColumnEntries, Entries
from .numbers import Number

if TYPE_CHECKING:
    from ..tables.records import Records

Floats = NDArray[np.float64]
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_FIRST_DAY = date(1970, 1, 1).toordinal()


class Cycle(NamedTuple):
    """What comes round: how long once around takes, in seconds, and the places on the circle, as sine and cosine.

    A table of places gives one date and a whole column the same bits.
    """

    length: float
    sines: list[float]
    cosines: list[float]

    @staticmethod
    def of(length: float, places: int) -> Cycle:
        """Return a circle with so many places."""
        turns = [2.0 * math.pi * place / places for place in range(places)]
        return Cycle(length, list(map(math.sin, turns)), list(map(math.cos, turns)))


#: By name: the time of day to the minute, the weekday from Monday on, the month from January on.
CYCLES = {"hour": Cycle.of(DAY, 1440), "weekday": Cycle.of(7 * DAY, 7), "month": Cycle.of(365 * DAY, 12)}


def cycles_of(wall: Floats, wanted: Collection[str]) -> list[str]:
    """Return the cycles that dates have been around: they span one turn at least, and are at more than one place.

    Before one turn is over a cycle is a line in disguise, and nothing says how it will go on.
    """
    known = wall[np.isfinite(wall)]
    if not len(known):
        return []
    spans = float(known.max() - known.min())
    return [
        name
        for name in CYCLES
        if name in wanted and spans >= CYCLES[name].length and len(set(places_on(known, name))) > 1
    ]


def places_on(wall: Floats, cycle: str) -> list[int]:
    """Return where dates are on a circle; 0 where there is none."""
    known = np.where(np.isfinite(wall), wall, 0.0)
    days = np.floor(known / DAY)
    if cycle == "hour":
        found = np.floor((known - days * DAY) / 60.0).astype(np.int64)
    elif cycle == "weekday":
        found = (days.astype(np.int64) + 3) % 7  # the first day was a Thursday
    else:
        found = days.astype(np.int64).astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) % 12
    return list(found.tolist())


def _place(wall: float, cycle: str) -> int:
    """Return where a date is on a circle, as ``places_on`` does."""
    days = math.floor(wall / DAY)
    if cycle == "hour":
        return math.floor((wall - days * DAY) / 60.0)
    return (days + 3) % 7 if cycle == "weekday" else date.fromordinal(_FIRST_DAY + days).month - 1


def _text(value: Any, missing: Collection[str]) -> str | None:
    """Return a cell as text, None where missing; a number is no date, and raises ValueError."""
    if isinstance(value, int | float | np.number) and value == value:
        raise ValueError(value)
    return as_level(value, missing)


def _texts(records: Records, name: str) -> NDArray[Any]:
    """Return a column as texts; numbers are no dates."""
    column = records.columns[name]
    if column.dtype == np.float64 and np.isfinite(column).any():
        row = int(np.flatnonzero(np.isfinite(column))[0])
        raise DataError(
            f"{records.where(row)}: column {name!r} is to hold dates, got the number {column[row]:.15g}. Write dates "
            "as 2024-05-31 or 2024-05-31T14:05; pandas.to_datetime(column, unit='s') makes dates of seconds since 1970"
        )
    return records.levels(name)


class Date(Column):
    """A date: its cycles, and the days from it to another date, ``since``; where missing, means and an indicator.

    A cell is the time on the clock where the date was written, the days, and whether there is a text that is no date.
    """

    kind = "date"
    wants = "dates such as 2024-05-31T14:05"

    def __init__(
        self,
        name: str,
        cycles: Collection[str],
        since: str | None,
        indicator: bool,
        standardise: bool = True,
        clip: float | None = None,
        online: bool = False,
    ) -> None:
        self.name, self.cycles, self.since, self.indicator = name, tuple(cycles), since, indicator
        called = [f"{name} {cycle} {wave}" for cycle in self.cycles for wave in ("sine", "cosine")]
        called += [] if since is None else [f"{name} days before {since}"]
        self.numbers = [Number(one, standardise, clip, online, False) for one in called]
        #: Texts that were no dates, and so were taken as missing.
        self.unreadable = 0

    @property
    def sources(self) -> tuple[str, ...]:
        """The fields that it is made from."""
        return (self.name,) if self.since is None else (self.name, self.since)

    @property
    def names(self) -> list[str]:
        """The names of the entries' places."""
        own = [number.name for number in self.numbers]
        return [*own, f"{self.name} missing"] if self.indicator else own

    @property
    def made(self) -> str:
        """What it gives, in words."""
        days = [] if self.since is None else [f"days before {self.since!r}"]
        return ", ".join([*self.cycles, *days]) or "nothing"

    def read(self, value: Any, missing: Collection[str]) -> tuple[float, float, bool]:
        """Return a date by itself: the time on its own clock, in UTC, and whether it cannot be read."""
        text = _text(value, missing)
        wall, moment = (math.nan, math.nan) if text is None else read_date(text)
        return wall, moment, text is not None and wall != wall

    def cell(self, record: Mapping[str, Any], missing: Collection[str]) -> tuple[float, float, bool]:
        """Return the cell of a record."""
        wall, moment, unreadable = self.read(record.get(self.name), missing)
        if self.since is None:
            return wall, math.nan, unreadable
        try:
            other = self.read(record.get(self.since), missing)[1]
        except ValueError:  # the column of that date says so
            other = math.nan
        return wall, (other - moment) / DAY, unreadable

    def cells(self, records: Records) -> Floats:
        """Return the cells of a table, a row each."""
        texts = _texts(records, self.name)
        wall = instants(texts, wall_clock=True)
        days = np.full(len(texts), math.nan)
        if self.since is not None:
            days = (instants(_texts(records, self.since)) - instants(texts)) / DAY
        unreadable = np.isnan(wall) & np.array([text is not None for text in texts.tolist()], dtype=bool)
        return np.column_stack([wall, days, unreadable])

    def mark(self) -> Any:
        """Return how far the column has come, for ``rewind``."""
        return self.unreadable, super().mark()

    def rewind(self, mark: Any) -> None:
        """Undo what cells have changed since a ``mark``."""
        self.unreadable, statistics = mark
        super().rewind(statistics)

    def fit(self, cells: Floats) -> None:
        """Take the statistics of a column."""
        for number, values in zip(self.numbers, self._measures(cells), strict=True):
            number.fit(values)

    def encode(self, cell: tuple[float, float, bool], update: bool) -> Entries:
        """Return the entries of a cell."""
        wall, days, unreadable = cell
        values: list[float] = []
        for cycle in self.cycles:
            place = None if wall != wall else _place(wall, cycle)
            circle = CYCLES[cycle]
            values += (math.nan, math.nan) if place is None else (circle.sines[place], circle.cosines[place])
        values += [] if self.since is None else [days]
        entries = [(k, number.encode(values[k], update)[0][1]) for k, number in enumerate(self.numbers)]
        if update and unreadable:
            self.unreadable += 1
        if self.indicator and wall != wall:
            entries.append((len(self.numbers), 1.0))
        return entries

    def encode_column(self, cells: Floats, update: bool) -> ColumnEntries:
        """Return the entries of each row."""
        measures = self._measures(cells)
        entries: ColumnEntries = []
        for k, (number, values) in enumerate(zip(self.numbers, measures, strict=True)):
            entries.append((np.full(len(cells), k, dtype=np.intp), number.encode_column(values, update)[0][1]))
        if update:
            self.unreadable += int(cells[:, 2].sum())
        if self.indicator:
            last = np.full(len(cells), len(self.numbers), dtype=np.intp)
            entries.append((last, np.isnan(cells[:, 0]).astype(np.float64)))
        return entries

    def _measures(self, cells: Floats) -> list[Floats]:
        """Return what each of the numbers is of: sines, cosines and days, NaN where missing."""
        wall, found = cells[:, 0], []
        for cycle in self.cycles:
            places, gone = places_on(wall, cycle), np.isnan(wall)
            for table in CYCLES[cycle][1:]:
                found.append(np.where(gone, math.nan, np.array(table)[places]))
        return found if self.since is None else [*found, cells[:, 1]]

    def usual(self) -> list[float]:
        """Return what an average item holds."""
        return [one for number in self.numbers for one in number.usual()]

    def words(self, block: Floats, cell: Any, known: bool) -> str:
        """Return the date where it is known, else what its block says of it."""
        if (known and cell[0] != cell[0]) or (self.indicator and block[-1]):
            return f"{self.name} is missing"
        if known:
            shown = str(np.datetime64(round(cell[0]), "s")).replace("T00:00:00", "").replace("T", " ")
            days = "" if cell[1] != cell[1] else f", {cell[1]:.4g} days before {self.since}"
            return f"{self.name} = {shown}{days}"
        if not self.numbers or self.numbers[0].online:
            return self.name
        said = [self._phase(block, k) for k in range(len(self.cycles))]
        if self.since is not None:
            said.append(f"{self.numbers[-1].value(float(block[len(self.numbers) - 1])):.4g} days before {self.since}")
        return f"{self.name}: about {', '.join(said)}"

    def _phase(self, block: Floats, k: int) -> str:
        """Return the place on a circle that a block says, in words."""
        sine, cosine = (self.numbers[2 * k + one].value(float(block[2 * k + one])) for one in (0, 1))
        turn = math.atan2(sine, cosine) / (2.0 * math.pi) % 1.0
        cycle = self.cycles[k]
        if cycle == "hour":
            return f"{round(24 * turn) % 24}:00"
        if cycle == "weekday":
            return WEEKDAYS[round(7 * turn) % 7]
        return date(2000, round(12 * turn) % 12 + 1, 1).strftime("%B")

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving; the statistics are an array, and counts belong to the map."""
        made = {"cycles": list(self.cycles), "since": self.since, "indicator": self.indicator}
        return {"kind": self.kind, "name": self.name, **made}

    def running(self) -> list[Number]:
        """Return the numbers whose statistics are saved."""
        return self.numbers


class Days(Number):
    """The days from one date to a later one, under a name of their own."""

    kind = "days"
    wants = "dates such as 2024-05-31T14:05"
    numeric = False

    def __init__(self, name: str, later: str, earlier: str, *settings: Any) -> None:
        super().__init__(name, *settings)
        self.later, self.earlier = later, earlier

    @property
    def sources(self) -> tuple[str, ...]:
        """The fields that it is made from."""
        return self.later, self.earlier

    def cell(self, record: Mapping[str, Any], missing: Collection[str]) -> float:
        """Return the days between the dates of a record, NaN where one is missing."""
        later, earlier = (_text(record.get(name), missing) for name in self.sources)
        if later is None or earlier is None:
            return math.nan
        return (read_date(later)[1] - read_date(earlier)[1]) / DAY

    def cells(self, records: Records) -> Floats:
        """Return the days of each row."""
        return (instants(_texts(records, self.later)) - instants(_texts(records, self.earlier))) / DAY

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving; the statistics are an array."""
        return {**super().header(), "later": self.later, "earlier": self.earlier}
