"""The door of every address: who asks, may they, what do they say; then the operation, and what it answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from starlette.types import Message, Receive, Scope, Send

from .hosting import Host
from .keys import PREFIX, Key, secret_in
from .operations import EVENTS, JSON, Call, Operation, Reply, decode, read_query
from .owners import PASSED
from .problems import MEDIA, Problem
from .proxy import token_for
from .sessions import LASTS, check_token
from .trail import REFUSED_KEY, SIGNED_IN

log = logging.getLogger("appletaste.service")
#: Headers that go along with a request that is passed on.
PASSED_ON = (b"authorization", b"content-type", b"cookie", b"x-csrf-token", b"last-event-id")
_NOBODY = Key("", "", (), (), 0.0)


class Endpoint:
    """All operations of one address, by method."""

    def __init__(self, host: Host, operations: Mapping[str, Operation]) -> None:
        self._host, self.operations = host, operations
        self._allow = ", ".join(sorted({*operations, *(["HEAD"] if "GET" in operations else [])}))
        self._public = all(operation.scope is None for operation in operations.values())
        self._decoders = {
            method: msgspec.json.Decoder(operation.body)
            for method, operation in operations.items()
            if operation.body is not None and operation.takes == JSON
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        head = scope["method"] == "HEAD"  # answered as GET is, without a body
        operation = self.operations.get("GET" if head else scope["method"])
        name = "" if operation is None else operation.name
        began = time.perf_counter()
        try:
            reply = await self._answer(operation, scope, receive)
        except Problem as problem:
            reply = Reply(problem.status, problem.body(), MEDIA, problem.headers())
        except Exception as error:  # the words of an error may hold what the request said
            log.error("internal error", extra={"operation": name, "error": type(error).__name__})
            self._host.metrics.errors += 1
            unforeseen = Problem("internal")
            reply = Reply(unforeseen.status, unforeseen.body(), MEDIA)
        scope_needed = (operation.scope if operation is not None else None) or "none"
        took = None if reply.media == EVENTS else time.perf_counter() - began
        self._host.metrics.answered(name, scope_needed, reply.status, took)
        await respond(reply, receive, send, head)

    async def _answer(self, operation: Operation | None, scope: Scope, receive: Receive) -> Reply[Any]:
        headers = dict(scope["headers"])
        if operation is None:
            if not self._public and b"authorization" in headers:
                self._key(scope, headers)
            elif not self._public:
                await self._person(scope, headers, "GET")
            raise Problem("method-not-allowed", allow=self._allow)
        if operation.scope is None:
            key = (self._host.proxy and self._host.proxy.person(scope)) or _NOBODY
        elif b"authorization" in headers:
            key = self._key(scope, headers)
        else:
            key = await self._person(scope, headers, operation.method)
        params = {name: plain_text(value) for name, value in scope["path_params"].items()}
        if operation.of_stream and operation.scope is not None and not key.sees(params["stream"]):
            raise Problem("unknown-stream")
        if operation.scope:
            check_scope(key, operation)
        if operation.of_stream and not self._host.has(params["stream"]):
            owner = await self._host.reach(params["stream"], PASSED.encode() in headers)
            if owner:
                return await self._pass_on(owner, operation, scope, headers, receive)
        query: dict[str, Any] = {}
        if operation.query or scope["query_string"]:
            query = read_query(operation, parsed_query(scope["query_string"]))
        body: Any = None
        if operation.body is not None:
            if headers.get(b"content-type", b"").split(b";")[0].strip().lower() != operation.takes.encode():
                raise Problem("unsupported-media-type")
            body = await read_body(headers, receive, operation.limit)
            if operation.takes == JSON:
                body = decode(body, self._decoders[operation.method])
        return await operation.handler(Call(self._host, key, params, query, body, headers, address_of(scope)))

    async def _pass_on(
        self, owner: str, operation: Operation, scope: Scope, headers: dict[bytes, bytes], receive: Receive
    ) -> Reply[Any]:
        """Let the owner of a stream answer; a live view is asked for there."""
        if PASSED.encode() in headers or self._host.owners is None:
            raise Problem("not-ready")  # the owner has changed: whoever asked tries again
        path = scope["path"] + ("?" + scope["query_string"].decode("latin-1") if scope["query_string"] else "")
        named = () if self._host.proxy is None else self._host.proxy.headers
        kept = {name.decode(): headers[name].decode("latin-1") for name in (*PASSED_ON, *named) if name in headers}
        if operation.media == EVENTS and b"authorization" in headers:
            return Reply(307, headers={"Location": owner + path})
        if operation.media == EVENTS:  # a page may not ask elsewhere, and its cookie would not go along
            return await self._host.owners.watch(owner, path, kept)
        body = None if operation.body is None else await read_body(headers, receive, operation.limit)
        quick = operation.scope in ("decide", "label")
        return await self._host.owners.pass_on(owner, operation.method, path, kept, body, quick)

    async def _person(self, scope: Scope, headers: Mapping[bytes, bytes], method: str) -> Key:
        """Return what a person may: whom a proxy names, or whoever has signed in."""
        host = self._host
        person = None if host.proxy is None else host.proxy.person(scope)
        if person is None:
            return await host.sessions.key_of(headers, method)
        if host.keys.trail.is_news(person.name, LASTS):
            note = partial(host.keys.trail.note, SIGNED_IN, person.name, by="the proxy", address=address_of(scope))
            await asyncio.to_thread(note)
        if method != "GET":
            check_token(headers, await asyncio.to_thread(token_for, host.store, person.name))
        return person

    def _key(self, scope: Scope, headers: Mapping[bytes, bytes]) -> Key:
        """Return the key of a request, or the problem that it has none."""
        secret = secret_in(headers.get(b"authorization", b""))
        key = self._host.keys.find(secret) if secret.startswith(PREFIX) else None
        if key is not None:
            return key
        self._host.keys.trail.refuse(REFUSED_KEY, address_of(scope))
        raise Problem("unauthenticated")


def address_of(scope: Scope) -> str:
    """Return where a request came from; empty: nobody knows."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def check_scope(key: Key, operation: Operation) -> None:
    """Refuse a key that does not allow an operation."""
    if operation.scope not in key.scopes:
        raise Problem("insufficient-scope", scope=operation.scope)


