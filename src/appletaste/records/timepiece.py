"""The clock of the machine as a record reads it, and whether somebody has set it meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable

#: Microseconds since 1970.
Clock = Callable[[], int]
#: A clock that is set by no more than this many microseconds is not worth a word.
WORTH = 3_600_000_000
_SINCE_START = getattr(time, "CLOCK_BOOTTIME", None)


def machine_clock() -> int:
    """Return the time of the machine in microseconds since 1970."""
    return time.time_ns() // 1000


def steady_clock() -> int:
    """Return microseconds since some moment by a clock that nobody sets; the time that a machine sleeps counts."""
    return (time.monotonic_ns() if _SINCE_START is None else time.clock_gettime_ns(_SINCE_START)) // 1000


class Timepiece:
    """Reads a clock that may be wrong, and notices beside a steady one when it was set.

    Examples
    --------
    >>> told = iter([0, 5, 864_000_000_005, 10])
    >>> piece = Timepiece(lambda: next(told), steady=lambda: 0)
    >>> [(piece.now(), piece.moved // 3_600_000_000) for _ in range(3)]
    [(5, 0), (864000000005, 240), (10, 0)]
    """

    def __init__(self, clock: Clock = machine_clock, steady: Clock | None = None, last: int = 0) -> None:
        """Begin to read; ``last`` is when something happened last, and a clock that is far behind was set back.

        Without a ``steady`` clock that of the machine has one; of any other clock nobody can tell whether it was set.
        """
        self._clock = clock
        self._steady = steady_clock if steady is None and clock is machine_clock else steady
        #: By how much the clock was set, in microseconds, since somebody asked; 0: it was not.
        self.moved = 0
        self._ahead = 0
        if self._steady is not None:
            found = clock()
            self._ahead = found - self._steady()
            if last - found > WORTH:
                self.moved = found - last

    def now(self) -> int:
        """Return the time by the clock, as it is."""
        found = self._clock()
        if self._steady is not None:
            moved = found - self._steady() - self._ahead
            if not -WORTH <= moved <= WORTH:
                self._ahead += moved
                self.moved += moved
        return found

    def take(self) -> int:
        """Return by how much the clock was set, once."""
        moved, self.moved = self.moved, 0
        return moved
