"""Play policies on problems, once or many times over, and measure what they did."""

from .metrics import Summary, calibration, precision, quantile_bands, recall, summarise
from .replications import Entry, Replication, Result, Trace, play, replicate

__all__ = [
    "Entry",
    "Replication",
    "Result",
    "Summary",
    "Trace",
    "calibration",
    "play",
    "precision",
    "quantile_bands",
    "recall",
    "replicate",
    "summarise",
]
