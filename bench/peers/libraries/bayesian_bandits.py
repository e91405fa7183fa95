"""bayesianbandits: a Bayesian logistic regression for the label, a reward function for the costs."""

from __future__ import annotations

import bayesianbandits as bb
import numpy as np

from appletaste import Costs

PASS, ACT = 0, 1


class LogisticAgent:
    """The act arm's reward is linear in P(positive); the pass arm's is zero whatever its learner says.

    The prior is N(0, I), as for appletaste. ``approximator`` is how a label is absorbed: Laplace is the library's
    default, RVGA the more exact one of its documentation.
    """

    def __init__(
        self, features: int, costs: Costs, seed: int, *, policy: str, approximator: str = "LaplaceApproximator"
    ) -> None:
        price, scale = costs.alarm_price, costs.alarm_price + costs.catch_gain
        model = bb.BayesianGLM(alpha=1.0, link="logit", approximator=getattr(bb, approximator)())
        nothing = bb.NormalRegressor(alpha=1.0, beta=1.0)  # every arm needs a learner; this one is never updated
        arms = [
            bb.Arm(PASS, reward_function=np.zeros_like, learner=nothing),
            bb.Arm(ACT, reward_function=lambda chance: scale * chance - price, learner=model),
        ]
        self._agent = bb.ContextualAgent(arms, getattr(bb, policy)(), random_seed=seed)

    def decide(self, x: np.ndarray) -> bool:
        return self._agent.pull(x[None, :])[0] == ACT

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        if act:
            self._agent.select_for_update(ACT).update(x[None, :], np.array([label], dtype=float))
