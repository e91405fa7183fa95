"""Sessions: a browser that has signed in with a key sends a cookie instead, and a token with every change.

The store keeps the SHA-256 of the cookie, never the cookie, so that a session outlives the process and is known to all
processes of a database. A session is over when its time or its key is.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ..records.stores import Store
from .keys import Key, Keys, digest_of
from .problems import Problem

SPACE = "sessions"
COOKIE = "at_session"
#: Seconds that a session lasts: a long day of work.
LASTS = 12 * 3600.0
#: Sessions of one key at most; the oldest ends when one more begins.
MOST = 100
#: The longest cookie that is looked at.
LONGEST = 100


class Session(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the store keeps of a session."""

    key: str  #: the digest of the key
    csrf: str  #: what a page must send with a change: a page of somebody else cannot read it
    until: float


class SignedIn(NamedTuple):
    """Who asks: the key, and the session that stands for it."""

    key: Key
    session: Session


class Sessions:
    """The sessions of a store, held in memory; ``reload`` looks again.

    Examples
    --------
    >>> from appletaste.records.stores import MemoryStore
    >>> store = MemoryStore()
    >>> keys = Keys(store)
    >>> secret, key = keys.create("ann", ["review"])
    >>> sessions = Sessions(store, keys)
    >>> token, found = sessions.begin(secret)
    >>> sessions.known(token).key.name, sessions.begin("at_guess")
    ('ann', None)
    >>> keys.revoke(key.id)
    True
    >>> sessions.known(token)
    """

    def __init__(self, store: Store, keys: Keys) -> None:
        self._store, self._keys = store, keys
        self._known: dict[str, Session] = {}
        self._change = threading.Lock()  # or what one thread has ended another could bring back
        self.reload()

    def reload(self) -> None:
        """Read all sessions again: another process may have begun or ended some."""
        with self._change:
            found = self._store.values(SPACE).items()
            self._known = {digest: msgspec.json.decode(value, type=Session) for digest, value in found}

    def begin(self, secret: str) -> tuple[str, SignedIn] | None:
        """Begin a session for the holder of a key; return its token, which is told this once. None: no valid key."""
        key, digest = self._keys.find(secret), digest_of(secret)
        if key is None:
            return None
        now = time.time()
        until = now + LASTS if key.expires is None else min(now + LASTS, key.expires)
        session = Session(digest, secrets.token_urlsafe(24), until)
        token = secrets.token_urlsafe(32)
        with self._change:
            self._forget(digest, now)
            self._store.put(SPACE, digest_of(token), msgspec.json.encode(session))
            self._known = {**self._known, digest_of(token): session}
        return token, SignedIn(key, session)

    def _forget(self, key: str, now: float) -> None:
        """Forget the sessions that are over, and the oldest of a key that has very many."""
        known = self._known
        over = [token for token, one in known.items() if one.until <= now or self._keys.of_digest(one.key) is None]
        held = sorted((one.until, token) for token, one in known.items() if one.key == key and token not in over)
        for token in [*over, *(token for _, token in held[: max(0, len(held) - MOST + 1)])]:
            self._end(token)

    def end(self, token: str) -> None:
        """End a session, if there is one."""
        with self._change:
            self._end(digest_of(token))

    def _end(self, digest: str) -> None:
        self._store.remove(SPACE, digest)
        self._known = {token: session for token, session in self._known.items() if token != digest}

    def known(self, token: str) -> SignedIn | None:
        """Return who a token stands for, as far as this process knows."""
        return self._signed_in(self._known.get(digest_of(token)))

    def _signed_in(self, session: Session | None) -> SignedIn | None:
        if session is None or session.until <= time.time():
            return None
        key = self._keys.use(session.key)
        return None if key is None else SignedIn(key, session)

    async def find(self, token: str) -> SignedIn | None:
        """Return who a token stands for; a session that has just begun in another process is looked up."""
        digest = digest_of(token)
        if digest in self._known:
            return self.known(token)
        value = await asyncio.to_thread(self._store.get, SPACE, digest)
        return None if value is None else self._signed_in(msgspec.json.decode(value, type=Session))

    async def key_of(self, headers: Mapping[bytes, bytes], method: str) -> Key:
        """Return the key of a request without one of its own, or the problem that it has no session or no token."""
        token = token_of(headers)
        found = await self.find(token) if token else None
        if found is None:
            raise Problem("unauthenticated")
        if method != "GET":
            check_token(headers, found.session.csrf)
        return found.key


def check_token(headers: Mapping[bytes, bytes], wanted: str) -> None:
    """Refuse a change without the token that a page was told: a page of somebody else cannot read it."""
    if not hmac.compare_digest(headers.get(b"x-csrf-token", b""), wanted.encode()):
        raise Problem("csrf")


def token_of(headers: Mapping[bytes, bytes]) -> str:
    """Return the token that the cookie of a request holds; empty: none.

    Examples
    --------
    >>> token_of({b"cookie": b"theme=dark; at_session=abc"}), token_of({})
    ('abc', '')
    """
    for part in headers.get(b"cookie", b"").split(b";"):
        name, _, value = part.strip().partition(b"=")
        if name == COOKIE.encode():
            return value.decode("latin-1") if len(value) <= LONGEST else ""
    return ""


def set_cookie(token: str, headers: Mapping[bytes, bytes], lasts: float = LASTS) -> str:
    """Return the cookie for a browser; only over TLS where the page came over TLS, as the browser or a proxy says."""
    secure = headers.get(b"x-forwarded-proto") == b"https" or headers.get(b"origin", b"").startswith(b"https:")
    told = f"{COOKIE}={token}; Max-Age={int(lasts)}; Path=/; HttpOnly; SameSite=Strict"
    return told + ("; Secure" if secure else "")
