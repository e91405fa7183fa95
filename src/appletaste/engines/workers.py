"""What an engine is, and the function as its workers see it."""

from __future__ import annotations

import pickle
import platform
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

from ..errors import EngineError, OptionError
from .pulse import current, follow

Task = TypeVar("Task")
Result = TypeVar("Result")

#: How often a task may lose its worker before the run gives up: one that kills every worker must not go on for ever.
RETRIES = 5
#: One thread per worker: the tasks are the parallel part, which a linear algebra library cannot know.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


class Engine(Protocol):
    """Runs one pure function over many tasks; used in a ``with`` block, after which nothing is left running."""

    def __enter__(self) -> Self:
        """Reach the workers, or start them."""

    def __exit__(self, *error: object) -> None:
        """Stop what was started."""

    def run(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[tuple[int, Result]]:
        """Yield the index and the result of every task as they finish, each once, even if workers die.

        An error of the function is raised as itself; the other tasks are then dropped.
        """


@cache
def versions() -> dict[str, str]:
    """Return what must be the same on every worker for the numbers to be the same."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: version(name) for name in ("appletaste", "numpy", "numba")}}


@dataclass(frozen=True)
class Failure:
    """An error of the function on its way back; as a value, because engines wrap errors and run the task again."""

    error: Exception
    story: str


@dataclass(frozen=True)
class Work:
    """The function as workers see it: refused where versions differ, with the task's index, its errors as values."""

    function: Callable[[Any], Any]
    versions: dict[str, str]
    pulse: Path | None = field(default_factory=current)  #: where tasks say how far they have come, if somebody waits

    def __call__(self, index: int, task: Any) -> tuple[int, Any]:
        """Return the index and the result, or the index and a ``Failure``."""
        try:
            if self.versions != versions():
                raise OptionError(
                    f"worker {platform.node()} has {versions()}, the caller has {self.versions}; "
                    "the same numbers need the same versions"
                )
            return index, follow(self.pulse, index, self.function, task)
        except Exception as error:
            return index, Failure(_portable(error), traceback.format_exc())


def _portable(error: Exception) -> Exception:
    """Return the error if it survives the journey, otherwise one that says the same."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return EngineError(f"a task failed with {type(error).__name__}: {error}")
    return error


def unpack(outcome: Any) -> Any:
    """Return a result, or raise the error that took its place."""
    if isinstance(outcome, Failure):
        outcome.error.add_note(f"In the worker:\n{outcome.story}")
        raise outcome.error
    return outcome
