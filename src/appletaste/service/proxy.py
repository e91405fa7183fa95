"""People whom a proxy before the service has signed in: it names them and their groups in headers of each request.

How people sign in at the proxy (OpenID Connect, SAML, a password) is not known here. What counts is who asks: the
headers hold only in a request that comes from an address that was named as one of the proxy.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from starlette.types import Scope

from ..errors import OptionError
from ..records.stores import Store
from .keys import ANY, ROLES, Key, check_scopes

SPACE = "proxy"
#: Seconds for which the word of the proxy holds; a live view begins again then, and the proxy looks again.
HOLDS = 900.0
#: The longest name of a person.
LONGEST = 100


class Grant(NamedTuple):
    """What the members of a group may do, and with which streams."""

    scopes: tuple[str, ...]
    streams: tuple[str, ...] = (ANY,)


@dataclass(frozen=True)
class Proxy:
    """Whom the service believes who somebody is, and what groups may do.

    Examples
    --------
    >>> proxy = Proxy.of(["127.0.0.1"], ["fraud-leads=lead", "fraud=reviewer:orders,refunds"])
    >>> headers = [(b"x-forwarded-user", b"ann"), (b"x-forwarded-groups", b"staff, fraud")]
    >>> ann = proxy.person({"client": ("127.0.0.1", 4711), "headers": headers})
    >>> ann.name, ann.scopes, ann.streams
    ('ann', ('label', 'correct', 'review', 'read'), ('orders', 'refunds'))
    >>> proxy.person({"client": ("10.0.0.9", 4711), "headers": headers})
    """

    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]
    groups: Mapping[str, Grant]  #: the first of which somebody is a member counts
    name_header: bytes = b"x-forwarded-user"
    groups_header: bytes = b"x-forwarded-groups"

    @staticmethod
    def of(
        addresses: Iterable[str],
        groups: Iterable[str],
        name_header: str = "X-Forwarded-User",
        groups_header: str = "X-Forwarded-Groups",
    ) -> Proxy:
        """Return a proxy from words: addresses or networks, and groups as ``GROUP=ROLE`` or ``GROUP=ROLE:STREAM,...``.

        In the place of a role there may be scopes, such as ``read+review``.
        """
        try:
            networks = tuple(ipaddress.ip_network(address) for address in addresses)
        except ValueError as error:
            raise OptionError(f"{error}: the address of a proxy is such as 10.0.0.7 or 10.0.0.0/28") from None
        found = dict(grant_of(text) for text in groups)
        if not networks or not found:
            raise OptionError("a proxy needs one or more addresses, and one or more groups such as fraud-team=reviewer")
        for name in (name_header, groups_header):
            if not name.replace("-", "").isalnum() or not name.isascii():
                raise OptionError(f"a header has a name such as X-Forwarded-User, got {name!r}")
        return Proxy(networks, found, name_header.lower().encode(), groups_header.lower().encode())

    @property
    def headers(self) -> tuple[bytes, bytes]:
        """The headers that name a person and the groups of the person."""
        return self.name_header, self.groups_header

    def person(self, scope: Scope) -> Key | None:
        """Return what whoever asks may do, as a key without an id; None: the proxy has not said who it is.

        A header that is there twice says nothing: a client may have sent one of them.
        """
        client = scope.get("client")
        if client is None or not self._ours(client[0]):
            return None
        named = [value for name, value in scope["headers"] if name == self.name_header]
        grouped = [value for name, value in scope["headers"] if name == self.groups_header]
        if len(named) != 1 or len(grouped) != 1:
            return None
        try:
            name, groups = named[0].decode().strip(), {one.strip() for one in grouped[0].decode().split(",")}
        except UnicodeDecodeError:
            return None
        if not (0 < len(name) <= LONGEST and name.isprintable()):
            return None
        grant = next((grant for group, grant in self.groups.items() if group in groups), None)
        now = time.time()
        return None if grant is None else Key("", name, grant.scopes, grant.streams, now, now + HOLDS)

    def _ours(self, address: str) -> bool:
        try:
            found = ipaddress.ip_address(address)
        except ValueError:
            return False
        mapped = getattr(found, "ipv4_mapped", None)
        return any((mapped or found) in network for network in self.networks)


def grant_of(text: str) -> tuple[str, Grant]:
    """Return a group and what its members may do.

    Examples
    --------
    >>> grant_of("auditors=read")
    ('auditors', Grant(scopes=('read',), streams=('*',)))
    """
    group, _, allowed = text.rpartition("=")
    role, _, streams = allowed.partition(":")
    if not (group and role):
        raise OptionError(f"a group is written GROUP=ROLE, such as fraud-team=reviewer, got {text!r}")
    if "," in group:
        raise OptionError(f"the header has groups with commas in between, so that no group has one, got {group!r}")
    scopes = ROLES[role] if role in ROLES else check_scopes(role.split("+"))
    return group.strip(), Grant(scopes, tuple(streams.split(",")) if streams else (ANY,))


def token_for(store: Store, name: str) -> str:
    """Return what a page must send with each change by somebody whom the proxy names; all processes of a store agree.

    Browsers send what the proxy knows people by with every request, also with one that another site has made.
    """
    secret = store.get(SPACE, "secret")
    if secret is None:
        store.put(SPACE, "secret", secrets.token_bytes(32))
        secret = store.get(SPACE, "secret")
    assert secret is not None
    return hmac.new(secret, name.encode(), hashlib.sha256).hexdigest()
