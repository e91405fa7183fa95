"""Ours beside theirs, cell by cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .._files import for_json
from ..simulate.metrics import Summary, summarise
from .published import KNOWN_MISMATCHES, PRECISION_RECALL, TUNING_REGRET, WEIGHTS, agreement


@dataclass(frozen=True)
class Cell:
    """One published number and ours."""

    study: str
    cell: str
    published: float
    ours: float
    se: float
    sd: float
    replications: int
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

    def as_dict(self) -> dict[str, Any]:
        """Return the cell for JSON; numbers that are not finite are None."""
        found: dict[str, Any] = for_json(vars(self) | {"agrees": self.agrees})
        return found


def make_cell(
    study: str, cell: str, published: float, ours: Summary, replications: int, known: str | None = None
) -> Cell:
    """Return a published number beside ours, with their distance."""
    z = agreement(published, ours)
    return Cell(study, cell, published, ours.mean, ours.se, ours.sd, replications, z, known)


def precision_recall_cells(study: str, problem: str, policy: str, measures: Mapping[str, Any]) -> list[Cell]:
    """Return the two cells of a policy in Tables 1-3; ``measures`` has precision and recall per replication."""
    cells = []
    for measure, published in zip(("precision", "recall"), PRECISION_RECALL[problem][policy], strict=True):
        known = KNOWN_MISMATCHES.get((problem, policy, measure))
        values = measures[measure]
        name = f"({problem}) {policy} {measure}"
        cells.append(make_cell(study, name, published, summarise(values), len(values), known))
    return cells


def tuning_cells(study: str, name: str, regrets: Mapping[float, Any]) -> list[Cell]:
    """Return the cells of one of Tables 4-6; ``regrets`` has the final regrets at each weight."""
    cells = []
    for weight, (mean, _) in zip(WEIGHTS, TUNING_REGRET[name], strict=True):
        values = regrets[weight]
        cells.append(make_cell(study, f"{name} lambda={weight:g}", mean, summarise(values), len(values)))
    return cells
