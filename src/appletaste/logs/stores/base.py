"""What a store is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ..events import Event


class Snapshot(NamedTuple):
    """A player as it was after some event: what ``header`` and ``arrays`` say of it."""

    seq: int  #: the number of the last event that the player has taken in
    header: dict[str, Any]
    arrays: dict[str, NDArray[np.generic]]


class Store(Protocol):
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
