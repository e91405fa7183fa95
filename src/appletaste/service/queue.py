"""The work at hand: items whose labels are awaited, each held by one reviewer at a time for a while.

Leases are small values in the store: they outlive the process, and are over by themselves.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from ..desks.reasons import reason_for
from ..live import Stream
from ..logs.bodies import unpack_item
from ..logs.kept import Found
from ..logs.stores import Store
from .answers import Work

#: Of the items that were worth most when they were decided, so many are looked at again by what is believed now.
LOOKED_AT = 100


class Lease(msgspec.Struct, frozen=True):
    """Who holds an item, and until when, in seconds since 1970."""

    by: str
    until: float


class Waiting(NamedTuple):
    """An item whose label is awaited."""

    id: str
    age: int  #: its place in the order in which waiting began
    worth: float
    amount: float
    found: Found


class Leases:
    """The leases of one stream, in the small values of its store."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._space = store, f"leases {stream}"

    def held(self, now: float) -> dict[str, Lease]:
        """Return the leases that are not over; those that are, are forgotten."""
        found = {id: msgspec.json.decode(value, type=Lease) for id, value in self._store.values(self._space).items()}
        for id, lease in found.items():
            if lease.until <= now:
                self._store.remove(self._space, id)
        return {id: lease for id, lease in found.items() if lease.until > now}

    def take(self, id: str, lease: Lease) -> None:
        """Hold an item."""
        self._store.put(self._space, id, msgspec.json.encode(lease))

    def drop(self, id: str) -> None:
        """Give an item back."""
        self._store.remove(self._space, id)


class Queue:
    """What waits for its label, in an order that was asked for; each item is read from the record once."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float]] = {}

    def ordered(self, stream: Stream, free: list[str], order: str, count: int) -> list[Waiting]:
        """Return the first items of the queue that nobody holds."""
        self._learn(stream, free)
        places = {id: place for place, id in enumerate(free)}
        if order == "age":
            chosen = free[:count]
        else:
            column = 1 if order == "amount" else 0
            chosen = sorted(free, key=lambda one: (-self._known[one][column], places[one]))[: max(count, LOOKED_AT)]
        items = [self._now(stream, id, places[id]) for id in chosen]
        if order == "worth":
            items.sort(key=lambda item: (-item.worth, item.age))
        return items[:count]

    def _learn(self, stream: Stream, ids: list[str]) -> None:
        there = set(ids)
        self._known = {id: value for id, value in self._known.items() if id in there}
        new = [id for id in ids if id not in self._known]
        if new:
            stream.record.prefetch(new)
        for id in new:
            decision = _found(stream, id).event.decision
            worth = -math.inf if math.isnan(decision.worth) else decision.worth
            self._known[id] = worth, decision.costs.catch_gain

    @staticmethod
    def _now(stream: Stream, id: str, place: int) -> Waiting:
        found = _found(stream, id)
        decision = found.event.decision
        worth = stream.player.policy.look(decision.x, costs=decision.costs).worth if decision.round else math.nan
        return Waiting(id, place, -math.inf if math.isnan(worth) else worth, decision.costs.catch_gain, found)


def _found(stream: Stream, id: str) -> Found:
    found = stream.record.decision(id)
    assert found is not None  # what is pending was decided
    return found


def work_of(stream: Stream, item: Waiting, lease: Lease) -> Work:
    """Return an item to review, for whoever holds it."""
    decision, row = item.found.event.decision, stream.record.place.decisions((item.id,))[item.id]
    cells: Any = None
    if row.item is not None:
        x, record = unpack_item(row.item)
        cells = x.tolist() if record is None else record
    reason = reason_for(decision, stream.features)
    return Work(
        item.id,
        item.worth if math.isfinite(item.worth) else None,
        item.amount,
        decision.chance if math.isfinite(decision.chance) else None,
        item.found.event.time,
        cells,
        [] if reason is None else [reason.words],
        lease.by,
        datetime.fromtimestamp(lease.until, UTC).isoformat(),
    )
