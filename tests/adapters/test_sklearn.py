"""The posterior as a scikit-learn classifier: scikit-learn's own checks, and what they do not look at."""

import pickle

import numpy as np
import pytest

import appletaste as at

pytest.importorskip("sklearn", reason="scikit-learn is not installed: pip install 'appletaste[sklearn]'")

from scipy import sparse, special
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from appletaste.adapters.sklearn import POSTERIORS, PosteriorClassifier

#: Checks that are known to fail, with the reason: none. docs/ecosystem.md says so.
EXPECTED = {}
ALL = [PosteriorClassifier(name, draws=200) for name in POSTERIORS]


@parametrize_with_checks(ALL, expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def data(n=300, d=3, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.random(n) < special.expit(X @ np.linspace(2, -1, d) - 0.5)
    return X, y.astype(int)


def test_probabilities_are_predictive_and_not_a_plug_in():
    X, y = data(60)
    model = PosteriorClassifier(at.posteriors.Laplace()).fit(X, y)
    x = np.array([[3.0, 3.0, 3.0]])
    item = np.append(x[0], 1.0)
    mean, variance = item @ model.belief_.mean, item @ model.belief_.covariance @ item
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    predictive = weights @ special.expit(mean + np.sqrt(variance) * nodes) / weights.sum()
    plug_in = special.expit(mean)
    found = model.predict_proba(x)[0, 1]
    assert found == pytest.approx(predictive, abs=1e-6)
    assert abs(found - plug_in) > 0.01  # the check could fail


@pytest.mark.parametrize("name", ["exact", "gibbs"])
def test_posteriors_made_of_draws_give_the_exact_predictive(name):
    """Against quadrature over a one-dimensional posterior; five standard errors of 4000 draws worth 1 in 5 or more."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 1))
    y = (rng.random(150) < special.expit(1.5 * X[:, 0])).astype(int)
    theta = np.linspace(-4, 6, 4001)
    log = -0.5 * theta**2 - np.logaddexp(0, -np.outer(theta, np.where(y, X[:, 0], -X[:, 0]))).sum(axis=1)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    at_two = special.expit(2.0 * theta)
    exact = weight @ at_two
    error = np.sqrt(weight @ (at_two - exact) ** 2 / (4000 / 5))
    model = PosteriorClassifier(name, fit_intercept=False, draws=4000).fit(X, y)
    assert 4000 <= len(model.draws_) < 4100  # and not the 2000 before them
    assert abs(model.predict_proba([[2.0]])[0, 1] - exact) < 5 * error
    other = PosteriorClassifier(name, fit_intercept=False, draws=4000, prior=0.1).fit(X, y)
    assert abs(other.predict_proba([[2.0]])[0, 1] - exact) > 5 * error  # another prior is seen


def test_it_is_as_good_as_logistic_regression():
    X, y = data(4000)
    ours = PosteriorClassifier().fit(X[:2000], y[:2000]).predict_proba(X[2000:])
    theirs = LogisticRegression().fit(X[:2000], y[:2000]).predict_proba(X[2000:])
    assert log_loss(y[2000:], ours) < log_loss(y[2000:], theirs) + 0.001


@pytest.mark.parametrize("name", POSTERIORS)
def test_a_copy_continues_bit_for_bit(name):
    X, y = data()
    model = PosteriorClassifier(name, draws=50).fit(X[:200], y[:200])
    copy = pickle.loads(pickle.dumps(model))
    for one in (model, copy):
        one.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(model.predict_proba(X), copy.predict_proba(X))
    assert not np.array_equal(
        model.predict_proba(X), clone(model).fit(X[:200], y[:200]).predict_proba(X)
    )  # it has learnt


def test_labels_one_by_one_are_labels_at_once():
    X, y = data(120)
    at_once = PosteriorClassifier().partial_fit(X, y, classes=[0, 1])
    by_one = PosteriorClassifier()
    for x, label in zip(X, y, strict=True):
        by_one.partial_fit([x], [label], classes=[0, 1])
    np.testing.assert_array_equal(at_once.predict_proba(X), by_one.predict_proba(X))


def test_costs_move_the_cut_and_not_the_probabilities():
    X, y = data()
    even, dear = PosteriorClassifier().fit(X, y), PosteriorClassifier(costs=at.Costs(9, 1, 0)).fit(X, y)
    np.testing.assert_array_equal(even.predict_proba(X), dear.predict_proba(X))
    np.testing.assert_array_equal(dear.predict(X), dear.predict_proba(X)[:, 1] >= 0.1)
    assert dear.predict(X).sum() > even.predict(X).sum()


def test_sparse_rows_are_rows():
    X, y = data(2500)  # more than one block
    X[np.abs(X) < 1] = 0.0
    dense, rows = PosteriorClassifier().fit(X, y), PosteriorClassifier().fit(sparse.csr_array(X), y)
    np.testing.assert_array_equal(dense.predict_proba(X), rows.predict_proba(sparse.coo_array(X)))


def test_it_works_in_pipelines_and_searches():
    X, y = data()
    words = np.where(y == 1, "fraud", "clean")
    pipeline = make_pipeline(StandardScaler(), PosteriorClassifier())
    search = GridSearchCV(pipeline, {"posteriorclassifier__prior": [0.01, 1.0]}, scoring="neg_log_loss", cv=3)
    assert search.fit(X * 100, words).best_params_ == {"posteriorclassifier__prior": 1.0}
    assert set(search.predict(X * 100)) == {"clean", "fraud"}
    assert search.best_estimator_[-1].classes_.tolist() == ["clean", "fraud"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"posterior": "nothing"}, "there is no posterior 'nothing'; there are laplace"),
        ({"posterior": at.posteriors.Laplace(), "prior": 2.0}, "has its own prior: set the prior there"),
        ({"posterior": at.posteriors.Laplace(half_life=100)}, "no clock, so it cannot forget"),
        ({"costs": 0.3}, "costs must be Costs"),
        ({"draws": 0}, "draws must be a whole number"),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(at.errors.InputError, match=message):
        PosteriorClassifier(**settings).fit(*data(20))


def test_wrong_labels_are_named():
    X, y = data(20)
    with pytest.raises(ValueError, match="needs labels of both classes, got one class"):
        PosteriorClassifier().fit(X, np.ones(20))
    with pytest.raises(ValueError, match="first call of partial_fit needs classes"):
        PosteriorClassifier().partial_fit(X, y)
    with pytest.raises(ValueError, match="two classes, got 3"):
        PosteriorClassifier().partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ValueError, match=r"the classes are \[0, 1\], got the label 2"):
        PosteriorClassifier().fit(X, y).partial_fit(X[:1], [2])
    with pytest.raises(ValueError, match=r"classes were \[0, 1\] before"):
        PosteriorClassifier().fit(X, y).partial_fit(X, y, classes=[0, 2])
    with pytest.raises(ValueError, match="below 1e100"):
        PosteriorClassifier().fit(X * 1e101, y)


def test_a_point_predicts_with_itself():
    X, y = data()
    model = PosteriorClassifier(at.posteriors.Map()).fit(X, y)
    assert model.draws_ is None
    assert model.score(X, y) > 0.7


@pytest.mark.parametrize("name", POSTERIORS)
def test_a_weight_is_how_often_a_label_counts_and_the_order_of_rows_is_nothing(name):
    X, y = data(60)
    often = np.random.default_rng(2).integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), often)[::-1]
    weighted = PosteriorClassifier(name, draws=50).fit(X, y, sample_weight=often)
    again = PosteriorClassifier(name, draws=50).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(weighted.predict_proba(X), again.predict_proba(X))
    plain = PosteriorClassifier(name, draws=50).fit(X, y)
    assert not np.array_equal(weighted.predict_proba(X), plain.predict_proba(X))
    one = PosteriorClassifier(name, draws=50).partial_fit(X, y, classes=[0, 1], sample_weight=often)
    two = PosteriorClassifier(name, draws=50).partial_fit(X[repeated[::-1]], y[repeated[::-1]], classes=[0, 1])
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_broken_weights_are_refused_with_a_way_out():
    X, y = data(20)
    with pytest.raises(at.errors.InputError, match=r"a whole number, got 0.5 in row 3: multiply all weights"):
        PosteriorClassifier().fit(X, y, sample_weight=[1, 1, 1, 0.5, *[1] * 16])
    with pytest.raises(ValueError, match="Negative values"):
        PosteriorClassifier().fit(X, y, sample_weight=-np.ones(20))
    with pytest.raises(ValueError, match=r"every sample_weight is 0|at least one non-zero"):  # in newer versions
        PosteriorClassifier().partial_fit(X, y, classes=[0, 1], sample_weight=np.zeros(20))
    with pytest.raises(at.errors.InputError, match="labels of both classes"):
        PosteriorClassifier().fit(X, y, sample_weight=y)


@pytest.mark.parametrize("name", POSTERIORS)
def test_coefficients_are_the_posterior_mean_in_favour_of_the_second_class(name):
    X, y = data(400)
    model = PosteriorClassifier(name, draws=400).fit(X, y)
    theirs = LogisticRegression().fit(X, y)
    assert model.coef_.shape == theirs.coef_.shape
    assert model.intercept_.shape == theirs.intercept_.shape
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=0.3)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=0.3)
    other = PosteriorClassifier(name, draws=400, pos_label=0).fit(X, y)
    np.testing.assert_allclose(other.coef_, theirs.coef_, atol=0.3)  # the positive class turns nothing round
    assert PosteriorClassifier(name, draws=50, fit_intercept=False).fit(X, y).intercept_.tolist() == [0.0]
    assert not np.allclose(-model.coef_, theirs.coef_, atol=0.3)


def test_a_search_may_set_one_of_the_costs():
    X, y = data()
    model = PosteriorClassifier(costs={"miss": 5, "false_alarm": 1, "hit": 0})
    assert model.get_params()["costs__miss"] == 5
    search = GridSearchCV(model, {"costs__miss": [1e-3, 1.0, 1e3]}, scoring="accuracy", cv=3).fit(X, y)
    assert search.best_params_ == {"costs__miss": 1.0}
    assert search.best_estimator_.costs == at.Costs(miss=1.0, false_alarm=1, hit=0)
    assert model.costs == {"miss": 5, "false_alarm": 1, "hit": 0}  # what was given stays as it is
    with pytest.raises(at.errors.OptionError, match="there are no costs to change miss of"):
        PosteriorClassifier().set_params(costs__miss=1.0)
    with pytest.raises(at.errors.InputError, match="nothing to decide"):
        PosteriorClassifier(costs=at.Costs.of_item(miss=3, false_alarm=5, hit=5)).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(at.errors.CostsError, match="costs must be"):
        model.set_params(costs__mis=1.0)
