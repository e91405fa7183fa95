"""Streams whose rare segment is no column: the far values of a number, met with curves on (docs/curves.md).

The map is fitted on 500 rows before the stream, which have the whole range of each number. Twelve numbers, of which the
first one matters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from appletaste import Costs, Encoder, Key
from appletaste.problems import Table

Groups = tuple[int, ...]
BentDraw = Callable[[Key], tuple[Table, Groups]]
ROWS, PAST, LATE, NUMBERS = 4000, 500, 2000, 12
DEAR = Costs(miss=1, false_alarm=4, hit=0)


def _bent(name: str, numbers: np.ndarray, chances: np.ndarray, costs: Costs, rng: np.random.Generator):
    """Return a table of vectors with ramps, without the rows that the map was fitted on, and the groups."""
    labels = (rng.random(len(numbers)) < chances).astype(np.int8)
    columns = {f"x{place}": numbers[:, place] for place in range(NUMBERS)}
    features = Encoder(curves=True).fit({column: values[:PAST] for column, values in columns.items()})
    items = features.transform_many({column: values[PAST:] for column, values in columns.items()})
    return Table(name, np.ascontiguousarray(items), chances[PAST:], labels[PAST:], costs), features.groups


def _calm(first: np.ndarray, edge: float, rng: np.random.Generator, low: float, high: float) -> None:
    """Put other values where the first number is beyond the edge in the early rounds."""
    early = np.arange(len(first)) < PAST + LATE
    moved = early & (np.arange(len(first)) >= PAST) & (first > edge)
    first[moved] = rng.uniform(low, high, moved.sum())


def draw_far(key: Key) -> tuple[Table, Groups]:
    """Return normal numbers: beyond its 95 % quantile the first one pays, and false alarms are dear."""
    rng = key.generator()
    numbers = rng.standard_normal((PAST + ROWS, NUMBERS))
    return _bent("far", numbers, np.where(numbers[:, 0] > 1.645, 0.95, 0.02), DEAR, rng)


def draw_late(key: Key) -> tuple[Table, Groups]:
    """Return normal numbers: far values of the first one come after round 2,000 and pay."""
    rng = key.generator()
    numbers = rng.standard_normal((PAST + ROWS, NUMBERS))
    _calm(numbers[:, 0], 1.28, rng, -1.0, 1.0)
    chances = np.where(numbers[:, 0] > 1.645, 0.95, 0.02)
    return _bent("late", numbers, chances, Costs(miss=1, false_alarm=2, hit=0), rng)


def draw_amount(key: Key) -> tuple[Table, Groups]:
    """Return amounts, 0 in nine rows of ten: large ones of the first column come after round 2,000 and pay."""
    rng = key.generator()
    shape = (PAST + ROWS, NUMBERS)
    amounts = np.where(rng.random(shape) < 0.1, np.exp(rng.standard_normal(shape)), 0.0)
    _calm(amounts[:, 0], 1.0, rng, 0.0, 1.0)
    return _bent("amount", amounts, np.where(amounts[:, 0] > 1.0, 0.95, 0.02), DEAR, rng)


def draw_lines(key: Key) -> tuple[Table, Groups]:
    """Return normal numbers whose effects are straight: nothing is hidden, and nothing bends."""
    rng = key.generator()
    numbers = rng.standard_normal((PAST + ROWS, NUMBERS))
    scores = numbers[:, :3] @ np.array([1.0, 0.5, 0.3]) - 3.0
    return _bent("lines", numbers, np.exp(-np.logaddexp(0.0, -scores)), Costs(miss=5, false_alarm=1, hit=0), rng)


BENT: dict[str, BentDraw] = {"far": draw_far, "late": draw_late, "amount": draw_amount, "lines": draw_lines}
