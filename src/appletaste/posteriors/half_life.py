"""How fast a belief forgets: a half-life, on a clock that counts items or time (docs/drift.md)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from ..errors import OptionError
from ..times import DAY

#: A number of items, or a length of time: ``"30d"`` or a ``timedelta``.
HalfLife = float | str | timedelta | None
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": DAY, "w": 7.0 * DAY}
#: A belief forgets in steps of this part of a half-life: each costs O(d^3), and between two a weight is off by 2 %.
STEP = 1.0 / 32.0


@dataclass(frozen=True)
class Forgetting:
    """A label of age a counts 2^(-a / half_life).

    Examples
    --------
    >>> Forgetting.of(2000), Forgetting.of("30d")
    (Forgetting(half_life=2000.0, timed=False), Forgetting(half_life=2592000.0, timed=True))
    >>> Forgetting.of("30d").text
    '2592000.0s'
    """

    half_life: float
    timed: bool  #: whether ages are in units of time, rather than in items

    @staticmethod
    def of(half_life: HalfLife) -> Forgetting | None:
        """Return how fast to forget; None and infinity: not at all."""
        if half_life is None:
            return None
        timed, length = False, math.nan
        if isinstance(half_life, timedelta):
            timed, length = True, half_life.total_seconds()
        elif isinstance(half_life, str):
            timed, found = True, re.fullmatch(r"\s*([0-9.eE+-]+)\s*([smhdw])\s*", half_life)
            if found:
                try:
                    length = float(found[1]) * UNITS[found[2]]
                except ValueError:
                    length = math.nan
        elif isinstance(half_life, int | float | np.number) and not isinstance(half_life, bool):
            length = float(half_life)
        if not length > 0.0:
            raise OptionError(
                "half_life is a number of items > 0, such as 2000, or a length of time, such as '30d' (s, m, h, d, w) "
                f"or a timedelta; got {half_life!r}"
            )
        return None if math.isinf(length) else Forgetting(length, timed)

    @property
    def text(self) -> float | str:
        """The half-life as a setting that can be saved: a number of items, or text with its unit."""
        return f"{self.half_life!r}s" if self.timed else self.half_life

    def weight(self, age: float) -> float:
        """Return 2^(-age / half_life)."""
        return float(2.0 ** (-age / self.half_life))


class Clock:
    """The two moments that a belief which forgets carries: what its weights refer to, and now."""

    def __init__(self, forgetting: Forgetting) -> None:
        self.forgetting = forgetting
        #: The moment that weights refer to, and now; NaN: time has not begun.
        self.moments = np.full(2, math.nan if forgetting.timed else 0.0)

    def advance(self, now: float) -> float:
        """Move on to a moment; return the factor by which all labels fade, 1 where that can wait. Time never goes back.

        A batch of items that comes at once is judged at one time; whatever is earlier than the latest counts as now.
        """
        last, latest = self.moments.tolist()
        if math.isnan(last):
            self.moments[:] = now
            return 1.0
        if now <= latest:
            return 1.0
        self.moments[1] = now
        if now - last < STEP * self.forgetting.half_life:
            return 1.0
        self.moments[0] = now
        return self.forgetting.weight(now - last)

    def rounds_left(self) -> int | None:
        """Return after how many more rounds the next step is due; None on a clock of time."""
        if self.forgetting.timed:
            return None
        last, now = self.moments.tolist()
        return int(max(1, math.ceil(last + STEP * self.forgetting.half_life - now)))

    def weight(self, moment: float | None) -> float:
        """Return the weight of a label whose item came at a moment, at the time that weights refer to.

        It is above 1, by at most 2 %, for an item that came since then.
        """
        last, now = self.moments.tolist()
        moment = now if moment is None else min(moment, now)
        return 1.0 if math.isnan(moment) else self.forgetting.weight(last - moment)

    def weights(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights of many labels at the time that weights refer to; before time has begun all count 1."""
        ages = np.where(np.isnan(moments), 0.0, self.moments[0] - moments)
        return np.asarray(np.exp2(-ages / self.forgetting.half_life))
