"""Keys: ``at_`` and 256 random bits, shown once; the store keeps their SHA-256, what they allow, and until when."""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from collections.abc import Iterable
from typing import Annotated, Literal

from ..errors import InputError, MissingExtraError, OptionError, near
from ..records.stores import Store
from .trail import MADE, REVOKED, Trail

try:
    import msgspec
except ImportError:
    raise MissingExtraError("a service", "service") from None

#: What a key may allow, and what each scope is for.
SCOPES = {
    "decide": "ask for decisions",
    "label": "send labels",
    "correct": "correct and withdraw labels, and give up waiting for them",
    "review": "claim work, say what was done, and write notes",
    "lead": "free work that others hold, and say how the review page looks",
    "read": "look at decisions, the log, the model and estimates",
    "admin": "make streams and keys, change modes and costs, erase and verify",
}
#: Names for the scopes that people have; each role may do what the one before may.
ROLES = {
    "reviewer": ("label", "correct", "review", "read"),
    "lead": ("label", "correct", "review", "lead", "read"),
    "admin": tuple(SCOPES),
}
#: Stands for every stream.
ANY = "*"
PREFIX = "at_"
SPACE, USED = "keys", "keys used"


class Key(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the store keeps of a key; the secret itself is nowhere."""

    id: str  #: the first letters of the digest: names the key, and opens nothing
    name: str
    scopes: tuple[str, ...]
    streams: tuple[str, ...]  #: names, or ``*``
    created: float
    expires: float | None = None
    revoked: float | None = None

    def sees(self, stream: str) -> bool:
        """Return whether the key is for a stream."""
        return stream in self.streams or ANY in self.streams

    def valid(self, now: float) -> bool:
        """Return whether the key opens anything at a time."""
        return self.revoked is None and (self.expires is None or now < self.expires)


def digest_of(secret: str) -> str:
    """Return what the store knows a key by; 256 random bits need no slow hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def secret_in(authorization: bytes) -> str:
    """Return the secret that a header ``Authorization`` names, by a scheme in any case (RFC 9110); empty: none.

    Examples
    --------
    >>> secret_in(b"bearer at_abc"), secret_in(b"Basic at_abc")
    ('at_abc', '')
    """
    scheme, _, secret = authorization.decode("latin-1").partition(" ")
    return secret.lstrip(" ") if scheme.lower() == "bearer" else ""


def check_scopes(scopes: Iterable[str]) -> tuple[str, ...]:
    """Return scopes in their order, or say which there are.

    Examples
    --------
    >>> check_scopes(["label", "decide"])
    ('decide', 'label')
    """
    asked = set(scopes)
    unknown = "".join(f"there is no scope {one!r}{near(one, SCOPES)}. " for one in sorted(asked - set(SCOPES)))
    if unknown or not asked:
        raise OptionError(f"{unknown}A key has one or more of the scopes {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in asked)


def scopes_of(role: str) -> tuple[str, ...]:
    """Return what a role allows, or say which there are.

    Examples
    --------
    >>> scopes_of("reviewer")
    ('label', 'correct', 'review', 'read')
    """
    if role not in ROLES:
        raise OptionError(f"there is no role {role!r}{near(role, ROLES)}. The roles are {', '.join(ROLES)}")
    return ROLES[role]


def role_of(scopes: Iterable[str]) -> str | None:
    """Return the role that has just these scopes; None: none has."""
    asked = set(scopes)
    return next((role for role, allowed in ROLES.items() if set(allowed) == asked), None)


class Keys:
    """The keys of a store, held in memory; ``reload`` looks again.

    Examples
    --------
    >>> from appletaste.records.stores import MemoryStore
    >>> keys = Keys(MemoryStore())
    >>> secret, key = keys.create("shop", ["decide"], ["orders"])
    >>> secret[:3], keys.find(secret).name, keys.find("at_guess")
    ('at_', 'shop', None)
    >>> keys.revoke(key.id)
    True
    >>> keys.find(secret)
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        #: What happens to keys is written down there before it happens.
        self.trail = Trail(store)
        self._known: dict[str, Key] = {}
        self._used: dict[str, float] = {}  # by digest, since ``keep_used``
        self._change = threading.RLock()  # or a key that one thread revokes another could bring back
        self.reload()

    def reload(self) -> None:
        """Read all keys again: another process may have made or revoked some."""
        with self._change:
            found = self._store.values(SPACE).items()
            self._known = {digest: msgspec.json.decode(value, type=Key) for digest, value in found}

    def create(
        self,
        name: str,
        scopes: Iterable[str],
        streams: Iterable[str] = (ANY,),
        expires: float | None = None,
        by: str = "",
    ) -> tuple[str, Key]:
        """Make a key; return its secret, which is told this once, and what is kept. ``by`` is who makes the key."""
        now = time.time()
        kept = tuple(dict.fromkeys(streams))
        if not (name and len(name) <= 100 and name.isprintable()):
            raise InputError("a key has a name of 1 to 100 characters that says who holds it, such as 'web shop'")
        if not kept:
            raise InputError("a key is for one or more streams, or for '*', which is every stream")
        if expires is not None and expires <= now:
            raise InputError("a key expires in the future")
        secret = PREFIX + secrets.token_urlsafe(32)
        digest = digest_of(secret)
        key = Key(digest[:12], name, check_scopes(scopes), kept, now, expires)
        self.trail.note(MADE, key.name, key.id, by)
        self._keep(digest, key)
        return secret, key

    def _keep(self, digest: str, key: Key) -> None:
        with self._change:
            self._store.put(SPACE, digest, msgspec.json.encode(key))
            self._known = {**self._known, digest: key}

    def revoke(self, id: str, by: str = "") -> bool:
        """Let a key open nothing any more; return whether there is such a key. ``by`` is who says so."""
        for digest, key in self._known.items():
            if key.id == id:  # the id is no secret
                if key.revoked is None:
                    self.trail.note(REVOKED, key.name, key.id, by)
                    self._keep(digest, msgspec.structs.replace(key, revoked=time.time()))
                return True
        return False

    def find(self, secret: str) -> Key | None:
        """Return the key of a secret, if it opens anything now."""
        return self.use(digest_of(secret))

    def use(self, digest: str) -> Key | None:
        """Return the key of a digest, if it opens anything now, and note that somebody uses the key."""
        found = self.of_digest(digest)
        if found is not None:
            self._used[digest] = time.time()
        return found

    def keep_used(self) -> None:
        """Write down when keys were used last; until then only this process knows."""
        used, self._used = self._used, {}
        for digest, when in used.items():
            self._store.put(USED, digest, msgspec.json.encode(when))

    def used(self) -> dict[str, float]:
        """Return when each key was used last, by its id; a key that was never used is not there."""
        found = {digest: msgspec.json.decode(kept, type=float) for digest, kept in self._store.values(USED).items()}
        found |= self._used
        return {key.id: found[digest] for digest, key in self._known.items() if digest in found}

    def of_digest(self, digest: str) -> Key | None:
        """Return the key that the store knows by a digest, if it opens anything now."""
        found = self._known.get(digest)
        return found if found is not None and found.valid(time.time()) else None

    def opens(self, id: str) -> bool:
        """Return whether there is a key with an id that opens anything now."""
        now = time.time()
        return any(key.id == id and key.valid(now) for key in self._known.values())

    def all(self) -> list[Key]:
        """Return every key, the oldest first."""
        return sorted(self._known.values(), key=lambda key: key.created)


#: A scope, as a body names it.
ScopeName = Annotated[str, msgspec.Meta(pattern=f"^({'|'.join(SCOPES)})$")]
#: A role, as a body names it.
Role = Literal["reviewer", "lead", "admin"]
