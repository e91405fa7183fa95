"""What each day of a log came to: counts, what acts cost and saved, and what is being missed, each with its interval.

A day is judged by its own decisions alone, as a report of that day would be (``gather`` with ``first_day`` and
``last_day``); so its numbers do not depend on which other days are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import for_json
from ..errors import DataError, Message, OptionError, Remedy
from ..evaluate import Refusal
from ..evaluate.alternatives import Acting, thresholds_of
from ..evaluate.answers import Answer, minus
from ..evaluate.arrival import arrival_of
from ..evaluate.by_design import by_design
from ..evaluate.constants import Constant, better_constant
from ..evaluate.support import FLOOR, excluded, settled, support_of
from ..evaluate.what_if import ask, ground_of, logged_cost
from ..logs import DecisionLog
from ..logs.decision_log import Log, opened
from ..records.events import PENDING
from ..times import DAY, instants
from .facts import share
from .periods import as_day

#: The confidence of intervals where nobody says another.
LEVEL = 0.9
NOTHING = Refusal("there are no decisions on these days")


@dataclass(frozen=True)
class Numbers:
    """What some decisions came to."""

    decided: int
    acted: int
    explored: int  #: acts, other than audits, on items whose chance was below what their costs ask for
    audited: int
    labelled: int
    positive: int
    waiting: int  #: acts whose label is awaited
    cost: Answer  #: what the acts cost: reviews and false alarms
    saved: Answer  #: against passing everything
    precision: Answer

    @property
    def arrived(self) -> float | None:
        """The share of the acts whose label is known; None: there was no act."""
        return self.labelled / self.acted if self.acted else None

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        found: dict[str, Any] = for_json({**vars(self), "arrived": self.arrived})
        return found


@dataclass(frozen=True)
class Total(Numbers):
    """What all decisions of some days came to, and what is being missed."""

    saved_acting: Answer  #: against acting on everything
    counted: int  #: decisions that cost and saved count; most labels of the others have not arrived
    constant: Constant | None  #: acting on everything, or passing everything, where that would surely have cost less
    missed: Answer  #: positives that were passed, by design
    recall: Answer
    label_delay_days: float | None  #: in the middle; None: no label has a time
    notes: tuple[str, ...]  #: what to know of cost and saved


@dataclass(frozen=True)
class ByDay:
    """The days of a log, those without decisions too, and all of them together."""

    days: dict[date, Numbers]
    total: Total

    def as_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        days = [{"day": str(day), **numbers.as_dict()} for day, numbers in self.days.items()]
        return {"days": days, "total": self.total.as_dict()}


def by_day(log: Log, first_day: Any = None, last_day: Any = None, level: float = LEVEL) -> ByDay:
    """Return what each day from one to another came to, both included, by the clock on the wall; left out: all of them.

    Where no label of a day has arrived, cost, saved and precision are refusals.

    Examples
    --------
    >>> row = {"probability": 0.5, "chance": 0.1, "miss": 5, "false_alarm": 1, "hit": 1}
    >>> log = DecisionLog.from_rows([
    ...     {"id": "a", "time": "2024-05-01", "act": True, "label": 1, **row},
    ...     {"id": "b", "time": "2024-05-01", "act": False, **row},
    ...     {"id": "c", "time": "2024-05-03", "act": True, **row},
    ... ])
    >>> found = by_day(log)
    >>> [(str(day), one.decided, one.acted, one.explored, one.waiting) for day, one in found.days.items()]
    [('2024-05-01', 2, 1, 1, 0), ('2024-05-02', 0, 0, 0, 0), ('2024-05-03', 1, 1, 1, 1)]
    >>> first = found.days[date(2024, 5, 1)]
    >>> first.cost.value, first.saved.value, bool(found.days[date(2024, 5, 3)].saved)
    (1.0, 4.0, False)
    """
    log = opened(log)
    if not isinstance(log, DecisionLog):
        raise DataError(f"by_day takes an appletaste.DecisionLog, got {type(log).__name__}")
    asked = [as_day(name, day) for name, day in (("first_day", first_day), ("last_day", last_day)) if day is not None]
    if not len(log):
        return ByDay({}, total_of(log, level))
    if not log.dated:
        raise OptionError(
            "the log has no dates, so nobody can say what a day came to: give it times such as 2024-05-31"
        )
    days = log.days()
    first = days.min() if first_day is None else np.datetime64(asked[0])
    last = days.max() if last_day is None else np.datetime64(asked[-1])
    if first > last:
        given = [part for name in ("first_day", "last_day") for part in (", ", Remedy(name))][1:]
        raise OptionError(Message(f"days go from one to a later one, got {first} to {last}: ", *given))
    order = np.argsort(days, kind="stable")
    ends = np.searchsorted(days[order], np.arange(first, last + 2))
    found = {
        day: numbers_of(log.where(np.sort(order[low:high])), level)
        for day, low, high in zip(np.arange(first, last + 1).tolist(), ends[:-1], ends[1:], strict=True)
    }
    return ByDay(found, total_of(log.where((days >= first) & (days <= last)), level))


def numbers_of(log: DecisionLog, level: float = LEVEL, explored: NDArray[np.bool_] | None = None) -> Numbers:
    """Return what the decisions of a log came to.

    ``explored`` says which acts went beyond what chance and costs ask for, where somebody knows that: of a decision
    that was overruled a log has only what was done.
    """
    return Numbers(**_numbers(log, level, explored))


def total_of(
    log: DecisionLog,
    level: float = LEVEL,
    explored: NDArray[np.bool_] | None = None,
    delays: NDArray[np.float64] | None = None,
) -> Total:
    """Return what all decisions of some days came to, and what is being missed.

    ``delays`` has the days that each label took, for a log without times.
    """
    found = _numbers(log, level, explored)
    if not len(log):
        empty: dict[str, Any] = dict.fromkeys(("saved_acting", "missed", "recall"), NOTHING)
        return Total(**found, **empty, counted=0, constant=None, label_delay_days=None, notes=())
    notes: list[str] = []
    counted = len(settled(log))
    left_out = len(log) - counted
    if left_out:
        notes.append(f"cost and saved: {excluded(left_out)}")
    if isinstance(found["saved"], Refusal):
        notes.append(f"cost and saved: {found['saved']}")
    design = by_design(log, support_of(log, FLOOR), level, FLOOR)
    took = _delays(log) if delays is None else delays
    middle = float(np.median(took)) if len(took) else None
    return Total(
        **found,
        saved_acting=saved_against_acting(log, level),
        counted=counted,
        constant=better_constant(log, level),
        missed=design.missed,
        recall=design.recall,
        label_delay_days=middle,
        notes=tuple(notes),
    )


def saved_against_acting(log: DecisionLog, level: float = LEVEL) -> Answer:
    """Return what the decisions of a log saved against acting on every item, or why the log cannot say."""
    ground = ground_of(log, level=level)
    return minus(ask(ground, Acting(np.broadcast_to(1.0, len(ground.log)))).saving)


def _numbers(log: DecisionLog, level: float, explored: NDArray[np.bool_] | None) -> dict[str, Any]:
    labelled, positive = int((log.act & log.labelled).sum()), int((log.act & (log.label == 1)).sum())
    cost, saved = money_of(log, level) if len(log) else (NOTHING, NOTHING)
    return {
        "decided": len(log),
        "acted": int(log.act.sum()),
        "explored": int(np.count_nonzero(_explored(log) if explored is None else explored)),
        "audited": int(log.audit.sum()),
        "labelled": labelled,
        "positive": positive,
        "waiting": int((log.state == PENDING).sum()),
        "cost": cost,
        "saved": saved,
        "precision": share(positive, labelled, level) if len(log) else NOTHING,
    }


def money_of(log: DecisionLog, level: float = LEVEL) -> tuple[Answer, Answer]:
    """Return what the acts of a log cost, and what they saved against passing everything (``evaluate``).

    The cost of acts is that of the logged decisions where a miss and a correct pass are free.
    """
    done = settled(log)
    arrival = arrival_of(done)
    nothing = np.broadcast_to(0.0, len(done))
    acts = done.unchecked(miss=nothing, correct_pass=nothing)
    return logged_cost(acts, arrival, level), minus(logged_cost(done, arrival, level))


def _explored(log: DecisionLog) -> NDArray[np.bool_]:
    """Return which acts, other than audits, are on items whose chance is below the threshold of their costs."""
    if log.chance is None:
        return np.zeros(len(log), dtype=bool)
    return np.asarray(log.act & ~log.audit & (log.chance < thresholds_of(log)))  # NaN: nobody knows


def _delays(log: DecisionLog) -> NDArray[np.float64]:
    """Return how many days after its decision each label arrived, where both have a date."""
    if not log.dated or log.time is None or log.label_time is None or log.label_time.dtype.kind != "U":
        return np.zeros(0)
    known = np.flatnonzero(log.labelled)
    if not len(known):
        return np.zeros(0)
    took = (instants(log.label_time[known]) - instants(log.time[known])) / DAY
    return np.asarray(took[np.isfinite(took)])
