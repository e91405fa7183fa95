"""Play a fully labelled table as a one-sided stream, and say in money what each policy would have done with it."""

from .delays import Delay
from .replay import replay
from .result import PolicyReplay, ReplayResult

__all__ = ["Delay", "PolicyReplay", "ReplayResult", "replay"]
