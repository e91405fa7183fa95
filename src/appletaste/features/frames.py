"""Data frames of any kind as columns, through narwhals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import DataError, InputError, MissingExtraError
from .files import Raw


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
