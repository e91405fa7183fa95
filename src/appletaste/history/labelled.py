"""A labelled table as a stream: what arrives, in which order and when.

A stream whose items are vectors already: a matrix, dense or sparse, with its labels beside it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._sparse import SparseRows, is_sparse
from ..costs_by_item import CostColumns, CostsByItem
from ..decision import UNKNOWN
from ..errors import DataError, InputError, Message, OneClassWarning, OptionError, Remedy
from ..features import Encoder, FeatureMap, TransformerMap
from ..features.defaults import OF_A_MATRIX
from ..policies.items import check_items
from ..tables import Records, read_records
from ..tables.label_column import SOME_LABELS
from ..tables.records import check_column
from ..times import DAY
from .clock_column import UNITS, arrivals_of, clock_of, in_front, moments_of
from .today import Today

Matrix: TypeAlias = NDArray[np.float64] | SparseRows


#: Parts of a stream that are looked at by themselves.
BLOCKS = 10


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


#: Bytes of encoded vectors beyond which they are kept sparse.
MOST_DENSE = 2**30


@dataclass(frozen=True)
class LabelledTable:
    """Every item with its label, in the order of the file or, where there is a clock, of time."""

    records: Records | Vectors
    labels: NDArray[np.int8]
    times: NDArray[np.float64] | None = None  #: in seconds where the unit is known, else as the column has them
    dated: bool = False  #: whether times are seconds since 1970, from dates
    clock: str | None = None  #: the column of the times
    unit: str | None = None  #: what one unit of a column of plain numbers is, where somebody has said so
    notes: tuple[str, ...] = ()  #: what the column of times was taken for
    told: NDArray[np.float64] | None = None  #: when each label arrives on that clock, infinity: never; None: not said
    told_by: str | None = None  #: the column that says so
    today: NDArray[np.bool_] | None = None  #: what is done today
    moments: NDArray[Any] | None = None  #: the times as texts, where they are dates that others are counted from
    costs: CostColumns | None = None  #: of each item, where they differ
    heard: NDArray[np.float64] | None = None  #: when each item would be reported if it were passed; infinity: never

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def table(self) -> Records | Vectors:
        """The rows as an ``Encoder`` takes them: with the dates of the clock, which other dates are counted from."""
        if self.moments is None or self.clock is None or not isinstance(self.records, Records):
            return self.records
        return in_front(self.clock, self.moments, self.records)

    @property
    def day(self) -> float | None:
        """How long a day is on the clock; None: nobody has said what its numbers count."""
        return DAY if self.dated or self.unit is not None else None

    @property
    def step(self) -> float:
        """How long a delay of 1 is on the clock: a day where it holds dates, else one unit of the column."""
        return DAY if self.dated else 1.0 if self.unit is None else UNITS[self.unit]

    @property
    def counted_in(self) -> str:
        """What a delay counts, in words."""
        if self.times is None:
            return "items"
        return "days" if self.dated else f"units of {self.clock!r}" if self.unit is None else f"units of 1 {self.unit}"

    def written(self, times: NDArray[np.float64]) -> list[Any]:
        """Return times as a record has them: numbers, or dates as text in ISO 8601, in UTC and to the second."""
        if not self.dated:
            return list(times.tolist())
        return list(np.round(times).astype("datetime64[s]").astype(np.str_).tolist())

    def strata(self, column: str) -> NDArray[Any]:
        """Return the values of a column as names of strata."""
        if not isinstance(self.records, Records):
            raise OptionError(
                f"the columns of a matrix have no names, so {column!r} is not one of them; give a data frame"
            )
        check_column(column, self.records.columns, self.records.source)
        return np.array([_level(value) for value in self.records.columns[column].tolist()], dtype=object)


def read_labelled(
    source: Any,
    label: Any,
    *,
    flip_label: bool = False,
    drop: Sequence[str] = (),
    time: str | None = None,
    time_unit: str | None = None,
    label_time: str | None = None,
    report_time: str | None = None,
    today: str | None = None,
    costs: CostsByItem | None = None,
    some_labels: bool = False,
    **reading: Any,
) -> LabelledTable:
    """Read a table whose rows have labels, all or, if ``some_labels``, some; ``time`` names the column of the clock.

    The clock itself is no feature. Where it holds dates, the days since other dates are (``table``), unless the clock
    is dropped, too.

    ``label_time`` names the column that says when each label arrives, ``report_time`` the one that says when an item is
    reported though it was passed (empty: never), and ``today`` what is done today (``Today``); a
    column of past decisions is no feature, a score is.

    Dates and times in ISO 8601 become seconds since 1970, and so do numbers that are dates by their range
    (``times.dates_in``). Other numbers keep their units, unless ``time_unit`` says what one of them is. Rows are sorted
    by the time. A matrix, dense or sparse, has its labels beside it and no clock. Formulas of ``costs`` may name any
    column but the label, features or not.

    Examples
    --------
    >>> stream = read_labelled({"day": ["2024-05-03", "2024-05-01"], "x": [1.0, 2.0], "bad": [0, 1]}, "bad", time="day")
    >>> stream.times, stream.labels
    (array([1.7145216e+09, 1.7146944e+09]), array([1, 0], dtype=int8))
    """
    if time_unit is not None and time_unit not in UNITS:
        raise OptionError(Message(Remedy("time_unit"), f" is one of {', '.join(UNITS)}, got {time_unit!r}"))
    if time_unit is not None and time is None:
        raise OptionError(Message(Remedy("time_unit"), " is for a column of times: name it with ", Remedy("time")))
    if label_time is not None and time is None:
        told = " says when labels arrive, and items have no time: name the column of times with "
        raise OptionError(Message(Remedy("label_time", label_time), told, Remedy("time")))
    if report_time is not None and time is None:
        told = " says when passed items are reported, and items have no time: name the column of times with "
        raise OptionError(Message(Remedy("report_time", report_time), told, Remedy("time")))
    if is_matrix(source):
        if today is not None:
            raise OptionError(
                Message(Remedy("today"), " names a column, and those of a matrix have no names: give a ", "data frame")
            )
        if costs is not None:
            raise OptionError("costs by item name columns, but a matrix has no column names; give a data frame")
        vectors, truth = read_vectors(source, label, drop=drop, time=time, **reading)
        return LabelledTable(vectors, _both(1 - truth if flip_label else truth, vectors.source))
    if time is not None and time == label:
        raise OptionError(f"{time!r} cannot be both the label and the time")
    if isinstance(drop, str):
        raise OptionError(f"drop is a list of columns, got the text {drop!r}: drop=[{drop!r}]")
    with warnings.catch_warnings():
        warnings.simplefilter("error", OneClassWarning)
        try:
            if isinstance(source, Records):
                records = source
                for name in (*drop, *([] if time is None else [time])):
                    check_column(name, records.columns, records.source)
            else:
                if label is None:
                    raise OptionError("a replay needs to know the label column: label='...'")
                if costs is not None and label in costs.columns:
                    raise OptionError(f"{label!r} is the label, which nobody knows in advance: costs cannot name it")
                used = {time, label_time, report_time, *(() if costs is None else costs.columns)}
                used |= set() if today is None else {Today.of(today, list(drop)).column}
                records = read_records(
                    source,
                    label=label,
                    drop=[name for name in drop if name not in used],
                    **(reading | {"unlabelled": True} if some_labels else reading),
                )
        except OneClassWarning as warning:
            raise DataError(str(warning)) from None
    if records.labels is None:
        raise OptionError("these records have no labels: read them with read_records(..., label='...')")
    unknown = np.flatnonzero(records.labels < 0)
    if len(unknown) and not some_labels:
        told = (
            f"{records.where(int(unknown[0]))}: no label, as in {len(unknown)} of {len(records)} rows. A replay counts "
        )
        told += "cost against the label of every row. Leave out the rows without a label. "
        raise DataError(Message(told, *SOME_LABELS))
    labels = np.where(records.labels < 0, UNKNOWN, 1 - records.labels) if flip_label else records.labels
    labels = labels.astype(np.int8) if some_labels else _both(labels, records.source)
    each = None if costs is None else costs.of_table(records.columns, records.where, len(records), records.source)
    rule = None if today is None else Today.of(today, list(records.columns))
    acts = None if rule is None else rule.acts(records)
    decided = [*drop] if rule is None or rule.scored else [*drop, rule.column]
    if time is None:
        return LabelledTable(_without(records, decided), labels, today=acts, costs=each)
    check_column(time, records.columns, records.source)
    clock, dated, note = clock_of(time, records, time_unit)
    arrivals = None
    if label_time is not None:
        arrivals, more = arrivals_of(label_time, records, clock, time, dated, time_unit)
        note += more
    heard = None
    if report_time is not None:
        heard, _ = arrivals_of(report_time, records, clock, time, dated, time_unit)
        there = int(np.isfinite(heard).sum())
        note += (f"{there} of {len(records)} rows are reported if they are passed, as {report_time!r} says",)
    features = _without(records, [time, *decided, *(one for one in (label_time, report_time) if one is not None)])
    order = np.argsort(clock, kind="stable")
    return LabelledTable(
        features[order],
        labels[order],
        clock[order],
        dated,
        time,
        None if dated else time_unit,
        note,
        None if arrivals is None else arrivals[order],
        label_time,
        None if acts is None else acts[order],
        moments_of(records.columns[time], clock)[order] if dated and time not in drop else None,
        None if each is None else each[order],
        None if heard is None else heard[order],
    )


def _without(records: Records, names: Sequence[str]) -> Records:
    """Return records without some columns, if others remain."""
    there = [name for name in names if name in records.columns]
    if not there:
        return records
    columns = {name: column for name, column in records.columns.items() if name not in there}
    if not columns:
        others = ", ".join(repr(name) for name in there)
        raise DataError(
            f"{records.source} has no column besides the label and {others}: there is nothing to base decisions on"
        )
    return replace(records, columns=columns, dropped=(*records.dropped, *there))


def _both(labels: NDArray[Any], source: str) -> NDArray[np.int8]:
    """Return labels, if there are both kinds of them."""
    if len(labels) == 0:
        raise DataError(f"{source} has no rows")
    if labels.min() == labels.max():
        raise DataError(f"every label of {source} is {labels[0]}: a replay needs both 0 and 1")
    return labels.astype(np.int8)


def _level(value: Any) -> str:
    """Return a cell as the name of a stratum."""
    return "missing" if value is None or value != value else f"{value:g}" if isinstance(value, float) else str(value)


#: What a policy may know of the places of a vector: which are ramps of curves, or hold slots (``FeatureMap.groups``).
Groups: TypeAlias = tuple[int, ...] | None


def encode(
    encoder: Any, records: Records | Vectors, time: str | None = None
) -> tuple[Matrix, Groups, tuple[str, ...] | None]:
    """Return the vectors of a stream, what is known of their places, and what these are called.

    What the encoder has to know it takes from the first rows alone. Vectors are dense up to 1 GiB and sparse beyond.
    """
    if isinstance(records, Vectors):
        if encoder is not None:
            raise OptionError(OF_A_MATRIX)
        return records.items, None, None
    if isinstance(encoder, Encoder):
        large = 8 * len(records) * encoder.fit(records, time=time).n_features > MOST_DENSE
        features, items = encoder.fit_transform(records, sparse=large, time=time)
        found = SparseRows(items) if large else np.asarray(items, dtype=np.float64)
        return found, groups_of(features), tuple(features.names())
    made = np.asarray(TransformerMap(encoder, records).transform_many(records), dtype=np.float64)
    return made, None, None


def groups_of(features: FeatureMap) -> Groups:
    """Return what a map knows of the places of its vectors."""
    return features.groups if features.grouped else None


def edges(items: int, parts: int) -> NDArray[np.int64]:
    """Return where each of ``parts`` even parts begins, and where the last one ends.

    Examples
    --------
    >>> edges(25, 10)
    array([ 0,  2,  5,  7, 10, 12, 15, 17, 20, 22, 25])
    """
    return np.arange(min(parts, items) + 1) * items // min(parts, items)


def cost_notes(stream: LabelledTable) -> list[str]:
    """Return notes on items on which acting never or always pays by their own costs; or none."""
    if stream.costs is None or not isinstance(stream.records, Records):
        return []
    return stream.costs.notes(stream.records.where)
