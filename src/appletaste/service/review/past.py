"""What a reviewer compares a case with: what is usual in each column, and past cases whose labels are known.

Both come from the end of the record, read backwards in growing parts until there is enough, and then only what is new.
"""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple, TypeGuard

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from ...costs import Costs
from ...features import FeatureMap
from ...features.dates import Date
from ...features.levels import SLOTS
from ...records.codec import unpack_event, unpack_item
from ...records.events import Corrected, Decided, Labelled, Recorded
from ...records.stores.store import PART as ROWS
from ...records.stores.store import Place, Row
from ..types import Time

#: Decisions that say what is usual, and labelled cases that are compared.
MOST = 2000
#: Rows of the first part that is read, of the largest, and of all: what is older than these counts no more.
FIRST, LARGEST, FARTHEST = 5000, 20_000, 200_000
#: Decisions below which nothing is usual, and after which what is usual is worked out again.
LEAST, OLD = 10, 200
#: Past cases and levels that are told, and decisions that are read at once.
ALIKE, LEVELS, PART = 8, 5, 500
#: A share of the items lies between these quantiles: 90 %.
QUANTILES = (0.05, 0.5, 0.95)
#: Seconds between two parts of the record in which the writer goes on.
BREATH = 0.001
Floats = NDArray[np.float64]
_LABELS = (Labelled, Corrected, Recorded)
#: Kinds of events that give a decision its label, or take it away.
_LABEL_KINDS = {"labelled", "corrected", "recorded", "retracted", "erased"}


class UsualNumber(Struct, frozen=True, tag="number", tag_field="kind"):
    """Between which numbers 90 % of the items lie."""

    low: float
    median: float
    high: float


class UsualLevels(Struct, frozen=True, tag="category", tag_field="kind"):
    """The most frequent values with their shares, and the share of the value of this item."""

    top: list[tuple[str, float]]
    share: float


class Similar(Struct, frozen=True):
    """A past case whose label is known; ``likeness`` is 1 where nothing differs."""

    id: str
    likeness: Annotated[float, Meta(ge=0, le=1)]
    label: int
    chance: float | None
    act: bool
    time: Time | None


def columns_of(item: bytes) -> dict[str, Any]:
    """Return a packed item by its columns; the numbers of a vector are named as explanations name them."""
    x, record = unpack_item(item)
    return record if record is not None else {f"feature {place}": value for place, value in enumerate(x.tolist(), 1)}


class Known(NamedTuple):
    """A past case whose label is known."""

    id: str
    x: Floats
    label: int
    chance: float
    act: bool
    time: float | str | None


