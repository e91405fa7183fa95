"""Play a fully labelled table as a one-sided stream, and say in money what each policy would have done with it."""

from .comparison import replay
from .delays import Delay
from .findings import Finding
from .looking import ColumnLook, Look, look
from .result import PolicyReplay, ReplayResult
from .sweep import Sweep, sweep

__all__ = ["ColumnLook", "Delay", "Finding", "Look", "PolicyReplay", "ReplayResult", "Sweep", "look", "replay", "sweep"]
