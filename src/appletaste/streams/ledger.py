"""The ledger: the lean stream of rehearsals, every decision by its id and what became of it, in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_text
from ..costs import SomeCosts
from ..decision import Decision, check_label, new_tuple, shown_label
from ..errors import FeedbackError, InputError
from ..logs import DecisionLog
from ..logs.decision_log import table_of
from ..policies import Player, Policy
from ..policies.items import check_costs, check_item
from ..policies.player import Alone
from ..records.events import (
    CORRECTED,
    EXPIRED,
    OBSERVED,
    PENDING,
    STATES,
    Corrected,
    Decided,
    Expired,
    Labelled,
    Retracted,
)
from ..records.states import Entries, Entry
from ..times import instant, span, written
from .clock import check_kind, present, when_after


class Receipt(NamedTuple):
    """What the ledger did with a label."""

    id: str
    state: str  #: of the decision, now
    learnt: bool  #: False: it was known already, and nothing has changed
    late: bool  #: it arrived after the review had expired


class Ledger:
    """Keep every decision until its label arrives, however late, in any order, and however often.

    A decision is ``pending`` until its label arrives and makes it ``observed``, and ``corrected`` after an explicit
    correction. It is ``expired`` when it has waited for ``expire_after``: unknown, never negative, and its label is
    still welcome. A pass is ``never_due``. Times are numbers, or dates (then ``expire_after`` is in seconds or
    a ``timedelta``); where none are given the clock is the number of decisions.

    A ledger ends with its process. It is what replays and simulations play through; a ``Stream`` keeps the same in a
    store, and decides the same bit for bit.

    Examples
    --------
    >>> import appletaste as at
    >>> ledger = at.streams.Ledger(at.policy("voi", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> ledger.decide([1.0], id="a").act
    True
    >>> ledger.label("a", 0)
    Receipt(id='a', state='observed', learnt=True, late=False)
    >>> ledger.label("a", 0).learnt
    False
    >>> ledger.correct("a", 1).state
    'corrected'
    """

    def __init__(self, player: Player, expire_after: Any = None) -> None:
        if not isinstance(player, Player):
            raise InputError(f"a ledger is kept for a policy, an Awaiting or a Desk, got {type(player).__name__}")
        self.player = player
        self.expire_after = None if expire_after is None else span("expire_after", expire_after)
        self.entries = Entries()
        self._kind: type | None = None  # of the times: all numbers, all dates, or all left out
        #: Lets one thread in at a time.
        self.alone = Alone("ledger")

    @property
    def policy(self) -> Policy:
        """The policy that decides and learns."""
        return self.player.policy

    def __len__(self) -> int:
        return len(self.entries)

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __contains__(self, id: object) -> bool:
        return id in self.entries

    def __getitem__(self, id: str) -> Entry:
        if id not in self.entries.decided:
            raise FeedbackError(
                f"there is no decision {id!r} among the {len(self)} decisions of this ledger: "
                "give the id that decide was given"
            )
        return self.entries[id]

    # ---- what happens: each verb checks, and then lets the player and the entries follow

    def decide(
        self,
        x: ArrayLike,
        *,
        id: str | None = None,
        time: Any = None,
        costs: SomeCosts | None = None,
        stratum: str | None = None,
    ) -> Decision:
        """Decide on an item and enter the decision; the id is the number of the round unless one is given.

        The same id with the same item gives the decision that was made; with another item it is a conflict.
        """
        alone = self.alone
        before = alone.enter()
        try:
            entries, player = self.entries, self.player
            if id is None:
                id = self.next_id()
            elif not (isinstance(id, str) and id):
                raise InputError(f"an id is a text such as 'case-17', got {id!r}")
            elif id in entries.decided:
                return self._again(id, x, costs, stratum)
            elif not id.isascii() or "\0" in id:
                check_text("an id", id)
            if stratum is not None:
                if not isinstance(stratum, str):
                    raise InputError(f"a stratum is a text such as 'new customers', got {stratum!r}")
                check_text("a stratum", stratum)
            now = None
            if time is not None:
                now, time = instant(time), written(time)
            if type(time) is not self._kind:
                check_kind(self._kind, time)
            prospect = player.look(x, costs=costs, time=now, stratum=stratum)
            decision = player.draw(prospect)
            player.commit(prospect, decision)
            entries.take(new_tuple(Decided, (id, decision, time, stratum)))
            self._kind = type(time)
            return decision
        finally:
            alone.user = before

    def next_id(self) -> str:
        """Return the id that ``decide`` gives to the next item if none is given: the number of its round."""
        id = str(self.policy.round + 1)
        while id in self.entries:
            id += "'"
        return id

    def _again(self, id: str, x: ArrayLike, costs: SomeCosts | None, stratum: str | None) -> Decision:
        """Return the decision of an id that is there already, if it was about this very item."""
        entry, policy = self.entries[id], self.policy
        same = (
            np.array_equal(check_item(x, policy.n_features, policy.slots), entry.decision.x)
            and stratum == entry.stratum
        )
        if not same or check_costs(costs, policy.costs) != entry.decision.costs:
            raise InputError(
                f"there is a decision {id!r} already, about another item: every item needs an id of its own"
            )
        return entry.decision

    def label(self, id: str, value: int, *, time: Any = None) -> Receipt:
        """Learn a label, once. The same value again changes nothing; another value needs ``correct``."""
        alone = self.alone
        before = alone.enter()
        try:
            entry = self[id]
            value = shown_label(entry.decision, value)
            if time is not None:
                time = when_after(entry.time, time)
            if entry.label is not None:
                if entry.label != value:
                    raise FeedbackError(
                        f"decision {id!r} already has the label {entry.label}, got {value}: "
                        f"if {value} is right, call correct({id!r}, {value})"
                    )
                return Receipt(id, entry.state, False, False)
            self.player.learn(entry.decision, value)
            self.entries.take(new_tuple(Labelled, (id, value, time, "")))
            return new_tuple(Receipt, (id, OBSERVED, True, entry.state == EXPIRED))
        finally:
            alone.user = before

    def correct(self, id: str, value: int, *, time: Any = None) -> Receipt:
        """Replace a label by another; what was learnt from it is learnt anew (``Policy.revise``)."""
        with self.alone:
            entry = self._labelled(id, "correct")
            value = check_label(value)
            if entry.label == value:
                return Receipt(id, entry.state, False, False)
            told = when_after(entry.time, time)
            self.player.correct(entry.decision, value)
            self.entries.take(Corrected(id, value, told))
            return Receipt(id, CORRECTED, True, False)

    def retract(self, id: str, *, time: Any = None) -> Receipt:
        """Withdraw a label as if it had never arrived: the decision is pending again."""
        with self.alone:
            entry = self._labelled(id, "retract")
            told = when_after(entry.time, time)
            self.player.retract(entry.decision)
            self.entries.take(Retracted(id, told))
            return Receipt(id, PENDING, True, False)

    def expire(self, now: Any) -> list[str]:
        """Give up waiting for the labels of decisions that are ``expire_after`` old or older; return their ids."""
        with self.alone:
            if self.expire_after is None:
                raise InputError("nothing expires in this ledger: make it with Ledger(policy, expire_after=...)")
            clock = present(self._kind, now)
            waiting = self.entries.waiting
            overdue = [id for id, since in waiting.items() if self._since(id, since) + self.expire_after <= clock]
            for id in overdue:
                self.player.give_up(self.entries[id].decision)
                self.entries.take(Expired(id, written(now)))
            return overdue

    def _since(self, id: str, told: float | str | None) -> float:
        """Return since when a label is waited for, as a number; since the round where no times are given."""
        entry = self.entries[id]
        found = instant(entry.time if told is None else told)
        return float(entry.decision.round) if found is None else found

    def _labelled(self, id: str, verb: str) -> Entry:
        entry = self[id]
        if entry.label is None:
            raise FeedbackError(f"decision {id!r} is {entry.state} and has no label to {verb}; label() adds one")
        if not self.policy.keeps_labels:
            self.policy.revise([])  # says why it cannot
        return entry

    # ---- what there is to see

    @property
    def pending(self) -> list[str]:
        """The ids of the decisions whose label is awaited."""
        return list(self.entries.waiting)

    def counts(self) -> dict[str, int]:
        """Return how many decisions are in each state."""
        counts = dict.fromkeys(STATES, 0)
        for _, entry in self.entries.items():
            counts[entry.state] += 1
        return counts

    def log(self, features: bool = True) -> DecisionLog:
        """Return the decision log: the table of the record, one row per decision; with the items unless told not to."""
        return table_of(self.entries, self.policy.name, features)
