"""Several processes on one database: each stream has one owner, and every process passes requests on to it.

Every process works out alike where each stream belongs: of all processes that live and serve, to the one whose number
with the name of the stream has the largest hash. So each has its share, and when a process comes or goes only its
share moves. The database decides who owns a stream; whoever owns one that belongs elsewhere closes it, a few at a time,
and hands it over. An address that is out of date leads to a process that says so, and the caller tries again.
"""

from __future__ import annotations

import asyncio
import http.client
import logging
import math
import selectors
import threading
import time
from collections.abc import AsyncGenerator, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import StoreError
from ..records.stores.store import Census, SharedStore
from .operations import EVENTS, Reply
from .problems import Problem

if TYPE_CHECKING:
    from .hosting import Host

log = logging.getLogger("appletaste.service")
#: Seconds between two looks at who owns what, and at the keys and sessions of others.
PERIOD = 1.0
#: The same while streams are on their way from one process to another.
SOON = 0.1
#: Streams that are handed over at a time: those that have to be closed first, and others.
FEW, MANY = 8, 1000
#: Seconds that an owner has for an answer that is passed on: to a decision or a label, and to any other question.
QUICK, PATIENCE = 3.0, 60.0
#: Seconds after which a connection to an owner is not used again; the owner keeps its end for longer (``KEEP_ALIVE``).
IDLE = 30.0
#: Says that a request was passed on already.
PASSED = "x-appletaste-passed-on"
THREADS = 32
#: Headers of an answer that go along with it.
PASSED_BACK = ("Retry-After", "Allow", "Content-Disposition", "Content-Security-Policy")


class Kept(NamedTuple):
    """A connection to an owner that waits for its next request."""

    address: str
    since: float
    connection: http.client.HTTPConnection

    @property
    def open(self) -> bool:
        """Whether the owner has not hung up: between two answers there is nothing to read but the end."""
        if self.connection.sock is None:
            return False
        with selectors.DefaultSelector() as selector:
            selector.register(self.connection.sock, selectors.EVENT_READ)
            return not selector.select(0)


def belongs(name: str, processes: Iterable[int]) -> int:
    """Return to which process a stream belongs, by rendezvous hashing (Thaler and Ravishankar 1998); 0: to none.

    Examples
    --------
    >>> names = [f"stream {k}" for k in range(1000)]
    >>> sum(belongs(name, [1, 2, 3]) == 1 for name in names)
    324
    >>> all(belongs(name, [1, 2]) == belongs(name, [1, 2, 3]) for name in names if belongs(name, [1, 2, 3]) != 3)
    True
    """
    return max(processes, key=lambda number: blake2b(f"{number} {name}".encode(), digest_size=8).digest(), default=0)


