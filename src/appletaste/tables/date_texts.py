"""Which columns of text are dates: in ISO 8601, which are read, or as people write dates, which are not."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..times import instants

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
