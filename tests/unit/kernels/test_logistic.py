"""The logistic fit: a stationary point, found from anywhere, on data that break plain Newton."""

import numpy as np
import pytest

from appletaste.kernels import logistic
from appletaste.kernels.logistic import log_sigmoid, sigmoid
from appletaste.posteriors.map import Fit
from appletaste.posteriors.prior import Gaussian


def fitted(items, labels, prior=None, start=None):
    fit = Fit(items.shape[1], prior or Gaussian())
    for x, label in zip(items, labels, strict=True):
        fit.labels.add(x, label)
    if start is not None:
        fit._start[:] = start
    return fit.theta.copy()


def gradient(items, labels, theta, prior):
    d = items.shape[1]
    chance = 1 / (1 + np.exp(-items @ theta))
    return items.T @ (labels - chance) - prior.precision(d) @ (theta - prior.mean_vector(d))


@pytest.mark.parametrize("d", [1, 2, 5, 21])
@pytest.mark.parametrize("n", [1, 40, 600])
def test_the_gradient_vanishes(rng, d, n):
    items = rng.normal(size=(n, d))
    labels = (rng.random(n) < sigmoid_array(items @ rng.normal(size=d))).astype(float)
    root = rng.normal(size=(d, d))
    prior = Gaussian(rng.normal(size=d), root @ root.T + np.eye(d))
    theta = fitted(items, labels, prior)
    assert np.abs(gradient(items, labels, theta, prior)).max() < 1e-7
    for far in (50.0, -300.0):
        np.testing.assert_allclose(fitted(items, labels, prior, np.full(d, far)), theta, atol=1e-7)
    assert np.abs(gradient(items, labels, theta + 0.01, prior)).max() > 1e-5


def sigmoid_array(z):
    return 1 / (1 + np.exp(-z))


@pytest.mark.parametrize("variance", [1.0, 1e6])
def test_separable_one_class_collinear_and_constant_data(rng, variance):
    prior = Gaussian(0.0, variance)
    line = rng.normal(size=80)
    cases = {
        "separable": (np.column_stack([line, rng.normal(size=80)]), (line > 0).astype(float)),
        "one class": (rng.normal(size=(50, 3)), np.ones(50)),
        "duplicated": (np.column_stack([line, line, line]), (rng.random(80) < 0.5).astype(float)),
        "constant": (np.ones((60, 2)), (np.arange(60) % 3 == 0).astype(float)),
        "all zero": (np.zeros((20, 2)), np.ones(20)),
        "huge": (1e4 * np.column_stack([line, np.ones(80)]), (line > 0.1).astype(float)),
    }
    for name, (items, labels) in cases.items():
        theta = fitted(items, labels, prior)
        assert np.isfinite(theta).all(), name
        scale = max(1.0, np.abs(items).max())
        # written with tanh: no overflow on the huge items
        chance = 0.5 * (1 + np.tanh(0.5 * items @ theta))
        slope = items.T @ (labels - chance) - theta / variance
        assert np.abs(slope).max() < 1e-4 * scale, name
    twins = fitted(*cases["duplicated"], prior)
    np.testing.assert_allclose(twins, twins[0], rtol=1e-4)


def test_asking_leaves_no_trace(rng):
    items, labels = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    asked, quiet = Fit(2, Gaussian()), Fit(2, Gaussian())
    for x, label in zip(items, labels, strict=True):
        for fit in (asked, quiet):
            fit.labels.add(x, label)
        _ = asked.theta
    assert (asked.theta == quiet.theta).all()


def test_sigmoids_do_not_overflow():
    assert sigmoid(1000.0) == 1.0
    assert sigmoid(-1000.0) == 0.0
    assert log_sigmoid(-1000.0) == -1000.0
    assert log_sigmoid(1000.0) == 0.0
    assert sigmoid(0.3) + sigmoid(-0.3) == pytest.approx(1.0)
    assert np.exp(log_sigmoid(0.3)) == pytest.approx(sigmoid(0.3))


def test_the_objective_is_the_penalised_likelihood(rng):
    items, labels = rng.normal(size=(300, 3)), rng.integers(0, 2, 300)
    fit = Fit(3, Gaussian(0.5, 2.0))
    for x, label in zip(items, labels, strict=True):
        fit.labels.add(x, label)
    theta = rng.normal(size=3)
    store = fit.labels
    value = logistic.objective(store.features, store.values, store.n, fit._mean, fit._precision, theta, fit._work)
    z = items @ theta
    expected = (labels * z - np.logaddexp(0, z)).sum() - ((theta - 0.5) ** 2).sum() / 4
    assert value == pytest.approx(expected, rel=1e-12)
