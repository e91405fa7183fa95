"""The work at hand: items whose labels are awaited, in every order and through every filter that somebody asks for.

What waits is one row each, in a table. The record says to which decisions something has happened since the last look,
and the stream whether these wait; so finding out takes as long as there are changes, and not as long as the queue. An
order is sorted when somebody asks for it, and kept until something changes; a filter is a mask.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from ...costs import Costs
from ...features import FeatureMap
from ...policies.reasons import REASONS, reason_for
from ...records.codec import unpack_event
from ...records.events import Decided
from ...records.stores.store import Place, Row
from ...streams import Stream
from ...times import instant
from ..operations import Call
from ..problems import FieldError, Problem
from .layout import OTHERS, Layout

if TYPE_CHECKING:
    from .claims import Claims

#: Of the items that were worth most when they were decided, so many are looked at again by what is believed now.
LOOKED_AT = 100
#: Decisions that are read from the record at once, and seconds in between in which the writer goes on.
PART, BREATH = 200, 0.001
#: Seconds after which decisions have their turn again while the writer looks at items.
TURN = 0.005
#: Events since the last look beyond which the stream is asked for all that waits: it costs as much as to read them.
MANY = 20_000
#: Rows that there is room for at first.
ROOM = 1024
#: The code of an item that waits because somebody acted on it, whatever was decided.
ENACTED = "ENACTED"
#: Why items of each code are in the queue.
CODES = {code: words for code, words in REASONS.items() if words.startswith("acted")} | {
    ENACTED: "acted on by somebody, whatever was decided"
}
#: By which work is sorted.
Order = Literal["worth", "age", "amount", "chance"]
Rows = NDArray[np.intp]
#: What is sorted and filtered by; ``since`` is 0 where a row is free, ``code`` and ``stratum`` count texts.
TABLE = np.dtype(
    [
        ("since", np.int64),
        ("worth", np.float64),
        ("amount", np.float64),
        ("chance", np.float64),
        ("moment", np.float64),
        ("code", np.int32),
        ("stratum", np.int32),
    ]
)


class Waiting(Struct, frozen=True, gc=False):
    """An item whose label is awaited; there may be many, and the garbage collector need not go through them."""

    id: str
    since: int  #: the number of the event since which it waits
    worth: float
    amount: float
    chance: float
    time: float | str | None
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
    queue: int | None = None  #: the place of a named queue; behind the last one: what no queue takes
    skipped: bool | None = None
    by: str = ""  #: whose skips count


class Queue:
    """What waits in one stream, and who holds what of it; whoever uses it holds ``lock``, since threads work on it."""

    def __init__(self, claims: Claims, layout: Layout) -> None:
        self.lock, self.claims, self.layout = asyncio.Lock(), claims, layout
        #: The columns that say most of items, as far as somebody has looked at them.
        self.leading: dict[str, list[str]] = {}
        #: The number of the last event that is known.
        self.seq = 0
        self._rows: dict[str, int] = {}
        self._items: list[Waiting | None] = []
        self._free: list[int] = []
        self._table = np.zeros(ROOM, dtype=TABLE)
        self._codes: dict[str | None, int] = {None: 0}
        self._strata: dict[str | None, int] = {None: 0}
        self._orders: dict[str, Rows] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, id: object) -> bool:
        return id in self._rows

    def __getitem__(self, id: str) -> Waiting:
        return self.at(self._rows[id])

    def at(self, row: int) -> Waiting:
        """Return the item of a row."""
        item = self._items[row]
        assert item is not None  # a row of an order is none that is free
        return item

    # ---- what has changed

    def touched(self, place: Place, last: int) -> list[str] | None:
        """Return the decisions that something has happened to, up to an event; None: they are too many to be asked for.

        At first that is all that there is.
        """
        if not self.seq or last - self.seq > MANY:
            return None
        found: dict[str, None] = {}
        for row in place.read(self.seq):
            if row.seq > last:
                break
            if row.id:
                found[row.id] = None
        return list(found)

    def take(self, ids: Sequence[str] | None, awaited: Mapping[str, int], place: Place, features: Any) -> None:
        """Take in what has become of decisions; None: of all. ``awaited`` says since which event each of them waits.

        What is new is read from the record, in small parts.
        """
        if ids is None:  # also what was flagged or held before this process began
            flagged = [id for id in {*self.claims.escalations.ids, *self.claims.leases.ids} if id not in awaited]
            self.claims.drop(flagged, flagged)
        gone = [id for id in (self._rows if ids is None else ids) if id in self._rows and id not in awaited]
        new = [id for id, since in awaited.items() if id not in self._rows or self[id].since != since]
        again = [id for id in new if id in self._rows]  # a label was withdrawn in between
        if not (gone or new):
            return
        self._orders.clear()
        self.claims.drop([*gone, *again], gone)
        for id in (*gone, *again):
            row = self._rows.pop(id)
            self._table["since"][row], self._items[row] = 0, None
            self._free.append(row)
        sheets: dict[tuple[float, ...], Costs] = {}
        for start in range(0, len(new), PART):
            part = new[start : start + PART]
            rows = place.decisions(part)
            for id in part:
                self._add(waiting_of(rows[id], awaited[id], features, sheets))
            time.sleep(BREATH if start else 0.0)

    def _add(self, item: tuple[Waiting, float]) -> None:
        waiting, moment = item
        row = self._free.pop() if self._free else len(self._items)
        if row == len(self._items):
            self._items.append(None)
            if row == len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
        code = self._codes.setdefault(waiting.code, len(self._codes))
        stratum = self._strata.setdefault(waiting.stratum, len(self._strata))
        numbers = (waiting.since, waiting.worth, waiting.amount, waiting.chance, moment, code, stratum)
        self._table[row], self._items[row], self._rows[waiting.id] = numbers, waiting, row

    # ---- what is asked

    def order(self, name: str) -> Rows:
        """Return the rows of all items in an order (100,000 in 7 ms); of equal ones, who waits longer comes first."""
        found = self._orders.get(name)
        if found is None:
            rows = np.flatnonzero(self._table["since"])
            since = self._table["since"][rows]
            by = np.argsort(since) if name == "age" else np.lexsort((since, -self._table[name][rows]))
            found = self._orders[name] = rows[by]
        return found

    def view(self, order: str, asked: Filter) -> Rows:
        """Return the rows of all items that are asked for, in an order."""
        rows = self.order(order)
        wanted = np.ones(len(rows), dtype=np.bool_)
        if asked.code is not None:
            wanted &= self._table["code"][rows] == self._codes.get(asked.code, -1)
        if asked.stratum is not None:
            wanted &= self._table["stratum"][rows] == self._strata.get(asked.stratum, -1)
        if asked.since is not None:
            wanted &= self._table["moment"][rows] >= asked.since
        if asked.until is not None:
            wanted &= self._table["moment"][rows] < asked.until
        if asked.escalated is not None:
            wanted &= self._among(self.claims.escalations.ids)[rows] == asked.escalated
        if asked.skipped is not None:
            wanted &= self._among(self.claims.skips.of(asked.by))[rows] == asked.skipped
        if asked.queue is not None:
            wanted &= self._routed(rows) == asked.queue
        return rows if wanted.all() else rows[wanted]

    def named(self, name: str | None) -> int | None:
        """Return the place of a named queue, or the problem that there is none."""
        if name is None:
            return None
        names = [*(queue.name for queue in self.layout.queues), OTHERS]
        if name not in names:
            raise Problem("validation", FieldError("wrong-value", parameter="queue", expected="the name of a queue"))
        return names.index(name)

    def _routed(self, rows: Rows) -> NDArray[np.int64]:
        """Return the place of the queue that takes each item: the first that fits, or behind the last one."""
        found = np.full(len(rows), len(self.layout.queues), dtype=np.int64)
        table = self._table[rows]
        for place in reversed(range(len(self.layout.queues))):
            queue = self.layout.queues[place]
            fits = (table["amount"] >= queue.least) & (table["amount"] < queue.below)
            if queue.codes:
                fits &= np.isin(table["code"], [self._codes.get(code, -1) for code in queue.codes])
            if queue.strata:
                fits &= np.isin(table["stratum"], [self._strata.get(stratum, -1) for stratum in queue.strata])
            found[fits] = place
        return found

    def _among(self, ids: Iterable[str]) -> NDArray[np.bool_]:
        """Return for every row whether its item is among some."""
        found = np.zeros(len(self._table), dtype=np.bool_)
        found[[self._rows[id] for id in ids if id in self._rows]] = True
        return found

    def free(self, order: str, count: int, asked: Filter, now: float) -> list[Waiting]:
        """Return the first items that are asked for and that nobody holds."""
        rows = self.view(order, asked)
        rows = rows[~self._among(self.claims.leases.held(now))[rows]]
        return [self.at(row) for row in rows[: max(count, LOOKED_AT) if order == "worth" else count].tolist()]

    def queues(self) -> dict[str, int]:
        """Return how many items wait in each named queue, and in none of them; nothing where no queue is named."""
        names = [queue.name for queue in self.layout.queues]
        if not names:
            return {}
        counted = np.bincount(self._routed(self.order("age")), minlength=len(names) + 1).tolist()
        return dict(zip([*names, OTHERS], counted, strict=True))

    def counts(self) -> tuple[dict[str, int], list[str]]:
        """Return how many items wait for each reason, and the strata that there are."""
        rows = self.order("age")
        codes = np.bincount(self._table["code"][rows], minlength=len(self._codes)).tolist()
        strata = np.bincount(self._table["stratum"][rows], minlength=len(self._strata)).tolist()
        by_code = {name: codes[k] for name, k in self._codes.items() if name is not None and codes[k]}
        return by_code, sorted(name for name, k in self._strata.items() if name is not None and strata[k])


def waiting_of(
    row: Row, since: int, features: FeatureMap | None, sheets: dict[tuple[float, ...], Costs]
) -> tuple[Waiting, float]:
    """Return an item that waits since an event from the row of its decision, and its time as a number."""
    event = unpack_event(row.kind, row.body, None, sheets)
    assert isinstance(event, Decided)
    decision, moment = event.decision, instant(event.time)
    reason = reason_for(decision, features)
    code, why = (None, "") if reason is None else reason
    if not decision.act:
        code, why = ENACTED, CODES[ENACTED]
    worth, chance = (-math.inf if math.isnan(value) else value for value in (decision.worth, decision.chance))
    amount = decision.costs.catch_gain
    item = Waiting(event.id, since, worth, amount, chance, event.time, code, why, event.stratum)
    return item, math.nan if moment is None else moment


def since_when(stream: Stream, ids: Sequence[str] | None) -> dict[str, int]:
    """Return the decisions among some, or all, that wait for their labels, and since which event."""
    awaited = stream.awaited
    return {id: awaited[id][0] for id in (awaited if ids is None else ids) if id in awaited}


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
        decision, known = event.decision, row.item is not None and event.decision.round
        worth = stream.player.policy.look(decision.x, costs=decision.costs).worth if known else math.nan
        found.append(replace(item, worth=-math.inf if math.isnan(worth) else worth))
    return found


async def refreshed(call: Call[Any], queue: Queue) -> None:
    """Let a queue know what has changed; whoever calls holds its lock."""
    writer, last = call.writer, call.writer.seq
    if queue.seq == last:
        return
    ids = await asyncio.to_thread(queue.touched, writer.place, last)
    awaited = await writer.do(lambda stream: since_when(stream, ids))
    await asyncio.to_thread(queue.take, ids, awaited, writer.place, writer.features)
    queue.seq = last
