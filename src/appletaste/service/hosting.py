"""What a process serves: the streams of one store that it owns, and the keys.

A stream is opened when it is asked for, and has a writer from then on. One that nobody has asked for in a while is
closed again, unless few are open.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast

from ..errors import AppleTasteError, NotOwnerError, RecordError, StoreError
from ..records.stores import Store
from ..records.stores.store import SharedStore
from ..streams import Stream
from ..streams.activity import Activity
from . import temporary
from .courier import Couriers
from .crew import Crew
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
#: Seconds after which a stream that nobody asks for is closed; and so many, those used last, stay open all the same.
IDLE, KEPT = 900.0, 32
#: Streams that are opened, or closed, at a time.
TOGETHER = 8
#: Seconds after which it is written down when keys were used last.
NOTED = 600.0


class Rested(NamedTuple):
    """How a stream stood when it was closed, for whoever counts."""

    seq: int
    mode: str
    awaited: range  #: as long as there are labels awaited
    awaited_since: float | None
    activity: Activity
    times: type | None
    depth: int = 0

    @classmethod
    def of(cls, writer: Writer) -> Rested:
        """Return how the stream of a writer stands."""
        stream = writer.stream
        awaited = range(len(stream.awaited))
        return cls(writer.seq, stream.mode, awaited, stream.awaited_since, stream.activity, stream.times)

    @property
    def stream(self) -> Rested:
        """What a writer would have the stream for."""
        return self


class Host:
    """The streams of a store; ``start`` and ``stop`` are called in the event loop."""

    def __init__(
        self,
        store: Store,
        failed: Callable[[str], None] | None = None,
        address: str = "",
        proxy: Proxy | None = None,
        hooks: tuple[Hook, ...] = (),
        idle: float = IDLE,
    ) -> None:
        self.store, self.metrics = store, Metrics()
        #: Who says for people who they are, beside keys; None: nobody.
        self.proxy = proxy
        self._noting: asyncio.Task[None] | None = None
        #: Who tells others what happens.
        self.couriers = Couriers(store, hooks)
        self.keys = Keys(store)
        self.sessions = Sessions(store, self.keys)
        self._idle, self._crew = idle, Crew(store)
        self._writers: dict[str, Writer] = {}
        self._rested: dict[str, Rested] = {}
        #: How many events each stream had when that was last looked at, whether it is open here or not.
        self.sizes: dict[str, int] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._held: dict[str, asyncio.Event] = {}  # streams that are being closed, and who asks for them waits
        self._damaged: set[str] = set()
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
        self._together = asyncio.Semaphore(TOGETHER)
        self._tidying: asyncio.Task[None] | None = None
        self._leaving: asyncio.Task[None] | None = None
        #: Who owns which stream, where several processes share the store; this one is reached at ``address``.
        self.owners = Owners(self, cast(SharedStore, store), address) if address else None

    async def start(self) -> None:
        """Open the streams of the store, or of those that this process owns, if they are few."""
        await asyncio.to_thread(temporary.sweep)
        await asyncio.to_thread(self.couriers.register)
        if self.owners is not None:
            await self.owners.start()
        else:
            self.sizes = await asyncio.to_thread(self.store.sizes)
        await self._all(self._open_quietly, self.here()[:KEPT])
        await self.carry_on()
        self._tidying = asyncio.create_task(self._tidy())
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

    async def _all(self, do: Callable[[str], Any], names: Iterable[str]) -> None:
        """Do something with many streams, a few at a time."""

        async def one(name: str) -> None:
            async with self._together:
                await do(name)

        await asyncio.gather(*(one(name) for name in names))

    async def carry_on(self) -> None:
        """Open what was not opened here yet, where there are hooks: they may not have been told of all of it."""
        if self.couriers.hooks:
            await self._all(self._open_quietly, [name for name in self.here() if self.standing(name) is None])

    def gave(self, names: Iterable[str]) -> None:
        """Take note of streams that are another process's from now on."""
        for name in names:
            self._rested.pop(name, None)

    async def _open_quietly(self, name: str) -> None:
        try:
            await self.open(name)
        except Problem:
            return  # whoever asks for the stream is told

    async def open(self, name: str) -> None:
        """Let a writer take care of a stream; all who ask for it meanwhile wait for the same.

        A stream that is damaged, or that another process owns, is none of this process's; whoever asks tries again.
        """
        if name in self._damaged:
            raise Problem("not-ready")
        if name not in self._writers:
            task = self._opening.get(name)
            if task is None:
                task = self._opening[name] = asyncio.create_task(self._open(name))
                task.add_done_callback(lambda _: self._opening.pop(name, None))
            await asyncio.shield(task)
        if name not in self._writers:
            raise Problem("not-ready")

    async def _open(self, name: str) -> None:
        try:
            self.take(await asyncio.to_thread(Stream.open, self.store, name))
        except NotOwnerError:
            return
        except RecordError as error:
            self._damaged.add(name)
            log.error("a stream cannot be opened", extra={"stream": name, "event": error.seq})
        except StoreError as error:
            self.fail(str(error))

    def take(self, stream: Stream) -> Writer:
        """Let a writer take care of a stream that is open."""
        self._forget(stream.name)  # another process may have served the stream in between
        self._crew.grow(len(self._writers) + 1)
        found = self._writers[stream.name] = Writer(stream, self.metrics, self._stopped, self._crew)
        self.sizes[stream.name] = found.seq
        if self.owners is not None:
            self.owners.took(stream.name)
        if (rested := self._rested.pop(stream.name, None)) is not None:
            stream.count_on(rested.activity)
        self.couriers.begin(found, lambda: self.read_model(found.name).catch_up().raised_alarms())
        log.info("a stream is open", extra={"stream": stream.name, "events": found.seq})
        return found

    def _forget(self, name: str) -> None:
        for kept in (self._queues, self._past, self._searches, self._read_models):
            kept.pop(name, None)

    async def close(self, name: str) -> None:
        """Finish what waits for a stream, and let go of it; what comes from now on finds no writer."""
        if (opening := self._opening.get(name)) is not None:
            await asyncio.shield(opening)
        writer = self._writers.pop(name, None)
        self.couriers.end(name)
        self._forget(name)
        if writer is not None:
            await writer.close()
            self.sizes[name] = writer.seq
            self._rested[name] = Rested.of(writer)

    @asynccontextmanager
    async def closed(self, names: list[str]) -> AsyncIterator[None]:
        """Close streams; whoever asks for them waits until the block is over, and then finds where they are."""
        held = asyncio.Event()
        self._held |= dict.fromkeys(names, held)
        try:
            await self._all(self.close, names)
            yield
        finally:
            for name in names:
                self._held.pop(name, None)
            held.set()

    async def _tidy(self) -> None:
        """Close what is quiet, every now and then."""
        while True:
            await asyncio.sleep(min(30.0, self._idle / 4))
            latest = sorted(self._writers.values(), key=lambda writer: -writer.used)
            quiet = [writer.name for writer in latest[KEPT:] if self._quiet(writer)]
            for start in range(0, len(quiet), TOGETHER):
                async with self.closed(quiet[start : start + TOGETHER]):
                    pass

    def _quiet(self, writer: Writer) -> bool:
        """Return whether nobody has asked for a stream in a while, and its hooks were told everything."""
        hooks = self.couriers.hooks
        told = not any(self.couriers.behind.get((hook.name, writer.name)) for hook in hooks)
        return told and writer.quiet(self._idle, len(hooks))

    def _stopped(self, writer: Writer) -> None:
        """Take note of a writer that has stopped; the process ends, unless another one owns the stream by now."""
        if self._writers.get(writer.name) is writer:
            del self._writers[writer.name]
            self._forget(writer.name)
            self.couriers.end(writer.name)
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
        if self.owners is not None and self._leaving is None:  # others take the streams while requests finish here
            self._leaving = asyncio.ensure_future(self.owners.leave())

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
        for task in (self._noting, self._tidying):
            if task is not None:
                task.cancel()
        await asyncio.to_thread(self.keys.trail.keep_refused)
        await asyncio.to_thread(self.keys.keep_used)
        await self.couriers.stop()
        if self.owners is not None:
            await asyncio.gather(*filter(None, [self._leaving]), return_exceptions=True)
            await self.owners.stop()
        await self._all(self.close, list(self._writers))
        await asyncio.to_thread(self._crew.close)
        self.files.close()
        self.beside.close()

    @property
    def ready(self) -> bool:
        """Whether requests are answered."""
        return self._running and not self.failure

    def here(self) -> list[str]:
        """Return the names of the streams that are served by this process, whether they are open or not."""
        return sorted(self.sizes) if self.owners is None else self.owners.mine()

    def names(self) -> list[str]:
        """Return the names of the streams that are served, by this process or by another one."""
        return self.here() if self.owners is None else self.owners.names()

    def has(self, name: str) -> bool:
        """Return whether a stream is open here."""
        return name in self._writers

    async def reach(self, name: str, passed: bool = False) -> str:
        """Return where another process serves a stream; empty: here, where it is open from now on, or nowhere.

        ``passed``: another process has said that the stream is here.
        """
        while (held := self._held.get(name)) is not None:
            await held.wait()
        if name in self._writers or not self.ready:
            return ""
        if self.owners is not None:
            if passed and not self.owners.owns(name):
                await self.owners.look_again()
            address = self.owners.elsewhere(name)
            if address:
                return address
        elif name not in self.sizes:
            return ""
        await self.open(name)
        return ""

    def standing(self, name: str) -> Writer | Rested | None:
        """Return how a stream stands, or stood when it was closed; None: it was not opened yet."""
        return self._writers.get(name) or self._rested.get(name)

    def writer(self, name: str) -> Writer:
        """Return the writer of a stream that was reached, or the problem that there is none."""
        found = self._writers.get(name)
        if found is None:
            raise Problem("unknown-stream" if self.ready and name not in self.sizes else "not-ready")
        found.used = time.monotonic()
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
