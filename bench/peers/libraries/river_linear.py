"""River: LinUCB with one Bayesian linear regression for each arm."""

from __future__ import annotations

import numpy as np
from river import bandit

from appletaste import Costs

PASS, ACT = 0, 1


class LinUcb:
    """Contexts are dictionaries and get a constant; ``beta``, the precision of a reward, is 4 for one of sd 0.5."""

    def __init__(self, features: int, costs: Costs, seed: int, *, alpha: float = 1.0, beta: float = 4.0) -> None:
        self._policy = bandit.LinUCBDisjoint(alpha=alpha, beta=beta, seed=seed)
        self._costs = costs
        self._context: dict[int, float] = {}

    def decide(self, x: np.ndarray) -> bool:
        self._context = dict(enumerate([*x.tolist(), 1.0]))
        return self._policy.pull([PASS, ACT], context=self._context) == ACT

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        reward = (self._costs.catch_gain if label else -self._costs.alarm_price) if act else 0.0
        self._policy.update(ACT if act else PASS, self._context, reward)
