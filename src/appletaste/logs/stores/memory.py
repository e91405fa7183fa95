"""The record in memory: it ends with the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..events import Event
from .base import Snapshot


class MemoryStore:
    """Events in a list.

    Examples
    --------
    >>> from appletaste.logs.events import Expired
    >>> store = MemoryStore()
    >>> store.append(Expired("a")), store.append(Expired("b"))
    (1, 2)
    >>> list(store.read(after=1))
    [(2, Expired(id='b', time=None))]
    """

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self._events = list(events)
        self._snapshot: Snapshot | None = None

    def append(self, event: Event) -> int:
        """Keep an event and return its number, from 1 on."""
        self._events.append(event)
        return len(self._events)

    def read(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give the events behind a number, each with its own."""
        return ((seq, self._events[seq - 1]) for seq in range(after + 1, len(self._events) + 1))

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot in the place of the one before."""
        self._snapshot = snapshot

    def snapshot(self) -> Snapshot | None:
        """Return the latest snapshot; None: there is none."""
        return self._snapshot

    def __len__(self) -> int:
        return len(self._events)
