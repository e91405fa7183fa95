"""The reproduction of Grant & Leslie: what they published, and how ours compares."""

from .published import KNOWN_MISMATCHES, PRECISION_RECALL, TUNING_REGRET, WEIGHTS, agreement
from .tables import Cell, precision_recall_cells

__all__ = [
    "KNOWN_MISMATCHES",
    "PRECISION_RECALL",
    "TUNING_REGRET",
    "WEIGHTS",
    "Cell",
    "agreement",
    "precision_recall_cells",
]
