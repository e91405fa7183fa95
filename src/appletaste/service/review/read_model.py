"""What was read of a record beside its writer, kept up to date: one row a decision, alarms and staffing.

The first question reads the whole record, every later one the events since. All of it can be read again at any time.
Every question of numbers (a day, a month, what if) is one to the rows, some 350 bytes a decision and no features. What
stands in a row is what ``Entries`` and ``table_of`` would make of the same events.
"""

from __future__ import annotations

import json
import math
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...costs import OUTCOMES, Costs
from ...drift import Alarm, Watch
from ...drift.alarms import LABELS, clock_alarm
from ...drift.page_hinkley import largest_sum
from ...logs import DecisionLog
from ...records.codec import event_of, unpack
from ...records.events import (
    NEVER_DUE,
    OBSERVED,
    PENDING,
    STATES,
    UNKNOWN,
    ClockSet,
    Decided,
    Enacted,
    Event,
    Labelled,
    Recorded,
    StaffingChanged,
)
from ...records.states import Standing, after
from ...records.stores.store import Place
from ...records.timepiece import WORTH
from ...streams import Audit, Budget
from ...streams.answers import CALLER
from ...streams.lots import SecondLooks
from ...streams.recovery import first_map
from ...streams.snapshots import read_manifest
from ...streams.staffing import staffing_of
from ...times import DAY, instant, read_date
from ..writer import Writer

#: Cost sheets that are remembered while events are read, and answers that are kept once they were computed.
SHEETS, MOST_KEPT = 1000, 2000
FLOATS = ("probability", *OUTCOMES, "chance", "worth", "price", "moment", "clock", "told_at", "known_at")
FLAGS = ("act", "audit", "label", "state", "explored", "overruled", "own_act", "own_audit")
NUMBERS = ("round", "seq", "day")
_STATE = {name: code for code, name in enumerate(STATES)}
_NAMES = np.array(STATES, dtype=np.str_)
#: After so many events whoever reads on lets others go on for so many seconds.
TURN, REST = 25, 3e-4
#: Rows that there is room for at first.
ROOM = 1024
#: What a day is numbered from.
EPOCH = np.datetime64("1970-01-01")


