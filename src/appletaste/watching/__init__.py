"""Is the stream still the one that was learnt? Alarms on labels and on features (docs/drift.md)."""

from .alarms import Alarm
from .page_hinkley import PageHinkley
from .report import DriftReport, drift
from .stability import Stability, psi
from .watch import DriftWatch

__all__ = ["Alarm", "DriftReport", "DriftWatch", "PageHinkley", "Stability", "drift", "psi"]
