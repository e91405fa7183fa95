"""What was spent of a budget, and the pace and the price that make the rest last (docs/decisions/0011-pacing.md)."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque

import numpy as np

from ..errors import InputError
from ..posteriors import Arrays
from ..times import DAY, not_seconds
from .budget import Budget, Calendar, Day

#: A rolling window plans for this part of itself ahead.
AHEAD = 0.4
#: A day is planned for what the mean of so many days before it saw; with a calendar, so many of the same weekday.
DAYS, WEEKS = 7, 4
#: A day may be busier than those before it: at least this share of a mean day's items is taken to be still to come.
RESERVE = 0.1
#: Of the acts that are planned for items still to come, this share is kept for them, however good an item looks, or
#: all but so many standard deviations of their number where that is less.
KEPT, DEVIATIONS = 0.75, 2.0
#: Days between two items from which on their times are looked at: one may be in another unit, and has a cap of its own.
FAR = 3650
#: How often an audit may find the cap reached while the policy holds back for audits.
FULL = 0.1


class Spent:
    """How many acts were made in the window and on each day, and how many more the caps allow."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._acts = bytearray(budget.window - 1)  # of the window but the item at hand, the oldest in place _oldest
        self._items = 0  # how many there were, up to a window
        self._oldest = 0
        self._spent = 0  # how many of them were acts
        self._soon = math.ceil(AHEAD * budget.window)  # items after which a pace is to be right again
        self._leaving = 0  # acts among the oldest so many items of the window
        self._days: dict[int, tuple[int, int, float]] = {}  # items and acts of each day, and when its first item came
        self._order: list[int] = []  # the days, ascending
        self._clock: tuple[float | None, Day | None] = (None, None)  # the time last asked about, and its day

    def _check_unit(self, now: float | None) -> None:
        """Refuse a time that is to be seconds and can be seen to be something else."""
        found = None if now is None or self.budget.day != DAY else not_seconds(now)
        if found is not None:
            raise InputError(
                f"a budget per day takes times in seconds, or dates, and {now:.0f} looks like {found}. Divide by 1000 "
                "or 10**6, or give a datetime; for a clock of your own say how long a day is: Budget(per_day=..., "
                "day=...)"
            )

    def _today(self, now: float | None) -> Day:
        last, day = self._clock
        if day is None or now != last:  # a decision asks several times
            if not self._days:
                self._check_unit(now)
            day = self.budget.day_of(now)
            if self._days and abs(day.number - self._order[-1]) > FAR:
                self._check_unit(now)
            self._clock = now, day
        return day

    def room(self, now: float | None) -> int:
        """Return how many acts the caps still allow, the item at hand among them."""
        budget, room = self.budget, self.budget.window
        if budget.share is not None:
            room = budget.most - self._spent
        if budget.per_day is not None:
            day = self._today(now).number
            today = budget.most_of(day) - self._days.get(day, (0, 0))[1]
            room = today if budget.share is None else min(room, today)
        return room

    def record(self, now: float | None, act: bool) -> None:
        """Note an item, and what was done."""
        budget = self.budget
        if budget.share is not None:
            self._enter(act)
        if budget.per_day is not None and now is not None:
            day = self._today(now).number
            if day not in self._days:
                self._days[day] = (0, 0, now)
                insort(self._order, day)
            items, acts, first = self._days[day]
            self._days[day] = (items + 1, acts + act, min(first, now))

    def _enter(self, act: bool) -> None:
        """Let an item enter the window and, where that is full, the oldest one leave."""
        acts, size = self._acts, len(self._acts)
        if not size:
            return
        soon = min(self._soon, size)
        if self._items < size:
            acts[self._items] = act
            self._leaving += act and self._items < soon
            self._items += 1
        else:
            place = self._oldest
            self._spent -= acts[place]
            self._leaving -= acts[place]
            acts[place] = act
            self._leaving += acts[(place + soon) % size]
            self._oldest = (place + 1) % size
        self._spent += act

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        held = self._acts[self._oldest : self._items] + self._acts[: self._oldest]
        days = [(day, *counts) for day, counts in sorted(self._days.items())]
        return {
            "acts": np.frombuffer(bytes(held), dtype=np.uint8).astype(bool),
            "days": np.array(days, dtype=np.float64).reshape(-1, 4),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        held = arrays["acts"].astype(np.uint8).tobytes()
        self._acts[: len(held)] = held
        self._items, self._oldest = len(held), 0
        self._spent, self._leaving = sum(held), sum(held[: self._soon])
        rows = arrays["days"].tolist()
        self._days = {int(day): (int(items), int(acts), first) for day, items, acts, first in rows}
        self._order = sorted(self._days)

    def take_over(self, before: Spent) -> None:
        """Go on from what was spent of another budget, as far as both count alike."""
        spent = before.arrays()
        if self.budget.share is None:
            spent["acts"] = spent["acts"][:0]
        elif len(spent["acts"]) > len(self._acts):
            spent["acts"] = spent["acts"][len(spent["acts"]) - len(self._acts) :]
        if self.budget.per_day is None or self.budget.day != before.budget.day:
            spent["days"] = spent["days"][:0]
        if "worths" in spent:
            spent["worths"] = spent["worths"][-self.budget.recent :]
        self.restore(spent)


class Pace(Spent):
    """A budget that lasts: which share of the items to come the policy can act on, and the price that makes it so.

    Audits that share the budget come at random, at a mean rate that is given to each question.
    """

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget)
        self._worths: deque[float] = deque()
        self._sorted: list[float] = []
        self._usual: tuple[int, float | None] = (0, None)  # a day, and the mean number of items of those before it

    def outlook(self, now: float | None, audits: float = 0.0) -> tuple[int, bool, float]:
        """Return how many acts the caps allow, whether the policy itself may make one, and the shadow price."""
        budget, room, may, rate = self.budget, self.budget.window, True, math.inf
        if budget.share is not None:
            room = budget.most - self._spent
            free, rate = self._of_window(audits)
            may = free > 0.0
        if budget.per_day is not None:
            today, free, of_day = self._of_day(now, audits)
            room = today if budget.share is None else min(room, today)
            may, rate = may and free > 0.0, min(rate, of_day)
        n = len(self._sorted)
        if not n or rate >= 1.0:
            return room, may and room > 0, 0.0
        return room, may and room > 0, max(self._sorted[n - 1 - int(max(rate, 0.0) * n)], 0.0)

    def price(self, now: float | None, audits: float = 0.0) -> float:
        """Return the shadow price: the worth of the best recent item beyond the budget; 0: the budget suffices.

        With a rate r and n recent items it is the worth of rank r n + 1, the (1 - r) quantile, if that is positive. An
        item of a stream that has just begun, r n < 1, has to be worth more than all before it.
        """
        return self.outlook(now, audits)[2]

    def _of_window(self, audits: float) -> tuple[float, float]:
        """Return how many acts of the window the policy may make now, and the share of the items to come.

        With k acts for W items and audits at rate f, the policy leaves a acts free: while it holds back, acts leave the
        window at rate k / W and audits come at rate f, and the audits are ever a ahead with chance (f W / k)^a. It aims
        at c* = k - a / 2 acts in the window H = 0.4 W items from now: of the c acts in it l will have left by then, so
        that r = (c* - c + l) / H - f. Before the first item the window is taken to have held acts at the pace c* / W.
        """
        k, window, soon = self.budget.most, self.budget.window, self._soon
        aside = 0.0
        if audits > 0.0:
            aside, full = math.sqrt(audits * window), audits * window / max(k, 1)
            if full < 1.0:
                aside = min(aside, math.log(FULL) / math.log(full))
        aim = k - 0.5 * aside
        before = max(window - 1 - self._items, 0)  # items before the first that are in the window
        leaving = self._leaving if not before else self._left_by(soon - before)
        pace = aim / window
        held, gone = self._spent + pace * before, leaving + pace * min(before, soon)
        rate = (pace * (window - 1) - held + gone) / soon - audits  # the item at hand is not in the window yet
        return k - self._spent - aside - _kept(pace * before), rate

    def _left_by(self, items: int) -> int:
        """Return how many acts are among the first so many items of a window that is not full yet."""
        return sum(self._acts[: max(items, 0)])

    def _of_day(self, now: float | None, audits: float) -> tuple[int, float, float]:
        """Return the room of a day, how many acts the policy may make now, and the share of the items to come.

        What is left of the cap, less the f n audits that n items to come need and sqrt(f n) more, since their number is
        random, over those n items.
        """
        day = self._today(now)
        seen, acts, _ = self._days.get(day.number, (0, 0, 0.0))
        most, left = self.budget.most_of(day.number), self._left(day, now)
        free = most - acts - audits * left - math.sqrt(audits * left)
        whole = left + seen
        planned = max(most - audits * whole - math.sqrt(audits * whole), 0.0) * left / whole
        return most - acts, free - _kept(planned), free / left

    def _left(self, day: Day, now: float | None) -> float:
        """Return how many items are still to come today: as on the days before; on a first day as fast as so far.

        Where all items of a first day have one time, as many as there were are expected again.
        """
        if self._usual[0] != day.number or self._usual[1] is None:
            self._usual = day.number, self._mean_before(day.number)
        usual = self._usual[1]
        seen, _, first = self._days.get(day.number, (0, 0, 0.0))
        if usual is not None:
            return max(usual - seen, RESERVE * usual, 1.0)
        if not seen or now is None or now <= first:
            return seen + 1.0
        return max(seen * (day.ends - now) / (now - first), 1.0)

    def _mean_before(self, day: int) -> float | None:
        if isinstance(self.budget.per_day, Calendar):
            weeks = [self._days[day - 7 * k][0] for k in range(1, WEEKS + 1) if day - 7 * k in self._days]
            if weeks:
                return sum(weeks) / len(weeks)
        place = bisect_left(self._order, day)
        before = self._order[max(place - DAYS, 0) : place]
        return sum(self._days[d][0] for d in before) / len(before) if before else None

    def note(self, now: float | None, act: bool, worth: float) -> None:
        """Note an item, what was done, and the highest price at which acting on the item still paid."""
        self.record(now, act)
        if self.budget.per_day is not None and self._today(now).number < self._usual[0]:
            self._usual = (0, None)  # an item of an earlier day: the mean is another
        self._worths.append(worth)
        insort(self._sorted, worth)
        if len(self._worths) > self.budget.recent:
            del self._sorted[bisect_left(self._sorted, self._worths.popleft())]

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        return {**super().arrays(), "worths": np.array(self._worths, dtype=np.float64)}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        super().restore(arrays)
        self._worths = deque(arrays["worths"].tolist())
        self._sorted, self._usual = sorted(self._worths), (0, None)


def _kept(planned: float) -> float:
    """Return how many of the acts that are planned for items to come no item may have before them."""
    return max(min(KEPT * planned, planned - DEVIATIONS * math.sqrt(planned)), 0.0) if planned > 0.0 else 0.0
