"""The Laplace posterior: at the mode whatever the stream, at flat cost, and honest about its fit."""

import math
import warnings

import numpy as np
import pytest
from scipy import integrate

import appletaste as at
from appletaste.kernels import gaussian as filter_kernels
from appletaste.kernels import renewal
from appletaste.posteriors.laplace_belief import AT_ONCE


def stream(rng, n, d, scale=1.0, theta=None):
    items = scale * rng.normal(size=(n, d))
    theta = rng.normal(size=d) if theta is None else np.asarray(theta)
    return items, (rng.random(n) < 1 / (1 + np.exp(-items @ theta))).astype(int)


def taught(items, labels, posterior=None):
    belief = (posterior or at.posteriors.Laplace()).start(items.shape[1], at.Key(3))
    for x, label in zip(items, labels, strict=True):
        belief.learn(x, int(label))
    return belief


def newton(items, labels, prior):
    """The mode and the curvature there, by NumPy."""
    d = items.shape[1]
    mean, precision = prior.mean_vector(d), prior.precision(d)
    theta = mean.copy()

    def height(t):
        z = items @ t
        return (labels * z - np.logaddexp(0, z)).sum() - 0.5 * (t - mean) @ precision @ (t - mean)

    for _ in range(200):
        p = 0.5 * (1 + np.tanh(0.5 * items @ theta))  # does not overflow on huge items
        hessian = precision + (items.T * (p * (1 - p))) @ items
        step = np.linalg.solve(hessian, items.T @ (labels - p) - precision @ (theta - mean))
        length = 1.0
        while height(theta + length * step) < height(theta) - 1e-12 and length > 1e-8:
            length /= 2
        theta = theta + length * step
        if np.abs(step).max() < 1e-12:
            break
    return theta, hessian


@pytest.mark.parametrize("d", [1, 3, 21])
@pytest.mark.parametrize("n", [1, 16, 200, AT_ONCE + 1, 3000])
def test_the_belief_is_at_the_mode(rng, d, n):
    root = rng.normal(size=(d, d))
    prior = at.posteriors.Gaussian(0.3 * rng.normal(size=d), root @ root.T / d + 0.5 * np.eye(d))
    items, labels = stream(rng, n, d)
    belief = taught(items, labels, at.posteriors.Laplace(prior))
    mode, hessian = newton(items, labels, prior)
    off = belief._belief[filter_kernels.MODE] - mode
    bound = 0.04 * (1 + math.sqrt(d))  # in posterior standard deviations, of which a draw lies sqrt(d) away
    assert math.sqrt(off @ hessian @ off) < bound
    np.testing.assert_allclose(belief.covariance @ hessian, np.eye(d), atol=0.15)
    wrong = newton(items, 1 - labels, prior)[0] - belief._belief[filter_kernels.MODE]
    assert math.sqrt(wrong @ hessian @ wrong) > bound


def test_a_pass_over_many_rounds_is_one_newton_step(rng):
    items, labels = stream(rng, 2000, 4)
    belief = taught(items, labels)
    passes = []
    before = belief._marks[renewal.ENDED]
    assert AT_ONCE < before < 2000
    extra, more = stream(rng, 600, 4)
    for x, label in zip(extra, more, strict=True):
        belief.learn(x, int(label))
        if belief._marks[renewal.ENDED] != before:
            passes.append(int(belief._marks[renewal.ENDED]))
            before = belief._marks[renewal.ENDED]
            seen = np.vstack([items, extra])[: passes[-1]]
            truth = np.concatenate([labels, more])[: passes[-1]]
            mode, hessian = newton(seen, truth, at.posteriors.Gaussian())
            np.testing.assert_allclose(belief._belief[filter_kernels.MODE], mode, atol=2e-3)
            np.testing.assert_allclose(belief.covariance, np.linalg.inv(hessian), atol=5e-5)
    assert 2 <= len(passes) <= 8


def test_the_skew_correction_moves_towards_the_mean(rng):
    """In one dimension the posterior mean is an integral; the correction must halve the mode's distance from it."""
    items = np.array([[1.0], [2.0], [1.5], [0.5], [3.0], [1.0]])
    labels = np.array([1, 1, 1, 0, 1, 1])

    def density(t):
        z = items[:, 0] * t
        return math.exp((labels * z - np.logaddexp(0, z)).sum() - 0.5 * t * t)

    mass = integrate.quad(density, -8, 8)[0]
    mean = integrate.quad(lambda t: t * density(t), -8, 8)[0] / mass
    plain, skewed = taught(items, labels).mean[0], taught(items, labels, at.posteriors.Laplace(skew=True)).mean[0]
    assert abs(plain - mean) > 0.02
    assert abs(skewed - mean) < 0.5 * abs(plain - mean)
    mode, hessian = newton(items, labels, at.posteriors.Gaussian())
    p = 1 / (1 + np.exp(-items @ mode))
    v = 1 / hessian[0, 0]
    shift = -0.5 * v * (p * (1 - p) * (1 - 2 * p) * items[:, 0] ** 2 * v * items[:, 0]).sum()
    assert skewed == pytest.approx(mode[0] + shift, rel=1e-6)


