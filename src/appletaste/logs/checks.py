"""What a decision log must satisfy: checked once, when it is made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, FeedbackError
from .columns import CORRECTED, COSTS, NEVER_DUE, OBSERVED, STATES, UNKNOWN

if TYPE_CHECKING:
    from .decision_log import DecisionLog


def check_log(log: DecisionLog) -> None:
    """Refuse columns that no honest stream of decisions could have, with the first row that shows it."""
    n = len(log.id)
    for name, column in vars(log).items():
        if column is not None and len(column) != n:
            raise DataError(f"column {name} has {len(column)} rows and id has {n}: they must be the same decisions")
    _ids(log.id)
    _first(~((log.probability >= 0) & (log.probability <= 1)), log, "probability must be in [0, 1], got {probability}")
    _first(
        log.act & (log.probability == 0), log, "an act with probability 0 cannot be: was P(act) logged as P(positive)?"
    )
    _first(~log.act & (log.probability == 1), log, "a pass with probability 1 of acting cannot be: was it overridden?")
    if log.chance is not None:
        wrong = ~np.isnan(log.chance) & ~((log.chance >= 0) & (log.chance <= 1))
        _first(wrong, log, "chance must be in [0, 1] or absent, got {chance}")
    for name in COSTS:
        _first(~np.isfinite(getattr(log, name)), log, f"{name} must be finite, got {{{name}}}")
    _first(~np.isin(log.label, (0, 1, UNKNOWN)), log, "a label is 0, 1 or -1 (not known), got {label}")
    known = log.label != UNKNOWN
    _first(~log.act & known, log, "a pass has no label: it is never seen", FeedbackError)
    _first(~np.isin(log.state, STATES), log, f"state is one of {', '.join(STATES)}; got {{state}}")
    _first(~log.act & (log.state != NEVER_DUE), log, "a pass is never due, but its state is {state}")
    _first(log.act & (log.state == NEVER_DUE), log, "an act is due a label, but its state is never_due")
    settled = np.isin(log.state, (OBSERVED, CORRECTED))
    _first(log.act & (known != settled), log, "state {state} does not go with label {label} (-1: not known)")
    _first(log.audit & ~log.act, log, "audit says that the item was acted on for the audit alone, but it was passed")
    if log.x is not None and (log.x.ndim != 2 or not np.isfinite(log.x).all()):
        raise DataError("x must be a matrix of finite numbers, one row per decision")


def _ids(ids: NDArray[np.str_]) -> None:
    if (ids == "").any():
        raise DataError(f"row {int(np.argmax(ids == '')) + 1}: id is missing; every decision has one")
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        twice = values[np.argmax(counts > 1)]
        places = (np.flatnonzero(ids == twice)[:2] + 1).tolist()
        raise DataError(f"id {str(twice)!r} is in rows {places[0]} and {places[1]}: one row per decision")


def _first(
    wrong: NDArray[Any], log: DecisionLog, message: str, kind: type[DataError | FeedbackError] = DataError
) -> None:
    if wrong.any():
        k = int(np.argmax(wrong))
        seen = {name: column[k] for name, column in vars(log).items() if column is not None}
        raise kind(f"row {k + 1} (id {str(log.id[k])!r}): {message.format(**seen)}")
