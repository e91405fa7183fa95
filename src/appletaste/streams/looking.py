"""What there is to see of a stream: whether its record verifies, its decision log, why, and what was missed."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import InputError, RecordError
from ..logs import DecisionLog
from ..logs.decision_log import table_of
from ..records.entries import Entries
from ..records.events import Event, ModeChanged
from .follow_up import Labelling
from .modes import SAFE
from .verify import Progress, Verified, verify


class Looking(Labelling):
    """The part of a ``Stream`` that answers questions."""

    def verify(self, progress: Progress | None = None) -> Verified:
        """Fold the record again from nothing, and compare every probability and every snapshot, bit for bit.

        ``RecordError`` names the first event that differs, and the stream is in safe mode from then on.
        """
        with self._alone:
            if not self._stopped:
                self._settle()
            self._keeper.wait()
            try:
                found = verify(self.record.place, progress)
                for problem in self._store.check():
                    raise RecordError(f"the store says of itself: {problem}")
            except RecordError as error:
                self.trouble = error
                if not self._stopped and self.mode != SAFE:
                    told = f"the record does not verify: {error}"
                    self._happen(ModeChanged(SAFE, "appletaste", told, self._now()))
                    self._settle()
                raise
            return found

    def log(self, features: bool | None = None) -> DecisionLog:
        """Return the decision log, one row a decision; with the features unless told not to, or unless some are erased.

        What somebody did instead of what was decided has the probability 1 or 0; ``why`` has what the policy said.
        """
        with self._alone:
            if not self._stopped:
                self._settle()
            entries = Entries(event for _, event in self.record.read())
            whole = all(len(event.decision.x) for event in entries.decided.values())
            if features and not whole:
                raise InputError("the features of some decisions were erased: ask for the log with features=False")
            return table_of(entries, self.player.policy.name, whole if features is None else features)

    def events(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Give the events that are written, behind a number, each with its own."""
        return self.record.read(after)
