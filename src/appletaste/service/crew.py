"""The threads that all streams of a process share: some do what takes long, others commit.

A commit takes as long for one stream as for hundreds. Where a store is far away the writes of all streams that come
while a commit is under way share the next one. A commit that was begun in a file, which holds the file, has a thread of
its own: the others may all be waiting for the file.
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
        self._begun: SimpleQueue[Job | None] = SimpleQueue()
        self._workers: list[threading.Thread] = []
        self._committers: list[threading.Thread] = []
        self._finishers: list[threading.Thread] = []
        self.do = self._jobs.put  #: lets a thread do something, soon
        self.finish = self._begun.put  #: lets a thread commit what was begun, at once

    def grow(self, streams: int) -> None:
        """Have a thread for each of so many streams, up to what there may be."""
        if not self._finishers:
            self._finishers.append(self._started(lambda: _work(self._begun), "finisher"))
        while len(self._workers) < min(streams, WORKERS):
            self._workers.append(self._started(lambda: _work(self._jobs), "worker"))

    def keep(self, write: Write, told: Told) -> None:
        """Keep the rows of a stream together with those of others, and tell what became of them."""
        while len(self._committers) < COMMITTERS:
            self._committers.append(self._started(self._commit, "commit"))
        self._writes.put((write, told))

    def _started(self, work: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=work, name=f"appletaste {name}", daemon=True)
        thread.start()
        return thread

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
        for end, threads in (
            (self.do, self._workers),
            (self.finish, self._finishers),
            (self._writes.put, self._committers),
        ):
            for _ in threads:
                end(None)
            for thread in threads:
                thread.join()


def _work(jobs: SimpleQueue[Job | None]) -> None:
    for job in iter(jobs.get, None):
        job()
