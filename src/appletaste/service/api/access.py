"""Who may ask: keys made, listed and revoked; signing in to the page, where a cookie stands for a key, and out."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from ..door import moment_of
from ..keys import ANY, Key, Role, ScopeName, role_of, scopes_of
from ..operations import Call, Query, Reply, operation
from ..problems import Problem, invalid
from ..proxy import token_for
from ..sessions import set_cookie, token_of
from ..trail import MOST as KEPT
from ..trail import REFUSED_SIGN_IN, SIGNED_IN, SIGNED_OUT, Entry
from ..types import MOST, Body, Who

ADDRESS = "/v1/session"


class KeyRead(Struct, frozen=True):
    """A key, without its secret."""

    id: str
    name: str
    scopes: list[str]
    streams: list[str]
    role: str | None  #: the name of just these scopes; null: there is none
    created: str
    expires: str | None
    revoked: str | None
    used: str | None  #: when the key was used last, to some minutes; null: never, or not told here


def _date(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def key_read(key: Key, used: float | None = None) -> KeyRead:
    """Return what may be said of a key."""
    made, ends, revoked, last = (_date(when) for when in (key.created, key.expires, key.revoked, used))
    assert made is not None
    role = role_of(key.scopes)
    return KeyRead(key.id, key.name, list(key.scopes), list(key.streams), role, made, ends, revoked, last)


def check_whole(call: Call[Any]) -> None:
    """Refuse a key that is not for every stream: keys and files are not of one stream."""
    if ANY not in call.key.streams:
        raise Problem("insufficient-scope", scope="admin", detail="a key for every stream is needed")


class NewKey(Body, frozen=True):
    """A key to make, with scopes or with those of a role; ``expires`` is a date."""

    name: Who
    scopes: Annotated[list[ScopeName], Meta(min_length=1)] | None = None
    role: Role | None = None
    streams: Annotated[list[str], Meta(min_length=1, max_length=MOST)] = msgspec.field(default_factory=lambda: [ANY])
    expires: str | None = None


class KeyMade(Struct, frozen=True):
    """A key and its secret, which is told this once."""

    secret: str
    key: KeyRead


@operation("POST", "/v1/keys", scope="admin", status=201)
async def create_key(call: Call[NewKey]) -> Reply[KeyMade]:
    """Make a key; its secret is told this once."""
    check_whole(call)
    asked, expires = call.body, None
    if (asked.scopes is None) == (asked.role is None):
        raise invalid("one-of", "/scopes", "either scopes or a role")
    scopes = asked.scopes if asked.role is None else scopes_of(asked.role)
    assert scopes is not None
    if asked.expires is not None:
        expires = moment_of(asked.expires)
        if expires is None or expires <= datetime.now(UTC).timestamp():
            raise invalid("wrong-value", "/expires", "a date in the future, in ISO 8601")
    if not asked.name.isprintable():
        raise invalid("wrong-value", "/name", "letters that can be printed")
    if not all(0 < len(name) <= 100 for name in asked.streams):
        raise invalid("wrong-value", "/streams", "names of streams, or *")
    made = await asyncio.to_thread(call.host.keys.create, asked.name, scopes, asked.streams, expires, call.key.name)
    return Reply.of(KeyMade(made[0], key_read(made[1])), 201)


class KeyList(Struct, frozen=True):
    """All keys."""

    keys: list[KeyRead]


@operation("GET", "/v1/keys", scope="admin")
async def list_keys(call: Call[None]) -> Reply[KeyList]:
    """List all keys, without their secrets."""
    check_whole(call)
    used = await asyncio.to_thread(call.host.keys.used)
    return Reply.of(KeyList([key_read(key, used.get(key.id)) for key in call.host.keys.all()]))


@operation("DELETE", "/v1/keys/{id}", scope="admin", problems=("unknown-key",))
async def revoke_key(call: Call[None]) -> Reply[KeyRead]:
    """Revoke a key: it opens nothing any more."""
    check_whole(call)
    if not await asyncio.to_thread(call.host.keys.revoke, call.params["id"], call.key.name):
        raise Problem("unknown-key")
    call.host.wake()  # live views by it end
    found = next(key for key in call.host.keys.all() if key.id == call.params["id"])
    return Reply.of(key_read(found))


class TrailRead(Struct, frozen=True):
    """What happened at the door, the latest first."""

    entries: list[Entry]


@operation(
    "GET",
    "/v1/trail",
    scope="admin",
    query={"limit": Query(Annotated[int, Meta(ge=1, le=KEPT)], 1000, "The most entries to return.")},
)
async def trail(call: Call[None]) -> Reply[TrailRead]:
    """List who signed in, was refused, and made or revoked keys, the latest first."""
    check_whole(call)
    kept = call.host.keys.trail
    await asyncio.to_thread(kept.keep_refused)
    return Reply.of(TrailRead(await asyncio.to_thread(kept.latest, call.query["limit"])))


class SignIn(Body, frozen=True):
    """A key to sign in with."""

    key: Annotated[str, Meta(min_length=1, max_length=200)]


class SessionRead(Struct, frozen=True):
    """Who has signed in, null: nobody; ``csrf`` goes along with every change by cookie as ``X-CSRF-Token``."""

    key: KeyRead | None
    streams: list[str]
    csrf: str | None
    by_proxy: bool = False  #: the proxy before the service says who it is: there is nothing to sign out of here


def session_read(call: Call[Any], key: Key, csrf: str, by_proxy: bool = False) -> SessionRead:
    """Return who has signed in, and what the page needs to know."""
    streams = [name for name in call.host.names() if key.sees(name)]
    return SessionRead(key_read(key), streams, csrf, by_proxy)


@operation("POST", ADDRESS, scope=None, problems=("unauthenticated",))
async def sign_in(call: Call[SignIn]) -> Reply[SessionRead]:
    """Sign in with a key: a cookie stands for it from then on. The key itself is kept nowhere."""
    trail = call.host.keys.trail
    found = call.host.keys.find(call.body.key)
    if found is not None:
        await asyncio.to_thread(trail.note, SIGNED_IN, found.name, found.id, "", call.address)
    begun = await asyncio.to_thread(call.host.sessions.begin, call.body.key)
    if begun is None:
        trail.refuse(REFUSED_SIGN_IN, call.address)
        raise Problem("unauthenticated")
    token, (key, session) = begun
    reply = Reply.of(session_read(call, key, session.csrf))
    reply.headers = {"Set-Cookie": set_cookie(token, call.headers, session.until - time.time())}
    return reply


@operation("GET", ADDRESS, scope=None)
async def session(call: Call[None]) -> Reply[SessionRead]:
    """Say who has signed in, if anybody has. That nobody has is an answer: every page begins with the question."""
    if call.key.name:
        csrf = await asyncio.to_thread(token_for, call.host.store, call.key.name)
        return Reply.of(session_read(call, call.key, csrf, True))
    token = token_of(call.headers)
    found = await call.host.sessions.find(token) if token else None
    if found is None:
        return Reply.of(SessionRead(None, [], None))
    return Reply.of(session_read(call, found.key, found.session.csrf))


@operation("DELETE", ADDRESS, scope="", status=204)
async def sign_out(call: Call[None]) -> Reply[None]:
    """Sign out: the cookie opens nothing any more. A key without a session has nothing to end."""
    token = token_of(call.headers)
    if token and not call.by_key:
        await asyncio.to_thread(call.host.keys.trail.note, SIGNED_OUT, call.key.name, call.key.id, "", call.address)
        await asyncio.to_thread(call.host.sessions.end, token)
        call.host.wake()
    return Reply(204, headers={"Set-Cookie": set_cookie("", call.headers, 0)})
