"""A user's table: columns by name, and where each row came from."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..remedies import Message, Remedy
from .values import LARGEST, MISSING, as_level, as_number, is_nothing

#: Among the values first seen, this share of numbers makes text beside them a fault rather than a level.
NEARLY_ALL = 0.9

#: A number as people write it and programs do not: 12,5 or 1.234,50 or 1,234.50 or 12 % or EUR 12. A date is none.
_UNIT = r"(?:[%€$£¥]|EUR|USD|GBP|CHF)"
_GROUPED = r"[0-9]{1,3}(?:[.,'\u2019\u00a0\u202f ][0-9]{3})+(?:[.,][0-9]+)?"
DRESSED = re.compile(rf"{_UNIT}?\s*[-+]?\s*{_UNIT}?\s*(?:{_GROUPED}|[0-9]+(?:[.,][0-9]+)?)\s*{_UNIT}?")


@dataclass(frozen=True)
class Records:
    """Rows of a table: numbers as float64 with NaN where missing, categories and dates as text with None.

    Made by ``read_records``. ``records[:500]`` is the first 500 rows, ``records[order]`` those of an array of
    places, and ``records.rows()`` gives each row as a dict.

    Examples
    --------
    >>> from appletaste import read_records
    >>> records = read_records({"age": [31, None], "job": ["student", "retired"]})
    >>> len(records), records.columns["age"], list(records.rows())[1]
    (2, array([31., nan]), {'age': nan, 'job': 'retired'})
    """

    columns: dict[str, NDArray[Any]]
    labels: NDArray[np.int8] | None = None  #: 1 where acting was right, -1 where that is not known
    source: str = "the table"
    lines: NDArray[np.int64] | None = None  #: where each row begins in its file
    missing: tuple[str, ...] = MISSING  #: the codes that were read as missing
    dropped: tuple[
        str, ...
    ] = ()  #: columns that the source has and that are no features: the label, and what was dropped
    unit: str = "line"  #: what ``lines`` counts: lines of a file from 1, or rows of a table from 0
    dates: tuple[str, ...] = ()  #: columns of text that are dates in ISO 8601
    padded: tuple[str, ...] = ()  #: columns of numbers that are written as codes are, 05213
    infinite: tuple[tuple[str, int], ...] = ()  #: columns with cells beyond all numbers, and how many are missing so

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, rows: slice | NDArray[Any]) -> Records:
        lines = np.arange(len(self)) if self.lines is None else self.lines
        return replace(
            self,
            columns={name: column[rows] for name, column in self.columns.items()},
            labels=None if self.labels is None else self.labels[rows],
            lines=lines[rows],
            unit="row" if self.lines is None else self.unit,
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """Give each row as a dict, as it would arrive in live use."""
        names = list(self.columns)
        for values in zip(*(column.tolist() for column in self.columns.values()), strict=True):
            yield dict(zip(names, values, strict=True))

    def where(self, row: int) -> str:
        """Return the place of a row, for messages."""
        return place(self.source, self.lines, row, self.unit)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as numbers, or say which cell is none."""
        column = self.columns[name]
        if column.dtype == np.float64:
            return column
        return convert_numbers(name, column, self.missing, self.where)

    def levels(self, name: str) -> NDArray[Any]:
        """Return a column as levels of a category."""
        column = self.columns[name]
        return column if column.dtype == object else convert_levels(name, column, self.missing, self.where)


def place(source: str, lines: NDArray[np.int64] | None, row: int, unit: str = "line") -> str:
    """Return the name of a place in a source: a line of a file, or a row counted from 0."""
    return f"{source}, row {row}" if lines is None else f"{source}, {unit} {lines[row]}"


