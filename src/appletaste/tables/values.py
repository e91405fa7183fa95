"""What one cell means: a number, a level of a category, or nothing; and which texts are dates.

Dates in ISO 8601 are read; dates as people write them are known for dates, and are not read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..times import instants

#: What stands for a missing value in text, exactly as written.
MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "null", "NULL", "None")

#: A number of this size or more is no measurement; policies refuse it.
LARGEST = 1e100

#: pandas' two ways to say that nothing is there; both compare like nothing else.
_NOTHING = ("NAType", "NaTType")

_UNUSABLE = (list, tuple, dict, set, frozenset, np.ndarray, time, timedelta, np.timedelta64)


def is_nothing(value: Any) -> bool:
    """Return whether a value stands for a missing one, whatever the codes."""
    return value is None or type(value).__name__ in _NOTHING or bool(value != value)


def as_number(value: Any, missing: Collection[str] = MISSING) -> float:
    """Return a cell of a column of numbers, NaN where nothing usable is there; raise ValueError where it is none.

    Examples
    --------
    >>> as_number("3.5"), as_number(True), as_number("NA"), as_number(float("inf"))
    (3.5, 1.0, nan, nan)
    """
    if isinstance(value, str):
        value = value.strip()
        if value in missing:
            return math.nan
        if "_" in value:  # Python reads 2024_05 as 202405
            raise ValueError(value)
    elif isinstance(value, _UNUSABLE):
        raise ValueError(value)
    elif is_nothing(value):
        return math.nan
    elif isinstance(value, date | np.datetime64):
        raise ValueError(value)
    try:
        number = float(value)
    except TypeError:
        raise ValueError(value) from None
    except OverflowError:
        return math.nan
    return number if -LARGEST < number < LARGEST else math.nan


def as_level(value: Any, missing: Collection[str] = MISSING) -> str | None:
    """Return a cell of a category as text, None where nothing is there; raise ValueError where it cannot be one.

    Whole numbers are written without a point, so that 3, 3.0 and "3" are one level. Dates are written in ISO 8601.

    Examples
    --------
    >>> as_level(" student "), as_level(3.0), as_level("NA"), as_level(None), as_level(np.datetime64("2024-05-31"))
    ('student', '3', None, None, '2024-05-31')
    """
    if isinstance(value, str):
        value = value.strip()
        return None if value in missing else value
    if isinstance(value, _UNUSABLE):
        raise ValueError(value)
    if is_nothing(value):
        return None
    if isinstance(value, np.datetime64):  # finer than a datetime, or to the day, month or year
        value = value.astype("datetime64[D]" if np.datetime_data(value)[0] in "YMWD" else "datetime64[us]").item()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if abs(number) < 1e15 and number.is_integer() else repr(number)
    return str(value)


#: Of the values of a column in the warm-up, this share of dates makes it a column of dates.
DATES = 0.95
#: Dates as people write them: 31.05.2024, 5/31/24, 2024/05/31, 31 May 2024 or May 31, 2024; with a time of day or none.
_CLOCK = r"(?:[ ,T]+\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[ap]\.?m\.?)?(?: ?[A-Z]{1,4}| ?[+-]\d{2}:?\d{2})?)?"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_IN_NUMBERS = re.compile(rf"(?=\d+([./-]))(\d{{1,2}})\1(\d{{1,2}})\1(?:\d{{4}}|\d{{2}}){_CLOCK}", re.IGNORECASE)
_YEAR_FIRST = re.compile(rf"(?:19|20)\d{{2}}([./])\d{{1,2}}\1\d{{1,2}}{_CLOCK}", re.IGNORECASE)
_IN_WORDS = re.compile(
    rf"(?:\d{{1,2}}\.?[ -]{_MONTH}[ -]|{_MONTH} \d{{1,2}},? )(?:\d{{4}}|\d{{2}}){_CLOCK}", re.IGNORECASE
)


def are_dates(texts: NDArray[Any]) -> bool:
    """Return whether the texts of a column are dates in ISO 8601, nearly all of those that are not missing.

    Examples
    --------
    >>> are_dates(np.array(["2024-05-31", None, "2024-06-01T12:30"], dtype=object)), are_dates(np.array(["chef"]))
    (True, False)
    """
    known = texts[[text is not None for text in texts.tolist()]]
    return len(known) > 0 and float(np.isfinite(instants(known)).mean()) >= DATES


def written_otherwise(texts: NDArray[Any]) -> bool:
    """Return whether the texts of a column are dates as people write dates, and not in ISO 8601.

    Such dates are not read: nobody knows whether 03/04/2024 is a day in March or in April.

    Examples
    --------
    >>> written_otherwise(np.array(["31.05.2024", "1.6.2024 08:15"])), written_otherwise(np.array(["2024-05-31"]))
    (True, False)
    """
    known = [text for text in texts.tolist() if text is not None]
    return bool(known) and sum(map(_is_written_otherwise, known)) >= DATES * len(known)


def _is_written_otherwise(text: str) -> bool:
    if found := _IN_NUMBERS.fullmatch(text):
        first, second = sorted((int(found[2]), int(found[3])))
        return 1 <= first <= 12 and second <= 31
    return _YEAR_FIRST.fullmatch(text) is not None or _IN_WORDS.fullmatch(text) is not None
