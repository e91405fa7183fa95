"""Keys over HTTP: made, listed and revoked by a key with the scope ``admin`` for every stream."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

from .answers import KeyList, KeyMade, KeyRead
from .bodies import NewKey
from .cells import moment_of
from .keys import ANY, Key
from .operations import Call, Reply, operation
from .problems import Problem, invalid


def _date(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def read(key: Key) -> KeyRead:
    """Return what may be said of a key."""
    made = _date(key.created)
    assert made is not None
    return KeyRead(key.id, key.name, list(key.scopes), list(key.streams), made, _date(key.expires), _date(key.revoked))


def check_whole(call: Call[Any]) -> None:
    """Refuse a key that is not for every stream: keys and files are not of one stream."""
    if ANY not in call.key.streams:
        raise Problem("insufficient-scope", scope="admin", detail="a key for every stream is needed")


@operation("POST", "/v1/keys", scope="admin", status=201)
async def create_key(call: Call[NewKey]) -> Reply[KeyMade]:
    """Make a key; its secret is told this once."""
    check_whole(call)
    asked, expires = call.body, None
    if asked.expires is not None:
        expires = moment_of(asked.expires)
        if expires is None or expires <= datetime.now(UTC).timestamp():
            raise invalid("wrong-value", "/expires", "a date in the future, in ISO 8601")
    if not asked.name.isprintable():
        raise invalid("wrong-value", "/name", "letters that can be printed")
    if not all(0 < len(name) <= 100 for name in asked.streams):
        raise invalid("wrong-value", "/streams", "names of streams, or *")
    made = await asyncio.to_thread(call.host.keys.create, asked.name, asked.scopes, asked.streams, expires)
    return Reply.of(KeyMade(made[0], read(made[1])), 201)


@operation("GET", "/v1/keys", scope="admin")
async def list_keys(call: Call[None]) -> Reply[KeyList]:
    """List all keys, without their secrets."""
    check_whole(call)
    return Reply.of(KeyList([read(key) for key in call.host.keys.all()]))


@operation("DELETE", "/v1/keys/{id}", scope="admin", problems=("unknown-key",))
async def revoke_key(call: Call[None]) -> Reply[KeyRead]:
    """Revoke a key: it opens nothing any more."""
    check_whole(call)
    if not await asyncio.to_thread(call.host.keys.revoke, call.params["id"]):
        raise Problem("unknown-key")
    call.host.wake()  # live views by it end
    found = next(key for key in call.host.keys.all() if key.id == call.params["id"])
    return Reply.of(read(found))
