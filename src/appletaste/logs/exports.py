"""The decision log in the words of other libraries: Open Bandit Pipeline and Vowpal Wabbit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError

if TYPE_CHECKING:
    from .decision_log import DecisionLog


def _complete(log: DecisionLog) -> tuple[DecisionLog, NDArray[np.float64]]:
    """Return the decisions whose cost is known, with their costs: an act without a label has no reward yet."""
    cost = log.relative_cost
    known = ~np.isnan(cost)
    return log.where(known), cost[known]


def obp_feedback(log: DecisionLog) -> dict[str, Any]:
    """Return Open Bandit Pipeline's feedback dictionary; action 0 is pass, 1 is act."""
    log, cost = _complete(log)
    if log.x is None:
        raise DataError("Open Bandit Pipeline needs the features of every decision, and this log has no x")
    return {
        "n_rounds": len(log),
        "n_actions": 2,
        "context": log.x,
        "action": log.act.astype(np.int64),
        "reward": -cost,
        "pscore": np.where(log.act, log.probability, 1.0 - log.probability),
        "position": None,
        "action_context": np.eye(2),
    }


def vw_lines(log: DecisionLog) -> Iterator[str]:
    """Yield Vowpal Wabbit's lines of text; action 1 is pass, 2 is act."""
    log, cost = _complete(log)
    chosen = np.where(log.act, log.probability, 1.0 - log.probability)
    for k in range(len(log)):
        features = "" if log.x is None else " ".join(f"x{j}:{v!r}" for j, v in _present(log.x[k]))
        yield f"{int(log.act[k]) + 1}:{float(cost[k])!r}:{float(chosen[k])!r} | {features}".rstrip()


def _present(x: NDArray[np.float64]) -> list[tuple[int, float]]:
    return [(j, float(v)) for j, v in enumerate(x) if v != 0.0]


def dsjson_lines(log: DecisionLog) -> Iterator[str]:
    """Yield dsjson lines; ``_label_Action`` counts from 1 and its action comes first in ``a``."""
    log, cost = _complete(log)
    for k in range(len(log)):
        p = float(log.probability[k])
        order = [2, 1] if log.act[k] else [1, 2]
        shares = {1: 1.0 - p, 2: p}
        shared = {} if log.x is None else {f"x{j}": v for j, v in _present(log.x[k])}
        line = {
            "_label_cost": float(cost[k]),
            "_label_probability": shares[order[0]],
            "_label_Action": order[0],
            "_labelIndex": order[0] - 1,
            "EventId": str(log.id[k]),
            "a": order,
            "p": [shares[action] for action in order],
            "c": {"shared": shared, "_multi": [{"action": {"pass": 1}}, {"action": {"act": 1}}]},
        }
        if log.time is not None and log.time.dtype.kind == "U":
            line["Timestamp"] = str(log.time[k])
        yield json.dumps(line)
