"""From what users have (files, data frames, dicts) to ``Records``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import whole
from ..errors import DataError, InputError, OptionError
from ..remedies import Message, Remedy, near
from .dates import are_dates
from .files import Raw, check_separator, columns_of, read_file
from .frames import is_frame, read_frame
from .label_column import read_labels
from .records import (
    Records,
    are_padded,
    convert_levels,
    convert_numbers,
    count_infinite,
    looks_numeric,
    place,
)
from .values import MISSING

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
    unlabelled: bool = False,
) -> Records:
    """Read a table: a CSV, JSON Lines or Parquet file (gzip too), a data frame, columns or dicts.

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
    check_separator(separator)
    if isinstance(drop, str):
        raise OptionError(f"drop is a list of columns, got the text {drop!r}: drop=[{drop!r}]")
    if isinstance(missing, str):
        raise InputError(f"missing must be a list of texts, got the text {missing!r}: missing=[{missing!r}]")
    codes = tuple(missing)
    name, (there, lines, texts) = _open(source, separator, warm_up)

    def where(row: int) -> str:
        return place(name, lines, row)

    if len({len(values) for values in there.values()}) > 1:
        raise DataError(f"the columns differ in length: { {key: len(values) for key, values in there.items()} }")
    if not there or not len(next(iter(there.values()))):
        raise DataError(f"{name} has no rows")
    for wanted in (*([] if label is None else [label]), *(columns or ()), *numbers, *categories, *drop):
        check_column(wanted, there, name)
    if label is not None and label in drop:
        raise OptionError(
            Message(f"{label!r} cannot be both the label and a column to leave out: take it out of ", Remedy("drop"))
        )
    for both in (key for key in numbers if key in categories):
        told = f"column {both!r} cannot be both a number and a category: take the column out of "
        raise OptionError(Message(told, Remedy("numbers"), " or ", Remedy("categories")))
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


def _open(source: Any, separator: str | None, warm_up: int) -> tuple[str, Raw]:
    """Return what a source is called, and its columns."""
    if isinstance(source, str | PathLike):
        path = Path(source)
        if not path.exists():
            raise FileNotFoundError(f"there is no file {path}")
        if path.is_dir():
            raise DataError(f"{path} is a folder: name the file in it that has the table")
        return str(path), read_file(path, separator, warm_up)
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


def _plain(column: Any) -> Any:
    """Return a column of numbers as it is, any other as a list."""
    return column if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" else list(column)
