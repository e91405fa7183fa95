"""Draws of several chains in ArviZ: they have met, they are right, and it is seen where they have not or are not."""

from types import SimpleNamespace

import numpy as np
import pytest

import appletaste as at

az = pytest.importorskip("arviz", reason="ArviZ is not installed: pip install 'appletaste[arviz]'")

from appletaste.adapters.arviz import to_arviz  # noqa: E402


def labelled(n=120, seed=2):
    rng = np.random.default_rng(seed)
    items = np.column_stack([np.ones(n), rng.normal(size=n)])
    return items, (rng.random(n) < 1 / (1 + np.exp(1 - 1.5 * items[:, 1]))).astype(int)


def quadrature(items, labels, variance):
    """Return the posterior mean of a two-dimensional theta under N(0, variance I), on a grid."""
    grid = np.linspace(-6, 6, 401)
    theta = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    signed = np.where(labels, 1.0, -1.0)[:, None] * items
    log = -0.5 * (theta**2).sum(axis=1) / variance - np.logaddexp(0, -theta @ signed.T).sum(axis=1)
    weight = np.exp(log - log.max())
    return weight @ theta / weight.sum()


def test_chains_meet_and_agree_with_quadrature():
    """Means within 4.5 standard errors, as ArviZ estimates those; a mean under another prior is not."""
    items, labels = labelled()
    data = to_arviz((items, labels), names=["intercept", "x"], prior=4.0, seed=1)
    theta = data.posterior["theta"]
    assert theta.dims == ("chain", "draw", "feature")
    assert theta.shape == (4, 1000, 2)
    assert theta.coords["feature"].values.tolist() == ["intercept", "x"]
    assert data.observed_data["label"].values.tolist() == labels.tolist()
    assert len(np.unique(theta[:, 0, 0])) == 4  # each chain its own
    assert (az.rhat(data)["theta"] < 1.01).all()
    ess = az.ess(data)["theta"].values
    assert ((ess > 800) & (ess < 6000)).all()
    summary = az.summary(data)
    assert list(summary.index) == ["theta[intercept]", "theta[x]"]
    mean, error = theta.mean(("chain", "draw")).values, az.mcse(data)["theta"].values
    assert (np.abs(mean - quadrature(items, labels, 4.0)) < 4.5 * error).all()
    assert (np.abs(mean - quadrature(items, labels, 0.5)) > 4.5 * error).any()


def test_chains_that_have_not_met_are_seen():
    """Far starts (a wide prior) and no time to walk; and two posteriors taken for one."""
    items, labels = labelled(400)
    short = to_arviz((items, labels), draws=8, tune=0, prior=1e4)
    assert (az.rhat(short)["theta"] > 1.01).any()
    one, two = (to_arviz((items, given), chains=2, draws=500) for given in (labels, np.roll(labels, 1)))
    mixed = np.concatenate([one.posterior["theta"].values, two.posterior["theta"].values])
    assert az.rhat(mixed[:, :, 1]) > 1.1
    assert az.rhat(one.posterior["theta"].values[:, :, 1]) < 1.02


def learnt(name, **options):
    items, labels = labelled(200)
    policy = at.policy(name, n_features=2, costs=at.Costs(1, 1, 0), **options)
    for x, label in zip(items, labels, strict=True):
        policy.teach(x, int(label))
    return policy


def test_a_policy_gives_its_labels_and_its_prior():
    items, labels = labelled(200)
    direct = to_arviz((items, labels), prior=0.3, chains=2, draws=50)
    for name in ("pg-ts", "exact-ts", "greedy"):
        data = to_arviz(learnt(name, prior=0.3), chains=2, draws=50)
        np.testing.assert_array_equal(data.posterior["theta"], direct.posterior["theta"])
    box = learnt("pg-ts", prior=at.posteriors.Gaussian(region=at.posteriors.Box(-0.2, 0.2)))
    assert np.abs(to_arviz(box, chains=2, draws=50).posterior["theta"]).max() <= 0.2


def test_it_checks_the_approximation_of_a_policy():
    """The Laplace mean, with its learnt prior and corrected for skew, is within 0.1 deviations of the exact one."""
    policy = learnt("voi")
    theta = to_arviz(policy, names=at.Encoder().fit({"x": [0.0, 1.0]})).posterior["theta"]
    assert theta.coords["feature"].values.tolist() == ["intercept", "x"]
    gap = np.abs(policy.learner.belief.mean - theta.mean(("chain", "draw")).values)
    assert (gap < 0.1 * theta.std(("chain", "draw")).values).all()
    fixed = to_arviz(learnt("voi", prior=0.01)).posterior["theta"].mean(("chain", "draw")).values
    assert (np.abs(policy.learner.belief.mean - fixed) > 0.5).any()


def test_arviz_1_is_given_groups(monkeypatch):
    """Its from_dict takes a dict of groups; it cannot be installed beside Python 3.11, so its shape alone is tested."""
    monkeypatch.setattr(az, "__version__", "1.2.0")
    monkeypatch.setattr(az, "from_dict", lambda groups, **rest: SimpleNamespace(groups=groups, **rest))
    data = to_arviz(labelled(20), chains=1, draws=5)
    assert set(data.groups) == {"posterior", "observed_data"}
    assert data.groups["posterior"]["theta"].shape == (1, 5, 2)
    assert data.dims["theta"] == ["feature"]


def test_wrong_use_is_named():
    items, labels = labelled(20)
    for source, rest, message in [
        (learnt("adf-voi"), {}, "adf-voi has no posterior that keeps its labels"),
        (at.policy("always", n_features=2, costs=at.Costs(1, 1, 0)), {}, "always has no posterior"),
        (learnt("voi"), {"prior": 1.0}, "a policy has its own prior"),
        (learnt("voi", half_life=100), {}, "voi forgets"),
        (items, {}, r"a Policy or a pair \(items, labels\), got ndarray"),
        ((items, labels[1:]), {}, "got 20 and 19"),
        ((items, labels + 1), {}, "labels are 0"),
        ((items[0], labels), {}, "shape"),
        ((items, labels), {"names": ["a"]}, "names must be 2 different names"),
        ((items, labels), {"names": ["a", "a"]}, "names must be 2 different names"),
        ((items, labels), {"draws": 0}, "draws must be a whole number"),
        ((items, labels), {"chains": 0}, "chains must be a whole number"),
        ((items, labels), {"tune": -1}, "tune must be a whole number"),
    ]:
        with pytest.raises(at.errors.InputError, match=message):
            to_arviz(source, **rest)