def convert_numbers(
    name: str, values: Any, missing: tuple[str, ...], where: Callable[[int], str]
) -> NDArray[np.float64]:
    """Return raw cells as numbers, NaN where missing; say which one is none."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        given = values.astype(np.float64)
        return np.where(np.abs(given) < LARGEST, given, np.nan)
    codes = frozenset(missing)
    known: dict[Any, float] = {}  # texts repeat
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        number = known.get(value) if type(value) is str else None
        if number is None:
            try:
                number = as_number(value, codes)
            except ValueError:
                raise _odd(f"{where(row)}: column {name!r} holds numbers, got {value!r}", name, value) from None
            if type(value) is str:
                known[value] = number
        numbers[row] = number
    return numbers


def count_infinite(values: Any, numbers: NDArray[np.float64], missing: tuple[str, ...]) -> int:
    """Return how many raw cells are missing among numbers because they are infinite, or too large to be measured.

    Examples
    --------
    >>> count_infinite(["inf", "NA", "3", "1e200"], np.array([np.nan, np.nan, 3.0, np.nan]), ("NA",))
    2
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return int((np.isnan(numbers) & ~np.isnan(values)).sum())
    count = 0
    for row in np.flatnonzero(np.isnan(numbers)).tolist():
        value = values[row].strip() if isinstance(values[row], str) else values[row]
        if not (is_nothing(value) or value in missing):
            try:
                count += not math.isnan(float(value))
            except OverflowError:  # a whole number beyond all floats
                count += 1
    return count


def convert_levels(name: str, values: Any, missing: tuple[str, ...], where: Callable[[int], str]) -> NDArray[Any]:
    """Return raw cells as text, None where missing; say which one cannot be a level."""
    codes = frozenset(missing)
    known: dict[Any, str | None] = {}
    levels = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        if type(value) is str and value in known:
            levels[row] = known[value]
            continue
        try:
            level = as_level(value, codes)
        except ValueError:
            told = (
                f"{where(row)}: column {name!r} holds {value!r}, a {type(value).__name__}, which is neither a number "
                "nor a level nor a date. Give a number made from it (seconds, a count), or leave the column out: "
            )
            raise DataError(Message(told, Remedy("drop", [name]))) from None
        if type(value) is str:
            known[value] = level
        levels[row] = level
    return levels


def looks_numeric(name: str, first: Sequence[Any], missing: tuple[str, ...], where: Callable[[int], str]) -> bool:
    """Return whether the first values of a column are all numbers; nearly all is a fault, and said to be one."""
    codes = frozenset(missing)
    numbers, texts, odd, dressed = 0, 0, -1, []
    for row, value in enumerate(first):
        try:
            numbers += not math.isnan(as_number(value, codes))
        except ValueError:
            texts += 1
            odd = row if odd < 0 else odd
            if isinstance(value, str) and DRESSED.fullmatch(value.strip()):
                dressed.append(row)
    if dressed and numbers + len(dressed) > NEARLY_ALL * (numbers + texts):
        told = (
            f"{where(dressed[0])}: column {name!r} has {first[dressed[0]]!r}, and {len(dressed)} of its first "
            f"{numbers + texts} values are like that. A number is written as 1234.5: a point before the decimals, "
            "nothing between thousands, no unit or currency. If the column is a category, "
        )
        raise DataError(Message(told, Remedy("categories", [name])))
    if texts and numbers > NEARLY_ALL * (numbers + texts):
        few = f"({numbers} of its first {numbers + texts} values are numbers)"
        raise _odd(f"{where(odd)}: column {name!r} has {first[odd]!r} among numbers {few}", name, first[odd])
    return numbers > 0 and texts == 0


def are_padded(first: Sequence[Any], missing: tuple[str, ...]) -> bool:
    """Return whether numbers are written as postcodes are: all as long, three digits or more, some with a 0 in front.

    Examples
    --------
    >>> are_padded(["05213", "99084", ""], ("",)), are_padded(["0", "17", "250"], ()), are_padded(["08", "12"], ())
    (True, False, False)
    """
    texts = {value.strip() for value in first if isinstance(value, str)} - set(missing)
    return (
        len({len(text) for text in texts}) == 1
        and all(len(text) > 2 and text.isdecimal() for text in texts)
        and any(text[0] == "0" for text in texts)
    )


def _odd(found: str, name: str, value: Any) -> DataError:
    """Return the error for a cell that is no number in a column of numbers."""
    return DataError(
        Message(
            f"{found}. If {value!r} stands for a missing value, add it with ",
            Remedy("missing"),
            "; if the column is a category, ",
            Remedy("categories", [name]),
            "; else correct the cell",
        )
    )
