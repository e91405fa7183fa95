"""What a process serves: the streams of one store that it owns, each with its writer, and the keys."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import AppleTasteError, NotOwnerError, RecordError
from ..records.stores import Store
from ..streams import Stream
from . import temporary
from .courier import Couriers
from .hooks import Hook
from .keys import Key, Keys, secret_in
from .metrics import Metrics
from .owners import Owners
from .problems import Problem, problem_of
from .proxy import Proxy
from .review.claims import Claims
from .review.layout import layout_of
from .review.past import Past
from .review.queue import Queue
from .review.read_model import ReadModel
from .review.search import Search
from .review.uploads import Files
from .sessions import Sessions, token_of
from .side_process import LATER, SideProcesses
from .trail import MINUTE
from .writer import Writer

log = logging.getLogger("appletaste.service")
#: How many questions that are not for the event loop are worked on at a time, by threads, and how many may wait.
READERS, WAITING = 2, 64
#: Seconds after which it is written down when keys were used last.
NOTED = 600.0


class Host:
    """The streams of a store, open; ``start`` and ``stop`` are called in the event loop."""

    def __init__(
        self,
        store: Store,
        failed: Callable[[str], None] | None = None,
        address: str = "",
        proxy: Proxy | None = None,
        hooks: tuple[Hook, ...] = (),
    ) -> None:
        self.store, self.metrics = store, Metrics()
        #: Who says for people who they are, beside keys; None: nobody.
        self.proxy = proxy
        self._noting: asyncio.Task[None] | None = None
        #: Who tells others what happens.
        self.couriers = Couriers(store, hooks)
        self.keys = Keys(store)
        self.sessions = Sessions(store, self.keys)
        self._writers: dict[str, Writer] = {}
        self._queues: dict[str, Queue] = {}
        self._past: dict[str, Past] = {}
        self._searches: dict[str, Search] = {}
        self.files = Files()
        self._read_models: dict[str, ReadModel] = {}
        self._failed = failed
        self._running = False
        #: Why the process must end, empty: it need not.
        self.failure = ""
        self._long, self._asides = asyncio.Semaphore(READERS), 0
        #: Answers what takes a whole record to answer.
        self.beside = SideProcesses(store, self.aside)
        #: Who owns which stream, where several processes share the store; this one is reached at ``address``.
        self.owners = Owners(self, address) if address else None

    async def start(self) -> None:
        """Open all streams of the store, or those that nobody else owns."""
        await asyncio.to_thread(temporary.sweep)
        await asyncio.to_thread(self.couriers.register)
        if self.owners is not None:
            await self.owners.start()
        else:
            for name in await asyncio.to_thread(self.store.names):
                await self.open(name)
        self._running = True
        self._noting = asyncio.create_task(self._note())

    async def _note(self) -> None:
        began = time.monotonic()
        while True:
            await asyncio.sleep(MINUTE)
            await asyncio.to_thread(self.keys.trail.keep_refused)
            if time.monotonic() - began >= NOTED:
                await asyncio.to_thread(self.keys.keep_used)
                began = time.monotonic()

    async def open(self, name: str) -> bool:
        """Own a stream and let a writer take care of it; one that another process owns, or that is damaged, stays."""
        try:
            self.take(await asyncio.to_thread(Stream.open, self.store, name))
        except NotOwnerError:
            return False
        except RecordError as error:
            log.error("a stream cannot be opened", extra={"stream": name, "event": error.seq})
            return False
        return True

    def take(self, stream: Stream) -> Writer:
        """Let a writer take care of a stream that is open."""
        self._queues.pop(stream.name, None)  # another process may have served the stream in between
        self._past.pop(stream.name, None)
        self._searches.pop(stream.name, None)
        found = self._writers[stream.name] = Writer(stream, self.metrics, self._stopped)
        self.couriers.begin(found, lambda: self.read_model(found.name).catch_up().raised_alarms())
        log.info("a stream is open", extra={"stream": stream.name, "events": found.seq})
        return found

    def _stopped(self, writer: Writer) -> None:
        """Take note of a writer that has stopped; the process ends, unless another one owns the stream by now."""
        if self._writers.get(writer.name) is writer:
            del self._writers[writer.name]
            self.couriers.end(writer.name)
            self._read_models.pop(writer.name, None)
        log.error("a writer has stopped", extra={"stream": writer.name, "lost": writer.lost})
        if not writer.lost or self.owners is None:
            self.fail(writer.stopped)

    def fail(self, reason: str) -> None:
        """Say that the process must end."""
        self.failure = reason
        if self._failed is not None:
            self._failed(reason)

    def drain(self) -> None:
        """Say that the process is about to end: it is not ready any more, and live views end."""
        self._running = False
        self.wake()

    def still(self, key: Key, headers: Mapping[bytes, bytes]) -> bool:
        """Return whether the key or the session of a request that was let in is still good."""
        given = headers.get(b"authorization")
        if given is None and not key.id:  # by the word of a proxy, which is asked again when the view begins again
            return key.valid(time.time())
        if given is None:
            return self.sessions.known(token_of(headers)) is not None
        return self.keys.find(secret_in(given)) is not None

    def wake(self) -> None:
        """Let live views look whether they may go on."""
        for writer in self._writers.values():
            writer.wake_watchers()

    async def stop(self) -> None:
        """Finish what waits, write snapshots, and let go of the streams."""
        self.drain()
        if self._noting is not None:
            self._noting.cancel()
        await asyncio.to_thread(self.keys.trail.keep_refused)
        await asyncio.to_thread(self.keys.keep_used)
        await self.couriers.stop()
        if self.owners is not None:
            await self.owners.stop()
        for writer in list(self._writers.values()):
            await writer.close()
        self._writers.clear()
        self.files.close()
        self.beside.close()

    @property
    def ready(self) -> bool:
        """Whether requests are answered."""
        return self._running and not self.failure

    def here(self) -> list[str]:
        """Return the names of the streams that are served by this process."""
        return sorted(self._writers)

    def names(self) -> list[str]:
        """Return the names of the streams that are served, by this process or by another one."""
        return self.here() if self.owners is None else self.owners.names()

    def elsewhere(self, name: str) -> str:
        """Return where another process serves a stream; empty: here, or nowhere."""
        if self.owners is None or name in self._writers or not self.ready:
            return ""
        return self.owners.owner(name)

    def writer(self, name: str) -> Writer:
        """Return the writer of a stream, or the problem that there is none."""
        found = self._writers.get(name)
        if found is None:
            raise Problem("unknown-stream" if self.ready else "not-ready")
        return found

    def queue(self, name: str) -> Queue:
        """Return the work of a stream."""
        if name not in self._queues:
            self._queues[name] = Queue(Claims(self.store, name, self.keys.opens), layout_of(self.store, name))
        return self._queues[name]

    def search(self, name: str) -> Search:
        """Return what the cases of a stream are found by."""
        if name not in self._searches:
            self._searches[name] = Search(self.writer(name).features)
        return self._searches[name]

    def past(self, name: str) -> Past:
        """Return what the cases of a stream are compared with."""
        if name not in self._past:
            self._past[name] = Past(self.writer(name).features)
        return self._past[name]

    def read_model(self, name: str) -> ReadModel:
        """Return what was read of the record of a stream beside its writer."""
        writer, found = self.writer(name), self._read_models.get(name)
        if found is None or found.writer is not writer:
            found = self._read_models[name] = ReadModel(writer)
        return found

    def looked_at(self, name: str) -> ReadModel | None:
        """Return what was read of a record so far, for whoever wants nothing read; None: nobody has asked."""
        return self._read_models.get(name)

    async def aside(self, work: Callable[..., Any], *given: Any) -> Any:
        """Answer a question in a thread of its own, while decisions go on."""
        if self._asides >= WAITING:
            self.metrics.overloads += 1
            raise Problem("overloaded", detail="too many questions wait", retry_after=LATER)
        self._asides += 1
        try:
            async with self._long:
                return await asyncio.to_thread(work, *given)
        except AppleTasteError as error:
            raise problem_of(error) from error
        finally:
            self._asides -= 1
