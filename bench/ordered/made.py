"""Made-up streams in the order of time: what is usual in real ones, one trouble at a time, and none at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Columns = dict[str, Any]
ROWS, DAYS = 8000, 400
#: What the outcomes of all these streams cost.
COSTS = {"miss": 10.0, "false_alarm": 1.0, "hit": 0.0}
#: Days after which labels arrive where they are late.
LATE = 45.0


class World:
    """Six numbers, a category and a day for each item, before anything happens to them."""

    def __init__(self, seed: int, rows: int) -> None:
        self.rng = np.random.default_rng([seed, 7])
        self.rows = rows
        self.day = np.sort(self.rng.uniform(0.0, DAYS, rows))
        self.share = self.day / DAYS  #: how far the stream has come
        self.x = self.rng.normal(size=(rows, 6))
        self.kind = self.rng.choice(["a", "b", "c", "d"], rows, p=[0.5, 0.3, 0.15, 0.05])
        self.weights = np.array([1.2, -0.8, 0.6, 0.4, 0.0, 0.0])
        self.offset = np.full(rows, -3.0)
        self.more: Columns = {}  #: further columns
        self.delay = np.full(rows, LATE)  #: of each label, where labels are late

    def score(self) -> Floats:
        """Return the log-odds of a positive."""
        found: Floats = self.x @ self.weights + self.offset + 0.8 * (self.kind == "c")
        return found

    def labels(self, score: Floats) -> NDArray[np.int64]:
        """Return labels with these log-odds."""
        return (self.rng.random(self.rows) < 1.0 / (1.0 + np.exp(-score))).astype(np.int64)


def nothing(world: World) -> Floats:
    """Change nothing."""
    return world.score()


def steps(world: World) -> Floats:
    """Let the rate of positives rise and fall from one quarter of a year to the next."""
    world.offset += np.where((world.day // 90.0) % 2 == 0, 0.0, 1.2)
    return world.score()


def season(world: World) -> Floats:
    """Let the rate go up and down with the seasons."""
    world.offset += 1.2 * np.sin(2.0 * np.pi * world.day / 180.0)
    return world.score()


def moving_mean(world: World) -> Floats:
    """Let a number drift by four deviations; what it says stays."""
    score = world.score()
    world.x[:, 0] += 4.0 * world.share
    return score + 1.2 * 4.0 * world.share - 2.4


def moving_scale(world: World) -> Floats:
    """Let a number drift by four deviations; what it says is relative to what is usual by then."""
    score = world.score()
    world.x[:, 0] += 4.0 * world.share
    return score


def inflation(world: World) -> Floats:
    """Let amounts grow eightfold; what they say is relative to what is usual by then."""
    score = world.score()
    world.more["amount"] = np.exp(world.x[:, 0] + np.log(8.0) * world.share)
    world.x[:, 0] = 0.0
    return score


def turning(world: World) -> Floats:
    """Turn one coefficient from one sign to the other."""
    score = world.score()
    return score - 1.2 * world.x[:, 0] + 1.6 * world.x[:, 0] * np.cos(np.pi * world.share)


def sudden(world: World) -> Floats:
    """Turn all coefficients half-way through."""
    score = world.score()
    return np.where(world.share < 0.5, score, world.x @ -world.weights + world.offset + 1.0)


def rare_before(world: World) -> Floats:
    """Let positives be one in a hundred, and one in four from the middle on."""
    world.offset += np.where(world.share < 0.5, -1.8, 1.6)
    return world.score()


def empty_year(world: World) -> Floats:
    """Let a year come up that tells nothing, rare in the first rows and usual later."""
    world.more["year"] = np.where(
        world.share > 0.3, 2018.0, np.where(world.rng.random(world.rows) < 0.03, 2018.0, 2017.0)
    )
    return world.score()


def by_class(world: World) -> Floats:
    """Let labels of positives come weeks after those of negatives."""
    world.more["positives late"] = np.zeros(world.rows)
    return world.score()


def ruin(world: World) -> Floats:
    """Let a value be rare at first, its first labels be of another kind, and items of a week be alike.

    Bookings for the year to come: at first only those at short notice have a label, and they are hardly ever
    cancelled. The long ones are, and their labels come months later. Weeks have a mood of their own.
    """
    n, rng = world.rows, world.rng
    notice = rng.exponential(60.0, n)  # days from booking to arrival: until then nobody knows
    arrival = world.day + notice
    world.more["arrival year"] = 2017.0 + (arrival > 200.0)
    world.more["notice"] = notice
    mood = rng.normal(size=int(arrival.max() // 7) + 2)[(arrival // 7).astype(int)]
    world.delay = notice
    season = np.where((arrival > 200.0) & (arrival < 260.0), -2.5, 0.0)  # a quiet winter begins the year
    world.more["weekday"] = np.floor(arrival % 7)
    return -2.4 + 0.022 * notice + 0.6 * world.x[:, 0] + 0.9 * mood + season


KINDS: dict[str, Callable[[World], Floats]] = {
    made.__name__.replace("_", " "): made
    for made in (
        *(nothing, steps, season, moving_mean, moving_scale, inflation),
        *(turning, sudden, rare_before, empty_year, by_class, ruin),
    )
}


def table_of(kind: str, late: bool, seed: int, rows: int = ROWS) -> Columns:
    """Return a stream as a table: numbers, a category, the day of each item and that of its label, and the label."""
    world = World(seed, rows)
    score = KINDS[kind](world)
    labels = world.labels(score)
    delay = world.delay * (0.2 + 1.6 * labels) if "positives late" in world.more else world.delay
    world.more.pop("positives late", None)
    begin = np.datetime64("2024-01-01T00:00")

    def date(days: Floats) -> list[str]:
        return (begin + (days * 1440.0).astype("timedelta64[m]")).astype(str).tolist()

    told = world.day + (delay if late else 0.0)
    numbers = {f"x{k}": world.x[:, k] for k in range(6) if world.x[:, k].any()}
    return {**numbers, "kind": world.kind, **world.more, "day": date(world.day), "told": date(told), "bad": labels}
