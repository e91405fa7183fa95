"""When an item arrived: a number, a date in ISO 8601, or nothing; clocks read it as one number.

Dates are read here and nowhere else: one by ``instant``, a column of them by ``instants``.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

DAY = 86400.0  # seconds
EPOCH = datetime(1970, 1, 1)  # without a zone, as the dates that are taken as UTC
#: Forms that a whole column is read in at once: the day, the time of day to the minute or finer, the zone.
_FORM = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)
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
    if isinstance(time, datetime):
        return _seconds(time)
    if isinstance(time, bool) or not isinstance(time, int | float | np.number) or not math.isfinite(time):
        raise InputError(f"a time is a finite number or a date such as 2024-05-31T12:00:00, got {time!r}")
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
    return np.array([_read(text, wall_clock) for text in column.tolist()], dtype=float) if found is None else found


def _read(text: Any, wall_clock: bool) -> float:
    try:
        time = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return math.nan
    return _seconds(time.replace(tzinfo=None) if wall_clock else time)


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


def span(name: str, length: Any) -> float:
    """Return a length of time as a positive number: itself, or the seconds of a ``timedelta``."""
    if isinstance(length, timedelta):
        length = length.total_seconds()
    good = isinstance(length, int | float | np.number) and not isinstance(length, bool)
    if not good or not (math.isfinite(length) and length > 0):
        raise InputError(f"{name} must be a length of time > 0, a number or a timedelta, got {length!r}")
    return float(length)
