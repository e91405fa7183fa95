"""What the desk keeps beside the record: who holds which items for how long, and which items were escalated.

Both are small values in the store of the stream, so they outlive the process. One process at a time serves a stream, so
what is in memory is what is in the store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import msgspec

from ...records.stores import Store


class Lease(msgspec.Struct, frozen=True):
    """Who holds an item, and until when, in seconds since 1970."""

    by: str
    until: float
    key: str = ""  #: the id of the key that claimed the item: a lease ends with its key; empty: not known


def holder(lease: Lease | None) -> dict[str, str | None]:
    """Return who holds an item, and until when."""
    until = None if lease is None else datetime.fromtimestamp(lease.until, UTC).isoformat()
    return {"by": None if lease is None else lease.by, "until": until}


class Leases:
    """The leases of one stream; the store has one value for each holder, so that a claim of many items is one write.

    Examples
    --------
    >>> from appletaste.records.stores import MemoryStore
    >>> store = MemoryStore()
    >>> leases = Leases(store, "orders")
    >>> leases.take(["a", "b"], Lease("ann", 100.0, "d5"))
    >>> sorted(leases.held(99.0)), sorted(leases.held(100.0))
    (['a', 'b'], [])
    >>> leases.drop(["a"])
    >>> Leases(store, "orders").held(99.0)
    {'b': Lease(by='ann', until=100.0, key='d5')}
    >>> Leases(store, "orders", opens=lambda key: key != "d5").held(99.0)
    {}
    """

    def __init__(self, store: Store, stream: str, opens: Callable[[str], bool] = lambda key: True) -> None:
        self._store, self._space, self._opens = store, f"held {stream}", opens
        self._all: dict[str, Lease] = {}
        for by, value in store.values(self._space).items():
            held = msgspec.json.decode(value, type=dict[str, float | tuple[float, str]])
            for id, kept in held.items():
                until, key = (kept, "") if isinstance(kept, float) else kept
                self._all[id] = Lease(by, until, key)

    def held(self, now: float) -> dict[str, Lease]:
        """Return the leases that are not over: neither their time nor, where ``opens`` says so, their key."""
        closed = {key for key in {lease.key for lease in self._all.values()} if key and not self._opens(key)}
        return {id: lease for id, lease in self._all.items() if lease.until > now and lease.key not in closed}

    def take(self, ids: Iterable[str], lease: Lease) -> None:
        """Hold items, anew where they are held already."""
        self._all = {**self._all, **dict.fromkeys(ids, lease)}
        self._keep({lease.by})

    def drop(self, ids: Iterable[str]) -> None:
        """Give items back."""
        gone = {id for id in ids if id in self._all}
        holders = {self._all[id].by for id in gone}
        self._all = {id: lease for id, lease in self._all.items() if id not in gone}
        self._keep(holders)

    def forget(self, now: float) -> None:
        """Forget the leases that are over."""
        held = self.held(now)
        self.drop([id for id in self._all if id not in held])

    def _keep(self, holders: set[str]) -> None:
        for by in sorted(holders):
            held = {id: (lease.until, lease.key) for id, lease in self._all.items() if lease.by == by}
            if held:
                self._store.put(self._space, by, msgspec.json.encode(held))
            else:
                self._store.remove(self._space, by)


class Escalations:
    """The items of one stream that were escalated, and wait; who wrote what about them is in the record."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._space = store, f"escalated {stream}"
        self.ids = frozenset(store.values(self._space))

    def add(self, id: str) -> None:
        """Escalate an item."""
        self._store.put(self._space, id, b"")
        self.ids |= {id}

    def drop(self, ids: Iterable[str]) -> None:
        """Forget items that wait no more."""
        for id in self.ids.intersection(ids):
            self._store.remove(self._space, id)
            self.ids -= {id}
