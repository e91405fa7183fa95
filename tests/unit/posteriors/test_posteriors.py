"""Posteriors: what separate draws, likelihood weights and bare estimates are."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import logistic
from appletaste.posteriors.map import Fit

X = np.array([0.7, -0.4])


def taught(settings, n=25):
    rng = np.random.default_rng(2)
    belief = settings.start(2, at.Key(4))
    items, labels = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    for x, label in zip(items, labels, strict=True):
        belief.learn(x, int(label))
    return belief, items, labels


def test_separate_draws_are_the_two_halves():
    belief, *_ = taught(at.posteriors.Gibbs(sweeps=10, separate_draws=True))
    score = belief.score(X, 1)
    scores = belief.draws(1) @ X
    np.testing.assert_allclose(score.points[0], scores[:5])
    np.testing.assert_allclose(score.information_points[0], scores[5:])
    together, *_ = taught(at.posteriors.Gibbs(sweeps=10))
    np.testing.assert_allclose(together.score(X, 1).points[0], scores)


@pytest.mark.parametrize("separate", [False, True])
def test_likelihood_weights_are_the_likelihood(separate):
    belief, items, labels = taught(at.posteriors.Gibbs(sweeps=8, separate_draws=separate))
    draws = belief.draws(1)[4:] if separate else belief.draws(1)
    z = draws @ items.T
    logs = (labels * z - np.logaddexp(0, z)).sum(1)
    weights = np.exp(logs - logs.max())
    np.testing.assert_allclose(belief.score(X, 1).likelihood_weights(), weights / weights.sum(), rtol=1e-9)


def test_the_corrected_estimator_is_the_reversed_divergence():
    belief, *_ = taught(at.posteriors.Gibbs(sweeps=12))
    score = belief.score(X, 1)
    z, w = score.points
    p = 1 / (1 + np.exp(-z))
    total = 0.0
    for likelihood in (p, 1 - p):
        total += (w @ likelihood) * (np.log(w @ likelihood) - w @ np.log(likelihood))
    assert at.rules.InformationDirected(estimator="corrected").information(score) == pytest.approx(total)
    assert at.rules.InformationDirected().information(score) != pytest.approx(total, rel=1e-3)


def test_the_bare_estimate_acts_first_and_is_the_mle():
    bare, mode = at.posteriors.Map("mle").start(2, at.Key(1)), at.posteriors.Map().start(2, at.Key(1))
    assert bare.score(X, 1).mean == math.inf
    assert mode.score(X, 1).mean == 0.0
    policy = at.policy("greedy", n_features=2, costs=at.Costs(1, 9, 0), estimator="mle", epsilon=0.0)
    assert policy.decide(X).act
    bare, items, labels = taught(at.posteriors.Map("mle"), n=60)
    theta = bare._fit.theta
    residual = items.T @ (labels - 1 / (1 + np.exp(-items @ theta)))
    assert np.abs(residual).max() < 1e-5  # the likelihood's own slope, without a penalty


def test_a_kept_fit_is_where_the_next_one_starts():
    fit = Fit(2, at.posteriors.Gaussian())
    rng = np.random.default_rng(1)
    for _ in range(200):
        fit.labels.add(rng.normal(size=2), int(rng.random() < 0.5))
    fit.keep()
    fit.labels.add(np.array([0.1, 0.2]), 1)

    def steps(start):
        theta, store = start.copy(), fit.labels
        return logistic.fit(
            store.features, store.values, store.n, fit._mean, fit._precision, theta, fit._work, fit._hessian
        )

    assert (fit._start == fit.theta).sum() == 0
    assert steps(fit._start) < steps(np.full(2, 3.0))
    np.testing.assert_allclose(fit._start, fit.theta, atol=0.02)
