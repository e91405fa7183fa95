"""Finding a case again: by its id, by what stands in a column, or among the labels that were given.

What can be found is text in memory, one line for each decision, in blocks: finding is looking for a text in a few long
texts, which takes a millisecond for each megabyte. Lines follow the record, and what is erased is gone from them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from ...errors import AppleTasteError
from ...features import FeatureMap
from ...records.codec import stamp_of, unpack_event, unpack_item
from ...records.events import Corrected, Decided, Enacted, Labelled, Recorded
from ...records.states import after, first_standing
from ...records.stores.store import PART, Place, Row
from ...streams.journal import stamp_text
from ..operations import STREAM, Call, Query, Reply, operation
from .queue import Waiting, refreshed, waiting_of
from .queue_window import Columns, Limit, Offset, QueueItem, Text, told_rows

#: Decisions in a block.
BLOCK = 4096
#: Matches that are looked at for one question, the latest first, and letters of a cell that can be found.
MOST, LETTERS = 2000, 1000
#: Seconds between two parts of the record in which the writer goes on.
BREATH = 0.001
#: What no text has in it: the end of a line, what begins a cell, what stands behind its column, what ends it.
LINE, CELL, VALUE = "\n", "\x1f", "\x1e"
#: Digits of the number of a column: letters that no text has.
_DIGITS = [chr(code) for code in range(1, 30) if chr(code) != LINE]
_PLAIN = dict.fromkeys(range(32), " ") | {127: " "}
_LABELS = (Labelled, Corrected, Recorded)
_LABEL_KINDS = {"labelled", "corrected", "recorded", "retracted"}
NOBODY = -1


def plain(text: str) -> str:
    """Return a text as it is looked for: in one case, on one line.

    Examples
    --------
    >>> plain("  Anna   BERG ")
    'anna berg'
    """
    return " ".join(text.translate(_PLAIN).casefold().split())


def number_of(place: int) -> str:
    """Return the number of a column in letters that no text has; all numbers are of the same length."""
    base = len(_DIGITS)
    return _DIGITS[place // base**2 % base] + _DIGITS[place // base % base] + _DIGITS[place % base]


class Found(NamedTuple):
    """Rows that fit, the best and the latest first; ``more``: there may be others that were not looked at."""

    rows: Sequence[int]
    more: bool


class Search:
    """What the decisions of one stream are found by."""

    def __init__(self, features: FeatureMap | None) -> None:
        self._lock, self._seen = threading.Lock(), 0
        self._ahead: asyncio.Future[None] | None = None
        learnt = () if features is None else (column for column in features.columns if column.numeric)
        self._numbers = {source for column in learnt for source in column.sources}
        self._ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._blocks: list[str] = []
        self._tail: list[str] = []  # lines of the block that is not full
        self._columns: dict[str, int] = {}
        self._label = np.zeros(BLOCK, dtype=np.int64)  # the number of the event that gave the label; 0: there is none
        self._by = np.full(BLOCK, NOBODY, dtype=np.int32)
        self._people: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._ids)

    def read_ahead(self, place: Place, last: int) -> None:
        """Begin to read what there is, once, so that the first search need not wait for it; in the event loop."""
        if self._ahead is None:
            self._ahead = asyncio.get_running_loop().run_in_executor(None, self._try, place, last)

    def _try(self, place: Place, last: int) -> None:
        with suppress(AppleTasteError):  # whoever searches hears of it
            self.refresh(place, last)

    def refresh(self, place: Place, last: int) -> None:
        """Take in what was written up to an event."""
        with self._lock:
            for count, row in enumerate(place.read(self._seen), 1):
                if row.seq > last:
                    break
                if row.id:
                    self._take(row)
                self._seen = row.seq
                if not count % PART:
                    time.sleep(BREATH)

    def _take(self, row: Row) -> None:
        if row.kind == "decided":
            self._add(row)
        elif row.kind in _LABEL_KINDS:
            place, event = self._rows[row.id], unpack_event(row.kind, row.body, None, {})
            by = event.by if isinstance(event, _LABELS) else ""
            self._label[place] = row.seq if isinstance(event, _LABELS) else 0
            self._by[place] = self._people.setdefault(by, len(self._people))
        elif row.kind == "erased":
            self._forget(self._rows[row.id])

    def _add(self, row: Row) -> None:
        place = len(self._ids)
        self._rows[row.id] = place
        self._ids.append(row.id)
        if place == len(self._label):
            self._label = np.concatenate([self._label, np.zeros_like(self._label)])
            self._by = np.concatenate([self._by, np.full_like(self._by, NOBODY)])
        record = None if row.item is None else unpack_item(row.item)[1]
        cells = (self._cell(name, value) for name, value in (record or {}).items())
        self._tail.append(LINE + plain(row.id) + CELL + "".join(cells))
        if len(self._tail) == BLOCK:
            self._blocks.append("".join(self._tail))
            self._tail.clear()

    def _cell(self, name: str, value: Any) -> str:
        """Return a cell of a line: texts, and numbers of columns that nothing is learnt from, such as a customer's."""
        if isinstance(value, str):
            written = value[:LETTERS]
        elif isinstance(value, int | float) and not isinstance(value, bool) and name not in self._numbers:
            written = f"{value:.15g}"
        else:
            return ""
        return number_of(self._columns.setdefault(name, len(self._columns))) + VALUE + plain(written) + CELL

    def _forget(self, place: int) -> None:
        """Leave nothing of a decision but its id."""
        line = LINE + plain(self._ids[place]) + CELL
        block, within = divmod(place, BLOCK)
        if block == len(self._blocks):
            self._tail[within] = line
        else:
            lines = self._blocks[block].split(LINE)
            lines[1 + within] = line[1:]
            self._blocks[block] = LINE.join(lines)

    # ---- what is asked

    def find(self, text: str, column: str | None, among: NDArray[np.bool_] | None) -> Found:
        """Return the rows with an id that begins with a text, or with the text in a cell; in one column: as its cell.

        What fits whole comes before what begins so, and that before what is somewhere in a cell.
        """
        with self._lock:
            wanted = plain(text)
            if not wanted or (column is not None and column not in self._columns):
                return Found([], False)
            if column is not None:
                number = number_of(self._columns[column])
                found, more = self._matches(CELL + number + VALUE + wanted + CELL, among)
                return Found([row for row, _ in found], more)
            found, more = self._matches(wanted, among)
            ranks: dict[int, int] = {}
            for row, rank in found:
                ranks[row] = min(rank, ranks.get(row, rank))
            whole = self._rows.get(text.strip())
            if whole is not None and (among is None or among[whole]):
                ranks[whole] = 0
            return Found(sorted(ranks, key=lambda row: (ranks[row], -row)), more)

    def _matches(self, wanted: str, among: NDArray[np.bool_] | None) -> tuple[list[tuple[int, int]], bool]:
        """Return rows with how well each fits (0: best), the latest first."""
        found: list[tuple[int, int]] = []
        blocks = [*self._blocks, "".join(self._tail)]
        for number in reversed(range(len(blocks))):
            matches = _in_block(blocks[number], wanted, number * BLOCK)
            found += [one for one in matches if among is None or among[one[0]]]
            if len(found) >= MOST:
                return found[:MOST], True
        return found, False

    def labelled(self, by: str | None) -> list[int]:
        """Return the rows that have a label, or those with a label by somebody, the latest label first."""
        with self._lock:
            label = self._label[: len(self._ids)]
            wanted = label > 0
            if by is not None:
                wanted &= self._by[: len(self._ids)] == self._people.get(by, -2)
            rows = np.flatnonzero(wanted)
            found: list[int] = rows[np.argsort(-label[rows])].tolist()
            return found

    def ids(self, rows: Iterable[int]) -> list[str]:
        """Return the ids of rows."""
        return [self._ids[row] for row in rows]


