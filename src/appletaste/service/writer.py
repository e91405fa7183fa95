"""One writer for each stream: a thread that applies what waits in order; another one commits in groups and answers.

A commit takes as long for one request as for hundreds, and most of it is waiting for the disk. So those that arrive
while one is under way are applied on top of it, and share the next. An answer leaves after its commit. When a commit
fails nobody knows what the disk holds: the writer stops for good, what was applied on top is not written, and opening
the stream again finds out.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

from ..errors import (
    AppleTasteError,
    ConflictError,
    FeedbackError,
    InputError,
    NotOwnerError,
    RecordError,
    StoppedError,
    StoreError,
    UnknownDecisionError,
)
from ..live import Stream
from .cells import Door
from .metrics import Metrics
from .problems import Problem

#: Requests that may wait; a batch counts as one.
WAITING = 2000
#: Requests that share a commit at most.
GROUP = 256
#: While a commit is under way, fewer than these wait for its end: each group asks the store whether its ids are new.
FEW = 16

T = TypeVar("T")
Work = Callable[[Stream], Any]


class Asked(NamedTuple):
    """A request that waits: what to do with the stream, which decisions it asks for, and who waits for the answer."""

    work: Work
    ids: tuple[str, ...]
    alone: bool  #: in no group: the verb commits by itself
    answer: asyncio.Future[Any]
    since: float


class Writer:
    """Owns a stream; every verb of the stream is called in its thread and nowhere else, a commit in that of commits."""

    def __init__(self, stream: Stream, metrics: Metrics, stopped: Callable[[Writer], None]) -> None:
        self.name, self._stream, self._metrics, self._on_stop = stream.name, stream, metrics, stopped
        self.place = stream.record.place
        self.door = door_of(stream)
        self.policy = stream.player.policy.name
        #: The names of the features, where there are any.
        self.names = None if stream.features is None else stream.features.names()
        #: Why nothing is written any more, empty: it is; and whether another process owns the stream by now.
        self.stopped, self.lost = "", False
        self.seq = stream.record.written.seq  #: of the last event that is on disk
        self._watchers: set[asyncio.Event] = set()
        self._waiting: deque[Asked] = deque()
        self._wake = threading.Event()
        self._applied: list[tuple[Asked, Any]] = []  # and what each led to; not yet committed
        self._commits = ThreadPoolExecutor(1, f"appletaste commits of {stream.name}")
        self._under_way: Future[BaseException | None] | None = None
        self._committing = False
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._thread = threading.Thread(target=self._run, name=f"appletaste writer {stream.name}", daemon=True)
        self._thread.start()

    # ---- in the event loop

    async def do(self, work: Callable[[Stream], T], ids: tuple[str, ...] = (), alone: bool = False) -> T:
        """Do something with the stream; what it returns is durable then."""
        if self.stopped or self._closing:
            raise Problem("not-ready")
        if len(self._waiting) >= WAITING:
            self._metrics.overloads += 1
            raise Problem("overloaded")
        answer: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append(Asked(work, ids, alone, answer, time.perf_counter()))
        if not self._wake.is_set():
            self._wake.set()
        return await answer

    @property
    def depth(self) -> int:
        """How many requests wait."""
        return len(self._waiting)

    def watch(self) -> asyncio.Event:
        """Return a flag that is set whenever something was committed; the watcher clears it."""
        flag = asyncio.Event()
        self._watchers.add(flag)
        return flag

    def unwatch(self, flag: asyncio.Event) -> None:
        """Forget a flag."""
        self._watchers.discard(flag)

    def wake_watchers(self) -> None:
        """Set all flags."""
        for flag in self._watchers:
            flag.set()

    async def close(self) -> None:
        """Finish what waits, and let go of the stream."""
        self._closing = True
        self._wake.set()
        await asyncio.to_thread(self._thread.join)

    def _deliver(self, group: list[tuple[asyncio.Future[Any], Any]]) -> None:
        for answer, outcome in group:
            if not answer.done():  # whoever asked may be gone
                if isinstance(outcome, BaseException):
                    answer.set_exception(outcome)
                else:
                    answer.set_result(outcome)
        self.wake_watchers()
        if self.stopped and not self._closing:
            self._on_stop(self)

    # ---- in the thread of the writer

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            while self._waiting and not (self._committing and len(self._waiting) < FEW):
                self._one_group()
                if not self._committing:
                    self._commit()
            if not self._committing:
                self._commit()
            if (self._closing or self.stopped) and not self._waiting:
                break
        self._settle()
        self._commits.shutdown()
        self._refuse_the_rest()
        try:
            self._stream.close()
        except (AppleTasteError, OSError) as error:
            self.stopped = self.stopped or str(error)

    def _next_group(self) -> list[Asked]:
        """Return the requests that are applied together."""
        waiting, group = self._waiting, [self._waiting.popleft()]
        while waiting and len(group) < GROUP and not (group[0].alone or waiting[0].alone):
            group.append(waiting.popleft())
        return group

    def _one_group(self) -> None:
        """Apply what waits, on top of what is being committed."""
        group = self._next_group()
        by_itself = group[0].alone or self._stream.snapshot_due
        if by_itself or len(self._applied) >= GROUP:
            self._settle()
        if self.stopped:
            self._send([(asked.answer, Problem("not-ready")) for asked in group])
        elif by_itself:
            self._answer(group, lambda: self._at_once(group))
        else:
            try:
                with self._stream.ahead([id for asked in group for id in asked.ids]):
                    outcomes = [self._outcome(asked.work) for asked in group]
                self._applied += zip(group, outcomes, strict=True)
            except BaseException as error:
                problem = self._failed(error)
                self._send([(asked.answer, problem) for asked in group])

    def _at_once(self, group: list[Asked]) -> tuple[list[Any], int]:
        """Apply and commit with nothing else under way."""
        if group[0].alone:
            outcomes = [self._outcome(group[0].work)]
        else:
            with self._stream.together([id for asked in group for id in asked.ids]):
                outcomes = [self._outcome(asked.work) for asked in group]
        self.stopped = self.stopped or self._stream.stopped
        return outcomes, self._stream.record.written.seq

    def _commit(self) -> None:
        """Let the other thread commit what was applied, after the commit before."""
        self._land()
        if not self._applied:
            return
        group, outcomes = [asked for asked, _ in self._applied], [outcome for _, outcome in self._applied]
        self._applied = []
        try:
            write, last = self._stream.hand_over(), self._stream.record.head.seq
        except StoppedError:
            problem = Problem("not-ready" if self.lost else "outcome-unknown")
            self._send([(asked.answer, problem) for asked in group])
            return

        def work() -> tuple[list[Any], int]:
            write()
            return outcomes, last

        self._committing = True
        self._under_way = self._commits.submit(self._answer, group, work)

    def _land(self) -> None:
        """Wait for the commit that is under way; one that failed stops the stream."""
        if self._under_way is not None:
            self._stream.landed(self._under_way.result())
            self._under_way = None

    def _settle(self) -> None:
        """Wait until all that was applied is committed."""
        self._commit()
        self._land()

    def _answer(self, group: list[Asked], work: Callable[[], tuple[list[Any], int]]) -> BaseException | None:
        """Do what commits a group, answer, and return what went wrong."""
        began, failed = time.perf_counter(), None
        try:
            outcomes, self.seq = work()
            done = [(asked.answer, outcome) for asked, outcome in zip(group, outcomes, strict=True)]
        except BaseException as error:
            failed, problem = error, self._failed(error)
            done = [(asked.answer, problem) for asked in group]
        now = time.perf_counter()
        self._metrics.group(len(group), now - began, now - group[0].since)
        self._send(done)
        self._committing = False
        self._wake.set()
        return failed

    def _failed(self, error: BaseException) -> Problem:
        """Take note of a group that failed."""
        if isinstance(error, NotOwnerError):  # nothing of the group was written
            self.stopped, self.lost = str(error), True
            return Problem("not-ready")
        self.stopped = f"a commit failed: {error}"
        return Problem("outcome-unknown")

    def _outcome(self, work: Work) -> Any:
        """Return what a request led to, or the problem that it is; one of the service itself stops the writer."""
        try:
            return work(self._stream)
        except Problem as problem:
            return problem
        except AppleTasteError as error:
            if isinstance(error, StoreError) or self._stream.stopped:
                self.stopped, self.lost = self._stream.stopped or str(error), isinstance(error, NotOwnerError)
                return Problem("not-ready" if self.lost else "outcome-unknown")
            return problem_of(error)
        except Exception as error:  # what is in memory may not be what is on disk: begin again from the disk
            self.stopped = f"{type(error).__name__} in a request"
            self._metrics.errors += 1
            return Problem("internal")

    def _refuse_the_rest(self) -> None:
        while self._waiting:
            self._send([(self._waiting.popleft().answer, Problem("not-ready"))])

    def _send(self, done: list[tuple[asyncio.Future[Any], Any]]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._deliver, done)
        except RuntimeError:  # the loop is gone, and so is everybody who asked
            return


def door_of(stream: Stream) -> Door:
    """Return what checks the items of a stream."""
    settings = stream.settings
    prices: set[str] = set()
    if settings["costs_by_item"] is not None:
        from ..costs_by_item import CostsByItem

        prices = set(CostsByItem(**settings["costs_by_item"]).columns)
    width = stream.player.policy.n_features
    return Door(stream.features, settings["roles"], tuple(sorted(prices)), width)


def problem_of(error: AppleTasteError) -> Problem:
    """Return what is said of an error of the library; its own words may hold what the request said."""
    if isinstance(error, ConflictError):
        return Problem("event-conflict")
    if isinstance(error, UnknownDecisionError):
        return Problem("unknown-decision")
    if isinstance(error, RecordError):
        return Problem("cannot-happen", detail="the record does not verify, and the stream stays in safe mode")
    if isinstance(error, FeedbackError):
        return Problem("cannot-happen")
    if isinstance(error, InputError):
        return Problem("validation")
    return Problem("internal")
