"""The fair rival in thirty lines: one-sided logistic regression under the same cap, delay and audit floor.

What somebody with scikit-learn would write. The model is refitted on the labels that have arrived. It acts where its
score is among the best ``share - floor`` of the last thousand scores, so that model and audits together use the cap.
While there is nothing to fit it acts at random at that rate.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

EVERY = 100  #: items between two fits


class Rival:
    """A model that is refitted every hundred items, a running quantile as its cut, a cap on any 1,000 items."""

    def __init__(self, share: float, floor: float, seed: int, window: int = 1000) -> None:
        self.share, self.floor = share, floor
        self.rng, self.model = np.random.default_rng(seed), None
        self.acts: deque[bool] = deque(maxlen=window - 1)
        self.most, self.window = int(share * window + 1e-9), window
        self.past: list[Any] = []
        self.items: list[Any] = []
        self.labels: list[int] = []
        self.scores = np.empty(0)

    def decide(self, x: Any) -> bool:
        """Return whether to act on an item."""
        if len(self.past) % EVERY == 0 and 0 < sum(self.labels) < len(self.labels):
            self.model = LogisticRegression(max_iter=200).fit(np.array(self.items), self.labels)
            self.scores = self.model.decision_function(np.array(self.past[-self.window :]))
        self.past.append(x)
        wanted = self.rng.random() < self.share - self.floor
        if self.model is not None:
            score = float(self.model.decision_function(x[None])[0])
            wanted = score > np.quantile(self.scores, 1.0 - self.share + self.floor)
            self.scores = np.append(self.scores[1 - self.window :], score)
        act = (wanted or self.rng.random() < self.floor) and sum(self.acts) < self.most
        self.acts.append(act)
        return act

    def learn(self, x: Any, label: int) -> None:
        """Take in a label that has arrived."""
        self.items.append(x)
        self.labels.append(label)
