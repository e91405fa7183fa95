"""How a policy plays a round: judge an item, draw the action, carry on; by the time, if it forgets by that."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import Costs, SomeCosts
from ..decision import Decision, new_tuple
from ..errors import InputError, OptionError
from ..kernels.random import uniform_at, uniforms_at
from ..keys import Key
from ..remedies import Message, Remedy
from ..times import instant
from .items import check_costs, check_item, usual_costs
from .learner import Learner, Method, Verdict
from .player import Alone, Player, Prospect
from .rounds import Rounds

_NAN = math.nan


class Playing(Player):
    """The part of a ``Policy`` that decides: its settings, its learner, and the rounds it has played."""

    def __init__(
        self, method: Method, *, n_features: int, costs: SomeCosts, seed: int = 0, name: str | None = None
    ) -> None:
        if isinstance(n_features, bool) or not isinstance(n_features, int | np.integer) or n_features < 1:
            raise InputError(f"n_features must be a whole number >= 1, got {n_features!r}")
        costs = usual_costs(costs)
        self.name = name or type(method).__name__
        self.method = method
        self.n_features = int(n_features)
        self.costs = costs
        self.seed = seed
        #: Decisions made so far.
        self.round = 0
        key = Key(seed)
        self._action_key = key.at("action").word()
        #: What is carried from item to item.
        self.learner: Learner = method.start(self.n_features, key)
        #: The places of an item that hold slots of levels.
        self.slots = self.learner.slots
        #: Which labels are awaited.
        self.rounds = Rounds()
        self._charged = 0.0, costs, costs  # the price asked for last, of which costs, and what these are with it
        #: Lets one thread in at a time.
        self.alone = Alone("policy")
        #: Whether it forgets by the time (``half_life="30d"``), and must be told it with every item.
        self.timed = self.learner.timed
        #: When it was told last, where it forgets by the time.
        self.now: float | None = None

    def decide(
        self, x: ArrayLike, *, costs: SomeCosts | None = None, time: Any = None, stratum: str | None = None
    ) -> Decision:
        """Decide on one item, with exactly the probability that is recorded; ``costs`` are of this item alone.

        ``time`` is for policies that forget by it; ``stratum`` is for a ``Desk``, and a policy takes no notice.
        """
        item = check_item(x, self.n_features, self.slots)
        costs = self.costs if costs is None else check_costs(costs, self.costs)
        alone = self.alone
        before = alone.enter()
        try:
            if time is not None or self.timed:
                self.advance(time)
            return self._step(item, costs, False)
        finally:
            alone.user = before

    def play(self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None) -> Decision:
        """Decide on an item that was checked and carry on, to the bit as ``see``, ``draw`` and ``commit`` do."""
        if self.timed:
            self.advance(now)
        return self._step(x, costs, True)

    def play_many(self, items: Sequence[NDArray[np.float64]], costs: Costs) -> list[Decision] | None:
        """Decide on items that were checked and carry on, in one call; None: play them one by one.

        To the bit as ``play`` does: a worth that is no number, since sums overflow, is what acting saves now.
        """
        if self.timed:
            return None
        first = self.round + 1
        verdicts = self.learner.play_many(items, costs, first, self._action_key)
        if verdicts is None:
            return None
        made = []
        for x, (probability, why, chance, worth, _), uniform in zip(
            items, verdicts, uniforms_at(self._action_key, first, len(items)).tolist(), strict=True
        ):
            act = uniform < probability
            worth = worth if worth == worth else _saving(costs, chance)
            self.round += 1
            self.rounds.decided(x, act)
            fields = (act, probability, x, costs, self.round, why, False, None, chance, worth, _NAN, False)
            made.append(new_tuple(Decision, fields))
        return made

    def _step(self, x: NDArray[np.float64], costs: Costs, complete: bool) -> Decision:
        """Judge an item, draw and carry on; ``complete``: with all that ``see`` finds out."""
        learner, round_ = self.learner, self.round + 1
        verdict = learner.judge(x, costs, round_)
        probability, why, chance, worth, _ = verdict
        if complete and not (chance == chance and worth == worth):
            why, chance, worth = self._outlook(verdict, x, costs, costs, round_)
        act = bool(uniform_at(self._action_key, round_) < probability)
        learner.commit(verdict, round_, act)
        self.round = round_
        self.rounds.decided(x, act)
        fields = (act, probability, x, costs, round_, why, False, self.now, chance, worth, _NAN, False)
        return new_tuple(Decision, fields)

    def see(
        self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None, price: float
    ) -> Prospect:
        """Return what is known of an item before it is decided, if acting costs ``price`` more; changes nothing.

        With mu = P(positive) the saving now is Delta(0) - Delta(1) = catch_gain mu - alarm_price (1 - mu), and a rule
        that knows the value of a label adds it. Rules that do not (Thompson sampling, say) explore by their
        probability.
        """
        if now is not None and self.timed:
            with self.learner.glimpse(now):
                return self._see(x, costs, now, stratum, price)
        return self._see(x, costs, now, stratum, price)

    def _see(
        self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None, price: float
    ) -> Prospect:
        learner, round_, charged = self.learner, self.round + 1, costs
        if price:  # often that of the item before: making costs takes 0.8 us
            asked, sheet, charged = self._charged
            if price != asked or costs is not sheet:
                charged = costs.charged(price)
                self._charged = price, costs, charged
        verdict = learner.judge(x, charged, round_)
        probability, why, chance, worth, _ = verdict
        if chance == chance and worth == worth:
            worth += price
        else:
            why, chance, worth = self._outlook(verdict, x, costs, charged, round_, price)
        fields = (x, costs, probability, chance, worth, why, verdict, round_, now, stratum, 0.0, _NAN, False)
        return new_tuple(Prospect, fields)

    def _outlook(
        self, verdict: Verdict, x: NDArray[np.float64], costs: Costs, charged: Costs, round_: int, price: float = 0.0
    ) -> tuple[dict[str, float], float, float]:
        """Return why, P(positive) and what acting is worth, where the rule has not found out all of it."""
        _, why, chance, worth, _ = verdict
        if chance != chance:
            chance = self.learner.chance(x, charged, round_)
            if chance == chance:
                why = {**why, "chance_positive": chance}
        if worth == worth:
            worth += price
        else:
            worth = _saving(costs, chance)
        return why, chance, worth

    def draw(self, prospect: Prospect) -> Decision:
        """Return the decision on an item that was looked at: a function of the seed, the round and the probability.

        The action is drawn with max(probability, floor); an act that only the floor made is an audit.
        """
        x, costs, probability, chance, worth, why, _, _, now, _, floor, price, spent = prospect
        if not self.timed:
            now = None
        elif now is None:
            raise self._timeless()
        round_, total = self.round + 1, floor if floor > probability else probability
        uniform = uniform_at(self._action_key, round_)
        act = bool(uniform < total)
        audit = act and not uniform < probability
        return new_tuple(Decision, (act, total, x, costs, round_, why, audit, now, chance, worth, price, spent))

    def commit(self, prospect: Prospect, decision: Decision) -> None:
        """Carry on after a decision on an item that was looked at: the one drawn here, or one read from a record."""
        act, round_ = decision.act, decision.round
        alone = self.alone
        before = alone.enter()
        try:
            if round_ != self.round + 1:
                raise self.not_next(decision)
            if self.timed:
                self.advance(prospect.time)
            self.learner.commit(prospect.verdict, round_, act)
            self.round = round_
            self.rounds.decided(prospect.x, act)
        finally:
            alone.user = before

    def not_next(self, decision: Decision) -> InputError:
        """Return what is said of a decision that is not the one of the next round."""
        return InputError(
            f"this decision is for round {decision.round}, but the next round is {self.round + 1}: other items "
            "were decided after it was drawn, or another policy drew it. Draw the decision again"
        )

    # ---- time

    def advance(self, time: Any) -> None:
        """Set the time: a policy that forgets by time forgets up to then; others ignore the time."""
        now = self.check_time(time)
        if self.timed and now is not None:
            self.learner.advance(now)
            self.now = now

    def check_time(self, time: Any) -> float | None:
        """Return a time as a number; it may be left out only where nobody needs it."""
        now = instant(time)
        if self.timed and now is None:
            raise self._timeless()
        return now

    def _timeless(self) -> OptionError:
        told = f"{self.name} forgets by time (its half_life is a length of time), so every item needs a time, "
        told += "a number or a date: "
        return OptionError(Message(told, Remedy("time"), "; or give half_life as a number of items"))


def _saving(costs: Costs, chance: float) -> float:
    """Return what acting is expected to save now; 0: nobody knows the chance."""
    return 0.0 if chance != chance else costs.catch_gain * chance - costs.alarm_price * (1.0 - chance)
