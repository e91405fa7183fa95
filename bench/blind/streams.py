"""The streams: six with a rare segment that pays, the same six where it does not, and six ordinary ones.

Every recipe sees nothing but its key, so all variants meet the same items and labels. Items begin with a 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appletaste import Costs, Key
from appletaste.problems import Table

Draw = Callable[[Key], Table]


def _table(name: str, items: np.ndarray, chances: np.ndarray, costs: Costs, rng: np.random.Generator) -> Table:
    return Table(name, items, chances, (rng.random(len(items)) < chances).astype(np.int8), costs)


def _sigmoid(scores: np.ndarray) -> np.ndarray:
    return np.exp(-np.logaddexp(0.0, -scores))


def _segment(
    name: str, rounds: int, normals: int, share: float, inside: float, outside: float, costs: Costs, after: int = 0
) -> Draw:
    """Return x = (1, c, N): c = 1 on a share of the items after a round, and the chance hangs on c alone."""

    def draw(key: Key) -> Table:
        rng = key.generator()
        c = (rng.random(rounds) < share) & (np.arange(rounds) >= after)
        items = np.column_stack([np.ones(rounds), c, rng.standard_normal((rounds, normals))])
        return _table(name, items, np.where(c, inside, outside), costs, rng)

    return draw


def _categories(name: str, rounds: int, paying: int, inside: float) -> Draw:
    """Return 50 categories, a few of which pay."""

    def draw(key: Key) -> Table:
        rng = key.generator()
        of_item = rng.integers(50, size=rounds)
        items = np.column_stack([np.ones(rounds), np.eye(50)[of_item]])
        chances = np.where(of_item < paying, inside, 0.02)
        return _table(name, items, chances, Costs(miss=1, false_alarm=1, hit=0), rng)

    return draw


def _late(name: str, inside: float | None) -> Draw:
    """Return x = (1, 8 N, s): s = 1 on 8 % after round 2,000; elsewhere sigma(-3 + x1)."""

    def draw(key: Key, rounds: int = 5000) -> Table:
        rng = key.generator()
        s = (rng.random(rounds) < 0.08) & (np.arange(rounds) >= 2000)
        normals = rng.standard_normal((rounds, 8))
        usual = _sigmoid(normals[:, 0] - 3.0)
        items = np.column_stack([np.ones(rounds), normals, s])
        chances = usual if inside is None else np.where(s, inside, usual)
        return _table(name, items, chances, Costs(miss=5, false_alarm=1, hit=0), rng)

    return draw


#: Name, and the recipe with the chance of the segment, or without a segment that pays.
BLIND: dict[str, Draw] = {
    "G": _segment("G", 5000, 1, 0.01, 0.8, 0.01, Costs(miss=2, false_alarm=1, hit=0)),
    "G2": _segment("G2", 5000, 1, 0.03, 0.35, 0.03, Costs(miss=5, false_alarm=1, hit=0)),
    "J": _segment("J", 3000, 8, 0.1, 0.95, 0.03, Costs(miss=1, false_alarm=4, hit=0)),
    "K": _categories("K", 4000, 2, 0.9),
    "H": _segment("H", 5000, 28, 0.05, 0.9, 0.02, Costs(miss=3, false_alarm=1, hit=0), after=3000),
    "H2": _late("H2", 0.5),
}
NULL: dict[str, Draw] = {
    "G-null": _segment("G-null", 5000, 1, 0.01, 0.01, 0.01, Costs(miss=2, false_alarm=1, hit=0)),
    "G2-null": _segment("G2-null", 5000, 1, 0.03, 0.03, 0.03, Costs(miss=5, false_alarm=1, hit=0)),
    "J-null": _segment("J-null", 3000, 8, 0.1, 0.03, 0.03, Costs(miss=1, false_alarm=4, hit=0)),
    "K-null": _categories("K-null", 4000, 0, 0.9),
    "H-null": _segment("H-null", 5000, 28, 0.05, 0.02, 0.02, Costs(miss=3, false_alarm=1, hit=0), after=3000),
    "H2-null": _late("H2-null", None),
}


def _related(rng: np.random.Generator, rounds: int, features: int, correlation: float) -> np.ndarray:
    """Return normal features of which neighbours have this correlation, as in an autoregression."""
    found = rng.standard_normal((rounds, features))
    for j in range(1, features):
        found[:, j] = correlation * found[:, j - 1] + np.sqrt(1.0 - correlation**2) * found[:, j]
    return found


def _with_rate(name: str, items: np.ndarray, slopes: np.ndarray, rate: float, costs: Costs, rng: np.random.Generator):
    """Return a logistic table with a 1 before the items and the intercept at which this share is positive."""
    scores, low, high = items @ slopes, -30.0, 30.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if _sigmoid(scores + middle).mean() > rate else (middle, high)
    return _table(name, np.column_stack([np.ones(len(items)), items]), _sigmoid(scores + low), costs, rng)


def draw_a(key: Key, rounds: int = 500) -> Table:
    """Return 3 related features and no intercept."""
    rng = key.generator()
    items = _related(rng, rounds, 3, 0.8)
    chances = _sigmoid(items @ rng.standard_normal(3))
    return _table("A", items, chances, Costs(miss=1, false_alarm=0.4, hit=0.05), rng)


def draw_b(key: Key, rounds: int = 2000) -> Table:
    """Return 5 % positives and 9 related features."""
    rng = key.generator()
    items = _related(rng, rounds, 9, 0.7)
    return _with_rate("B", items, 0.6 * rng.standard_normal(9), 0.05, Costs(miss=10, false_alarm=1, hit=0), rng)


def draw_c(key: Key, rounds: int = 5000) -> Table:
    """Return 29 related features, of which 30 % matter."""
    rng = key.generator()
    items = _related(rng, rounds, 29, 0.5)
    slopes = rng.standard_normal(29) * (rng.random(29) < 0.3)
    return _with_rate("C", items, slopes, 0.1, Costs(miss=5, false_alarm=1, hit=0.2), rng)


def draw_d(key: Key, rounds: int = 5000) -> Table:
    """Return 1 % positives and heavy tails."""
    rng = key.generator()
    items = rng.standard_t(5, (rounds, 9))
    return _with_rate("D", items, 0.8 * rng.standard_normal(9), 0.01, Costs(miss=30, false_alarm=1, hit=0), rng)


def draw_e(key: Key, rounds: int = 1000) -> Table:
    """Return 60 % positives and dear false alarms."""
    rng = key.generator()
    items = _related(rng, rounds, 9, 0.3)
    return _with_rate("E", items, 0.5 * rng.standard_normal(9), 0.6, Costs(miss=1, false_alarm=3, hit=0), rng)


def draw_f(key: Key, rounds: int = 3000) -> Table:
    """Return 25 categories and 4 features."""
    rng = key.generator()
    items = np.column_stack([np.eye(25)[rng.integers(25, size=rounds)], rng.standard_normal((rounds, 4))])
    slopes = np.append(1.2 * rng.standard_normal(25), 0.7 * rng.standard_normal(4))
    return _with_rate("F", items, slopes, 0.08, Costs(miss=4, false_alarm=1, hit=0), rng)


ORDINARY: dict[str, Draw] = {"A": draw_a, "B": draw_b, "C": draw_c, "D": draw_d, "E": draw_e, "F": draw_f}
