"""Scales of curves beyond Laplace: chains and the filter open what bends, close what does not, and stay exact."""

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import gaussian as rows
from appletaste.posteriors.groups import Groups

COSTS = at.Costs(1, 1, 0)
ENTRIES = [
    ("pg-ts", {"sweeps": 3}),
    ("pg-ids", {"sweeps": 3, "rao_blackwell": True}),
    ("exact-voi", {}),  # Gibbs sweeps all along
    ("exact-ts", {"switch": 40}),  # anchors, long before the labels say that anything bends
    ("adf-voi", {}),
    ("adf-voi", {"half_life": 5000}),
]
every = pytest.mark.parametrize(("name", "options"), ENTRIES)


def table(n):
    """One column that bends, one that is straight, two of noise."""
    rng = np.random.default_rng(1)
    columns = {f"c{k}": rng.normal(size=n) for k in range(4)}
    features, X = at.Encoder(curves=True).fit_transform(columns)
    score = 2.0 * np.abs(columns["c0"]) - 1.6 + 1.0 * columns["c1"]
    return features, X, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def taught(name, options, features, X, labels):
    policy = at.policy(name, n_features=X.shape[1], costs=COSTS, seed=3, groups=features.groups, **options)
    for x, label in zip(X, labels, strict=True):
        policy.teach(x, int(label))
    return policy


def variances(policy):
    """The variances of the prior as it is now, of chains and of the filter."""
    belief = policy.learner.belief
    if hasattr(belief, "_anchors"):
        chain, anchors = belief._chain, belief._anchors
        if anchors.ready:
            np.testing.assert_array_equal(chain.precision, anchors.prior[1:])  # one target, whichever sampler
        return 1.0 / np.diag(chain.precision)
    return 1.0 / np.diag(belief.precision if hasattr(belief, "precision") else belief._origin[:-1])


@every
def test_a_bend_opens_its_curve_and_noise_is_shrunk(name, options):
    features, X, labels = table(1200)
    policy = taught(name, options, features, X, labels)
    scales = variances(policy)
    open_, *closed = (scales[curve.start] for curve in features.curves)
    assert open_ > 0.5
    assert max(closed) < 0.05
    assert (scales[:5] == 1.0).all()  # group 0 has the scale of the prior
    grid = np.linspace(-2, 2, 9)
    found = policy.curves(features)
    bent = np.interp(grid, found["c0"].values, found["c0"].mean)
    np.testing.assert_allclose(bent - bent[4], 2.0 * np.abs(grid), atol=1.0)
    for noise in ("c2", "c3"):
        assert found[noise].moves < 0.25
    line = at.policy(name, n_features=5, costs=COSTS, seed=3, **options)
    for x, label in zip(X, labels, strict=True):
        line.teach(x[:5], int(label))
    straight = line.posterior.mean[1] * grid
    assert np.abs(straight - straight[4] - 2.0 * np.abs(grid)).max() > 2.5  # a line cannot follow


def test_chains_learn_the_scales_that_the_gaussian_at_the_mode_speaks_for():
    features, X, labels = table(60)
    d = X.shape[1]
    chain = at.posteriors.Gibbs(2, groups=features.groups).start(d, at.Key(4))
    groups = Groups(features.groups, d)
    precision = groups.start(at.posteriors.Gaussian()).precision(d)
    due = 1
    for n, (x, label) in enumerate(zip(X, labels, strict=True), 1):
        chain.learn(x, int(label))
        if n >= due:
            theta = np.zeros(d)
            for _ in range(60):  # Newton, damped while far
                p = 1 / (1 + np.exp(-X[:n] @ theta))
                hessian = (X[:n] * (p * (1 - p))[:, None]).T @ X[:n] + precision
                step = np.linalg.solve(hessian, X[:n].T @ (labels[:n] - p) - precision @ theta)
                theta += step / max(1.0, np.abs(step).max())
            belief = np.zeros((rows.COVARIANCE + d, d))
            belief[rows.MODE], belief[rows.COVARIANCE :] = theta, np.linalg.inv(hessian)
            groups.learn(belief, precision)
            due = max(n + 1, int(np.ceil(1.06 * n))) if n >= 16 else n + 1
        np.testing.assert_allclose(chain.precision, precision, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("settings", [at.posteriors.Gibbs(25), at.posteriors.Exact(switch=150)], ids=["gibbs", "exact"])
def test_the_chain_is_of_the_exact_posterior_given_its_scales(settings):
    """Against the posterior by quadrature: the mean of each coefficient within 5 standard errors, and its spread."""
    rng = np.random.default_rng(5)
    values = rng.choice([0.0, 1.0, 2.0], 400)
    features, X = at.Encoder(curves=True, standardise=False, intercept=False).fit_transform({"v": values})
    labels = (rng.random(400) < np.array([0.2, 0.7, 0.3])[values.astype(int)]).astype(int)
    bent = type(settings)(**{**vars(settings), "groups": features.groups})
    belief = bent.start(3, at.Key(8))
    for x, label in zip(X, labels, strict=True):
        belief.learn(x, int(label))
    draws = []
    for round_ in range(1, 1501):
        draws.append(belief.draws(round_)[-1])
        belief.commit(round_)
    draws = np.array(draws[100:])
    precision = belief.precision if hasattr(belief, "precision") else belief._chain.precision
    assert 1.0 / precision[1, 1] > 0.3  # the curve is open
    axes = [np.linspace(-5.0, 5.0, 81)] * 3
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    logs = -0.5 * (points**2 * np.diag(precision)).sum(axis=1)
    for x, positive in {(tuple(x), y) for x, y in zip(X, labels, strict=True)}:
        count = int(((x == X).all(axis=1) & (labels == positive)).sum())
        z = points @ np.array(x)
        logs += count * (positive * z - np.logaddexp(0.0, z))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ points
    deviations = np.sqrt(weights @ (points - mean) ** 2)
    errors = (draws.mean(axis=0) - mean) / deviations
    assert np.abs(errors).max() < 5.0 * np.sqrt(8.0 / len(draws))  # draws of rounds in a row are not independent
    np.testing.assert_allclose(draws.std(axis=0) / deviations, 1.0, atol=0.15)


@every
def test_groups_without_curves_change_nothing(name, options):
    _, X, labels = table(120)
    found = []
    for extra in ({}, {"groups": (0,) * 5}):
        policy = at.policy(name, n_features=5, costs=COSTS, seed=3, **options, **extra)
        for x, label in zip(X[:, :5], labels, strict=True):
            decision = policy.decide(x)
            if decision.act:
                policy.learn(decision, int(label))
        found.append((policy.round, policy.decide(X[0, :5]).probability, policy.posterior.mean.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("posterior", [at.posteriors.Gibbs, at.posteriors.Exact, at.posteriors.Adf])
def test_wrong_groups_are_refused(posterior):
    with pytest.raises(at.errors.OptionError, match="groups must be 3 numbers"):
        posterior(groups=(0, 1)).start(3, at.Key(1))
    with pytest.raises(at.errors.OptionError, match="whole numbers"):
        posterior(groups=(0.5, 1, 1))
    with pytest.raises(at.errors.OptionError, match="independent coefficients"):
        posterior(groups=(0, 1, 1), prior=at.posteriors.Gaussian(0.0, np.eye(3))).start(3, at.Key(1))
    region = at.posteriors.Gaussian(region=at.posteriors.Box())
    with pytest.raises(at.errors.OptionError, match="region"):
        posterior(groups=(0, 1, 1), prior=region)
