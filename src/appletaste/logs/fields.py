"""Cells as one typed array a column: quick where every cell is as it should be, exact about the first that is not."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from datetime import date
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..records.events import UNKNOWN

Floats = NDArray[np.float64]
_NOTHING = type(None)
_TRUTH = (bool, np.bool_)
_NUMBERS = (int, float, np.integer, np.floating)
_EXACT = 2.0**53  # up to here a float holds every whole number
#: Fields of which NaN in an array of floats says that nothing is known.
NAN_IS_NOTHING = ("label", "chance", "worth", "price", "label_time", "truth", "report", "report_time")
#: How ``why`` writes the numbers that JSON does not have; the JSON of Protocol Buffers does the same.
NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Given(NamedTuple):
    """One column as somebody gave it: an array of truths, numbers or texts, or a list of anything."""

    name: str
    values: list[Any] | NDArray[Any]
    source: str
    first: int = 0  #: rows of the source before these

    @classmethod
    def of(cls, name: str, values: Any, source: str, first: int = 0) -> Given:
        """Take a column of any library: dates as ISO texts, what NumPy holds as objects as a list."""
        if isinstance(values, np.ma.MaskedArray):  # as an array, what is masked would be there
            values = values.tolist()
        array = np.asarray(values) if hasattr(values, "__array__") else None
        if array is None and (isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__")):
            raise DataError(f"{source}: column {name} must be a list or an array, got {values!r}")
        if array is None:
            return cls(name, list(values), source, first)
        if array.ndim != 1 and (name != "x" or array.ndim != 2):
            raise DataError(f"{source}: column {name} must have one value per decision, got the shape {array.shape}")
        if array.dtype.kind == "M":  # as a list, nanoseconds would be plain numbers
            array = _iso(array)
        if array.dtype.kind not in "biufUOST":
            raise DataError(f"{source}: column {name} holds {array.dtype}: give numbers, true and false, or texts")
        return cls(name, array if array.dtype.kind in "biufU" else list(map(_known, array.tolist())), source, first)

    def array(self, kinds: str) -> NDArray[Any] | None:
        """Return the values if they are an array of one of these kinds of NumPy."""
        return self.values if isinstance(self.values, np.ndarray) and self.values.dtype.kind in kinds else None

    def made_of(self, *types: type) -> bool:
        """Say whether the values are a list of these types alone: by the set of its types, not cell by cell."""
        if isinstance(self.values, np.ndarray):
            return False
        return all(issubclass(one, types) and (bool in types or one is not bool) for one in set(map(type, self.values)))

    def absent(self) -> NDArray[np.bool_]:
        """Return where nothing was given."""
        size = len(self.values)
        if isinstance(self.values, list) and _NOTHING in set(map(type, self.values)):
            return np.fromiter((value is None for value in self.values), dtype=bool, count=size)
        floats = self.array("f") if self.name in NAN_IS_NOTHING else None
        return np.zeros(size, dtype=bool) if floats is None else np.isnan(floats)

    def refuse(self, good: Callable[[Any], Any], message: str) -> DataError:
        """Return what to say of the first value that is not good; the message has a place for it."""
        values = self.values if isinstance(self.values, list) else self.values.tolist()
        place = next(k for k, value in enumerate(values) if not good(value))
        return DataError(f"{self.source}, row {self.first + place + 1}: {message.format(repr(values[place]))}")


def _known(value: Any) -> Any:
    """Return a cell as it is, and None for what pandas calls NA: a column that may lack values has it."""
    return None if type(value).__name__ == "NAType" else value


def _iso(dates: NDArray[Any]) -> NDArray[np.str_]:
    """Return dates as texts, to the second where that says all; empty for what is no date."""
    seconds, exact = dates.astype("M8[s]"), dates.astype("M8[us]")
    shown = np.datetime_as_string(seconds if ((seconds == exact) | np.isnat(dates)).all() else exact)
    return np.where(np.isnat(dates), "", shown)


def is_number(value: Any) -> bool:
    """Say whether a cell is a number that a float can hold; true and false are none."""
    if not isinstance(value, _NUMBERS) or isinstance(value, _TRUTH):
        return False
    return not isinstance(value, int) or abs(value) < 2**1023


def numbers(column: Given) -> Floats:
    """Return numbers; NaN where nothing was given, and 0 for ``correct_pass``."""
    may_lack = column.name == "correct_pass" or column.name in NAN_IS_NOTHING
    found = _floats(column, _NOTHING) if may_lack else _floats(column)
    if found is None:
        raise column.refuse(
            lambda v: is_number(v) or (v is None and may_lack), f"{column.name} must be a number, got {{}}"
        )
    return np.where(column.absent(), 0.0, found) if column.name == "correct_pass" else found


def _floats(column: Given, *also: type) -> Floats | None:
    """Return numbers as they are and None as NaN, or None if there is anything but numbers and these types."""
    array = column.array("iufb" if bool in also else "iuf")
    if array is not None:
        return array.astype(np.float64, copy=False)
    try:
        return np.array(column.values, dtype=np.float64) if column.made_of(*_NUMBERS, *also) else None
    except OverflowError:
        return None


def truths(column: Given) -> NDArray[np.bool_]:
    """Return true and false, which may be 1 and 0; nothing is false for ``audit``."""
    array = column.array("b")
    if array is not None:
        return array
    nothing = (_NOTHING,) if column.name == "audit" else ()
    found = _floats(column, *_TRUTH, *nothing)
    if found is None or not ((found == 0) | (found == 1) | (column.absent() if nothing else False)).all():
        raise column.refuse(
            lambda v: (v is None and nothing) or (isinstance(v, (*_TRUTH, *_NUMBERS)) and v in (0, 1)),
            f"{column.name} is true or false, got {{}}",
        )
    return np.asarray(found == 1)


def labels(column: Given) -> NDArray[np.int8]:
    """Return labels as 0, 1 and -1 (not known); None and NaN are not known, and so is -1 beside a state."""
    found = _floats(column, *_TRUTH, _NOTHING)
    if found is None or not (np.isnan(found) | np.isin(found, (0, 1, UNKNOWN))).all():
        raise column.refuse(
            lambda v: v is None or (isinstance(v, (*_TRUTH, *_NUMBERS)) and (v != v or v in (0, 1, UNKNOWN))),
            f"a {column.name} is 0, 1 or nothing (not known), got {{}}",
        )
    return np.where(np.isnan(found), UNKNOWN, found).astype(np.int8)


def rounds(column: Given) -> NDArray[np.int64]:
    """Return whole numbers; the place of the row where nothing was given."""
    array = column.array("iu")
    if array is None and column.made_of(int, np.integer) and max(map(abs, column.values), default=0) < 2**63:
        array = np.array(column.values, dtype=np.int64)
    if array is not None:
        return array.astype(np.int64, copy=False)
    found = _floats(column, _NOTHING)
    if found is not None:
        found = np.where(column.absent(), column.first + np.arange(1.0, len(found) + 1.0), found)
    if found is None or not ((np.abs(found) < _EXACT) & (found == np.floor(found))).all():
        raise column.refuse(
            lambda v: v is None or (is_number(v) and abs(v) < _EXACT and v == math.floor(v)),
            "round is a whole number, got {}",
        )
    return found.astype(np.int64)


def texts(column: Given) -> NDArray[np.str_]:
    """Return texts; numbers as they are printed, and empty where nothing was given."""
    array = column.array("U")
    if array is not None:
        return array
    if not column.made_of(str):
        values = column.values if isinstance(column.values, list) else column.values.tolist()
        return np.array(["" if value is None or value != value else str(value) for value in values], dtype=np.str_)
    return np.array(column.values, dtype=np.str_)


def times(column: Given) -> NDArray[Any]:
    """Return numbers or texts; those of labels and reports may lack some, which are NaN or empty."""
    nothing = (_NOTHING,) if column.name in ("label_time", "report_time") else ()
    array = column.array("U")
    if array is None and column.made_of(str, *nothing):
        array = texts(column)
    if array is None and column.made_of(date, *nothing):
        array = texts(column._replace(values=[None if when is None else when.isoformat() for when in column.values]))
    if array is None:
        array = _floats(column, *nothing)
    if array is None:
        textual = isinstance(column.values[0], str)
        raise column.refuse(
            lambda v: (v is None and nothing) or (isinstance(v, str) if textual else is_number(v)),
            f"{column.name} is {{}}; it must be a number in every row, or a text (ISO 8601) in every row",
        )
    return array


def matrix(column: Given) -> Floats:
    """Return the features as a matrix."""
    array = column.array("biuf")
    if array is not None and array.ndim == 2:
        return array.astype(np.float64, copy=False)
    try:
        found = np.array(column.values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        found = None
    if found is None or found.ndim != 2:
        raise _refused_matrix(column)
    return found


def _refused_matrix(column: Given) -> DataError:
    """Return which row of x is not like the first."""
    rows = column.values
    wide = len(rows[0]) if hasattr(rows[0], "__len__") else None
    for place, row in enumerate(rows, column.first + 1):
        try:
            width = np.array(row, dtype=np.float64).shape
        except (TypeError, ValueError, OverflowError):
            width = ()
        if len(width) != 1:
            return DataError(
                f"{column.source}, row {place}: x must be a list of numbers in every row, got {str(row)[:60]}"
            )
        if width != (wide,):
            return DataError(
                f"{column.source}, row {place}: x must have one length in all rows; "
                f"it has {width[0]} numbers here and {wide} in row {column.first + 1}"
            )
    return DataError(f"{column.source}: x must be a list of numbers in every row")


def reasons(column: Given) -> NDArray[np.object_]:
    """Return one dict from name to float per row, empty where nothing was given; JSON text is read."""
    values = [_mapping(value) for value in column.values]
    if not all(issubclass(kind, dict) for kind in set(map(type, values))) or not _all_floats(values):
        try:
            values = [{str(name): _float(number) for name, number in value.items()} for value in values]
        except (AttributeError, TypeError):
            raise column.refuse(_is_reason, "why is a mapping from name to number, got {}") from None
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _mapping(value: Any) -> Any:
    """Return a cell as a mapping, if it is one, or says one in JSON."""
    if value is None:
        return {}
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _all_floats(values: list[dict[Any, Any]]) -> bool:
    """Say whether all values are floats and all names texts, by the sets of their types."""
    names, numbers = chain.from_iterable(values), chain.from_iterable(value.values() for value in values)
    return set(map(type, names)) <= {str} and set(map(type, numbers)) <= {float}


def _float(value: Any) -> float:
    found = NOT_FINITE.get(value, value) if isinstance(value, str) else value
    if not is_number(found):
        raise TypeError(value)
    return float(found)


def _is_reason(value: Any) -> bool:
    try:
        return all(_float(number) is not None for number in _mapping(value).values())
    except (AttributeError, TypeError):
        return False


def writable(why: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mapping from name to number as JSON can say it.

    Examples
    --------
    >>> writable({"width": math.inf, "level": 2.0})
    {'width': 'Infinity', 'level': 2.0}
    """
    if all(map(math.isfinite, why.values())):
        return dict(why)
    words = {math.inf: "Infinity", -math.inf: "-Infinity"}
    return {name: v if math.isfinite(v) else words.get(v, "NaN") for name, v in why.items()}
