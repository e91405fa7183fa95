"""What was known before the first item: a labelled past that the encoder and every policy start from."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._sparse import SparseRows
from ..decision import UNKNOWN
from ..errors import DataError, OneClassWarning, OptionError
from ..features import Encoder, Records, TransformerMap, read_records
from ..features.reading import check_column
from ..remedies import Message, Remedy
from .clocks import arrivals_of, clock_of, in_front, moments_of
from .table import MOST_DENSE, Places, Stream, alone, places_of
from .vectors import Matrix, Vectors


@dataclass(frozen=True)
class History:
    """Rows of the past with the columns of the stream; a label that is not known is -1."""

    records: Records
    labels: NDArray[np.int8]
    clock: str | None = None  #: the column of the times, where other dates are counted from it
    moments: NDArray[Any] | None = None  #: the times as texts

    @property
    def table(self) -> Records:
        """The rows as an ``Encoder`` takes them, as ``Stream.table`` has those of the stream."""
        if self.clock is None or self.moments is None:
            return self.records
        return in_front(self.clock, self.moments, self.records)

    @property
    def known(self) -> NDArray[np.intp]:
        """The rows that can be learnt from."""
        return np.flatnonzero(self.labels != UNKNOWN)

    @property
    def note(self) -> str:
        """What the policies start from, in words."""
        known, rows = len(self.known), len(self.labels)
        some = "" if known == rows else f" of {rows} rows"
        told = (
            f"every policy starts from {known} labels{some} of {self.records.source}, {self.positives} of them positive"
        )
        if 0 < self.positives < known:
            return told
        return f"{told}: one class says nothing of the other. Is the history whole, and is the label the right column?"

    @property
    def positives(self) -> int:
        """How many labels are positive."""
        return int((self.labels == 1).sum())


def read_history(
    source: Any,
    stream: Stream,
    label: Any,
    *,
    flip_label: bool = False,
    drop: Sequence[str] = (),
    time_unit: str | None = None,
    **reading: Any,
) -> History:
    """Read the past of a stream; rows may lack a label, and columns that the stream does not have are left out.

    A history must be over before the stream begins. Where a column says when labels arrived, those that arrived after
    the first item of the stream are not known yet.

    Examples
    --------
    >>> from .table import read_stream
    >>> stream = read_stream({"x": [1.0, 2.0], "bad": [0, 1]}, "bad")
    >>> read_history({"x": [0.0, 3.0, 5.0], "bad": ["no", "yes", ""]}, stream, "bad").known
    array([0, 1])
    """
    if isinstance(stream.records, Vectors):
        raise OptionError(Message(Remedy("history"), " is a table, and so must the stream be: give a data frame"))
    wanted = stream.records.columns
    kinds = {name: column.dtype == np.float64 for name, column in wanted.items()}
    if isinstance(source, Records):
        records = source
    else:
        reading["numbers"] = [name for name, numeric in kinds.items() if numeric]
        reading["categories"] = [name for name, numeric in kinds.items() if not numeric]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OneClassWarning)  # said in the note
            records = read_records(source, label=label, unlabelled=True, **reading)
    if records.labels is None:
        raise OptionError("the records of the history have no labels: read_records(..., label='...', unlabelled=True)")
    for name in wanted:
        check_column(name, records.columns, records.source)
    labels = records.labels if not flip_label else np.where(records.labels < 0, UNKNOWN, 1 - records.labels)
    labels = _before(stream, records, labels.astype(np.int8), time_unit)
    if not (labels != UNKNOWN).any():
        told = f"no label of {records.source} was known before the stream begins: give an older file, or leave out "
        raise DataError(Message(told, Remedy("history")))
    features = {name: records.columns[name] for name in wanted}
    past = replace(records, columns=features, labels=None, dates=stream.records.dates)
    if stream.moments is None or stream.clock is None:
        return History(past, labels)
    check_column(stream.clock, records.columns, records.source)
    clock, _, _ = clock_of(stream.clock, records, time_unit)
    return History(past, labels, stream.clock, moments_of(records.columns[stream.clock], clock))


def _before(stream: Stream, records: Records, labels: NDArray[np.int8], time_unit: str | None) -> NDArray[np.int8]:
    """Return the labels that were known when the stream began; refuse rows that are no past."""
    if stream.times is None or stream.clock not in records.columns:
        return labels
    clock, dated, _ = clock_of(stream.clock, records, time_unit)
    first = float(stream.times[0])
    late = np.flatnonzero(clock > first)
    if dated == stream.dated and len(late):
        raise DataError(
            f"{records.where(int(late[0]))}: {records.columns[stream.clock][late[0]]} is after the first item of the "
            f"stream, as in {len(late)} of {len(records)} rows of the history. Leave these rows out of the history: "
            "nobody knows the future"
        )
    if stream.told_by is None or stream.told_by not in records.columns:
        return labels
    told, _ = arrivals_of(stream.told_by, records, clock, stream.clock, dated, time_unit)
    return np.where(told <= first, labels, UNKNOWN).astype(np.int8)


def encode_after(
    encoder: Any, history: History, records: Records | Vectors, time: str | None = None
) -> tuple[Matrix, NDArray[np.float64], Places]:
    """Return the vectors of the stream, those of the labelled rows of the history, and places as ``encode`` does.

    The encoder is fitted on the history.
    """
    if not isinstance(encoder, Encoder):
        fitted = TransformerMap(encoder, history.records, warm_up=len(history.records))
        known = fitted.transform_many(history.records[history.known])
        made = np.asarray(fitted.transform_many(records), dtype=np.float64)
        return made, np.asarray(known, dtype=np.float64), alone(made.shape[1])
    features = replace(encoder, warm_up=len(history.labels)).fit(history.table, time=time)
    past = np.asarray(features.transform_many(history.table[history.known], update=False), dtype=np.float64)
    if 8 * len(records) * features.n_features > MOST_DENSE:
        return SparseRows(features.transform_many(records, sparse=True)), past, places_of(features)
    return np.asarray(features.transform_many(records), dtype=np.float64), past, places_of(features)
