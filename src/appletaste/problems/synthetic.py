"""A problem of your own, and the setting of Theorem 1, where everything is bounded."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .._checks import number, whole
from ..costs import Costs
from ..errors import OptionError
from ..keys import Key
from ..posteriors import Ball, Gaussian
from .drawn import Table, logistic_table


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


@dataclass(frozen=True)
class Bounded:
    """The setting of Theorem 1: theta* ~ N(0, I) restricted to the unit ball, items uniform on [-x_max, x_max]^d."""

    name: ClassVar[str] = "bounded"
    summary: ClassVar[str] = "the setting of Theorem 1: theta* in the unit ball, bounded items"
    features: int = 5
    rounds: int = 1000
    largest_entry: float = 3.0
    costs: Costs = field(default_factory=lambda: Costs(miss=1.0, false_alarm=0.4, hit=0.05))

    def __post_init__(self) -> None:
        if self.features < 1:
            raise OptionError(f"features must be at least 1, got {self.features}")

    @property
    def prior(self) -> Gaussian:
        """The law of theta*, from which a policy should start."""
        return Gaussian(region=Ball(1.0))

    def draw(self, key: Key) -> Table:
        """Return the table that belongs to a key."""
        rng = key.generator()
        direction = rng.standard_normal(self.features)
        # |theta*| has density r^(d-1) exp(-r^2/2) on [0, 1]: propose U^(1/d), accept with exp(-r^2/2) >= 0.6
        while True:
            radius = rng.random() ** (1 / self.features)
            if rng.random() < np.exp(-(radius**2) / 2):
                break
        theta = radius * direction / np.linalg.norm(direction)
        items = self.largest_entry * rng.uniform(-1, 1, (self.rounds, self.features))
        return logistic_table(self.name, items, theta, self.costs, rng.random(self.rounds))
