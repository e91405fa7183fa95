"""The decision log in the words of other libraries: Open Bandit Pipeline and Vowpal Wabbit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .decision_log import DecisionLog

#: What the two actions are called where actions are numbers: Open Bandit Pipeline counts from 0, VW from 1.
PASS, ACT = 0, 1


def relative_cost(log: DecisionLog) -> NDArray[np.float64]:
    """Return what each decision cost against passing: 0 for a pass, alarm_price or -catch_gain for an act.

    NaN for an act whose label is not known. A pass is 0 by definition, so its unseen label is not needed.
    """
    acted = np.where(log.label == 1, -log.catch_gain, log.alarm_price)
    return np.where(log.act, np.where(log.labelled, acted, np.nan), 0.0)


def _complete(log: DecisionLog) -> tuple[DecisionLog, NDArray[np.float64]]:
    """Return the decisions whose cost is known, with it: an act that waits for its label has no reward yet."""
    cost = relative_cost(log)
    known = ~np.isnan(cost)
    return log.where(known), cost[known]


def obp_feedback(log: DecisionLog) -> dict[str, Any]:
    """Return Open Bandit Pipeline's feedback dictionary, with reward = -(cost relative to passing).

    Acts without a label are left out, which is harmless only if labels are missing at random.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    >>> rows = [{"id": "a", "act": True, "probability": 0.25, "label": 1, "x": [1.0], **costs}]
    >>> feedback = obp_feedback(DecisionLog.from_rows(rows))
    >>> feedback["action"].tolist(), feedback["reward"].tolist(), feedback["pscore"].tolist()
    ([1], [5.0], [0.25])
    """
    log, cost = _complete(log)
    if log.x is None:
        raise DataError("Open Bandit Pipeline needs the context of every round, and this log has no x")
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


def vw_text(log: DecisionLog) -> Iterator[str]:
    """Yield Vowpal Wabbit's ``action:cost:probability | features`` (``--cb 2``; 1 is pass, 2 is act).

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    >>> rows = [{"id": "a", "act": True, "probability": 0.25, "label": 1, "x": [1.0, 0.0], **costs}]
    >>> list(vw_text(DecisionLog.from_rows(rows)))
    ['2:-5.0:0.25 | x0:1.0']
    """
    log, cost = _complete(log)
    chosen = np.where(log.act, log.probability, 1.0 - log.probability)
    for k in range(len(log)):
        features = "" if log.x is None else " ".join(f"x{j}:{v!r}" for j, v in _present(log.x[k]))
        yield f"{int(log.act[k]) + 1}:{float(cost[k])!r}:{float(chosen[k])!r} | {features}".rstrip()


def _present(x: NDArray[np.float64]) -> list[tuple[int, float]]:
    return [(j, float(v)) for j, v in enumerate(x) if v != 0.0]


def vw_dsjson(log: DecisionLog) -> Iterator[str]:
    """Yield dsjson lines, the decision-service form of Vowpal Wabbit (``--dsjson --cb_explore_adf``).

    The two actions are named by a feature each; ``_label_Action`` counts from 1 and its action comes first in ``a``.
    """
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
