"""Limited reviewers: how many acts there may be, and a working calendar of them (docs/streams.md)."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .._checks import number, whole
from ..errors import Message, OptionError, Remedy
from ..times import DAY

NAMES = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
EXAMPLE = "Mon-Fri 120, Sat 40"
_PART = re.compile(r"([A-Za-z]+)(?:\s*-\s*([A-Za-z]+))?\s*:?\s+(\S+)")
_FIRST = date(1970, 1, 1).toordinal()


class Day(NamedTuple):
    """A day of a calendar: its number since 1970, and when it begins and ends, in seconds since 1970."""

    number: int
    begins: float
    ends: float


@dataclass(frozen=True)
class Calendar:
    """Most acts on each day of the week, Monday first, and the time zone whose midnights the days begin at.

    Days of 23 and 25 hours, where clocks change, are one day each.

    Examples
    --------
    >>> week = Calendar.of("Mon-Fri 120, Sat 40", zone="Europe/Berlin")
    >>> week.acts, week.most(week.day(1717192799.0).number), week.most(week.day(1717192800.0).number)
    ((120, 120, 120, 120, 120, 40, 0), 120, 40)
    """

    acts: tuple[int, ...]
    zone: str = "UTC"
    _zone: ZoneInfo = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if len(self.acts) != len(NAMES):
            raise OptionError(f"a calendar has seven numbers of acts, Monday first, got {self.acts!r}")
        for name, acts in zip(NAMES, self.acts, strict=True):
            whole(f"the acts of {name}", acts, least=0)
        object.__setattr__(self, "acts", tuple(self.acts))
        object.__setattr__(self, "_zone", as_zone(self.zone))

    @staticmethod
    def of(text: str, zone: str | None = None) -> Calendar:
        """Return the calendar of a text such as ``Mon-Fri 120, Sat 40``; days that are not named have no acts."""
        acts: dict[int, int] = {}
        for part in text.split(","):
            found = _PART.fullmatch(part.strip())
            if found is None or not found[3].isdecimal():
                raise OptionError(f"a capacity by weekday is such as {EXAMPLE!r}; {part.strip()!r} in {text!r} is not")
            first = _weekday(found[1], text)
            last = first if found[2] is None else _weekday(found[2], text)
            for k in range(first, last + 1 if last >= first else last + 1 + len(NAMES)):  # Fri-Mon goes over the end
                if k % len(NAMES) in acts:
                    raise OptionError(f"{NAMES[k % len(NAMES)]} has two capacities in {text!r}: give one for each day")
                acts[k % len(NAMES)] = int(found[3])
        return Calendar(tuple(acts.get(k, 0) for k in range(len(NAMES))), zone or "UTC")

    def day(self, now: float) -> Day:
        """Return the day of a time, in seconds since 1970."""
        return _day(self._zone, int(now // 1))

    def most(self, day: int) -> int:
        """Return the acts that a day allows, by its number since 1970: that was a Thursday."""
        return self.acts[(day + 3) % len(NAMES)]

    def settings(self) -> dict[str, Any]:
        """Return what makes the calendar again, as JSON."""
        return {"acts": list(self.acts), "zone": self.zone}


def as_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name, such as Europe/Berlin."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise OptionError(
            f"there is no time zone {name!r} on this machine: name one as Europe/Berlin or America/New_York; "
            "where a machine has none at all, install the package tzdata"
        ) from None


def _weekday(name: str, text: str) -> int:
    short = name[:3].capitalize()
    full = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    if short not in NAMES or not full[NAMES.index(short)].startswith(name.lower()):
        raise OptionError(f"{name!r} in {text!r} is no day of the week: {', '.join(NAMES)}")
    return NAMES.index(short)


@lru_cache(maxsize=64)
def _midnights(zone: ZoneInfo, day: int) -> Day:
    begins = datetime.fromordinal(day + _FIRST)
    ends = begins + timedelta(days=1)
    return Day(day, begins.replace(tzinfo=zone).timestamp(), ends.replace(tzinfo=zone).timestamp())


@lru_cache(maxsize=4096)
def _day(zone: ZoneInfo, second: int) -> Day:
    """Return the day of a whole second: midnights are at whole seconds, so its fraction does not matter."""
    try:
        return _midnights(zone, datetime.fromtimestamp(second, zone).toordinal() - _FIRST)
    except (OverflowError, ValueError, OSError):
        raise OptionError(f"no calendar has the time {second} seconds since 1970: give dates, or seconds") from None


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

    @staticmethod
    def of(text: str, time_zone: str | None = None) -> Budget:
        """Return the budget of ``120/day``, ``5%`` or ``Mon-Fri 120, Sat 40``, with the zone whose days are meant.

        Examples
        --------
        >>> Budget.of("120/day").per_day, Budget.of("5%").share, Budget.of("Mon-Fri 120, Sat 40").per_day.acts[5]
        (120, 0.05, 40)
        """
        acts, slash, unit = text.partition("/")
        if slash and unit == "day" and acts.isdigit():
            return Budget(per_day=int(acts) if time_zone is None else Calendar((int(acts),) * 7, time_zone))
        if slash:
            raise OptionError(f"a capacity is 120/day, 5% or {EXAMPLE!r}, got {text!r}")
        if text[:1].isalpha() and " " in text:
            return Budget(per_day=Calendar.of(text, time_zone))
        return Budget(share=share_of(text, "capacity", f"120/day, {EXAMPLE!r} or "))

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


def share_of(text: str, what: str, else_: str = "") -> float:
    """Return a share from ``5%`` or ``0.05``; ``else_`` is what might have been given instead.

    Examples
    --------
    >>> share_of("5%", "audit"), share_of("0.05", "audit")
    (0.05, 0.05)
    """
    try:
        share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        share = -1.0
    if not 0.0 < share <= 1.0:
        raise OptionError(f"{what} is {else_}a share such as 5% or 0.05, got {text!r}")
    return share
