"""Play policies on problems, once or many times over, and measure what they did."""

from .metrics import Summary, calibration, precision, quantile_bands, recall, summarise
from .replications import Entry, Played, Replication, Result, play, replicate

__all__ = [
    "Entry",
    "Played",
    "Replication",
    "Result",
    "Summary",
    "calibration",
    "play",
    "precision",
    "quantile_bands",
    "recall",
    "replicate",
    "summarise",
]
