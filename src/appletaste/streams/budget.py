"""Limited reviewers: how many acts there may be, and what one more of them would save (docs/streams.md)."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass

import numpy as np

from .._checks import number, whole
from ..errors import InputError, OptionError
from ..posteriors import Arrays
from ..remedies import Message, Remedy
from ..times import DAY, not_seconds

#: Items of which a price is learnt at least; before, acting is free.
LEAST = 20
#: A rolling window plans for this part of itself ahead, a day for what the mean of so many days before it saw.
AHEAD, DAYS = 0.25, 7
#: A day may be busier than those before it: at least this share of a mean day's items is taken to be still to come.
RESERVE = 0.1
#: Of a day's acts this share is kept for audits while no day has told how many items to expect.
FIRST = 0.2


@dataclass(frozen=True)
class Budget:
    """Caps on acting that are never exceeded: ``per_day`` acts in a day, a ``share`` of any ``window`` items in a row.

    Parameters
    ----------
    per_day
        Most acts in one day; items need a time, in seconds unless ``day`` says otherwise.
    share
        Most acts in any ``window`` consecutive items, as a share of them, rounded down.
    window
        How many items a share is taken of.
    day
        The length of a day in units of time; dates are in seconds.
    recent
        How many items the shadow price is learnt from.

    Examples
    --------
    >>> Budget(per_day=120).per_day, Budget(share=0.05).most
    (120, 50)
    """

    per_day: int | None = None
    share: float | None = None
    window: int = 1000
    day: float = DAY
    recent: int = 1000

    def __post_init__(self) -> None:
        if self.per_day is None and self.share is None:
            raise OptionError("a budget needs per_day (such as 120), share (such as 0.05), or both")
        if self.per_day is not None:
            whole("per_day", self.per_day, least=0)
        whole("window", self.window, least=1)
        number("day", self.day, above=0.0)
        whole("recent", self.recent, least=LEAST)
        if self.share is not None:
            number("share", self.share, least=0.0, most=1.0)
            if self.share > 0.0 and self.most == 0:
                raise OptionError(
                    f"a share of {self.share:g} of {self.window} items is less than one act; "
                    f"a window of {math.ceil(1.0 / self.share)} items or more would allow one"
                )

    @property
    def most(self) -> int:
        """Most acts in a window; all of them where no share is given."""
        return self.window if self.share is None else int(self.share * self.window + 1e-9)


class Spending:
    """What has been spent of a budget and, if ``priced``, the price that the recent stream puts on an act."""

    def __init__(self, budget: Budget, priced: bool = True) -> None:
        self.budget, self._priced = budget, priced
        self._most = budget.most
        self._acts: deque[bool] = deque()  # of the window but its newest item, which is the one at hand
        self._spent = 0  # how many of them were acts
        self._days: dict[int, list[int]] = {}  # items and acts of each day
        self._order: list[int] = []  # the days, ascending
        self._worths: deque[float] = deque()
        self._sorted: list[float] = []
        self._sum = 0.0  # of the worths
        self._usual: tuple[int, float | None] = (0, None)  # a day, and the mean number of items of those before it

    def _day(self, now: float | None) -> int:
        if now is None:
            raise OptionError(Message("a budget per day needs the time of every item: ", Remedy("time")))
        return math.floor(now / self.budget.day)

    def _check_first(self, now: float | None) -> None:
        """Refuse a first time that is to be seconds and can be seen to be something else."""
        found = None if now is None or self.budget.day != DAY else not_seconds(now)
        if found is not None:
            raise InputError(
                f"a budget per day takes times in seconds, or dates, and {now:.0f} looks like {found}. Divide by 1000 "
                "or 10**6, or give a datetime; for a clock of your own say how long a day is: Budget(per_day=..., "
                "day=...)"
            )

    def room(self, now: float | None) -> int:
        """Return how many acts the caps still allow, the item at hand among them."""
        budget = self.budget
        room = budget.window if budget.share is None else self._most - self._spent
        if budget.per_day is not None:
            if not self._days:
                self._check_first(now)
            today = budget.per_day - self._days.get(self._day(now), (0, 0))[1]
            room = today if budget.share is None else min(room, today)
        return room

    def rate(self, now: float | None, aside: int = 0) -> float:
        """Return which share of the items to come can be acted on, with some acts kept aside for others.

        Rolling window of W items, c of its k acts spent: over the next H = W / 4 items k - c are free and c H / W come
        back, so (k - c) / H + c / W. Day: what is left of it over the items still to come, the mean of the last seven
        days less today's; the first day has no such mean, and everything that is worth an act gets one.
        """
        budget, rate = self.budget, math.inf
        if budget.share is not None:
            spent, window = self._spent, budget.window
            rate = (self._most - spent - aside) / (AHEAD * window) + spent / window
        if budget.per_day is not None:
            left = self._left(now)
            if left is not None:
                acts = self._days.get(self._day(now), (0, 0))[1]
                rate = min(rate, (budget.per_day - acts - aside) / left)
        return rate

    def _left(self, now: float | None) -> float | None:
        """Return how many items are still to come today, by the mean of the days before; None if there were none."""
        day = self._day(now)
        if self._usual[0] != day or self._usual[1] is None:
            self._usual = day, self._mean_before(day)
        usual = self._usual[1]
        if usual is None:
            return None
        return max(usual - self._days.get(day, (0, 0))[0], RESERVE * usual, 1.0)

    def _mean_before(self, day: int) -> float | None:
        place = bisect_left(self._order, day)
        before = self._order[max(place - DAYS, 0) : place]
        return sum(self._days[d][0] for d in before) / len(before) if before else None

    def still_needed(self, now: float | None) -> int:
        """Return how many acts to keep for an audit lane, this being what it has spent of a budget that it shares.

        The recorded worths are the floors, f on average. A window of W items needs f W audits and, since their number
        is random, sqrt(f W) more, less those that are in it; the rest of a day of n items needs f n + sqrt(f n).
        """
        budget, need = self.budget, 0.0
        # a sum of floors that left may be just below zero; ``max`` would take 0.06 us, in every round
        floor = self._sum / len(self._worths) if self._sum > 0.0 else 0.0
        if budget.share is not None:
            mean = floor * budget.window
            need = mean + math.sqrt(mean) - self._spent
        if budget.per_day is not None:
            left = self._left(now)
            if left is None:
                need = max(need, FIRST * budget.per_day - self._days.get(self._day(now), (0, 0))[1])
            else:
                need = max(need, floor * left + math.sqrt(floor * left))
        return math.ceil(need) if need > 0.0 else 0

    def price(self, now: float | None, aside: int = 0) -> float:
        """Return the shadow price: the worth of the best recent item beyond the budget; 0: the budget suffices.

        With a rate r and n recent items it is the worth of rank r n + 1, the (1 - r) quantile, if that is positive.
        """
        n = len(self._sorted)
        reach = self.rate(now, aside) * n
        if n < LEAST or reach >= n:
            return 0.0
        worth = self._sorted[n - 1 - int(reach) if reach > 0.0 else n - 1]
        return worth if worth > 0.0 else 0.0

    def record(self, now: float | None, act: bool, worth: float) -> None:
        """Note an item, what was done, and the highest price at which acting on the item still paid."""
        budget, worths = self.budget, self._worths
        if budget.share is not None:
            acts = self._acts
            acts.append(act)
            self._spent += act
            if len(acts) >= budget.window:
                self._spent -= acts.popleft()
        if budget.per_day is not None:
            day = self._day(now)
            if day not in self._days:
                self._days[day] = [0, 0]
                insort(self._order, day)
            if day < self._usual[0]:  # an item of an earlier day: the mean is another
                self._usual = (0, None)
            counts = self._days[day]
            counts[0] += 1
            counts[1] += act
        worths.append(worth)
        self._sum += worth
        if self._priced:
            insort(self._sorted, worth)
        if len(worths) > budget.recent:
            oldest = worths.popleft()
            self._sum -= oldest
            if self._priced:
                del self._sorted[bisect_left(self._sorted, oldest)]

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        days = [(day, *counts) for day, counts in sorted(self._days.items())]
        return {
            "acts": np.array(self._acts, dtype=bool),
            "days": np.array(days, dtype=np.int64).reshape(-1, 3),
            "worths": np.array(self._worths, dtype=np.float64),
            "sum": np.array(self._sum),
        }

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._acts = deque(arrays["acts"].tolist())
        self._spent = sum(self._acts)
        self._days = {day: [items, acts] for day, items, acts in arrays["days"].tolist()}
        self._order, self._usual = sorted(self._days), (0, None)
        self._worths = deque(arrays["worths"].tolist())
        self._sorted = sorted(self._worths) if self._priced else []
        self._sum = float(arrays["sum"])
