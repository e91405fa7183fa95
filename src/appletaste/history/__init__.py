"""Past items with labels: read with their roles, and looked at before they are played."""

from .leaks import Finding
from .look import ColumnLook, Look, look
from .roles import Roles, could_be, guess

__all__ = ["ColumnLook", "Finding", "Look", "Roles", "could_be", "guess", "look"]
