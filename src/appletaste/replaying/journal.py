"""One pass as a decision log: a table with one row for each decision, in the words that all logs here use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OptionError
from .comparators import COMPARATORS
from .passes import Pass


def decision_log(one: Pass) -> dict[str, list[Any]]:
    """Return the log of a pass, played again; the label is there only where it was acted on and came in time."""
    plan, name = one.plan, one.entry.name
    order = plan.order(one.number)
    labels = plan.stream.labels[order]
    if name in COMPARATORS:
        raise OptionError(f"{name} is a comparator: it has no decisions to log")
    path, _ = one.walk()
    n = len(labels)
    state = np.where(path.acts, np.where(path.observed, "observed", "pending"), "never_due").tolist()
    times, _ = plan.clock(one.number)
    return {
        "id": [f"{name}-{one.number}-{row}" for row in order.tolist()],
        "time": times.tolist(),
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
