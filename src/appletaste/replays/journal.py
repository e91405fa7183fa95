"""One pass as a decision log: a table with one row for each decision, in the words that all logs here use."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..features import Records
from ..features.reading import check_column
from .comparators import COMPARATORS
from .passes import Pass, Plan


def decision_log(one: Pass, stratum: str | None = None, features: bool = False) -> dict[str, list[Any]]:
    """Return the log of a pass, played again; the label is there only where it was acted on and came in time.

    Dates of a time column are dates again, in UTC; the id of an item from a file is its line there. ``stratum`` names a
    column whose values are written down as strata.
    """
    plan, name = one.plan, one.entry.name
    order = plan.order(one.number)
    labels = plan.stream.labels[order]
    if name in COMPARATORS:
        raise OptionError(f"{name} is a comparator: it has no decisions to log")
    strata = None if stratum is None else _cells(plan, stratum)[order]
    path, _ = one.walk()
    n = len(labels)
    state = np.where(path.acts, np.where(path.observed, "observed", "pending"), "never_due").tolist()
    log = {
        "id": _ids(one, order),
        "time": _times(plan, one.number),
        "round": list(range(1, n + 1)),
        "act": path.acts.tolist(),
        "probability": path.probabilities.tolist(),
        "chance": [None if chance != chance else chance for chance in path.chances.tolist()],
        **{outcome: [cost] * n for outcome, cost in plan.costs.outcomes().items()},
        "audit": path.audits.tolist(),
        "label": [label if s == "observed" else None for label, s in zip(labels.tolist(), state, strict=True)],
        "state": state,
        "policy": [name] * n,
    }
    if strata is not None:
        log["stratum"] = [_level(value) for value in strata.tolist()]
    if features:
        log["x"] = [x.tolist() for x in plan.encoded(one.number)[0]]
    return log


def _cells(plan: Plan, column: str) -> NDArray[Any]:
    """Return a column of the table that is played."""
    records = plan.stream.records
    if not isinstance(records, Records):
        raise OptionError(f"the columns of a matrix have no names, so {column!r} is not one of them; give a data frame")
    check_column(column, records.columns, records.source)
    return records.columns[column]


def _ids(one: Pass, order: NDArray[np.intp]) -> list[str]:
    records = one.plan.stream.records
    if isinstance(records, Records) and records.lines is not None and records.unit == "line":
        return [f"line {line}" for line in records.lines[order].tolist()]
    return [f"{one.entry.name}-{one.number}-{row}" for row in order.tolist()]


def _times(plan: Plan, number: int) -> list[Any]:
    times: list[float] = plan.clock(number)[0].tolist()
    since = plan.stream.since
    if since is None:
        return times
    start = since.replace(tzinfo=None)
    return [(start + timedelta(seconds=round(86400.0 * days))).isoformat() for days in times]


def _level(value: Any) -> str:
    """Return a cell as the name of a stratum."""
    return "missing" if value is None or value != value else f"{value:g}" if isinstance(value, float) else str(value)
