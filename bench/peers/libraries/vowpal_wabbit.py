"""Vowpal Wabbit: contextual bandits with action-dependent features, through its text format."""

from __future__ import annotations

import numpy as np
from vowpalwabbit import Workspace

from appletaste import Costs

#: Who is told about whom: entry (0, 1) says that playing action 1 (act) shows the cost of action 0 (pass), entry (1, 1)
#: that it shows its own. Playing pass shows nothing. The first number is the action that is seen, the second the one
#: that is played: the other way round, which the words of the manual also allow, nothing is learnt.
APPLE_TASTING = "0,1,1 1,1,1"


class VowpalWabbit:
    """Pass is an action with a feature of its own, act one with the item's features and a constant.

    Vowpal Wabbit answers with a distribution over the two actions and leaves the draw to its caller. Costs go in with
    the probability of the action that was drawn, moved and scaled to the [0, 1] which its explorers expect: 0 for an
    act on a positive, 1 for one on a negative, and 1 - threshold for a pass.
    """

    def __init__(self, features: int, costs: Costs, seed: int, *, arguments: str) -> None:
        self._workspace = Workspace(f"--quiet --random_seed {seed} --cb_explore_adf {arguments}")
        self._cost_of_passing = f"{1.0 - costs.threshold:.6g}"
        self._rng = np.random.default_rng(seed)
        self._features = ""
        self._chance = 1.0

    def _example(self, pass_label: str = "", act_label: str = "") -> list[str]:
        return [f"{pass_label}|p pass", f"{act_label}|a {self._features} one:1"]

    def decide(self, x: np.ndarray) -> bool:
        self._features = " ".join(f"{i}:{value:.6g}" for i, value in enumerate(x.tolist()) if value)
        chances = self._workspace.predict(self._example())
        act = bool(self._rng.random() < chances[1])
        self._chance = chances[int(act)]
        return act

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        if act:
            example = self._example(act_label=f"0:{0 if label else 1}:{self._chance:.6g} ")
        else:
            example = self._example(pass_label=f"0:{self._cost_of_passing}:{self._chance:.6g} ")
        self._workspace.learn(example)


class GraphFeedback(VowpalWabbit):
    """The apple-tasting mode of ``--graph_feedback``: an act shows both costs, a pass neither, and teaches nothing."""

    def __init__(self, features: int, costs: Costs, seed: int, *, arguments: str = "") -> None:
        super().__init__(features, costs, seed, arguments=f"--graph_feedback {arguments}")

    def _example(self, pass_label: str = "", act_label: str = "") -> list[str]:
        return [f"shared graph {APPLE_TASTING} |", *super()._example(pass_label, act_label)]

    def learn(self, x: np.ndarray, act: bool, label: int | None) -> None:
        if act:
            chance = f"{self._chance:.6g} "
            self._workspace.learn(
                self._example(f"0:{self._cost_of_passing}:{chance}", f"0:{0 if label else 1}:{chance}")
            )
