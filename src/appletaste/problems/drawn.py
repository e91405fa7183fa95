"""A problem as a table: every item with its truth, drawn up front so that all policies meet the same ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..errors import InputError
from ..keys import Key


@dataclass(frozen=True)
class Table:
    """T items with their features, their chance of being positive and their labels."""

    name: str
    items: NDArray[np.float64]  #: x_t, one row each
    chances: NDArray[np.float64]  #: P(C_t = 1 | x_t)
    labels: NDArray[np.int8]  #: C_t
    costs: Costs
    theta: NDArray[np.float64] | None = None  #: theta*, where the truth is logistic

    def __post_init__(self) -> None:
        rounds = len(self.items)
        if self.items.ndim != 2 or self.chances.shape != (rounds,) or self.labels.shape != (rounds,):
            raise InputError("a table needs items [T, d], and T chances and labels")

    @property
    def rounds(self) -> int:
        """The number of items, T."""
        return len(self.items)

    @property
    def n_features(self) -> int:
        """The number of features, d."""
        return int(self.items.shape[1])

    @property
    def best_actions(self) -> NDArray[np.bool_]:
        """A*_t: whether acting is best for the true chance."""
        return np.asarray(self.chances >= self.costs.threshold)

    def regret_of(self, acts: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return mu(A_t) - mu(A*_t), the expected cost of each action above the best one's."""
        extra = self.costs.alarm_price * (1 - self.chances) - self.costs.catch_gain * self.chances
        return np.asarray(np.maximum(np.where(acts, extra, -extra), 0.0))


def logistic_table(
    name: str,
    items: NDArray[np.float64],
    theta: NDArray[np.float64],
    costs: Costs,
    uniforms: NDArray[np.float64],
) -> Table:
    """Return a table whose labels are C_t = 1{u_t < sigma(x_t'theta)}."""
    scores = items @ theta
    chances = np.exp(-np.logaddexp(0.0, -scores))
    return Table(name, items, chances, (uniforms < chances).astype(np.int8), costs, theta)


class Problem(Protocol):
    """A recipe for tables of ``rounds`` items."""

    name: ClassVar[str]
    summary: ClassVar[str]

    @property
    def rounds(self) -> int:
        """The number of items, T."""

    def draw(self, key: Key) -> Table:
        """Return the table that belongs to a key."""
