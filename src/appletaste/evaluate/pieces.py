"""A long log some rows at a time, so that what is computed on the way to a sum stays small, and in the cache."""

from __future__ import annotations

from collections.abc import Iterator

#: Rows of a piece.
ROWS = 2**16


def pieces(size: int) -> Iterator[slice]:
    """Give the rows of a log of this size, one piece after the other.

    Examples
    --------
    >>> [(some.start, some.stop) for some in pieces(100_000)]
    [(0, 65536), (65536, 100000)]
    """
    for start in range(0, size, ROWS):
        yield slice(start, min(start + ROWS, size))
