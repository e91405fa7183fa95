"""What Ray and Dask have in common: an address or workers of one's own, and a bounded number of tasks in flight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, ClassVar, Self

from ..errors import EngineError, OptionError
from .workers import Result, Task, Work, unpack, versions

#: How long a cluster may take to answer, in seconds.
PATIENCE = 5


class Cluster(ABC):
    """A cluster at an address or, without one, ``jobs`` worker processes on this machine."""

    name: ClassVar[str]
    variable: ClassVar[str]  #: the environment variable that may hold the address
    recipe: ClassVar[str]  #: how to start a cluster by hand

    def __init__(self, jobs: int, address: str | None = None) -> None:
        self.jobs, self.address = jobs, address
        self._entered = False
        self._left: list[Any] = []  # futures of a run that was not heard to its end

    def __enter__(self) -> Self:
        try:
            self._connect()
        except (OSError, ValueError) as error:
            self._disconnect()
            if self.address is None:
                raise EngineError(f"a {self.name} cluster could not be started here: {error}") from error
            raise OptionError(
                f"no {self.name} cluster with workers answers at {self.address!r} ({error}); start one with "
                f"'{self.recipe}', or give no address to start {self.jobs} workers here for the run"
            ) from error
        except BaseException:
            self._disconnect()
            raise
        self._entered = True
        return self

    def __exit__(self, *error: object) -> None:
        self._entered = False
        self._left.clear()
        self._disconnect()

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of every task as they finish, each once, even if workers die."""
        if not self._entered:
            raise OptionError(f"the {self.name} engine is not running; open it first: with engine(...) as workers:")
        self._cancel(self._left)
        submit = self._submitter(Work(function, versions()))
        waiting = iter(enumerate(tasks))
        flight: set[Any] = set()
        done: set[int] = set()
        try:
            # Enough in flight that nobody waits for work, too few to flood a scheduler with a hundred thousand tasks.
            flight.update(submit(*pair) for pair in islice(waiting, max(64, 4 * self._slots())))
            while flight:
                finished = self._finished(list(flight))
                flight.difference_update(finished)
                flight.update(submit(*pair) for pair in islice(waiting, len(finished)))
                for index, outcome in finished.values():
                    if index not in done:
                        done.add(index)
                        yield index, unpack(outcome)
        finally:
            # Not cancelled here: leaving the cluster does that, and Ray may abort when the one follows the other.
            if self._entered:
                self._left = list(flight)

    def _failed(self, error: Exception) -> EngineError:
        return EngineError(
            f"the {self.name} cluster could not run a task ({type(error).__name__}: {error}); "
            "its workers need the same Python and appletaste as here, and enough memory"
        )

    @abstractmethod
    def _connect(self) -> None:
        """Reach the cluster or start one; an ``OSError`` or ``ValueError`` if there is none."""

    @abstractmethod
    def _disconnect(self) -> None:
        """Leave the cluster, and end it if it was started here; harmless if there is none."""

    @abstractmethod
    def _slots(self) -> int:
        """Return how many tasks run at a time."""

    @abstractmethod
    def _submitter(self, work: Work) -> Callable[[int, Any], Any]:
        """Return the function that sends a task off and returns its future."""

    @abstractmethod
    def _finished(self, futures: list[Any]) -> dict[Any, tuple[int, Any]]:
        """Wait until at least one future is done; return all that are, with what their workers returned."""

    @abstractmethod
    def _cancel(self, futures: list[Any]) -> None:
        """Drop tasks that nobody waits for any more."""
