"""A River classifier that predicts from a posterior, and an active learner that asks for a label when a policy acts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from ..costs import Costs, SomeCosts
from ..decision import Decision
from ..errors import InputError, MissingExtraError, OptionError
from ..features import Encoder, FeatureMap
from ..keys import Key
from ..policies import Method, Policy
from ..policies.items import usual_costs
from ..policies.registry import find

try:
    from river import base
    from river.active.base import ActiveLearningClassifier
except ImportError:
    raise MissingExtraError("a River classifier", "river") from None

#: Without costs a miss and a false alarm weigh the same: the threshold is one half.
EVEN = Costs(miss=1.0, false_alarm=1.0, hit=0.0)
#: How features are made when nobody says: columns settled by the first 64 labels, room for levels that come later.
ENCODER = Encoder(warm_up=64, spare=4)


class PolicyClassifier(base.Classifier):  # type: ignore[misc]
    """A policy of ``appletaste`` as an online classifier of dicts.

    ``predict_proba_one`` is the posterior predictive P(positive | x, data); ``predict_one`` says positive where it
    reaches the threshold of the costs. Before the first label it is one half.

    A posterior has a fixed number of features, a stream of dicts has not. So the map from dicts to vectors is fitted
    anew, and all labels are learnt again, after the labels 1, 2, 4, 8, ... up to the encoder's ``warm_up``; then it
    stays. A feature that the warm-up never had is ignored from there on, one that is not in a dict is missing (the
    mean, or a level of its own), and a new level of a category takes a ``spare`` column or is "other".

    Parameters
    ----------
    policy
        A name (``appletaste.policies()``), or settings: ``appletaste.policies.Bayesian(posterior, rule)``.
    costs
        None: a miss and a false alarm cost the same.
    encoder
        ``appletaste.Encoder``; None: ``Encoder(warm_up=64, spare=4)``.
    classes
        The negative label and the positive one, the one that acting is for.
    seed
        Of the policy.

    Examples
    --------
    >>> from appletaste.adapters.river import PolicyClassifier
    >>> model = PolicyClassifier()
    >>> for k in range(100):
    ...     model.learn_one({"amount": k % 10, "country": "AT" if k % 2 else "DE"}, k % 10 > 6)
    >>> model.predict_one({"amount": 9, "country": "AT"}), model.predict_one({"amount": 2, "country": "FR"})
    (True, False)
    """

    def __init__(
        self,
        policy: str | Method = "voi",
        costs: SomeCosts | None = None,
        encoder: Encoder | None = None,
        classes: tuple[Hashable, Hashable] = (False, True),
        seed: int = 0,
    ) -> None:
        self.policy = policy
        self.costs = costs
        self.encoder = encoder
        self.classes = classes
        self.seed = seed
        if len(classes) != 2 or classes[0] == classes[1]:
            raise OptionError(f"classes must be two different labels, (negative, positive), got {classes!r}")
        self._labelled: list[tuple[dict[str, Any], int]] = []  # until the warm-up is over
        self._n_labels = 0
        self._features: FeatureMap | None = None
        self._policy: Policy | None = None

    @property
    def features(self) -> FeatureMap | None:
        """The map from dicts to vectors; None before the first label."""
        return self._features

    @property
    def carried(self) -> Policy | None:
        """The policy with all that it has learnt; None before the first label."""
        return self._policy

    @property
    def _sheet(self) -> Costs:
        return EVEN if self.costs is None else usual_costs(self.costs)

    def learn_one(self, x: Mapping[Any, Any], y: Hashable) -> None:
        """Learn a label, whoever asked for it."""
        if y not in self.classes:
            raise InputError(f"a label is one of {self.classes!r}, got {y!r}; name both labels with classes=(...)")
        label = int(y == self.classes[1])
        n, warm_up = self._n_labels + 1, (self.encoder or ENCODER).warm_up
        if n <= warm_up and (n == warm_up or n & (n - 1) == 0):
            self._restart([*self._labelled, (_named(x), label)])
        else:
            self._learn(x, label)
        self._n_labels = n  # what was refused above has left nothing behind
        if n < warm_up:
            self._labelled.append((_named(x), label))
        else:
            self._labelled.clear()

    def predict_proba_one(self, x: Mapping[Any, Any], **kwargs: Any) -> dict[Hashable, float]:
        """Return P(label | x, data) of both labels."""
        chance = self.chance(x)
        return {self.classes[0]: 1.0 - chance, self.classes[1]: chance}

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> Hashable:
        """Return the positive label where its chance reaches the threshold of the costs, else the other."""
        return self.classes[int(self.chance(x) >= self._sheet.threshold)]

    def chance(self, x: Mapping[Any, Any]) -> float:
        """Return P(positive | x, data); asking changes nothing."""
        return 0.5 if self._policy is None else self._policy.chance(self._vector(x, update=False))

    def decide(self, x: Mapping[Any, Any]) -> Decision:
        """Let the policy act on an item or pass it; before the first label the policy always acts."""
        if self._policy is None:
            return Decision(True, 1.0, np.zeros(0), self._sheet, 0, {})
        return self._policy.decide(self._vector(x, update=False))

    def _learn(self, x: Mapping[Any, Any], label: int) -> None:
        assert self._policy is not None
        vector = self._vector(x, update=True)
        self._policy.teach(vector, label)

    def _vector(self, x: Mapping[Any, Any], update: bool) -> Any:
        """Return the vector of a dict; one without any known feature is missing in all of them."""
        assert self._features is not None
        given = _named(x)
        return self._features.transform({c.name: given.get(c.name) for c in self._features.columns}, update)

    def _restart(self, labelled: list[tuple[dict[str, Any], int]]) -> None:
        """Fit the map to the dicts of the labels so far, and learn the labels again."""
        # In order of their names: in which order a dict has its features must not matter.
        columns = sorted({name for x, _ in labelled for name in x})
        rows = {name: [x.get(name) for x, _ in labelled] for name in columns} or {"nothing": [None]}
        features = (self.encoder or ENCODER).fit(rows)
        # A seed of its own, so that no later round draws its action from a uniform that an earlier one had.
        policy = self._made(features.n_features, int(Key(self.seed).at(len(labelled)).word()))
        self._features, self._policy = features, policy
        for x, label in labelled:
            self._learn(x, label)

    def _made(self, n_features: int, seed: int) -> Policy:
        name, method = None, self.policy
        if isinstance(method, str):
            name, method = method, find(method).build()
        policy = Policy(method, n_features=n_features, costs=self._sheet, seed=seed, name=name)
        if np.isnan(policy.chance(np.zeros(n_features))):
            raise OptionError(f"{policy.name} has no model of the labels, so it cannot classify; use 'voi'")
        return policy


class ActOrPass(ActiveLearningClassifier):  # type: ignore[misc]
    """An active learner for River that asks for a label when a policy acts: ``predict_one(x)`` returns (label, ask).

    One-sided feedback is learning with a choice of labels in which the choice is the action itself. ``ask`` is drawn
    with exactly the probability that ``decision`` records, for a log. Call ``learn_one`` only where ``ask`` is true.

    Examples
    --------
    >>> from appletaste import Costs
    >>> from appletaste.adapters.river import ActOrPass, PolicyClassifier
    >>> model, asked = ActOrPass(PolicyClassifier(costs=Costs(miss=5, false_alarm=1, hit=0))), 0
    >>> for k in range(1000):
    ...     x = {"amount": k % 10}
    ...     y_pred, ask = model.predict_one(x)
    ...     if ask:
    ...         asked += 1
    ...         model.learn_one(x, k % 10 > 7)
    >>> asked < 500, model.predict_one({"amount": 9})
    (True, (True, True))
    """

    def __init__(self, classifier: PolicyClassifier) -> None:
        super().__init__(classifier, seed=0)  # no randomness here: it is the policy's
        if not isinstance(classifier, PolicyClassifier):
            raise OptionError(
                f"ActOrPass takes a PolicyClassifier, got {type(classifier).__name__}; "
                "put transformers before it: scaler | ActOrPass(PolicyClassifier())"
            )
        #: The last decision.
        self.decision: Decision | None = None

    def predict_one(self, x: Mapping[Any, Any], **kwargs: Any) -> tuple[Hashable, bool]:
        """Return the label predicted under the costs, and whether to act and see the true one."""
        return self.classifier.predict_one(x, **kwargs), self._ask_for_label(x, None)

    def learn_one(self, x: Mapping[Any, Any], y: Hashable, **kwargs: Any) -> None:
        """Learn the label that acting showed."""
        self.classifier.learn_one(x, y, **kwargs)

    def _ask_for_label(self, x: Mapping[Any, Any], y_pred: Any) -> bool:
        self.decision = self.classifier.decide(x)
        return self.decision.act

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"classifier": PolicyClassifier()}


def _named(x: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a record whose columns have names, as River's features may be numbers."""
    if not isinstance(x, Mapping):
        raise InputError(f"River's features are a dict, got {type(x).__name__}")
    found = {str(name): value for name, value in x.items()}
    if len(found) < len(x):
        names = list(map(str, x))
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two features are called {twice!r}, once they are texts: give each a name of its own")
    return found