def _in_block(block: str, wanted: str, first: int) -> list[tuple[int, int]]:
    """Return the rows of a block with how well each match fits, the last first."""
    return list(_lines(block, wanted, first))[::-1]


def _lines(block: str, wanted: str, first: int) -> Iterator[tuple[int, int]]:
    row, counted = first - 1, 0
    at = block.find(wanted)
    while at >= 0:
        row += block.count(LINE, counted, at)
        counted = at
        before, behind = block[at - 1], block[at + len(wanted) : at + len(wanted) + 1]
        whole = behind == CELL
        yield row, (0 if whole else 1) if before == LINE else 2 if before == VALUE and whole else 3
        at = block.find(wanted, at + 1)


class FoundCase(QueueItem, frozen=True, kw_only=True):
    """A case that was found, and how it stands; ``worth`` and ``chance`` are those of the decision."""

    act: bool
    state: str
    label: int | None
    labelled_by: str | None
    labelled_at: str | None  #: when the label was written down


class CasesFound(Struct, frozen=True):
    """A window of the cases that were found."""

    items: list[FoundCase]
    total: int  #: of those that were looked at
    more: bool  #: more fit than were looked at: say more of the case


Which = Literal["all", "labelled", "mine"]


def stands(decided: Row, later: list[Row]) -> dict[str, Any]:
    """Return how a decision stands, from what happened to it."""
    event = unpack_event(decided.kind, decided.body, None, {})
    assert isinstance(event, Decided)
    act = event.decision.act
    now, label, by, when = first_standing(act), None, "", None
    for row in later:
        event = unpack_event(row.kind, row.body, None, {})
        now = after(event, now, act)
        if isinstance(event, Enacted):
            act = event.act
        if isinstance(event, _LABELS):
            label, by, when = event.label, event.by, stamp_text(stamp_of(row.kind, row.body).at)
        elif row.kind in ("retracted", "expired"):
            label, by, when = None, "", None
    return {"act": act, "state": now.state, "label": label, "labelled_by": by or None, "labelled_at": when}


