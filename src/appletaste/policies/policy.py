"""The policy that people use: decide, learn, save. How it decides is a ``Method``; what it carries, a ``Learner``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..costs import Costs, SomeCosts
from ..decision import Decision, Decisions, Observation, check_label, new_tuple
from ..errors import InputError, Message, OptionError, Remedy
from ..features import FeatureMap
from ..features.model_curves import ModelCurves
from ..keys import Key
from ..posteriors import Certificate
from ..rules.rule import drawn, drawn_many
from ..times import instant
from .batches import decide_batch, decide_within
from .items import History, check_costs, check_item, check_items, known_labels, usual_costs
from .learner import Arrays, Learner, Method, Verdict, encode
from .player import Alone, Player, Prospect
from .posterior import CurrentPosterior, model_curves
from .rounds import Rounds
from .trees import fit_trees

_NAN = math.nan
_FLOAT = np.dtype(np.float64)
_PACKED = (8,)  # the strides of one row of these without gaps


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
        #: Whether trees are fitted as soon as they are due; where false somebody else sees to that.
        self.fits_trees = True
        #: Whether it forgets by the time (``half_life="30d"``), and must be told it with every item.
        self.timed = self.learner.timed
        #: When it was told last, where it forgets by the time.
        self.now: float | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.n_features} features, {self.costs}, seed={self.seed}, {self.round} decisions made>"

    @property
    def policy(self) -> Policy:
        """The policy itself."""
        return self

    @property
    def posterior(self) -> CurrentPosterior:
        """What is believed of theta now: mean, covariance, scores and draws; OptionError from a policy without one."""
        return CurrentPosterior(self)

    def curves(self, features: FeatureMap) -> ModelCurves:
        """Return what each column of a map adds to the score over its values, with bands (docs/curves.md).

        Examples
        --------
        >>> import appletaste as at
        >>> features = at.Encoder(curves=True).fit({"age": [20, 30, 30, 70]})
        >>> policy = at.policy(n_features=4, costs=at.Costs(miss=5, false_alarm=1, hit=0), groups=features.groups)
        >>> age = policy.curves(features)["age"]
        >>> age.kind, age.typical, age.edges, age.seen
        ('number', 30.0, (15.0, 25.0, 50.0, 90.0), (1, 2, 1))
        """
        return model_curves(self.posterior, features)

    # ---- deciding

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
        acts = drawn_many(self._action_key, first, [verdict[0] for verdict in verdicts]).tolist()
        for x, (probability, why, chance, worth, _), act in zip(items, verdicts, acts, strict=True):
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
        act = drawn(self._action_key, round_, probability)
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
        act = drawn(self._action_key, round_, total)
        audit = act and floor > probability and not drawn(self._action_key, round_, probability)
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
        table, costs = check_items(items, self.n_features, self.slots), check_costs(costs, self.costs)
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

    # ---- learning

    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, now or later, in any order, once; a pass raises.

        So does a decision that this policy did not make: of a round to come, or about another item.
        """
        observation = Observation.of(decision, label)
        x, _, round_, _ = observation
        if type(x) is not np.ndarray or x.dtype is not _FLOAT or x.strides != _PACKED:
            observation = observation._replace(
                x=(x := check_item(x, self.n_features, self.slots))
            )  # stored and read back, say
        alone, rounds, learner = self.alone, self.rounds, self.learner
        before = alone.enter()
        try:
            if not rounds.awaits(round_, x):
                raise rounds.refusal(round_)
            late = learner.watches and not rounds.prompt(round_)
            if learner.watches and not late:
                learner.learn_prompt(observation)
            elif late and learner.in_order and rounds.in_order(round_):
                learner.learn_in_order(observation, self.round)
            else:
                learner.learn(observation)
            rounds.learnt(round_, learner.keeps_labels)
            if late and (whole := rounds.late(round_)) is not None:
                learner.weigh_late(*whole, self.round)
            if self.fits_trees and learner.due:
                fit_trees(learner)
        finally:
            alone.user = before

    def enact(self, decision: Decision, act: bool) -> None:
        """Take note that somebody acted, or passed, whatever the decision was: its label is due, or is not.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("never", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> decision = policy.decide([1.0])
        >>> policy.enact(decision, True)
        >>> policy.learn(decision._replace(act=True), 1)
        """
        item = check_item(decision.x, self.n_features, self.slots)
        with self.alone:
            self.rounds.enacted(decision.round, item, act)

    def reprice(self, costs: SomeCosts) -> None:
        """Let other costs be the usual ones from the next item on; what was learnt stays."""
        changed = usual_costs(costs)
        with self.alone:
            self.costs, self._charged = changed, (0.0, changed, changed)

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
        came = instant(time) if self.timed else None
        self._learn([Observation.given(check_item(x, self.n_features, self.slots), label, came)])

    def _learn(self, known: Iterable[Observation]) -> None:
        """Learn labels from elsewhere; trees are fitted to all of them at once."""
        with self.alone:
            for observation in known:
                self.learner.learn(observation)
                self.rounds.learnt(0, self.learner.keeps_labels)
            if self.fits_trees and self.learner.due:
                fit_trees(self.learner)

    def learn_history(self, items: ArrayLike, labels: Iterable[Any], times: Sequence[float] | None = None) -> History:
        """Start from a history, [n, features]; rows whose label is None, NaN or -1 are skipped, and counted.

        ``times`` are when the items came, in seconds, for policies that forget by the time; without them all came now.

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
        table = check_items(items, self.n_features, self.slots)
        known = known_labels(labels, len(table))
        came = [None] * len(table) if times is None or not self.timed else list(map(float, times))
        rows = zip(table, known, came, strict=True)
        self._learn(Observation.given(x, label, then) for x, label, then in rows if label is not None)
        return History.of(known)

    @property
    def keeps_labels(self) -> bool:
        """Whether labels are kept, so that one can be corrected or retracted."""
        return self.learner.keeps_labels

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
            self.rounds.revise(asked, self.learner, self.n_features)

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
        found = self.learner.certificate()
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
            return {**self.learner.arrays(), **self.rounds.arrays()}

    def restore(self, arrays: Arrays, round_: int, now: float | None) -> None:
        """Begin where another policy of the same settings is."""
        self.learner.restore(arrays)
        self.rounds.restore(arrays, round_)
        self.round, self.now = round_, now

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


def _saving(costs: Costs, chance: float) -> float:
    """Return what acting is expected to save now; 0: nobody knows the chance."""
    return 0.0 if chance != chance else costs.catch_gain * chance - costs.alarm_price * (1.0 - chance)
