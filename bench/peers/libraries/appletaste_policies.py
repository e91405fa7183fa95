"""appletaste: any policy of the registry, with its defaults."""

from __future__ import annotations

from typing import Any

import numpy as np

import appletaste as at


class RegistryPolicy:
    """A policy by name; it is told the number of features and the costs, and nothing else unless ``options`` say so."""

    def __init__(self, features: int, costs: at.Costs, seed: int, *, name: str, **options: Any) -> None:
        self._policy = at.policy(name, n_features=features, costs=costs, seed=seed, **options)
        self._decision: at.Decision | None = None

    def decide(self, x: np.ndarray) -> bool:
        self._decision = self._policy.decide(x)
        return self._decision.act

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        if act:
            self._policy.learn(self._decision, label)
