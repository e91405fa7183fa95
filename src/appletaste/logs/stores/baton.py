"""A lock that one thread takes and another may give back."""

from __future__ import annotations

from threading import Lock, get_ident
from types import TracebackType


class Baton:
    """A lock; the thread that has it may take it again, or leave it to whichever thread enters next.

    Examples
    --------
    >>> from threading import Thread
    >>> baton = Baton()
    >>> baton.acquire()
    True
    >>> baton.leave()
    >>> baton.acquire(blocking=False)  # nobody has it, and it is not free
    False
    >>> def finish():
    ...     baton.enter()
    ...     baton.release()
    >>> other = Thread(target=finish)
    >>> other.start()
    >>> other.join()
    >>> with baton, baton:
    ...     print("free again")
    free again
    """

    __slots__ = ("_depth", "_lock", "_user")

    def __init__(self) -> None:
        self._lock, self._user, self._depth = Lock(), 0, 0

    def acquire(self, blocking: bool = True) -> bool:
        """Take it, or return False where another thread has it."""
        me = get_ident()
        if self._user != me:
            if not self._lock.acquire(blocking):
                return False
            self._user = me
        self._depth += 1
        return True

    def release(self) -> None:
        """Give it back, as often as it was taken."""
        self._depth -= 1
        if not self._depth:
            self._user = 0
            self._lock.release()

    def leave(self) -> None:
        """Keep it from all others until some thread enters; for one that took it once."""
        self._user = 0

    def enter(self) -> None:
        """Have what another thread has left."""
        self._user = get_ident()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