def test_the_certificate_is_the_acceptance_rate(rng):
    """Against the same expectation by quadrature in one dimension, averaged over streams of random numbers."""
    items, labels = np.full((6, 1), 2.0), np.array([1, 1, 1, 1, 0, 1])
    mode, hessian = newton(items, labels, at.posteriors.Gaussian(0.0, 4.0))
    grid = mode[0] + np.linspace(-7, 7, 1401) / math.sqrt(hessian[0, 0])
    z = grid[:, None] * items[:, 0]
    log_posterior = (labels * z - np.logaddexp(0, z)).sum(1) - grid**2 / 8
    q = np.exp(-0.5 * hessian[0, 0] * (grid - mode[0]) ** 2)
    q /= q.sum()
    w = np.exp(log_posterior - log_posterior.max()) / q
    w /= q @ w
    exact = q @ np.minimum.outer(w, w) @ q
    found = []
    for seed in range(400):
        belief = at.posteriors.Laplace(at.posteriors.Gaussian(0.0, 4.0)).start(1, at.Key(seed))
        belief._marks[renewal.ACCEPTANCE] = -1.0
        for x, label in zip(items, labels, strict=True):
            belief._marks[renewal.ACCEPTANCE] = -1.0  # forget: only the last pass counts
            belief.learn(x, int(label))
        found.append(belief.certificate().acceptance)
    error = np.std(found) / 20
    assert abs(np.mean(found) - exact) < 4 * error + 0.02  # a ratio of means of eight is biased a little
    assert exact < 0.93
    assert belief.certificate().distance == pytest.approx(1 - found[-1])
    assert math.isnan(at.posteriors.Laplace().start(1, at.Key(0)).certificate().acceptance)


def test_the_certificate_rises_with_labels_and_warns_of_a_poor_fit(rng):
    items, labels = stream(rng, 4000, 3)
    certificate = taught(items, labels).certificate()
    assert 0.95 < certificate.acceptance < certificate.per_feature < 1
    # Separable data under a wide prior: the posterior is a long skew ridge, not a Gaussian.
    items = rng.normal(size=(400, 6))
    with pytest.warns(at.errors.PoorFitWarning, match="exact-voi"):
        belief = taught(items, (items[:, 0] > 0).astype(int), at.posteriors.Laplace(at.posteriors.Gaussian(0.0, 1e4)))
    assert belief.certificate().per_feature < 0.7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        belief.learn(items[0], 1)  # said once


@pytest.mark.parametrize("skew", [False, True])
@pytest.mark.parametrize("variance", [1.0, 100.0])
def test_awkward_data(rng, skew, variance):
    line = rng.normal(size=900)
    cases = {
        "separable": (np.column_stack([line, rng.normal(size=900)]), (line > 0).astype(int)),
        "one class": (rng.normal(size=(900, 3)), np.ones(900, dtype=int)),
        "duplicated": (np.column_stack([line, line, line]), rng.integers(0, 2, 900)),
        "constant": (np.ones((900, 2)), (np.arange(900) % 3 == 0).astype(int)),
        "all zero": (np.zeros((900, 2)), np.ones(900, dtype=int)),
        "huge": (1e4 * np.column_stack([line, np.ones(900)]), (line > 0.1).astype(int)),
        "one huge row": (np.vstack([1e6 * np.ones((1, 2)), rng.normal(size=(899, 2))]), rng.integers(0, 2, 900)),
        "class by class": (rng.normal(size=(900, 2)), (np.arange(900) >= 600).astype(int)),
    }
    for name, (items, labels) in cases.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", at.errors.PoorFitWarning)
            belief = taught(items, labels, at.posteriors.Laplace(at.posteriors.Gaussian(0.0, variance), skew))
        mode, hessian = newton(items, labels, at.posteriors.Gaussian(0.0, variance))
        assert np.isfinite(belief._belief).all(), name
        assert (np.linalg.eigvalsh(belief.covariance) > -1e-9 * variance).all(), name
        off = belief._belief[filter_kernels.MODE] - mode
        assert math.sqrt(off @ hessian @ off) < 0.5, name


def test_a_step_too_long_is_cut_and_tried_again(rng):
    """An anchor thrown far from the mode: the pass must not jump, and must come back."""
    items, labels = stream(rng, 1000, 3)
    belief = taught(items, labels)
    while belief._marks[renewal.POSITION] < 0:
        belief.learn(*(lambda x, y: (x[0], int(y[0])))(*stream(rng, 1, 3)))
    belief._renewal[renewal.ANCHOR] = 30.0
    renewal.restart(belief._prior, belief._renewal, belief._marks)
    worst = 0.0
    restarts, position = 0, 0.0
    for x, label in zip(*stream(rng, 600, 3), strict=True):
        belief.learn(x, int(label))
        worst = max(worst, np.abs(belief._belief[filter_kernels.MODE]).max())
        restarts += belief._marks[renewal.POSITION] == 0.0 and position > 0.0
        position = belief._marks[renewal.POSITION]
    assert restarts > 0
    assert worst < 10
    assert belief._marks[renewal.ENDED] > 1000


