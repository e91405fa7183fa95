"""A stream whose items are vectors already: a matrix, dense or sparse, with its labels beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._sparse import SparseRows, is_sparse
from ..errors import DataError, InputError, OptionError
from ..policies.items import check_items

Matrix: TypeAlias = NDArray[np.float64] | SparseRows


@dataclass(frozen=True)
class Vectors:
    """Items as they are, one row each; ``vectors[order]`` are those of an array of places."""

    items: Matrix
    source: str = "the matrix"

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, rows: Any) -> Vectors:
        return Vectors(self.items[rows], self.source)


def is_matrix(source: object) -> bool:
    """Return whether a source is an array of numbers or a sparse table, rather than a table with names."""
    return is_sparse(source) or (isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.names is None)


def read_vectors(source: Any, labels: Any, **reading: Any) -> tuple[Vectors, NDArray[np.int8]]:
    """Return the items of a matrix and their labels, or say what is wrong with either."""
    for name, value in reading.items():
        if value is not None and len(value):
            raise OptionError(f"{name}={value!r} names columns, but a matrix has no column names; give a data frame")
    if labels is None or isinstance(labels, str):
        raise OptionError(f"the labels of a matrix are a separate array of 0 and 1, got label={labels!r}")
    given = np.asarray(labels)
    if given.shape != (source.shape[0],):
        raise InputError(f"a matrix of shape {source.shape} needs {source.shape[0]} labels, got shape {given.shape}")
    return Vectors(check_items(source, source.shape[1])), _binary(given)


def _binary(given: NDArray[Any]) -> NDArray[np.int8]:
    """Return labels as 0 and 1, or say which one is neither."""
    for row, label in enumerate(given.tolist()):
        if label not in (0, 1):
            raise DataError(
                f"the label of row {row} is {label!r}: a replay needs a label, 0 or 1, in every row. Leave out the "
                "rows without a label; policy.learn_history takes a partly labelled history"
            )
    return given.astype(np.int8)
