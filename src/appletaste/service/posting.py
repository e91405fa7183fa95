"""One message to an address of somebody else: only to where it was meant to go, and never for longer than a while.

What a name leads to is looked up here, once, checked, and that very address is connected to: a name that leads to the
own network now and did not a moment ago (DNS rebinding) is refused like any other. No redirect is followed.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Mapping
from concurrent.futures import Executor
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

from ..errors import OptionError

#: The most bytes of an answer that are looked at, and the most seconds in which a name is found and all is said.
LONGEST, SECONDS = 1 << 16, 10.0
#: IPv4 addresses as IPv6 writes them behind a translator (RFC 6052).
TRANSLATED = IPv6Network("64:ff9b::/96")


class PostingError(Exception):
    """A message that did not arrive, or not for sure."""


def is_private(address: str) -> bool:
    """Return whether an address is of the own machine, of a network of ours, or of nobody.

    Examples
    --------
    >>> [is_private(one) for one in ("127.0.0.1", "10.0.0.7", "169.254.169.254", "::ffff:10.0.0.7", "fe80::1%eth0")]
    [True, True, True, True, True]
    >>> [is_private(one) for one in ("8.8.8.8", "2606:4700::1111")]
    [False, False]
    """
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        inner = _inner(found)
        if inner is not None:
            found = inner
    return not found.is_global or found.is_multicast


def _inner(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address that an IPv6 address stands for; None: it stands for itself."""
    if address in TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


def check_host(host: str, private: bool) -> None:
    """Refuse a host that is an address of the own network, unless such are allowed; a name is looked up later."""
    try:
        refused = not private and is_private(host)
    except ValueError:  # a name
        return
    if refused:
        raise OptionError(f"{host} is an address of a private network: --allow-private-hooks lets hooks call it")


async def post(
    url: str, body: bytes, headers: Mapping[str, str], private: bool, context: ssl.SSLContext, names: Executor
) -> None:
    """Send a body with POST; return when the receiver has taken it (2xx), and raise ``PostingError`` otherwise."""
    try:
        async with asyncio.timeout(SECONDS):
            status = await _post(url, body, headers, private, context, names)
    except TimeoutError:
        raise PostingError(f"no answer in {SECONDS:g} s") from None
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        raise PostingError(f"no answer: {type(error).__name__}") from None
    if not 200 <= status < 300:
        raise PostingError(f"status {status}")


async def _post(
    url: str, body: bytes, headers: Mapping[str, str], private: bool, context: ssl.SSLContext, names: Executor
) -> int:
    parts = urlsplit(url)
    secure, host = parts.scheme == "https", parts.hostname or ""
    port = parts.port or (443 if secure else 80)
    loop = asyncio.get_running_loop()
    found = await loop.run_in_executor(names, _look_up, host, port)
    for address in found:
        _check(address, private)
    reader, writer = await _connected(found, port, host if secure else None, context if secure else None)
    try:
        _check(writer.get_extra_info("peername")[0], private)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        named = {**headers, "Host": parts.netloc, "Content-Length": str(len(body)), "Connection": "close"}
        lines = "".join(f"{name}: {value}\r\n" for name, value in named.items())
        writer.write(f"POST {target} HTTP/1.1\r\n{lines}\r\n".encode("latin-1") + body)
        await writer.drain()
        version, status = (await reader.readline()).split(None, 2)[:2]
        if not version.startswith(b"HTTP/1."):
            raise ValueError("no HTTP")
        read = 1
        left = LONGEST
        while read and left > 0:  # a receiver whose answer is cut off may think that it has failed
            read = len(await reader.read(left))
            left -= read
        return int(status)
    finally:
        writer.close()


def _look_up(host: str, port: int) -> list[str]:
    """Return the addresses that a name leads to, in the order in which they are to be tried."""
    return list(dict.fromkeys(str(one[4][0]) for one in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))


def _check(address: str, private: bool) -> None:
    if not private and is_private(address):
        raise PostingError("the name leads to an address of a private network, which is not called")


async def _connected(
    addresses: list[str], port: int, name: str | None, context: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a connection to the first address that answers."""
    failed: OSError = OSError("no address")
    for address in addresses:
        try:
            return await asyncio.open_connection(address, port, ssl=context, server_hostname=name)
        except OSError as error:
            failed = error
    raise failed
