"""Play policies on problems, once or many times over, and measure what they did."""

from .measures import Summary, calibration, precision, quantile_bands, recall, summarise
from .replications import Played, Replication, Result, made_for, play, replicate

__all__ = [
    "Played",
    "Replication",
    "Result",
    "Summary",
    "calibration",
    "made_for",
    "play",
    "precision",
    "quantile_bands",
    "recall",
    "replicate",
    "summarise",
]
