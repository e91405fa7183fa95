"""What one cell means: a number, a level of a category, or nothing."""

from __future__ import annotations

import math
from collections.abc import Collection
from datetime import date, time, timedelta
from typing import Any

import numpy as np

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
