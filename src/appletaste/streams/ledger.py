"""Late labels: every decision by its id, what became of it, and nothing learnt twice (docs/streams.md)."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from .._checks import check_text
from .._files import fingerprint, write_archive
from ..costs import SomeCosts
from ..costs_by_item import CostsByItem
from ..decision import Decision, check_label, new_tuple, shown_label
from ..errors import DataError, FeedbackError, InputError
from ..logs import DecisionLog
from ..logs.decision_log import table_of
from ..policies import Player, Policy
from ..policies.items import check_costs, check_item
from ..policies.player import Alone, named, with_features
from ..records.entries import Entries, Entry
from ..records.event_arrays import pack_events
from ..records.events import (
    CORRECTED,
    EXPIRED,
    OBSERVED,
    PENDING,
    STATES,
    Corrected,
    Decided,
    Event,
    Expired,
    Labelled,
    Retracted,
)
from ..records.record import MemoryRecord, Record, Snapshot
from ..times import instant, span, written
from .clock import check_kind, present, when_after
from .ledger_file import LedgerFile
from .rebuilding import rebuild_player

if TYPE_CHECKING:
    from ..features import FeatureMap


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

    The events in ``record`` are what happened, and the ledger is their fold: a decision is in the record before the
    player carries on, and ``Ledger.fold`` comes to the same ledger and player from the record alone, bit for bit.

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

    def __init__(self, player: Player, expire_after: Any = None, record: Record | None = None) -> None:
        if not isinstance(player, Player):
            raise InputError(f"a ledger is kept for a policy, an Awaiting or a Desk, got {type(player).__name__}")
        self.player = player
        self.expire_after = None if expire_after is None else span("expire_after", expire_after)
        self.record: Record = MemoryRecord() if record is None else record
        self.entries = Entries()
        self._kind: type | None = None  # of the times: all numbers, all dates, or all left out
        #: Which columns of its tables hold the id, the time, ... (``appletaste.streams.requests``); kept in the file.
        self.roles: dict[str, str] = {}
        #: What each item costs by its columns (``streams.requests``); kept in the file. None: as the policy says.
        self.costs_by_item: CostsByItem | None = None
        #: Lets one thread in at a time.
        self.alone = Alone("ledger")
        self._file = LedgerFile()

    @property
    def policy(self) -> Policy:
        """The policy that decides and learns."""
        return self.player.policy

    @property
    def features(self) -> FeatureMap | None:
        """The map that makes the vectors, if one was saved with the ledger."""
        return self._file.features

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

    # ---- what happens: each verb checks, appends to the record, and then lets the player and the entries follow

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
            event = new_tuple(Decided, (id, decision, time, stratum))
            self.record.append(event)
            player.commit(prospect, decision)
            entries.take(event)
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
            rounds, decision = self.policy.rounds, entry.decision
            if not rounds.awaits(decision.round, decision.x):  # or the record would have what the player refuses
                raise rounds.refusal(decision.round)
            event = new_tuple(Labelled, (id, value, time))
            self.record.append(event)
            self.player.learn(decision, value)
            self.entries.take(event)
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
            self._happen(Corrected(id, value, when_after(entry.time, time)))
            return Receipt(id, CORRECTED, True, False)

    def retract(self, id: str, *, time: Any = None) -> Receipt:
        """Withdraw a label as if it had never arrived: the decision is pending again."""
        with self.alone:
            entry = self._labelled(id, "retract")
            self._happen(Retracted(id, when_after(entry.time, time)))
            return Receipt(id, PENDING, True, False)

    def expire(self, now: Any) -> list[str]:
        """Give up waiting for the labels of decisions that are ``expire_after`` old or older; return their ids."""
        with self.alone:
            if self.expire_after is None:
                raise InputError("nothing expires in this ledger: make it with Ledger(policy, expire_after=...)")
            clock = present(self._kind, now)
            found = [id for id in self.entries.waiting if _clock(self.entries[id]) + self.expire_after <= clock]
            for id in found:
                self._happen(Expired(id, written(now)))
            return found

    def _labelled(self, id: str, verb: str) -> Entry:
        entry = self[id]
        if entry.label is None:
            raise FeedbackError(f"decision {id!r} is {entry.state} and has no label to {verb}; label() adds one")
        if not self.policy.keeps_labels:
            self.policy.revise([])  # says why it cannot
        return entry

    def _happen(self, event: Event) -> None:
        self.record.append(event)
        self._follow(event)

    def _follow(self, event: Event) -> None:
        """Let the player, and then the entries, take in what happened to a decision."""
        decision = self.entries.spoken_of(event)
        if isinstance(event, Labelled):
            self.player.learn(decision, event.label)
        elif isinstance(event, Corrected):
            self.player.correct(decision, event.label)
        elif isinstance(event, Retracted):
            self.player.retract(decision)
        elif isinstance(event, Expired):
            self.player.give_up(decision)
        self.entries.take(event)

    # ---- the fold

    @classmethod
    def fold(cls, record: Record, player: Player, expire_after: Any = None) -> Self:
        """Return the ledger of a record, from its first event; the player is as it was before that event.

        Every item is judged again, and a decision that the player would have made with another probability is refused:
        another policy, seed or version made it.
        """
        ledger = cls(player, expire_after, record)
        ledger._replay(0)
        return ledger

    @classmethod
    def open(cls, record: Record, player: Player, expire_after: Any = None) -> Self:
        """Return the same ledger from the latest snapshot and the events after it; without a snapshot, ``fold``.

        A snapshot holds the player, settings and all; the one that is given is for a record that has none yet.
        """
        latest = record.snapshot()
        if latest is None:
            return cls.fold(record, player, expire_after)
        ledger = cls(rebuild_player(latest.header, latest.arrays), expire_after, record)
        ledger._replay(latest.seq)
        return ledger

    @classmethod
    def resume(cls, record: Record, player: Player, expire_after: Any = None) -> Self:
        """Return the ledger of a record and of a player that has followed the whole record."""
        ledger = cls(player, expire_after, record)
        ledger._replay(len(record))
        return ledger

    def snapshot(self) -> int:
        """Keep the player as it is in the record; return the number of the last event that the player has followed."""
        with self.alone:
            seq = len(self.record)
            self.record.keep(Snapshot(seq, self.player.header(), self.player.arrays()))
            return seq

    def _replay(self, known: int) -> None:
        """Take in the record; the player has taken in the first ``known`` events already."""
        for seq, event in self.record.read():
            if isinstance(event, Decided):
                self._kind = type(event.time)
            if seq <= known:
                self.entries.take(event)
            elif isinstance(event, Decided):
                self._decided(seq, event)
            else:
                self._follow(event)

    def _decided(self, seq: int, event: Decided) -> None:
        decision, player = event.decision, self.player
        now = instant(event.time)
        prospect = player.look(decision.x, costs=decision.costs, time=now, stratum=event.stratum)
        if player.draw(prospect)[:2] != decision[:2]:
            raise DataError(
                f"event {seq}, decision {event.id!r}: the record says that it acted with probability "
                f"{decision.probability!r}, and this player gives {prospect.acting!r}: another policy, seed or version "
                "made the record"
            )
        player.commit(prospect, decision)
        self.entries.take(event)

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

    def save(self, path: str | PathLike[str], features: FeatureMap | None = None, *, overwrite: bool = False) -> None:
        """Write the record with its player to one file; ``appletaste.load`` continues bit for bit.

        The map that makes the vectors can be kept in the same file, and is ``ledger.features`` from then on. A file
        that holds events which this ledger does not have is not written over, unless ``overwrite`` says so.
        """
        with self.alone:
            if not overwrite:
                self._file.check_place(path, self.record, self.policy.costs)
            chosen = self.features if features is None else features
            events = pack_events([event for _, event in self.record.read()])
            header = {"kind": "ledger", "player": self.player.header(), "expire_after": self.expire_after}
            if self.roles:
                header["roles"] = self.roles
            if self.costs_by_item is not None:
                header["costs_by_item"] = self.costs_by_item.outcomes()
            state = {**named("player", self.player.arrays()), **named("events", events)}
            whole = with_features(header, state, chosen, self.policy.n_features)
            self._file.check_map(features, len(self))
            write_archive(path, *whole)
            self.saved_as(fingerprint(path), chosen)

    def saved_as(self, mark: str | None, features: FeatureMap | None) -> None:
        """Take note of the file that holds this ledger as it is now, and of the map that is kept with it."""
        self._file.kept_as(mark, len(self), features)


def _clock(entry: Entry) -> float:
    """Return when a decision was made as a number; the round where no time was given."""
    found = instant(entry.time)
    return float(entry.decision.round) if found is None else found
