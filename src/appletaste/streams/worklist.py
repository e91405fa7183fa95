"""The work at hand: items that were acted on and whose labels have not arrived, the most valuable first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..policies.reasons import AUDIT, EXPLOIT, EXPLORE, reason_for
from ..times import DAY, instant
from .ledger import Ledger
from .requests import UNIT
from .wording_tmp import Wording

#: Why an item is work, in short.
WHY = {EXPLOIT: "a review pays", EXPLORE: "to learn", AUDIT: "audit", "": "the policy has no model"}


@dataclass(frozen=True)
class Case:
    """One item to review."""

    id: str
    worth: float  #: what a review is expected to save, by what is believed now, the value of its label included
    chance: float  #: P(positive), now; NaN from a policy without a model
    time: float | str | None  #: when the item was decided
    age: float  #: since then
    unit: str  #: of the age: days, units of a clock of numbers, or decisions where there are no times
    code: str  #: EXPLOIT, EXPLORE or AUDIT; empty from a policy without a model
    reasons: tuple[str, ...]  #: the columns that say most, in words
    stratum: str | None = None

    @property
    def why(self) -> str:
        """The code in words."""
        return WHY[self.code]


def pending_work(ledger: Ledger, now: Any = None) -> list[Case]:
    """Return the items whose labels are awaited, by what a review is expected to save, the most valuable first.

    Ages are counted up to ``now``, or else to the time of the latest decision.

    Examples
    --------
    >>> import appletaste as at
    >>> ledger = at.Ledger(at.policy(n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> for id, x in (("a", 0.5), ("b", 1.5)):
    ...     _ = ledger.decide([x], id=id)
    >>> [(case.id, case.age, case.code) for case in pending_work(ledger)]
    [('b', 0.0, 'EXPLOIT'), ('a', 1.0, 'EXPLOIT')]
    """
    wording, policy = Wording(ledger), ledger.policy
    end = _latest(ledger) if now is None else _checked(ledger, now)
    cases = []
    for id in ledger.pending:
        decision, time, stratum, *_ = ledger[id]
        seen, reason = policy.look(decision.x, costs=decision.costs), reason_for(decision, ledger.features)
        then = instant(time)
        made = float(decision.round) if then is None else then
        dated = isinstance(time, str) or (then is not None and UNIT in ledger.roles)  # seconds
        unit = "days" if dated else "decisions" if then is None else "units of time"
        age, code = (end - made) / (DAY if dated else 1.0), "" if reason is None else reason.code
        cases.append(Case(id, seen.worth, seen.chance, time, age, unit, code, wording.columns(decision.x), stratum))
    return sorted(cases, key=lambda case: (-case.worth, -case.age))


def _latest(ledger: Ledger) -> float:
    """Return the time of the latest decision; the number of decisions where there are no times."""
    latest = -math.inf
    for _, entry in ledger.entries.items():
        then = instant(entry.time)
        latest = max(latest, float(entry.decision.round) if then is None else then)
    return latest


def _checked(ledger: Ledger, now: Any) -> float:
    """Return the present time, if it is of the kind of the ledger's times."""
    entry = next((entry for _, entry in ledger.entries.items()), None)
    found = instant(now)
    if entry is not None and isinstance(entry.time, str) != isinstance(now, str):
        held = "dates" if isinstance(entry.time, str) else "numbers" if entry.time is not None else "no times"
        raise InputError(f"the times of this desk are {held}, and the present time is to be {now!r}: give one alike")
    assert found is not None  # only no time at all is None
    return found
