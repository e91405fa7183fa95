"""Couriers: each carries what happens in one stream to one hook, in order, until the receiver has taken it.

A courier reads the record behind the writer, so that nothing is lost over a kill, and nobody waits for it. How far it
has come is kept once a second: what was sent since is sent again after a kill, under the same numbers.
"""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import msgspec

from ..drift import Alarm
from ..records.stores import Store
from .hooks import Cursor, Hook, Part, Registered, cursor_of, keep_cursor, next_part, register
from .posting import PostingError, post
from .signatures import DELIVERY, SIGNATURE, TIMESTAMP, signature_of
from .writer import Writer

log = logging.getLogger("appletaste.service")
#: Seconds before the second try; each pause is twice as long as the one before, up to the longest. By chance, so that
#: couriers of many streams do not all come at once.
FIRST, LONGEST = 1.0, 300.0
#: Messages to one hook at a time, seconds between two notes of how far a courier has come, and the events that it may
#: pass over before it notes that, too.
TOGETHER, NOTED, PASSED = 4, 1.0, 10_000
#: Seconds after which a courier looks whether its stream is still served here.
LOOK = 5.0


class Couriers:
    """All couriers of a process; ``start`` is called before anything is served, the rest in the event loop."""

    def __init__(self, store: Store, hooks: tuple[Hook, ...]) -> None:
        self._store, self.hooks = store, hooks
        self._registered: dict[str, Registered] = {}
        self._slots = {hook.name: asyncio.Semaphore(TOGETHER) for hook in hooks}
        self._names = {hook.name: ThreadPoolExecutor(TOGETHER, f"appletaste hook {hook.name}") for hook in hooks}
        self._context = ssl.create_default_context()
        self._tasks: dict[str, list[asyncio.Task[None]]] = {}
        #: How many events of a stream a hook has not been told yet, and how often a hook could not be called.
        self.behind: dict[tuple[str, str], int] = {}
        self.failures: dict[str, int] = {hook.name: 0 for hook in hooks}

    def register(self) -> None:
        """Write down what the hooks tell, and since when; to be done before the first request is answered."""
        self._registered = {hook.name: register(self._store, hook) for hook in self.hooks}

    def begin(self, writer: Writer, alarms: Callable[[], list[tuple[int, Alarm]]]) -> None:
        """Carry what happens in a stream from now on, and what was left of it."""
        self.end(writer.name)
        self._tasks[writer.name] = [
            asyncio.create_task(self._courier(hook, writer, alarms).run()) for hook in self.hooks
        ]

    def _courier(self, hook: Hook, writer: Writer, alarms: Callable[[], list[tuple[int, Alarm]]]) -> Courier:
        return Courier(self, self._store, hook, self._registered[hook.name].since, writer, alarms)

    async def send(self, hook: Hook, body: bytes, headers: dict[str, str]) -> None:
        """Send one message; four at a time to one hook, so that one that is slow holds only itself."""
        async with self._slots[hook.name]:
            await post(hook.url, body, headers, hook.private, self._context, self._names[hook.name])

    def end(self, stream: str) -> None:
        """Carry nothing more of a stream."""
        for task in self._tasks.pop(stream, ()):
            task.cancel()
        for hook in self.hooks:
            self.behind.pop((hook.name, stream), None)

    async def stop(self) -> None:
        """Carry nothing more; how far each has come is kept."""
        tasks = [task for some in self._tasks.values() for task in some]
        for name in list(self._tasks):
            self.end(name)
        await asyncio.gather(*tasks, return_exceptions=True)
        for names in self._names.values():
            names.shutdown(wait=False, cancel_futures=True)


class Courier:
    """Carries what happens in one stream to one hook."""

    def __init__(
        self,
        couriers: Couriers,
        store: Store,
        hook: Hook,
        since: int,
        writer: Writer,
        alarms: Callable[[], list[tuple[int, Alarm]]],
    ) -> None:
        self._couriers, self._store, self._hook, self._since = couriers, store, hook, since
        self._writer, self._alarms = writer, alarms
        self._kept: Cursor | None = None
        self._noted = 0.0

    async def run(self) -> None:
        """Carry on until cancelled, or until the stream is served elsewhere."""
        flag, tries = self._writer.watch(), 0
        try:
            while not self._writer.stopped:
                try:
                    await self._carry(flag)
                except Exception as error:  # most likely the store cannot be read now
                    log.warning("a hook begins again", extra=self._named(error))
                    await asyncio.sleep(pause(tries))
                    tries += 1
        finally:
            self._writer.unwatch(flag)

    async def _carry(self, flag: asyncio.Event) -> None:
        writer, hook = self._writer, self._hook
        place, registered = writer.place, set(hook.events)
        cursor = await asyncio.to_thread(cursor_of, self._store, hook, self._since, place)
        self._kept = cursor
        try:
            while not writer.stopped:
                flag.clear()
                self._couriers.behind[hook.name, writer.name] = writer.seq - cursor.seq
                if cursor.seq < writer.seq:
                    part = await asyncio.to_thread(next_part, place, cursor, writer.seq, registered, self._alarms)
                    if part.told:
                        await self._deliver(part)
                    cursor = Cursor(part.seq, cursor.number + len(part.told))
                    if time.monotonic() - self._noted >= NOTED:
                        await self._keep(cursor)
                    continue
                await self._keep(cursor)
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):  # wait_for may forget that it was cancelled
                        await flag.wait()
        except asyncio.CancelledError:
            await self._keep(cursor)
            raise

    async def _keep(self, cursor: Cursor) -> None:
        """Keep how far the courier has come, if that is worth a commit."""
        kept = self._kept
        assert kept is not None
        if cursor.number == kept.number and cursor.seq - kept.seq < PASSED:
            return
        await asyncio.to_thread(keep_cursor, self._store, self._hook, self._writer.name, cursor)
        self._kept, self._noted = cursor, time.monotonic()

    async def _deliver(self, part: Part) -> None:
        """Send what is told, again and again, until the receiver has taken it."""
        hook, stream = self._hook, self._writer.name
        first, last = part.told[0]["number"], part.told[-1]["number"]
        body = msgspec.json.encode({"hook": hook.name, "stream": stream, "events": part.told})
        number = str(first) if first == last else f"{first}-{last}"
        tries = 0
        while True:
            timestamp = str(int(time.time()))
            signed = {TIMESTAMP: timestamp, SIGNATURE: signature_of(body, timestamp, hook.secret), DELIVERY: number}
            headers = {"Content-Type": "application/json", "User-Agent": "appletaste", **signed}
            try:
                await self._couriers.send(hook, body, headers)
                break
            except PostingError as error:
                self._couriers.failures[hook.name] += 1
                wait = pause(tries)
                tries += 1
                log.warning(
                    "a hook was not taken",
                    extra=self._named(error) | {"told": str(error), "number": number, "again_in": round(wait, 1)},
                )
                await asyncio.sleep(wait)
        if tries:
            log.info("a hook was taken again", extra={"hook": hook.name, "stream": stream, "tries": tries + 1})

    def _named(self, error: Exception) -> dict[str, Any]:
        return {"hook": self._hook.name, "stream": self._writer.name, "error": type(error).__name__}


def pause(tries: int) -> float:
    """Return how many seconds to wait after so many tries: between half and all of what has doubled each time."""
    longest = min(FIRST * 2.0 ** min(tries, 20), LONGEST)
    return longest * random.uniform(0.5, 1.0)
