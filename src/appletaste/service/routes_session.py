"""Signing in and out of the page: a key is given once, and a cookie stands for it from then on."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from .bodies import SignIn
from .keys import Key
from .operations import Call, Reply, operation
from .problems import Problem
from .review.answers import SessionRead
from .routes_keys import read
from .sessions import Session, set_cookie, token_of

ADDRESS = "/v1/session"


def described(call: Call[Any], key: Key, session: Session) -> SessionRead:
    """Return who has signed in, and what the page needs to know."""
    streams = [name for name in call.host.names() if key.sees(name)]
    return SessionRead(read(key), streams, session.csrf)


@operation("POST", ADDRESS, scope=None, problems=("unauthenticated",))
async def sign_in(call: Call[SignIn]) -> Reply[SessionRead]:
    """Sign in with a key: a cookie stands for it from then on. The key itself is kept nowhere."""
    begun = await asyncio.to_thread(call.host.sessions.begin, call.body.key)
    if begun is None:
        raise Problem("unauthenticated")
    token, (key, session) = begun
    reply = Reply.of(described(call, key, session))
    reply.headers = {"Set-Cookie": set_cookie(token, call.headers, session.until - time.time())}
    return reply


@operation("GET", ADDRESS, scope=None)
async def session(call: Call[None]) -> Reply[SessionRead]:
    """Say who has signed in, if anybody has. That nobody has is an answer: every page begins with the question."""
    token = token_of(call.headers)
    found = await call.host.sessions.find(token) if token else None
    return Reply.of(SessionRead(None, [], None) if found is None else described(call, *found))


@operation("DELETE", ADDRESS, scope="", status=204)
async def sign_out(call: Call[None]) -> Reply[None]:
    """Sign out: the cookie opens nothing any more. A key without a session has nothing to end."""
    token = token_of(call.headers)
    if token and not call.by_key:
        await asyncio.to_thread(call.host.sessions.end, token)
        call.host.wake()
    return Reply(204, headers={"Set-Cookie": set_cookie("", call.headers, 0)})
