"""The work at hand: items whose labels are awaited, kept in every order that somebody asks for.

What waits is mirrored here. What is new stands at the end of what the stream awaits, so finding out takes as long as
there are changes, and not as long as the queue. Orders are lists that stay sorted.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from bisect import bisect_left, insort
from collections import Counter, deque
from collections.abc import Callable, Iterable
from itertools import islice
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Meta, Struct
from msgspec.structs import replace

from ...costs import Costs
from ...features import FeatureMap
from ...policies.reasons import REASONS, reason_for
from ...records.codec import unpack_event
from ...records.events import Decided
from ...records.stores import Store
from ...records.stores.store import Place, Row
from ...streams import Stream
from ...times import instant
from ..door import moment_of
from ..operations import STREAM, Call, Query, Reply, operation
from ..problems import FieldError, Problem
from ..types import Time
from .leases import Escalations, Lease, Leases, holder

#: Of the items that were worth most when they were decided, so many are looked at again by what is believed now.
LOOKED_AT = 100
#: Decisions that are read from the record at once, and seconds in between in which the writer goes on.
PART, BREATH = 200, 0.001
#: Seconds after which decisions have their turn again while the writer looks at items.
TURN = 0.005
#: Changes beyond which an order is sorted again; fewer are put in their places.
FEW = 500
#: Labels that are remembered until the next look.
HINTS = 10_000
#: Filtered orders that are remembered until something changes, for whoever scrolls.
VIEWS = 8
#: The code of an item that waits because somebody acted on it, whatever was decided.
ENACTED = "ENACTED"
#: Why items of each code are in the queue.
CODES = {code: words for code, words in REASONS.items() if words.startswith("acted")} | {
    ENACTED: "acted on by somebody, whatever was decided"
}
Offset = Annotated[int, Meta(ge=0, le=2**53)]
Limit = Annotated[int, Meta(ge=1, le=1000)]
Text = Annotated[str, Meta(max_length=256)]
#: By which work is sorted.
Order = Literal["worth", "age", "amount", "chance"]


class Waiting(Struct, frozen=True, gc=False):
    """An item whose label is awaited; there may be many, and the garbage collector need not go through them."""

    id: str
    seq: int  #: of the event since which it waits
    place: int  #: in the order in which waiting began
    worth: float
    amount: float
    chance: float
    time: float | str | None
    moment: float | None  #: the time as a number
    code: str | None
    why: str
    stratum: str | None


class Filter(NamedTuple):
    """Which items are asked for; None: all."""

    code: str | None = None
    stratum: str | None = None
    since: float | None = None
    until: float | None = None
    escalated: bool | None = None

    def lets(self, item: Waiting, escalated: frozenset[str]) -> bool:
        """Return whether an item is asked for."""
        moment = item.moment
        return (
            (self.code is None or item.code == self.code)
            and (self.stratum is None or item.stratum == self.stratum)
            and (self.since is None or (moment is not None and moment >= self.since))
            and (self.until is None or (moment is not None and moment < self.until))
            and (self.escalated is None or (item.id in escalated) == self.escalated)
        )

    def among(self, items: list[Waiting], escalated: frozenset[str]) -> list[Waiting]:
        """Return the items that are asked for; those of one code first, which is quick."""
        if self.code is not None:
            items = [item for item in items if item.code == self.code]
        if self.stratum is not None:
            items = [item for item in items if item.stratum == self.stratum]
        rest = self._replace(code=None, stratum=None)
        return list(items) if rest == ALL else [item for item in items if rest.lets(item, escalated)]


ALL = Filter()
#: What each order goes by; the first in a list comes first.
ORDERS: dict[str, Callable[[Waiting], Any]] = {
    "worth": lambda item: (-item.worth, item.place),
    "age": lambda item: item.place,
    "amount": lambda item: (-item.amount, item.place),
    "chance": lambda item: (-item.chance, item.place),
}


def sorted_by(name: str, items: list[Waiting]) -> list[Waiting]:
    """Return many items in an order: by arrays, since sorting a list of 100,000 would hold up every other thread."""
    if name == "age":
        return items  # each is added at the end
    values = np.fromiter((getattr(item, name) for item in items), dtype=np.float64, count=len(items))
    places = np.fromiter((item.place for item in items), dtype=np.int64, count=len(items))
    return [items[k] for k in np.lexsort((places, -values)).tolist()]


class Changes(NamedTuple):
    """What has changed since the queue was last looked at."""

    new: dict[str, int]  #: since which event each waits, in their order
    gone: list[str]


class Queue:
    """What waits in one stream; whoever uses it holds ``lock``, since threads work on it.

    ``opens`` says whether the key with an id opens anything now.
    """

    def __init__(self, store: Store, stream: str, opens: Callable[[str], bool] = lambda key: True) -> None:
        self.lock = asyncio.Lock()
        self._store, self._stream, self._opens = store, stream, opens
        self._known: dict[str, Waiting] = {}
        self._orders: dict[str, list[Waiting]] = {name: [] for name in ORDERS}
        self._places = 0
        self._views: dict[tuple[str, Filter], list[Waiting]] = {}
        self.codes: Counter[str] = Counter()
        self.strata: Counter[str] = Counter()
        self._beside: tuple[Leases, Escalations] | None = None
        self._reading = threading.Lock()  # or two threads hold two books of leases, and one item is held twice
        self._labelled: deque[str] = deque(maxlen=HINTS)

    def __len__(self) -> int:
        return len(self._known)

    def __contains__(self, id: object) -> bool:
        return id in self._known

    def __getitem__(self, id: str) -> Waiting:
        return self._known[id]

    @property
    def leases(self) -> Leases:
        """Who holds what."""
        return self._read_beside()[0]

    @property
    def escalations(self) -> Escalations:
        """What was escalated."""
        return self._read_beside()[1]

    def _read_beside(self) -> tuple[Leases, Escalations]:
        with self._reading:
            if self._beside is None:
                leases = Leases(self._store, self._stream, self._opens)
                self._beside = leases, Escalations(self._store, self._stream)
            return self._beside

    # ---- what has changed

    def labelled(self, ids: Iterable[str]) -> None:
        """Hear that labels of some items have arrived, so that ``changes`` need not look for them."""
        if self._known:
            self._labelled.extend(ids)

    def changes(self, awaited: MappingProxyType[str, tuple[int, float]]) -> Changes:
        """Return what has changed, for ``take``; called where the stream may be looked at."""
        known = self._known
        if not known:
            return Changes({id: seq for id, (seq, _) in awaited.items()}, [])
        last: dict[str, int] = {}
        for id in reversed(awaited):
            seq = awaited[id][0]
            if id in known and known[id].seq == seq:
                break
            last[id] = seq
        new = dict(reversed(last.items()))
        again = [id for id in new if id in known]  # a label was withdrawn in between
        left, there = len(known) - len(again) + len(new) - len(awaited), awaited.keys()
        if not left:
            return Changes(new, again)
        likely = set(self.leases.held(0.0))
        while self._labelled:
            likely.add(self._labelled.popleft())
        gone = [id for id in likely if id in known and id not in there]
        if len(gone) != left:  # some have expired, or were overruled or erased
            gone = [id for id in known if id not in there]
        return Changes(new, [*gone, *again])

    def take(self, changes: Changes, place: Place, features: FeatureMap | None) -> None:
        """Take in changes; what is new is read from the record, in small parts."""
        if not (changes.new or changes.gone):
            return
        gone = [self._known.pop(id) for id in changes.gone]
        for item in gone:
            self._count(item, -1)
        self.escalations.drop(changes.gone)
        self.leases.drop(id for id in changes.gone if id not in changes.new)
        self._change([], gone)
        new: list[Waiting] = []
        ids, sheets = list(changes.new), dict[tuple[float, ...], Costs]()
        for start in range(0, len(ids), PART):
            part = ids[start : start + PART]
            rows = place.decisions(part)
            new += [self._read(rows[id], changes.new[id], features, sheets) for id in part]
            time.sleep(BREATH if start else 0.0)
        for item in new:
            self._known[item.id] = item
            self._count(item, 1)
        self._change(new, [])

    def _read(self, row: Row, seq: int, features: FeatureMap | None, sheets: dict[tuple[float, ...], Costs]) -> Waiting:
        event = unpack_event(row.kind, row.body, None, sheets)
        assert isinstance(event, Decided)
        decision, told = event.decision, event.time
        reason = reason_for(decision, features)
        code, why = (None, "") if reason is None else reason
        if not decision.act:
            code, why = ENACTED, CODES[ENACTED]
        self._places += 1
        return Waiting(
            event.id,
            seq,
            self._places,
            -math.inf if math.isnan(decision.worth) else decision.worth,
            decision.costs.catch_gain,
            -math.inf if math.isnan(decision.chance) else decision.chance,
            told,
            instant(told),
            code,
            why,
            event.stratum,
        )

    def _count(self, item: Waiting, by: int) -> None:
        for counter, name in ((self.codes, item.code), (self.strata, item.stratum)):
            if name is not None:
                counter[name] += by
                if not counter[name]:
                    del counter[name]

    def _change(self, new: list[Waiting], gone: list[Waiting]) -> None:
        """Bring all orders up to date; views, too, unless there is much to do."""
        if len(new) + len(gone) > FEW:
            self._views.clear()
            ids = {item.id for item in gone}
            for name, order in self._orders.items():
                left = [item for item in order if item.id not in ids] if ids else order
                self._orders[name] = sorted_by(name, [*left, *new])
            return
        escalated = self.escalations.ids
        lists = [(name, ALL, order) for name, order in self._orders.items()]
        lists += [(name, asked, order) for (name, asked), order in self._views.items()]
        for name, asked, order in lists:
            key = ORDERS[name]
            for item in gone:
                place = bisect_left(order, key(item), key=key)
                if place < len(order) and order[place] is item:
                    del order[place]
            for item in new:
                if asked.lets(item, escalated):
                    insort(order, item, key=key)

    # ---- what is asked

    def view(self, order: str, asked: Filter) -> list[Waiting]:
        """Return all items that are asked for, in an order; to be looked at."""
        if asked == ALL:
            return self._orders[order]
        found = self._views.get((order, asked))
        if found is None:
            escalated = self.escalations.ids
            found = asked.among(self._orders[order], escalated)
            if len(self._views) >= VIEWS:
                self._views.pop(next(iter(self._views)))
            self._views[order, asked] = found
        return found

    def escalate(self, id: str) -> None:
        """Flag an item, and take it from whoever holds it: the next reviewer is somebody else."""
        self.escalations.add(id)
        self.leases.drop([id])
        self._views.clear()

    def free(self, order: str, count: int, escalated: bool, now: float) -> list[Waiting]:
        """Return the first items that nobody holds; what was escalated is given only to whoever asks for that."""
        held, flagged = self.leases.held(now), self.escalations.ids
        items = (item for item in self._orders[order] if item.id not in held and (item.id in flagged) == escalated)
        return list(islice(items, max(count, LOOKED_AT) if order == "worth" else count))

    def hold(self, items: Iterable[Waiting], lease: Lease, now: float) -> None:
        """Hold items for a reviewer."""
        self.leases.forget(now)
        self.leases.take([item.id for item in items], lease)


def worth_now(stream: Stream, items: list[Waiting]) -> list[Waiting]:
    """Return the first item with its worth by what is believed now, and others as long as there is time."""
    rows = stream.record.place.decisions([item.id for item in items])
    found: list[Waiting] = []
    ends = time.perf_counter() + TURN
    for item in items:
        if found and time.perf_counter() > ends:
            break
        row = rows[item.id]
        event = unpack_event(row.kind, row.body, row.item, {})
        assert isinstance(event, Decided)
        decision = event.decision
        worth = stream.player.policy.look(decision.x, costs=decision.costs).worth if decision.round else math.nan
        found.append(replace(item, worth=-math.inf if math.isnan(worth) else worth))
    return found


class QueueItem(Struct, frozen=True):
    """An item whose label is awaited; ``worth`` and ``chance`` are those of the decision."""

    id: str
    worth: float | None
    amount: float
    chance: float | None
    time: Time | None
    code: str | None
    why: str
    stratum: str | None
    by: str | None  #: who holds it
    until: str | None
    escalated: bool


class CodeRead(Struct, frozen=True):
    """How many items wait for one reason."""

    count: int
    why: str


class QueueRead(Struct, frozen=True):
    """A window of the queue."""

    items: list[QueueItem]
    total: int  #: after the filters
    waiting: int
    strata: list[str]
    codes: dict[str, CodeRead]


async def refreshed(call: Call[Any], queue: Queue) -> None:
    """Let a queue know what has changed; whoever calls holds its lock."""
    writer = call.writer
    changes = await writer.do(lambda stream: queue.changes(stream.awaited))
    if changes.new or changes.gone:
        await asyncio.to_thread(queue.take, changes, writer.place, writer.features)


def told(item: Waiting, lease: Lease | None, escalated: bool) -> QueueItem:
    """Return an item for JSON."""
    by, until = holder(lease).values()
    worth, chance = (value if math.isfinite(value) else None for value in (item.worth, item.chance))
    return QueueItem(
        item.id, worth, item.amount, chance, item.time, item.code, item.why, item.stratum, by, until, escalated
    )


def filter_of(call: Call[Any]) -> Filter:
    """Return which items are asked for; times are dates, or numbers of the clock of the stream."""
    query = call.query
    since, until = end_of("since", query["since"]), end_of("until", query["until"])
    return Filter(query["code"], query["stratum"], since, until, query["escalated"])


def end_of(name: str, said: str | None) -> float | None:
    """Return one end of a time span, or the problem that it is none."""
    if said is None:
        return None
    try:
        moment: float | None = float(said)
    except ValueError:
        moment = moment_of(said)
    if moment is None or not math.isfinite(moment):
        raise Problem("validation", FieldError("wrong-value", parameter=name, expected="a date, or a number"))
    return moment


@operation(
    "GET",
    STREAM + "/queue",
    scope="read",
    query={
        "order": Query(Order, "worth", "By which the items are sorted: worth, age, amount or chance."),
        "code": Query(Text | None, None, "Why items wait, such as EXPLORE."),
        "stratum": Query(Text | None, None, "The stratum of the items."),
        "since": Query(Text | None, None, "The earliest time of an item."),
        "until": Query(Text | None, None, "Items are earlier than this."),
        "escalated": Query(bool | None, None, "Whether items were escalated."),
        "offset": Query(Offset, 0, "How many items to pass over."),
        "limit": Query(Limit, 200, "The most items to return."),
    },
)
async def queue(call: Call[None]) -> Reply[QueueRead]:
    """Return a window of what waits for its label: by worth, age, amount or chance."""
    queue, asked, query = call.host.queue(call.stream), filter_of(call), call.query

    def window() -> bytes:
        found, held, flagged = queue.view(query["order"], asked), queue.leases.held(time.time()), queue.escalations.ids
        shown = found[query["offset"] : query["offset"] + query["limit"]]
        items = [told(item, held.get(item.id), item.id in flagged) for item in shown]
        codes = {code: CodeRead(count, CODES[code]) for code, count in sorted(queue.codes.items())}
        return msgspec.json.encode(QueueRead(items, len(found), len(queue), sorted(queue.strata), codes))

    async with queue.lock:
        await refreshed(call, queue)
        return Reply(200, await asyncio.to_thread(window))
