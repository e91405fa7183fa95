"""A policy at work in a review team: with limited reviewers and an audit lane (docs/streams.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import Costs, SomeCosts
from ..decision import Decision, Decisions, new_tuple
from ..errors import InputError, OptionError
from ..policies import Player, Policy, Prospect
from ..policies.items import check_costs, check_items
from ..policies.player import named, part_of
from ..posteriors import Arrays
from ..times import instant
from .audit import Audit, Lane
from .budget import Budget
from .spending import Pace, Spent


class Desk(Player):
    """Let a policy decide within a budget, and audit some of its passes.

    Before an item is decided the budget has a shadow price, what one more act would save. The policy judges the item as
    if acting cost that much more, which every rule understands; where a cap is reached the probability is 0. The lane
    then raises it to its floor. Both depend on nothing but what was known before the draw, so the recorded probability
    is exact. A lane without a budget of its own shares the desk's: the policy leaves room for the audits to expect,
    and both together never exceed the caps. Without budget and lane the decisions are the policy's own, bit for bit.
    Where labels arrive late, give it ``Awaiting(policy)``, which does not pay again for what is on its way.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> desk = at.Desk(policy, budget=at.Budget(share=0.1, window=50), audit=at.Audit(floor=0.02))
    >>> acts = [desk.decide([float(x % 7 - 4)]).act for x in range(200)]
    >>> sum(acts) <= 20, desk.shadow_price > 0
    (True, True)
    """

    def __init__(self, policy: Player, budget: Budget | None = None, audit: Audit | None = None) -> None:
        if not isinstance(policy, Player) or isinstance(policy, Desk):
            raise InputError(f"a desk needs a policy, as appletaste.policy(...) makes it, got {type(policy).__name__}")
        for name, value, kind in (("budget", budget, Budget), ("audit", audit, Audit)):
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name} must be an appletaste.{kind.__name__}, got {value!r}")
        #: Who sits at the desk: a policy, or one that knows which labels are on their way.
        self.player, self.budget, self.audit = policy, budget, audit
        self._policy = policy.policy
        self._acts = None if budget is None else Pace(budget)
        own = None if audit is None else audit.budget
        self._audits = None if own is None else Spent(own)
        #: Whether audits are among the acts that the budget allows.
        self.shared = audit is not None and budget is not None and own is None
        share = None if budget is None else budget.share
        self._lane = None if audit is None else Lane(audit, share if self.shared else None)
        mean = 0.0 if self._lane is None else self._lane.mean
        if self.shared and share is not None and mean >= share:
            raise OptionError(
                f"audits at rate {mean:g} would use the whole review budget (share={share:g}). Lower the rate, or "
                "give audits a budget of their own: Audit(floor=..., budget=Budget(...))"
            )
        #: What one more act would have saved when the last item was decided, in units of cost.
        self.shadow_price = 0.0

    @property
    def policy(self) -> Policy:
        """The policy itself, without what it awaits."""
        return self._policy

    def see(
        self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None, price: float
    ) -> Prospect:
        """Return an item as ``decide`` would see it now, within budget and lane; asking changes nothing."""
        spending, lane = self._acts, self._lane
        if spending is None and lane is None:
            return self.player.see(x, costs, now, stratum, price)
        room, may, shadow = self._caps(now)
        seen = self.player.see(x, costs, now, stratum, price + shadow)
        item, sheet, probability, chance, worth, why, verdict, round_, _, _, _, _, _ = seen
        floor = 0.0 if lane is None or not room else lane.floor(seen, shadow)
        if spending is None:
            shadow = math.nan
        else:
            why = {**why, "shadow_price": shadow, "budget_spent": 0.0 if may else 1.0}
            probability = probability if may else 0.0
        fields = (item, sheet, probability, chance, worth, why, verdict, round_, now, stratum, floor, shadow, not may)
        return new_tuple(Prospect, fields)

    def _caps(self, now: float | None) -> tuple[bool, bool, float]:
        """Return whether the lane has room, whether the policy may act, and the shadow price."""
        own = self._audits is None or self._audits.room(now) > 0
        if self._acts is None:
            return own, True, 0.0
        left, may, price = self._acts.outlook(now, self._lane.mean if self.shared and self._lane is not None else 0.0)
        return (left > 0 if self.shared else own), may, price

    def room(self, time: Any = None) -> int | None:
        """Return how many acts the budget still allows at a time, audits among them where the lane shares it."""
        return None if self._acts is None else max(self._acts.room(instant(time)), 0)

    def draw(self, prospect: Prospect) -> Decision:
        """Return the decision on an item that was looked at, within the caps as they stand by now."""
        if prospect.round != self._policy.round + 1:  # other items were decided since
            room, may, _ = self._caps(prospect.time)
            if not may:
                prospect = prospect._replace(probability=0.0, spent=True, why={**prospect.why, "budget_spent": 1.0})
            if not room:
                prospect = prospect._replace(floor=0.0)
        return self.player.draw(prospect)

    def commit(self, prospect: Prospect, decision: Decision) -> None:
        """Carry on after a decision: the budget and the lane take note of it."""
        self.player.commit(prospect, decision)
        now, price, acts, lane = prospect.time, 0.0, self._acts, self._lane
        if acts is not None:
            acts.note(now, decision.act and (self.shared or not decision.audit), prospect.worth)
            self.shadow_price = price = prospect.price
        if lane is not None:
            lane.note(prospect, price)
        if self._audits is not None:
            self._audits.record(now, decision.audit)

    def decide_many(
        self, items: ArrayLike, *, costs: SomeCosts | None = None, time: Any = None, stratum: Any = None
    ) -> Decisions:
        """Decide on many items, [n, features]; the same as one by one with no label learnt in between.

        ``time`` and ``stratum`` are those of all items, or a list with one for each.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
        >>> desk = at.Desk(policy, at.Budget(per_day=2, day=1.0))
        >>> desk.decide_many([[1.0], [2.0], [3.0], [1.0]], time=[0.1, 0.2, 0.3, 1.1]).acts.tolist()
        [True, True, False, True]
        """
        table = check_items(items, self.policy.n_features, self.policy.slots)
        times, strata = _for_each("time", time, len(table)), _for_each("stratum", stratum, len(table))
        if len(table):
            self.look(table[0], costs=costs, time=times[0])  # what is wrong is said before anything is decided
        for moment in times:
            self.policy.check_time(moment)
            for spending in (self._acts, self._audits):
                if spending is not None:
                    spending.room(instant(moment))
        first = self.policy.round + 1
        made = [self.decide(x, costs=costs, time=t, stratum=s) for x, t, s in zip(table, times, strata, strict=True)]
        return Decisions.of(made, table, check_costs(costs, self.policy.costs), first, self.shadow_price)

    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, whichever lane it came from."""
        self.player.learn(decision, label)

    def enact(self, decision: Decision, act: bool) -> None:
        """Take note of what was done whatever was decided; the budget keeps counting what was decided."""
        self.player.enact(decision, act)

    def give_up(self, decision: Decision) -> None:
        """Wait no longer for the label of a decision; this matters where the policy is ``Awaiting``."""
        self.player.give_up(decision)

    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct or, with None, retract many labels at the price of one."""
        self.player.revise(changes)

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving."""
        return {
            "kind": "desk",
            "player": self.player.header(),
            "budget": None if self.budget is None else self.budget.settings(),
            "audit": None if self.audit is None else self.audit.settings(),
            "shadow_price": self.shadow_price,
        }

    def _carried(self) -> dict[str, Pace | Lane | Spent]:
        """Return what the desk itself carries, by the name that it is saved under."""
        carried = {"acts": self._acts, "lane": self._lane, "audits": self._audits}
        return {name: part for name, part in carried.items() if part is not None}

    def arrays(self) -> Arrays:
        """Return the player and what has been spent, for saving."""
        arrays = named("player", self.player.arrays())
        for name, part in self._carried().items():
            arrays |= named(name, part.arrays())
        return arrays

    def restore(self, arrays: Arrays, shadow_price: float) -> None:
        """Take back what has been spent."""
        for name, part in self._carried().items():
            part.restore(part_of(arrays, name))
        self.shadow_price = shadow_price

    def take_over(self, before: Desk) -> None:
        """Go on from what was spent and seen at another desk."""
        known = before._carried()
        for name, part in self._carried().items():
            if name in known:
                part.take_over(known[name])  # type: ignore[arg-type]
        self.shadow_price = 0.0 if self.budget is None else before.shadow_price


def restaffed(player: Player, budget: Budget | None, audit: Audit | None) -> Desk:
    """Return the same player at a desk with another budget and another lane; what was spent so far counts on.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> desk = restaffed(policy, at.Budget(per_day=3), None)
    >>> acts = [desk.decide([1.0], time=60.0).act for _ in range(2)]
    >>> restaffed(desk, at.Budget(per_day=2), None).room(120.0)
    0
    """
    desk = Desk(player.player if isinstance(player, Desk) else player, budget, audit)
    if isinstance(player, Desk):
        desk.take_over(player)
    return desk


def _for_each(name: str, given: Any, n: int) -> list[Any]:
    """Return one value for each of n items, from a list of them or from one for all."""
    if not isinstance(given, list | tuple | np.ndarray):
        return [given] * n
    if len(given) != n:
        raise InputError(f"{name} has {len(given)} values for {n} items; give one for all, or one for each")
    return list(given)
