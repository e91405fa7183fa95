"""Value of information: act where that is best, and where the label is worth more than acting costs (docs/rules.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import number, whole
from ..costs import Costs
from ..decision import new_tuple
from ..errors import OptionError
from ..kernels import surprises
from ..kernels import value as kernels
from ..kernels._jit import Word
from ..posteriors import Arrays, Belief, Doubt, NormalScores, Score, Vector, link_of
from .rule import Verdict
from .value_of_levels import LevelJudge, in_doubt, moved_memory, taken

#: Items are remembered one by one while there is at most one for so many features, with as many features as this.
FEATURES_PER_ITEM, WIDE = 4, 256
#: In the place of means, variances, outlooks and directions, where the kernel finds them itself.
NO_MOMENTS = (np.empty(0), np.empty(0), np.empty((0, 4)), np.empty((0, 0)))
NO_CROWDS = np.empty((0, 0)), np.empty((0, 0))
AHEAD = {"shared": kernels.SHARED, "lindy": kernels.LINDY, "double": kernels.DOUBLE}


@dataclass(frozen=True)
class ValueOfInformation:
    """Act iff the price of acting now, D, is at most eta H G(x), what its label will save later decisions.

    With z ~ N(f, v), D = Delta(1) - Delta(0), mu = E sigma(z), s = E sigma'(z) and V x = Cov(theta, z),

        G(x) = s^2 / (mu (1 - mu)) (Vx)' B (Vx),    B = mean over items of (e / v) x x',  e = min(Delta(0), Delta(1)),

    is by how much one label at x lowers the expected regret of a round, and H the rounds it will serve. The margin is
    of order v, not sqrt(v): it vanishes faster than that of Thompson sampling, IDS or a fixed confidence bound. Where
    the posterior believes in surprises (``Laplace(surprises=...)``) the rule also asks what the item would be worth if
    the one coefficient that it tells most of were far larger than the others.
    Reference: docs/rules.md.

    Parameters
    ----------
    horizon
        T, how many items will come; None: not known.
    eagerness
        eta; the derivation says 1.
    ahead
        How many rounds a label serves. ``"double"`` and ``"lindy"``: each item has its own number. Labels that arrive
        anyway shrink the variance of an item at the rate rho = (Vx)'N(Vx) / v, where N is the running mean of w x x',
        of 0 for items passed, w = s^2 / (mu (1 - mu)); s rounds from now a label of today is worth 1 / (1 + rho s)^2 of
        what it is now. Summed over the rounds to come that is R / (1 + rho R) if R = T - t are left, or R = 2 t + 10 d
        for ``"double"`` if nobody knows; and a ``lasting(rho a)`` for ``"lindy"``, after which a stream of age
        a = t + t0 goes on for s more rounds with probability a / (a + s). H is R or a; B takes (e / v) times the rest.
        ``"shared"``: the same for all items, H = a, or a (T - t) / (a + T - t) if T is known.
    randomised
        Act with probability max(0, 1 - D / (2 eta H G)) where D > 0, so that every action has a propensity.
    forgetting
        c: the newest item has the share c / (t - 1 + c) in the means.
    head_start
        t0 / d: the rounds per feature that the prior is worth.
    half_life
        Rounds after which a label counts half, where the posterior forgets; None: it does not. A label then serves for
        half_life / log 2 rounds at most, and the means forget as fast.
    features
        d of ``10 d`` and of the head start, where not all features count: the ramps of a curve do not. None: all.
    levels
        Places of the items that hold the slots of levels, for a posterior that keeps an effect for each level
        (docs/curves.md). What a label is worth then counts how often its levels will come again. None: there are none.
    sensitivity, specificity
        Those of whoever labels, as the posterior has them. With a = 1 - specificity and b = sensitivity - a a label
        tells w = (b s)^2 / (q (1 - q)), q = a + b mu, and is worth less.
    """

    horizon: int | None = None
    eagerness: float = 1.0
    ahead: str = "double"
    randomised: bool = False
    forgetting: float = 3.0
    head_start: float = 4.0
    half_life: float | None = None
    features: int | None = None
    levels: Sequence[int] | None = None
    sensitivity: float = field(default=1.0, metadata={"later": True})
    specificity: float = field(default=1.0, metadata={"later": True})

    def __post_init__(self) -> None:
        if self.horizon is not None:
            whole("horizon", self.horizon, least=1)
        if self.ahead not in AHEAD:
            raise OptionError(f"ahead is one of {', '.join(AHEAD)}; got {self.ahead!r}")
        link_of(self.sensitivity, self.specificity)
        number("eagerness", self.eagerness, above=0.0)
        number("forgetting", self.forgetting, above=0.0)
        number("head_start", self.head_start, least=0.0)
        if self.half_life is not None:
            number("half_life", self.half_life, above=0.0)
        if self.features is not None:
            whole("features", self.features, least=1)
        if self.levels is not None:
            object.__setattr__(self, "levels", tuple(whole("levels", place, least=0) for place in self.levels))

    def start(self, n_features: int) -> ValueJudge | LevelJudge:
        """Return the rule at work, before the first item."""
        counted = n_features if self.features is None else self.features
        settings = np.array(
            [
                self.eagerness,
                self.forgetting,
                self.head_start * counted,
                self.horizon or 0,
                AHEAD[self.ahead],
                self.randomised,
                math.inf if self.half_life is None else max(1.0, self.half_life / math.log(2.0)),
                counted,
                *link_of(self.sensitivity, self.specificity),
            ],
            dtype=np.float64,
        )
        matrices = 1 if self.ahead == "shared" else 2
        return (
            LevelJudge(settings, matrices, n_features, self.levels)
            if self.levels
            else ValueJudge(settings, matrices, n_features)
        )


class ValueJudge:
    """The rule and its memory: B, and below it N; with surprises in mind, B_x. Wide and young: the items themselves."""

    def __init__(self, settings: Vector, matrices: int, n_features: int) -> None:
        self._settings = settings
        self._shape = (matrices * n_features + 1, n_features)
        self._items = ItemMemory(n_features) if n_features >= WIDE else None
        self._memory = np.zeros(self._shape if self._items is None else (0, n_features))
        self._doubts = n_features < WIDE  # no belief with more features knows surprises
        self._opened = np.zeros((n_features + 1 if self._doubts else 0, n_features))

    def judge(self, score: Score, costs: Costs, x: Vector, round_: int) -> Verdict:
        """Return the probability of acting, with the price of acting and the value of the label."""
        doubt = score.doubt() if self._doubts else None
        if doubt is not None:
            return self._judge_surprise(score, costs, x, round_, doubt)
        regret_pass, regret_act, chance, slope = score.outlook(costs)
        direction, settings, items = score.direction(), self._settings, self._items
        if items is None:
            found = kernels.weigh(
                round_, score.variance, regret_pass, regret_act, chance, slope, direction, self._memory, settings
            )
        else:
            found = kernels.weigh_forms(
                round_,
                score.variance,
                regret_pass,
                regret_act,
                chance,
                slope,
                *items.forms(direction),
                settings,
            )
        probability, price, value, share, boundary, inflow = found
        if score.stranger > 0.0:
            probability, chance, price = in_doubt(score, chance, price, value, costs, settings)
        memo = x, share, boundary, inflow, None
        return _verdict(probability, chance, price, value, -1, 0.0, score.stranger, memo)

    def _judge_surprise(self, score: Score, costs: Costs, x: Vector, round_: int, doubt: Doubt) -> Verdict:
        """Judge with the one coefficient in mind that may be far larger than the others, of which this item tells."""
        belief, awaited, slab, believed = doubt
        chance, found = surprises.judge_surprise(
            round_,
            score.mean,
            score.variance,
            x,
            score.direction(),
            self._memory,
            self._opened,
            self._settings,
            belief,
            awaited,
            slab,
            believed,
            costs.score_threshold,
            costs.alarm_price,
            costs.catch_gain,
        )
        probability, price, value, share, boundary, inflow, surprising, column, omega = found
        if score.stranger > 0.0:
            probability, chance, price = in_doubt(score, chance, price, value, costs, self._settings)
        memo = x, share, boundary, inflow, surprising
        return _verdict(probability, chance, price, value, column, omega, score.stranger, memo)

    def commit(self, verdict: Verdict, act: bool) -> None:
        """Take the item into the memory."""
        x, share, boundary, inflow, surprising = verdict.memo
        if self._items is not None and self._items.full:
            self._write_out()
        if self._items is not None:
            self._items.add(x, act, share, boundary, inflow)
        elif surprising is None:
            kernels.remember(x, act, self._memory, self._settings, share, boundary, inflow)
        else:
            surprises.remember_both(
                x, act, self._memory, self._opened, self._settings, share, boundary, inflow, surprising
            )

    def _write_out(self) -> None:
        """Go on with matrices."""
        if self._items is not None:
            self._memory = self._items.matrices(self._shape)
            self._items = None

    def judge_many(self, scores: NormalScores, costs: Costs, items: Vector, first_round: int, key: Word) -> Vector:
        """Return the probabilities of acting on many items in turn, and take them into the memory."""
        doubt = scores.doubt if self._doubts else None
        self._write_out()
        if doubt is not None:
            outlooks = scores.outlooks(costs)
            moments = scores.means, scores.variances, outlooks, scores.directions
            told = self._weigh_surprises(moments, doubt, costs, items, first_round, key, None)
            return np.array(told[surprises.PROBABILITY])
        probabilities = np.empty(len(items))
        kernels.weigh_many(
            key,
            first_round,
            items,
            scores.variances,
            scores.outlooks(costs),
            scores.directions,
            self._memory,
            self._settings,
            probabilities,
        )
        return probabilities

    def play_many(
        self, belief: Belief, costs: Costs, items: Sequence[Vector], first_round: int, key: Word
    ) -> list[Verdict] | None:
        """Judge items in turn and take them into the memory, in one call where surprises are believed in."""
        doubt = belief.doubt_of_all() if self._doubts else None
        if doubt is None or belief.clock is not None:  # it may forget in between
            return None
        crowds = None if belief.waiting is None else belief.waiting.crowds()
        told = self._weigh_surprises(NO_MOMENTS, doubt, costs, np.array(items), first_round, key, crowds)
        return [_verdict(*one) for one in told.T.tolist()]

    def _weigh_surprises(
        self,
        moments: tuple[Vector, Vector, Vector, Vector],
        doubt: Doubt,
        costs: Costs,
        items: Vector,
        first_round: int,
        key: Word,
        crowds: tuple[Vector, Vector] | None,
    ) -> Vector:
        """Return what is told of many items, a column for each, in the order that ``_verdict`` takes.

        ``crowds`` are the items known and those that wait; None: no label is on its way.
        """
        told = np.empty((surprises.TOLD, len(items)))
        surprises.weigh_many_surprises(
            key,
            first_round,
            items,
            *moments,
            self._memory,
            self._opened,
            self._settings,
            *doubt,
            costs.score_threshold,
            costs.alarm_price,
            costs.catch_gain,
            crowds is not None,
            *(crowds or NO_CROWDS),
            told,
        )
        return told

    def moved(self, places: NDArray[np.intp]) -> ValueJudge:
        """Return the rule with what it remembers at the places where features are now; of new ones it knows nothing.

        The rounds that it counts for each feature stay.
        """
        before = self._shape[1]
        other = ValueJudge(self._settings, (self._shape[0] - 1) // before, len(places))
        kept = self.arrays()
        for name in kept.keys() & {"memory", "opened"}:
            kept[name] = moved_memory(kept[name], before, places)
        if "items" in kept:
            kept["items"] = taken(kept["items"], places)
        other.restore(kept)
        return other

    def arrays(self) -> Arrays:
        """Return all that is remembered, for saving."""
        if self._items is not None:
            return self._items.arrays()
        opened = {"opened": self._opened.copy()} if self._opened.any() else {}
        return {"memory": self._memory.copy(), **opened}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        if "memory" in arrays:
            self._items, self._memory = None, np.ascontiguousarray(arrays["memory"], dtype=np.float64)
            if self._doubts:
                self._opened[:] = arrays.get("opened", 0.0)
        else:
            self._items = ItemMemory(self._shape[1])
            self._items.restore(arrays)


def _verdict(
    probability: float,
    chance: float,
    price: float,
    value: float,
    column: float,
    omega: float,
    stranger: float,
    memo: Any = None,
) -> Verdict:
    """Return what is thought of an item, in whose ``column`` a surprise is probable (omega); -1: in none."""
    why = {"chance_positive": chance, "price_of_acting": price, "value_of_label": value}
    if column >= 0:
        why["surprise"], why["surprising_feature"] = omega, float(column)
    if stranger > 0.0:
        why["stranger"] = stranger
    return new_tuple(Verdict, (probability, why, chance, value - price, memo))


class ItemMemory:
    """The memory as the items seen and their shares: v' B v in O(t d) for t items, where matrices take O(d^2)."""

    def __init__(self, n_features: int) -> None:
        room = n_features // FEATURES_PER_ITEM
        self._rows, self._shares, self._n = np.zeros((room, n_features)), np.zeros((2, room)), 0

    @property
    def full(self) -> bool:
        """Whether matrices are as quick from now on."""
        return self._n == len(self._rows)

    def forms(self, direction: Vector) -> tuple[float, float]:
        """Return v' B v and v' N v."""
        return kernels.item_forms(direction, self._rows, self._shares, self._n)

    def add(self, x: Vector, act: bool, share: float, boundary: float, inflow: float) -> None:
        """Take in an item."""
        kernels.remember_item(x, act, self._rows, self._shares, self._n, share, boundary, inflow)
        self._n += 1

    def matrices(self, shape: tuple[int, int]) -> Vector:
        """Return B, and below it N if the shape has room."""
        memory = np.zeros(shape)
        kernels.write_memory(self._rows, self._shares, self._n, memory)
        return memory

    def arrays(self) -> Arrays:
        """Return all that is remembered, for saving."""
        return {"items": self._rows[: self._n].copy(), "shares": self._shares[:, : self._n].copy()}

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""
        self._n = len(arrays["items"])
        self._rows[: self._n], self._shares[:, : self._n] = arrays["items"], arrays["shares"]
