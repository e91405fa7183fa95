"""A review team in a replay: how many items it can look at, and which passes it audits."""

from __future__ import annotations

from dataclasses import dataclass

from ..decision import Decision
from ..errors import OptionError
from ..policies import Policy
from ..posteriors import Vector
from ..streams import Awaiting
from ..streams.audit import Audit
from ..streams.budget import Budget
from ..streams.desk import Desk
from .players import Player, Setting


@dataclass(frozen=True)
class Staffing:
    """Put each policy at a desk with a budget, an audit lane or both (docs/streams.md).

    Where labels come late, those on their way are kept in mind (``Awaiting``): with 500 items of delay and a capacity
    of 20 % that took 5 to 11 % off the cost of ``voi`` on three made streams, with 5 % about 1 %.

    Examples
    --------
    >>> Staffing.of("5%", "2%").budget.share, Staffing.of("120/day", None).budget.per_day
    (0.05, 120)
    """

    budget: Budget | None = None
    audit: Audit | None = None

    @staticmethod
    def of(capacity: str | None, audit: str | None) -> Staffing | None:
        """Return the staffing from text: a capacity such as ``120/day`` or ``5%``, audits such as ``2%``; or None."""
        if capacity is None and audit is None:
            return None
        lane = None if audit is None else Audit(floor=_share(audit, "audit"))
        return Staffing(None if capacity is None else _budget(capacity), lane)

    def __call__(self, policy: Policy, setting: Setting) -> Player:
        """Return the policy at its desk."""
        if self.budget is not None and self.budget.per_day is not None and not setting.timed:
            raise OptionError("a capacity per day needs to know the time: name its column with time=")
        return _AtDesk(Desk(Awaiting(policy) if setting.late else policy, self.budget, self.audit))


class _AtDesk:
    """A desk that is told the time."""

    __slots__ = ("_desk", "learn")

    def __init__(self, desk: Desk) -> None:
        self._desk, self.learn = desk, desk.learn

    def decide(self, x: Vector, time: float) -> Decision:
        """Decide on the item that arrives at a time."""
        return self._desk.decide(x, time=time)


def _budget(text: str) -> Budget:
    """Return the budget of ``120/day`` (a day is one unit of the time column, as dates have) or of ``5%``."""
    number, slash, unit = text.partition("/")
    if slash and unit == "day" and number.isdigit():
        return Budget(per_day=int(number), day=1.0)
    if slash:
        raise OptionError(f"a capacity is 120/day or 5%, got {text!r}")
    return Budget(share=_share(text, "capacity", "120/day or "))


def _share(text: str, what: str, else_: str = "") -> float:
    """Return a share from ``5%`` or ``0.05``."""
    try:
        share = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        share = -1.0
    if not 0.0 < share <= 1.0:
        raise OptionError(f"{what} is {else_}a share such as 5% or 0.05, got {text!r}")
    return share
