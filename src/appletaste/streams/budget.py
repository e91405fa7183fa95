"""Limited reviewers: how many acts there may be (docs/streams.md)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .._checks import number, whole
from ..errors import Message, OptionError, Remedy
from ..times import DAY
from .workdays import Calendar, Day

#: Items of which a price is learnt at least.
LEAST = 20


@dataclass(frozen=True)
class Budget:
    """Caps on acting that are never exceeded: ``per_day`` acts in a day, a ``share`` of any ``window`` items in a row.

    Parameters
    ----------
    per_day
        Most acts in one day, or a ``Calendar`` of them; items need a time, in seconds unless ``day`` says otherwise.
    share
        Most acts in any ``window`` consecutive items, as a share of them, rounded down.
    window
        How many items a share is taken of.
    day
        The length of a day in units of time; dates are in seconds. A calendar has its own days.
    recent
        How many items the shadow price is learnt from.

    Examples
    --------
    >>> Budget(per_day=120).per_day, Budget(share=0.05).most
    (120, 50)
    >>> Budget(per_day=Calendar.of("Mon-Fri 120, Sat 40", zone="Europe/Berlin")).most_of(3)   # 4 January 1970, a Sunday
    0
    """

    per_day: int | Calendar | None = None
    share: float | None = None
    window: int = 1000
    day: float = DAY
    recent: int = 250

    def __post_init__(self) -> None:
        if self.per_day is None and self.share is None:
            raise OptionError("a budget needs per_day (such as 120), share (such as 0.05), or both")
        number("day", self.day, above=0.0)
        if isinstance(self.per_day, Calendar):
            if self.day != DAY:
                raise OptionError(
                    "a calendar takes dates, or seconds since 1970, and has days of its own: leave out day"
                )
        elif self.per_day is not None:
            whole("per_day", self.per_day, least=0)
        whole("window", self.window, least=1)
        whole("recent", self.recent, least=LEAST)
        if self.share is not None:
            number("share", self.share, least=0.0, most=1.0)
            if self.share > 0.0 and self.most == 0:
                raise OptionError(
                    f"a share of {self.share:g} of {self.window} items is less than one act; "
                    f"a window of {math.ceil(1.0 / self.share)} items or more would allow one"
                )

    @property
    def most(self) -> int:
        """Most acts in a window; all of them where no share is given."""
        return self.window if self.share is None else int(self.share * self.window + 1e-9)

    def most_of(self, day: int) -> int:
        """Return the most acts on a day, by its number."""
        return self.per_day.most(day) if isinstance(self.per_day, Calendar) else self.per_day or 0

    def day_of(self, now: float | None) -> Day:
        """Return the day of a time."""
        if now is None:
            raise OptionError(Message("a budget per day needs the time of every item: ", Remedy("time")))
        if isinstance(self.per_day, Calendar):
            return self.per_day.day(now)
        day = math.floor(now / self.day)
        return Day(day, day * self.day, (day + 1) * self.day)

    def settings(self) -> dict[str, Any]:
        """Return what makes the budget again, as JSON."""
        calendar = self.per_day.settings() if isinstance(self.per_day, Calendar) else None
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return own if calendar is None else {**own, "per_day": calendar}

    @staticmethod
    def from_settings(settings: dict[str, Any]) -> Budget:
        """Return the budget that ``settings`` described."""
        per_day = settings["per_day"]
        return Budget(**{**settings, "per_day": Calendar(**per_day) if isinstance(per_day, dict) else per_day})
