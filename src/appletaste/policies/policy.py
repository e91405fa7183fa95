"""The policy that people use: decide, learn, save. How it decides is a ``Method``; what it carries, a ``Learner``."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from .._sparse import SparseRows
from ..costs import Costs
from ..decision import Decision, Decisions, Observation
from ..errors import InputError, OptionError
from ..kernels.random import uniform_at
from ..keys import Key
from ..posteriors import Certificate
from .batch import decide_batch
from .capacity import decide_within
from .history import History, learn_history
from .items import check_costs, check_item, check_items, is_item
from .learner import Arrays, Learner, Method
from .moments import advance, glimpse
from .posterior import CurrentPosterior
from .prospects import Prospect, look
from .revising import revise
from .saving import save

if TYPE_CHECKING:
    from ..features import FeatureMap


class Policy:
    """Decides, one item at a time, whether to act or to pass, and learns from the labels that acting shows.

    Made by ``appletaste.policy``. A decision depends only on the seed, the decisions before it and the labels
    learnt before it, in the order they were learnt, and on times if it forgets by them. A label learnt twice counts
    twice. One policy is for one thread.

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
        self, method: Method, *, n_features: int, costs: Costs, seed: int = 0, name: str | None = None
    ) -> None:
        if isinstance(n_features, bool) or not isinstance(n_features, int | np.integer) or n_features < 1:
            raise InputError(f"n_features must be a whole number >= 1, got {n_features!r}")
        if not isinstance(costs, Costs):
            raise InputError(f"costs must be an appletaste.Costs, got {type(costs).__name__}")
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
        self._keeps_labels = bool(getattr(self._learner, "keeps_labels", False))
        #: Whether it forgets by the time (``half_life="30d"``), and must be told it with every item.
        self.timed = bool(getattr(self._learner, "timed", False))
        #: When it was told last, where it forgets by the time.
        self.now: float | None = None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.n_features} features, {self.costs}, seed={self.seed}, {self.round} decisions made>"

    @property
    def learner(self) -> Learner:
        """What is carried from item to item."""
        return self._learner

    @property
    def posterior(self) -> CurrentPosterior:
        """What is believed of theta now: mean, covariance, scores and draws; OptionError from a policy without one."""
        return CurrentPosterior(self)

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
        rounds = array("q", self._rounds)
        carried = {"learnt": self._learner.arrays(), "rounds": rounds, "round_": self.round, "now": self.now}
        return {"made": made, "carried": carried}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Continue from what ``__getstate__`` returned."""
        Policy.__init__(self, **state["made"])
        self._take(**state["carried"])

    def decide(self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None) -> Decision:
        """Decide on one item, with exactly the probability that is recorded; ``costs`` are of this item alone.

        ``time`` is for policies that forget by it.
        """
        item = check_item(x, self.n_features)
        costs = self.costs if costs is None else check_costs(costs, self.costs)
        if time is not None or self.timed:
            self.advance(time)
        round_ = self.round + 1
        probability, why = self._learner.judge(item, costs, round_)
        act = bool(uniform_at(self._action_key, round_) < probability)
        self._learner.commit(round_, act)
        self.round = round_
        return Decision(act, probability, item, costs, round_, why, False, self.now)

    def decide_many(
        self, items: ArrayLike, costs: Costs | None = None, *, capacity: int | None = None, time: Any = None
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
        self.advance(time)
        if capacity is not None:
            return decide_within(self, table.dense() if isinstance(table, SparseRows) else table, costs, capacity)
        return decide_batch(self, table, costs, self._action_key, time)

    def certificate(self) -> Certificate:
        """Return how far an approximate posterior is from the exact one on this stream (posterior ``Laplace``).

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> for x in (0.5, -1.0, 2.0):
        ...     policy.learn(policy.decide([x])._replace(act=True), label=int(x > 0))
        >>> policy.certificate().acceptance > 0.5
        True
        """
        certificate = getattr(self._learner, "certificate", None)
        if certificate is None:
            raise OptionError(f"{self.name} has no approximate posterior to certify")
        return cast(Certificate, certificate())

    def look(self, x: ArrayLike, costs: Costs | None = None, price: float = 0.0) -> Prospect:
        """Return what is known of an item before it is decided, if acting costs ``price`` more; changes nothing."""
        return look(self, check_item(x, self.n_features), check_costs(costs, self.costs), price)

    def settle(self, prospect: Prospect, probability: float, floor: float = 0.0) -> Decision:
        """Decide on the item that was looked at last, with a probability of one's own and, by an audit lane, a floor.

        The action is drawn with max(probability, floor), from the uniform of the round; an act that only the floor
        made is an audit.
        """
        round_, uniform = self.round + 1, uniform_at(self._action_key, self.round + 1)
        total = max(probability, floor)
        act = bool(uniform < total)
        self._learner.commit(round_, act)
        self.round = round_
        audit = act and not uniform < probability
        return Decision(act, total, prospect.x, prospect.costs, round_, prospect.why, audit, self.now)

    def probability(self, x: ArrayLike, costs: Costs | None = None, *, time: Any = None) -> float:
        """Return the probability with which ``decide`` would act on x now, or at a time; asking changes nothing."""
        item, costs = check_item(x, self.n_features), check_costs(costs, self.costs)
        with glimpse(self, time):
            return self._learner.judge(item, costs, self.round + 1)[0]

    def advance(self, time: Any) -> None:
        """Say what time it is: a policy that forgets by the time does so up to then; others take no notice."""
        self.now = advance(self, time)

    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, now or later, in any order; a pass raises."""
        observation = Observation(decision, label)
        if not is_item(decision.x, self.n_features):  # stored and read back, say
            observation = Observation(decision._replace(x=check_item(decision.x, self.n_features)), label)
        self._learner.learn(observation)
        if self._keeps_labels:
            self._rounds.append(decision.round)

    def learn_history(self, items: ArrayLike, labels: Iterable[Any]) -> History:
        """Start from a history, [n, features]; rows whose label is None, NaN or -1 are skipped, and counted.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> print(policy.learn_history([[1.0], [2.0], [-1.0]], [1, None, 0]))
        2 labels learnt (1 positive), 1 rows without a label skipped
        """
        return learn_history(self, items, labels)

    def correct(self, decision: Decision, label: int) -> None:
        """Replace the label learnt for a decision: the posterior is the one that the right label would have given.

        All stored labels are learnt again, in their order; a posterior that keeps none (``Adf``) refuses.

        Examples
        --------
        >>> import appletaste as at
        >>> policy = at.policy("voi", n_features=1, costs=at.Costs(miss=1, false_alarm=0.4, hit=0.05))
        >>> decision = policy.decide([1.0])
        >>> policy.learn(decision, 0)
        >>> before = policy.chance([1.0])
        >>> policy.correct(decision, 1)
        >>> policy.chance([1.0]) > before
        True
        """
        revise(self, [(decision, label)])

    def retract(self, decision: Decision) -> None:
        """Take out the label learnt for a decision, as if it had never come."""
        revise(self, [(decision, None)])

    def revise(self, changes: Iterable[tuple[Decision, int | None]]) -> None:
        """Correct (or, with None, retract) many labels at the price of one: all labels are learnt again once."""
        revise(self, changes)

    def chance(self, x: ArrayLike) -> float:
        """Return the model's P(positive) of an item; NaN from a policy without a model."""
        return self.look(x).chance

    def save(self, path: str | PathLike[str], features: FeatureMap | None = None) -> None:
        """Write everything that is carried to a file; ``appletaste.load`` continues bit for bit.

        The map that makes the vectors can be kept in the same file; ``FeatureMap.load`` reads it from there.
        """
        save(self, path, features)

    def _take(self, learnt: Arrays, rounds: Iterable[int], round_: int, now: float | None) -> None:
        """Begin where another policy of the same settings is."""
        self._learner.restore(learnt)
        self._rounds, self.round, self.now = array("q", rounds), round_, now
