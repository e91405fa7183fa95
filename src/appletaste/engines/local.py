"""The cores of this machine: processes, by joblib, which end with the one that started them; or threads of this one."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from ..errors import EngineError
from .pulse import current, follow
from .workers import RETRIES, Result, Task, Work, unpack, versions

#: Seconds between two looks at whether the parent is still there.
BETWEEN = 1.0


@dataclass(frozen=True)
class Local:
    """Processes on this machine; a single job runs in this process."""

    jobs: int

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the workers to joblib, which keeps them for the next run and ends them when idle."""

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of every task as they finish, each once."""
        if self.jobs == 1:
            pulse = current()
            yield from ((index, follow(pulse, index, function, task)) for index, task in enumerate(tasks))
            return
        from joblib import Parallel, delayed, parallel_config
        from joblib.externals.loky.process_executor import TerminatedWorkerError

        work = delayed(Attended(Work(function, versions()), os.getpid()))
        left = dict(enumerate(tasks))
        for _ in range(1 + RETRIES):
            try:
                with parallel_config("loky", n_jobs=self.jobs, inner_max_num_threads=1):  # a worker may die at once
                    outcomes = Parallel(return_as="generator_unordered")(work(*pair) for pair in list(left.items()))
                with warnings.catch_warnings(), _closing(outcomes):
                    # joblib starts a worker that has grown by 300 MB anew; said as an error, that would stop its thread
                    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
                    for index, outcome in outcomes:
                        del left[index]
                        yield index, unpack(outcome)
                return
            except TerminatedWorkerError:  # joblib gives up on the whole run; what is left starts again
                continue
        raise EngineError(f"workers died {1 + RETRIES} times, perhaps because memory ran out; use fewer jobs")


@dataclass(frozen=True)
class Attended:
    """Work for a worker that ends when the process that started it is gone, however that ended.

    A parent that is killed cannot tell anybody, and joblib's workers then finish their task and wait for minutes for
    the next one. So each worker looks now and then whether its parent is still the same. (Linux can send a signal
    instead, but when the *thread* ends that started the worker, and joblib starts workers from several.)
    """

    work: Work
    parent: int

    def __call__(self, index: int, task: Any) -> tuple[int, Any]:
        """Return what the work does, under a watch that the first task of a worker starts."""
        if not any(thread.name == WATCH for thread in threading.enumerate()):
            threading.Thread(target=_end_with, args=(self.parent,), name=WATCH, daemon=True).start()
        return self.work(index, task)


#: The name of the thread that looks.
WATCH = "appletaste-parent"


def _end_with(parent: int) -> None:
    """End this process, as it stands, once its parent is another."""
    while os.getppid() == parent:
        time.sleep(BETWEEN)
    os._exit(1)


@dataclass(frozen=True)
class Threads:
    """Threads of this process, for work that reads files and runs kernels: both leave the interpreter to others.

    Nothing is started or copied, so that two threads hold no more than one copy of everything.

    Examples
    --------
    >>> list(Threads(2).run(abs, [-3, 2]))
    [(0, 3), (1, 2)]
    """

    jobs: int

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of every task in their order; no more than a few are ahead of the reader."""
        pool = ThreadPoolExecutor(self.jobs)
        flight: deque[tuple[int, Future[Result]]] = deque()
        try:
            for index, task in enumerate(tasks):
                flight.append((index, pool.submit(function, task)))
                if len(flight) > 2 * self.jobs:
                    first, future = flight.popleft()
                    yield first, future.result()
            while flight:
                first, future = flight.popleft()
                yield first, future.result()
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _closing(outcomes: Generator[Any, None, None]) -> Iterator[None]:
    """Close a run that may have been left early, of which joblib would warn."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcomes.close()
