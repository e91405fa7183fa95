"""contextualbandits: LogisticUCB and LogisticTS, whose score of the act arm is held against the threshold."""

from __future__ import annotations

import numpy as np
from contextualbandits import online

from appletaste import Costs

ACT = 1


class Logistic:
    """Rewards are 0 or 1 in this library, so costs enter as the threshold on P(positive), by ``decision_function``.

    Neither policy can learn one label at a time: they are fitted again after every label at first, then whenever there
    are ``growth`` more.
    """

    def __init__(self, features: int, costs: Costs, seed: int, *, policy: str, growth: float = 0.05) -> None:
        self._policy = getattr(online, policy)(2, njobs=1, random_state=seed)  # a seed of 0 is refused
        self._threshold = costs.threshold
        self._growth = growth
        self._items: list[np.ndarray] = []
        self._labels: list[int] = []
        self._due = 1

    def decide(self, x: np.ndarray) -> bool:
        return bool(self._policy.decision_function(x[None, :])[0, ACT] >= self._threshold)

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        if not act:
            return
        self._items.append(x)
        self._labels.append(int(label or 0))
        count = len(self._labels)
        if count >= self._due:
            self._policy.fit(np.array(self._items), np.full(count, ACT), np.array(self._labels))
            self._due = int(count * (1.0 + self._growth)) + 1
