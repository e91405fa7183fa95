"""Is the stream still the one that was learnt? Alarms on labels and on features (docs/drift.md)."""

from .alarms import Alarm
from .check import DriftReport, check
from .page_hinkley import PageHinkley
from .stability import Stability, psi
from .watch import Watch

__all__ = ["Alarm", "DriftReport", "PageHinkley", "Stability", "Watch", "check", "psi"]
