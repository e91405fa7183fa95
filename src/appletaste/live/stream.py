"""``Stream``: features, a desk, a policy and a store; every verb is durable when it returns (docs/service.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs, SomeCosts
from ..costs_by_item import CostsByItem
from ..decision import Decision, new_tuple
from ..errors import ConflictError, InputError
from ..features import FeatureMap
from ..logs.bodies import pack_item
from ..logs.events import Decided, Enacted
from ..logs.kept import Clock, Found, KeptRecord, machine_clock
from ..logs.stores import Store, open_store
from ..policies import Player
from ..streams.clock import KINDS_OF_TIME
from ..times import instant, written
from .answers import Answer
from .changing import Changing
from .creating import begin
from .items import Asked
from .keeping import stamp_text
from .modes import CALLER, LIVE, SAFE, SHADOW


class Stream(Changing):
    """One stream of decisions in a store, which lasts: through crashes, deployments and years.

    Every decision is on disk before it is answered, and the same id gives the same answer for ever. The record is a
    chain of events; what is in memory is its fold, and holds what is pending and what the policy needs. One stream has
    one owner; a Stream is for one thread at a time.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("always", n_features=2, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "orders", policy)
    >>> stream.decide([0.5, -1.0], id="a").act
    True
    >>> stream.label("a", 1).status, stream.label("a", 1).status
    ('applied', 'already_applied')
    >>> print(stream.verify())
    3 events verify: 1 decisions, 1 labels, 0 snapshots, bit for bit
    """

    # ---- making and finding

    @classmethod
    def create(
        cls,
        store: str | PathLike[str] | Store,
        name: str,
        player: Player,
        *,
        features: FeatureMap | None = None,
        roles: Mapping[str, str] | None = None,
        costs_by_item: CostsByItem | None = None,
        expire_after: Any = None,
        mode: str = LIVE,
        fallback: bool = False,
        seed: int | None = None,
        clock: Clock = machine_clock,
    ) -> Self:
        """Make a stream.

        Parameters
        ----------
        store
            The name of a file, ``postgresql://...``, ``memory``, or a store that is open.
        player
            A policy, an ``Awaiting`` or a ``Desk`` that has decided nothing yet; labels that it was taught stay.
        features
            The map from records to vectors; without one items are vectors.
        roles, costs_by_item
            Which columns of a record hold the id, the time and the stratum, and formulas of costs (``Ledger.roles``).
        expire_after
            After how long a label is no longer waited for; a number of seconds or a ``timedelta``.
        mode, fallback
            The mode to begin with, and the action of safe mode.
        seed
            Takes the place of the player's. None: 128 secret random bits, which is right for all but tests.
        clock
            Microseconds since 1970, for tests.
        """
        opened = open_store(store)
        try:
            record = begin(
                opened,
                name,
                player,
                clock,
                features=features,
                roles=roles or {},
                costs_by_item=costs_by_item,
                expire_after=expire_after,
                mode=mode,
                fallback=fallback,
                seed=seed,
            )
            return cls(opened, record, opened is not store)
        except BaseException:
            if opened is not store:
                opened.close()
            raise

    @classmethod
    def open(
        cls,
        store: str | PathLike[str] | Store,
        name: str,
        *,
        read_only: bool = False,
        clock: Clock = machine_clock,
    ) -> Self:
        """Go on with a stream: its latest snapshot and the events behind it.

        A record that does not verify is opened in safe mode, and ``trouble`` says what is wrong. ``read_only`` looks at
        a stream that another process writes.
        """
        opened = open_store(store, read_only=read_only, create=False)
        try:
            place = opened.open(name)
            try:
                return cls(opened, KeptRecord(place, clock), opened is not store)
            except BaseException:
                place.release()
                raise
        except BaseException:
            if opened is not store:
                opened.close()
            raise

    def __repr__(self) -> str:
        return f"<Stream {self.name!r} in {self._store.address}: {len(self.record)} events, {self.mode}>"

    def __reduce__(self) -> Any:
        raise InputError(
            f"stream {self.name!r} cannot be copied or pickled: one stream has one owner, who holds its store. Close "
            "the stream, and open it where it is needed: at.Stream.open(store, name); read_only=True looks while this "
            "process writes. Several processes that decide ask one service: at.connect"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ---- deciding

    def decide(
        self,
        item: Any,
        *,
        id: str | None = None,
        time: Any = None,
        stratum: str | None = None,
        costs: SomeCosts | None = None,
        baseline: bool | None = None,
    ) -> Answer:
        """Decide on an item, a record or a vector; on disk when this returns.

        The same id with the same item gives the answer that was given; with another item it is a conflict. The time
        is that of the machine unless one is given. ``baseline`` is the caller's own action, which stands in shadow
        mode.
        """
        alone = self._alone
        before = alone.enter()
        try:
            self._check_running()
            asked = self._reader.read(item, id, time, stratum, costs, self.costs)
            answer = self._decide(asked, baseline)
            self._settle()
            return answer
        finally:
            alone.user = before

    def _decide(self, asked: Asked, baseline: bool | None) -> Answer:
        id, x, item, _, stratum, costs = asked
        record, state = self.record, self._state
        known = None if id is None else record.decision(id)
        if known is not None:
            return self._again(known, asked, baseline)
        if id is None:
            id = self._next_id()
        at = record.now()
        moment, now = self._moment(asked.time, at)
        mode, prospect = state.mode, None
        if baseline is not None and not isinstance(baseline, bool):
            raise InputError(f"baseline is the caller's own action, True or False, got {baseline!r}")
        if mode == SHADOW and baseline is None:
            raise InputError("in shadow mode the caller's own action stands: give baseline=True (act) or False (pass)")
        if mode == SAFE:
            decision = self._fixed(x, costs or self.costs)
        else:
            player = state.player  # the item was checked by the reader, once
            prospect = player.see(x, costs or player.policy.costs, now, stratum, 0.0)
            decision = player.draw(prospect)
        if baseline is not None:
            decision = decision._replace(why={**decision.why, "baseline": float(baseline)})
        event = new_tuple(Decided, (id, decision, moment, stratum))
        kept = pack_item(x, item)
        try:
            seq = record.add(event, at, kept, costs is not None)
            state.decided(seq, event, prospect, now)
        except BaseException as error:
            self._stop(error)
            raise
        act = decision.act
        if mode == SHADOW:
            act = bool(baseline)
            self._happen(Enacted(id, act, CALLER, moment))
        return Answer(id, seq, decision, moment, mode, act, False, self._reader.features)

    def _fixed(self, x: NDArray[np.float64], costs: Costs) -> Decision:
        """Return the decision of safe mode, which no policy made."""
        act = self._settings["fallback"]
        return Decision(act, float(act), x, costs, 0, {})

    def _next_id(self) -> str:
        """Return the id of an item that came without one: the number of its event."""
        id = str(len(self.record) + 1)
        while self.record.decision(id) is not None:
            id += "'"
        return id

    def _moment(self, time: Any, at: int) -> tuple[float | str, float]:
        """Return the time of an item as the record has it, and as a number; all are numbers, or all are dates."""
        kind = self._state.kind
        if time is None and kind is not float:
            return stamp_text(at), at / 1e6
        number = instant(time)
        told = written(time)
        if told is None or (kind is not None and type(told) is not kind):
            raise InputError(
                f"times are all numbers or all dates: earlier times are {KINDS_OF_TIME[kind or type(None)]}, and this "
                f"one is {'left out' if told is None else 'not'}"
            )
        assert number is not None
        return told, number

    def _again(self, known: Found, asked: Asked, baseline: bool | None) -> Answer:
        """Return the answer of an id that was decided, if it was about this very item."""
        _, (id, decision, _, stratum), stamp, erased = known
        if erased:
            raise ConflictError(
                f"there is a decision {id!r} already, and its features were erased: nobody can tell whether this is "
                "the same item. Give every item an id of its own"
            )
        same = decision.x.tobytes() == asked.x.tobytes() and stratum == asked.stratum
        same = same and stamp.own_costs == (asked.costs is not None)
        if not same or (asked.costs is not None and asked.costs != decision.costs):
            raise ConflictError(
                f"there is a decision {id!r} already, about another item: every item needs an id of its own"
            )
        answer = self.find(id).answer
        if baseline is not None and answer.mode == SHADOW and answer.act != baseline:
            raise ConflictError(f"there is a decision {id!r} already, and the caller's own action was the other one")
        return answer

    def decide_many(
        self,
        items: Sequence[Any],
        *,
        ids: Sequence[str | None] | None = None,
        times: Sequence[Any] | None = None,
        strata: Sequence[str | None] | None = None,
        costs: Sequence[SomeCosts | None] | None = None,
        baselines: Sequence[bool | None] | None = None,
    ) -> list[Answer]:
        """Decide on many items in their order, in one transaction; all are read before the first is decided."""
        with self._alone:
            self._check_running()
            n, usual = len(items), self.costs
            given = (("ids", ids), ("times", times), ("strata", strata), ("costs", costs), ("baselines", baselines))
            names, moments, parts, sheets, own = (_for_each(name, values, n) for name, values in given)
            rows = zip(items, names, moments, parts, sheets, strict=True)
            asked = [self._reader.read(*row, usual) for row in rows]
            with self.together([one.id for one in asked if one.id is not None]):
                return [self._decide(one, baseline) for one, baseline in zip(asked, own, strict=True)]


def _for_each(name: str, given: Sequence[Any] | None, n: int) -> Sequence[Any]:
    """Return one value for each of n items; None where nothing was given."""
    if given is not None and len(given) != n:
        raise InputError(f"{name} has {len(given)} values for {n} items; give one for each")
    return [None] * n if given is None else given
