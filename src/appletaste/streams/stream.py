"""``Stream``: features, a desk, a policy and a store; every verb is durable when it returns (docs/service.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from types import MappingProxyType, TracebackType
from typing import Any, Self, TypeVar

from .._checks import check_text
from ..costs import Costs, SomeCosts
from ..costs_by_item import CostsByItem
from ..errors import AppleTasteError, InputError, RecordError
from ..features import FeatureMap
from ..logs import DecisionLog
from ..logs.decision_log import table_of
from ..policies import Player
from ..policies.items import usual_costs
from ..policies.player import Alone
from ..records.durable import DurableRecord
from ..records.events import CostsChanged, Event, ModeChanged, StaffingChanged, Worded
from ..records.states import Entries
from ..records.stores import Store, open_store
from ..records.timepiece import Clock, machine_clock
from ..words import Words
from .activity import Activity
from .answers import LIVE, SAFE, Answer, Case, LabelReceipt, check_mode
from .audit import Audit
from .budget import Budget, Calendar
from .creation import audited, begin, reader_of
from .decider import TOGETHER, Decider
from .desk import Desk, restaffed
from .feedback import Feedback
from .journal import Journal
from .lots import RATE, SecondLook, looked_again, second_looks_of
from .reader import Asked, ItemRow
from .recovery import settings_of
from .staffing import Share, Staffing, lane_of
from .verify import Progress, Verified, verify

T = TypeVar("T")
#: What is said of a stream without a map: maps add the intercept themselves.
NO_INTERCEPT = (
    "items are vectors, and nothing is added to them: let one of the numbers be 1 in every item (an intercept), or the "
    "chance of an average item stays near 1/2, whatever its labels say"
)


class Stream:
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
    3 events verify: 1 decision, 1 label, 0 snapshots, bit for bit
    """

    def __init__(self, journal: Journal) -> None:
        self._journal, self.record = journal, journal.record
        self._settings = settings_of(journal.record.place).settings
        self._reader = reader_of(self._settings, journal.fold)
        self._feedback = Feedback(journal, self._reader, self._settings["expire_after"])
        fallback = self._settings["fallback"]
        self._decider = Decider(journal, self._reader, fallback, self._feedback)
        self._alone = Alone("stream")

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
        audit: Share | Audit | None = None,
        seed: int | None = None,
        clock: Clock = machine_clock,
        words: str | Mapping[str, str] | Words | None = None,
    ) -> Self:
        """Make a stream.

        Parameters
        ----------
        store
            The name of a file, ``postgresql://...``, ``memory``, or a store that is open.
        player
            A policy, an ``Awaiting`` or a ``Desk`` that has decided nothing yet; labels that it was taught stay.
        features
            The map from records to vectors; without one items are vectors. A map that changes, with room for levels
            that come later, lives in the stream: the stream goes on with a copy of its own.
        roles, costs_by_item
            Which columns of a record hold the id, the time and the stratum (``streams.reader``), and formulas of
            costs.
        expire_after
            After how long a label is no longer waited for; a number of seconds or a ``timedelta``.
        mode, fallback
            The mode to begin with, and the action of safe mode.
        audit
            Which passes are audited: ``"auto"`` (as many as pay, 1 % at most), ``"2%"``, an ``Audit``, or 0 for none;
            takes the place of a desk's lane. None: the player stays as it is, so that what was rehearsed is what runs,
            and a player without audits is warned of (``UnauditedWarning``).
        seed
            Takes the place of the player's. None: 128 secret random bits, which is right for all but tests.
        clock
            Microseconds since 1970, for tests.
        words
            What the team calls things, ``"order,fraud,fine,hold,let through,EUR"`` or the first few: page, report and
            exports speak so.
        """
        own = None if words is None else Words.of(words)
        player = audited(player, audit, name)
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
                words=own,
            )
            return cls(Journal(opened, record, opened is not store))
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
                return cls(Journal(opened, DurableRecord(place, clock), opened is not store))
            except BaseException:
                place.release()
                raise
        except BaseException:
            if opened is not store:
                opened.close()
            raise

    def __repr__(self) -> str:
        return f"<Stream {self.name!r} in {self._journal.store.address}: {len(self.record)} events, {self.mode}>"

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

    def close(self) -> None:
        """Write what waits and, if much has happened, a snapshot; let go of the stream."""
        with self._alone:
            self._journal.close()

    # ---- how it stands

    @property
    def name(self) -> str:
        """The name of the stream in its store."""
        return self._journal.name

    @property
    def settings(self) -> dict[str, Any]:
        """What the stream was created with, without the seed."""
        return dict(self._settings)

    @property
    def roles(self) -> dict[str, str]:
        """Which columns of a record hold the id, the time, the stratum and the label."""
        return dict(self._reader.roles)

    @property
    def costs_by_item(self) -> CostsByItem | None:
        """The formulas that give each item its own costs; None: all items have the usual ones."""
        return self._reader.sheet

    @property
    def player(self) -> Player:
        """What decides and learns, to be looked at."""
        return self._journal.fold.player

    @property
    def features(self) -> FeatureMap | None:
        """The map from records to vectors, to be looked at."""
        return self._reader.features

    @property
    def costs(self) -> Costs:
        """The usual costs, as they are now."""
        return self._journal.fold.player.policy.costs

    @property
    def mode(self) -> str:
        """The mode that holds now."""
        return self._journal.fold.mode

    @property
    def words(self) -> Words:
        """What the team calls things, as it is now; the usual words where nobody has said so."""
        return Words.of(self._journal.fold.words)

    @property
    def mode_since(self) -> tuple[int, str]:
        """The number of the event since which the mode of now holds, and that mode."""
        return self._journal.fold.modes[-1]

    @property
    def pending(self) -> list[str]:
        """The ids of the decisions whose label is awaited, in the order in which waiting began."""
        return list(self._journal.fold.pending)

    @property
    def awaited(self) -> MappingProxyType[str, tuple[int, float]]:
        """What is pending, in the same order: since which event each waits, and since when; to be looked at."""
        return MappingProxyType(self._journal.fold.pending)

    @property
    def awaited_since(self) -> float | None:
        """Since when the label is awaited that is awaited longest, in seconds since 1970; None: none, or no dates."""
        return self._journal.fold.oldest

    @property
    def activity(self) -> Activity:
        """What has happened since the stream was opened, counted; to be looked at."""
        return self._journal.activity

    def count_on(self, activity: Activity) -> None:
        """Go on with what was counted before the stream was closed, in the place of nothing."""
        self._journal.activity = activity

    @property
    def notes(self) -> list[str]:
        """What is worth knowing of how the stream was made."""
        believes = self.player.policy.learner.belief is not None
        return [NO_INTERCEPT] if believes and self.features is None else []

    @property
    def times(self) -> type | None:
        """What times are in this stream: ``float``, or ``str`` for dates; None: no decision was made yet."""
        return self._journal.fold.kind

    @property
    def trouble(self) -> RecordError | None:
        """What does not verify of the record; None: nothing that was seen."""
        return self._journal.trouble

    @property
    def stopped(self) -> str:
        """Why nothing can be written any more; empty: it can."""
        return self._journal.stopped

    @property
    def snapshot_due(self) -> bool:
        """Whether a snapshot is made as soon as nothing waits to be written."""
        return self._journal.snapshot_due

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.record)

    def __bool__(self) -> bool:
        return True

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.record.decision(id) is not None

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
        is that of the machine unless one is given: a date, or a number, in seconds where the unit of the time column is
        known. ``baseline`` is the caller's own action, which stands in shadow mode.
        """
        alone = self._alone
        before = alone.enter()
        try:
            self._journal.check_running()
            asked = self._reader.read(item, id, time, stratum, costs, baseline, self.costs)
            (told,) = self._decider.decide((asked,))
            answer = _unless_error(told)
            self._journal.settle()
            return answer
        finally:
            alone.user = before

    def read(self, item: Any, *, time: Any = None, stratum: str | None = None, costs: Any = None) -> Asked:
        """Return an item as ``decide`` would read it, with what its columns say of its time, stratum and costs.

        Nothing is decided. ``costs`` may also be formulas over the columns of a record.
        """
        with self._alone:
            given = costs.of_item(item) if isinstance(costs, CostsByItem) else costs
            return self._reader.read(item, None, time, stratum, given, None, self.costs)

    def decide_many(
        self,
        items: Sequence[Any],
        *,
        ids: Sequence[str | None] | None = None,
        times: Sequence[Any] | None = None,
        strata: Sequence[str | None] | None = None,
        costs: Sequence[SomeCosts | None] | None = None,
        baselines: Sequence[bool | None] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> list[Answer]:
        """Decide on many items in their order, in one transaction; all are read before the first is decided.

        An error says which item it is about (``error.item``, from 0). ``progress`` is told how many are decided.
        """
        with self._running:
            n, usual = len(items), self.costs
            given = (("ids", ids), ("times", times), ("strata", strata), ("costs", costs), ("baselines", baselines))
            columns = (_for_each(name, values, n) for name, values in given)
            rows = list(zip(items, *columns, strict=True))
            read = self._reader.read_each(rows, usual)
            asked = [_unless_error(one, k) for k, one in enumerate(read)]
            done: list[Answer] = []
            with self._journal.group([one.id for one in asked if one.id is not None]):
                while len(done) < n:
                    for answer in self._decider.decide(asked, len(done)):
                        done.append(_unless_error(answer, len(done)))
                    if progress is not None:
                        progress(len(done))
            return done

    def decide_each(self, rows: Sequence[ItemRow]) -> list[Answer | Exception]:
        """Decide on items in their order, whatever becomes of the others: an error takes the place of an answer.

        For the service, whose requests have nothing to do with each other. A row has the item, its id, time, stratum
        and costs, and the baseline, as ``decide`` takes them.
        """
        told: list[Answer | Exception] = []
        with self._alone:
            self._journal.check_running()
            asked = self._reader.read_each(rows, self.costs)
            most = TOGETHER
            try:
                while len(told) < len(asked):
                    told += self._decider.decide(asked, len(told), most)
                    # an error undoes what was made ready behind it: one is tried next, then two, then four
                    most = 1 if isinstance(told[-1], Exception) else min(2 * most, TOGETHER)
            finally:
                self._journal.settle()
        return told

    # ---- what becomes of decisions

    def find(self, id: str) -> Case:
        """Return a decision, as it was answered, and all that became of it."""
        return self._feedback.find(id)

    def label(self, id: str, value: int, *, time: Any = None, by: str = "") -> LabelReceipt:
        """Learn the label of an act, once; the label of a pass is recorded and never learnt.

        The same value again changes nothing; another value is a conflict, and needs ``correct``. ``by`` is who says so.
        """
        alone = self._alone
        before = alone.enter()
        try:
            self._journal.check_running()
            return self._feedback.label(id, value, time, by)
        finally:
            alone.user = before

    def correct(self, id: str, value: int, *, time: Any = None, by: str = "") -> LabelReceipt:
        """Replace a label by another; what was learnt from it is learnt anew."""
        with self._running:
            return self._feedback.correct(id, value, time, by)

    def retract(self, id: str, *, time: Any = None, by: str = "") -> LabelReceipt:
        """Withdraw a label as if it had never arrived: the decision is pending again."""
        with self._running:
            return self._feedback.retract(id, time, by)

    def second_looks_due(self, rate: float = RATE, *, by: str = "") -> list[str]:
        """Return which labelled decisions are to be looked at again by lot, the earliest first.

        ``by`` is who would look: nobody is asked about a label that they gave. The lot of a decision is drawn from the
        seed of the stream, once, so a higher rate later only adds decisions. Whoever looks must not see the label.
        """
        with self._alone:
            return second_looks_of(self.record).due(self.record.place.secret, rate, by)

    def look_again(self, id: str, value: int, *, rate: float = RATE, time: Any = None, by: str = "") -> bool:
        """Record what a second look at a labelled decision says; the label stays. False: it was known already.

        The decision must have been drawn at the rate, and ``by`` must not be who gave the label.
        """
        with self._running:
            event = looked_again(self.record, id, value, rate, time, by)
            if event is None:
                return False
            self._journal.add(event)
            self._journal.settle()
            return True

    def second_looks(self) -> list[SecondLook]:
        """Return every second look, beside the label that stood when somebody looked."""
        with self._alone:
            return list(second_looks_of(self.record).looks.values())

    def check_revisable(self) -> None:
        """Refuse to correct or withdraw labels where the stream does not learn now, or its policy keeps none."""
        self._feedback.check_revisable()

    def expire(self, now: Any = None, *, by: str = "") -> list[str]:
        """Give up waiting for the labels of decisions that are ``expire_after`` old or older; return their ids.

        Without ``now`` the time is that of the machine; a stream whose times are numbers has a clock of its own, and
        needs to be told.
        """
        with self._running:
            return self._feedback.expire(now, by)

    def enacted(self, id: str, act: bool, by: str, *, time: Any = None) -> Case:
        """Record that somebody acted, or passed, whatever was decided; the label of such an act is learnt.

        The probability that was recorded was then not the one that counted: the decision log has 1 for such an act and
        0 for such a pass, so that estimates by design leave them out.
        """
        with self._running:
            return self._feedback.enacted(id, act, by, time)

    def note(self, id: str, text: str, *, by: str = "") -> int:
        """Write something down about a decision, or about the stream (an empty id); return the number of the event."""
        with self._running:
            return self._feedback.note(id, text, by)

    def erase(self, id: str, *, verified: int = 0) -> Case:
        """Erase the features of a decision; its action, its probability and the SHA-256 of the features stay.

        A label that was learnt is retracted first, so that the policy knows nothing of the item any more, and a map
        that changes forgets the names of levels that no other decision has. Snapshots that knew the item are dropped,
        and another one is written, from which ``verify`` goes on.

        Before the features go the record is compared once more, and the event says so: what cannot be folded again
        afterwards was compared, and its digests say that nothing was changed since. ``verified`` is the number of the
        event up to which somebody has just done so; less is left to compare then. The first erasure of a process
        compares the whole record, others what came since.
        """
        with self._running:
            return self._feedback.erase(id, verified)

    @property
    def _running(self) -> Alone:
        """Lets one thread in at a time, while the stream runs."""
        self._journal.check_running()
        return self._alone

    # ---- writing many things at once

    def group(self, ids: Sequence[str] = (), *, commit: bool = True) -> AbstractContextManager[None]:
        """Write all that happens in the block in one transaction, at its end: only then is any of it durable.

        ``ids`` are those of decisions that will be asked for, looked up at once. What happened before an exception is
        written all the same. Without ``commit`` what happened waits: ``prepare`` it.
        """
        return self._journal.group(ids, commit)

    def prepare(self, begin: bool = False) -> Callable[[], None]:
        """Return what makes all that waits durable, for another thread to call; tell ``committed`` how it went.

        ``begin``: do now what takes no wait. Of a stream that has stopped nothing is written; the call says so.
        """
        return self._journal.prepare(begin)

    def committed(self, error: BaseException | None) -> None:
        """Take note that what was prepared is on disk; an error stops the stream."""
        self._journal.committed(error)

    def snapshot(self) -> int:
        """Write a snapshot now, and wait for it; return the number of the last event that it has taken in.

        Snapshots are made by themselves, every 20,000 to 60,000 events, aside from the decisions.
        """
        with self._alone:
            return self._journal.snapshot()

    # ---- changing how it goes on

    def set_mode(self, mode: str, *, by: str = "", reason: str = "") -> int:
        """Let another mode hold from now on; return the number of the event.

        A stream whose record does not verify stays in safe mode.
        """
        with self._running:
            check_mode(mode)
            if self.trouble is not None and mode != SAFE:
                raise RecordError(
                    f"stream {self.name!r} stays in safe mode, because its record does not verify: {self.trouble}. "
                    "Restore a backup",
                    self.trouble.seq,
                )
            by, reason = check_text("a name", by), check_text("a reason", reason)
            seq = self._journal.add(ModeChanged(mode, by, reason, self._journal.now()))
            self._journal.settle()
            return seq

    def set_costs(self, costs: SomeCosts, *, by: str = "") -> int:
        """Let other costs be the usual ones from now on; return the number of the event."""
        with self._running:
            if self._reader.sheet is not None:
                raise InputError("the costs of this stream are formulas over columns; they stay as they were created")
            changed = usual_costs(costs).outcomes()
            seq = self._journal.add(CostsChanged(changed, check_text("a name", by), self._journal.now()))
            self._journal.settle()
            return seq

    def set_words(self, words: str | Mapping[str, str] | Words, *, by: str = "") -> int:
        """Let page, report and exports speak in other words from now on; return the number of the event.

        ``"order,fraud,fine,hold,let through,EUR"``, or the first few, or a mapping; all of them are replaced. Nothing
        is decided by words.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("always", n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
        >>> stream = at.Stream.create("memory", "orders", policy, words="order,fraud")
        >>> _ = stream.set_words("order,fraud,fine,hold,let through,EUR", by="ann")
        >>> stream.words.acted, stream.words.currency
        ('held', 'EUR')
        """
        with self._running:
            own = Words.of(words).own
            seq = self._journal.add(Worded(own, check_text("a name", by), self._journal.now()))
            self._journal.settle()
            return seq

    @property
    def budget(self) -> Budget | None:
        """How many acts there may be, as it is now; None: any number."""
        return self.player.budget if isinstance(self.player, Desk) else None

    @property
    def time_zone(self) -> str | None:
        """The time zone whose days a capacity is of; None: none was named, and days are those of UTC."""
        per_day = None if self.budget is None else self.budget.per_day
        return per_day.zone if isinstance(per_day, Calendar) else None

    @property
    def audit(self) -> Audit | None:
        """Which passes are audited, as it is now; None: none."""
        return self.player.audit if isinstance(self.player, Desk) else None

    def set_capacity(self, capacity: Share | Budget | None, *, time_zone: str | None = None, by: str = "") -> int:
        """Change the review capacity from now on, ``120/day`` or ``5%`` (None: any); return the number of the event.

        What was spent today, or in the window, of a budget before counts on. Days stay those of the time zone that they
        were of, unless another one is given.
        """
        if not (capacity is None or isinstance(capacity, Budget)):
            if time_zone is None and not str(capacity).replace(".", "", 1).removesuffix("%").isdigit():
                time_zone = self.time_zone
            found = Staffing.of(capacity, None, time_zone)
            assert found is not None
            capacity = found.budget
        if capacity is not None and capacity.per_day is not None and self.times is float:
            raise InputError("a capacity per day needs dates, and the times of this stream are numbers: give a share")
        return self._restaff(capacity, self.audit, by)

    def set_audit(self, audit: Share | Audit | None, *, by: str = "") -> int:
        """Let another share of passes be audited from now on, ``2%`` say (None: none); return its number."""
        return self._restaff(self.budget, lane_of(audit), by)

    def _restaff(self, budget: Budget | None, audit: Audit | None, by: str) -> int:
        with self._running:
            restaffed(self.player, budget, audit)  # what is wrong is said before anything happens
            caps, lane = (None if one is None else one.settings() for one in (budget, audit))
            seq = self._journal.add(StaffingChanged(caps, lane, check_text("a name", by), self._journal.now()))
            self._journal.settle()
            return seq

    def grow_trees_beside(self) -> None:
        """Fit trees in a thread from now on, so that nobody waits for them; without this whoever labels does.

        They are adopted at the first label after they are there.
        """
        self._journal.nursery.beside = True

    # ---- looking at all of it

    def verify(self, progress: Progress | None = None) -> Verified:
        """Fold the record again from nothing, and compare every probability and every snapshot, bit for bit.

        ``RecordError`` names the first event that differs, and the stream is in safe mode from then on.
        """
        with self._alone:
            journal = self._journal
            journal.settle()
            journal.keeper.wait()
            try:
                found = verify(self.record.place, progress)
                for problem in journal.store.check():
                    raise RecordError(f"the store says of itself: {problem}")
            except RecordError as error:
                journal.trouble = error
                journal.enter_safe_mode()
                raise
            journal.compared = found.events
            return found

    def log(self, features: bool | None = None) -> DecisionLog:
        """Return the decision log, one row a decision; with the features unless told not to, or unless some are erased.

        What somebody did instead of what was decided has the probability 1 or 0; ``why`` has what the policy said.
        """
        with self._alone:
            self._journal.settle()
            entries = Entries(event for _, event in self.record.read())
            whole = all(len(event.decision.x) for event in entries.decided.values())
            if features and not whole:
                raise InputError("the features of some decisions were erased: ask for the log with features=False")
            log = table_of(entries, self.player.policy.name, whole if features is None else features)
            return log if self.features is None else log.named(self.features.names())

    def events(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give the events that are written, behind a number, each with its own."""
        return self.record.read(after)


def _unless_error(told: T | Exception, item: int | None = None) -> T:
    """Return an answer or what is asked, or raise the error that took its place."""
    if isinstance(told, Exception):
        if isinstance(told, AppleTasteError):
            told.item = item
        raise told
    return told


def _for_each(name: str, given: Sequence[Any] | None, n: int) -> Sequence[Any]:
    """Return one value for each of n items; None where nothing was given."""
    if given is not None and len(given) != n:
        raise InputError(f"{name} has {len(given)} values for {n} items; give one for each")
    return [None] * n if given is None else given