class Columns:
    """One row a decision, in the order of deciding."""

    def __init__(self) -> None:
        #: The row of each decision.
        self.rows: dict[str, int] = {}
        self._floats = np.empty((ROOM, len(FLOATS)))
        self._flags = np.empty((ROOM, len(FLAGS)), dtype=np.int8)
        self._numbers = np.empty((ROOM, len(NUMBERS)), dtype=np.int64)
        self.label_times: dict[int, float | str | None] = {}
        #: The label of a pass and when it came, by row.
        self.reports: dict[int, tuple[int, float | str | None]] = {}
        #: How often anything happened to the decisions of a day: whoever has computed something of the day sees by it
        #: whether that still holds.
        self.touched: dict[int, int] = {}
        self.dated: bool | None = None  #: whether times are dates; None: there is no decision yet

    def __len__(self) -> int:
        return len(self.rows)

    def number(self, name: str) -> NDArray[np.int64]:
        """Return a column of whole numbers."""
        return self._numbers[: len(self), NUMBERS.index(name)]

    def flag(self, name: str) -> NDArray[np.int8]:
        """Return a column of flags and codes."""
        return self._flags[: len(self), FLAGS.index(name)]

    def amount(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers."""
        return self._floats[: len(self), FLOATS.index(name)]

    def take(self, seq: int, event: Event, at: int) -> None:
        """Take in one event, written at a time of the machine (microseconds since 1970)."""
        if isinstance(event, Decided):
            self._decided(seq, event, at)
            return
        row = self.rows.get(event.id) if event.id else None
        if row is None:
            return
        flags = self._flags[row]
        before = Standing(STATES[flags[3]])
        now = after(event, before, bool(flags[0]))
        if now is before:
            return
        if isinstance(event, Enacted):
            flags[5] = event.by != CALLER
            flags[0], flags[1] = event.act, False
            self.reports.pop(row, None)
            self._floats[row, 0] = float(event.act)
        if now.report is not None:
            self.reports[row] = now.report, now.report_time
        elif now.label is None:
            self._unknown(row, now.state)
        else:
            flags[2], flags[3] = now.label, _STATE[now.state]
            if now.state == OBSERVED:
                self._known(row, now.label_time, at)
        day = int(self._numbers[row, 2])
        self.touched[day] += 1

    def _decided(self, seq: int, event: Decided, at: int) -> None:
        row = len(self.rows)
        if row == len(self._floats):
            self._grow()
        decision, costs = event.decision, event.decision.costs
        if self.dated is None:
            self.dated = isinstance(event.time, str)
        local, moment = read_date(event.time) if self.dated else (at / 1e6, at / 1e6)
        day = _day(local if local == local else at / 1e6)
        best = decision.chance != decision.chance or costs.best(decision.chance)
        sheet = (costs.miss, costs.false_alarm, costs.hit, costs.correct_pass)
        clock = event.time if isinstance(event.time, float | int) else moment  # a clock of the caller's own
        told = (decision.chance, decision.worth, decision.price, moment, clock, math.nan, math.nan)
        self._floats[row] = (decision.probability, *sheet, *told)
        explored = decision.act and not decision.audit and not best
        state = _STATE[PENDING if decision.act else NEVER_DUE]
        own = (decision.act, decision.audit)
        self._flags[row] = (*own, UNKNOWN, state, explored, False, *own)
        self._numbers[row] = (decision.round, seq, day)
        self.rows[event.id] = row
        self.touched[day] = self.touched.get(day, 0) + 1

    def _known(self, row: int, time: float | str | None, at: int) -> None:
        self.label_times[row] = time
        told = math.nan if time is None else instant(time)
        self._floats[row, -2:] = told, told if self.dated else at / 1e6

    def _unknown(self, row: int, state: str) -> None:
        self._flags[row, 2], self._flags[row, 3] = UNKNOWN, _STATE[state]
        self._floats[row, -2:] = math.nan
        self.label_times.pop(row, None)

    def _grow(self) -> None:
        size = 2 * len(self._floats)
        self._floats = np.resize(self._floats, (size, len(FLOATS)))
        self._flags = np.resize(self._flags, (size, len(FLAGS)))
        self._numbers = np.resize(self._numbers, (size, len(NUMBERS)))

    # ---- for questions

    def log(self, policy: str, some: NDArray[np.intp] | None = None) -> DecisionLog:
        """Return all decisions, or some, as a log for estimates: without ids, strata, reasons and features."""
        chosen: slice | NDArray[np.intp] = slice(len(self)) if some is None else some

        def floats(name: str) -> NDArray[np.float64]:
            return np.array(self._floats[chosen, FLOATS.index(name)])

        def known(name: str) -> NDArray[np.float64] | None:
            found = floats(name)
            return None if np.isnan(found).all() else found

        def flags(name: str) -> NDArray[np.bool_]:
            return np.asarray(self._flags[chosen, FLAGS.index(name)] != 0)

        def moments(found: NDArray[np.float64] | None) -> NDArray[Any] | None:
            if found is None or not self.dated:
                return found
            return np.where(np.isnan(found), np.nan, np.round(1e6 * found)).astype("datetime64[us]")

        act, n = flags("act"), len(self) if some is None else len(some)
        found = object.__new__(DecisionLog)  # every event was checked when it happened
        vars(found).update(
            dict.fromkeys(DecisionLog.__dataclass_fields__)
            | {name: floats(name) for name in ("probability", *OUTCOMES)}
            | {name: known(name) for name in ("chance", "worth", "price")}
            | {"time": moments(floats("clock")), "label_time": moments(known("told_at"))}
            | {"id": np.broadcast_to(np.array(""), n), "policy": np.broadcast_to(np.array(policy), n)}
            | {"round": np.array(self._numbers[chosen, 0]), "act": act, "audit": flags("audit")}
            | {"label": np.array(self._flags[chosen, 2]), "state": _NAMES[self._flags[chosen, 3]]}
            | self._reported(n, some, moments)
        )
        return found

    def _reported(
        self,
        n: int,
        some: NDArray[np.intp] | None,
        moments: Callable[[NDArray[np.float64] | None], NDArray[Any] | None],
    ) -> dict[str, Any]:
        """Return the columns of reports, of all decisions or of some; none where there is no report."""
        report, told = np.full(n, UNKNOWN, dtype=np.int8), np.full(n, np.nan)
        place = dict(zip(range(n) if some is None else some.tolist(), range(n), strict=True)) if self.reports else {}
        for row, (label, when) in self.reports.items():
            if (here := place.get(row)) is not None:
                report[here], told[here] = label, np.nan if when is None else instant(when)
        if (report == UNKNOWN).all():
            return {}
        return {"report": report, "report_time": None if np.isnan(told).all() else moments(told)}

    def of_days(self, first: int, last: int) -> NDArray[np.intp]:
        """Return the rows of the decisions from one day to another, both included."""
        days = self.number("day")
        return np.flatnonzero((days >= first) & (days <= last))

    def delays(self, some: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how many days after the decision each label of some decisions arrived."""
        known = self.flag("label")[some] != UNKNOWN
        rows = some[known]
        found = (self.amount("known_at")[rows] - self.amount("moment")[rows]) / DAY
        return np.asarray(found[np.isfinite(found)])


def _day(seconds: float) -> int:
    return math.floor(seconds / DAY)


def day_of(time: str) -> int:
    """Return the number of the day of a date, where the date is written.

    Examples
    --------
    >>> day_of("1970-01-31T23:59:00-05:00")
    30
    """
    return _day(read_date(time)[0])


def day_number(text: str) -> int:
    """Return the number of a day since 1970.

    Examples
    --------
    >>> day_number("1970-01-31"), day_name(30)
    (30, '1970-01-31')
    """
    return int((np.datetime64(text, "D") - EPOCH).astype(np.int64))


def day_name(day: int) -> str:
    """Return the name of a day, as ISO 8601 has it."""
    return str(EPOCH + np.timedelta64(day, "D"))


class ReadModel:
    """One stream, read beside its writer; ``catch_up`` reads on, and whoever looks at what there is holds ``lock``."""

    def __init__(self, writer: Writer) -> None:
        self.writer, self.seq = writer, 0
        self.lock = threading.RLock()
        self.columns = Columns()
        #: The labels that stand on acts, and the second looks at them.
        self.second_looks = SecondLooks()
        began = first_map(writer.place)
        #: The names of the features when the stream began: alarms are known by them, whatever takes a place since.
        self._names = [] if began is None else began.names()
        self.watch = Watch(self._names or None)
        #: The number of the event that raised each alarm of the watch.
        self.raised: list[int] = []
        #: When the clock of the machine was set: the number of the event, and the alarm.
        self.clocks: list[tuple[int, Alarm]] = []
        self._labels: list[tuple[int, int]] = []  # how many items there were when each label came, and its row
        #: Budgets and lanes with the row of the first decision that each holds for.
        self.staffing: list[tuple[int, Budget | None, Audit | None]] = []
        #: The alarms as they were last told, and when, in seconds since 1970; None: nobody has asked.
        self.told: tuple[list[tuple[int, Alarm, bool]], float] | None = None
        #: What was last said to be missed, and when.
        self.missed: tuple[dict[str, Any], float] | None = None
        self._kept: dict[Any, tuple[Any, Any]] = {}

    def called_now(self, text: str, feature: str | None) -> str:
        """Return a text of an alarm with the name that its feature has by now."""
        names = self.writer.names
        if feature is None or names is None or feature not in self._names:
            return text
        return text.replace(feature, names[self._names.index(feature)])

    def catch_up(self) -> ReadModel:
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
                    if row.seq % TURN == 0:
                        time.sleep(REST)  # whoever decides waits for this thread otherwise
        return self

    def _take(self, seq: int, event: Event, at: int) -> None:
        self.columns.take(seq, event, at)
        self.second_looks.take(event)
        before = len(self.watch.alarms)
        if isinstance(event, Decided):
            x = event.decision.x
            if len(x):  # features that were erased cannot be watched any more
                self.watch.item(x, event.time)
        elif isinstance(event, Labelled | Recorded):
            self._watch_label(event)
        elif isinstance(event, StaffingChanged):
            self.staffing.append((len(self.columns), *staffing_of(event.budget, event.audit)))
        elif isinstance(event, ClockSet):
            alarm = clock_alarm(event.seconds, WORTH / 1e6, len(self.columns), event.time)
            self.clocks.append((seq, alarm))
        self.raised += [seq] * (len(self.watch.alarms) - before)

    def _watch_label(self, event: Labelled | Recorded) -> None:
        row = self.columns.rows.get(event.id)
        if row is None or not self.columns.flag("act")[row]:
            return
        chance = float(self.columns.amount("chance")[row])
        if chance == chance:
            self._labels.append((self.watch.items, row))
            self.watch.residual(event.label, chance, event.time)

    def raised_alarms(self) -> list[tuple[int, Alarm]]:
        """Return all alarms, with the events that raised them; one that is taken back later was raised all the same."""
        with self.lock:
            known = [*zip(self.raised, self.watch.alarms, strict=True), *self.clocks]
            return sorted(known, key=lambda pair: pair[0])

    # ---- what is computed of it

    @property
    def unwatched(self) -> list[str]:
        """What cannot be watched yet, in words."""
        watch = self.watch
        least = watch.reference + watch.window
        if watch.items >= least:
            return []
        told = f"columns are watched from {least:,} items on, and there are {watch.items:,} yet"
        return [f"{told}; labels are watched from the first on"]

    def rows_about(self, alarm: Alarm) -> NDArray[np.intp]:
        """Return the decisions that an alarm is about, from the one with which the change seems to have begun."""
        if alarm.kind != LABELS:
            return np.arange(max(0, alarm.since - 1), max(1, alarm.until))
        start = bisect_left(self._labels, (alarm.since, -1))
        end = bisect_right(self._labels, (alarm.until, len(self.columns)))
        about = [row for _, row in self._labels[start:end]]
        return np.arange(min(about), max(about) + 1)

    def stands(self, alarm: Alarm) -> bool:
        """Return whether the labels of the items that an alarm was about still say so, all that came later among them.

        The alarm is raised in the order in which labels come, and positives may come first. Here the labels of the same
        stretch of items, as they are now, are tested in the order of the items. Columns do not change their values.
        """
        if alarm.kind != LABELS:
            return True
        rows = self.rows_about(alarm)
        chance, label = self.columns.amount("chance")[rows], self.columns.flag("label")[rows]
        known = (label != UNKNOWN) & (self.columns.flag("act")[rows] != 0) & (chance == chance)
        shift = self.watch.test.shift if alarm.more else -self.watch.test.shift
        return largest_sum(label[known], chance[known], shift) > alarm.threshold

    def alarms(self) -> list[tuple[int, Alarm, bool]]:
        """Return all alarms in the order of raising: the event that did, the alarm, and whether the alarm stands."""
        found = [(seq, alarm, self.stands(alarm)) for seq, alarm in self.raised_alarms()]
        self.told = found, time.time()
        return found

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