@operation(
    "GET",
    STREAM + "/cases",
    scope="read",
    query={
        "text": Query(Text, "", "What the id begins with, or what stands in a column; empty: everything."),
        "column": Query(Text | None, None, "The column that the text is the whole cell of."),
        "of": Query(
            Which, "all", "Among which cases: all, those labelled, or those labelled by the holder of the key."
        ),
        "columns": Query(Columns, None, "Columns to show, as a JSON list; left out: the two that say most."),
        "offset": Query(Offset, 0, "How many cases to pass over."),
        "limit": Query(Limit, 50, "The most cases to return."),
    },
)
async def find_cases(call: Call[None]) -> Reply[CasesFound]:
    """Find cases by id, by what stands in a column, or by their labels: the best first, then the latest."""
    search, queue, query, writer = call.host.search(call.stream), call.host.queue(call.stream), call.query, call.writer
    last = writer.seq

    def look() -> tuple[Found, list[str]]:
        search.refresh(writer.place, last)
        listed = None if query["of"] == "all" else search.labelled(call.key.name if query["of"] == "mine" else None)
        if query["text"].strip():
            among = None
            if listed is not None:
                among = np.zeros(len(search), dtype=np.bool_)
                among[listed] = True
            found = search.find(query["text"], query["column"], among)
        else:
            found = Found(range(len(search))[::-1] if listed is None else listed, False)
        return found, search.ids(found.rows[query["offset"] : query["offset"] + query["limit"]])

    found, ids = await asyncio.to_thread(look)

    def read() -> tuple[list[Waiting], list[dict[str, Any]]]:
        rows = writer.place.decisions(ids)
        items = [waiting_of(rows[id], rows[id].seq, writer.features, {})[0] for id in ids]
        return items, [stands(rows[id], writer.place.later(id)) for id in ids]

    items, more = await asyncio.to_thread(read)
    async with queue.lock:
        await refreshed(call, queue)
        told = await told_rows(call, queue, items)
    cases = [{**msgspec.to_builtins(item), **one} for item, one in zip(told, more, strict=True)]
    return Reply.of_dict({"items": cases, "total": len(found.rows), "more": found.more})
