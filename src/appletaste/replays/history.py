"""What was known before the first item: a labelled past that the encoder and every policy start from."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._sparse import SparseRows
from ..decision import UNKNOWN
from ..errors import DataError, Message, OneClassWarning, OptionError, Remedy
from ..features import Encoder, TransformerMap
from ..history.clock_column import arrivals_of, clock_of, in_front, moments_of
from ..history.labelled import MOST_DENSE, Groups, LabelledTable, Matrix, Vectors, groups_of
from ..tables import Records, read_records
from ..tables.records import check_column

#: So many played rows that are in the history, too, are said; this share of them, with their labels, is refused.
SAID, REFUSED = 10, 0.05
#: Rows may be alike by chance; so many times the share that is alike within the played table is more than that.
CHANCE = 2.0


@dataclass(frozen=True)
class History:
    """Rows of the past with the columns of the stream; a label that is not known is -1."""

    records: Records
    labels: NDArray[np.int8]
    clock: str | None = None  #: the column of the times, where other dates are counted from it
    moments: NDArray[Any] | None = None  #: the times as texts
    notes: tuple[str, ...] = ()  #: what speaks against its being past
    times: NDArray[np.float64] | None = None  #: when the rows came, on the clock of the stream

    @property
    def table(self) -> Records:
        """The rows as an ``Encoder`` takes them, as ``LabelledTable.table`` has those of the stream."""
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
    stream: LabelledTable,
    label: Any,
    *,
    flip_label: bool = False,
    drop: Sequence[str] = (),
    time_unit: str | None = None,
    **reading: Any,
) -> History:
    """Read the past of a stream; rows may lack a label, and columns that the stream does not have are left out.

    A history must be over before the stream begins. Where a column says when labels arrived, those that arrived after
    the first item of the stream are not known yet. Where no time says so, the played rows must not be in the history.

    Examples
    --------
    >>> from ..history.labelled import read_labelled
    >>> stream = read_labelled({"x": [1.0, 2.0], "bad": [0, 1]}, "bad")
    >>> read_history({"x": [0.0, 3.0, 5.0], "bad": ["no", "yes", ""]}, stream, "bad").known
    array([0, 1])
    """
    if isinstance(stream.records, Vectors):
        raise OptionError(Message(Remedy("history"), " is a table, and so must the stream be: give a data frame"))
    played = stream.records.source
    paths = isinstance(source, str | PathLike) and Path(source).exists() and Path(played).exists()
    if paths and Path(source).samefile(played):
        told = " is the played file itself: each label would be known before its decision. Give an older file, or "
        raise OptionError(Message(Remedy("history"), told, "leave out ", Remedy("history")))
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
    times = None
    if stream.clock in records.columns:  # a history is learnt in the order of time, as a stream begins with it
        times = clock_of(stream.clock, records, time_unit)[0]
        order = np.argsort(times, kind="stable")
        records, labels, times = records[order], labels[order], times[order]
    labels, over, notes = _before(stream, records, labels.astype(np.int8), time_unit)
    if not (labels != UNKNOWN).any():
        told = f"no label of {records.source} was known before the stream begins: give an older file, or leave out "
        raise DataError(Message(told, Remedy("history")))
    features = {name: records.columns[name] for name in wanted}
    past = replace(records, columns=features, labels=None, dates=stream.records.dates)
    if not over:
        notes += _shared(stream, stream.records, past, labels)
    if stream.moments is None or stream.clock is None:
        return History(past, labels, notes=notes, times=times)
    check_column(stream.clock, records.columns, records.source)
    assert times is not None  # the clock is there
    return History(past, labels, stream.clock, moments_of(records.columns[stream.clock], times), notes, times)


def _before(
    stream: LabelledTable, records: Records, labels: NDArray[np.int8], time_unit: str | None
) -> tuple[NDArray[np.int8], bool, tuple[str, ...]]:
    """Return the labels that were known when the stream began, whether all rows were before that, and what to tell.

    Rows that are no past are refused.
    """
    if stream.times is None:
        return labels, False, ()
    if stream.clock not in records.columns:
        unchecked = f"{records.source} has no column {stream.clock!r}, so nobody has checked that the history is over"
        return labels, False, (f"{unchecked} before the first item",)
    clock, dated, _ = clock_of(stream.clock, records, time_unit)
    if dated != stream.dated:
        kinds = ("dates", "numbers") if dated else ("numbers", "dates")
        raise DataError(
            f"column {stream.clock!r} holds {kinds[0]} in the history and {kinds[1]} in the stream: they need one clock"
        )
    first = float(stream.times[0])
    late = np.flatnonzero(clock > first)
    if len(late):
        raise DataError(
            f"{records.where(int(late[0]))}: {records.columns[stream.clock][late[0]]} is after the first item of the "
            f"stream, as in {len(late)} of {len(records)} rows of the history. Leave these rows out of the history: "
            "nobody knows the future"
        )
    over = bool((clock < first).all())
    if stream.told_by is None or stream.told_by not in records.columns:
        return labels, over, ()
    told, _ = arrivals_of(stream.told_by, records, clock, stream.clock, dated, time_unit)
    return np.where(told <= first, labels, UNKNOWN).astype(np.int8), over, ()


def _shared(stream: LabelledTable, played: Records, past: Records, labels: NDArray[np.int8]) -> tuple[str, ...]:
    """Refuse a history with the rows of the stream and their labels; return what to tell where that is in doubt.

    Rows of few values are alike by chance, in a history as within the stream, so that only rows that are like no other
    row of the stream count, and only beyond chance. The same customers a year before have other labels.
    """
    rows, known = _rows(played), labels != UNKNOWN
    earlier = Counter(zip(_rows(past[known]), labels[known].tolist(), strict=True))
    labelled = list(zip(rows, stream.labels.tolist(), strict=True))
    often, whole = Counter(rows), earlier == Counter(labelled)
    alone = [(row, label) for row, label in labelled if often[row] == 1]
    shared = [(row, label) for row, label in alone if (row, 0) in earlier or (row, 1) in earlier]
    alike = CHANCE * (1.0 - len(alone) / len(rows)) * max(1.0, known.sum() / len(rows))
    if not whole and (len(shared) < SAID or len(shared) <= alike * len(alone)):
        return ()
    differ, count = sum((row, 1 - label) in earlier for row, label in shared), len(rows) if whole else len(shared)
    told = f"{count} of {len(rows)} rows of {played.source} are in the history, too, with the same"
    copied = not differ and count >= REFUSED * len(rows) and len({label for _, label in shared}) == 2
    if whole or copied:
        cure = (
            "labels: each would be known before its decision. Leave these rows out of the history. If they are other "
        )
        raise DataError(Message(f"{told} {cure}items that are alike, say when items came: ", Remedy("time")))
    cure = "If they are the same items, leave them out of the history: nobody knows the future"
    return (f"{told} values, {differ} of them with another label. {cure}",)


def _rows(records: Records) -> list[int]:
    """Return what tells each row from others: a number for all of its values."""
    columns = [[None if cell != cell else cell for cell in column.tolist()] for column in records.columns.values()]
    return list(map(hash, zip(*columns, strict=True)))


def encode_after(
    encoder: Any, history: History, records: Records | Vectors, time: str | None = None
) -> tuple[Matrix, NDArray[np.float64], Groups, tuple[str, ...] | None]:
    """Return the vectors of the stream, those of the labelled rows of the history, and what ``encode`` says of places.

    The encoder is fitted on the history.
    """
    if not isinstance(encoder, Encoder):
        fitted = TransformerMap(encoder, history.records, warm_up=len(history.records))
        known = fitted.transform_many(history.records[history.known])
        made = np.asarray(fitted.transform_many(records), dtype=np.float64)
        return made, np.asarray(known, dtype=np.float64), None, None
    features = replace(encoder, warm_up=len(history.labels)).fit(history.table, time=time)
    past = np.asarray(features.transform_many(history.table[history.known], update=False), dtype=np.float64)
    large = 8 * len(records) * features.n_features > MOST_DENSE
    items = features.transform_many(records, sparse=large)
    found = SparseRows(items) if large else np.asarray(items, dtype=np.float64)
    return found, past, groups_of(features), tuple(features.names())