def plain_text(raw: str) -> str:
    """Return a part of an address as text, or the problem that it is none."""
    if "%" not in raw and raw.isascii():
        return raw
    try:
        found = unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise Problem("bad-encoding") from None
    if "\0" in found:
        raise Problem("bad-encoding")
    return found


def parsed_query(raw: bytes) -> list[tuple[str, str]]:
    """Return the pairs of a query, or the problem that they are none."""
    try:
        return parse_qsl(raw.decode("ascii"), keep_blank_values=True, strict_parsing=bool(raw), errors="strict")
    except (UnicodeError, ValueError):
        raise Problem("bad-encoding") from None


async def read_body(headers: Mapping[bytes, bytes], receive: Receive, limit: int) -> bytes:
    """Return the whole body, if it is not too large."""
    said = headers.get(b"content-length", b"")
    if said.isdigit() and int(said) > limit:
        raise Problem("body-too-large")
    message = await receive()
    found: bytes = message.get("body", b"")
    if not message.get("more_body"):
        if len(found) > limit:
            raise Problem("body-too-large")
        return found
    parts, size = [found], len(found)
    while message.get("more_body"):
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise Problem("body-too-large")
    if message["type"] != "http.request":  # whoever asked has hung up
        raise Problem("malformed-json")
    return b"".join(parts)


async def disconnected(receive: Receive) -> None:
    """Wait until whoever asked has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def respond(reply: Reply[Any], receive: Receive, send: Send, head: bool = False) -> None:
    """Send an answer; one in parts ends early when whoever asked has gone, or wants no body (``head``)."""
    headers = [(b"content-type", reply.media.encode()), (b"x-content-type-options", b"nosniff")]
    if reply.headers is None or "Cache-Control" not in reply.headers:
        headers.append((b"cache-control", b"no-store"))
    if reply.headers:
        headers += [(name.lower().encode(), value.encode()) for name, value in reply.headers.items()]
    if reply.parts is None and reply.status not in (204, 304):
        headers.append((b"content-length", str(len(reply.body)).encode()))
    start: Message = {"type": "http.response.start", "status": reply.status, "headers": headers}
    await send(start)
    if reply.parts is not None:
        gone = asyncio.ensure_future(disconnected(receive))
        try:
            async with aclosing(reply.parts) as parts:
                async for part in parts:
                    if head or gone.done():
                        break
                    await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            gone.cancel()
    await send({"type": "http.response.body", "body": reply.body})
