"""A tree model as one more feature: refitted on the labels seen, beside the curves, with a weight that is learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._checks import whole
from ..errors import InputError, MissingExtraError, OptionError
from ..features.numbers import OPEN
from ..keys import Key
from ..policies import Bayesian, Player, Policy
from ..policies.learner import Added, Arrays
from ..policies.registry import SETTINGS
from ..policies.widening import Extra, Widened
from ..posteriors import Belief, Laplace, Vector
from ..streams.staffing import Setting, awaiting

try:
    from sklearn.base import clone
    from sklearn.ensemble import HistGradientBoostingClassifier
except ImportError:
    raise MissingExtraError("a stacked score (scikit-learn 1.6 or newer)", "sklearn") from None

#: Where the log-odds of a model end, and by what they are divided: a usual score is then about 1 in size.
END, UNIT = 5.0, 2.5
#: Labels of the rarer kind without which no model is fitted.
RARE = 10


@dataclass(frozen=True)
class StackedScore:
    """Refit a scikit-learn classifier at 250, 500, 1,000, … labels, and take its log-odds as a feature.

    The feature is g = clip(log-odds, -5, 5) / 2.5, with a weight N(0, tau^2) whose scale is learnt like that of a pair
    (docs/curves.md). Labels that the model was fitted on are learnt with the values of models that were fitted without
    them, in ``folds`` folds, so that the weight is what the model is worth on items it has not seen. The model learns
    from labels that were seen, and from nothing else. A prediction takes about a millisecond, and a refit a second or
    more; ``voi`` by itself decides in microseconds.

    Call it with a policy that has made no decision, or give it to ``replay`` as ``wrap``.

    Parameters
    ----------
    estimator
        A classifier with ``predict_proba``; None: ``HistGradientBoostingClassifier``, 100 shallow trees. Its
        ``random_state``, where it has one and it is None, follows from the seed of the policy.
    folds
        How many models are fitted for the values of labelled items.

    Saving. A file holds no model, since a pickle can run anything when it is opened. It holds the labels, and the model
    is fitted on them again when the file is read; import this module before. With an ``estimator`` of one's own a
    policy is not saved, and says so.

    Examples
    --------
    >>> import appletaste as at
    >>> from appletaste.adapters.sklearn import StackedScore
    >>> policy = StackedScore()(at.policy(n_features=2, costs=at.Costs(miss=5, false_alarm=1, hit=0)))
    >>> decision = policy.decide([1.0, 0.3])
    """

    estimator: Any = None
    folds: int = 5

    def __post_init__(self) -> None:
        object.__setattr__(self, "folds", whole("folds", self.folds, least=2))
        if self.estimator is not None and not hasattr(self.estimator, "predict_proba"):
            raise OptionError(
                f"a stacked score needs a classifier with predict_proba, got {type(self.estimator).__name__}"
            )

    def __call__(self, policy: Policy, setting: Setting | None = None) -> Player:
        """Return a policy that decides as this one, with the model's score beside its features.

        Labels that the policy was taught go with it. In a replay ``setting`` says whether labels arrive late.
        """
        method = policy.method
        if not isinstance(method, Bayesian) or not isinstance(method.posterior, Laplace):
            raise OptionError(
                f"{policy.name} cannot take a stacked score: its posterior is not Laplace, or it looks for pairs; "
                "policies that can are voi, ids and ts"
            )
        if policy.round:
            raise InputError(
                f"{policy.name} has decided on {policy.round} items: a stacked score begins with the first"
            )
        stacked = Policy(
            Widened(method.posterior, method.rule, self),
            n_features=policy.n_features,
            costs=policy.costs,
            seed=policy.seed,
            name=policy.name,
        )
        belief = policy.learner.belief
        if belief is not None and belief.labels is not None:
            for x, label in zip(*belief.labels.revised({}), strict=True):
                stacked.teach(x, int(label))
        return stacked if setting is None else awaiting(stacked, setting)

    def start(self, groups: tuple[int, ...], key: Key) -> TreeScore:
        """Return the score before the first label: none. Trees bend by themselves, so the model meets no ramps."""
        straight = [place for place, group in enumerate(groups) if group == 0]
        score = [place for place, group in enumerate(groups) if group == OPEN][:1]
        return TreeScore(self, key.at("stacked score"), np.array(sorted(straight + score), dtype=np.intp))

    def model(self, key: Key) -> Any:
        """Return a fresh classifier."""
        if self.estimator is None:
            return HistGradientBoostingClassifier(max_leaf_nodes=8, learning_rate=0.08, random_state=_seed(key))
        fresh = clone(self.estimator)
        if "random_state" in fresh.get_params() and fresh.get_params()["random_state"] is None:
            fresh.set_params(random_state=_seed(key))
        return fresh


class TreeScore(Extra):
    """One feature, the score of a model that was fitted on the first labels; none before that."""

    def __init__(
        self, settings: StackedScore, key: Key, places: NDArray[np.intp], fitted: int = 0, model: Any = None
    ) -> None:
        self._settings, self._key, self._places, self._fitted, self._model = settings, key, places, fitted, model
        self._held: NDArray[np.float64] | None = None
        self._last: tuple[bytes, Vector] | None = None  # a label is often learnt right after its decision
        if model is not None:
            self.keys, self.groups = ("stacked score",), (OPEN + 1,)

    def of(self, items: Vector) -> Vector:
        """Return the score of items."""
        name = items.tobytes() if len(items) == 1 else b""
        if self._last is not None and name and self._last[0] == name:
            return self._last[1]
        found = _score(self._model, items[:, self._places])
        if name:
            self._last = name, found
        return found

    def of_labelled(self, items: Vector) -> Vector:
        """Return the scores that models gave which had not seen the labels of these items."""
        assert self._held is not None
        return self._held

    def search(self, items: Vector, labels: Vector, belief: Belief) -> TreeScore | None:
        """Return the score of a model that was fitted on all labels seen; None: of one kind there are too few."""
        positives = int(labels.sum())
        if min(positives, len(labels) - positives) < max(RARE, self._settings.folds):
            return None
        key = self._key.at(len(labels))
        found = self._refitted(items, labels)
        held, fold, straight = np.empty((len(items), 1)), self._folds(labels, key), items[:, self._places]
        for k in range(self._settings.folds):
            out = fold == k
            model = self._settings.model(key.at("fold", k)).fit(straight[~out], labels[~out])
            held[out] = _score(model, straight[out])
        found._held = held
        return found

    def _refitted(self, items: Vector, labels: Vector) -> TreeScore:
        model = self._settings.model(self._key.at(len(labels), "all")).fit(items[:, self._places], labels)
        return TreeScore(self._settings, self._key, self._places, len(labels), model)

    def _folds(self, labels: Vector, key: Key) -> NDArray[np.intp]:
        """Return the fold of each label, with as many positives in each as there can be."""
        draws, fold = key.at("folds").generator(), np.empty(len(labels), dtype=np.intp)
        for kind in (0.0, 1.0):
            mine = draws.permutation(np.flatnonzero(labels == kind))
            fold[mine] = np.arange(len(mine)) % self._settings.folds
        return fold

    def added(self, first: int) -> tuple[Added, ...]:
        """Return the score as one part."""
        return (Added(np.array([first]), (), "stacked score"),) if self.keys else ()

    def arrays(self) -> Arrays:
        """Return how many labels the model was fitted on: with the labels, all that there is to know."""
        return {"fitted": np.array(self._fitted)}

    def restored(self, arrays: Arrays, items: Vector, labels: Vector) -> TreeScore:
        """Return the score of the model, fitted again."""
        n = int(arrays["fitted"])
        return self._refitted(items[:n], labels[:n]) if n else TreeScore(self._settings, self._key, self._places)


def _score(model: Any, items: Vector) -> Vector:
    """Return the log-odds of the positive class, held and in units."""
    chances = np.clip(np.asarray(model.predict_proba(items), dtype=np.float64)[:, [-1]], 1e-9, 1.0 - 1e-9)
    return np.asarray(np.clip(np.log(chances) - np.log1p(-chances), -END, END) / UNIT)


def _seed(key: Key) -> int:
    return int(key.word()) % 2**31


SETTINGS[StackedScore.__name__] = StackedScore
