"""The table of the record: every entry a row of the decision log."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import OUTCOMES
from ..records.entries import Entries
from ..records.events import UNKNOWN
from .decision_log import DecisionLog


def table_of(entries: Entries, policy: str = "", features: bool = True) -> DecisionLog:
    """Return the decision log of entries, one row per decision in the order of deciding; ``features`` adds x."""
    rows = [entry for _, entry in entries.items()]
    decisions = [entry.decision for entry in rows]
    sheets = {
        id(costs): list(costs.outcomes().values()) for costs in {id(d.costs): d.costs for d in decisions}.values()
    }
    costs = np.array([sheets[id(d.costs)] for d in decisions], dtype=np.float64).reshape(-1, len(OUTCOMES))
    columns: dict[str, Any] = {
        "id": np.array(list(entries), dtype=np.str_),
        "round": np.array([d.round for d in decisions], dtype=np.int64),
        "act": np.array([d.act for d in decisions], dtype=bool),
        "probability": np.array([d.probability for d in decisions], dtype=np.float64),
        **{name: costs[:, k] for k, name in enumerate(OUTCOMES)},
        "label": np.array([UNKNOWN if e.label is None else e.label for e in rows], dtype=np.int8),
        "state": np.array([e.state for e in rows], dtype=np.str_),
        "policy": np.full(len(rows), policy),
        "audit": np.array([d.audit for d in decisions], dtype=bool),
        "chance": _known([d.chance for d in decisions]),
        "worth": _known([d.worth for d in decisions]),
        "price": _known([d.price for d in decisions]),
        "time": _times([e.time for e in rows]),
        "label_time": _times([e.label_time for e in rows]),
        "stratum": _texts([e.stratum for e in rows]),
        "x": np.array([d.x for d in decisions], dtype=np.float64) if features and rows else None,
        "why": _reasons([d.why for d in decisions]),
    }
    return DecisionLog(**columns)


def _known(values: list[float]) -> NDArray[np.float64] | None:
    """Return numbers, NaN where one is not known; None where none is."""
    found = np.array(values, dtype=np.float64)
    return None if np.isnan(found).all() else found


def _times(values: list[float | str | None]) -> NDArray[Any] | None:
    """Return times, all numbers or all texts; None where there is none."""
    first = next((value for value in values if value is not None), None)
    if first is None:
        return None
    if isinstance(first, str):
        return np.array(["" if value is None else value for value in values], dtype=np.str_)
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _texts(values: list[str | None]) -> NDArray[np.str_] | None:
    """Return texts, empty where there is none; None where no row has one."""
    return np.array(["" if value is None else value for value in values], dtype=np.str_) if any(values) else None


def _reasons(values: list[dict[str, float]]) -> NDArray[np.object_] | None:
    """Return the numbers behind each decision; None where no decision has any."""
    if not any(values):
        return None
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
