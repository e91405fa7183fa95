"""A working calendar: how many acts each day of the week allows, in days as people where they work call them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .._checks import whole
from ..errors import OptionError

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
