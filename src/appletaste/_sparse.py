"""Tables that are mostly zeros: SciPy's sparse arrays, read row by row without importing SciPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Most bytes of a dense block that is made of a sparse table at a time.
BLOCK_BYTES = 64 * 2**20


def is_sparse(x: object) -> bool:
    """Return whether x is a sparse array or matrix of SciPy; one that exists has imported SciPy already."""
    return type(x).__module__.startswith("scipy.sparse") and hasattr(x, "tocsr")


class SparseRows:
    """A sparse table [rows, features] whose rows are dense vectors when they are asked for.

    ``rows[k]`` is one vector, ``rows[places]`` (a slice or an array of places) another sparse table, and
    ``rows.blocks()`` gives all of it, a few dense rows at a time.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = SparseRows(csr_array([[0.0, 2.0], [0.0, 0.0], [1.0, 0.0]]))
    >>> rows.shape, rows[0], rows[1:].dense()
    ((3, 2), array([0., 2.]), array([[0., 0.], [1., 0.]]))
    """

    def __init__(self, table: Any) -> None:
        csr = table.tocsr()
        if not csr.has_canonical_format:  # entries given twice add up
            csr = csr.copy()
            csr.sum_duplicates()
        self._csr = csr
        self._values: NDArray[np.float64] = csr.data.astype(np.float64)
        self.shape: tuple[int, int] = (int(csr.shape[0]), int(csr.shape[1]))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, places: Any) -> Any:
        if not isinstance(places, int | np.integer):
            return SparseRows(self._csr[places])
        k = range(len(self))[int(places)]
        mine = slice(self._csr.indptr[k], self._csr.indptr[k + 1])
        row = np.zeros(self.shape[1])
        row[self._csr.indices[mine]] = self._values[mine]
        return row

    def __iter__(self) -> Iterator[NDArray[np.float64]]:
        return (self[k] for k in range(len(self)))

    @property
    def values(self) -> NDArray[np.float64]:
        """The entries that are stored, row after row."""
        return self._values

    def place(self, entry: int) -> tuple[int, int]:
        """Return the row and the column of a stored entry."""
        row = int(np.searchsorted(self._csr.indptr, entry, side="right")) - 1
        return row, int(self._csr.indices[entry])

    def dense(self) -> NDArray[np.float64]:
        """Return all rows as one dense array."""
        return np.asarray(self._csr.toarray(), dtype=np.float64)

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Give all rows in dense blocks of no more than 64 MiB, or of one row."""
        rows = max(1, BLOCK_BYTES // (8 * max(1, self.shape[1])))
        return (self[start : start + rows].dense() for start in range(0, len(self), rows))
