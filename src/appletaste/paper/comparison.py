"""Ours beside theirs: precision and recall cell by cell."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from ..metrics import summarise
from ..simulate import Result
from .published import KNOWN_MISMATCHES, PRECISION_RECALL, agreement


@dataclass(frozen=True)
class Cell:
    """One published number and ours."""

    problem: str
    policy: str
    measure: str
    published: float
    ours: float
    se: float
    z: float
    known_mismatch: str | None

    @property
    def agrees(self) -> bool:
        """Whether ours lies within 3 standard errors of theirs."""
        return abs(self.z) <= 3.0

    @property
    def verdict(self) -> str:
        """``ok``, ``known`` (no reading of the paper gives that cell) or ``NO``."""
        if self.agrees:
            return "ok"
        return "known" if self.known_mismatch else "NO"

    def as_json(self) -> dict[str, Any]:
        """Return the cell for machines; numbers that are not finite become null."""
        fields = asdict(self) | {"agrees": self.agrees}
        return {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in fields.items()}


def compare(problem: str, result: Result) -> list[Cell]:
    """Return the cells of one policy on one of the paper's problems: precision, then recall."""
    cells = []
    policy = result.entry.name
    for measure, published in zip(("precision", "recall"), PRECISION_RECALL[problem][policy], strict=True):
        ours = summarise(getattr(result, measure))
        z = agreement(published, ours)
        known = KNOWN_MISMATCHES.get((problem, policy, measure))
        cells.append(Cell(problem, policy, measure, published, ours.mean, ours.se, z, known))
    return cells
