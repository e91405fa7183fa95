"""The columns of a decision log from whatever somebody has: arrays, lists, or one mapping per decision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..records.events import NEVER_DUE, OBSERVED, PENDING, UNKNOWN
from .fields import Given, labels, matrix, numbers, reasons, rounds, texts, times, truths

#: The version of the fields, written into every file, and all versions that can be read.
SCHEMA_VERSION, READABLE = 3, (1, 2, 3)
READS = f"this version of appletaste reads {', '.join(map(str, READABLE[:-1]))} and {READABLE[-1]}"
#: Fields that a row cannot do without.
NEEDED = ("id", "act", "probability", "miss", "false_alarm", "hit")
#: Every field in its order, with what its column is made by.
FIELDS: dict[str, Callable[[Given], NDArray[Any]]] = {
    "id": texts,
    "round": rounds,
    "act": truths,
    "probability": numbers,
    "miss": numbers,
    "false_alarm": numbers,
    "hit": numbers,
    "correct_pass": numbers,
    "label": labels,
    "state": texts,
    "policy": texts,
    "audit": truths,
    "chance": numbers,
    "worth": numbers,
    "price": numbers,
    "time": times,
    "label_time": times,
    "stratum": texts,
    "x": matrix,
    "why": reasons,
    "truth": labels,
    "report": labels,
    "report_time": times,
}
#: Columns that a log need not have.
OPTIONAL = ("chance", "worth", "price", "time", "label_time", "stratum", "x", "why", "truth", "report", "report_time")


def transposed(rows: Iterable[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows as columns, in the order in which the fields first appear; None where a row has no such field.

    Examples
    --------
    >>> transposed([{"id": "a"}, {"id": "b", "label": 1}])
    {'id': ['a', 'b'], 'label': [None, 1]}
    """
    columns: dict[str, list[Any]] = {}
    for place, row in enumerate(rows):
        if row.keys() != columns.keys():
            for name in row:
                columns.setdefault(name, [None] * place)
            row = {name: row.get(name) for name in columns}
        for name, value in row.items():
            columns[name].append(value)
    return columns


def typed(table: Mapping[str, Any], source: str, first: int = 0) -> dict[str, NDArray[Any] | None]:
    """Return every column of a log, checked and converted; what is wrong is said with its row, ``first`` before it."""
    given = {name: Given.of(name, values, source, first) for name, values in table.items() if values is not None}
    _check_names(given, source)
    size = _size(given, source)
    _check_needed(given, size, source, first)
    columns: dict[str, NDArray[Any] | None] = {}
    for name, convert in FIELDS.items():
        if name in OPTIONAL and (name not in given or given[name].absent().all()):
            columns[name] = None
        else:
            columns[name] = convert(given.get(name, Given(name, [None] * size, source, first)))
    columns["state"] = _states(columns, given.get("label"))
    return columns


def _check_names(given: dict[str, Given], source: str) -> None:
    """Refuse a later version first: its fields may be strange for that reason."""
    version = given.pop("schema_version", None)
    if version is not None and not all(map(_is_readable, version.values)):
        raise version.refuse(_is_readable, f"schema_version is {{}}; {READS}")
    for name in sorted(given.keys() - FIELDS.keys()):
        place = next((k for k, value in enumerate(given[name].values, 1) if value is not None), 1)
        raise DataError(f"{source}, row {place}: there is no field {name!r}; fields: {', '.join(FIELDS)}")


def _is_readable(version: Any) -> bool:
    return version is None or version in READABLE


def _size(given: dict[str, Given], source: str) -> int:
    """Return how many decisions there are."""
    sizes = {name: len(given[name].values) for name in FIELDS if name in given}
    first = next(iter(sizes), "")
    for name, size in sizes.items():
        if size != sizes[first]:
            raise DataError(
                f"{source}: column {name} has {size} rows and column {first} has {sizes[first]}; "
                "every column has one row per decision"
            )
    return sizes.get(first, 0)


def _check_needed(given: dict[str, Given], size: int, source: str, first: int) -> None:
    absent = {name: given[name].absent() if name in given else np.ones(size, dtype=bool) for name in NEEDED}
    lacking = np.logical_or.reduce(list(absent.values()))
    if lacking.any():
        place = int(np.argmax(lacking))
        names = [name for name in NEEDED if absent[name][place]]
        told = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} missing"
        raise DataError(f"{source}, row {first + place + 1}: {told}; every row has {', '.join(NEEDED)}")


def _states(columns: Mapping[str, Any], label: Given | None) -> NDArray[np.str_]:
    """Return the states, those that were not given from act and label.

    A label of -1 is taken as not known only beside a state: in tables from elsewhere it often means negative.
    """
    known, told = columns["label"] != UNKNOWN, columns["state"] != ""
    if label is not None and not (known | told).all():
        minus = ~told & (np.asarray(label.values, dtype=np.float64) == UNKNOWN)
        if minus.any():
            place = label.first + int(np.argmax(minus)) + 1
            raise DataError(
                f"{label.source}, row {place}: a label is 0, 1 or nothing (not known), got -1; "
                "-1 stands for not known only where the row has a state"
            )
    derived = np.where(columns["act"], np.where(known, OBSERVED, PENDING), NEVER_DUE)
    return np.asarray(np.where(told, columns["state"], derived))
