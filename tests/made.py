"""Logs made up for tests: what a policy would have written that acted as told."""

import numpy as np

import appletaste as at
from appletaste.costs import OUTCOMES


def made_log(
    table, acts, probabilities, *, chance=None, known=None, audit=None, stratum=None, policy="", features=True
):
    """Return the log of acts on a table: labels where it acted and, with ``known``, where they have arrived."""
    n, acts = table.rounds, np.asarray(acts, dtype=bool)
    seen = acts if known is None else acts & np.asarray(known, dtype=bool)
    return at.DecisionLog.from_columns(
        {
            "id": np.arange(1, n + 1),
            "act": acts,
            "probability": probabilities,
            **{name: np.full(n, getattr(table.costs, name)) for name in OUTCOMES},
            "label": np.where(seen, table.labels, np.nan),
            "policy": np.full(n, policy),
            "audit": audit,
            "chance": chance,
            "stratum": stratum,
            "x": table.items if features else None,
        }
    )


def without_chances(log):
    """Return a log as a system writes it that records no chances."""
    return at.DecisionLog(**{**vars(log), "chance": None, "worth": None})
