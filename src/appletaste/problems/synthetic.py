"""A problem of your own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._checks import number, whole
from ..costs import Costs
from ..errors import OptionError
from ..keys import Key
from .table import Table, logistic_table


@dataclass(frozen=True)
class Synthetic:
    """Choose the dimension, the horizon, the spread of the items and of theta*, the intercept and the costs."""

    name: ClassVar[str] = "synthetic"
    summary: ClassVar[str] = "a problem of your own: dimension, horizon, spreads, intercept and costs"
    features: int = 5
    rounds: int = 1000
    context_variance: float = 1.0
    intercept: float | None = None
    theta: str = "uniform"
    theta_scale: float = 1.0
    costs: Costs = field(default_factory=lambda: Costs(miss=1.0, false_alarm=0.4, hit=0.05))

    def __post_init__(self) -> None:
        whole("features", self.features, least=1, most=10**6)
        number("context_variance", self.context_variance, above=0.0, most=1e50)
        number("theta_scale", self.theta_scale, above=0.0, most=1e50)
        if self.intercept is not None:
            number("intercept", self.intercept, least=-1e50, most=1e50)
        if self.theta not in ("uniform", "normal"):
            raise OptionError(f'theta is "uniform" or "normal", got {self.theta!r}')

    def draw(self, key: Key) -> Table:
        """Return the table that belongs to a key; an intercept is a last feature that is always 1."""
        rng = key.generator()
        d = self.features
        theta = self.theta_scale * (rng.uniform(-1, 1, d) if self.theta == "uniform" else rng.standard_normal(d))
        items = np.sqrt(self.context_variance) * rng.standard_normal((self.rounds, d))
        if self.intercept is not None:
            theta = np.append(theta, self.intercept)
            items = np.column_stack([items, np.ones(self.rounds)])
        return logistic_table(self.name, items, theta, self.costs, rng.random(self.rounds))
