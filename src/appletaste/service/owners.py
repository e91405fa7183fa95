"""Several processes on one database: each stream has one owner, and every process passes requests on to it.

A process tries to own what nobody owns, and writes down where it can be reached. The database decides who owns a
stream; an address that is out of date leads to a process that says so, and the caller tries again.
"""

from __future__ import annotations

import asyncio
import http.client
import logging
import selectors
import threading
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from ..errors import StoreError
from .operations import EVENTS, Reply
from .problems import Problem

if TYPE_CHECKING:
    from .hosting import Host

log = logging.getLogger("appletaste.service")
SPACE = "owners"
#: Seconds between two looks at what nobody owns, and at the keys and sessions of others.
PERIOD = 1.0
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


class Owners:
    """Where the streams of a shared store are served."""

    def __init__(self, host: Host, address: str) -> None:
        self._host, self.address = host, address
        self._known: dict[str, str] = {}
        self._all: frozenset[str] = frozenset()
        self._task: asyncio.Task[None] | None = None
        self._threads = ThreadPoolExecutor(THREADS, "appletaste passing on")
        self._kept: list[Kept] = []  # in the order of their last use
        self._guard = threading.Lock()

    async def start(self) -> None:
        """Own what nobody owns, now and from now on."""
        await self._look()
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """Own nothing more."""
        if self._task is not None:
            self._task.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        with self._guard:
            for kept in self._kept:
                kept.connection.close()
            self._kept = []

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(PERIOD)
            try:
                await self._look()
            except StoreError as error:
                self._host.fail(f"the database does not answer: {error}")
                return

    async def _look(self) -> None:
        store, host = self._host.store, self._host
        await asyncio.to_thread(host.keys.reload)
        await asyncio.to_thread(host.sessions.reload)
        self._all = frozenset(await asyncio.to_thread(store.names))
        for name in sorted(self._all.difference(host.here())):
            if await host.open(name):
                await self.announce(name)
        found = await asyncio.to_thread(store.values, SPACE)
        self._known = {name: value.decode() for name, value in found.items()}

    async def announce(self, name: str) -> None:
        """Write down that a stream is served here."""
        await asyncio.to_thread(self._host.store.put, SPACE, name, self.address.encode())
        self._all |= {name}

    def names(self) -> list[str]:
        """Return the names of all streams, wherever they are served."""
        return sorted(self._all)

    def owner(self, name: str) -> str:
        """Return where a stream is served, or the problem that it is nowhere."""
        if name not in self._all:
            raise Problem("unknown-stream")
        found = self._known.get(name)
        if found is None or found == self.address:
            raise Problem("not-ready")  # nobody, or not any more
        return found

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
