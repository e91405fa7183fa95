"""A decision log that somebody has as a data frame: pandas, polars or Arrow, read as columns."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

#: pandas' two ways to say that nothing is there.
_NOTHING = ("NAType", "NaTType")


class Frame(Protocol):
    """What all data frames have."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


def frame_columns(given: Any) -> dict[str, Any] | None:
    """Return the columns of a data frame, None or NaN where nothing is known; None: it is no data frame.

    Examples
    --------
    >>> import pandas
    >>> frame_columns(pandas.DataFrame({"act": [True, False], "label": [1.0, None], "stratum": ["card", None]}))
    {'act': array([ True, False]), 'label': array([ 1., nan]), 'stratum': ['card', None]}
    """
    if hasattr(given, "to_pydict"):  # Arrow
        return dict(given.to_pydict())
    if hasattr(given, "iloc") and hasattr(given, "columns"):  # pandas
        return {str(name): _plain(np.asarray(column)) for name, column in given.items()}
    if hasattr(given, "get_columns") and hasattr(given, "to_dict"):  # polars
        return dict(given.to_dict(as_series=False))
    return None


def _plain(column: NDArray[Any]) -> Any:
    """Return a column of objects as a list with None where pandas says NaN, NA or NaT; any other as it is."""
    if column.dtype != object:
        return column
    return [None if _is_nothing(value) else value for value in column.tolist()]


def _is_nothing(value: Any) -> bool:
    return type(value).__name__ in _NOTHING or (isinstance(value, float) and value != value)
