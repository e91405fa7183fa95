"""A policy at work in a review team: with limited reviewers and an audit lane (docs/streams.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..costs import Costs
from ..decision import Decision, Decisions
from ..errors import InputError, OptionError
from ..policies import Policy
from ..policies.items import check_items
from ..policies.moments import glimpse, now_of
from ..policies.prospects import Prospect
from ..posteriors import Arrays
from ..times import instant
from . import Awaiting
from .audit import Audit
from .budget import Budget, Spending


class Desk:
    """Let a policy decide within a budget, and see to it that passes are audited.

    Before an item is decided the budget has a shadow price, what one more act would save. The policy judges the item as
    if acting cost that much more, which every rule understands; where a cap is reached the probability is 0. The lane
    then raises it to its floor. Both depend on nothing but what was known before the draw, so the recorded probability
    is exact. A lane without a budget of its own shares the desk's: the policy leaves room for the audits to expect,
    and both together never exceed the caps. Without budget and lane the decisions are the policy's own, bit for bit.
    Where labels come late, give it ``Awaiting(policy)``, which does not pay again for what is on its way.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> desk = at.Desk(policy, budget=at.Budget(share=0.1, window=50), audit=at.Audit(floor=0.02))
    >>> acts = [desk.decide([float(x % 7 - 4)]).act for x in range(200)]
    >>> sum(acts) <= 20, desk.shadow_price > 0
    (True, True)
    """

    def __init__(self, policy: Policy | Awaiting, budget: Budget | None = None, audit: Audit | None = None) -> None:
        if not isinstance(policy, Policy | Awaiting):
            raise InputError(f"a desk needs a policy, as appletaste.policy(...) makes it, got {type(policy).__name__}")
        for name, value, kind in (("budget", budget, Budget), ("audit", audit, Audit)):
            if value is not None and not isinstance(value, kind):
                raise InputError(f"{name} must be an appletaste.{kind.__name__}, got {value!r}")
        self._player, self.budget, self.audit = policy, budget, audit
        #: The policy itself, without what it awaits.
        self.policy = policy.policy if isinstance(policy, Awaiting) else policy
        self._acts = None if budget is None else Spending(budget)
        own = None if audit is None else audit.budget
        #: Whether audits are among the acts that the budget allows.
        self.shared = audit is not None and budget is not None and own is None
        lane = budget if self.shared else own
        self._audits = None if lane is None else Spending(lane)
        floor, share = 0.0 if audit is None else audit.floor, None if budget is None else budget.share
        if self.shared and share is not None and floor >= share:
            raise OptionError(
                f"an audit floor of {floor:g} leaves nothing of a share of {share:g}: lower it, or give the lane "
                "a budget of its own, Audit(floor=..., budget=Budget(...))"
            )
        #: What one more act would have saved when the last item was decided, in units of cost.
        self.shadow_price = 0.0

    def decide(
        self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None, stratum: str | None = None
    ) -> Decision:
        """Decide on one item; ``time`` is for budgets per day and forgetting, ``stratum`` for floors by stratum."""
        now = instant(time)
        if self.policy.timed:
            self.policy.advance(time)
        prospect, price, probability, floor = self._look(x, costs, now, stratum)
        decision = self._player.settle(prospect, probability, floor)
        if self._acts is not None:
            self._acts.record(now, decision.act and (self.shared or not decision.audit), prospect.worth)
        if self._audits is not None and self.audit is not None:
            self._audits.record(now, decision.audit, self.audit.floor_of(stratum, prospect.chance))
        self.shadow_price = price
        return decision

    def decide_many(
        self, items: ArrayLike, costs: Costs | None = None, *, time: Any = None, stratum: Any = None
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
        table = check_items(items, self.policy.n_features)
        times, strata = _for_each("time", time, len(table)), _for_each("stratum", stratum, len(table))
        for moment in times:  # what is wrong is said before anything is decided
            now_of(self.policy, moment)
            for spending in (self._acts, self._audits):
                if spending is not None:
                    spending.room(instant(moment))
        first = self.policy.round + 1
        made = [self.decide(x, costs, time=t, stratum=s) for x, t, s in zip(table, times, strata, strict=True)]
        return Decisions(
            np.array([d.act for d in made], dtype=bool),
            np.array([d.probability for d in made], dtype=np.float64),
            table,
            self.policy.costs if costs is None else costs,
            first,
            tuple(d.why for d in made),
            self.shadow_price,
            np.array([d.audit for d in made], dtype=bool),
            np.array([d.time for d in made], dtype=np.float64) if self.policy.timed else None,
        )

    def probability(
        self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None, stratum: str | None = None
    ) -> float:
        """Return the probability with which ``decide`` would act on x now; asking changes nothing."""
        return self.foresee(x, costs, time=time, stratum=stratum).probability

    def foresee(
        self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None, stratum: str | None = None
    ) -> Prospect:
        """Return the item as ``decide`` would see it now, within budget and lane; asking changes nothing."""
        asking = self._player.asking() if isinstance(self._player, Awaiting) else nullcontext()
        with glimpse(self.policy, time), asking:
            prospect, _, probability, floor = self._look(x, costs, instant(time), stratum)
        return prospect._replace(probability=max(probability, floor))

    def _look(
        self, x: ArrayLike, costs: Costs | None, now: float | None, stratum: str | None
    ) -> tuple[Prospect, float, float, float]:
        """Return the item as the policy sees it, the shadow price, the probability within the budget, and the floor."""
        spending, lane, price, probability, floor = self._acts, self._audits, 0.0, 0.0, 0.0
        aside = lane.still_needed(now) if self.shared and lane is not None else 0
        free = spending is None or spending.room(now) > aside
        if spending is not None:
            price = spending.price(now, aside)
        prospect = self._player.look(x, costs, price)
        if free:
            probability = prospect.probability
        limit = spending if self.shared else lane
        if self.audit is not None and (limit is None or limit.room(now) > 0):
            floor = self.audit.floor_of(stratum, prospect.chance)
        if spending is not None:
            prospect.why["shadow_price"], prospect.why["budget_spent"] = price, float(not free)
        return prospect, price, probability, floor

    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, whichever lane it came from."""
        self._player.learn(decision, label)

    def give_up(self, decision: Decision) -> None:
        """Wait no longer for the label of a decision; this matters where the policy is ``Awaiting``."""
        if isinstance(self._player, Awaiting):
            self._player.give_up(decision)

    def correct(self, decision: Decision, label: int) -> None:
        """Replace the label learnt for a decision."""
        self._player.correct(decision, label)

    def retract(self, decision: Decision) -> None:
        """Take out the label learnt for a decision."""
        self._player.retract(decision)

    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct or, with None, retract many labels at the price of one."""
        self._player.revise(changes)

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving."""
        return {
            "budget": None if self.budget is None else asdict(self.budget),
            "audit": None if self.audit is None else asdict(self.audit),
            "shadow_price": self.shadow_price,
            "awaiting": isinstance(self._player, Awaiting),
        }

    def arrays(self) -> Arrays:
        """Return what has been spent, for saving."""
        awaiting = self._player if isinstance(self._player, Awaiting) else None
        parts = {"acts": self._acts, "audits": self._audits, "awaiting": awaiting}
        return {f"{n}.{k}": a for n, part in parts.items() if part is not None for k, a in part.arrays().items()}

    @classmethod
    def rebuild(cls, policy: Policy, header: Mapping[str, Any], arrays: Arrays) -> Desk:
        """Return the desk that ``header`` and ``arrays`` describe."""
        budget, audit = header["budget"], header["audit"]
        if audit is not None and audit["budget"] is not None:
            audit = {**audit, "budget": Budget(**audit["budget"])}
        player = Awaiting(policy) if header.get("awaiting") else policy
        if isinstance(player, Awaiting):
            kept = {name.partition(".")[2]: a for name, a in arrays.items() if name.startswith("awaiting.")}
            player.restore(kept)
        desk = cls(player, None if budget is None else Budget(**budget), None if audit is None else Audit(**audit))
        for name, spending in (("acts", desk._acts), ("audits", desk._audits)):
            if spending is not None:
                spending.restore({key: arrays[f"{name}.{key}"] for key in ("acts", "days", "worths", "sum")})
        desk.shadow_price = float(header["shadow_price"])
        return desk


def _for_each(name: str, given: Any, n: int) -> list[Any]:
    """Return one value for each of n items, from a list of them or from one for all."""
    if not isinstance(given, list | tuple | np.ndarray):
        return [given] * n
    if len(given) != n:
        raise InputError(f"{name} has {len(given)} values for {n} items; give one for all, or one for each")
    return list(given)
