"""The journal of a stream: its record and the state folded from it, committed in groups."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from ..errors import InputError, StoppedError, UnknownDecisionError
from ..records.durable import DurableRecord, Found
from ..records.events import ClockSet, Decided, Event, Labelled, ModeChanged
from ..records.stores import Store
from . import snapshots
from .activity import Activity
from .answers import SAFE
from .fold import adopted
from .nursery import Nursery
from .recovery import latest_fold
from .snapshots import Keeper, describe, keep

log = logging.getLogger("appletaste.streams")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Journal:
    """What is durable of a stream: events are added, followed by the fold, and committed in groups.

    Whatever fails while events are written stops the journal: what is in memory may not be what is on disk.
    """

    def __init__(self, store: Store, record: DurableRecord, owns_store: bool) -> None:
        self.store, self.record, self._owns_store = store, record, owns_store
        #: What the record leads to; the number of the event of the last snapshot; what does not verify, if anything.
        self.fold, self._snapshot_at, self.trouble = latest_fold(record)
        self.keeper, self.nursery = Keeper(record.place), Nursery()
        self.activity = Activity()
        self._depth = 0
        self.compared = 0  #: the last event up to which this process, or another, has folded the record and compared
        #: Why nothing can be written any more; empty: it can.
        self.stopped = "it was opened to look at" if store.read_only else ""
        if store.read_only:
            return
        if self.trouble is not None:
            self.enter_safe_mode()
        elif len(record) - self._snapshot_at >= snapshots.EVERY:
            self.snapshot()

    # ---- what happens

    def add(self, event: Event) -> int:
        """Add an event to the record and let the fold follow; the caller settles."""
        try:
            seq = self.record.add(event, self.record.stamp(self.record.now()))
            self.activity.take(event, self.fold.awaited_since(event.id))
            self.fold.follow(seq, event, self.decided)
            if isinstance(event, Labelled) and (found := self.nursery.after_label(self.fold.learner)) is not None:
                adoption = adopted(found, self.now())
                self.fold.adopt(found)
                self.record.add(adoption, self.record.stamp(self.record.now()))
        except BaseException as error:  # what was not checked before it was added
            self.stop(error)
            raise
        return seq

    def settle(self) -> None:
        """Make what has happened durable, unless a group is open; whatever fails stops the journal."""
        if self._depth or self.stopped:
            return
        self._tell_clock()
        try:
            self.record.write()
        except BaseException as error:
            self.stop(error)
            raise
        if self.snapshot_due:
            self._snapshot_aside()

    @contextmanager
    def group(self, ids: Sequence[str] = (), commit: bool = True) -> Iterator[None]:
        """Write all that happens in the block in one transaction, at its end: only then is any of it durable.

        ``ids`` are those of decisions that will be asked for, looked up at once. What happened before an exception is
        written all the same. Without ``commit`` what happened waits: ``prepare`` it.
        """
        try:
            with self._waiting(ids):
                yield
        finally:
            if commit:
                self.settle()

    @contextmanager
    def _waiting(self, ids: Sequence[str]) -> Iterator[None]:
        self.check_running()
        if ids:
            self.record.prefetch(ids)
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self.check_running()  # or what waits would look written to whoever swallowed the error
                self._tell_clock()

    def prepare(self, begin: bool = False) -> Callable[[], None]:
        """Return what makes all that waits durable, for another thread to call; tell ``committed`` how it went.

        ``begin``: do now what takes no wait. Of a stream that has stopped nothing is written; the call says so.
        """
        return self.check_running if self.stopped else self.record.prepare(begin)

    def committed(self, error: BaseException | None) -> None:
        """Take note that what was prepared is on disk; an error stops the journal."""
        if error is not None:
            self.stop(error)
            return
        self.record.committed()
        if self.snapshot_due and self.record.head == self.record.written:
            self._snapshot_aside()

    def stop(self, error: BaseException) -> None:
        """Write nothing any more: what is in memory may not be what is on disk."""
        self.stopped = str(error) or type(error).__name__

    def check_running(self) -> None:
        """Refuse to go on where the journal has stopped."""
        if self.stopped:
            raise StoppedError(f"stream {self.name!r} has stopped: {self.stopped}. Open the stream again")

    def check_alone(self, what: str) -> None:
        """Refuse what is written by itself while a group waits to be written: its state is ahead of the record."""
        if self._depth:
            raise InputError(f"{what} is written by itself: call it outside of the block of group()")

    def enter_safe_mode(self) -> None:
        """Let a fixed action stand from now on, because the record does not verify."""
        if not self.stopped and self.fold.mode != SAFE:
            told = f"the record does not verify: {self.trouble}"
            self.add(ModeChanged(SAFE, "appletaste", told, self.now()))
            self.settle()

    def _tell_clock(self) -> None:
        """Say that the clock of the machine was set, if it was, in the record and aloud; times follow the clock."""
        moved = self.record.timepiece.take() / 1e6
        if moved:
            self.add(ClockSet(moved, self.now()))
            log.warning("the clock of the machine was set", extra={"stream": self.name, "seconds": round(moved)})

    # ---- looking

    @property
    def name(self) -> str:
        """The name of the stream in its store."""
        return self.record.place.name

    def decided(self, id: str) -> Decided:
        """Return how an id was decided."""
        return self.found(id).event

    def found(self, id: str) -> Found:
        """Return the decision with an id, or say that there is none."""
        found = self.record.decision(id) if isinstance(id, str) else None
        if found is None:
            raise UnknownDecisionError(
                f"there is no decision {str(id)[:80]!r} in stream {self.name!r}: give the id that decide was given"
            )
        return found

    def now(self) -> str:
        """Return the time of the machine as text."""
        return stamp_text(self.record.now())

    # ---- snapshots

    @property
    def snapshot_due(self) -> bool:
        """Whether a snapshot is made as soon as nothing waits to be written."""
        return self.trouble is None and self.keeper.due(len(self.record) - self._snapshot_at)

    def snapshot(self) -> int:
        """Write a snapshot now, and wait for it; return the number of the last event that it has taken in."""
        self.check_alone("a snapshot")
        self.check_running()
        self.settle()
        self.keeper.wait()
        seq, digest = self.record.written
        if self.trouble is None and seq > self._snapshot_at:
            header, arrays = self.fold.header(), self.fold.arrays()
            keep(self.record.place, describe(seq, digest, header, arrays), arrays)
            self._snapshot_at = seq
        return self._snapshot_at

    def snapshot_written(self, seq: int) -> None:
        """Take note of a snapshot that was written by itself."""
        self._snapshot_at = seq

    def _snapshot_aside(self) -> None:
        self._snapshot_at = self.record.written.seq
        self.keeper.start(*self.record.written, self.fold)

    def close(self) -> None:
        """Write what waits and, if much has happened, a snapshot; let go of the stream."""
        self.keeper.wait()
        try:
            if not self.stopped:
                self.settle()
                if len(self.record) - self._snapshot_at > snapshots.EVERY // 10:
                    self.snapshot()
        finally:
            self.stopped = self.stopped or "it was closed"
            self.record.place.release()
            if self._owns_store:
                self.store.close()


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
