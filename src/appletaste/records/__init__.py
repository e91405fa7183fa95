"""What happened: events that are never changed, their fold, and the stores that keep them."""

from .stores import Store, open_store

__all__ = ["Store", "open_store"]
