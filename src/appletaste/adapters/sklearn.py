"""A scikit-learn classifier whose probabilities are those of a posterior, not of one fitted theta."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._checks import whole
from ..costs import Costs
from ..errors import CostsError, InputError, MissingExtraError, OptionError, PositiveClassWarning
from ..keys import Key
from ..policies.items import check_dense, usual_costs
from ..policies.recipes import as_prior, laplace
from ..posteriors import Adf, Exact, Gibbs, Posterior, Vector
from ..tables.label_column import PAIRS

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError("a scikit-learn classifier (scikit-learn 1.6 or newer)", "sklearn") from None

__all__ = ["PosteriorClassifier"]

#: Posteriors by name; each takes a prior, which is None where nobody has chosen one.
POSTERIORS: dict[str, Any] = {
    "laplace": lambda prior: laplace(skew=True, adaptive=None, prior=prior, half_life=None),
    "exact": lambda prior: Exact(prior=as_prior(prior)),
    "gibbs": lambda prior: Gibbs(prior=as_prior(prior)),
    "adf": lambda prior: Adf(as_prior(prior)),
}
#: How scikit-learn writes a setting of the setting ``costs``.
COST = "costs__"
#: Rows that are made dense at a time.
BLOCK = 1024
#: P(positive) does not depend on the costs, but an outlook is asked with some.
EVEN = Costs(miss=1.0, false_alarm=1.0, hit=0.0)


class PosteriorClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian logistic regression for two classes, one of which is the positive one.

    ``predict_proba`` is the posterior predictive P(positive | x, data) = E sigma(x'theta), the expectation over the
    posterior of theta (Bishop 2006, section 4.5), so that an item unlike any seen is nearer to a half than a fitted
    theta would have it. ``decision_function`` is its log-odds less those of the threshold; ``predict`` is its sign.

    Parameters
    ----------
    posterior
        "laplace", "exact", "gibbs" or "adf", or settings from ``appletaste.posteriors``: ``Laplace(...)``,
        ``Exact(...)`` ...
    costs
        ``appletaste.Costs``, or a dict of outcomes, whose threshold ``predict`` uses; None: one half. A search may
        set one of them: ``{"costs__miss": [5, 10, 20]}``.
    pos_label
        The positive class, which costs are about; None: the second in sorted order. With costs and classes that are
        texts which do not say so by themselves (no/yes, false/true) that is a warning.
    prior
        Of a posterior that is given by name: ``appletaste.posteriors.Gaussian``, or a variance; None: N(0, I), its
        scale learnt by "laplace".
    fit_intercept
        Whether a last feature that is always 1 is added.
    draws
        How many draws of theta a posterior that is made of draws ("exact", "gibbs") predicts with. They are made at the
        end of ``fit`` and of ``partial_fit``, after half as many that are thrown away.
    random_state
        Of the draws.

    ``coef_`` and ``intercept_`` are the posterior mean of theta, in favour of ``classes_[1]`` as scikit-learn has them.
    They say which way a feature pulls; ``predict_proba`` does not follow from them alone.

    Examples
    --------
    >>> from appletaste.adapters.sklearn import PosteriorClassifier
    >>> model = PosteriorClassifier().fit([[-2.0], [-1.0], [1.0], [2.0]], ["good", "good", "bad", "bad"])
    >>> model.classes_.tolist(), model.predict([[-1.5], [1.5]]).tolist()
    (['bad', 'good'], ['good', 'bad'])
    >>> model.predict_proba([[0.0]]).round(2).tolist()
    [[0.5, 0.5]]
    """

    def __init__(
        self,
        posterior: str | Posterior = "laplace",
        *,
        costs: Costs | Mapping[str, float] | None = None,
        pos_label: Any = None,
        prior: Any = None,
        fit_intercept: bool = True,
        draws: int = 1000,
        random_state: Any = 0,
    ) -> None:
        self.posterior = posterior
        self.costs = costs
        self.pos_label = pos_label
        self.prior = prior
        self.fit_intercept = fit_intercept
        self.draws = draws
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the settings; with ``deep`` each of the costs, too, as ``costs__miss`` and so on."""
        found: dict[str, Any] = super().get_params(deep=deep)
        if deep and self.costs is not None:
            with suppress(CostsError):  # scikit-learn wants wrong settings to be refused by fit, and not before
                found |= {COST + name: cost for name, cost in Costs.of(self.costs).outcomes().items()}
        return found

    def set_params(self, **params: Any) -> Self:
        """Change settings; ``costs__miss`` changes one of the costs, which must be there."""
        changed = {name.removeprefix(COST): params.pop(name) for name in list(params) if name.startswith(COST)}
        super().set_params(**params)
        if changed:
            if self.costs is None:
                raise OptionError(
                    f"there are no costs to change {', '.join(changed)} of: give all of them first, costs="
                )
            self.costs = Costs.of({**Costs.of(self.costs).outcomes(), **changed})
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget all labels and learn these; a label of weight 3 is learnt three times, one of weight 0 is not.

        The order of the rows makes no difference: labels are learnt in an order that follows from the rows themselves.
        """
        X, y = self._checked(X, y, first=True)
        times = self._times(X, sample_weight)
        classes = np.unique(y[times > 0])
        if len(classes) < 2:
            raise InputError(
                f"fit needs labels of both classes, got one class, {classes[0]!r}; "
                "partial_fit(X, y, classes=[...]) learns from one"
            )
        self._begin(classes)
        order = self._order(X, y)
        return self._learn(X[order], y[order], times[order])

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn these labels too, as they come, each as often as its weight says; the first call needs ``classes``."""
        first = not hasattr(self, "belief_")
        X, y = self._checked(X, y, first)
        times = self._times(X, sample_weight)
        if first:
            if classes is None:
                raise InputError("the first call of partial_fit needs classes=[...], both labels that can occur")
            known = np.unique(classes)
            if len(known) != 2:
                raise InputError(f"Only binary classification is supported: two classes, got {len(known)}")
            self._begin(known)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise InputError(f"classes were {self.classes_.tolist()} before, got {np.unique(classes).tolist()}")
        return self._learn(X, y, times)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(class | x, data), one column for each of ``classes_``."""
        chances = self._chances(X)
        return np.column_stack([1.0 - chances, chances] if self.positive_ else [chances, 1.0 - chances])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds above those of the threshold, 0 where acting begins to pay, in favour of ``classes_[1]``.

        With the first class as the positive one that is minus the log-odds of the positive class.
        """
        margin = self._margin(X)
        return margin if self.positive_ else -margin

    def _margin(self, X: Any) -> NDArray[np.float64]:
        """Return the log-odds of the positive class above those of the threshold."""
        chances = np.clip(self._chances(X), 1e-300, 1.0 - 1e-16)
        cut = 0.0 if self.costs is None else Costs.of(self.costs).score_threshold
        return np.asarray(np.log(chances) - np.log1p(-chances) - cut)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the positive class where its chance reaches the threshold of the costs, else the other."""
        acting = self._margin(X) >= 0.0
        return np.asarray(self.classes_[np.where(acting, self.positive_, 1 - self.positive_)])

    def _checked(self, X: Any, y: Any, first: bool) -> tuple[Any, NDArray[Any]]:
        X, y = validate_data(self, X, y, reset=first, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        kind = type_of_target(y, input_name="y", raise_unknown=True)
        if kind != "binary":
            raise InputError(f"Only binary classification is supported. The type of the target is {kind}.")
        return X, y

    def _times(self, X: Any, sample_weight: Any) -> NDArray[np.intp]:
        """Return how often each label is learnt. A likelihood to a whole power is that of so many labels, exactly."""
        if sample_weight is None:
            return np.ones(X.shape[0], dtype=np.intp)
        weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        if not weights.any():
            raise InputError("every sample_weight is 0: nothing is left to learn from")
        broken = np.flatnonzero(weights != np.floor(weights))
        if len(broken):
            raise InputError(
                f"sample_weight is how often a label counts, a whole number, got {weights[broken[0]]:g} in row "
                f"{broken[0]}: multiply all weights by a number that makes them whole, or nearly, and round them; the "
                "sum of the weights is then how many labels the posterior believes to have seen"
            )
        return np.asarray(weights, dtype=np.intp)

    def _order(self, X: Any, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return an order of the rows that is as good as random, and the same however they are given: by a hash.

        A posterior that takes in one label at a time depends a little on their order; a table has none.
        """
        labels = iter((y == self.classes_[self.positive_]).tolist())
        keys = [
            hashlib.blake2b((x + 0.0).tobytes() + bytes([next(labels)]), digest_size=8).digest()  # -0.0 is 0.0
            for items in self._blocks(X)
            for x in items
        ]
        return np.argsort(np.array(keys, dtype="S8"), kind="stable")

    def _begin(self, classes: NDArray[Any]) -> None:
        """Believe the prior."""
        if self.costs is not None:
            usual_costs(self.costs)
        whole("draws", self.draws, least=1, most=10**6)
        if isinstance(self.posterior, str):
            if self.posterior not in POSTERIORS:
                raise OptionError(f"there is no posterior {self.posterior!r}; there are {', '.join(POSTERIORS)}")
            self.posterior_ = POSTERIORS[self.posterior](self.prior)
        elif self.prior is not None:
            raise OptionError("a posterior object has its own prior: set the prior there, and leave out prior= here")
        else:
            self.posterior_ = self.posterior
        self.classes_ = classes
        self.positive_ = self._positive(classes)
        self._seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._round = 0
        self._start()

    def _positive(self, classes: NDArray[Any]) -> int:
        """Return which of the classes is the positive one."""
        if self.pos_label is not None:
            found = np.flatnonzero(classes == self.pos_label)
            if len(found) != 1:
                raise InputError(f"pos_label is one of the classes, {classes.tolist()}, got {self.pos_label!r}")
            return int(found[0])
        texts = tuple(classes.tolist())
        told = all(isinstance(text, str) for text in texts) and tuple(text.casefold() for text in texts) not in PAIRS
        if self.costs is not None and told:
            warnings.warn(
                f"costs are about the positive class, and {texts[1]!r} was picked by the alphabet: name it, "
                f"pos_label={texts[0]!r} or pos_label={texts[1]!r}",
                PositiveClassWarning,
                stacklevel=4,
            )
        return 1

    def _start(self) -> None:
        self.belief_ = self.posterior_.start(self.n_features_in_ + bool(self.fit_intercept), Key(self._seed))
        if self.belief_.clock is not None:
            raise OptionError("a classifier has no clock, so it cannot forget: leave out half_life, or use a policy")

    def _learn(self, X: Any, y: NDArray[Any], times: NDArray[np.intp]) -> Self:
        strange = np.setdiff1d(y, self.classes_)
        if len(strange):
            raise InputError(f"the classes are {self.classes_.tolist()}, got the label {strange.tolist()[0]!r}")
        labels = iter(zip((y == self.classes_[self.positive_]).astype(int).tolist(), times.tolist(), strict=True))
        for items in self._blocks(X):
            for x in items:
                label, often = next(labels)
                for _ in range(often):
                    self.belief_.learn(x, label)
        self.draws_ = self._drawn() if self.belief_.sampled else None
        theta = self.belief_.mean if self.draws_ is None else self.draws_.mean(axis=0)
        theta = np.array(theta if self.positive_ else -theta)  # in favour of the second class
        self.coef_ = theta[np.newaxis, : self.n_features_in_]
        self.intercept_ = theta[self.n_features_in_ :] if self.fit_intercept else np.zeros(1)
        return self

    def _drawn(self) -> Vector:
        """Let the chain go on, and return what it draws after the first third."""
        kept, to_keep, to_drop = [], self.draws, self.draws // 2
        while to_keep > 0:
            self._round += 1
            found = self.belief_.draws(self._round)
            self.belief_.commit(self._round)
            if to_drop > 0:
                to_drop -= len(found)
            else:
                kept.append(found)
                to_keep -= len(found)
        return np.concatenate(kept)

    def _blocks(self, X: Any) -> Iterator[Vector]:
        """Give items a block of rows at a time, dense and with the intercept."""
        width = X.shape[1] + bool(self.fit_intercept)
        for start in range(0, X.shape[0], BLOCK):
            rows = X[start : start + BLOCK]
            items = np.ones((rows.shape[0], width))
            items[:, : X.shape[1]] = rows.toarray() if hasattr(rows, "toarray") else rows
            yield check_dense(items, width)

    def _chances(self, X: Any) -> Vector:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, accept_sparse="csr", dtype=np.float64)
        return np.concatenate([self._chance(items) for items in self._blocks(X)])

    def _chance(self, items: Vector) -> Vector:
        """Return E sigma(x'theta) of each item: by quadrature where scores are normal, else over draws."""
        scores = self.belief_.score_many(items)
        if scores is not None:
            return np.asarray(scores.outlooks(EVEN)[:, 2])
        if self.draws_ is not None:
            return np.asarray(np.exp(-np.logaddexp(0.0, -(items @ self.draws_.T))).mean(axis=1))
        return np.array([self.belief_.score(x, 1).outlook(EVEN).chance for x in items])

    def __getstate__(self) -> dict[str, Any]:
        """Return all that is carried, the belief as it is saved: its views and mapped memory have no other copy."""
        state = dict(super().__getstate__())
        if "belief_" in state:
            state["belief_"] = state["belief_"].arrays()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take back what ``__getstate__`` returned; the belief continues bit for bit."""
        super().__setstate__(state)
        if "belief_" in state:
            self._start()
            self.belief_.restore(state["belief_"])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags
