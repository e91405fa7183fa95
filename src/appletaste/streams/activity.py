"""What has happened to a stream since it was opened, counted as it happens: for whoever watches, and never for a fold.

To count costs a tenth of a microsecond a decision, and nobody has to read the record to know how many there were. What
is counted may be milliseconds ahead of the disk: a commit that fails ends whatever counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence

from ..decision import Decision
from ..records.events import Corrected, Enacted, Event, Expired, Labelled, Recorded, Retracted
from ..times import DAY, instant
from .answers import CALLER

#: What became of an item: the policy acted, the audit lane acted, or the item was passed.
ACT, AUDIT, PASS = "act", "audit", "pass"
#: Edges of the delays of labels, in seconds: a minute, an hour, a quarter of a day, and days up to half a year.
DELAYS = (60.0, 3600.0, *(DAY * days for days in (0.25, 1, 3, 7, 14, 30, 60, 90, 180)))


class Histogram:
    """Counts of durations between edges.

    Examples
    --------
    >>> seconds = Histogram((0.1, 1.0))
    >>> for duration in (0.05, 0.1, 0.5, 7.0):
    ...     seconds.add(duration)
    >>> seconds.cumulative(), seconds.sum
    ([2, 3, 4], 7.65)
    """

    __slots__ = ("counts", "edges", "sum")

    def __init__(self, edges: Sequence[float]) -> None:
        self.edges, self.counts, self.sum = edges, [0] * (len(edges) + 1), 0.0

    def add(self, seconds: float) -> None:
        """Count one duration; one that is an edge is below it."""
        self.counts[bisect_left(self.edges, seconds)] += 1
        self.sum += seconds

    def cumulative(self) -> list[int]:
        """Return how many durations are at most each edge, and how many there are."""
        total, found = 0, []
        for count in self.counts:
            total += count
            found.append(total)
        return found


class Activity:
    """Counts of one stream; one thread adds at a time, and whoever reads may be an event behind.

    Examples
    --------
    >>> import appletaste as at
    >>> costs = at.Costs(miss=5, false_alarm=1, hit=0)
    >>> stream = at.Stream.create("memory", "orders", at.policy("always", n_features=1, costs=costs))
    >>> _ = stream.decide([0.2], id="a", time="2024-05-01"), stream.decide([0.3], id="b", time="2024-05-01")
    >>> _ = stream.label("a", 1, time="2024-05-04")
    >>> stream.activity.decisions["act"], stream.activity.labels[1], stream.activity.delay.sum / 86400
    (2, 1, 3.0)
    """

    __slots__ = ("changes", "decisions", "delay", "labels", "overrules")

    def __init__(self) -> None:
        #: What was decided; in shadow mode what the policy would have done.
        self.decisions = {ACT: 0, AUDIT: 0, PASS: 0}
        #: Labels that arrived, by their value: also those that nothing is learnt from.
        self.labels = [0, 0]
        #: Corrections, retractions and expiries of labels.
        self.changes: Counter[str] = Counter()
        #: How often somebody did otherwise than was decided.
        self.overrules = 0
        #: How long labels were awaited, where times are dates.
        self.delay = Histogram(DELAYS)

    def decided(self, decision: Decision) -> None:
        """Count a decision."""
        self.decisions[PASS if not decision.act else AUDIT if decision.audit else ACT] += 1

    def take(self, event: Event, since: float | None) -> None:
        """Count anything else that happened; ``since`` when the label was awaited, None: it was not, or has no date."""
        if isinstance(event, Labelled | Recorded):
            self.labels[event.label] += 1
            arrived = instant(event.time) if since is not None else None
            if arrived is not None and since is not None:
                self.delay.add(max(arrived - since, 0.0))
        elif isinstance(event, Corrected):
            self.changes["corrected"] += 1
        elif isinstance(event, Retracted):
            self.changes["retracted"] += 1
        elif isinstance(event, Expired):
            self.changes["expired"] += 1
        elif isinstance(event, Enacted):
            self.overrules += event.by != CALLER
