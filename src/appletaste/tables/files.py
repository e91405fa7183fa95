"""Files as columns: CSV, JSON Lines, Parquet, Feather and spreadsheets; what is broken is said with its line.

Data frames of any kind as columns, through narwhals.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import time, timedelta
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._files import json_objects
from ..errors import DataError, InputError, Message, MissingExtraError, OptionError, Remedy, near
from .dialect import Dialect, is_separator

SEPARATORS = ",;\t|"


class Raw(NamedTuple):
    """The columns of a source as it has them, and the line that each row begins in."""

    columns: dict[str, Any]
    lines: NDArray[np.int64] | None = None
    texts: frozenset[str] = frozenset()  #: columns that their source says are text, numbers or not


def read_file(path: Path, dialect: Dialect, warm_up: int) -> Raw:
    """Read a file by what it is: most are known by their first bytes, JSON Lines by its name."""
    if path.is_fifo():
        raise DataError(
            f"{path} is a pipe, which can be read once only, and a table is read more than once: write a file first"
        )
    with path.open("rb") as raw:
        head = raw.read(64)
    if head[:2] == b"PK" or head[:4] == b"\xd0\xcf\x11\xe0":  # a spreadsheet of today, or an old one
        return read_spreadsheet(path, dialect.sheet)
    if dialect.sheet is not None:
        raise OptionError(Message(f"{path} is no spreadsheet and has no sheets: leave out ", Remedy("sheet")))
    if head[:4] == b"PAR1" or head[:6] in (b"ARROW1", b"FEA1"):
        return read_arrow(path, feather=head[:4] != b"PAR1")
    if re.match(rb"\x80[\x02-\x05]", head):
        raise DataError(
            f"{path} is a pickle, which runs code when it is read: write Parquet (pandas: to_parquet(path))"
        )
    if re.match(rb"(\xef\xbb\xbf)?\s*\[\s*[\[{]", head):
        raise DataError(
            f"{path} is a JSON array: write one object a line instead, as JSON Lines, into a file that is named .jsonl "
            "(pandas: to_json(path, orient='records', lines=True))"
        )
    zipped = head[:2] == b"\x1f\x8b"
    names = [suffix.lower() for suffix in path.suffixes]
    reader = read_json_lines if ".jsonl" in names or ".ndjson" in names else read_csv
    try:
        with (gzip.open if zipped else open)(path, "rb") as file:
            text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            return reader(text, path, dialect.separator, warm_up)
    except UnicodeDecodeError:
        raise DataError(f"{path}, line {_undecodable_line(path, zipped)}: not UTF-8; save the file as UTF-8") from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{path}: the gzip file is cut short or damaged ({error}); fetch it again") from None


def _undecodable_line(path: Path, zipped: bool) -> int:
    with (gzip.open if zipped else open)(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 1


def read_csv(text: IO[str], path: Path, separator: str | None, warm_up: int) -> Raw:
    """Read a table with a header line; the separator is the commonest of , ; tab | in that line.

    Spreadsheets may write it in a line before: ``sep=;``.
    """
    header_line, header_number = text.readline(), 1
    if said := re.fullmatch(r"\ufeff?sep=(.)", header_line.strip("\r\n")):
        if not is_separator(said[1]):
            raise DataError(f"{path}, line 1: {said[1]!r} is no separator; write sep=; or leave out the line")
        separator = separator or said[1]
        header_line, header_number = text.readline(), 2
    if not header_line.strip():
        raise DataError(f"{path} is empty, or its first line is: a table begins with the names of its columns")
    header_line = next(_without_nul(iter([header_line]), path, header_number - 1))
    separator = separator or max(SEPARATORS, key=header_line.count)
    reader = csv.reader(_without_nul(text, path, header_number), delimiter=separator, strict=True)
    header = [name.strip() for name in next(csv.reader([header_line], delimiter=separator))]
    _check_header(header, path, header_number)
    rows, lines, line = [], [], header_number
    try:
        for fields in reader:
            if fields:  # blank lines are no rows
                if len(fields) != len(header):
                    raise DataError(
                        f"{path}, line {line + 1}: {len(fields)} fields, but the header has {len(header)}. Text that "
                        f"holds {separator!r} needs quotes; a line cut short must be completed or left out"
                    )
                rows.append(fields)
                lines.append(line + 1)
            line = reader.line_num + header_number
    except csv.Error as error:
        raise DataError(
            f"{path}, line {line + 1}: {error}. Is a quote opened there and not closed? A quote within quotes is "
            "written twice"
        ) from None
    columns = zip(*rows, strict=True) if rows else [()] * len(header)
    return Raw(dict(zip(header, columns, strict=True)), np.array(lines, dtype=np.int64))


def _without_nul(text: Iterable[str], path: Path, line: int) -> Iterator[str]:
    """Give the lines of a file, or say which one has a NUL byte, that no text has and no reader shows."""
    for number, row in enumerate(text, line + 1):
        if "\0" in row:
            raise DataError(
                f"{path}, line {number}: a NUL byte, which is no text. The file was cut or padded when it was written "
                "or copied, or is not UTF-8: write it again"
            )
        yield row


def _check_header(header: list[str], path: Path, line: int) -> None:
    missing = " Is the line with the names of the columns missing?" if _are_values(header) else ""
    for number, name in enumerate(header, 1):
        if not name:
            raise DataError(
                f"{path}, line {line}: column {number} has no name. If it only counts the rows, write the file without "
                f"it (pandas: to_csv(..., index=False)); else name it.{missing}"
            )
        if header.index(name) != number - 1:
            raise DataError(f"{path}, line {line}: two columns are named {name!r}; rename one.{missing}")


def _are_values(header: list[str]) -> bool:
    """Return whether half of the names are numbers, as in the first row of a table without names."""
    return 2 * sum(re.fullmatch(r"[-+]?[0-9]+([.,][0-9]+)?", name) is not None for name in header) >= len(header)


def read_json_lines(text: IO[str], path: Path, separator: str | None, warm_up: int) -> Raw:
    """Read one JSON object a line."""
    rows, lines = [], []
    for number, row in json_objects(text, path):
        rows.append(row)
        lines.append(number)
    return Raw(columns_of(rows, warm_up), np.array(lines, dtype=np.int64))


def columns_of(rows: Iterable[Mapping[str, Any]], warm_up: int) -> dict[str, Any]:
    """Return dicts as columns: those that the first rows have; a later key is not looked at, an absent one is None.

    Examples
    --------
    >>> columns_of([{"a": 1}, {"a": 2, "b": 3}], warm_up=500)
    {'a': [1, 2], 'b': [None, 3]}
    """
    rows = list(rows)
    names = dict.fromkeys(name for row in rows[:warm_up] for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def read_arrow(path: Path, feather: bool) -> Raw:
    """Read a Parquet file, or a Feather file (Arrow IPC), with pyarrow."""
    kind = "Feather" if feather else "Parquet"
    try:
        import pyarrow
        from pyarrow import feather as feathers
        from pyarrow import parquet, types
    except ImportError:
        raise MissingExtraError(f"reading {path}, a {kind} file,", "parquet") from None
    try:
        table = feathers.read_table(path) if feather else parquet.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a whole {kind} file ({error}); write it again") from None
    columns: dict[str, Any] = {}
    texts = set()
    for name, column in zip(table.column_names, table.columns, strict=True):
        if types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if types.is_floating(column.type) or (types.is_integer(column.type) and not column.null_count):
            columns[name] = column.to_numpy()  # whole numbers stay whole: one may name a level
        else:
            columns[name] = column.to_pylist()
        if types.is_string(column.type) or types.is_large_string(column.type):
            texts.add(name)
    return Raw(columns, texts=frozenset(texts))


def read_spreadsheet(path: Path, sheet: str | None) -> Raw:
    """Read one sheet of a spreadsheet (.xlsx, .xls, .ods): a line with names, then a line for each row."""
    try:
        import python_calamine
    except ImportError:
        raise MissingExtraError(f"reading {path}, a spreadsheet,", "excel") from None
    try:
        book = python_calamine.load_workbook(path)
        names = book.sheet_names
        if sheet is not None and sheet not in names:
            raise OptionError(
                Message(
                    f"{path} has no sheet {sheet!r}{near(sheet, names)}. Its sheets: {', '.join(map(repr, names))}. "
                    "Name one with ",
                    Remedy("sheet"),
                )
            )
        rows = book.get_sheet_by_name(names[0] if sheet is None else sheet).to_python(skip_empty_area=False)
    except (python_calamine.CalamineError, IndexError) as error:
        raise DataError(f"{path}: neither a table nor a whole spreadsheet ({error}); save it as CSV") from None
    first = next((k for k, row in enumerate(rows) if any(cell != "" for cell in row)), None)
    if first is None:
        raise DataError(f"{path} is empty: a table begins with the names of its columns")
    width = max(k for k, cell in enumerate(rows[first]) if cell != "") + 1
    header = [str(cell).strip() for cell in rows[first][:width]]
    _check_header(header, path, first + 1)
    kept = [(k, row) for k, row in enumerate(rows[first + 1 :], first + 2) if any(cell != "" for cell in row)]
    for line, row in kept:
        if any(cell != "" for cell in row[width:]):
            raise DataError(
                f"{path}, line {line}: cells behind the last column that has a name, {header[-1]!r}; name them, or "
                f"take line {first + 1} out if it is a title above the table"
            )
    columns: dict[str, Any] = {name: [_of_a_sheet(row[k]) for _, row in kept] for k, name in enumerate(header)}
    return Raw(columns, np.array([line for line, _ in kept], dtype=np.int64))


def _of_a_sheet(cell: Any) -> Any:
    """Return a cell as other files have it; a time of day or a length of time is text."""
    return str(cell) if isinstance(cell, time | timedelta) else cell


def is_frame(source: Any) -> bool:
    """Return whether something is a table with columns of its own: pandas, polars, pyarrow and their kin."""
    marks = ("__narwhals_dataframe__", "__dataframe__", "__arrow_c_stream__", "collect_schema")
    return any(hasattr(source, mark) for mark in marks)


def as_record(given: Any) -> Mapping[str, Any]:
    """Return one record as a mapping: a dict as it is, a row of a data frame, or a frame of one row.

    Examples
    --------
    >>> import pandas
    >>> as_record(pandas.DataFrame({"age": ["31"], "job": ["chef"]}).iloc[0])
    {'age': '31', 'job': 'chef'}
    """
    if isinstance(given, Mapping):
        return given
    if getattr(given, "ndim", 0) == 1 and hasattr(given, "index") and hasattr(given, "items"):  # a pandas Series
        return dict(given.items())
    if is_frame(given):
        columns = read_frame(given).columns
        rows = len(next(iter(columns.values()), ()))
        if rows != 1:
            raise InputError(f"a record is one row, got a data frame of {rows}: transform_many takes a table")
        return {name: column[0] for name, column in columns.items()}
    raise InputError(f"a record is a dict with a value for each column, got {type(given).__name__}")


def read_frame(frame: Any) -> Raw:
    """Return the columns of a data frame: arrays where it has numbers, lists where it has anything else.

    Whole numbers stay whole: one that names a level may have more digits than a float.
    """
    try:
        import narwhals
    except ImportError:
        raise MissingExtraError(f"reading a {type(frame).__module__.split('.')[0]} data frame", "frames") from None
    try:
        table = narwhals.from_native(frame, eager_only=True)
    except TypeError:
        if len(getattr(frame, "shape", ())) == 1:
            raise DataError(f"a {type(frame).__name__} is one column: give the table that it is part of") from None
        raise DataError(f"a {type(frame).__name__} holds no rows yet: collect() it first") from None
    except narwhals.exceptions.DuplicateError as error:
        raise DataError(f"two columns of the data frame have the same name; rename one ({error})") from None
    columns: dict[str, Any] = {}
    texts = set()
    for series in table.iter_columns():
        if not isinstance(series.name, str):
            raise DataError(f"a column is named {series.name!r}: name the columns with text")
        if series.dtype.is_integer():
            columns[series.name] = series.to_list() if series.null_count() else series.to_numpy()
        elif series.dtype.is_numeric():
            columns[series.name] = series.cast(narwhals.Float64).to_numpy().astype(np.float64)
        else:
            columns[series.name] = series.to_list()
        if series.dtype in (narwhals.String, narwhals.Categorical, narwhals.Enum):
            texts.add(series.name)
    return Raw(columns, texts=frozenset(texts))
