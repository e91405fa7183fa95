"""A user's table: columns by name, and where each row came from.

From what users have (files, data frames, dicts) to ``Records``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import whole
from ..errors import DataError, InputError, Message, OptionError, Remedy, near
from .dialect import Dialect
from .files import Raw, columns_of, is_frame, read_file, read_frame
from .label_column import read_labels
from .values import LARGEST, MISSING, are_dates, as_level, as_number, is_nothing

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
            "nothing between thousands, no unit or currency. Numbers such as 1.234,50 are read with "
        )
        raise DataError(
            Message(told, Remedy("decimal", ","), ". If the column is a category, ", Remedy("categories", [name]))
        )
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


#: How many rows at the start may be looked at together, before the first decision.
WARM_UP = 500


def read_records(
    source: Any,
    *,
    label: str | None = None,
    positive: Any = None,
    missing: Iterable[str] = MISSING,
    columns: Sequence[str] | None = None,
    numbers: Sequence[str] = (),
    categories: Sequence[str] = (),
    drop: Sequence[str] = (),
    warm_up: int = WARM_UP,
    separator: str | None = None,
    decimal: str = ".",
    date_format: str | None = None,
    sheet: str | None = None,
    unlabelled: bool = False,
) -> Records:
    """Read a table: a CSV, JSON Lines, Parquet, Feather or spreadsheet file, a data frame, columns or dicts.

    Whether a column of text holds numbers is decided on its first ``warm_up`` rows, never on later ones; a later
    cell that does not fit is an error that names its line. Nor is whether a column of text holds dates in ISO 8601;
    a later cell that cannot be read is then as good as missing. A data frame's own types are kept. ``Records`` come
    back as they are.

    Parameters
    ----------
    label, positive
        The label column, and which of its values means that acting was right. 0/1, true/false and yes/no say so
        by themselves. The labels are in ``Records.labels`` and no longer among the columns.
    unlabelled
        Whether a label may be missing; it is then -1 in ``Records.labels``. For ``policy.learn_history``.
    missing
        Texts that stand for a missing value, exactly as written.
    columns, drop
        The columns to read, if not all; columns to leave out (identifiers, what is known only afterwards). What was
        left out is in ``Records.dropped``.
    numbers, categories
        Columns whose kind is known, whatever their first values look like.
    separator
        Of the fields of a CSV file, if not the commonest of ``, ; tab |`` in its first line.
    decimal, date_format
        How texts write numbers and dates, where not as programs do: ``","`` for 1.234,50, and as ``strptime`` has it,
        ``"%d.%m.%Y"``. Dates become ISO 8601. Whether a column holds either is decided on its first rows.
    sheet
        Of a spreadsheet, if not the first.

    Examples
    --------
    >>> records = read_records([{"age": "31", "job": "student", "bad": "no"}, {"age": "?", "job": "x", "bad": "yes"}],
    ...                        label="bad")
    >>> records.columns["age"], records.labels
    (array([31., nan]), array([0, 1], dtype=int8))
    """
    if isinstance(source, Records):
        return source
    whole("warm_up", warm_up, least=1)
    dialect = Dialect(separator, decimal, date_format, sheet)
    if isinstance(drop, str):
        raise OptionError(f"drop is a list of columns, got the text {drop!r}: drop=[{drop!r}]")
    if isinstance(missing, str):
        raise InputError(f"missing must be a list of texts, got the text {missing!r}: missing=[{missing!r}]")
    codes = tuple(missing)
    name, (there, lines, texts) = _open(source, dialect, warm_up)

    def where(row: int) -> str:
        return place(name, lines, row)

    if not dialect.is_usual:
        there = {key: _written(key, cells, dialect, warm_up, where) for key, cells in there.items()}
    if len({len(values) for values in there.values()}) > 1:
        raise DataError(f"the columns differ in length: { {key: len(values) for key, values in there.items()} }")
    if not there or not len(next(iter(there.values()))):
        raise DataError(f"{name} has no rows")
    lacking = [wanted for wanted in columns or () if wanted not in there and wanted != label]
    if len(lacking) > 1:
        told = f"{name} lacks {len(lacking)} columns that are needed: {listed([repr(one) for one in lacking])}"
        raise DataError(f"{told}. Its columns: {listed([*there])}")
    for wanted in (*([] if label is None else [label]), *(columns or ()), *numbers, *categories, *drop):
        check_column(wanted, there, name)
    if label is not None and label in drop:
        raise OptionError(
            Message(f"{label!r} cannot be both the label and a column to leave out: take it out of ", Remedy("drop"))
        )
    for both in (key for key in numbers if key in categories):
        told = f"column {both!r} cannot be both a number and a category: take the column out of "
        raise OptionError(Message(told, Remedy("numbers"), " or ", Remedy("categories")))
    for kind, named in (("numbers", numbers), ("categories", categories)):
        for both in (key for key in named if key in drop):
            told = (
                f"column {both!r} cannot be both left out and a {'number' if kind == 'numbers' else 'category'}: take "
            )
            raise OptionError(Message(told, "the column out of ", Remedy("drop"), " or ", Remedy(kind)))
    labels = None if label is None else read_labels(label, there[label], positive, codes, name, where, unlabelled)
    read: dict[str, NDArray[Any]] = {}
    dates: list[str] = []
    padded: list[str] = []
    infinite: list[tuple[str, int]] = []
    for key in there if columns is None else columns:
        if key == label or key in drop:
            continue
        values = there[key]
        if key in categories:
            numeric = False
        elif key in numbers or isinstance(values, np.ndarray):
            numeric = True
        else:
            numeric = looks_numeric(key, values[:warm_up], codes, where) and key not in texts
            if numeric and are_padded(values[:warm_up], codes):
                padded.append(key)
        read[key] = (convert_numbers if numeric else convert_levels)(key, values, codes, where)
        if numeric and (count := count_infinite(values, read[key], codes)):
            infinite.append((key, count))
        if not numeric and key not in categories and are_dates(read[key][:warm_up]):
            dates.append(key)
    if not read:
        raise DataError(f"{name} has no column besides the label: there is nothing to base decisions on")
    left_out = tuple(key for key in there if key not in read)
    records = Records(read, labels, name, lines, codes, left_out, dates=tuple(dates))
    return replace(records, padded=tuple(padded), infinite=tuple(infinite))


def check_column(wanted: str, columns: Iterable[str], source: str) -> None:
    """Say what columns there are where one is missing."""
    there = list(columns)
    if wanted not in there:
        raise DataError(f"{source} has no column {wanted!r}{near(wanted, there)}. Its columns: {listed(there)}")


def listed(names: Sequence[str]) -> str:
    """Return the first names of a list, and how many more there are."""
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _open(source: Any, dialect: Dialect, warm_up: int) -> tuple[str, Raw]:
    """Return what a source is called, and its columns."""
    if isinstance(source, str | PathLike):
        path = Path(source)
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        if path.is_dir():
            raise DataError(f"{path} is a folder: name the file in it that has the table")
        return str(path), read_file(path, dialect, warm_up)
    if is_frame(source):
        return "the data frame", read_frame(source)
    if isinstance(source, Mapping):
        if any(isinstance(column, str) or not hasattr(column, "__len__") for column in source.values()):
            raise InputError("a dict must hold columns, {'age': [31, 45], ...}; for one record give a list: [record]")
        return "the table", Raw({name: _plain(column) for name, column in source.items()})
    try:
        rows = list(source)
        return "the list of records", Raw(columns_of(rows, warm_up))
    except (TypeError, AttributeError):
        raise InputError(
            f"a table is a file, a data frame, a dict of columns or an iterable of dicts, got {type(source).__name__}"
        ) from None


def _written(name: str, cells: Any, dialect: Dialect, warm_up: int, where: Callable[[int], str]) -> Any:
    """Return a column with its texts as programs write them; numbers are numbers already."""
    return cells if isinstance(cells, np.ndarray) else dialect.read(name, cells, warm_up, where)


def _plain(column: Any) -> Any:
    """Return a column of numbers as it is, any other as a list."""
    return column if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" else list(column)
