"""The policy that people use: decide, learn, save. How it decides is a ``Method``; what it carries, a ``Learner``."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from threading import get_ident
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import Costs, SomeCosts
from ..decision import Decision, Decisions, Observation, check_label
from ..errors import FeedbackError, InputError, OptionError
from ..kernels.random import uniform_at
from ..keys import Key
from ..posteriors import Certificate
from ..remedies import Message, Remedy
from ..times import instant
from .alone import Alone
from .batches import decide_batch, decide_within
from .history import History, known_labels
from .items import check_costs, check_item, check_items
from .learner import Arrays, Learner, Method
from .player import Player, Prospect
from .posterior import CurrentPosterior
from .settings import encode

#: What is kept of a round: 0 of a pass, 1 where the label was learnt, else a checksum of the item with this bit set.
LEARNT, AWAITED = 1, 2
#: Its stub knows no arrays; a checksum takes 0.1 us.
_checksum: Any = crc32
_FLOAT = np.dtype(np.float64)
#: A named tuple without its constructor in Python: 0.2 us less in every round.
_new = tuple.__new__


class Policy(Player):
    """Decides, one item at a time, whether to act or to pass, and learns from the labels that acting shows.

    Made by ``appletaste.policy``. A decision depends only on the seed, the decisions before it and the labels
    learnt before it, in the order they were learnt, and on times if it forgets by them. The label of a decision is
    learnt once, by the policy that made the decision; ``teach`` is for labels from elsewhere. One policy is for one
    thread at a time; a second one is refused.

    Examples
    --------
    >>> import appletaste as at
    >>> policy = at.policy("pg-ts", n_features=2, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05), seed=7)
    >>> decision = policy.decide([0.5, -1.0])
    >>> if decision.act:
    ...     policy.learn(decision, label=1)
    >>> policy.round
    1
    """

    def __init__(
        self, method: Method, *, n_features: int, costs: SomeCosts, seed: int = 0, name: str | None = None
    ) -> None:
        if isinstance(n_features, bool) or not isinstance(n_features, int | np.integer) or n_features < 1:
            raise InputError(f"n_features must be a whole number >= 1, got {n_features!r}")
        costs = Costs.of(costs)
        if not math.isfinite(costs.threshold):
            raise InputError("these costs leave nothing to decide: use Costs(...), and Costs.of_item for one item only")
        self.name = name or type(method).__name__
        self.method = method
        self.n_features = int(n_features)
        self.costs = costs
        self.seed = seed
        #: Decisions made so far.
        self.round = 0
        key = Key(seed)
        self._action_key = key.at("action").word()
        self._learner = method.start(self.n_features, key)
        #: The round of each label that the learner keeps, in the order of learning: 8 bytes and 0.05 us each.
        self._rounds = array("q")
        #: Of each round whether it acted, on which item and whether the label was learnt: 4 bytes (see ``LEARNT``).
        self._awaited = array("I")
        #: Lets one thread in at a time.
        self.alone = Alone("policy")
        #: Whether it forgets by the time (``half_life="30d"``), and must be told it with every item.
        self.timed = self._learner.timed
        #: When it was told last, where it forgets by the time.
        self.now: float | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.n_features} features, {self.costs}, seed={self.seed}, {self.round} decisions made>"

    @property
    def policy(self) -> Policy:
        """The policy itself."""
        return self

    @property
    def learner(self) -> Learner:
        """What is carried from item to item."""
        return self._learner

    @property
    def posterior(self) -> CurrentPosterior:
        """What is believed of theta now: mean, covariance, scores and draws; OptionError from a policy without one."""
        return CurrentPosterior(self)

    # ---- deciding

    def decide(
        self, x: ArrayLike, *, costs: SomeCosts | None = None, time: Any = None, stratum: str | None = None
    ) -> Decision:
        """Decide on one item, with exactly the probability that is recorded; ``costs`` are of this item alone.

        ``time`` is for policies that forget by it; ``stratum`` is for a ``Desk``, and a policy takes no notice.
        """
        item = check_item(x, self.n_features)
        costs = self.costs if costs is None else check_costs(costs, self.costs)
        alone, me = self.alone, get_ident()
        user = alone.user
        if user and user != me:
            raise alone.refusal()
        alone.user = me
        try:
            if time is not None or self.timed:
                self.advance(time)
            round_ = self.round + 1
            learner = self._learner
            verdict = learner.judge(item, costs, round_)
            probability, why, chance, worth, _ = verdict
            act = bool(uniform_at(self._action_key, round_) < probability)
            learner.commit(verdict, round_, act)
            self.round = round_
            self._awaited.append(_checksum(item) | AWAITED if act else 0)
        finally:
            alone.user = user
        fields = (act, probability, item, costs, round_, why, False, self.now, chance, worth, math.nan, False)
        return _new(Decision, fields)

    def look(
        self,
        x: ArrayLike,
        *,
        costs: SomeCosts | None = None,
        time: Any = None,
        stratum: str | None = None,
        price: float = 0.0,
    ) -> Prospect:
        """Return what is known of an item before it is decided, if acting costs ``price`` more; changes nothing.

        With mu = P(positive) the saving now is Delta(0) - Delta(1) = catch_gain mu - alarm_price (1 - mu), and a rule
        that knows the value of a label adds it. Rules that do not (Thompson sampling, say) explore by their
        probability.
        """
        item, costs = check_item(x, self.n_features), check_costs(costs, self.costs)
        now = instant(time)
        with self.alone:
            if now is not None and self.timed:
                with self._learner.glimpse(now):
                    return self._look(item, costs, now, stratum, price)
            return self._look(item, costs, now, stratum, price)

    def _look(
        self, x: NDArray[np.float64], costs: Costs, now: float | None, stratum: str | None, price: float
    ) -> Prospect:
        learner, round_ = self._learner, self.round + 1
        charged = costs.charged(price) if price else costs
        verdict = learner.judge(x, charged, round_)
        probability, why, chance, worth, _ = verdict
        if chance != chance:
            chance = learner.chance(x, charged, round_)
            if chance == chance:
                why = {**why, "chance_positive": chance}
        if worth == worth:
            worth += price
        else:
            worth = 0.0 if chance != chance else costs.catch_gain * chance - costs.alarm_price * (1.0 - chance)
        fields = (x, costs, probability, chance, worth, why, verdict, round_, now, stratum, 0.0, math.nan, False)
        return _new(Prospect, fields)

    def draw(self, prospect: Prospect) -> Decision:
        """Return the decision on an item that was looked at: a function of the seed, the round and the probability.

        The action is drawn with max(probability, floor); an act that only the floor made is an audit.
        """
        if self.timed and prospect.time is None:
            raise self._timeless()
        x, costs, probability, chance, worth, why, _, _, now, _, floor, price, spent = prospect
        round_, total = self.round + 1, max(probability, floor)
        uniform = uniform_at(self._action_key, round_)
        act = bool(uniform < total)
        audit = act and not uniform < probability
        time = now if self.timed else None
        return _new(Decision, (act, total, x, costs, round_, why, audit, time, chance, worth, price, spent))

    def commit(self, prospect: Prospect, decision: Decision) -> None:
        """Carry on after a decision on an item that was looked at: the one drawn here, or one read from a record."""
        with self.alone:
            self.check_next(decision)
            if self.timed:
                self.advance(prospect.time)
            self._learner.commit(prospect.verdict, decision.round, decision.act)
            self.round = decision.round
            self._awaited.append(_checksum(prospect.x) | AWAITED if decision.act else 0)

    def check_next(self, decision: Decision) -> None:
        """Refuse a decision that is not the one of the next round."""
        if decision.round != self.round + 1:
            raise InputError(
                f"this decision is for round {decision.round}, but the next round is {self.round + 1}: other items "
                "were decided after it was drawn, or another policy drew it. Draw the decision again"
            )

    def decide_many(
        self, items: ArrayLike, *, costs: SomeCosts | None = None, capacity: int | None = None, time: Any = None
    ) -> Decisions:
        """Decide on many items at once, [n, features]; the same as one by one with no label learnt in between.

        With a Gaussian posterior (``Laplace``, ``Adf``) that is one pass of compiled code on all cores. With a
        ``capacity`` at most so many are acted on, those with the largest expected saving plus value of information
        (docs/streams.md); fewer if fewer are worth it.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> decisions = policy.decide_many([[0.1], [3.0], [0.2], [-2.0]], capacity=2)
        >>> decisions.acts.tolist(), decisions.shadow_price > 0
        ([False, True, False, True], True)
        """
        table, costs = check_items(items, self.n_features), check_costs(costs, self.costs)
        with self.alone:
            self.advance(time)
            if capacity is not None:
                return decide_within(self, table, costs, capacity)
            return decide_batch(self, table, costs, self._action_key, time)

    # ---- time

    def advance(self, time: Any) -> None:
        """Set the time: a policy that forgets by time forgets up to then; others ignore the time."""
        now = self.check_time(time)
        if self.timed and now is not None:
            self._learner.advance(now)
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

    # ---- learning

    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, now or later, in any order, once; a pass raises.

        So does a decision that this policy did not make: of a round to come, or about another item.
        """
        observation = Observation.of(decision, label)
        x, round_ = decision.x, decision.round
        if type(x) is not np.ndarray or x.dtype is not _FLOAT or x.ndim != 1 or not x.flags.forc:
            observation = observation._replace(x=(x := check_item(x, self.n_features)))  # stored and read back, say
        alone, me = self.alone, get_ident()
        user = alone.user
        if user and user != me:
            raise alone.refusal()
        alone.user = me
        try:
            if not 0 < round_ <= self.round or self._awaited[round_ - 1] != _checksum(x) | AWAITED:
                raise self._not_awaited(round_)
            self._learner.learn(observation)
            self._awaited[round_ - 1] = LEARNT
            if self._learner.keeps_labels:
                self._rounds.append(round_)
        finally:
            alone.user = user

    def _not_awaited(self, round_: int) -> FeedbackError:
        """Return why no label of a decision is awaited."""
        if 0 < round_ <= self.round and self._awaited[round_ - 1] == LEARNT:
            return FeedbackError(
                f"the label of the decision of round {round_} was learnt already, and a label is learnt once: if the "
                "label was wrong, say so with correct(decision, label)"
            )
        if not 0 < round_ <= self.round:
            found = f"this policy has made {self.round} decisions"
        elif self._awaited[round_ - 1] == 0:
            found = "this policy passed in that round"
        else:
            found = "this policy decided on another item in that round"
        return FeedbackError(
            f"the decision of round {round_} is not one of this policy: {found}. Another policy made it, or this one "
            "before it was read from a file that is older than the decision. teach(x, label) learns a label from "
            "elsewhere"
        )

    def mark(self, acts: NDArray[np.bool_], items: Any) -> None:
        """Take note of rounds that were decided together."""
        marks = np.zeros(len(acts), dtype=np.uint32)
        for k in np.flatnonzero(acts).tolist():
            marks[k] = _checksum(items[k]) | AWAITED
        self._awaited.extend(marks.tolist())

    def teach(self, x: ArrayLike, label: int, *, time: Any = None) -> None:
        """Learn a label that is known from elsewhere, for an item that was not decided here.

        ``time`` is for policies that forget by it; without one the item came now.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> before = policy.chance([1.0])
        >>> policy.teach([1.0], 1)
        >>> policy.chance([1.0]) > before
        True
        """
        self._learn(Observation.given(check_item(x, self.n_features), label, instant(time) if self.timed else None))

    def _learn(self, observation: Observation) -> None:
        with self.alone:
            self._learner.learn(observation)
            if self._learner.keeps_labels:
                self._rounds.append(observation.round)

    def learn_history(self, items: ArrayLike, labels: Iterable[Any]) -> History:
        """Start from a history, [n, features]; rows whose label is None, NaN or -1 are skipped, and counted.

        Nothing is learnt if any row is wrong. The likelihood of the labels given their items is what it is whoever
        chose them, so labels of reviewed cases alone do no harm, as long as they were chosen by what is in the items
        (Rubin 1976, ignorable selection).

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> print(policy.learn_history([[1.0], [2.0], [-1.0]], [1, None, 0]))
        2 labels learnt (1 positive), 1 rows without a label skipped
        """
        table = check_items(items, self.n_features)
        known = known_labels(labels, len(table))
        for x, label in zip(table, known, strict=True):
            if label is not None:
                self._learn(Observation.given(x, label))
        return History.of(known)

    @property
    def keeps_labels(self) -> bool:
        """Whether labels are kept, so that one can be corrected or retracted."""
        return self._learner.keeps_labels

    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct (or, with None, retract) many labels at the price of one: all labels are learnt again once.

        A posterior that keeps no labels (``Adf``) refuses. Nothing is changed if any of the changes cannot be made.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> decision = policy.decide([1.0])
        >>> policy.learn(decision, 0)
        >>> before = policy.chance([1.0])
        >>> policy.revise([(decision, 1)])
        >>> policy.chance([1.0]) > before
        True
        """
        asked = [(decision, None if label is None else check_label(label)) for decision, label in changes]
        for decision, label in asked:
            Observation.of(decision, label or 0)  # says no to a pass
        with self.alone:
            if not self.keeps_labels:
                self._learner.revise({})  # says why it cannot, or has nothing to change
                for decision, _ in asked:
                    if not 0 < decision.round <= self.round or self._awaited[decision.round - 1] != LEARNT:
                        raise self._not_learnt(decision)
                self._await_again(asked)
                return
            found = {place: label for decision, label in asked for place in self._places(decision)}
            if found:
                self._learner.revise(found)
                self._rounds = array("q", (r for k, r in enumerate(self._rounds) if found.get(k, 0) is not None))
            self._await_again(asked)

    def _await_again(self, asked: list[tuple[Decision, int | None]]) -> None:
        """Let the labels that were retracted be learnt anew."""
        for decision, label in asked:
            if label is None:
                self._awaited[decision.round - 1] = _checksum(check_item(decision.x, self.n_features)) | AWAITED

    def _places(self, decision: Decision) -> list[int]:
        """Return where the label of a decision is among those learnt."""
        found = []
        for place in np.flatnonzero(np.array(self._rounds, dtype=np.int64) == decision.round).tolist():
            item = self._learner.item(place)
            if item is None or np.array_equal(item, np.asarray(decision.x, dtype=np.float64)):
                found.append(place)
        if not found:
            raise self._not_learnt(decision)
        return found

    def _not_learnt(self, decision: Decision) -> FeedbackError:
        return FeedbackError(
            f"no label was learnt for the decision of round {decision.round}, so there is no label to change: "
            "learn(decision, label) learns one"
        )

    def certificate(self) -> Certificate:
        """Return how far an approximate posterior is from the exact one on this stream (posterior ``Laplace``).

        A low acceptance is bad news for sure; where the fit is bad the estimate is optimistic (see ``Certificate``).

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> for x in (0.5, -1.0, 2.0):
        ...     policy.teach([x], label=int(x > 0))
        >>> policy.certificate().acceptance > 0.5
        True
        """
        found = self._learner.certificate()
        if found is None:
            raise OptionError(
                f"{self.name} has no approximate posterior to certify. A certificate needs a posterior that keeps its "
                "labels and weighs them alike: Laplace without a half_life"
            )
        return found

    # ---- saving and copying

    def header(self) -> dict[str, Any]:
        """Return the settings as JSON, for saving."""
        return {
            "kind": "policy",
            "name": self.name,
            "method": encode(self.method),
            "n_features": self.n_features,
            "costs": self.costs.outcomes(),
            "seed": int(self.seed),
            "round": self.round,
            "now": self.now,
        }

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""
        with self.alone:
            return {
                **self._learner.arrays(),
                "rounds": np.array(self._rounds, dtype=np.int64),
                "awaited": np.array(self._awaited, dtype=np.uint32),
            }

    def restore(self, arrays: Arrays, round_: int, now: float | None) -> None:
        """Begin where another policy of the same settings is."""
        self._learner.restore(arrays)
        self._rounds, self.round, self.now = array("q", arrays["rounds"].tolist()), round_, now
        if len(arrays["awaited"]) != round_:
            raise InputError(f"{round_} rounds were played, and {len(arrays['awaited'])} of them are kept")
        self._awaited = array("I", arrays["awaited"].tolist())

    def copy(self) -> Policy:
        """Return another policy that continues from here as this one would, and leaves this one alone."""
        twin = Policy.__new__(Policy)
        twin.__setstate__(self.__getstate__())
        return twin

    def __getstate__(self) -> dict[str, Any]:
        """Return the settings and all that is carried: a deep copy, or another process, continues bit for bit.

        For joblib, multiprocessing and the like, between processes of one version. To keep a policy use ``save``: its
        file is no pickle, is safe to open, and later versions read it.
        """
        made = {name: getattr(self, name) for name in ("method", "n_features", "costs", "seed", "name")}
        return {"made": made, "carried": {"arrays": self.arrays(), "round_": self.round, "now": self.now}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue from what ``__getstate__`` returned."""
        Policy.__init__(self, **state["made"])
        self.restore(**state["carried"])
