"""A case for a reviewer: what was decided, what is believed now and why, what is usual and alike, what happened."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from ..._files import for_json
from ...decision import Decision
from ...errors import OptionError
from ...evaluate.explain import Explanation, explain
from ...features import FeatureMap
from ...records.codec import stamp_of, unpack_event
from ...records.events import Corrected, Decided, Enacted, Event, Expired, Labelled, Noted, Recorded, Retracted
from ...records.stores.store import Row
from ...streams import Stream
from ...streams.answers import Case
from ...streams.journal import stamp_text
from ..api.decisions import CaseRead
from ..operations import STREAM, Call, Reply, operation
from ..types import Cell, CostSheet
from ..writer import Writer
from .layout import link_for
from .past import Past, Similar, UsualLevels, UsualNumber, columns_of
from .queue import TURN, Queue

#: Standard deviations on either side that hold 90 % of a normal distribution.
NINETY = 1.6448536269514722
_WORDS = {
    "expired": "the label is no longer waited for",
    "retracted": "the label was withdrawn",
    "erased": "the features were erased",
    "looked_again": "somebody looked a second time",
}


class ContributionRead(Struct, frozen=True):
    """What one column adds to the score against the average item, with 90 % of what is believed of it."""

    column: str
    words: str  #: such as "job = retired"
    value: Cell
    contribution: float
    low: float
    high: float


class Happened(Struct, frozen=True):
    """Something that happened to a decision."""

    seq: int
    time: str
    kind: str
    by: str
    text: str


class WholeCase(CaseRead, frozen=True, kw_only=True):
    """A case with all that is known of it; what is believed is believed now."""

    chance_now: float | None
    interval: tuple[float, float] | None  #: 90 % of what is believed of the chance
    costs: CostSheet
    amount: float
    item: dict[str, Cell] | None  #: null: erased
    contributions: list[ContributionRead]  #: the largest first
    usual: dict[str, UsualNumber | UsualLevels]
    similar: list[Similar]
    history: list[Happened]
    by: str | None  #: who holds the item
    until: str | None
    escalated: bool
    escalated_to: str | None  #: for whom; null: anybody, or nobody
    link: str | None  #: the item elsewhere, by the template of the layout; null: there is none, or a value lacks
    suggested: bool | UnsetType = UNSET


class Believed(NamedTuple):
    """What only the stream itself can say of a case."""

    case: Case
    why: Explanation | None  #: None: the features were erased, or the policy has no model


def believed(stream: Stream, ids: Sequence[str]) -> list[Believed]:
    """Return what is believed now of the first case, and of others as long as there is time."""
    found: list[Believed] = []
    ends = time.perf_counter() + TURN
    for id in ids:
        if found and time.perf_counter() > ends:
            break
        case, why = stream.find(id), None
        if not case.erased:
            try:
                why = explain(stream, id)
            except OptionError:
                why = None
        found.append(Believed(case, why))
    return found


async def whole_cases(call: Call[Any], ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return cases with all that is known of them; decisions go on in between."""
    writer, found = call.writer, list[Believed]()
    while len(found) < len(ids):
        rest = tuple(ids[len(found) :])
        found += await writer.do(partial(believed, ids=rest), rest[:1])
    past, queue = call.host.past(call.stream), call.host.queue(call.stream)  # in the event loop: one for all threads
    return await asyncio.to_thread(_told, writer, past, queue, found) if found else []


def _told(writer: Writer, past: Past, queue: Queue, found: list[Believed]) -> list[dict[str, Any]]:
    past.refresh(writer.place, writer.seq)
    held, escalated, link = queue.claims.held(), queue.claims.escalations.ids, queue.layout.link
    rows = writer.place.decisions([one.case.answer.id for one in found])
    told = []
    for case, why in found:
        id, decision = case.answer.id, case.answer.decision
        row, lease = rows[id], held.get(id)
        item = None if row.item is None else columns_of(row.item)
        more = {
            "costs": decision.costs.outcomes(),
            "amount": decision.costs.catch_gain,
            "item": item,
            "usual": {} if item is None else past.usual(item),
            "similar": [] if item is None else past.similar(id, decision.x),
            "history": history([row, *writer.place.later(id)]),
            **explained(why, decision, item or {}, writer.features),
            "by": None if lease is None else lease.by,
            "until": None if lease is None else lease.ends,
            "escalated": id in escalated,
            "escalated_to": escalated.get(id) or None,
            "link": None if link is None else link_for(link, {**(item or {}), "id": id}),
        }
        told.append({**case.as_dict(), **for_json(msgspec.to_builtins(more))})
    return told


def explained(
    why: Explanation | None, decision: Decision, item: dict[str, Any], features: FeatureMap | None
) -> dict[str, Any]:
    """Return what is believed of an item, with 90 % of what is believed around it.

    The chance is P = 1 / (1 + exp(-z)) of a score z with a posterior mean and standard deviation; the interval of P is
    that of z, mapped.
    """
    if why is None:
        return {"chance_now": None, "interval": None, "contributions": []}
    half = NINETY * why.score_sd
    said: dict[str, tuple[str, Any]] = {}
    if features is not None and item.keys() & features.fields:  # a vector has no cells
        cells = features.cells(item)
        for column in features.columns:
            part = decision.x[column.start : column.start + len(column.names)]
            said[column.name] = column.words(part, cells[column.name], True), item.get(column.sources[0])
    parts = []
    for found in why.contributions:
        words, value = said.get(found.column, (found.words, item.get(found.column)))
        low, high = found.value - NINETY * found.sd, found.value + NINETY * found.sd
        parts.append(ContributionRead(found.column, words, value, found.value, low, high))
    interval = (chance_at(why.score - half), chance_at(why.score + half))
    return {"chance_now": why.chance, "interval": interval, "contributions": parts}


def chance_at(score: float) -> float:
    """Return the chance of a score.

    Examples
    --------
    >>> chance_at(0.0), chance_at(-1000.0), chance_at(1000.0)
    (0.5, 0.0, 1.0)
    """
    return 1.0 / (1.0 + math.exp(-score)) if score > -700 else 0.0


def history(rows: Sequence[Row]) -> list[Happened]:
    """Return what happened to a decision, in words."""
    found: list[Happened] = []
    for row in rows:
        by, text = words_of(row.kind, unpack_event(row.kind, row.body, None, {}))
        found.append(Happened(row.seq, stamp_text(stamp_of(row.kind, row.body).at), row.kind, by, text))
    return found


def words_of(kind: str, event: Event) -> tuple[str, str]:
    """Return who did something to a decision, where that is known, and what."""
    if isinstance(event, Decided):
        return "", f"{'acted' if event.decision.act else 'passed'}, probability {event.decision.probability:.3g}"
    if isinstance(event, Noted):
        return event.by, event.text
    if isinstance(event, Enacted):
        return event.by, "acted" if event.act else "passed"
    if isinstance(event, Labelled | Recorded):
        return event.by, f"label {event.label}"
    if isinstance(event, Corrected):
        return event.by, f"label corrected to {event.label}"
    return event.by if isinstance(event, Expired | Retracted) else "", _WORDS[kind]


@operation("GET", STREAM + "/cases/{id}", scope="read", problems=("unknown-decision",))
async def show_case(call: Call[None]) -> Reply[WholeCase]:
    """Return a case with all that is known of it: contributions, what is usual, what is alike, what happened."""
    return Reply.of_dict((await whole_cases(call, [call.params["id"]]))[0])
