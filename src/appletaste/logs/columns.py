"""Rows as typed columns: what each field of the decision log is made of."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError

PENDING, OBSERVED, CORRECTED, EXPIRED, NEVER_DUE = "pending", "observed", "corrected", "expired", "never_due"
STATES = (PENDING, OBSERVED, CORRECTED, EXPIRED, NEVER_DUE)
COSTS = ("miss", "false_alarm", "hit", "correct_pass")
#: The label of an item whose label is not known.
UNKNOWN = -1
#: The version of the fields, written into every file.
SCHEMA_VERSION = 1

_TRUTH = (bool, np.bool_)
_NUMBERS = (int, float, np.integer, np.floating)


def column_of(name: str, rows: Sequence[Mapping[str, Any]], source: str) -> NDArray[Any] | None:
    """Return one field of all rows as an array; None for an optional field that no row has."""
    values = [row.get(name) for row in rows]
    if name in ("chance", "time", "stratum") and all(value is None for value in values):
        return None
    if name == "round":
        return np.array([_whole(value, place, source) for place, value in enumerate(values, 1)], dtype=np.int64)
    if name == "time":
        return _times(values, source)
    if name in ("id", "policy", "stratum"):
        texts = ["" if value is None else str(value) for value in values]
        return np.array(texts, dtype=np.str_)
    if name in ("act", "audit"):
        return np.array([_truth(name, value, place, source) for place, value in enumerate(values, 1)], dtype=bool)
    numbers = [_number(name, value, place, source) for place, value in enumerate(values, 1)]
    return np.array(numbers, dtype=np.float64)


def label_column(values: Sequence[Any], source: str) -> NDArray[np.int8]:
    """Return labels as 0, 1 and -1 (not known)."""
    for place, value in enumerate(values, 1):
        if value is not None and not (isinstance(value, (*_NUMBERS, *_TRUTH)) and value in (0, 1)):
            raise DataError(f"{source}, row {place}: a label is 0, 1 or nothing (not known), got {value!r}")
    return np.array([UNKNOWN if value is None else int(value) for value in values], dtype=np.int8)


def matrix_of(values: Sequence[Any], source: str) -> NDArray[np.float64] | None:
    """Return the features as a matrix, if every row has them."""
    if all(value is None for value in values):
        return None
    widths = {None if value is None else len(value) for value in values}
    if len(widths) > 1:
        raise DataError(f"{source}: x must have one length in all rows, got {sorted(map(str, widths))}")
    try:
        return np.array(values, dtype=np.float64).reshape(len(values), -1)
    except (TypeError, ValueError):
        raise DataError(f"{source}: x must be a list of numbers in every row") from None


def _whole(value: Any, place: int, source: str) -> int:
    if value is None:
        return place
    if isinstance(value, _TRUTH) or not isinstance(value, _NUMBERS) or value != int(value):
        raise DataError(f"{source}, row {place}: round is a whole number, got {value!r}")
    return int(value)


def _truth(name: str, value: Any, place: int, source: str) -> bool:
    if value is None and name == "audit":
        return False
    if not isinstance(value, (*_TRUTH, *_NUMBERS)) or value not in (0, 1):
        raise DataError(f"{source}, row {place}: {name} is true or false, got {value!r}")
    return bool(value)


def _number(name: str, value: Any, place: int, source: str) -> float:
    if value is None and name == "correct_pass":
        return 0.0
    if value is None and name == "chance":
        return math.nan
    if isinstance(value, _TRUTH) or not isinstance(value, _NUMBERS):
        raise DataError(f"{source}, row {place}: {name} must be a number, got {value!r}")
    return float(value)


def _times(values: Sequence[Any], source: str) -> NDArray[Any]:
    if all(isinstance(value, _NUMBERS) and not isinstance(value, bool) for value in values):
        return np.array(values, dtype=np.float64)
    if all(isinstance(value, str) for value in values):
        return np.array(values, dtype=np.str_)
    raise DataError(f"{source}: time is a number in every row, or a text (ISO 8601) in every row")