class Owners:
    """Where the streams of a shared store are served."""

    def __init__(self, host: Host, store: SharedStore, address: str) -> None:
        self._host, self._store, self.address = host, store, address
        self._census = Census(0, {}, {}, {})
        self._belong: dict[str, int] = {}  # by the processes that served last
        self._serving: frozenset[int] = frozenset()
        self._task: asyncio.Task[None] | None = None
        self._over, self._looking, self._looked = asyncio.Event(), asyncio.Lock(), -math.inf
        self._threads = ThreadPoolExecutor(THREADS, "appletaste passing on")
        self._kept: list[Kept] = []  # in the order of their last use
        self._guard = threading.Lock()

    async def start(self) -> None:
        """Own what belongs here and is nobody's, now and from now on."""
        try:
            await asyncio.to_thread(self._store.serve, self.address)
            await self._look()
        except StoreError as error:
            self._host.fail(str(error))
        self._task = asyncio.create_task(self._run())

    async def leave(self) -> None:
        """Hand all streams over to those who stay, a few at a time."""
        self._over.set()
        if self._task is not None:
            await self._task
        try:
            await asyncio.to_thread(self._store.serve, "")
            await self._look()
            await self._give(math.inf)
        except StoreError as error:
            log.warning("streams are taken over when the others miss this process", extra={"error": str(error)})

    async def stop(self) -> None:
        """Pass nothing more on."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._guard:
            for kept in self._kept:
                kept.connection.close()
            self._kept = []

    async def _run(self) -> None:
        known = time.monotonic()
        while not self._over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), SOON if self._moving else PERIOD)
            try:
                if time.monotonic() - known >= PERIOD:
                    known = time.monotonic()
                    await asyncio.to_thread(self._host.keys.reload)
                    await asyncio.to_thread(self._host.sessions.reload)
                await self._look()
                await self._give(PERIOD)
                await self._host.carry_on()
            except StoreError as error:
                self._host.fail(f"the database does not answer: {error}")
                return

    @property
    def _moving(self) -> bool:
        """Whether a stream is not where it belongs."""
        return any(owner != self._belong.get(name) for name, owner in self._census.owners.items())

    async def look_again(self) -> None:
        """Find out who owns what: another process knows better, and has passed a request on."""
        with suppress(StoreError):  # which whoever looks every second will see, too
            await self._look()

    async def _look(self) -> None:
        """Find out who owns what, let go of what was lost, and own what belongs here and is nobody's."""
        asked = time.monotonic()
        async with self._looking:
            if asked > self._looked:  # or somebody else has just looked
                self._looked = time.monotonic()
                await self._reckon()

    async def _reckon(self) -> None:
        found = await asyncio.to_thread(self._store.census)
        self._census = found
        serving = frozenset(number for number, address in found.living.items() if address)
        if serving != self._serving:
            self._serving, self._belong = serving, {}
        for name in found.owners.keys() - self._belong.keys():
            self._belong[name] = belongs(name, serving)
        self._host.sizes |= {name: size for name, size in found.sizes.items() if not self._host.has(name)}
        lost = [name for name, owner in found.owners.items() if owner not in (0, found.me) and self._host.has(name)]
        for name in lost:
            log.warning("another process owns the stream by now", extra={"stream": name})
            await self._host.close(name)
        self._host.gave(lost)
        free = [name for name, owner in found.owners.items() if not owner and self._belong[name] == found.me]
        for name in await asyncio.to_thread(self._store.claim, free):
            found.owners[name] = found.me

    async def _give(self, seconds: float) -> None:
        """Hand over what belongs elsewhere: what is closed at once, and what is open a few at a time."""
        until = time.monotonic() + seconds
        going = [name for name in self.mine() if self._belong.get(name, 0) not in (0, self._census.me)]
        going.sort(key=self._host.has)
        while going and time.monotonic() < until:
            size = FEW if self._host.has(going[0]) else MANY
            step, going = going[:size], going[size:]
            async with self._host.closed(step):
                by_owner: dict[int, list[str]] = {}
                for name in step:
                    by_owner.setdefault(self._belong[name], []).append(name)
                for owner, names in by_owner.items():
                    await asyncio.to_thread(self._store.hand_over, names, owner)
                    self._census.owners.update(dict.fromkeys(names, owner))
                self._host.gave(step)

    def took(self, name: str) -> None:
        """Take note of a stream that was made here."""
        self._census.owners[name] = self._census.me
        self._belong[name] = belongs(name, self._serving)

    def owns(self, name: str) -> bool:
        """Return whether a stream is this process's."""
        return self._census.owners.get(name) == self._census.me

    def mine(self) -> list[str]:
        """Return the names of the streams that this process owns."""
        return sorted(name for name, owner in self._census.owners.items() if owner == self._census.me)

    def names(self) -> list[str]:
        """Return the names of all streams, wherever they are served."""
        return sorted(self._census.owners)

    def elsewhere(self, name: str) -> str:
        """Return where another process serves a stream; empty: here; or the problem that it is nowhere."""
        owner = self._census.owners.get(name)
        if owner is None:
            raise Problem("unknown-stream")
        if owner == self._census.me:
            return ""
        address = self._census.living.get(owner)
        if not address:
            raise Problem("not-ready")  # nobody for now, or a program that has the stream for itself
        return address

    async def pass_on(
        self, address: str, method: str, path: str, headers: dict[str, str], body: bytes | None, quick: bool
    ) -> Reply[Any]:
        """Return the answer of another process."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self.ask, address, method, path, headers, body, quick)

    async def watch(self, address: str, path: str, headers: dict[str, str]) -> Reply[Any]:
        """Return a live view that another process serves."""
        parts = urlsplit(address)
        try:
            reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
            lines = [f"{name}: {value}\r\n" for name, value in {**headers, PASSED: "1", "Host": parts.netloc}.items()]
            writer.write(f"GET {path} HTTP/1.1\r\n{''.join(lines)}\r\n".encode("latin-1"))
            head = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), PATIENCE)).lower()
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            raise Problem("not-ready") from None
        if not head.startswith(b"http/1.1 200") or b"transfer-encoding: chunked" not in head:
            writer.close()
            raise Problem("not-ready")
        return Reply(200, media=EVENTS, parts=_chunks(reader, writer), headers={"X-Accel-Buffering": "no"})

    def ask(
        self,
        address: str,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes | None,
        quick: bool,
        fresh: bool = False,
    ) -> Reply[Any]:
        """Return the answer of another process, which is waited for.

        A kept connection that breaks before the answer is tried once more on a fresh one, unless the request would be
        done twice then: one with ids of its own (``quick``) is not, nor is any but a POST.
        """
        parts, seconds = urlsplit(address), QUICK if quick else PATIENCE
        connection = None if fresh else self._take(address)
        again = connection is not None and (quick or method != "POST")
        if connection is None:
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=seconds)
        begun = False
        try:
            if connection.sock is not None:
                connection.sock.settimeout(seconds)
            connection.request(method, path, body, {**headers, PASSED: "1"})
            answer = connection.getresponse()
            begun = True
            content = answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            if again and not begun and isinstance(error, ConnectionError):
                return self.ask(address, method, path, headers, body, quick, fresh=True)
            raise Problem("outcome-unknown") from None
        with self._guard:
            self._kept.append(Kept(address, time.monotonic(), connection))
        extra = {name: answer.headers[name] for name in PASSED_BACK if name in answer.headers}
        return Reply(answer.status, content, answer.headers.get("Content-Type", ""), extra)

    def _take(self, address: str) -> http.client.HTTPConnection | None:
        """Return a kept connection to an owner that has not hung up; those that were not used for long are dropped."""
        while True:
            limit = time.monotonic() - IDLE
            with self._guard:
                old = [kept for kept in self._kept if kept.since <= limit]
                mine = [kept for kept in self._kept if kept.address == address and kept.since > limit]
                self._kept = [kept for kept in self._kept if kept not in old and kept not in mine[-1:]]
            for kept in old:
                kept.connection.close()
            if not mine:
                return None
            if mine[-1].open:
                return mine[-1].connection
            mine[-1].connection.close()


async def _chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> AsyncGenerator[bytes]:
    """Give an answer that comes in chunks, as it comes; whoever asked asks again where it breaks off."""
    try:
        while size := int((await reader.readline()).strip() or b"0", 16):
            yield await reader.readexactly(size)
            await reader.readline()
    except (OSError, asyncio.IncompleteReadError, ValueError):
        return
    finally:
        writer.close()
