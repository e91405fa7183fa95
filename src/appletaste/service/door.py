"""An item at the door: every column there, each cell of its kind, and the time not in the future.

The map of a stream is lenient, since files are: it reads "1.5" as a number and what it cannot read as missing. Programs
can do better, and a service that reads leniently would decide on mistakes.
"""

from __future__ import annotations

import math
import time
from typing import Any

from ..errors import InputError, near
from ..features import FeatureMap
from ..features.dates import Date
from ..streams import Stream
from ..tables.values import LARGEST
from ..times import DAY, instant
from .problems import FieldError, Problem, invalid

#: Letters of a name that is compared with those of columns.
LONGEST = 64
NUMBER, TEXT, DATE, ANY = "a number or null", "a text, a number or null", "a date in ISO 8601 or null", "a cell"


def escaped(name: str) -> str:
    """Return a name as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


class Door:
    """Checks the items of one stream.

    Examples
    --------
    >>> import appletaste as at
    >>> door = Door(at.Encoder().fit([{"age": 30, "job": "chef"}, {"age": 50, "job": "pilot"}]), {}, (), 5)
    >>> door.check({"age": 40.0, "job": "chef"})
    >>> for item in ({"age": "40", "job": "chef"}, {"age": 40.0}, {"age": True, "job": None}, [1.0]):
    ...     try:
    ...         door.check(item)
    ...     except Problem as problem:
    ...         print(problem.errors[0].code, problem.errors[0].pointer)
    wrong-type /item/age
    missing-column /item/job
    wrong-type /item/age
    columns-wanted /item
    """

    def __init__(
        self, features: FeatureMap | None, roles: dict[str, str], prices: tuple[str, ...], n_features: int
    ) -> None:
        self._width, self._prices = n_features, prices
        self.kinds: dict[str, str] = {}
        self._mapped = features is not None
        if features is None:
            return
        for column in features.columns:
            kind = NUMBER if column.numeric else DATE if isinstance(column, Date) else TEXT
            self.kinds |= dict.fromkeys(column.sources, kind)
        self.kinds |= dict.fromkeys((name for name in prices if name not in self.kinds), NUMBER)
        aside = [roles[role] for role in ("id", "time", "stratum", "label") if role in roles]
        self._optional = {*(name for name in (*aside, *features.dropped) if name not in self.kinds)}
        if roles.get("time") in self.kinds:
            self._optional.add(roles["time"])  # the time of the request stands in for it
        self._needed = self.kinds.keys() - self._optional
        self._known = self.kinds.keys() | self._optional

    def check(self, item: Any) -> None:
        """Refuse an item that the stream cannot take as it is meant."""
        if isinstance(item, list):
            self._vector(item)
        else:
            self._record(item)

    def _vector(self, item: list[float]) -> None:
        if self._mapped and self._prices:
            raise invalid("columns-wanted", "/item", "an object of columns: the costs are formulas over columns")
        if len(item) != self._width:
            if self._mapped:
                raise invalid("columns-wanted", "/item", f"an object of columns, or {self._width} numbers")
            raise invalid("wrong-length", "/item", f"{self._width} numbers")
        if math.hypot(*item) < LARGEST:  # no entry is larger than the length
            return
        for place, value in enumerate(item):
            if not -LARGEST < value < LARGEST:
                raise invalid("out-of-range", f"/item/{place}", "a number below 1e100 in size")

    def _record(self, item: dict[str, Any]) -> None:
        if not self._mapped:
            raise invalid("wrong-type", "/item", f"{self._width} numbers")
        if not item.keys() <= self._known:
            strange = min(item.keys() - self._known)  # not said again: who knows what it holds
            meant = near(strange, sorted(self._known - item.keys())) if len(strange) <= LONGEST else ""
            raise invalid("unknown-column", "/item", f"the columns of the stream and no others{meant}")
        if not self._needed <= item.keys():
            missing, wanted = sorted(self._needed - item.keys()), "a value, or null where it is missing"
            faults = (FieldError("missing-column", f"/item/{escaped(name)}", expected=wanted) for name in missing)
            raise Problem("validation", *faults)
        for name, value in item.items():
            if value is not None:
                self._cell(name, self.kinds.get(name, ANY), value)

    @staticmethod
    def _cell(name: str, kind: str, value: Any) -> None:
        pointer = f"/item/{escaped(name)}"
        if kind is NUMBER:
            if type(value) is not float:
                raise invalid("wrong-type", pointer, kind)
            if not -LARGEST < value < LARGEST:
                raise invalid("out-of-range", pointer, "a number below 1e100 in size")
        elif value is True or value is False:
            raise invalid("wrong-type", pointer, kind)
        elif type(value) is str and "\0" in value:
            raise invalid("wrong-value", pointer, "a text without zero bytes")
        elif kind is DATE and moment_of(value) is None:
            raise invalid("wrong-type", pointer, kind)


def door_of(stream: Stream) -> Door:
    """Return what checks the items of a stream."""
    settings = stream.settings
    prices: set[str] = set()
    if settings["costs_by_item"] is not None:
        from ..costs_by_item import CostsByItem

        prices = set(CostsByItem(**settings["costs_by_item"]).columns)
    width = stream.player.policy.n_features
    return Door(stream.features, settings["roles"], tuple(sorted(prices)), width)


def moment_of(value: Any) -> float | None:
    """Return a date as seconds since 1970; None: it is none."""
    if not isinstance(value, str):
        return None
    try:
        return instant(value)
    except (InputError, OverflowError):
        return None


def check_time(value: float | str | None, pointer: str = "/time") -> None:
    """Refuse a date that is none, or lies more than a day ahead; numbers are of the caller's own clock."""
    if value is None:
        return
    if isinstance(value, str):
        moment = moment_of(value)
        if moment is None or not math.isfinite(moment):
            raise invalid("wrong-value", pointer, "a date such as 2024-05-31T12:00:00, or a number")
        if moment > time.time() + DAY:
            raise Problem("time-in-future")
    elif not -LARGEST < value < LARGEST:
        raise invalid("out-of-range", pointer, "a number below 1e100 in size")


def check_plain(text: str | None, pointer: str) -> None:
    """Refuse a text that not every store can hold."""
    if text is not None and "\0" in text:
        raise invalid("wrong-value", pointer, "a text without zero bytes")
