"""``Stream``: features, a desk, a policy and a store; every verb is durable when it returns (docs/service.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import Any, Self, TypeVar

from ..costs import SomeCosts
from ..costs_by_item import CostsByItem
from ..errors import InputError
from ..features import FeatureMap
from ..policies import Player
from ..records.durable import Clock, DurableRecord, machine_clock
from ..records.stores import Store, open_store
from .answers import Answer
from .creation import begin
from .decider import TOGETHER, Deciding
from .modes import LIVE
from .reader import Row

T = TypeVar("T")


class Stream(Deciding):
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
                return cls(opened, DurableRecord(place, clock), opened is not store)
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
            asked = self._reader.read(item, id, time, stratum, costs, baseline, self.costs)
            (told,) = self._decide((asked,))
            answer = _unless_error(told)
            self._settle()
            return answer
        finally:
            alone.user = before

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
            columns = (_for_each(name, values, n) for name, values in given)
            rows = list(zip(items, *columns, strict=True))
            asked = [_unless_error(one) for one in self._reader.read_each(rows, usual)]
            done: list[Answer] = []
            with self.together([one.id for one in asked if one.id is not None]):
                while len(done) < n:
                    done += map(_unless_error, self._decide(asked, len(done)))
            return done

    def decide_each(self, rows: Sequence[Row]) -> list[Answer | Exception]:
        """Decide on items in their order, whatever becomes of the others: an error takes the place of an answer.

        For the service, whose requests have nothing to do with each other. A row has the item, its id, time, stratum
        and costs, and the baseline, as ``decide`` takes them.
        """
        told: list[Answer | Exception] = []
        with self._alone:
            self._check_running()
            asked = self._reader.read_each(rows, self.costs)
            most = TOGETHER
            try:
                while len(told) < len(asked):
                    told += self._decide(asked, len(told), most)
                    # an error undoes what was made ready behind it: one is tried next, then two, then four
                    most = 1 if isinstance(told[-1], Exception) else min(2 * most, TOGETHER)
            finally:
                self._settle()
        return told


def _unless_error(told: T | Exception) -> T:
    """Return an answer or what is asked, or raise the error that took its place."""
    if isinstance(told, Exception):
        raise told
    return told


def _for_each(name: str, given: Sequence[Any] | None, n: int) -> Sequence[Any]:
    """Return one value for each of n items; None where nothing was given."""
    if given is not None and len(given) != n:
        raise InputError(f"{name} has {len(given)} values for {n} items; give one for each")
    return [None] * n if given is None else given
