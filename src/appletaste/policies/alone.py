"""One thread at a time: a second one is refused in words, instead of losing work."""

from __future__ import annotations

from threading import RLock
from types import TracebackType

from ..errors import ThreadsError


class Alone:
    """A door for one thread at a time; a thread that is inside may go through again.

    Examples
    --------
    >>> alone = Alone("policy")
    >>> with alone, alone:
    ...     print("inside")
    inside
    """

    __slots__ = ("enter", "leave", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        lock = RLock()
        #: Bound methods: with both of them a call takes 0.1 us longer, through ``with`` 0.4 us.
        self.enter, self.leave = lock.acquire, lock.release

    def __enter__(self) -> None:
        if not self.enter(False):
            raise self.refusal()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.leave()

    def refusal(self) -> ThreadsError:
        """Return what a second thread is told."""
        return ThreadsError(
            f"another thread is using this {self.what} right now, and a {self.what} is for one thread at a time: put a "
            f"lock around every use of it (with lock: ...), or give each thread a {self.what} of its own"
        )

    def __reduce__(self) -> tuple[type[Alone], tuple[str]]:
        return type(self), (self.what,)  # a copy has a door of its own
