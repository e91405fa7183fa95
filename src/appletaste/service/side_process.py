"""Long questions are answered by a process beside the writer, which reads the store, answers one, and is gone.

A question about a million decisions takes seconds of a processor and hundreds of megabytes. In the process of the
writer both would be missing for decisions, and the memory would stay. The side process gives way to everything else:
its priority is low, and it is the first to go when memory runs out. Short records are read in a thread.

One question is answered at a time; whoever asks the same meanwhile gets the same answer, and an answer is kept until
something happens in the stream. Beyond ``MOST`` different ones the service says that it has too much to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ..errors import AppleTasteError
from ..records.stores import MemoryStore, Store, open_store
from ..records.stores.store import Place
from .problems import Problem, problem_of
from .writer import Writer

log = logging.getLogger("appletaste.service")
#: Events of a record up to which a question is answered in a thread: a process takes two seconds to begin.
SHORT = 20_000
#: Different long questions that are worked on or wait, and answers that are kept.
MOST, KEPT = 4, 32
#: Seconds after which a question is given up, and after which one that was refused is worth repeating.
PATIENCE, LATER = 600.0, 10
#: How far a side process gives way to others.
NICE = 10


class Reading(NamedTuple):
    """What a long question is asked of: the record of a stream up to an event, and its names."""

    place: Place
    seq: int
    policy: str
    names: list[str] | None


#: Answers a long question; a function of a module, so that another process finds it by name.
Question = Callable[..., bytes]
#: Does some work in a thread, a few at a time.
Aside = Callable[..., Awaitable[Any]]


class Asked(msgspec.Struct, frozen=True, array_like=True):
    """A question as a side process hears it."""

    store: str
    stream: str
    seq: int
    policy: str
    names: list[str] | None
    module: str
    function: str
    given: list[Any]


class Told(msgspec.Struct, frozen=True, array_like=True):
    """The answer of a side process, or the problem that it is."""

    body: bytes
    problem: str = ""
    detail: str | None = None


class SideProcesses:
    """Answers long questions beside the writers of a store."""

    def __init__(self, store: Store, aside: Aside) -> None:
        self._store, self._aside = store, aside
        self._one = asyncio.Semaphore(1)
        self._under_way: dict[Any, asyncio.Task[bytes]] = {}
        self._kept: dict[Any, tuple[int, bytes]] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._closed = False

    async def ask(self, writer: Writer, question: Question, *given: Any) -> bytes:
        """Return the answer to a question about the stream of a writer as it is now, or was when somebody asked."""
        key = writer.name, question, given
        known = self._kept.get(key)
        if known is not None and known[0] == writer.seq:
            return known[1]
        task = self._under_way.get(key)
        if task is None:
            if len(self._under_way) >= MOST:
                raise Problem("overloaded", detail="other long questions are worked on", retry_after=LATER)
            task = self._under_way[key] = asyncio.create_task(self._answer(key, writer, question, given))
            task.add_done_callback(lambda _: self._under_way.pop(key, None))
        return await asyncio.shield(task)  # others wait for it, too

    async def _answer(self, key: Any, writer: Writer, question: Question, given: tuple[Any, ...]) -> bytes:
        seq, names = writer.seq, writer.names
        if seq < SHORT or isinstance(self._store, MemoryStore):
            reading = Reading(writer.place, seq, writer.policy, names)
            body: bytes = await self._aside(question, reading, *given)
        else:
            asked = Asked(
                self._store.opens_with,
                writer.name,
                seq,
                writer.policy,
                names,
                question.__module__,
                question.__name__,
                list(given),
            )
            async with self._one:
                body = await asyncio.to_thread(self._elsewhere, asked)
        if len(self._kept) >= KEPT:
            self._kept.clear()
        self._kept[key] = seq, body
        return body

    def _elsewhere(self, asked: Asked) -> bytes:
        """Let a process of its own answer."""
        if self._closed:
            raise Problem("not-ready")
        command = [sys.executable, "-m", __name__]
        process = self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            said, _ = process.communicate(msgspec.msgpack.encode(asked), timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            said = b""
        finally:
            self._process = None
        if process.returncode or not said:
            told = {"stream": asked.stream, "operation": asked.function, "code": process.returncode}
            log.error("a side process has ended without an answer", extra=told)
            raise Problem("not-ready" if self._closed else "internal")
        found = msgspec.msgpack.decode(said, type=Told)
        if found.problem:
            raise Problem(found.problem, detail=found.detail)
        return found.body

    def close(self) -> None:
        """Answer nothing more; whoever waits is told so."""
        self._closed = True
        if self._process is not None:
            self._process.kill()


def answer(asked: Asked) -> Told:
    """Return the answer to a question about a store that another process writes."""
    store = open_store(asked.store, read_only=True, create=False)
    try:
        reading = Reading(store.open(asked.stream), asked.seq, asked.policy, asked.names)
        body = getattr(importlib.import_module(asked.module), asked.function)(reading, *asked.given)
        return Told(body)
    except Problem as problem:
        return Told(b"", problem.name, problem.detail)
    except AppleTasteError as error:
        found = problem_of(error)
        return Told(b"", found.name, found.detail)
    finally:
        store.close()


def main() -> None:
    """Answer the question on the input, and end."""
    os.nice(NICE)
    with contextlib.suppress(OSError):  # where the machine has no such thing
        Path("/proc/self/oom_score_adj").write_text("1000")
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no answer
    asked = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=Asked)
    with out:
        out.write(msgspec.msgpack.encode(answer(asked)))


if __name__ == "__main__":
    main()
