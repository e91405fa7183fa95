"""River: LinUCB with one Bayesian linear regression for each arm."""

from __future__ import annotations

import numpy as np
from river import bandit

from appletaste import Costs

PASS, ACT = 0, 1


class LinUcb:
    """Contexts are dictionaries and get a constant.

    Rewards are divided by their range, so that their sd is at most 0.5, of which ``beta`` = 4 is the precision.
    """

    def __init__(self, features: int, costs: Costs, seed: int, *, alpha: float = 1.0, beta: float = 4.0) -> None:
        self._policy = bandit.LinUCBDisjoint(alpha=alpha, beta=beta, seed=seed)
        self._threshold = costs.threshold
        self._context: dict[int, float] = {}

    def decide(self, x: np.ndarray) -> bool:
        self._context = dict(enumerate([*x.tolist(), 1.0]))
        return self._policy.pull([PASS, ACT], context=self._context) == ACT

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        reward = int(label or 0) - self._threshold if act else 0.0
        self._policy.update(ACT if act else PASS, self._context, reward)
