"""When an item arrived: a number, a date in ISO 8601, or nothing; clocks read it as one number.

Dates are read here and nowhere else: one by ``instant`` or ``read_date``, a column of them by ``instants``, and a
column of numbers that are dates in disguise by ``dates_in``.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._checks import is_finite, shown
from .errors import InputError

DAY = 86400.0  # seconds
EPOCH = datetime(1970, 1, 1)  # without a zone, as the dates that are taken as UTC
#: Forms that a whole column is read in at once: the day, the time of day to the minute or finer, the zone.
_FORM = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
#: Whole numbers up to here are floats too, and a quotient of two floats is rounded once.
_EXACT = 2**53


def instant(time: Any) -> float | None:
    """Return a time as a number: itself, or seconds since 1970 for a date; one without a zone is taken as UTC.

    Examples
    --------
    >>> instant("1970-01-02"), instant("1970-01-02T00:00:30+00:00"), instant(12.5), instant(None)
    (86400.0, 86430.0, 12.5, None)
    """
    if time is None or (type(time) is float and math.isfinite(time)):
        return time
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            raise InputError(f"a time is a number or a date such as 2024-05-31T12:00:00, got {time!r}") from None
    elif isinstance(time, date) and not isinstance(time, datetime):
        time = datetime(time.year, time.month, time.day)
    if isinstance(time, datetime) and time == time:  # pandas' NaT is a datetime, and not equal to itself
        return _seconds(time)
    if not is_finite(time):
        raise InputError(f"a time is a finite number or a date such as 2024-05-31T12:00:00, got {shown(time)}")
    return float(time)


def instants(column: NDArray[Any], *, wall_clock: bool = False) -> NDArray[np.float64]:
    """Return dates in ISO 8601 as seconds since 1970, each as ``instant`` reads it; NaN for what is no date.

    ``wall_clock`` counts in the local time that is written, whatever its zone: the day that people there call it.

    Examples
    --------
    >>> column = np.array(["1970-01-01T12:00:30", "1970-01-02T01:00:00+02:00", "soon", None], dtype=object)
    >>> instants(column), instants(column, wall_clock=True)
    (array([43230., 82800.,    nan,    nan]), array([43230., 90000.,    nan,    nan]))
    """
    found = _at_once(column, wall_clock)
    if found is not None:
        return found
    return np.array([read_date(text)[0 if wall_clock else 1] for text in column.tolist()], dtype=float)


def read_date(text: Any) -> tuple[float, float]:
    """Return a date in ISO 8601 as ``instants`` reads it, by the clock where it was written and in UTC; NaN for others.

    Examples
    --------
    >>> read_date("1970-01-02T01:00:00+02:00"), read_date("soon")
    ((90000.0, 82800.0), (nan, nan))
    """
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return math.nan, math.nan
    return _seconds(time.replace(tzinfo=None)), _seconds(time)


def mixed_in_zone(column: NDArray[Any]) -> tuple[list[str], list[str]] | None:
    """Return the dates of a column that have a zone, and those that have none; None where they are all alike.

    Examples
    --------
    >>> mixed_in_zone(np.array(["2024-05-31T12:00", "2024-05-31T12:00Z", "soon", None], dtype=object))
    (['2024-05-31T12:00Z'], ['2024-05-31T12:00'])
    """
    if _at_once(column, wall_clock=True) is not None:
        return None
    zoned: list[str] = []
    plain: list[str] = []
    for text in column.tolist():
        with suppress(TypeError, ValueError):  # no date
            (plain if datetime.fromisoformat(text).tzinfo is None else zoned).append(text)
    return (zoned, plain) if zoned and plain else None


def _seconds(time: datetime) -> float:
    return time.timestamp() if time.tzinfo else (time - EPOCH).total_seconds()


def _at_once(column: NDArray[Any], wall_clock: bool) -> NDArray[np.float64] | None:
    """Return ``instants`` of a column whose texts are all of the form of the first, or None.

    A million take less than 0.1 s, ``datetime.fromisoformat`` one by one 1.2 s.
    """
    first = _FORM.fullmatch(column[0]) if len(column) and isinstance(column[0], str) else None
    letters = None if first is None else _letters(column, len(first[0]))
    if first is None or letters is None:
        return None
    places = np.ascontiguousarray(letters.T)
    for place, letter in zip(places, first[0] + "\n", strict=True):
        if not ((place - ord("0") < 10) if letter.isdigit() else (place == ord(letter))).all():
            return None
    length, ticks = first.start(2) if first[2] else len(first[0]), 10**6 if first[1] else 1
    texts = letters.view({"names": ["date"], "formats": [f"S{length}"], "itemsize": letters.shape[1]})["date"]
    try:
        dates = texts.ravel().astype("datetime64[us]" if first[1] else "datetime64[s]")
    except ValueError:  # the 31st of April, say: which of them, the slow way finds out
        return None
    if dates.min() < np.datetime64("0001-01-01"):  # NumPy's calendar has a year 0
        return None
    count = dates.astype(np.int64)
    if first[2] and first[2] != "Z":
        tens, ones, _, tens_of_minutes, minutes = places[-6:-1] - ord("0")
        hours, minutes = 10 * tens + ones, 10 * tens_of_minutes + minutes
        if hours.max() >= 24 or minutes.max() >= 60:
            return None
        if not wall_clock:
            ahead = hours * np.int32(3600) + minutes * np.int32(60)
            count -= (ahead if first[2][0] == "+" else -ahead) * np.int64(ticks)
    return count / ticks if np.abs(count).max() <= _EXACT else None


def _letters(column: NDArray[Any], length: int) -> NDArray[np.uint8] | None:
    """Return ASCII texts as one row of bytes each, ``length`` and what should be the end of a line, or None."""
    rows = len(column)
    if column.dtype.kind == "U":
        points = np.ascontiguousarray(column).view(np.uint32)
        if points.size != rows * length or points.max() >= 128:
            return None
        letters = np.full((rows, length + 1), ord("\n"), dtype=np.uint8)
        letters[:, :-1] = points.reshape(rows, length)
        return letters
    try:
        # Ends of lines at all places where they belong, and nowhere else, say that no text is longer or shorter.
        text = ("\n".join(column.tolist()) + "\n").encode("ascii")
    except (TypeError, UnicodeEncodeError):
        return None
    return np.frombuffer(text, dtype=np.uint8).reshape(rows, -1) if len(text) == rows * (length + 1) else None


class Reading(NamedTuple):
    """What a column of numbers was taken for: seconds since 1970, and in words what the numbers are."""

    seconds: NDArray[np.float64]
    kind: str
    ticks: float | None  #: how many of its units are a second; None: compact dates


#: Dates that are written as one number: how many digits follow the day, and how that is written.
_COMPACT = {
    8: (0, "dates such as 20240531"),
    12: (2, "dates such as 202405311230"),
    14: (3, "dates such as 20240531123000"),
}
#: Counts since 1970, by how many of them are a second.
_COUNTS = {
    1.0: "seconds since 1970",
    1e3: "milliseconds since 1970",
    1e6: "microseconds since 1970",
    1e9: "nanoseconds since 1970",
}
#: Dates from here on, 1980, up to 2100 are recognised in a column of numbers: none of the ranges overlaps another.
_FIRST, _LAST = 315532800.0, 4102444800.0
#: Of numbers that look like compact dates, this share being dates makes the rest of them faults.
_NEARLY_ALL = 0.9


def dates_in(column: NDArray[np.float64]) -> Reading | None:
    """Return what dates a column of numbers holds, by the range of all its values; None: plain numbers.

    Seconds, milliseconds, microseconds or nanoseconds since 1970 from 1980 to 2100, and dates as people write them
    without anything between: 20240531, 202405311230, 20240531123000. A compact date that no calendar has is NaN.

    Examples
    --------
    >>> found = dates_in(np.array([1714521600000.0, 1714608000000.0]))
    >>> found.kind, found.seconds
    ('milliseconds since 1970', array([1.7145216e+09, 1.7146080e+09]))
    >>> dates_in(np.array([20240501.0, 20240502.0])).kind, dates_in(np.array([1.0, 2.5]))
    ('dates such as 20240531', None)
    """
    if not len(column) or not np.isfinite(column).all():
        return None
    low, high = float(column.min()), float(column.max())
    for ticks, kind in _COUNTS.items():
        if _FIRST * ticks <= low and high < _LAST * ticks:
            return Reading(column / ticks, kind, ticks)
    for digits, (parts, kind) in _COMPACT.items():
        scale = 10.0 ** (digits - 4)
        if 1900 * scale <= low and high < 2100 * scale and (column == np.floor(column)).all():
            seconds = _compact(column.astype(np.int64), parts)
            if np.isfinite(seconds).mean() >= _NEARLY_ALL:
                return Reading(seconds, kind, None)
    return None


def _compact(numbers: NDArray[np.int64], parts: int) -> NDArray[np.float64]:
    """Return compact dates with so many parts behind the day as seconds since 1970, NaN where there is no such date."""
    rest, clock = numbers, np.zeros(len(numbers))
    good = np.ones(len(numbers), dtype=bool)
    for unit, most in ((1.0, 60), (60.0, 60), (3600.0, 24))[3 - parts :]:
        rest, part = np.divmod(rest, 100)
        clock, good = clock + unit * part, good & (part < most)
    years, months, days = rest // 10000, rest // 100 % 100, rest % 100
    good &= (months >= 1) & (months <= 12) & (days >= 1)
    month = ((years - 1970) * 12 + np.where(good, months, 1) - 1).astype("datetime64[M]")
    date_ = month.astype("datetime64[D]") + (days - 1)
    good &= date_.astype("datetime64[M]") == month
    return np.where(good, date_.astype("datetime64[s]").astype(np.int64) + clock, np.nan)


def not_seconds(now: float) -> str | None:
    """Return the unit that a supposed time in seconds seems to be in; None: seconds are plausible.

    Examples
    --------
    >>> not_seconds(1714521600000.0), not_seconds(20240501.0), not_seconds(1714521600.0)
    ('milliseconds since 1970', 'dates such as 20240531', None)
    """
    found = dates_in(np.array([now]))
    if found is not None and found.ticks != 1.0:
        return found.kind
    return "smaller units than seconds" if abs(now) > 1e11 else None


def written(time: Any) -> float | str | None:
    """Return a time as a log keeps it: a number, or a date as text in ISO 8601.

    Examples
    --------
    >>> written(datetime(2024, 5, 31, 12)), written(3), written(None)
    ('2024-05-31T12:00:00', 3.0, None)
    """
    if time is None or isinstance(time, str):
        return time
    return str(time.isoformat()) if isinstance(time, date) else float(time)


def before(one: Any, other: Any) -> bool:
    """Return whether a time is before another; a day without a time of day is before only what is on a later day.

    Examples
    --------
    >>> before(1.0, 2.0), before("2024-05-31", "2024-05-31T12:00:00"), before("2024-05-30", "2024-05-31T00:30:00+02:00")
    (True, False, True)
    """
    if isinstance(one, str) and isinstance(other, str) and is_day(one) and _DATE.match(other):
        return one < other[:10]  # the days as they are called where they were written
    first, second = instant(one), instant(other)
    return first is not None and second is not None and first < second


def is_day(text: str) -> bool:
    """Return whether a date is a day without a time of day, such as 2024-05-31."""
    return _DATE.fullmatch(text) is not None


def span(name: str, length: Any) -> float:
    """Return a length of time as a positive number: itself, or the seconds of a ``timedelta``."""
    if isinstance(length, timedelta):
        length = length.total_seconds()
    if not is_finite(length) or not length > 0:
        raise InputError(f"{name} must be a length of time > 0, a number or a timedelta, got {shown(length)}")
    return float(length)
