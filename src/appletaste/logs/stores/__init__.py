"""Where records are kept: in memory, in a file (SQLite) or in a database (PostgreSQL), behind one small protocol."""

from .base import Head, Place, Row, Store
from .memory import MemoryStore
from .opening import open_store

__all__ = ["Head", "MemoryStore", "Place", "Row", "Store", "open_store"]
