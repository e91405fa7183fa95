"""Alarms on a finished log, for a monthly report.

Items of a log counted by window and bin, wherever they lie: what a watch compares, without the items.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..logs.decision_log import DecisionLog, Log, opened
from ..logs.lazy import LazyColumn, each_batch
from .alarms import Alarm
from .stability import Bins
from .watch import Watch

Counts = NDArray[np.float64]


def window_counts(x: NDArray[np.float64] | LazyColumn, bins: list[Bins], first: int, window: int) -> list[Counts]:
    """Return how many items are in each bin of each feature, for each full window after the first so many items.

    One array a feature, [window, bin], as ``Bins.count`` has them.
    """
    count = (len(x) - first) // window
    if count <= 0:
        return [np.zeros((0, len(one.edges) + 2)) for one in bins]
    wide = max(len(one.edges) for one in bins) + 2
    found = np.zeros((count, len(bins), wide), dtype=np.int64)
    start = 0
    for places in each_batch(x, places_of, bins, what="comparing features"):
        rows = np.arange(start, start + len(places))
        start += len(places)
        inside = (rows >= first) & (rows < first + count * window)
        which = (rows[inside] - first) // window
        for j in range(len(bins)):
            flat = which * wide + places[inside, j]
            low = int(which[0]) if len(which) else 0
            high = int(which[-1]) + 1 if len(which) else 0
            counted = np.bincount(flat - low * wide, minlength=(high - low) * wide)
            found[low:high, j] += counted.reshape(high - low, wide)
    return [_with_missing(found[:, j], one) for j, one in enumerate(bins)]


def places_of(items: NDArray[np.float64], bins: list[Bins]) -> NDArray[np.int16]:
    """Return the bin of each value: [item, feature]. A log's features are finite, so none is missing."""
    found = np.empty(items.shape, dtype=np.int16)
    for j, one in enumerate(bins):
        found[:, j] = np.searchsorted(one.edges, items[:, j], side="left")
    return found


def _with_missing(counts: NDArray[np.int64], bins: Bins) -> Counts:
    """Return the counts of the bins, and none missing."""
    return np.pad(counts[:, : len(bins.edges) + 1], ((0, 0), (0, 1))).astype(np.float64)


@dataclass(frozen=True)
class DriftReport:
    """The alarms of a log, and what could not be checked; ``print`` it."""

    alarms: tuple[Alarm, ...]
    items: int
    labels: int
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.alarms)

    def __iter__(self) -> Iterator[Alarm]:
        return iter(self.alarms)

    def __str__(self) -> str:
        many = f"{len(self.alarms)} alarm{'' if len(self.alarms) == 1 else 's'}" if self.alarms else "no alarm"
        head = f"{many} in {self.items} items and {self.labels} labels"
        return "\n".join([head, *_grouped(self.alarms), *(f"note: {note}" for note in self.notes)])


def _grouped(alarms: Sequence[Alarm]) -> list[str]:
    """Return alarms as lines: those with the same advice together, and of each column, or way of labels, the first."""
    by_advice: dict[str, dict[str, list[Alarm]]] = {}
    for alarm in alarms:
        subject = alarm.change if alarm.feature is None else alarm.feature
        by_advice.setdefault(alarm.advice, {}).setdefault(subject, []).append(alarm)
    lines = []
    for advice, subjects in by_advice.items():
        for first, *others in subjects.values():
            more = f" And {len(others)} more like that, the last at item {others[-1].item}." if others else ""
            lines.append(f"- {first.seen}{more}")
        lines.append(f"  {advice}")
    return lines


def check(log: Log, baseline: Log | None = None, names: Sequence[str] | None = None, **settings: Any) -> DriftReport:
    """Return the alarms that a ``Watch`` would have raised on a log, in the order of its rows.

    Features are compared with those of ``baseline``, last month's log say; without one, with the first window of the
    log itself. ``names`` are what the features are called, if the log does not say so. ``settings`` are those of
    ``Watch``. Each label is taken to come before the next item.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=3000).draw(at.Key(4))
    >>> policy = at.policy("voi", n_features=5, costs=table.costs)
    >>> print(check(at.play(policy, table)))
    no alarm in 3000 items and ... labels
    """
    log, baseline = opened(log), None if baseline is None else opened(baseline)
    if not isinstance(log, DecisionLog):
        raise DataError(
            f"drift.check takes a DecisionLog, got {type(log).__name__}: DecisionLog.from_rows(rows) makes one"
        )
    notes = []
    if baseline is not None and (baseline.x is None or log.x is None or baseline.x.shape[1] != log.x.shape[1]):
        raise DataError("a baseline needs the same features as the log: write both with x, rows(features=True)")
    watch = Watch(names or log.names, **settings)
    if baseline is not None and baseline.x is not None:
        watch.refer_to(list(baseline.x))
    known = log.labelled & (np.zeros(len(log), bool) if log.chance is None else ~np.isnan(log.chance))
    if not known.any():
        notes.append("no label has the model's chance beside it, so labels were not checked: log the chance")
    if log.x is None:
        notes.append("the log has no features, so features were not checked: write the log with x")
    _play(watch, log, known)
    if log.x is not None and baseline is None and len(log) < watch.reference + watch.window:
        notes.append(
            f"{len(log)} items are fewer than a reference and a window ({watch.reference} + {watch.window}), so "
            "features were not checked: give a baseline, or a smaller window"
        )
    return DriftReport(tuple(watch.alarms), len(log), int(known.sum()), tuple(notes))


def _play(watch: Watch, log: DecisionLog, known: NDArray[np.bool_]) -> None:
    """Show a log to a watch in the order of its rows: an item, then its label; windows as counts, not item by item."""
    windows: list[NDArray[np.float64]] = []
    first, ends = 0, np.zeros(0, dtype=np.int64)
    if log.x is not None:
        if not watch.known_bins and len(log) >= watch.reference:
            first = watch.reference
            watch.refer_to(list(log.x[:first]))
        if watch.known_bins:
            _check_features(watch, log)
            windows = window_counts(log.x, watch.known_bins, first, watch.window)
            ends = np.arange(first + watch.window, len(log) + 1, watch.window)
            looked_at = watch.may_alarm(windows)
            windows, ends = [counts[looked_at] for counts in windows], ends[looked_at]
    seen = np.flatnonzero(known)
    chances = np.zeros(0) if log.chance is None else log.chance[seen]
    timed: dict[int, Any] = {}  # the times of alarms alone: of a long log they lie in its files
    events = np.concatenate([2 * ends - 1, 2 * seen + 2])  # after item t its window closes, and then its label comes
    for event in np.argsort(events, kind="stable").tolist():
        before = len(watch.alarms)
        if event < len(ends):
            watch.items = int(ends[event])
            watch.counted([counts[event] for counts in windows], watch.window, None)
        else:
            k = event - len(ends)
            watch.items = int(seen[k]) + 1
            watch.residual(int(log.label[seen[k]]), float(chances[k]))
        for alarm in range(before, len(watch.alarms)):
            timed[alarm] = watch.items - 1
    watch.items = len(log)
    if log.time is not None and timed:
        rows = np.array(list(timed.values()), dtype=np.int64)
        for alarm, time in zip(timed, log.time[rows].tolist(), strict=True):
            watch.alarms[alarm] = replace(watch.alarms[alarm], time=time)


def _check_features(watch: Watch, log: DecisionLog) -> None:
    """Refuse a log whose items have other features than the reference."""
    if log.x is not None and log.x.shape[1] != len(watch.known_bins):
        raise DataError(f"the reference has {len(watch.known_bins)} features and these items have {log.x.shape[1]}")
