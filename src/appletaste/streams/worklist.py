"""The work at hand: items that were acted on and whose labels have not arrived, the most valuable first."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..features import FeatureMap
from ..history.clock_column import UNITS
from ..policies.reasons import AUDIT, EXPLOIT, EXPLORE, Wording, reason_for
from ..records.codec import unpack_item
from ..records.events import Decided
from ..times import DAY, instant
from .clock import present
from .reader import UNIT
from .stream import Stream

#: Events at the end of a record among which the latest decision is looked for.
LOOKED_AT = 1000
#: Why an item is work, in short.
WHY = {EXPLOIT: "a review pays", EXPLORE: "to learn", AUDIT: "audit", "": "the policy has no model"}


@dataclass(frozen=True)
class Work:
    """One item to review."""

    id: str
    worth: float  #: what a review is expected to save, by what is believed now, the value of its label included
    chance: float  #: P(positive), now; NaN from a policy without a model
    time: float | str | None  #: when the item was decided
    age: float  #: since then
    unit: str  #: of the age: days, or units of a clock of numbers
    code: str  #: EXPLOIT, EXPLORE or AUDIT; empty from a policy without a model
    reasons: tuple[str, ...]  #: the columns that say most, in words
    stratum: str | None = None

    @property
    def why(self) -> str:
        """The code in words."""
        return WHY[self.code]


def pending_work(stream: Stream, now: Any = None) -> list[Work]:
    """Return the items whose labels are awaited, by what a review is expected to save, the most valuable first.

    Ages are counted up to ``now``, or else to the time of the latest decision. A number is in the units of the time
    column, where the stream knows them.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy(n_features=1, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    >>> stream = at.Stream.create("memory", "orders", policy)
    >>> for id, x in (("a", 0.5), ("b", 1.5)):
    ...     _ = stream.decide([x], id=id, time=x)
    >>> [(work.id, work.age, work.code) for work in pending_work(stream)]
    [('b', 0.0, 'EXPLOIT'), ('a', 1.0, 'EXPLOIT')]
    """
    policy, features, record = stream.player.policy, stream.features, stream.record
    unit = 1.0 if isinstance(now, str) else UNITS.get(stream.roles.get(UNIT, ""), 1.0)
    end = _latest(stream) if now is None else unit * present(stream.times, now)
    wording, pending = Wording(policy, features), stream.pending
    work = []
    record.prefetch(pending)
    for id in pending:
        known = record.decision(id)
        assert known is not None  # or its label would not be awaited
        _, decision, time, stratum = known.event
        seen, reason = policy.look(decision.x, costs=decision.costs), reason_for(decision, features)
        made = instant(time)
        assert made is not None  # every decision of a stream has a time
        dated = isinstance(time, str) or UNIT in stream.roles  # seconds
        age, code = (end - made) / (DAY if dated else 1.0), "" if reason is None else reason.code
        cells = None if known.item is None else unpack_item(known.item)[1]
        columns = wording.columns(decision.x, None if features is None else _fields(features, cells))
        counted_in = "days" if dated else "units of time"
        work.append(Work(id, seen.worth, seen.chance, time, age, counted_in, code, columns, stratum))
    return sorted(work, key=lambda one: (-one.worth, -one.age))


def _fields(features: FeatureMap, record: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return what the map reads of a record."""
    return None if record is None else {name: record[name] for name in features.fields if name in record}


def _latest(stream: Stream) -> float:
    """Return the time of the latest decision; the end of the record is read, and more of it where that has none."""
    behind = LOOKED_AT
    while True:
        first = max(len(stream) - behind, 0)
        times = [instant(event.time) for _, event in stream.events(first) if isinstance(event, Decided)]
        found = [time for time in times if time is not None]
        if found or first == 0:
            return max(found, default=-math.inf)
        behind *= 10
