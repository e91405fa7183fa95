"""The threads that all streams of a process share: some do what takes long, two keep what many streams have written.

A commit takes as long for one stream as for hundreds. Where a store is far away the writes of all streams that come
while a commit is under way share the next one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue

from ..records.stores import Store
from ..records.stores.store import Write

Job = Callable[[], None]
Told = Callable[[BaseException | None], None]
#: Threads that do what takes long, at most; and threads that commit: while one waits for the disk the other gathers.
WORKERS, COMMITTERS = 16, 2
#: Streams whose writes share a commit, at most.
SHARED = 500


class Crew:
    """Threads that begin when they are needed; ``close`` waits until all is done."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._writes: SimpleQueue[tuple[Write, Told] | None] = SimpleQueue()
        self._workers: list[threading.Thread] = []
        self._committers: list[threading.Thread] = []
        self.do = self._jobs.put  #: lets a thread do something, soon

    def grow(self, streams: int) -> None:
        """Have a thread for each of so many streams, up to what there may be."""
        while len(self._workers) < min(streams, WORKERS):
            self._workers.append(self._started(self._work, "worker"))

    def keep(self, write: Write, told: Told) -> None:
        """Keep the rows of a stream together with those of others, and tell what became of them."""
        while len(self._committers) < COMMITTERS:
            self._committers.append(self._started(self._commit, "commit"))
        self._writes.put((write, told))

    def _started(self, work: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=work, name=f"appletaste {name}", daemon=True)
        thread.start()
        return thread

    def _work(self) -> None:
        for job in iter(self._jobs.get, None):
            job()

    def _commit(self) -> None:
        while (first := self._writes.get()) is not None:
            found = [first]
            while len(found) < SHARED:
                try:
                    more = self._writes.get_nowait()
                except Empty:
                    break
                if more is None:
                    self._writes.put(None)  # for the end, which is not yet
                    break
                found.append(more)
            try:
                outcomes: Sequence[BaseException | None] = self._store.append_all([write for write, _ in found])
            except BaseException as error:  # or all of them would wait for ever
                outcomes = [error] * len(found)
            for (_, told), failed in zip(found, outcomes, strict=True):
                told(failed)

    def close(self) -> None:
        """Finish what waits, and end."""
        for queue, threads in ((self._jobs, self._workers), (self._writes, self._committers)):
            for _ in threads:
                queue.put(None)
            for thread in threads:
                thread.join()
