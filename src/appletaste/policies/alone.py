"""One thread at a time: a second one is refused in words, instead of losing work."""

from __future__ import annotations

from threading import get_ident
from types import TracebackType

from ..errors import ThreadsError


class Alone:
    """A door for one thread at a time; a thread that is inside may go through again.

    ``user`` is looked at and set with no call in between, where CPython would change threads. A ``with`` takes 0.2 us;
    verbs of every round say the same by ``enter``, which takes 0.07 us, and half of what a lock takes.

    Examples
    --------
    >>> alone = Alone("policy")
    >>> with alone, alone:
    ...     print("inside")
    inside
    >>> before = alone.enter()
    >>> try:
    ...     print("inside")
    ... finally:
    ...     alone.user = before
    inside
    """

    __slots__ = ("_before", "user", "what")

    def __init__(self, what: str) -> None:
        self.what = what
        self.user = 0  #: the thread that is inside; 0: none is
        self._before: list[int] = []

    def enter(self) -> int:
        """Go inside and return what ``user`` is to be on the way out."""
        me = get_ident()
        user = self.user
        if user and user != me:
            raise self._refusal()
        self.user = me
        return user

    def __enter__(self) -> None:
        before = self.enter()
        self._before.append(before)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.user = self._before.pop()

    def _refusal(self) -> ThreadsError:
        """Return what a second thread is told."""
        return ThreadsError(
            f"another thread is using this {self.what} right now, and a {self.what} is for one thread at a time: put a "
            f"lock around every use of it (with lock: ...), or give each thread a {self.what} of its own"
        )

    def __reduce__(self) -> tuple[type[Alone], tuple[str]]:
        return type(self), (self.what,)  # a copy has a door of its own