class Past:
    """The last decisions and labels of one stream."""

    def __init__(self, features: FeatureMap | None) -> None:
        self._features, self._lock = features, threading.Lock()
        self._seen = 0
        self._labelled: dict[str, Known] = {}
        self._table: tuple[list[Known], Floats, Floats] | None = None  # cases, their features, and the scale of each
        self._recent: list[tuple[str, dict[str, Any]]] = []  # ids and cells
        self._fresh = 0  # decisions since what is usual was worked out
        self._usual: dict[str, tuple[float, ...] | Counter[str]] = {}
        columns = () if features is None else features.columns
        groups = () if features is None else features.groups
        self._slots = [place for place, group in enumerate(groups) if group == SLOTS]  # names of levels, no quantities
        #: Columns of records that something usual can be said of, and whether they hold numbers.
        self._kinds = {
            source: bool(column.numeric)
            for column in columns
            if not isinstance(column, Date)
            for source in column.sources
        }

    def refresh(self, place: Place, last: int) -> None:
        """Take in what was written up to an event."""
        with self._lock:
            if last > self._seen:
                self._take(place, last)
                self._seen = last

    def _take(self, place: Place, last: int) -> None:
        labels: dict[str, int | None] = {}  # by id, the newest word first
        recent: list[tuple[str, dict[str, Any]]] = []  # the newest first
        erased: set[str] = set()
        end, size, stop = last, FIRST, max(self._seen, last - FARTHEST)
        while end > stop and (len(labels) < MOST or len(recent) < MOST):
            start = max(stop, end - size)
            for row in reversed(rows_between(place, start, end)):
                if row.kind == "decided":
                    if row.item is not None and len(recent) < MOST:
                        recent.append((row.id, columns_of(row.item)))
                elif row.kind in _LABEL_KINDS:
                    event = unpack_event(row.kind, row.body, None, {})
                    if row.kind == "erased":
                        erased.add(row.id)
                    if row.id not in labels:
                        labels[row.id] = event.label if isinstance(event, _LABELS) else None
            end, size = start, min(2 * size, LARGEST)
        kept = [one for one in self._recent if one[0] not in erased]
        self._recent = [*kept, *reversed(recent)][-MOST:]
        self._fresh += len(recent)
        if labels:
            self._relabel(place, dict(reversed(labels.items())))
        if erased:  # nothing that is shown may come from what is gone
            self._usual = {}
        if self._fresh >= OLD or not self._usual:
            self._summarise()

    def _relabel(self, place: Place, labels: dict[str, int | None]) -> None:
        """Take in labels, the oldest first; what has none any more goes."""
        kept = {id: case for id, case in self._labelled.items() if id not in labels}
        ids = [id for id, label in labels.items() if label is not None][-MOST:]
        sheets: dict[tuple[float, ...], Costs] = {}
        for start in range(0, len(ids), PART):
            part = ids[start : start + PART]
            rows = place.decisions(part)
            for id in part:
                row, label = rows[id], labels[id]
                event = unpack_event(row.kind, row.body, row.item, sheets)
                assert isinstance(event, Decided)
                decision = event.decision
                if row.item is not None and label is not None:
                    kept[id] = Known(id, decision.x, label, decision.chance, decision.act, event.time)
        self._labelled = dict(list(kept.items())[-MOST:])
        self._table = None

    def _summarise(self) -> None:
        self._fresh = 0
        if len(self._recent) < LEAST:
            return
        names = self._kinds or dict.fromkeys(self._recent[-1][1], True)
        found: dict[str, tuple[float, ...] | Counter[str]] = {}
        for name, numeric in names.items():
            values = [record.get(name) for _, record in self._recent]
            if numeric:
                numbers = [value for value in values if is_number(value)]
                if len(numbers) >= LEAST:
                    found[name] = tuple(np.quantile(numbers, QUANTILES).tolist())
            else:
                found[name] = Counter(level_of(value) for value in values)
        self._usual = found

    # ---- what is asked

    def usual(self, item: Mapping[str, Any]) -> dict[str, UsualNumber | UsualLevels]:
        """Return what is usual in the columns of an item."""
        with self._lock:
            found: dict[str, UsualNumber | UsualLevels] = {}
            for name, known in self._usual.items():
                if name not in item:
                    continue
                if isinstance(known, Counter):
                    total = known.total()
                    top = [(level, count / total) for level, count in known.most_common(LEVELS)]
                    found[name] = UsualLevels(top, known[level_of(item[name])] / total)
                else:
                    found[name] = UsualNumber(*known)
            return found

    def similar(self, id: str, x: Floats) -> list[Similar]:
        """Return the past cases that are nearest to an item.

        With e the differences of the features, divided by their standard deviations where no map has done so, a
        likeness is 1 / (1 + sqrt(mean(e^2))): 1 where nothing differs, 1/2 where a feature differs by one standard
        deviation on average. Two levels of a column with many differ by one, whatever the numbers of their slots.
        """
        with self._lock:
            if not self._labelled:
                return []
            if self._table is None:
                self._table = self._compared()
            cases, table, scale = self._table
            difference = (table - x) / scale
            difference[:, self._slots] = difference[:, self._slots] != 0.0
            squares = np.einsum("ij,ij->i", difference, difference) / len(x)
            nearest = np.argpartition(squares, min(ALIKE, len(cases) - 1))[: ALIKE + 1]
            order = sorted((float(squares[k]), -int(k)) for k in nearest if cases[k].id != id)
            return [told(cases[-k], 1.0 / (1.0 + math.sqrt(square))) for square, k in order[:ALIKE]]

    def _compared(self) -> tuple[list[Known], Floats, Floats]:
        cases = list(self._labelled.values())
        table = np.stack([case.x for case in cases])
        scale = np.ones(table.shape[1])
        if self._features is None:
            spread = table.std(axis=0)
            scale = np.where(spread > 0, spread, 1.0)
        return cases, table, scale


def told(case: Known, likeness: float) -> Similar:
    """Return a past case for JSON."""
    chance = case.chance if math.isfinite(case.chance) else None
    return Similar(case.id, likeness, case.label, chance, case.act, case.time)


def rows_between(place: Place, after: int, last: int) -> list[Row]:
    """Return the rows behind a number, up to another one; the writer has its turn in between."""
    rows: list[Row] = []
    for row in place.read(after):
        if row.seq > last:
            break
        rows.append(row)
        if not len(rows) % ROWS:
            time.sleep(BREATH)
    return rows


def is_number(value: Any) -> TypeGuard[float]:
    """Return whether a cell holds a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def level_of(value: Any) -> str:
    """Return the cell of a category as text."""
    return "missing" if value is None else str(value)
