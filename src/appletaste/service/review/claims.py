"""Work for reviewers: items claimed for a while, given back, or passed on to somebody else.

Who holds which items for how long, and which were escalated, are small values in the store of the stream, so they
outlive the process. One process at a time serves a stream, so what is in memory is what is in the store.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from ...records.stores import Store
from ...streams import Stream
from ..door import check_plain
from ..operations import CASE, STREAM, Call, Reply, operation
from ..problems import Problem
from ..types import MOST, Body, Cell, Changed, Id, Who
from .cases import WholeCase, whole_cases
from .queue import Filter, Order, Queue, Waiting, refreshed, worth_now
from .queue_window import QueueItem, told

#: Items that the writer looks at again in one go, at most.
AT_ONCE = 25


class Lease(msgspec.Struct, frozen=True):
    """Who holds an item, and until when, in seconds since 1970."""

    by: str
    until: float
    key: str = ""  #: the id of the key that claimed the item: a lease ends with its key; empty: not known

    @property
    def ends(self) -> str:
        """Until when, as a date."""
        return datetime.fromtimestamp(self.until, UTC).isoformat()


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

    @property
    def ids(self) -> list[str]:
        """What is held, or was until its time was over."""
        return list(self._all)

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
        #: For whom each of them is; empty: for anybody.
        self.ids = {id: value.decode() for id, value in store.values(self._space).items()}

    def add(self, id: str, to: str = "") -> None:
        """Escalate an item."""
        self._store.put(self._space, id, to.encode())
        self.ids = {**self.ids, id: to}

    def drop(self, ids: Iterable[str]) -> None:
        """Forget items that wait no more."""
        for id in self.ids.keys() & set(ids):
            self._store.remove(self._space, id)
            self.ids = {one: to for one, to in self.ids.items() if one != id}


class Skips:
    """What each reviewer of one stream has skipped, and still waits; the store has one value for each reviewer."""

    def __init__(self, store: Store, stream: str) -> None:
        self._store, self._space = store, f"skipped {stream}"
        found = store.values(self._space).items()
        self._of = {by: frozenset(msgspec.json.decode(value, type=list[str])) for by, value in found}

    def of(self, by: str) -> frozenset[str]:
        """Return what somebody has skipped."""
        return self._of.get(by, frozenset())

    def add(self, by: str, ids: Iterable[str]) -> None:
        """Skip items."""
        self._keep(by, self.of(by).union(ids))

    def drop(self, ids: Iterable[str], by: str | None = None) -> None:
        """Forget items that wait no more, or that somebody takes up again."""
        gone = set(ids)
        for name in [by] if by is not None else list(self._of):
            if gone & self.of(name):
                self._keep(name, self.of(name) - gone)

    def _keep(self, by: str, ids: frozenset[str]) -> None:
        self._of = {**self._of, by: ids}
        if ids:
            self._store.put(self._space, by, msgspec.json.encode(sorted(ids)))
        else:
            self._store.remove(self._space, by)


class Book(NamedTuple):
    """What the store keeps of the work on one stream."""

    leases: Leases
    escalations: Escalations
    skips: Skips


class Claims:
    """Who holds what of one stream, what was escalated and what skipped; read from the store when first asked for.

    ``opens`` says whether the key with an id opens anything now.
    """

    def __init__(self, store: Store, stream: str, opens: Callable[[str], bool] = lambda key: True) -> None:
        self._store, self._stream, self._opens = store, stream, opens
        self._reading = threading.Lock()  # or two threads hold two books of leases, and one item is held twice
        self._kept: Book | None = None

    @property
    def leases(self) -> Leases:
        """Who holds what."""
        return self._read().leases

    @property
    def escalations(self) -> Escalations:
        """What was escalated."""
        return self._read().escalations

    @property
    def skips(self) -> Skips:
        """What was skipped."""
        return self._read().skips

    def drop(self, ids: Iterable[str], leases: Iterable[str]) -> None:
        """Forget what was said of items that wait no more, or anew; leases are given back where they are named."""
        gone = list(ids)
        self.escalations.drop(gone)
        self.skips.drop(gone)
        self.leases.drop(leases)

    def _read(self) -> Book:
        with self._reading:
            if self._kept is None:
                leases = Leases(self._store, self._stream, self._opens)
                self._kept = Book(leases, Escalations(self._store, self._stream), Skips(self._store, self._stream))
            return self._kept

    def held(self) -> dict[str, Lease]:
        """Return who holds what now."""
        return self.leases.held(time.time())

    def escalate(self, id: str, to: str = "") -> None:
        """Flag an item, and take it from whoever holds it: the next reviewer is somebody else."""
        self.escalations.add(id, to)
        self.leases.drop([id])

    def hold(self, ids: Iterable[str], lease: Lease, now: float) -> None:
        """Hold items for a reviewer."""
        self.leases.forget(now)
        self.leases.take(ids, lease)


class Claim(Body, frozen=True):
    """Work for a reviewer: items with ids, or the first in an order; what was escalated only if asked for."""

    by: Who | None = None
    ids: Annotated[list[Id], Meta(min_length=1, max_length=100)] | None = None
    order: Order = "worth"
    queue: Annotated[str, Meta(max_length=100)] | None = None
    count: Annotated[int, Meta(ge=1, le=100)] = 1
    escalated: bool = False
    minutes: Annotated[float, Meta(gt=0, le=1440)] = 60.0


class ClaimedItem(QueueItem, frozen=True, kw_only=True):
    """An item to review, held for somebody; ``worth`` is by what is believed now where work was asked for by worth."""

    item: dict[str, Cell] | list[float] | None
    reasons: list[str]
    case: WholeCase


class Claimed(Struct, frozen=True):
    """Work that is held for whoever asked."""

    items: list[ClaimedItem]
    waiting: int  #: items whose labels are awaited, all in all


@operation("POST", STREAM + "/queue:claim", scope="review", problems=("claimed-by-other",))
async def claim(call: Call[Claim]) -> Reply[Claimed]:
    """Hold items for a reviewer, particular ones or the first in an order, each with its whole case."""
    queue, asked = call.host.queue(call.stream), call.body
    by = call.who(asked.by)
    check_plain(by, "/by")
    async with queue.lock:
        await refreshed(call, queue)
        now = time.time()
        lease = Lease(by, now + 60.0 * asked.minutes, call.key.id)
        items = await _chosen(call, queue, by, now)
        if items:
            await asyncio.to_thread(queue.claims.hold, [item.id for item in items], lease, now)
        waiting = len(queue)
    found = []
    for item, case in zip(items, await whole_cases(call, [item.id for item in items]), strict=True):
        plain = msgspec.to_builtins(told(item, lease, queue.claims.escalations.ids))
        found.append({**plain, "item": case["item"], "reasons": case["reasons"], "case": case})
    return Reply.of_dict({"items": found, "waiting": waiting})


async def _chosen(call: Call[Any], queue: Queue, by: str, now: float) -> list[Waiting]:
    asked = call.body
    if asked.ids is not None:
        held, ids = queue.claims.leases.held(now), [id for id in dict.fromkeys(asked.ids) if id in queue]
        if any(id in held and held[id].by != by for id in ids):
            raise Problem("claimed-by-other")
        return [queue[id] for id in ids]
    items = queue.free(asked.order, asked.count, Filter(escalated=asked.escalated, queue=queue.named(asked.queue)), now)
    if asked.order != "worth" or not items:
        return items
    found: list[Waiting] = []
    while len(found) < len(items):
        found += await call.writer.do(partial(worth_now, items=items[len(found) : len(found) + AT_ONCE]))
    return sorted(found, key=lambda item: (-item.worth, item.since))[: asked.count]


class Release(Body, frozen=True):
    """Work that a reviewer gives back; with ``force``, for lead and admin, whoever holds the work."""

    ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST)]
    by: Who | None = None
    force: bool = False


class Released(Struct, frozen=True):
    """Work that was given back."""

    released: list[str]


@operation("POST", STREAM + "/queue:release", scope="review", problems=("claimed-by-other",))
async def release(call: Call[Release]) -> Reply[Released]:
    """Give items back that a reviewer holds; with ``force``, for lead and admin, those of anybody.

    What nobody holds is passed over.
    """
    queue, by, force = call.host.queue(call.stream), call.who(call.body.by), call.body.force
    if force and not {"lead", "admin"} & set(call.key.scopes):
        raise Problem("insufficient-scope", scope="lead")

    def give_back() -> Reply[Released]:
        held = queue.claims.held()
        mine = [id for id in dict.fromkeys(call.body.ids) if id in held]
        if not force and any(held[id].by != by for id in mine):
            raise Problem("claimed-by-other")
        queue.claims.leases.drop(mine)
        return Reply.of(Released(mine))

    async with queue.lock:
        await refreshed(call, queue)
        return await asyncio.to_thread(give_back)


class Skip(Body, frozen=True):
    """Items that a reviewer leaves to later, or with ``again`` takes up."""

    ids: Annotated[list[Id], Meta(min_length=1, max_length=MOST)]
    by: Who | None = None
    again: bool = False


class Skipped(Struct, frozen=True):
    """How many items a reviewer has skipped by now."""

    skipped: int


@operation("POST", STREAM + "/queue:skip", scope="review")
async def skip(call: Call[Skip]) -> Reply[Skipped]:
    """Leave items to later: they wait on, for others too, and ``skipped=true`` finds them again."""
    queue, by, ids = call.host.queue(call.stream), call.who(call.body.by), call.body.ids
    check_plain(by, "/by")

    def note() -> Reply[Skipped]:
        skips = queue.claims.skips
        if call.body.again:
            skips.drop(ids, by)
        else:
            skips.add(by, [id for id in ids if id in queue])
        return Reply.of(Skipped(len(skips.of(by))))

    async with queue.lock:
        await refreshed(call, queue)
        return await asyncio.to_thread(note)


class Escalate(Body, frozen=True):
    """Why somebody else should look at an item, and who."""

    text: Annotated[str, Meta(max_length=9000)] = ""
    to: Who | None = None
    by: Who | None = None


@operation("POST", CASE + "/escalation", scope="review", status=201, problems=("unknown-decision", "cannot-happen"))
async def escalate(call: Call[Escalate]) -> Reply[Changed]:
    """Ask for somebody else to look at an item. A note says so, it is flagged in the queue, and nobody holds it."""
    id, said, by, to = call.params["id"], call.body.text, call.who(call.body.by), call.body.to or ""
    queue = call.host.queue(call.stream)
    check_plain(said, "/text")
    check_plain(by, "/by")
    check_plain(to, "/to")
    words = f"escalated to {to}" if to else "escalated"

    def work(stream: Stream) -> Reply[Changed]:
        stream.find(id)
        if id not in stream.awaited:
            raise Problem("cannot-happen", detail="the label of the decision is not awaited")
        queue.claims.escalate(id, to)
        return Reply.of(Changed(stream.note(id, f"{words}: {said}" if said else words, by=by)), 201)

    async with queue.lock:
        await refreshed(call, queue)  # or a label that was withdrawn since the last look would take the flag away
        return await call.writer.do(work, alone=True)
