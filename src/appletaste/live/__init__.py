"""Streams that last: every decision is on disk before it is answered, and the record verifies (docs/service.md)."""

from .answers import Answer, Case, LabelReceipt
from .modes import FROZEN, LIVE, MODES, SAFE, SHADOW
from .stream import Stream
from .verifying import Gap, Verified

__all__ = [
    "FROZEN",
    "LIVE",
    "MODES",
    "SAFE",
    "SHADOW",
    "Answer",
    "Case",
    "Gap",
    "LabelReceipt",
    "Stream",
    "Verified",
]
