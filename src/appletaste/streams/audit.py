"""The audit lane: a least probability of acting, so that missed positives can be estimated (docs/streams.md)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import number
from ..costs import Costs
from ..errors import OptionError
from ..policies import Prospect
from ..posteriors import Arrays
from .budget import Budget, share_of

Floats = NDArray[np.float64]
#: Of a rate this share is the floor of every item; the rest goes where an audit tells most for its cost.
EVEN = 0.25
#: Of the mean chance this share is added to every chance, since the model may be wrong.
DOUBT = 0.1
#: An audit costs at least this share of what a false alarm costs at the price of the moment.
LEAST_COST = 0.05
#: Passed items that the means of a lane go back over, and over which floors above the rate are made up for.
MEMORY, MADE_UP = 500, 200
#: The lane whose audits must pay: how it is called, the most that is audited, what it may cost, and the part that it
#: may take of a budget that is a share of the items.
AUTO, MOST, SPEND, PART = "auto", 0.01, 0.01, 0.1


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
    spend
        What audits may cost, as a share of what the better of always and never acting costs beyond hindsight, by the
        model; the rate is then at most ``rate``, less where false alarms are dear, and at most a tenth of a budget
        that is a share of the items. 0: whatever the rate costs.
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
    spend: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "strata", dict(self.strata))
        object.__setattr__(self, "edges", tuple(self.edges))
        object.__setattr__(self, "floors", tuple(self.floors))
        number("floor", self.floor, least=0.0, most=1.0)
        number("rate", self.rate, least=0.0, most=1.0)
        number("spend", self.spend, least=0.0)
        if self.spend and not self.rate:
            raise OptionError(
                "spend lowers the rate of a lane: give the most that may be audited as well, rate=0.01 say"
            )
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
        if not self.spend:
            del own["spend"]  # a setting that came later: records of old stay as they are
        return own | {"budget": None if self.budget is None else self.budget.settings()}

    @staticmethod
    def of(text: str) -> Audit | None:
        """Return the lane that audits a share of what is passed, such as ``2%``; ``auto``: as many as pay; 0: none.

        Examples
        --------
        >>> Audit.of("auto").rate, Audit.of("auto").spend, Audit.of("2%").rate, Audit.of("0")
        (0.01, 0.01, 0.02, None)
        """
        if text == AUTO:
            return Audit(rate=MOST, spend=SPEND)
        if text.removesuffix("%").strip("0.") == "" and "0" in text:
            return None
        return Audit(rate=share_of(text, "audit", f"{AUTO}, 0 or "))

    @staticmethod
    def from_settings(settings: dict[str, Any]) -> Audit:
        """Return the lane that ``settings`` described."""
        budget = settings["budget"]
        return Audit(**{**settings, "budget": None if budget is None else Budget.from_settings(budget)})


def most_spent(costs: Costs) -> float:
    """Return the most that audits which must pay cost for an item, whatever the share of positives is.

    Of a share c of positives the better constant costs min(G c, A (1 - c)) beyond hindsight, at most G A / (G + A).

    Examples
    --------
    >>> most_spent(Costs(miss=5, false_alarm=1, hit=0)) == 0.01 * 5 / 6
    True
    """
    return SPEND * costs.catch_gain * costs.threshold


@dataclass
class Bill:
    """What auditing each pass would cost, and what the two constants cost beyond hindsight; by the model, of late."""

    items: float = 0.0  #: that the means go back over
    never: float = 0.0  #: the mean of what passing an item costs, if it is positive
    always: float = 0.0  #: the mean of what acting on an item costs, if it is negative
    audits: float = 0.0  #: the mean cost of acting on an item as far as it is passed

    def add(self, prospect: Prospect, passed: float, price: float) -> None:
        """Take an item into the means, which is passed with a probability at a shadow price."""
        chance, gain, alarm = prospect.chance, prospect.costs.catch_gain, prospect.costs.alarm_price
        if chance != chance:  # no model
            return
        gain, alarm = max(gain, 0.0), max(alarm, 0.0)
        dear = max(price + alarm * (1.0 - chance) - gain * chance, LEAST_COST * (price + alarm))
        self.items = min(self.items + 1.0, MEMORY)
        share = 1.0 / self.items
        self.never += share * (gain * chance - self.never)
        self.always += share * (alarm * (1.0 - chance) - self.always)
        self.audits += share * (passed * dear - self.audits)

    @staticmethod
    def of(chance: Floats, gain: Floats, alarm: Floats, passed: Floats) -> Bill:
        """Return the bill of many items: chances, what acting saves and costs, and the probability of passing each."""
        gain, alarm = np.maximum(gain, 0.0), np.maximum(alarm, 0.0)
        dear = np.maximum(alarm * (1.0 - chance) - gain * chance, LEAST_COST * alarm)
        each = gain * chance, alarm * (1.0 - chance), passed * dear
        return Bill(float(len(chance)), *(float(np.mean(one)) for one in each))

    def affords(self, spend: float) -> float:
        """Return the share of passes that can be audited for a share of what the better constant costs."""
        return spend * min(self.never, self.always) / self.audits if self.audits > 0.0 else math.inf


class Lane:
    """An audit lane at work, which knows what it has passed of late.

    With a chance c of being positive, an item that is audited with probability f adds c / f to the variance of the
    estimated number missed, and an audit costs what it takes from the best use of a review, the shadow price less
    the worth of the item. For a given cost the least variance has f proportional to sqrt(c / cost) (Neyman 1934). The
    constant makes the mean over passed items the rate; where both move, what was above the rate is made up for later.
    ``share`` is that of a budget that the lane shares.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("ts", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> at.Desk(policy, audit=Audit(rate=0.1)).look([1.0]).floor   # nothing to compare the first item with
    0.1
    """

    def __init__(self, audit: Audit, share: float | None = None) -> None:
        self.audit = audit
        self._most = audit.rate if share is None or not audit.spend else min(audit.rate, PART * share)
        self._passed = 0.0  # items, an item that is acted on with probability p counting as 1 - p
        self._use = self._chance = 0.0  # their means: of sqrt(c / cost), and of c
        self._above = 0.0  # by how much their floors were above the rate, in all
        #: The mean floor of what was passed: how often an audit is to be expected.
        self.mean = max(audit.floor, self._most)
        self._bill = Bill()

    @property
    def rate(self) -> float:
        """The share of passes that is audited now: that of the lane, or what its spending affords."""
        spend = self.audit.spend
        return min(self._most, self._bill.affords(spend)) if spend else self._most

    def floor(self, prospect: Prospect, price: float) -> float:
        """Return the floor of an item at a shadow price."""
        audit, stratum, chance = self.audit, prospect.stratum, prospect.chance
        if not audit.rate or (stratum is not None and stratum in audit.strata):
            return audit.floor_of(stratum, chance)
        use, rate = self._use_of(prospect, price), self.rate
        if not (self._use > 0.0 and use == use and rate):
            return max(audit.floor, rate)
        due = min(max(1.0 - self._above / (MADE_UP * rate), 0.0), 2.0)
        return max(audit.floor, min(rate * (EVEN + (1.0 - EVEN) * due * use / self._use), 1.0))

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
        if self.audit.spend:
            self._bill.add(prospect, passed, price)
        if passed <= 0.0:
            return
        use = self._use_of(prospect, price)
        floor = prospect.floor or self.floor(prospect, price)  # 0 also while caps are reached
        first = not self._passed
        self._passed = min(self._passed + passed, MEMORY)
        share = 1.0 if first else passed / max(self._passed, 1.0)
        self.mean += share * (floor - self.mean)
        self._above += passed * (floor - self.rate)
        if use == use:
            self._use += share * (use - self._use)
            self._chance += share * (prospect.chance - self._chance)

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        bill = {"bill": np.array(astuple(self._bill))} if self.audit.spend else {}
        return {"means": np.array([self._passed, self._use, self._chance, self._above, self.mean]), **bill}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._passed, self._use, self._chance, self._above, self.mean = arrays["means"].tolist()
        if "bill" in arrays:
            self._bill = Bill(*arrays["bill"].tolist())

    def take_over(self, before: Lane) -> None:
        """Go on from what another lane has seen; what was above its rate is nothing to this one."""
        self.restore(before.arrays())
        if self.audit != before.audit:
            self._above, self.mean = 0.0, max(self.audit.floor, self.rate)
