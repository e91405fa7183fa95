"""The truth beside an estimate, where the log has one: a replay knows every label. No estimate looks at it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..logs.decision_log import DecisionLog
from .answers import Answer, Estimate
from .by_design import ByDesign
from .support import Support


def beside(answer: Answer, truth: float | None) -> Answer:
    """Return an answer with the truth beside it; a refusal, or an answer to which no truth is known, as it is."""
    return replace(answer, truth=truth) if isinstance(answer, Estimate) and truth is not None else answer


def positives_among(log: DecisionLog, chosen: NDArray[np.bool_]) -> float | None:
    """Return how many of the chosen items are positive, if the log knows.

    Examples
    --------
    >>> row = {"act": False, "probability": 0.5, "miss": 5, "false_alarm": 1, "hit": 0}
    >>> log = DecisionLog.from_rows([{"id": k, "truth": k % 2, **row} for k in range(4)])
    >>> positives_among(log, np.array([True, True, False, False]))
    1.0
    """
    return None if log.truth is None else float((log.truth[chosen] == 1).sum())


def design_beside(design: ByDesign, log: DecisionLog, support: Support) -> ByDesign:
    """Return design-based answers with the truth about the same items, the supported part."""
    missed = positives_among(log, support.usable & ~log.act)
    caught = positives_among(log, support.usable & log.act)
    if missed is None or caught is None:
        return design
    recall = caught / (caught + missed) if caught + missed else 1.0
    return replace(
        design,
        missed=beside(design.missed, missed),
        missed_hajek=beside(design.missed_hajek, missed),
        recall=beside(design.recall, recall),
        recall_hajek=beside(design.recall_hajek, recall),
    )


def cost_of_acting(log: DecisionLog, acting: NDArray[np.float64] | NDArray[np.bool_]) -> float | None:
    """Return what acting with these probabilities costs more than passing everything, if the log knows."""
    if log.truth is None:
        return None
    return float((acting * np.where(log.truth == 1, -log.catch_gain, log.alarm_price)).sum())
