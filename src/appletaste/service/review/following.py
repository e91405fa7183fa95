"""What was read of a record beside its writer, kept up to date: columns of the decisions, alarms and staffing.

The first question reads the whole record, every later one the events since. All of it can be read again at any time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

from ...costs import Costs
from ...drift import Watch
from ...logs import DecisionLog
from ...records.codec import event_of, unpack
from ...records.events import Decided, Event, Labelled, Recorded, StaffingChanged
from ...records.stores.store import Place
from ...streams import Audit, Budget
from ...streams.snapshots import read_manifest
from ...streams.staffing import staffing_of
from ..writer import Writer
from .columns import Columns

#: Cost sheets that are remembered while events are read, and answers that are kept once they were computed.
SHEETS, MOST_KEPT = 1000, 2000


class Following:
    """One stream, read beside its writer; ``catch_up`` reads on, and whoever looks at what there is holds ``lock``."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.seq = writer, 0
        self.lock = threading.RLock()
        self.columns = Columns()
        self.watch = Watch(writer.names)
        #: The number of the event that raised each alarm of the watch.
        self.raised: list[int] = []
        #: Budgets and lanes with the row of the first decision that each holds for.
        self.staffing: list[tuple[int, Budget | None, Audit | None]] = []
        self._kept: dict[Any, tuple[Any, Any]] = {}

    def catch_up(self) -> Following:
        """Read the events that were written since; whoever asks holds no lock of the event loop."""
        with self.lock:
            last = self.writer.seq
            if not self.staffing:
                self.staffing.append((0, *staffing_at_first(self.writer.place)))
            sheets: dict[tuple[float, ...], Costs] = {}
            if self.seq < last:
                for row in self.writer.place.read(self.seq):
                    if row.seq > last:
                        break
                    if len(sheets) > SHEETS:  # where each item has costs of its own
                        sheets.clear()
                    fields = unpack(row.body)
                    self._take(row.seq, event_of(row.kind, fields, row.item, sheets), fields[1])
                    self.seq = row.seq
        return self

    def _take(self, seq: int, event: Event, at: int) -> None:
        self.columns.take(seq, event, at)
        before = len(self.watch.alarms)
        if isinstance(event, Decided):
            x = event.decision.x
            if len(x):  # features that were erased cannot be watched any more
                self.watch.item(x, event.time)
        elif isinstance(event, Labelled | Recorded):
            self._watch_label(event)
        elif isinstance(event, StaffingChanged):
            self.staffing.append((len(self.columns), *staffing_of(event.budget, event.audit)))
        self.raised += [seq] * (len(self.watch.alarms) - before)

    def _watch_label(self, event: Labelled | Recorded) -> None:
        row = self.columns.rows.get(event.id)
        if row is None or not self.columns.flag("act")[row]:
            return
        chance = float(self.columns.amount("chance")[row])
        if chance == chance:
            self.watch.residual(event.label, chance, event.time)

    # ---- what is computed of it

    def log(self) -> DecisionLog:
        """Return the decisions as a log for estimates."""
        return self.columns.log(self.writer.policy)

    def once(self, name: Any, version: Any, make: Callable[[], Any]) -> Any:
        """Return what was computed under a name if it still holds, or compute it."""
        known = self._kept.get(name)
        if known is None or known[0] != version:
            if len(self._kept) > MOST_KEPT:
                self._kept.clear()
            known = self._kept[name] = version, make()
        return known[1]

    def limit_of(self, day: int, rows: Any) -> int | None:
        """Return the most acts of a day whose decisions these are, by the budget of the last of them; None: any."""
        if not len(rows):
            return None
        budget = next(budget for first, budget, _ in reversed(self.staffing) if first <= rows[-1])
        if budget is None:
            return None
        share = None if budget.share is None else int(budget.share * len(rows) + 1e-9)
        of_day = None if budget.per_day is None else budget.most_of(day)
        return min(limit for limit in (share, of_day) if limit is not None)

    @property
    def shares_audits(self) -> bool:
        """Whether audits are among the acts that the budget allows."""
        _, budget, audit = self.staffing[-1]
        return budget is not None and audit is not None and audit.budget is None


def staffing_at_first(place: Place) -> tuple[Budget | None, Audit | None]:
    """Return the budget and the lane that a stream began with."""
    player = json.loads(read_manifest(place.snapshots()[0][1]).header)["player"]
    return staffing_of(player.get("budget"), player.get("audit"))
