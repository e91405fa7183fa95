"""The service as an ASGI application: the routes of all operations around what a process hosts."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any, cast

import msgspec
from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from ..records.stores import Store
from . import metrics
from .api import access, decisions, labels, log, repeats, streams
from .endpoint import Endpoint, respond
from .hooks import Hook
from .hosting import IDLE, Host
from .openapi import document
from .operations import Call, Operation, Reply, operation, operations_of
from .problems import MEDIA, Problem
from .proxy import Proxy
from .review import (
    assets,
    cases,
    claims,
    curves,
    days,
    downloads,
    first_use,
    health,
    layout,
    queue_window,
    saved_views,
    search,
    what_if,
)
from .types import Estimates

#: Requests under way at most, live views among them; beyond, 503 at once. What asks whether the process is well is
#: answered always: a process that is busy is not to be killed for it.
REQUESTS = 2000
ALWAYS = frozenset(("/healthz", "/readyz"))
#: The description is the same for everybody, and needs no key.
OPENAPI = "/openapi.json"


@operation("GET", OPENAPI, scope=None)
async def openapi(call: Call[None]) -> Reply[Estimates]:
    """Return this description."""
    return Reply(200, description())


def operations() -> tuple[Operation, ...]:
    """Return every operation; those that are called most often come first."""
    return operations_of(
        decisions,
        labels,
        repeats,
        queue_window,
        claims,
        cases,
        search,
        layout,
        saved_views,
        log,
        curves,
        days,
        what_if,
        health,
        downloads,
        first_use,
        streams,
        access,
        assets,
        metrics,
        sys.modules[__name__],
    )


@cache
def description() -> bytes:
    """Return the description of all operations."""
    return msgspec.json.encode(document(operations()))


class Application:
    """Routes by the address as it was sent, so that an id may hold a slash: %2F is no part of the way.

    The addresses are Starlette's. Its router makes a new scope for every request, and asks each route for things that
    no route here has, which took a quarter of the time at the door.
    """

    def __init__(self, router: Router, host: Host) -> None:
        self.router, self.host = router, host
        self._routes = cast(list[Route], router.routes)
        self._under_way = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the endpoint of an address answer."""
        if scope["type"] != "http":
            await self.router(scope, receive, send)
            return
        if self._under_way >= REQUESTS and scope["path"] not in ALWAYS:
            self.host.metrics.overloads += 1
            problem = Problem("overloaded")
            await respond(Reply(problem.status, problem.body(), MEDIA, problem.headers()), receive, send)
            return
        self._under_way += 1
        try:
            await self._route(scope, receive, send)
        finally:
            self._under_way -= 1

    async def _route(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw = scope.get("raw_path") or scope["path"].encode()
        path = scope["path"] = raw.partition(b"?")[0].decode("latin-1")
        for route in self._routes:
            found = route.path_regex.match(path)
            if found is not None:
                scope["path_params"] = found.groupdict()
                await route.endpoint(scope, receive, send)
                return
        problem = Problem("unknown-route")
        await respond(Reply(problem.status, problem.body(), MEDIA), receive, send)


def build(
    store: Store,
    failed: Callable[[str], None] | None = None,
    address: str = "",
    proxy: Proxy | None = None,
    hooks: tuple[Hook, ...] = (),
    idle: float = IDLE,
) -> Application:
    """Return the service over a store; ``failed`` is told when a commit failed and the process must end.

    ``address`` is where others reach this process, if several share the store; ``proxy`` is who says who people are;
    ``hooks`` are told what happens; ``idle`` is after how many seconds a stream that nobody asks for is closed, where
    many are open.
    """
    host = Host(store, failed, address, proxy, hooks, idle)
    by_path: dict[str, dict[str, Operation]] = {}
    for one in operations():
        by_path.setdefault(one.path, {})[one.method] = one
    routes = [Route(path, Endpoint(host, methods)) for path, methods in by_path.items()]

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        await host.start()
        try:
            yield
        finally:
            await host.stop()

    return Application(Router(routes, lifespan=lifespan), host)
