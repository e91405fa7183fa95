"""Is the stream still the one that was learnt? Alarms on labels and on features (docs/drift.md)."""

from .alarms import Alarm
from .page_hinkley import PageHinkley
from .report import DriftReport, check
from .stability import Stability, psi
from .watch import Watch

__all__ = ["Alarm", "DriftReport", "PageHinkley", "Stability", "Watch", "check", "psi"]
