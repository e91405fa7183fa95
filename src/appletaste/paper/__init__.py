"""The reproduction of Grant & Leslie: what they published, and how ours compares."""

from .comparison import Cell, compare
from .published import KNOWN_MISMATCHES, PRECISION_RECALL, TUNING_REGRET, WEIGHTS, agreement

__all__ = ["KNOWN_MISMATCHES", "PRECISION_RECALL", "TUNING_REGRET", "WEIGHTS", "Cell", "agreement", "compare"]
