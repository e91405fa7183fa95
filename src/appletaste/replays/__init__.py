"""Play a fully labelled table as a one-sided stream, and say in money what each policy would have done with it."""

from .comparison import replay
from .delays import Delay
from .result import PolicyReplay, ReplayResult
from .sweep import Sweep, sweep

__all__ = ["Delay", "PolicyReplay", "ReplayResult", "Sweep", "replay", "sweep"]
