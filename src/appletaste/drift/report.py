"""Alarms on a finished log, for a monthly report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError
from ..logs import DecisionLog
from .alarms import Alarm
from .watch import Watch


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
        return "\n".join([head, *(f"- {alarm}" for alarm in self.alarms), *(f"note: {note}" for note in self.notes)])


def check(
    log: DecisionLog, baseline: DecisionLog | None = None, names: Sequence[str] | None = None, **settings: Any
) -> DriftReport:
    """Return the alarms that a ``Watch`` would have raised on a log, in the order of its rows.

    Features are compared with those of ``baseline``, last month's log say; without one, with the first window of the
    log itself. ``settings`` are those of ``Watch``. Each label is taken to come before the next item.

    Examples
    --------
    >>> import appletaste as at
    >>> table = at.problem("synthetic", rounds=3000).draw(at.Key(4))
    >>> policy = at.policy("voi", n_features=5, costs=table.costs)
    >>> print(check(at.play(policy, table)))
    no alarm in 3000 items and ... labels
    """
    if not isinstance(log, DecisionLog):
        raise DataError(
            f"drift.check takes a DecisionLog, got {type(log).__name__}: DecisionLog.from_rows(rows) makes one"
        )
    notes = []
    if baseline is not None and (baseline.x is None or log.x is None or baseline.x.shape[1] != log.x.shape[1]):
        raise DataError("a baseline needs the same features as the log: write both with x, rows(features=True)")
    watch = Watch(names, **settings)
    if baseline is not None and baseline.x is not None:
        watch.refer_to(list(baseline.x))
    known = log.labelled & (np.zeros(len(log), bool) if log.chance is None else ~np.isnan(log.chance))
    if not known.any():
        notes.append("no label has the model's chance beside it, so labels were not checked: log the chance")
    if log.x is None:
        notes.append("the log has no features, so features were not checked: write the log with x")
    times = [None] * len(log) if log.time is None else log.time.tolist()
    for t in range(len(log)):
        if log.x is not None:
            watch.item(log.x[t], times[t])
        else:
            watch.items += 1
        if known[t] and log.chance is not None:
            watch.residual(int(log.label[t]), float(log.chance[t]), times[t])
    if log.x is not None and baseline is None and len(log) < watch.reference + watch.window:
        notes.append(
            f"{len(log)} items are fewer than a reference and a window ({watch.reference} + {watch.window}), so "
            "features were not checked: give a baseline, or a smaller window"
        )
    return DriftReport(tuple(watch.alarms), len(log), int(known.sum()), tuple(notes))
