"""Where records are kept: in memory, in a file (SQLite) or in a database (PostgreSQL), behind one small protocol."""

from __future__ import annotations

from os import PathLike, fspath

from ...errors import InputError
from .memory import MemoryStore
from .store import Head, Place, Row, Store

__all__ = ["Head", "MemoryStore", "Place", "Row", "Store", "open_store"]


#: How the address of a PostgreSQL database begins.
POSTGRES = ("postgresql://", "postgres://")


def open_store(address: str | PathLike[str] | Store, *, read_only: bool = False, create: bool = True) -> Store:
    """Return the store at an address: the name of a file, ``postgresql://...``, or ``memory`` for a new one in memory.

    ``read_only`` is for looking while another process writes. ``create`` makes a file that is not there. A store is
    given back as it is.

    Examples
    --------
    >>> open_store("memory").names()
    []
    """
    if not isinstance(address, str | PathLike):
        return address
    place = fspath(address)
    if place == "memory":
        return MemoryStore()
    if place == ":memory:":
        raise InputError("a store in memory is 'memory'; ':memory:', as SQLite says, would be a file of that name")
    if place.startswith(POSTGRES):
        from .postgres import PostgresStore

        return PostgresStore(place, read_only=read_only)
    from .sqlite import SqliteStore

    return SqliteStore(place, read_only=read_only, create=create)
