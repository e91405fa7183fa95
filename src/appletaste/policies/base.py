"""The policy that people use: decide, learn, save. How it decides is a ``Method``; what it carries, a ``Learner``."""

from __future__ import annotations

import math
from os import PathLike
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from ..costs import Costs
from ..decision import Decision, Decisions, Observation
from ..errors import InputError, OptionError
from ..kernels.linear import first_unusable
from ..kernels.random import uniform_at, uniforms_at
from ..keys import Key
from ..posteriors import Arrays, Certificate, Vector
from ..rules import Verdict
from .saving import save

if TYPE_CHECKING:
    from ..features import FeatureMap

__all__ = ["Arrays", "Learner", "Method", "Policy", "Vector", "Verdict"]


class Learner(Protocol):
    """What one policy carries from item to item."""

    def judge(self, x: Vector, costs: Costs, round_: int) -> Verdict:
        """Return the probability of acting on x in a round, and why; asking changes nothing that is carried."""

    def commit(self, round_: int, act: bool) -> None:
        """Carry on to the next round, after the one that was judged last and what was done in it."""

    def learn(self, observation: Observation) -> None:
        """Take in one label."""

    def arrays(self) -> Arrays:
        """Return all that is carried, for saving."""

    def restore(self, arrays: Arrays) -> None:
        """Take back what ``arrays`` returned."""


class Method(Protocol):
    """A way to decide and its settings: a frozen dataclass."""

    def start(self, n_features: int, key: Key) -> Learner:
        """Return the learner before the first item."""


class Policy:
    """Decides, one item at a time, whether to act or to pass, and learns from the labels that acting shows.

    Made by ``appletaste.policy``. A decision depends only on the seed, the decisions before it and the labels
    learnt before it, in the order they were learnt. A label learnt twice counts twice. One policy is for one thread.

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

    def __repr__(self) -> str:
        return f"<{self.name}: {self.n_features} features, {self.costs}, seed={self.seed}, {self.round} decisions made>"

    def decide(self, x: ArrayLike, costs: Costs | None = None) -> Decision:
        """Decide on one item; ``costs`` are those of this item alone.

        The action is drawn with exactly the probability that the decision records.
        """
        item, costs = self._check(x), self._costs_of(costs)
        round_ = self.round + 1
        probability, why = self._learner.judge(item, costs, round_)
        act = bool(uniform_at(self._action_key, round_) < probability)
        self._learner.commit(round_, act)
        self.round = round_
        return Decision(act, probability, item, costs, round_, why)

    def decide_many(self, items: ArrayLike, costs: Costs | None = None) -> Decisions:
        """Decide on many items at once, [n, features]; the same as one by one with no label learnt in between.

        With a Gaussian posterior (``Laplace``, ``Adf``) that is one pass of compiled code on all cores.
        """
        table, costs = self._check_many(items), self._costs_of(costs)
        first, key = self.round + 1, self._action_key
        judge_many = getattr(self._learner, "judge_many", None)
        probabilities = judge_many(table, costs, first, key) if judge_many and len(table) else None
        if probabilities is None:
            decisions = [self.decide(x, costs) for x in table]
            acts, probabilities = [d.act for d in decisions], np.array([d.probability for d in decisions])
            whys = tuple(d.why for d in decisions)
            return Decisions(np.array(acts, dtype=bool), probabilities, table, costs, first, whys)
        self.round += len(table)
        return Decisions(uniforms_at(key, first, len(table)) < probabilities, probabilities, table, costs, first)

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

    def probability(self, x: ArrayLike, costs: Costs | None = None) -> float:
        """Return the probability with which ``decide`` would act on x now; asking changes nothing."""
        return self._learner.judge(self._check(x), self._costs_of(costs), self.round + 1)[0]

    def learn(self, decision: Decision, label: int) -> None:
        """Learn the label of an acted-on item, now or later, in any order; a pass raises."""
        observation = Observation(decision, label)
        x = decision.x
        if (
            type(x) is not np.ndarray
            or x.dtype != np.float64
            or x.shape != (self.n_features,)
            or first_unusable(x) >= 0
        ):
            observation = Observation(decision._replace(x=self._check(x)), label)  # stored and read back, say
        self._learner.learn(observation)

    def save(self, path: str | PathLike[str], features: FeatureMap | None = None) -> None:
        """Write everything that is carried to a file; ``appletaste.load`` continues bit for bit.

        The map that makes the vectors can be kept in the same file; ``FeatureMap.load`` reads it from there.
        """
        save(self, path, features)

    def _costs_of(self, costs: Costs | None) -> Costs:
        """Return the costs of this item: those given, or the stream's."""
        if costs is None:
            return self.costs
        if not isinstance(costs, Costs):
            raise InputError(f"costs must be an appletaste.Costs, got {type(costs).__name__}")
        return costs

    def _check_many(self, items: ArrayLike) -> Vector:
        """Return items as a fresh float64 matrix, or say what is wrong with them."""
        try:
            table = np.array(items, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise InputError(f"items must be rows of {self.n_features} numbers") from None
        if table.ndim != 2 or table.shape[1] != self.n_features:
            raise InputError(f"items must have shape (n, {self.n_features}), got {table.shape}")
        bad = first_unusable(table.reshape(-1))
        if bad >= 0:
            row, column = divmod(bad, self.n_features)
            raise InputError(
                f"feature {column} of item {row} is {table[row, column]}: features must be finite and below 1e100"
            )
        return table

    def _check(self, x: ArrayLike) -> Vector:
        """Return x as a fresh float64 vector, or say what is wrong with it."""
        try:
            item = np.array(x, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(f"an item must be {self.n_features} numbers, got {x!r}") from None
        if item.shape != (self.n_features,):
            raise InputError(f"an item must have shape ({self.n_features},), got {item.shape}")
        bad = first_unusable(item)
        if bad >= 0:
            raise InputError(f"feature {bad} is {item[bad]}: features must be finite and below 1e100 in size")
        return item
