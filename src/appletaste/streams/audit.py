"""The audit lane: a least probability of acting, so that missed positives can be estimated (docs/streams.md)."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field

from .._checks import number
from ..errors import OptionError
from .budget import Budget


@dataclass(frozen=True)
class Audit:
    """Act with probability max(p, floor) where the policy would act with p.

    The maximum, not p + (1 - p) floor: it is the cheapest lane that leaves no item below the floor, it audits nothing
    that the policy looks at often enough anyway, and an act is an audit only if the policy itself passed.

    Parameters
    ----------
    floor
        The least probability of acting.
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

    def __post_init__(self) -> None:
        object.__setattr__(self, "strata", dict(self.strata))
        object.__setattr__(self, "edges", tuple(self.edges))
        object.__setattr__(self, "floors", tuple(self.floors))
        number("floor", self.floor, least=0.0, most=1.0)
        for name, floor in self.strata.items():
            number(f"the floor of stratum {name!r}", floor, least=0.0, most=1.0)
        for floor in self.floors:
            number("a floor by chance", floor, least=0.0, most=1.0)
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
