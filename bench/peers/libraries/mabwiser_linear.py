"""MABWiser: LinUCB and LinTS, one ridge regression of the reward for each arm."""

from __future__ import annotations

import numpy as np
from mabwiser.mab import MAB, LearningPolicy

from appletaste import Costs

PASS, ACT = 0, 1


class Linear:
    """Two arms; contexts get a constant, without which a reward that is linear in the item must be zero at zero.

    ``known_pass`` compares the act arm's own expectation with the 0 that passing pays, so that nothing has to be learnt
    about passing; otherwise ``predict`` chooses between the arms.
    """

    def __init__(
        self, features: int, costs: Costs, seed: int, *, policy: str, alpha: float, known_pass: bool = False
    ) -> None:
        self._bandit = MAB([PASS, ACT], getattr(LearningPolicy, policy)(alpha=alpha), seed=seed)
        self._threshold = costs.threshold
        self._known_pass = known_pass
        self._fitted = False  # predict before fit is an error, so the first item is acted on

    def decide(self, x: np.ndarray) -> bool:
        if not self._fitted:
            return True
        context = np.append(x, 1.0)[None, :]
        if self._known_pass:
            return bool(self._bandit.predict_expectations(context)[ACT] >= 0.0)
        return self._bandit.predict(context) == ACT

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        if not act and self._known_pass:
            return
        reward = int(label or 0) - self._threshold if act else 0.0  # divided by its range, to which alpha is fitted
        learn = self._bandit.partial_fit if self._fitted else self._bandit.fit
        learn([ACT if act else PASS], [reward], np.append(x, 1.0)[None, :])
        self._fitted = True
