"""Data frames of any kind as columns, through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError, MissingExtraError
from .files import Raw


def is_frame(source: Any) -> bool:
    """Return whether something is a table with columns of its own: pandas, polars, pyarrow and their kin."""
    marks = ("__narwhals_dataframe__", "__dataframe__", "__arrow_c_stream__", "collect_schema")
    return any(hasattr(source, mark) for mark in marks)


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
        raise DataError(f"a {type(frame).__name__} holds no rows yet: collect() it first") from None
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
