"""The part of a log whose labels are mostly in: what another threshold would have cost can be asked of that part."""

from __future__ import annotations

from ..logs import DecisionLog
from .support import LEAST_SHARE, labelled_shares


def settled(log: DecisionLog) -> DecisionLog:
    """Return the decisions of rounds in which at least a fifth of the labels are in; the log itself where none is.

    Rounds are left out whole, by how many labels have come and never by what they say, so the rest is a log like
    another. Late labels leave out the last days.

    Examples
    --------
    >>> costs = {"miss": 5, "false_alarm": 1, "hit": 0, "act": True, "probability": 0.5}
    >>> rows = [{"id": k, "label": 1 if k < 100 else None, **costs} for k in range(150)]
    >>> len(settled(DecisionLog.from_rows(rows)))
    100
    """
    kept = labelled_shares(log) >= LEAST_SHARE
    return log.where(kept) if kept.any() and not kept.all() else log
