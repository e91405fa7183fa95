"""What keeps a stream: its record and its state, written in groups, stopped by a failed write, and its snapshots."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ..costs import Costs
from ..errors import StoppedError, UnknownDecisionError
from ..features import FeatureMap
from ..policies import Player
from ..policies.player import Alone
from ..records.durable import DurableRecord, Found
from ..records.events import Decided, Event, ModeChanged
from ..records.stores import Store
from .creation import reader_of, settings_of
from .modes import SAFE
from .recovery import latest_state
from .snapshots import Keeper, describe, keep

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
#: Events between two snapshots that are made by themselves, and so many times as many where a snapshot would begin
#: before the last one has rested: opening a busy stream then takes a second more, and decisions have that time.
EVERY, LONGER = 20_000, 3
#: Seconds that copying a state may take; a larger one has its snapshots when it is opened and closed.
LONGEST_COPY = 0.04


class Keeping:
    """The part of a ``Stream`` that has a record and a state."""

    def __init__(self, store: Store, record: DurableRecord, owns_store: bool) -> None:
        self._store, self.record, self._owns_store = store, record, owns_store
        created = settings_of(record.place)
        self._settings = created.settings
        self._state, self._snapshot_at, self.trouble = latest_state(record)
        self._reader = reader_of(record.place, created, self._state.player.policy.n_features)
        self._keeper = Keeper(record.place)
        self._alone = Alone("stream")
        self._depth = 0
        self._stopped = "it was opened to look at" if store.read_only else ""
        self._slow = False
        if store.read_only:
            return
        if self.trouble is not None and self.mode != SAFE:
            self._happen(ModeChanged(SAFE, "appletaste", f"the record does not verify: {self.trouble}", self._now()))
            self._settle()
        elif self.trouble is None and len(record) - self._snapshot_at >= EVERY:
            self.snapshot()

    @property
    def name(self) -> str:
        """The name of the stream in its store."""
        return self.record.place.name

    @property
    def settings(self) -> dict[str, Any]:
        """What the stream was created with, without the seed."""
        return dict(self._settings)

    @property
    def player(self) -> Player:
        """What decides and learns, to be looked at."""
        return self._state.player

    @property
    def features(self) -> FeatureMap | None:
        """The map from records to vectors."""
        return self._reader.features

    @property
    def costs(self) -> Costs:
        """The usual costs, as they are now."""
        return self._state.player.policy.costs

    @property
    def mode(self) -> str:
        """The mode that holds now."""
        return self._state.modes[-1][1]

    @property
    def mode_since(self) -> tuple[int, str]:
        """The number of the event since which the mode of now holds, and that mode."""
        return self._state.modes[-1]

    @property
    def pending(self) -> list[str]:
        """The ids of the decisions whose label is awaited, in the order in which waiting began."""
        return list(self._state.pending)

    @property
    def awaited(self) -> MappingProxyType[str, tuple[int, float]]:
        """What is pending, in the same order: since which event each waits, and since when; to be looked at."""
        return MappingProxyType(self._state.pending)

    @property
    def stopped(self) -> str:
        """Why nothing can be written any more; empty: it can."""
        return self._stopped

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.record)

    def __bool__(self) -> bool:
        return True

    # ---- writing

    @contextmanager
    def together(self, ids: Sequence[str] = ()) -> Iterator[None]:
        """Write all that happens in the block in one transaction, at its end: only then is any of it durable.

        ``ids`` are those of decisions that will be asked for, looked up at once. What happened before an exception is
        written all the same.
        """
        try:
            with self.ahead(ids):
                yield
        finally:
            self._settle()

    @contextmanager
    def ahead(self, ids: Sequence[str] = ()) -> Iterator[None]:
        """Let all that happens in the block wait to be written: ``hand_over`` what waits."""
        self._check_running()
        if ids:
            self.record.prefetch(ids)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._check_running()  # or what waits would look written to whoever swallowed the error

    def hand_over(self, begin: bool = False) -> Callable[[], None]:
        """Return what makes all that waits durable, for another thread to call; tell ``landed`` how it went.

        ``begin``: do now what takes no wait. Of a stream that has stopped nothing is written; the call says so.
        """
        return self._check_running if self._stopped else self.record.hand_over(begin)

    def landed(self, error: BaseException | None) -> None:
        """Take note that what was handed over is on disk; an error stops the stream."""
        if error is not None:
            self._stop(error)
            return
        self.record.landed()
        if self.snapshot_due and self.record.head == self.record.written:
            self._snapshot_aside()

    @property
    def snapshot_due(self) -> bool:
        """Whether a snapshot is made as soon as nothing waits to be written."""
        there = len(self.record) - self._snapshot_at
        if there < EVERY or self._slow or self.trouble or self._keeper.busy:
            return False
        return there >= LONGER * EVERY or self._keeper.rested

    def _settle(self) -> None:
        """Make what has happened durable, unless a group is open; whatever fails stops the stream."""
        if self._depth or self._stopped:
            return
        try:
            self.record.write()
        except BaseException as error:
            self._stop(error)
            raise
        if self.snapshot_due:
            self._snapshot_aside()

    def _stop(self, error: BaseException) -> None:
        """Write nothing any more: what is in memory may not be what is on disk."""
        self._stopped = str(error) or type(error).__name__

    def _check_running(self) -> None:
        if self._stopped:
            raise StoppedError(f"stream {self.name!r} has stopped: {self._stopped}. Open the stream again")

    def _happen(self, event: Event) -> int:
        """Add an event to the record and let the state follow; the caller settles."""
        try:
            seq = self.record.add(event, self.record.now())
            self._state.follow(seq, event, self._decided)
        except BaseException as error:  # what was not checked before it was added
            self._stop(error)
            raise
        return seq

    def _decided(self, id: str) -> Decided:
        return self._find(id).event

    def _find(self, id: str) -> Found:
        found = self.record.decision(id) if isinstance(id, str) else None
        if found is None:
            raise UnknownDecisionError(
                f"there is no decision {str(id)[:80]!r} in stream {self.name!r}: give the id that decide was given"
            )
        return found

    def _now(self) -> str:
        """Return the time of the machine as text."""
        return stamp_text(self.record.now())

    # ---- snapshots

    def snapshot(self) -> int:
        """Write a snapshot now, and wait for it; return the number of the last event that it has taken in.

        Snapshots are made by themselves, every 20,000 to 60,000 events, aside from the decisions.
        """
        with self._alone:
            self._check_running()
            self._settle()
            self._keeper.wait()
            seq, digest = self.record.written
            if self.trouble is None and seq > self._snapshot_at:
                header, arrays = self._state.header(), self._state.arrays()
                keep(self.record.place, describe(seq, digest, header, arrays), arrays)
                self._snapshot_at = seq
            return self._snapshot_at

    def _snapshot_aside(self) -> None:
        """Copy the state, and let a thread write it: decisions wait for the copy alone, or for one small write."""
        began = time.perf_counter()
        header, arrays = self._state.header(), self._state.arrays()
        self._slow = time.perf_counter() - began > LONGEST_COPY
        self._snapshot_at = self.record.written.seq
        self._keeper.start(*self.record.written, header, arrays)

    def close(self) -> None:
        """Write what waits and, if much has happened, a snapshot; let go of the stream."""
        with self._alone:
            self._keeper.wait()
            try:
                if not self._stopped:
                    self._settle()
                    if len(self.record) - self._snapshot_at > EVERY // 10:
                        self.snapshot()
            finally:
                self._stopped = self._stopped or "it was closed"
                self.record.place.release()
                if self._owns_store:
                    self._store.close()


def stamp_text(at: int) -> str:
    """Return microseconds since 1970 as a date.

    Examples
    --------
    >>> stamp_text(1)
    '1970-01-01T00:00:00.000001+00:00'
    """
    second, rest = divmod(at, 1_000_000)
    return f"{_second_text(second)}.{rest:06d}+00:00" if rest else _second_text(second) + "+00:00"


@lru_cache(maxsize=4)  # thousands of events share a second
def _second_text(second: int) -> str:
    return (EPOCH + timedelta(seconds=second)).isoformat()[:-6]
