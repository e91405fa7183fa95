"""Value of information where items have levels that come again (docs/curves.md, *Many levels*)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..costs import Costs
from ..decision import new_tuple
from ..errors import OptionError
from ..kernels import value as kernels
from ..kernels._jit import Word
from ..kernels.levels import SLOT, TIMES, remember_levels, weigh_levels
from ..posteriors import Arrays, Belief, NormalScores, Score, Vector
from ..posteriors.label_table import Growing, grow_to
from ..posteriors.scores import LevelScore
from .rule import Verdict, drawn

#: Slots that there is room for at first.
ROOM = 256


def in_doubt(
    score: Score, chance: float, price: float, value: float, costs: Costs, settings: Vector
) -> tuple[float, float, float]:
    """Return the probability of acting, the chance and the price, of an item that is a stranger in part."""
    return kernels.in_doubt(score.stranger, chance, price, value, costs.alarm_price, costs.catch_gain, settings)


class LevelJudge:
    """The rule and its memory: B and N of the numbers; of each level how often it came, and how near the boundary."""

    def __init__(self, settings: Vector, matrices: int, n_features: int, levels: Sequence[int]) -> None:
        self._settings = settings
        self._places = np.array(levels, dtype=np.int64)
        self._kept = np.setdiff1d(np.arange(n_features), self._places)
        width = len(self._kept)
        self._memory = np.zeros((matrices * width + 1, width))
        self._seen, self._once = Growing(ROOM, len(levels), 3), np.zeros((2, len(levels)))

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the probability of acting, with the price of acting and the value of the label."""
        if not isinstance(score, LevelScore):
            raise OptionError(
                "ValueOfInformation(levels=...) needs a posterior that keeps an effect for each level: "
                "Laplace(groups=features.groups)"
            )
        regret_pass, regret_act, chance, slope = score.outlook(costs)
        found = weigh_levels(
            round_,
            score.variance,
            regret_pass,
            regret_act,
            chance,
            slope,
            score.direction(),
            score.parts,
            self._memory,
            self._seen.array,
            self._once,
            self._settings,
        )
        probability, price, value, share, boundary, inflow = found
        why = {}
        if score.stranger > 0.0:
            probability, chance, price = in_doubt(score, chance, price, value, costs, self._settings)
            why["stranger"] = score.stranger
        why |= {"chance_positive": chance, "price_of_acting": price, "value_of_label": value}
        memo = x[self._kept], score.parts[SLOT].copy(), share, boundary, inflow
        return new_tuple(Verdict, (probability, why, chance, value - price, memo))

    def commit(self, verdict: Verdict, act: bool) -> None:
        """Take the item into the memory."""
        z, slots, share, boundary, inflow = verdict.memo
        grow_to(self._seen, int(slots.max()))
        remember_levels(
            z, slots, act, self._memory, self._seen.array, self._once, self._settings, share, boundary, inflow
        )

    def judge_many(self, scores: NormalScores, costs: Costs, items: Vector, first_round: int, key: Word) -> Vector:
        """Return the probabilities of acting on many items in turn, and take them into the memory."""
        probabilities = np.empty(len(items))
        for k, x in enumerate(items):
            verdict = self.judge(scores[k], costs, x, first_round + k)
            probabilities[k] = verdict.probability
            self.commit(verdict, drawn(key, first_round + k, verdict.probability))
        return probabilities

    def play_many(
        self, belief: Belief, costs: Costs, items: Sequence[Vector], first_round: int, key: Word
    ) -> list[Verdict] | None:
        """Return that items are judged one by one: a level that is new changes the layout."""
        return None

    def moved(self, places: NDArray[np.intp]) -> LevelJudge:
        """Return the rule with what it remembers at the places where features are now; slots stay where they are."""
        width = len(self._kept)
        matrices = (len(self._memory) - 1) // width
        other = LevelJudge(self._settings, matrices, len(places), self._places.tolist())
        before = [int(np.searchsorted(self._kept, place)) if place >= 0 else -1 for place in places[other._kept]]
        kept = self.arrays()
        other.restore({**kept, "memory": moved_memory(kept["memory"], width, np.array(before, dtype=np.intp))})
        return other

    def arrays(self) -> Arrays:
        """Return all that is remembered, for saving."""
        used = np.flatnonzero(self._seen.array[:, :, TIMES].any(axis=1))
        last = int(used[-1]) + 1 if len(used) else 0
        return {"memory": self._memory.copy(), "seen": self._seen.array[:last].copy(), "once": self._once.copy()}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        seen = arrays["seen"]
        self._memory[:], self._once[:] = arrays["memory"], arrays["once"]
        self._seen = Growing(ROOM, len(self._places), 3)
        grow_to(self._seen, len(seen) - 1)
        self._seen.array[: len(seen)] = seen


def moved_memory(memory: NDArray[Any], before: int, places: NDArray[np.intp]) -> Vector:
    """Return halves of matrices, in the layout of ``kernels.value``, with rows and columns taken from other places."""
    halves = memory[:-1].reshape(-1, before, before)
    wholes = [taken(taken(0.5 * (half + half.T), places).T, places) for half in halves]
    moved = [np.tril(2.0 * whole, -1) + np.diag(whole.diagonal()) for whole in wholes]
    return np.vstack([*moved, memory[-1, 0] * np.eye(1, len(places))])


def taken(rows: NDArray[Any], places: NDArray[np.intp]) -> Vector:
    """Return rows with their entries at other places, from those given; -1: 0."""
    return np.asarray(np.where(places >= 0, rows[:, np.maximum(places, 0)], 0.0), dtype=np.float64)
