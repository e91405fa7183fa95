"""The policy that people use: decide, learn, save. How it decides is a ``Method``; what it carries, a ``Learner``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..costs import SomeCosts
from ..decision import Decision, Decisions, Observation, check_label
from ..errors import OptionError
from ..features import FeatureMap
from ..features.column_curves import ModelCurves
from ..posteriors import Certificate
from ..times import instant
from .batches import decide_batch, decide_within
from .items import History, check_costs, check_item, check_items, known_labels, usual_costs
from .learner import Arrays
from .playing import Playing
from .posterior import CurrentPosterior, model_curves
from .settings import encode

_FLOAT = np.dtype(np.float64)
_PACKED = (8,)  # the strides of one row of these without gaps


class Policy(Playing):
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
            learner.learn(observation)
            rounds.learnt(round_, learner.keeps_labels)
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
        self._learn(
            Observation.given(check_item(x, self.n_features, self.slots), label, instant(time) if self.timed else None)
        )

    def _learn(self, observation: Observation) -> None:
        with self.alone:
            self.learner.learn(observation)
            self.rounds.learnt(0, self.learner.keeps_labels)

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
        table = check_items(items, self.n_features, self.slots)
        known = known_labels(labels, len(table))
        for x, label in zip(table, known, strict=True):
            if label is not None:
                self._learn(Observation.given(x, label))
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
