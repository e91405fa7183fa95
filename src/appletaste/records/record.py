"""A record: the events of one stream in order, and the latest snapshot of what the events led to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .events import Event


class Snapshot(NamedTuple):
    """A player as it was after some event: what ``header`` and ``arrays`` say of it."""

    seq: int  #: the number of the last event that the player has taken in
    header: dict[str, Any]
    arrays: dict[str, NDArray[np.generic]]


class Record(Protocol):
    """Keeps events in the order in which they came; what ``append`` has returned from is kept for good."""

    def append(self, event: Event) -> int:
        """Keep an event and return its number, from 1 on."""

    def read(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give the events behind a number, each with its own."""

    def keep(self, snapshot: Snapshot) -> None:
        """Keep a snapshot in the place of the one before."""

    def snapshot(self) -> Snapshot | None:
        """Return the latest snapshot; None: there is none."""

    def __len__(self) -> int:
        """Return the number of the last event."""


class MemoryRecord:
    """Events in a list; the list ends with the process.

    Examples
    --------
    >>> from appletaste.records.events import Expired
    >>> record = MemoryRecord()
    >>> record.append(Expired("a")), record.append(Expired("b"))
    (1, 2)
    >>> list(record.read(after=1))
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
