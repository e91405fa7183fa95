"""A column that stays in its files: rows of it are read when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .fields import NAN_IS_NOTHING, Given
from .log_columns import FIELDS
from .log_files import BATCH, Part

#: Called after each part with what is being done, how many parts are done, and of how many.
Progress = Callable[[str, int, int], None]


class Engine(Protocol):
    """Who does the work of the parts: the engines of ``appletaste.engines``, opened."""

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """Yield the index and the result of every task as they finish, each once."""


@dataclass(frozen=True)
class Reader:
    """The parts of a log in order, and who reads them."""

    parts: tuple[Part, ...]
    engine: Engine | None = None
    progress: Progress | None = None

    @property
    def ends(self) -> NDArray[np.int64]:
        """How many rows there are up to the end of each part."""
        return np.cumsum([part.rows for part in self.parts], dtype=np.int64)

    def run(self, function: Callable[[Any], Any], tasks: Sequence[Any], what: str) -> Iterator[Any]:
        """Yield the result of every task in the order of the tasks, whoever works and whatever finishes first."""
        found = enumerate(map(function, tasks)) if self.engine is None else self.engine.run(function, tasks)
        early: dict[int, Any] = {}
        next_ = 0
        for done, (index, result) in enumerate(found, 1):
            if self.progress is not None:
                self.progress(what, done, len(tasks))
            early[index] = result
            while next_ in early:
                yield early.pop(next_)
                next_ += 1


@dataclass(frozen=True, eq=False)
class LazyColumn:
    """One column of a scanned log; what is asked for comes as an array, the rest stays where it is."""

    reader: Reader
    name: str
    places: NDArray[np.int64] | None = None  #: rows of the files that the column consists of; None: all

    def __len__(self) -> int:
        return int(self.reader.ends[-1]) if self.places is None else len(self.places)

    @property
    def dtype(self) -> np.dtype[Any]:
        """That of the values, by looking at the first of them."""
        found: np.dtype[Any] = self[:1].dtype
        return found

    @property
    def ndim(self) -> int:
        """2 for x, 1 for the rest."""
        return 2 if self.name == "x" else 1

    @property
    def shape(self) -> tuple[int, ...]:
        """As an array of all values would have it."""
        return (len(self), *self[:1].shape[1:])

    def where(self, picked: NDArray[np.int64]) -> LazyColumn:
        """Return some rows of the column, still in their files."""
        if len(picked) > 1 and (picked[1:] < picked[:-1]).any():
            raise DataError(
                "a scanned log gives its decisions in their order: choose places that rise, or read it at once"
            )
        return replace(self, places=picked if self.places is None else self.places[picked])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            rows = np.arange(*key.indices(len(self)))
        else:
            rows = np.asarray(key)
            rows = np.flatnonzero(rows) if rows.dtype == bool else rows
        single, rows = rows.ndim == 0, np.atleast_1d(rows)
        order = np.argsort(rows, kind="stable")
        found = list(self.each(_same, rows=rows[order]))
        values = _joined(found) if found else self._none()
        given = np.empty(len(rows), dtype=np.int64)
        given[order] = np.arange(len(rows))
        values = values[given]
        return values[0] if single else values

    def __iter__(self) -> Iterator[Any]:
        for batch in self.each(_same):
            yield from batch

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found: NDArray[Any] = self[:]
        return found

    def tolist(self) -> list[Any]:
        """Return all values: of a long log, think twice."""
        found: list[Any] = self[:].tolist()
        return found

    def each(
        self,
        function: Callable[..., Any],
        *common: Any,
        rows: NDArray[np.int64] | None = None,
        also: NDArray[Any] | None = None,
        what: str = "",
    ) -> Iterator[Any]:
        """Yield ``function(values, *common)`` for one batch of rows after the other, worked out where they are read.

        ``rows`` are places in the column in rising order; None: all. ``also`` has a value for each of these rows, and
        the function is given those of its batch after the values. The batches are the same whoever does the work, so
        whatever is made of the results in their order is the same too.
        """
        chosen = self.places if rows is None else rows if self.places is None else self.places[rows]
        start, tasks = 0, []
        for part, end in zip(self.reader.parts, self.reader.ends.tolist(), strict=True):
            mine, low, high = None, start, end
            if chosen is not None:
                low, high = np.searchsorted(chosen, (start, end))
                mine = (chosen[low:high] - start).astype(np.int32)
            if part.rows and (mine is None or len(mine)):
                tasks.append((part, self.name, mine, None if also is None else also[low:high], function, common))
            start = end
        for results in self.reader.run(_work, tasks, what or f"reading {self.name}"):
            yield from results

    def _none(self) -> NDArray[Any]:
        """Return no row."""
        if not len(self):
            return FIELDS[self.name](Given(self.name, [], ""))
        return np.asarray(self[:1][:0])


def _same(values: Any) -> Any:
    return values


def _work(
    task: tuple[Part, str, NDArray[np.int32] | None, NDArray[Any] | None, Callable[..., Any], tuple[Any, ...]],
) -> list[Any]:
    """Read one column of one part and do what was asked with each batch of its rows."""
    part, name, mine, also, function, common = task
    results, done, taken = [], 0, 0
    for first, size, columns, _ in part.batches([name]):
        given = columns.get(name)
        column = Given.of(name, [None] * size if given is None else given, part.path, first)
        values = _checked(FIELDS[name](column), name, part.path, first)
        if mine is not None:
            low, high = np.searchsorted(mine, (done, done + size))
            values = values[mine[low:high] - done]
        done += size
        if len(values):
            beside = () if also is None else (also[taken : taken + len(values)],)
            results.append(function(values, *beside, *common))
            taken += len(values)
    return results


def _checked(values: NDArray[Any], name: str, source: str, first: int) -> NDArray[Any]:
    """Refuse what a log that is read at once would refuse in this column."""
    if values.dtype.kind != "f":
        return values
    wrong = np.isinf(values) if name in NAN_IS_NOTHING else ~np.isfinite(values)
    if wrong.any():
        rows = wrong.any(axis=1) if wrong.ndim == 2 else wrong
        k = int(np.argmax(rows))
        raise DataError(f"{source}, row {first + k + 1}: {name} must be finite numbers, got {values[k]}")
    return values


def _joined(batches: list[Any]) -> NDArray[Any]:
    if batches[0].ndim == 2 and len({batch.shape[1] for batch in batches}) > 1:
        widths = sorted({batch.shape[1] for batch in batches})
        raise DataError(
            f"x must have one length in all files; there are rows of {widths[0]} and of {widths[-1]} numbers"
        )
    return np.concatenate(batches)


def each_batch(column: Any, function: Callable[..., Any], *common: Any, what: str = "") -> Iterator[Any]:
    """Yield ``function(values, *common)`` for batches of any column, an array or one that is stored, in order."""
    if isinstance(column, LazyColumn):
        yield from column.each(function, *common, what=what)
        return
    for start in range(0, len(column), BATCH):
        yield function(column[start : start + BATCH], *common)


def picked_rows(values: Any, picked: NDArray[Any]) -> Any:
    """Return some rows of a column; a column that holds one value in every row, a cost say, stays that one value."""
    if values is None:
        return None
    if isinstance(values, LazyColumn):
        return values.where(picked)
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.strides == (0,):
        return np.broadcast_to(values[:1], len(picked)) if not len(values) else np.broadcast_to(values[0], len(picked))
    return values[picked]


#: Rows of a piece: what is computed on the way to a sum stays small, and in the cache.
PIECE = 2**16


def pieces(size: int) -> Iterator[slice]:
    """Give the rows of a log of this size, one piece after the other.

    Examples
    --------
    >>> [(some.start, some.stop) for some in pieces(100_000)]
    [(0, 65536), (65536, 100000)]
    """
    for start in range(0, size, PIECE):
        yield slice(start, min(start + PIECE, size))
