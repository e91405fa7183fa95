"""Views that somebody has saved: an order, filters and columns of the queue under a name, for the holder of a key."""

from __future__ import annotations

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from ...records.stores import Store
from ..door import check_plain
from ..operations import STREAM, Call, Reply, operation
from ..problems import Problem, invalid
from ..types import Body
from .layout import Name, Title
from .queue import Order
from .queue_window import MOST_COLUMNS

#: Views of one person in one stream.
MOST_VIEWS = 50


class Asked(Body, frozen=True):
    """What of the queue is shown, in the words of ``GET .../queue``, and which columns."""

    of: Annotated[str, Meta(pattern="^(waiting|escalated|skipped|mine|labelled)$(?!\\n)")] = "waiting"
    order: Order = "worth"
    queue: Title | None = None
    code: Name | None = None
    stratum: Name | None = None
    since: Name | None = None
    until: Name | None = None
    columns: Annotated[list[Name], Meta(max_length=MOST_COLUMNS)] = msgspec.field(default_factory=list)


class SavedViews(Struct, frozen=True):
    """The views that the holder of the key has saved, by name."""

    views: dict[str, Asked]


def space_of(stream: str) -> str:
    """Return where the store keeps the views of a stream; there is one value for each person."""
    return f"views {stream}"


def views_of(store: Store, stream: str, by: str) -> dict[str, Asked]:
    """Return the views that somebody has saved."""
    kept = store.get(space_of(stream), by)
    return {} if kept is None else msgspec.json.decode(kept, type=dict[str, Asked])


@operation("GET", STREAM + "/views", scope="read")
async def list_views(call: Call[None]) -> Reply[SavedViews]:
    """List the views that the holder of the key has saved."""
    return Reply.of(SavedViews(await asyncio.to_thread(views_of, call.host.store, call.stream, call.key.name)))


@operation("PUT", STREAM + "/views/{view}", scope="read")
async def save_view(call: Call[Asked]) -> Reply[SavedViews]:
    """Save a view under a name, in the place of one of this name."""
    name = call.params["view"]
    if not 0 < len(name) <= 60 or not name.isprintable():
        raise invalid("wrong-value", "/name", "a name of 1 to 60 letters")
    for text in (call.body.queue, call.body.code, call.body.stratum):
        check_plain(text, "")

    def keep() -> dict[str, Asked]:
        found = views_of(call.host.store, call.stream, call.key.name) | {name: call.body}
        if len(found) > MOST_VIEWS:
            raise Problem("cannot-happen", detail=f"there are {MOST_VIEWS} views already: forget one first")
        call.host.store.put(space_of(call.stream), call.key.name, msgspec.json.encode(found))
        return found

    async with call.host.queue(call.stream).lock:
        return Reply.of(SavedViews(await asyncio.to_thread(keep)))


@operation("DELETE", STREAM + "/views/{view}", scope="read")
async def forget_view(call: Call[None]) -> Reply[SavedViews]:
    """Forget a view, if there is one of this name."""

    def drop() -> dict[str, Asked]:
        found = views_of(call.host.store, call.stream, call.key.name)
        if found.pop(call.params["view"], None) is not None:
            call.host.store.put(space_of(call.stream), call.key.name, msgspec.json.encode(found))
        return found

    async with call.host.queue(call.stream).lock:
        return Reply.of(SavedViews(await asyncio.to_thread(drop)))
