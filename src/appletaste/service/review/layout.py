"""How the review page looks for a stream: columns of rows and of customers, a link elsewhere, and named queues.

It is a small value in the store and no event: nothing that is decided or learnt depends on it.
"""

from __future__ import annotations

import asyncio
import math
import string
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Meta, Struct

from ...records.stores import Store
from ..door import check_plain
from ..operations import STREAM, Call, Reply, operation
from ..problems import invalid
from ..types import Body

SPACE = "layout"
#: The name of the queue of items that no named queue takes.
OTHERS = "others"
Name = Annotated[str, Meta(min_length=1, max_length=256)]
Title = Annotated[str, Meta(min_length=1, max_length=60)]


class NamedQueue(Body, frozen=True):
    """Work of one kind: items with one of some codes and one of some strata, within amounts; empty: any."""

    name: Title
    codes: Annotated[list[Name], Meta(max_length=20)] = msgspec.field(default_factory=list)
    strata: Annotated[list[Name], Meta(max_length=200)] = msgspec.field(default_factory=list)
    amount_from: float | None = None
    amount_below: float | None = None

    @property
    def least(self) -> float:
        """The least amount."""
        return -math.inf if self.amount_from is None else self.amount_from

    @property
    def below(self) -> float:
        """What amounts are below."""
        return math.inf if self.amount_below is None else self.amount_below


class Layout(Body, frozen=True):
    """How the page looks; an item is in the first of the queues that takes it."""

    rows: Annotated[list[Name], Meta(max_length=6)] = msgspec.field(
        default_factory=list
    )  #: columns of each row; empty: the two that say most
    customers: Annotated[list[Name], Meta(max_length=4)] = msgspec.field(
        default_factory=list
    )  #: columns by which other cases belong to a case
    link: Annotated[str, Meta(max_length=1000)] | None = None  #: ``https://...{id}...{column}...``
    link_title: Title = "Open in the back office"
    queues: Annotated[list[NamedQueue], Meta(max_length=20)] = msgspec.field(default_factory=list)


class LayoutRead(Struct, frozen=True):
    """How the page looks, and the columns that there are; what is not learnt is shown alone."""

    layout: Layout
    columns: list[str]
    learnt: list[str]


def layout_of(store: Store, stream: str) -> Layout:
    """Return how the page looks for a stream."""
    kept = store.get(SPACE, stream)
    return Layout() if kept is None else msgspec.json.decode(kept, type=Layout)


def fields_of(template: str) -> list[str]:
    """Return what a template of a link asks for, or raise ``ValueError`` where it is none.

    The scheme and the host stand in the template itself, so that no value of an item leads anywhere else.

    Examples
    --------
    >>> fields_of("https://shop.example/orders/{id}?mail={mail}")
    ['id', 'mail']
    >>> fields_of("javascript:alert({id})")
    Traceback (most recent call last):
    ValueError: a link begins with https:// or http:// and a host without braces
    """
    parts = list(string.Formatter().parse(template))
    if any(name is not None and (name == "" or spec or conversion) for _, name, spec, conversion in parts):
        raise ValueError("a place for a value is {id} or {column}")
    found = urlsplit(template)
    if found.scheme not in ("https", "http") or not found.netloc or set("{}\\@") & set(found.netloc):
        raise ValueError("a link begins with https:// or http:// and a host without braces")
    if any(letter <= " " for letter in template):
        raise ValueError("a link has no spaces")
    return [name for _, name, _, _ in parts if name is not None]


def link_for(template: str, values: dict[str, Any]) -> str | None:
    """Return the link of an item, every value percent-encoded; None: the item lacks a value.

    Examples
    --------
    >>> link_for("https://shop.example/orders/{id}", {"id": "../admin?x=1"})
    'https://shop.example/orders/..%2Fadmin%3Fx%3D1'
    """
    found = []
    for text, name, _, _ in string.Formatter().parse(template):
        found.append(text)
        if name is not None:
            value = values.get(name)
            if value is None or value in (".", ".."):
                return None
            written = f"{value:.15g}" if isinstance(value, float) else str(value)
            found.append(quote(written, safe=""))
    return "".join(found)


@operation("GET", STREAM + "/layout", scope="read")
async def show_layout(call: Call[None]) -> Reply[LayoutRead]:
    """Return how the review page looks for a stream, and which columns there are."""
    features = call.writer.features
    columns = [] if features is None else list(dict.fromkeys((*features.fields, *features.dropped)))
    learnt = [] if features is None else list(features.fields)
    return Reply.of(LayoutRead(call.host.queue(call.stream).layout, columns, learnt))


@operation("PUT", STREAM + "/layout", scope="lead")
async def set_layout(call: Call[Layout]) -> Reply[Layout]:
    """Say how the review page looks for a stream: columns, a link into a back office, and named queues."""
    layout, features, queue = call.body, call.writer.features, call.host.queue(call.stream)
    known = None if features is None else {*features.fields, *features.dropped}

    def check(pointer: str, names: list[str]) -> None:
        if known is not None and not known.issuperset(names):
            raise invalid("wrong-value", pointer, "columns of the stream")

    check("/rows", layout.rows)
    check("/customers", layout.customers)
    if layout.link is not None:
        try:
            check("/link", [name for name in fields_of(layout.link) if name != "id"])
        except ValueError as error:
            raise invalid("wrong-value", "/link", str(error)) from None
    names = [one.name for one in layout.queues]
    if OTHERS in names or len(set(names)) < len(names):
        raise invalid("wrong-value", "/queues", f"names that differ, and none of them {OTHERS!r}")
    for place, one in enumerate(layout.queues):
        if not one.least < one.below:
            raise invalid("wrong-value", f"/queues/{place}/amount_below", "more than amount_from")
        for text in (one.name, *one.codes, *one.strata):
            check_plain(text, f"/queues/{place}")
    async with queue.lock:
        await asyncio.to_thread(call.host.store.put, SPACE, call.stream, msgspec.json.encode(layout))
        queue.layout = layout
    return Reply.of(layout)
