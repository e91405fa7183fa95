"""The decisions of a stream as columns in memory, fed event by event: some 350 bytes a decision, and no features.

Every question of numbers (a day, a month, what if) is one to these columns, so the record is read once and not again
for each question. What stands in a row is what ``Entries`` and ``table_of`` would make of the same events.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ...costs import OUTCOMES
from ...logs import DecisionLog
from ...records.events import (
    CORRECTED,
    EXPIRED,
    NEVER_DUE,
    OBSERVED,
    PENDING,
    STATES,
    UNKNOWN,
    Corrected,
    Decided,
    Enacted,
    Event,
    Expired,
    Labelled,
    Recorded,
    Retracted,
)
from ...streams.answers import CALLER
from ...times import DAY, instant, read_date

FLOATS = ("probability", *OUTCOMES, "chance", "worth", "price", "moment", "known_at")
FLAGS = ("act", "audit", "label", "state", "explored", "overruled", "own_act", "own_audit")
NUMBERS = ("round", "seq", "day")
_STATE = {name: code for code, name in enumerate(STATES)}
_NAMES = np.array(STATES, dtype=np.str_)
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
        if isinstance(event, Labelled) or (isinstance(event, Recorded) and flags[0]):
            flags[2], flags[3] = event.label, _STATE[OBSERVED]
            self._known(row, event.time, at)
        elif isinstance(event, Corrected):
            flags[2], flags[3] = event.label, _STATE[CORRECTED]
        elif isinstance(event, Expired):
            self._unknown(row, EXPIRED)
        elif isinstance(event, Retracted):
            self._unknown(row, PENDING if flags[0] else NEVER_DUE)
        elif isinstance(event, Enacted):
            flags[5] = event.by != CALLER
            flags[0], flags[1] = event.act, False
            self._floats[row, 0] = float(event.act)
            self._unknown(row, PENDING if event.act else NEVER_DUE)
        else:
            return
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
        day = math.floor((local if local == local else at / 1e6) / DAY)
        best = decision.chance != decision.chance or costs.best(decision.chance)
        sheet = (costs.miss, costs.false_alarm, costs.hit, costs.correct_pass)
        told = (decision.chance, decision.worth, decision.price, moment, math.nan)
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
        self._floats[row, -1] = (instant(time) if time is not None else None) if self.dated else at / 1e6

    def _unknown(self, row: int, state: str) -> None:
        self._flags[row, 2], self._flags[row, 3] = UNKNOWN, _STATE[state]
        self._floats[row, -1] = math.nan
        self.label_times.pop(row, None)

    def _grow(self) -> None:
        size = 2 * len(self._floats)
        self._floats = np.resize(self._floats, (size, len(FLOATS)))
        self._flags = np.resize(self._flags, (size, len(FLAGS)))
        self._numbers = np.resize(self._numbers, (size, len(NUMBERS)))

    # ---- for questions

    def log(self, policy: str, some: NDArray[np.intp] | None = None) -> DecisionLog:
        """Return all decisions, or some, as a log for estimates: without ids, times, strata, reasons and features."""
        chosen: slice | NDArray[np.intp] = slice(len(self)) if some is None else some

        def floats(name: str) -> NDArray[np.float64]:
            return np.array(self._floats[chosen, FLOATS.index(name)])

        def known(name: str) -> NDArray[np.float64] | None:
            found = floats(name)
            return None if np.isnan(found).all() else found

        def flags(name: str) -> NDArray[np.bool_]:
            return np.asarray(self._flags[chosen, FLAGS.index(name)] != 0)

        act, n = flags("act"), len(self) if some is None else len(some)
        found = object.__new__(DecisionLog)  # every event was checked when it happened
        vars(found).update(
            dict.fromkeys(DecisionLog.__dataclass_fields__)
            | {name: floats(name) for name in ("probability", *OUTCOMES)}
            | {name: known(name) for name in ("chance", "worth", "price")}
            | {"id": np.broadcast_to(np.array(""), n), "policy": np.broadcast_to(np.array(policy), n)}
            | {"round": np.array(self._numbers[chosen, 0]), "act": act, "audit": flags("audit")}
            | {"label": np.array(self._flags[chosen, 2]), "state": _NAMES[self._flags[chosen, 3]]}
        )
        return found

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
