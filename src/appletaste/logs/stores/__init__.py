"""Where a record is kept: events in order, and the latest snapshot of what they led to."""

from .base import Snapshot, Store
from .memory import MemoryStore

__all__ = ["MemoryStore", "Snapshot", "Store"]
