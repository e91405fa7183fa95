"""Past items with labels: read with their roles, and looked at before they are played."""

from .leaks import Finding
from .look import ColumnLook, Look, look

__all__ = ["ColumnLook", "Finding", "Look", "look"]
