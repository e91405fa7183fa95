"""A log of any length, read part by part: what every question needs is kept, the rest stays in the files."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..costs import OUTCOMES
from ..errors import DataError
from ..records.events import UNKNOWN
from .checks import check_log, hashes
from .coded import Coded
from .lazy import Engine, LazyColumn, Progress, Reader
from .log_columns import FIELDS, typed
from .log_files import Part, parts_of

if TYPE_CHECKING:
    from .decision_log import DecisionLog

__all__ = ["Engine", "Progress", "scanned"]

#: Columns that are kept, and those of them that are texts of few kinds.
KEPT = (
    "id",
    "round",
    "act",
    "probability",
    *OUTCOMES,
    "label",
    "state",
    "policy",
    "audit",
    "chance",
    "stratum",
    "truth",
    "report",
)
CODED = ("state", "policy", "stratum")
#: What stands where a part lacks a column that is kept, if not NaN.
ABSENT: dict[str, tuple[Any, ...]] = {"truth": (UNKNOWN, np.int8), "report": (UNKNOWN, np.int8)}
#: Columns that a log has in every file or in none.
ALL_OR_NONE = ("x", "time")
#: Columns that are read to be checked against others, and not kept.
CHECKED = ("time", "label_time", "report_time")


def scanned(
    path: str | PathLike[str], kind: type[DecisionLog], engine: Engine | None, progress: Progress | None
) -> dict[str, Any]:
    """Return the columns of a log: arrays of what is kept, ``LazyColumn`` for the rest, None for what the log lacks."""
    reader = Reader(tuple(part for part in parts_of(path) if part.rows), engine, progress)
    if not reader.parts:
        return dict(typed({}, str(path)))
    found: dict[str, list[Any]] = {}
    for kept in reader.run(_lean, [(part, kind) for part in reader.parts], "reading the log"):
        for name, values in kept.items():
            found.setdefault(name, []).append(values)
    _check_ids(reader, found.pop("hash"))
    fields = found.pop("fields")
    columns: dict[str, Any] = dict.fromkeys(FIELDS)
    for name in tuple(found):
        columns[name] = _joined(name, found.pop(name), reader.parts)
    columns["round"] = _going_on(columns["round"], reader.parts)
    if np.isnan(columns["chance"]).all():
        columns["chance"] = None
    if not any(columns["stratum"].levels):
        columns["stratum"] = None
    if (columns["report"] == UNKNOWN).all():
        columns["report"] = None
    if (columns["truth"] == UNKNOWN).all():
        columns["truth"] = None
    elif (columns["truth"] == UNKNOWN).any():
        lacking = next(path for path, start, _ in _files(reader.parts) if columns["truth"][start] == UNKNOWN)
        raise DataError(f"truth is not in {lacking}: a log has the truth of every item, as a replay does, or of none")
    columns["id"] = LazyColumn(reader, "id")
    for name in FIELDS:
        if name not in KEPT and any(name in one for one in fields):
            _check_everywhere(name, fields, reader.parts)
            columns[name] = LazyColumn(reader, name)
    return columns


def _lean(task: tuple[Part, type[DecisionLog]]) -> dict[str, Any]:
    """Return what is kept of one part, every batch of it checked; a cost that is the same in all rows as one number."""
    part, kind = task
    found: dict[str, list[Any]] = {name: [] for name in ("hash", *KEPT) if name != "id"}
    seen: set[str] = set()
    for first, size, columns, fields in part.batches((*KEPT, *CHECKED)):
        log = object.__new__(kind)
        vars(log).update(typed(columns, part.path, first))
        check_log(log, part.path, first)
        seen |= fields
        found["hash"].append(hashes(log.id))
        for name in KEPT[1:]:
            values = getattr(log, name)
            if name in CODED:
                values = Coded.of(np.full(size, "") if values is None else values)
            found[name].append(np.full(size, *ABSENT.get(name, (np.nan,))) if values is None else values)
    joined = {name: Coded.joined(values) if name in CODED else np.concatenate(values) for name, values in found.items()}
    for name in OUTCOMES:
        if (joined[name] == joined[name][0]).all():
            joined[name] = joined[name][:1].copy()
    return joined | {"fields": seen}


def _joined(name: str, pieces: list[Any], parts: tuple[Part, ...]) -> Any:
    """Return the pieces of a column as one; one number for all of them is kept as that."""
    if isinstance(pieces[0], Coded):
        return Coded.joined(pieces)
    if name not in OUTCOMES:
        return np.concatenate(pieces)
    rows = sum(part.rows for part in parts)
    if all(len(piece) == 1 for piece in pieces) and len({float(piece[0]) for piece in pieces}) == 1:
        return np.broadcast_to(pieces[0][0], rows)
    return np.concatenate([np.broadcast_to(piece, part.rows) for piece, part in zip(pieces, parts, strict=True)])


def _files(parts: tuple[Part, ...]) -> Iterator[tuple[str, int, int]]:
    """Give each file with the rows where it begins and ends."""
    start = end = 0
    for part, following in zip(parts, (*parts[1:], None), strict=True):
        end += part.rows
        if following is None or following.path != part.path:
            yield part.path, start, end
            start = end


def _going_on(rounds: NDArray[np.int64], parts: tuple[Part, ...]) -> NDArray[np.int64]:
    """Return rounds that go on from file to file, where each file counts its own from the beginning.

    Rounds of files that do not overlap are kept, so that the names of files need not say their order.
    """
    spans = [(int(rounds[a:b].min()), int(rounds[a:b].max()), a, b) for _, a, b in _files(parts)]
    ordered = sorted(spans)
    if all(one[1] < other[0] for one, other in pairwise(ordered)):
        return rounds
    last = spans[0][0] - 1
    for least, most, start, end in spans:
        rounds[start:end] += last + 1 - least
        last += most - least + 1
    return rounds


def _check_everywhere(name: str, fields: list[set[str]], parts: tuple[Part, ...]) -> None:
    """Refuse features or times that some files have and others lack."""
    lacking = [part.path for part, one in zip(parts, fields, strict=True) if name not in one]
    if lacking and name in ALL_OR_NONE:
        having = next(part.path for part, one in zip(parts, fields, strict=True) if name in one)
        raise DataError(f"{name} is in {having} and not in {lacking[0]}: a log has {name} in every row or in none")


def _check_ids(reader: Reader, pieces: list[NDArray[np.uint64]]) -> None:
    """Refuse an id that is in two rows, whichever files they are in: by a hash of each, and then by the ids."""
    found = np.concatenate(pieces)
    ordered = np.sort(found)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(twice):
        return
    rows = np.flatnonzero(np.isin(found, twice))
    first: dict[str, int] = {}
    for row, one in zip(rows.tolist(), LazyColumn(reader, "id")[rows].tolist(), strict=True):
        if first.setdefault(one, row) != row:
            places = " and ".join(_place(reader.parts, k) for k in (first[one], row))
            raise DataError(f"id {one!r} is in {places}: one row per decision")


def _place(parts: tuple[Part, ...], row: int) -> str:
    path, start, _ = next(file for file in _files(parts) if file[1] <= row < file[2])
    return f"{path}, row {row - start + 1}"
