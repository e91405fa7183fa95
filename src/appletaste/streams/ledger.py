"""Late labels: every decision by its id, what became of it, and nothing learnt twice (docs/streams.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ..costs import Costs
from ..decision import Decision, Observation
from ..errors import FeedbackError, InputError
from ..policies import Policy
from ..times import instant, span, written
from . import Awaiting
from .desk import Desk

PENDING, OBSERVED, CORRECTED, EXPIRED, NEVER_DUE = "pending", "observed", "corrected", "expired", "never_due"
STATES = (PENDING, OBSERVED, CORRECTED, EXPIRED, NEVER_DUE)


class Receipt(NamedTuple):
    """What became of a label that was handed in."""

    id: str
    state: str  #: of the decision, now
    learnt: bool  #: False: it was known already, and nothing has changed
    late: bool  #: it came after the review had expired


@dataclass(slots=True)
class Entry:
    """One decision in the ledger."""

    decision: Decision
    time: Any
    clock: float  #: the time as a number; the round where no time was given
    stratum: str | None
    state: str
    label: int | None = None
    label_time: Any = None


class Ledger:
    """Keep every decision until its label comes, however late, in any order, and however often.

    A decision is ``pending`` until its label comes and makes it ``observed``, and ``corrected`` after an explicit
    correction. It is ``expired`` when it has waited for ``expire_after``: unknown, never negative, and its label is
    still welcome. A pass is ``never_due``. Times are numbers, or dates (then ``expire_after`` is in seconds or
    a ``timedelta``); where none are given the clock is the number of decisions.

    Examples
    --------
    >>> import appletaste as at
    >>> ledger = at.Ledger(at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> ledger.decide([1.0], id="a").act
    True
    >>> ledger.label("a", 0)
    Receipt(id='a', state='observed', learnt=True, late=False)
    >>> ledger.label("a", 0).learnt
    False
    >>> ledger.correct("a", 1).state
    'corrected'
    """

    def __init__(self, policy: Policy | Awaiting | Desk, expire_after: Any = None) -> None:
        self.desk = policy if isinstance(policy, Desk) else Desk(policy)
        self.expire_after = None if expire_after is None else span("expire_after", expire_after)
        self._entries: dict[str, Entry] = {}
        self._waiting: dict[str, None] = {}  # the ids of what is pending, in the order of their decisions

    @property
    def policy(self) -> Policy:
        """The policy that decides and learns."""
        return self.desk.policy

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __contains__(self, id: object) -> bool:
        return id in self._entries

    def __getitem__(self, id: str) -> Entry:
        if id not in self._entries:
            raise FeedbackError(
                f"there is no decision {id!r} in this ledger of {len(self)}: is it the id that decide had?"
            )
        return self._entries[id]

    def decide(
        self,
        x: ArrayLike,
        id: str | None = None,
        time: Any = None,
        costs: Costs | None = None,
        stratum: str | None = None,
    ) -> Decision:
        """Decide on an item and enter the decision; the id is the number of the round unless one is given."""
        if id is not None and not (isinstance(id, str) and id):
            raise InputError(f"an id is a text such as 'case-17', got {id!r}")
        if id is not None and id in self._entries:
            raise InputError(f"there is a decision {id!r} already: every item needs an id of its own")
        if stratum is not None and not isinstance(stratum, str):
            raise InputError(f"a stratum is a text such as 'new customers', got {stratum!r}")
        clock, time = instant(time), written(time)
        if self._entries and type(time) is not type(last := next(reversed(self._entries.values())).time):
            raise InputError(
                "times are all numbers, all dates, or all left out: "
                f"the decision before had {last!r}, this one has {time!r}"
            )
        decision = self.desk.decide(x, costs, time=time, stratum=stratum)
        if id is None:
            id = str(decision.round)
            while id in self._entries:
                id += "'"
        state = PENDING if decision.act else NEVER_DUE
        self._entries[id] = Entry(decision, time, float(decision.round) if clock is None else clock, stratum, state)
        if decision.act:
            self._waiting[id] = None
        return decision

    def label(self, id: str, value: int, time: Any = None) -> Receipt:
        """Take in a label: once. The same value again changes nothing; another one needs ``correct``."""
        entry = self[id]
        value = int(Observation(entry.decision, value).label)  # says no to a pass, and to what is not 0 or 1
        instant(time)
        time = written(time)
        if entry.label is not None:
            if entry.label != value:
                raise FeedbackError(
                    f"decision {id!r} has the label {entry.label} and was given {value}: "
                    f"if that is right, say so with correct({id!r}, {value})"
                )
            return Receipt(id, entry.state, False, False)
        late = entry.state == EXPIRED
        self.desk.learn(entry.decision, value)
        entry.label, entry.label_time, entry.state = value, time, OBSERVED
        self._waiting.pop(id, None)
        return Receipt(id, OBSERVED, True, late)

    def correct(self, id: str, value: int) -> Receipt:
        """Replace a label by another; what was learnt from it is learnt anew (``Policy.correct``)."""
        entry = self._labelled(id, "correct")
        value = int(Observation(entry.decision, value).label)
        if entry.label == value:
            return Receipt(id, entry.state, False, False)
        self.desk.correct(entry.decision, value)
        entry.label, entry.state = value, CORRECTED
        return Receipt(id, CORRECTED, True, False)

    def retract(self, id: str) -> Receipt:
        """Withdraw a label as if it had never come: the decision is pending again."""
        entry = self._labelled(id, "retract")
        self.desk.retract(entry.decision)
        entry.label, entry.label_time, entry.state = None, None, PENDING
        self._waiting[id] = None
        return Receipt(id, PENDING, True, False)

    def _labelled(self, id: str, verb: str) -> Entry:
        entry = self[id]
        if entry.label is None:
            raise FeedbackError(f"decision {id!r} is {entry.state} and has no label to {verb}; label() takes one in")
        return entry

    def expire(self, now: Any) -> list[str]:
        """Give up waiting for the labels of decisions that are ``expire_after`` old or older; return their ids."""
        if self.expire_after is None:
            raise InputError("nothing expires in this ledger: make it with Ledger(policy, expire_after=...)")
        clock = instant(now)
        if clock is None:
            raise InputError("expire needs the time that it is now")
        found = [id for id in self._waiting if self._entries[id].clock + self.expire_after <= clock]
        for id in found:
            self._entries[id].state = EXPIRED
            self.desk.give_up(self._entries[id].decision)
            del self._waiting[id]
        return found

    @property
    def pending(self) -> list[str]:
        """The ids of the decisions whose label is awaited."""
        return list(self._waiting)

    def counts(self) -> dict[str, int]:
        """Return how many decisions are in each state."""
        counts = dict.fromkeys(STATES, 0)
        for entry in self._entries.values():
            counts[entry.state] += 1
        return counts

    def rows(self, features: bool = False) -> list[dict[str, Any]]:
        """Return the decision log, one row per decision; with the items if asked."""
        rows = []
        for id, entry in self._entries.items():
            decision = entry.decision
            chance = decision.why.get("chance_positive", math.nan)
            row: dict[str, Any] = {
                "id": id,
                "time": entry.time,
                "round": decision.round,
                "act": decision.act,
                "probability": decision.probability,
                "chance": None if math.isnan(chance) else chance,
                **decision.costs.outcomes(),
                "stratum": entry.stratum,
                "audit": decision.audit,
                "label": entry.label,
                "state": entry.state,
                "policy": self.policy.name,
            }
            if features:
                row["x"] = decision.x.tolist()
            rows.append(row)
        return rows

    def save(self, path: str | PathLike[str]) -> None:
        """Write the ledger with its policy, budget and lane to one file; ``Ledger.load`` continues bit for bit."""
        from .ledger_file import save_ledger

        save_ledger(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Ledger:
        """Read a saved ledger."""
        from .ledger_file import load_ledger

        return load_ledger(path)
