"""When an item came: a number, a date in ISO 8601, or nothing; for what counts time it is one number."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np

from .errors import InputError

DAY = 86400.0  # seconds


def instant(time: Any) -> float | None:
    """Return a time as a number: itself, or seconds since 1970 for a date; one without a zone is taken as UTC.

    Examples
    --------
    >>> instant("1970-01-02"), instant("1970-01-02T00:00:30+00:00"), instant(12.5), instant(None)
    (86400.0, 86430.0, 12.5, None)
    """
    if time is None:
        return None
    if isinstance(time, str):
        try:
            time = datetime.fromisoformat(time)
        except ValueError:
            raise InputError(f"a time is a number or a date such as 2024-05-31T12:00:00, got {time!r}") from None
    elif isinstance(time, date) and not isinstance(time, datetime):
        time = datetime(time.year, time.month, time.day)
    if isinstance(time, datetime):
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    if isinstance(time, bool) or not isinstance(time, int | float | np.number) or not math.isfinite(time):
        raise InputError(f"a time is a finite number or a date such as 2024-05-31T12:00:00, got {time!r}")
    return float(time)


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
