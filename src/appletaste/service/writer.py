"""One writer for each stream: requests are applied in order as they come, committed in groups, and then answered.

A decision takes microseconds, and a commit milliseconds, for one request as for hundreds. So the event loop applies
what is quick by itself and writes what has gathered, and a thread waits for the disk while the loop goes on applying on
top of it. What may take long is applied by a thread, which has the stream then. The loop says what is next. All streams
share the threads (``Crew``), and a stream has one of them at a time at most.

An answer leaves after the commit of all that it may have seen. When a commit fails nobody knows what the disk holds:
the writer stops for good, what was applied on top is not written, and opening the stream again finds out.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

from ..decision import new_tuple
from ..errors import AppleTasteError, NotOwnerError, StoreError
from ..records.stores.store import Write
from ..streams import Stream
from .crew import Crew
from .door import door_of
from .metrics import Metrics
from .problems import Problem, problem_of

#: Requests that may wait, to be applied or to be committed; a batch counts as one.
WAITING = 2000
#: Requests that are applied at a time at most.
GROUP = 256
#: Fewer than so many wait until a commit that is under way is done: to begin a group takes as long as ten decisions.
FEW = 24
#: Where the last commit was of more requests than this, the next waits for most of those who are answered now, beside
#: those who wait already, this long at most: they are about to ask again, and a small commit takes as long as a large.
SMALL, SOON, MOST = 4, 0.005, 0.9
#: Commits whose durations are kept.
COMMITS = 200
#: Seconds of processor for each request from which on the thread applies them: a slow policy must not hold the loop up.
SLOW = 0.0005

A = TypeVar("A")
T = TypeVar("T")
#: Does what many requests of a kind ask for, each by itself.
Each = Callable[[Stream, list[Any]], list[Any]]


class Asked(NamedTuple):
    """A request that waits: what to do with the stream, which decisions it asks for, and who waits for the answer."""

    work: Any  #: a function of the stream; or what ``each`` is given, with those of its neighbours
    each: Each | None
    ids: tuple[str, ...]
    quick: bool  #: takes microseconds: the event loop may apply the request
    alone: bool  #: in no group: the verb commits by itself
    answer: asyncio.Future[Any]
    since: float


_each_of = itemgetter(Asked._fields.index("each"))  # asking by name takes three times as long
#: What requests led to; what is yet to be worded is a function without arguments that does so.
Done = list[tuple[Asked, Any]]


class Writer:
    """Owns a stream; a verb of the stream is called by the loop, or by a thread while it has the stream."""

    def __init__(self, stream: Stream, metrics: Metrics, stopped: Callable[[Writer], None], crew: Crew) -> None:
        self.name, self._stream, self._metrics, self._on_stop = stream.name, stream, metrics, stopped
        self.place = stream.record.place
        stream.grow_trees_beside()
        self.door = door_of(stream)
        self.policy = stream.player.policy.name
        self.features = stream.features  #: the map; levels may be added to it, and nothing else is to be written there
        #: Why nothing is written any more, empty: it is; and whether another process owns the stream by now.
        self.stopped, self.lost = "", False
        self.seq = stream.record.written.seq  #: of the last event that is on disk
        #: Seconds that the last commits took.
        self.commits: deque[float] = deque(maxlen=COMMITS)
        self._watchers: set[asyncio.Event] = set()
        self._waiting: deque[Asked] = deque()  # not applied
        self._applied: Done = []  # not committed
        self._seconds = math.inf  # seconds for each request of those applied last; the first ones load compiled code
        self._gathering = self._closing = False
        self._busy = False  # the thread has something to do
        self._away = False  # the thread has the stream, and the loop must not touch it
        self._wanted = 0  # requests that the next commit waits for
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None  # while more requests are waited for
        self._crew = crew
        self._ended = asyncio.Event()
        self.used = time.monotonic()  #: when somebody last asked for the stream

    @property
    def stream(self) -> Stream:
        """The stream, for whoever counts, from any thread, and changes nothing."""
        return self._stream

    @property
    def names(self) -> list[str] | None:
        """The names of the features, as they are now; None: items are vectors."""
        return None if self.features is None else self.features.names()

    # ---- in the event loop

    def do(
        self, work: Callable[[Stream], T], ids: tuple[str, ...] = (), *, quick: bool = False, alone: bool = False
    ) -> asyncio.Future[T]:
        """Do something with the stream; what it returns, to whoever awaits it, is durable then."""
        return self._ask(work, None, ids, quick, alone)

    def do_each(
        self, each: Callable[[Stream, list[A]], list[Callable[[], T] | Problem]], asked: A, id: str
    ) -> asyncio.Future[T]:
        """Do something quick that many ask for at a time: what all of them ask is done in one call.

        What that returns words the answers, while the disk is waited for.
        """
        return self._ask(asked, each, (id,), True, False)

    def _ask(self, work: Any, each: Each | None, ids: tuple[str, ...], quick: bool, alone: bool) -> asyncio.Future[Any]:
        if self.stopped or self._closing:
            raise Problem("not-ready")
        if self.depth >= WAITING:
            self._metrics.overloads += 1
            raise Problem("overloaded")
        answer: asyncio.Future[Any] = self._loop.create_future()
        self._waiting.append(new_tuple(Asked, (work, each, ids, quick, alone, answer, time.perf_counter())))
        if not self._gathering:  # others that have come by now share one look at the store
            self._gathering = True
            self._loop.call_soon(self._go_on)
        return answer

    def _go_on(self, waited: bool = False) -> None:
        """Apply what is quick and write it, or let the thread do what is not, if it is time for that."""
        self._gathering = False
        if waited:
            self._timer = None
        if self._busy:
            if len(self._waiting) >= FEW:
                self._apply_quick()
            return
        if not self._left():
            if self._closing or self.stopped:
                self._end()
            return
        if self.depth < self._wanted and not (waited or self._closing or self.stopped):
            if self._timer is None:
                self._timer = self._loop.call_later(SOON, self._go_on, True)
            return
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._busy = True
        self._apply_quick()
        if (self._waiting and not self.stopped) or self._stream.snapshot_due:
            self._away = True
            self._crew.do(self._next)
        else:
            self._begin()

    def _apply_quick(self) -> None:
        """Apply what the loop may apply, up to what it may not."""
        if self.place.near and self._seconds < SLOW and not self._away:
            self._apply(quick=True)

    def _begin(self) -> None:
        """Write what was applied, and let the thread wait for the disk.

        A statement here takes microseconds. In the thread each one would wait until the loop lets it go on.
        """
        done, self._applied = self._applied, []
        last = self._stream.record.head.seq
        try:
            write = self._stream.prepare(begin=True)
        except BaseException as error:
            write = partial(_raise, error)
        later = self._crew.do if isinstance(write, Write) else self._crew.finish
        later(partial(self._commit, write, last, done))

    def _committed(self, done: Done, failed: BaseException | None) -> None:
        """Take note of a commit, let the next begin, and answer."""
        self._stream.committed(failed)
        self._rested(len(done))
        self._deliver(done)

    def _rested(self, size: int) -> None:
        """Go on after the thread has done something for so many requests."""
        self._busy = False
        self._wanted = int(MOST * (size + self.depth)) if size > SMALL else 0
        self._go_on()

    def _left(self) -> bool:
        """Return whether there is something to commit, or to apply."""
        return bool(self._applied) or (bool(self._waiting) and not self.stopped)

    def _end(self) -> None:
        """Let go of the stream, and answer what will not be applied any more."""
        self._busy = True
        self._crew.do(self._close)
        done: Done = [(asked, Problem("not-ready")) for asked in self._waiting]
        self._waiting.clear()
        if done:
            self._deliver(done)

    @property
    def depth(self) -> int:
        """How many requests wait."""
        return len(self._waiting) + len(self._applied)

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
        self._go_on()
        await self._ended.wait()

    def quiet(self, seconds: float, watchers: int = 0) -> bool:
        """Return whether nobody has asked for the stream for so long, and no more than so many look on."""
        looked_at = len(self._watchers) > watchers
        return not (self.depth or self._busy or looked_at) and time.monotonic() - self.used > seconds

    def _word(self, done: Done) -> None:
        """Word the answers that are not yet worded."""
        for place, (asked, outcome) in enumerate(done):
            if callable(outcome):
                done[place] = asked, self.worded(outcome)

    def worded(self, outcome: Callable[[], T]) -> T | Problem:
        """Word an answer; one that cannot be worded stops nobody: the work is done, and others wait for theirs."""
        try:
            return outcome()
        except Exception:
            self._metrics.errors += 1
            return Problem("internal")

    def _deliver(self, done: Done) -> None:
        self._word(done)
        for asked, outcome in done:
            answer = asked.answer
            if not answer.done():  # whoever asked may be gone
                if isinstance(outcome, BaseException):
                    answer.set_exception(outcome)
                else:
                    answer.set_result(outcome)
        self.wake_watchers()
        if self.stopped and not self._closing:
            self._on_stop(self)

    # ---- by the loop, or by the thread

    def _apply(self, quick: bool) -> None:
        """Apply what waits, in order, up to what must be alone; ``quick``: or to what may take long."""
        waiting, group = self._waiting, list[Asked]()
        while waiting and len(group) < GROUP and not self.stopped:
            if waiting[0].alone or (quick and not waiting[0].quick):
                break
            group.append(waiting.popleft())
        if not group:
            return
        began = time.thread_time()  # what others do on the machine makes no policy slow
        try:
            with self._stream.group([id for asked in group for id in asked.ids], commit=False):
                done = [pair for each, run in groupby(group, _each_of) for pair in self._outcomes(each, list(run))]
        except BaseException as error:
            problem = self._failed(error)
            done = [(asked, problem) for asked in group]
        self._applied += done
        self._seconds = (time.thread_time() - began) / len(group)

    def _outcomes(self, each: Each | None, run: list[Asked]) -> Done:
        """Return what requests led to that are done alike."""
        if each is None:
            return [(asked, self._outcome(asked.work)) for asked in run]
        found = self._outcome(lambda stream: each(stream, [asked.work for asked in run]))
        return list(zip(run, found if isinstance(found, list) else [found] * len(run), strict=True))

    def _outcome(self, work: Callable[[Stream], Any]) -> Any:
        """Return what a request led to, or the problem that it is; one of the service itself stops the writer."""
        try:
            return work(self._stream)
        except Problem as problem:
            return problem
        except AppleTasteError as error:
            if isinstance(error, StoreError) or self._stream.stopped:
                return self._failed(error)
            return problem_of(error)
        except Exception as error:  # what is in memory may not be what is on disk: begin again from the disk
            self.stopped = f"{type(error).__name__} in a request"
            self._metrics.errors += 1
            return Problem("internal")

    def _failed(self, error: BaseException) -> Problem:
        """Stop for good, and return what is said to those whose requests may be on disk, or not."""
        self.lost = self.lost or isinstance(error, NotOwnerError)  # then nothing was written
        self.stopped = self.stopped or self._stream.stopped or str(error) or type(error).__name__
        return Problem("not-ready" if self.lost else "outcome-unknown")

    # ---- in a thread

    def _next(self) -> None:
        """Apply what the loop has left, and commit; what must be alone, and a snapshot, have the stream to the end."""
        self._apply(quick=False)
        write, last = self._stream.prepare(), self._stream.record.head.seq
        done, self._applied = self._applied, []
        alone = bool(self._waiting) and self._waiting[0].alone
        if not (alone or self._stream.snapshot_due):
            self._away = False  # others may be applied on top
            self._commit(write, last, done)
            return
        done, failed = self._written(write, last, done)
        self._stream.committed(failed)
        self._in_loop(self._deliver, done)
        if alone and not self.stopped:
            self._by_itself(self._waiting.popleft())
        self._away = False
        self._in_loop(self._rested, len(done))

    def _commit(self, write: Callable[[], None], last: int, done: Done) -> None:
        """Make what was applied durable; the loop words the answers meanwhile.

        Not before this thread is on its way to the disk, or it would wait for the loop.
        """
        self._in_loop(self._word, done)
        if self.place.near or not isinstance(write, Write) or not write.rows:
            self._in_loop(self._committed, *self._written(write, last, done))
        else:
            self._crew.keep(write, partial(self._kept, last, done, time.perf_counter()))

    def _written(self, write: Callable[[], None], last: int, done: Done) -> tuple[Done, BaseException | None]:
        """Make what was applied durable, up to an event; return what it led to, and why that failed, if it did."""
        began = time.perf_counter()
        try:
            write()
        except BaseException as error:
            return self._settled(last, done, began, error), error
        return self._settled(last, done, began, None), None

    def _kept(self, last: int, done: Done, began: float, failed: BaseException | None) -> None:
        """Take note of a commit that other streams shared."""
        self._in_loop(self._committed, self._settled(last, done, began, failed), failed)

    def _settled(self, last: int, done: Done, began: float, failed: BaseException | None) -> Done:
        """Return what requests led to, now that their commit is done or has failed."""
        if failed is not None:
            problem = self._failed(failed)
            done = [(asked, problem) for asked, _ in done]
        else:
            if last > self.seq:
                self.commits.append(time.perf_counter() - began)
            self.seq = last
        self._count(done, began)
        return done

    def _by_itself(self, asked: Asked) -> None:
        """Do what commits by itself, and answer."""
        began = time.perf_counter()
        done = [(asked, self._outcome(asked.work))]
        self.seq = self._stream.record.written.seq
        self.stopped = self.stopped or self._stream.stopped
        self._count(done, began)
        self._in_loop(self._deliver, done)

    def _count(self, done: Done, began: float) -> None:
        if done:
            now = time.perf_counter()
            self._metrics.group(len(done), now - began, now - done[0][0].since)

    def _close(self) -> None:
        try:
            self._stream.close()
        except (AppleTasteError, OSError) as error:
            self.stopped = self.stopped or str(error)
        self.stopped = self.stopped or "it was closed"  # live views end
        self._in_loop(self._ended.set)
        self._in_loop(self.wake_watchers)

    def _in_loop(self, call: Callable[..., None], *given: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(call, *given)
        except RuntimeError:  # the loop is gone, and so is everybody who asked
            return


def _raise(error: BaseException) -> None:
    raise error