@pytest.mark.parametrize("skew", [False, True])
def test_saved_in_the_middle_of_a_pass(rng, skew, tmp_path):
    """Bit for bit, with a pass under way."""
    items, labels = stream(rng, 700, 3)
    policy = at.policy("voi", n_features=3, costs=at.Costs(1, 0.4, 0.05), skew=skew)

    def play(player, first, last):
        trace = []
        for x, label in zip(items[first:last], labels[first:last], strict=True):
            decision = player.decide(x)
            player.teach(x, int(label))
            trace.append((decision.act, decision.why))
        return trace

    last = 600
    play(policy, 0, last)
    while policy.learner.belief._marks[renewal.POSITION] <= 0:
        play(policy, last, last + 1)
        last += 1
    policy.save(tmp_path / "p")
    assert play(at.load(tmp_path / "p"), last, 700) == play(policy, last, 700)


def test_only_free_priors():
    for posterior in (at.posteriors.Laplace, at.posteriors.Adf):
        with pytest.raises(at.errors.OptionError, match="region"):
            posterior(at.posteriors.Gaussian(region=at.posteriors.Ball(1.0)))


def test_adf_matches_two_moments(rng):
    """One label: mean and variance of the posterior by quadrature, in two dimensions, near and far."""
    axis = np.linspace(-9, 9, 721)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    for scale, label in ((0.3, 1), (1.0, 0), (6.0, 1)):
        x = scale * np.array([1.0, -0.5])
        belief = at.posteriors.Adf(at.posteriors.Gaussian(0.2, 1.5)).start(2, at.Key(0))
        belief.learn(x, label)
        log = -((grid - 0.2) ** 2).sum(1) / 3 - np.logaddexp(0, -(grid @ x) if label else grid @ x)
        weights = np.exp(log - log.max())
        weights /= weights.sum()
        mean = weights @ grid
        np.testing.assert_allclose(belief.mean, mean, atol=1e-3)
        np.testing.assert_allclose(belief.covariance, (weights * (grid - mean).T) @ (grid - mean), atol=2e-3)
        assert np.abs(belief.mean - 0.2).max() > 0.01


def test_adf_keeps_no_label(rng):
    belief = at.posteriors.Adf().start(4, at.Key(0))
    sizes = []
    for x, label in zip(*stream(rng, 50, 4), strict=True):
        belief.learn(x, int(label))
        sizes.append(sum(a.nbytes for a in belief.arrays().values()))
    assert len(set(sizes)) == 1
    belief.learn(np.zeros(4), 1)
    belief.learn(1e6 * np.ones(4), 1)
    assert np.isfinite(belief._belief).all()


def test_the_scale_of_the_prior_is_learnt(rng):
    """Towards the spread of the coefficients, by the EM step as written, and not for an intercept."""
    d = 12
    theta = 3.0 * rng.normal(size=d)
    items = np.column_stack([rng.normal(size=(3000, d)), np.ones(3000)])
    labels = (rng.random(3000) < 1 / (1 + np.exp(-items[:, :d] @ theta))).astype(int)
    belief = taught(items, labels, at.posteriors.Laplace(adaptive=True))
    precision = belief._prior[: d + 1]
    assert precision[d, d] == 0.25  # twice the standard deviation
    variance = 1 / precision[0, 0]
    assert np.diag(precision)[:d] == pytest.approx(1 / variance)
    assert variance == pytest.approx((theta**2).mean(), rel=0.6)  # from 1: the fit shrinks, and so does its spread
    before = belief._belief.copy()
    numbers = np.zeros(d + 1, dtype=np.int64)
    renewal.rescale_prior(belief._belief, belief._labels.features, numbers, belief._precision, belief._prior)
    mode, covariance = before[filter_kernels.MODE], before[filter_kernels.COVARIANCE :]
    expected = (5 + (mode[:d] ** 2 + np.diag(covariance)[:d]).sum()) / (5 + d)
    assert 1 / belief._prior[0, 0] == pytest.approx(expected)
    fixed = taught(items[:50], labels[:50], at.posteriors.Laplace())
    assert (fixed._prior[: d + 1] == np.eye(d + 1)).all()
    assert at.policy(n_features=2, costs=at.Costs(1, 1, 0)).method.posterior.adaptive
    assert not at.policy(n_features=2, costs=at.Costs(1, 1, 0), prior=2.0).method.posterior.adaptive
