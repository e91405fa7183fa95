"""The audit lane: a least probability of acting, so that missed positives can be estimated (docs/streams.md)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._checks import number
from ..errors import OptionError
from ..policies import Prospect
from ..posteriors import Arrays
from .budget import Budget, share_of

#: Of a rate this share is the floor of every item; the rest goes where an audit tells most for its cost.
EVEN = 0.25
#: Of the mean chance this share is added to every chance, since the model may be wrong.
DOUBT = 0.1
#: An audit costs at least this share of what a false alarm costs at the price of the moment.
LEAST_COST = 0.05
#: Passed items that the means of a lane go back over, and over which floors above the rate are made up for.
MEMORY, MADE_UP = 500, 200


@dataclass(frozen=True)
class Audit:
    """Act with probability max(p, floor) where the policy would act with p.

    The maximum, not p + (1 - p) floor: it is the cheapest lane that leaves no item below the floor, it audits nothing
    that the policy looks at often enough anyway, and an act is an audit only if the policy itself passed.

    Parameters
    ----------
    floor
        The least probability of acting.
    rate
        The share of what the policy passes that is audited, on average: a quarter of the rate everywhere, the rest
        where an audit tells most for what it costs (``Lane``).
    strata
        Other floors, for items that are said to be in one of these strata.
    edges, floors
        Floors by the model's P(positive), as ``plan_audit`` gives them: ``floors[h]`` up to and including
        ``edges[h]``, and one more floor beyond the last edge. Items with a stratum of their own do not use them.
    budget
        Caps on audits; while they are reached the floor is 0, and the recorded probability says so. None: at a desk
        with a budget, audits share that.

    Examples
    --------
    >>> lane = Audit(floor=0.01, strata={"new customers": 0.1})
    >>> lane.floor_of("new customers"), lane.floor_of(None)
    (0.1, 0.01)
    """

    floor: float = 0.0
    strata: Mapping[str, float] = field(default_factory=dict)
    edges: tuple[float, ...] = ()
    floors: tuple[float, ...] = ()
    budget: Budget | None = None
    rate: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "strata", dict(self.strata))
        object.__setattr__(self, "edges", tuple(self.edges))
        object.__setattr__(self, "floors", tuple(self.floors))
        number("floor", self.floor, least=0.0, most=1.0)
        number("rate", self.rate, least=0.0, most=1.0)
        if self.rate and (self.edges or self.floors):
            raise OptionError("a lane places its audits by a rate, or by the floors of a plan: give one of them")
        for name, floor in self.strata.items():
            if not isinstance(name, str):
                raise OptionError(f"a stratum is a text such as 'new customers', got {name!r}")
            number(f"the floor of stratum {name!r}", floor, least=0.0, most=1.0)
        for floor in self.floors:
            number("a floor by chance", floor, least=0.0, most=1.0)
        for edge in self.edges:
            number("an edge of a chance", edge)
        if list(self.edges) != sorted(self.edges):
            raise OptionError(f"edges must ascend, got {self.edges}")
        if (self.edges or self.floors) and len(self.floors) != len(self.edges) + 1:
            raise OptionError(f"{len(self.edges)} edges need {len(self.edges) + 1} floors, got {len(self.floors)}")
        if self.budget is not None and not isinstance(self.budget, Budget):
            raise OptionError(f"the budget of an audit lane is an appletaste.Budget, got {self.budget!r}")

    def floor_of(self, stratum: str | None, chance: float = math.nan) -> float:
        """Return the floor of an item: its stratum's, or that of its chance, or the common one."""
        if stratum is not None and stratum in self.strata:
            return self.strata[stratum]
        if self.floors and not math.isnan(chance):
            return self.floors[bisect_left(self.edges, chance)]
        return self.floor

    def settings(self) -> dict[str, Any]:
        """Return what makes the lane again, as JSON."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return own | {"budget": None if self.budget is None else self.budget.settings()}

    @staticmethod
    def of(text: str) -> Audit:
        """Return the lane that audits a share of what is passed, such as ``2%``."""
        return Audit(rate=share_of(text, "audit"))

    @staticmethod
    def from_settings(settings: dict[str, Any]) -> Audit:
        """Return the lane that ``settings`` described."""
        budget = settings["budget"]
        return Audit(**{**settings, "budget": None if budget is None else Budget.from_settings(budget)})


class Lane:
    """An audit lane at work, which knows what it has passed of late.

    With a chance c of being positive, an item that is audited with probability f adds c / f to the variance of the
    estimated number missed, and an audit costs what it takes from the best use of a review, the shadow price less
    the worth of the item. For a given cost the least variance has f proportional to sqrt(c / cost) (Neyman 1934). The
    constant makes the mean over passed items the rate; where both move, what was above the rate is made up for later.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("ts", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> at.Desk(policy, audit=Audit(rate=0.1)).look([1.0]).floor   # nothing to compare the first item with
    0.1
    """

    def __init__(self, audit: Audit) -> None:
        self.audit = audit
        self._passed = 0.0  # items, an item that is acted on with probability p counting as 1 - p
        self._use = self._chance = 0.0  # their means: of sqrt(c / cost), and of c
        self._above = 0.0  # by how much their floors were above the rate, in all
        #: The mean floor of what was passed: how often an audit is to be expected.
        self.mean = max(audit.floor, audit.rate)

    def floor(self, prospect: Prospect, price: float) -> float:
        """Return the floor of an item at a shadow price."""
        audit, stratum, chance = self.audit, prospect.stratum, prospect.chance
        if not audit.rate or (stratum is not None and stratum in audit.strata):
            return audit.floor_of(stratum, chance)
        use = self._use_of(prospect, price)
        if not (self._use > 0.0 and use == use):
            return max(audit.floor, audit.rate)
        due = min(max(1.0 - self._above / (MADE_UP * audit.rate), 0.0), 2.0)
        return max(audit.floor, min(audit.rate * (EVEN + (1.0 - EVEN) * due * use / self._use), 1.0))

    def _use_of(self, prospect: Prospect, price: float) -> float:
        """Return sqrt(c / cost) of an item; NaN where there is no model."""
        scale = price + abs(prospect.costs.alarm_price)
        cost = max(price - prospect.worth, LEAST_COST * scale)
        chance = prospect.chance
        if self._passed:
            chance = (chance + DOUBT * self._chance) / (1.0 + DOUBT)
        return math.sqrt(chance / cost) if cost > 0.0 else math.nan

    def note(self, prospect: Prospect, price: float) -> None:
        """Take an item that was decided into the means, as far as the policy passed it."""
        passed = 1.0 - prospect.probability
        if passed <= 0.0:
            return
        use = self._use_of(prospect, price)
        floor = prospect.floor or self.floor(prospect, price)  # 0 also while caps are reached
        first = not self._passed
        self._passed = min(self._passed + passed, MEMORY)
        share = 1.0 if first else passed / max(self._passed, 1.0)
        self.mean += share * (floor - self.mean)
        self._above += passed * (floor - self.audit.rate)
        if use == use:
            self._use += share * (use - self._use)
            self._chance += share * (prospect.chance - self._chance)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {"means": np.array([self._passed, self._use, self._chance, self._above, self.mean])}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._passed, self._use, self._chance, self._above, self.mean = arrays["means"].tolist()

    def take_over(self, before: Lane) -> None:
        """Go on from what another lane has seen; what was above its rate is nothing to this one."""
        self.restore(before.arrays())
        if self.audit != before.audit:
            self._above, self.mean = 0.0, max(self.audit.floor, self.audit.rate)
