"""Many features and few labels: the same Gaussian as the matrix, in the span of the labelled items."""

import numpy as np
import pytest

import appletaste as at
from appletaste.posteriors import Gaussian, Laplace
from appletaste.posteriors.groups import Groups
from appletaste.posteriors.laplace_belief import LaplaceBelief
from appletaste.posteriors.wide import FEATURES_PER_LABEL, WIDE, WideBelief
from appletaste.rules import value_of_information


def stream(rng, n, d):
    """Items with an intercept and a feature not seen yet, and labels."""
    items = rng.normal(size=(n, d)) / 2
    items[:, 0], items[:, 1] = 1.0, 0.0
    return items, rng.integers(0, 2, n)


def both(settings, d):
    groups, key = Groups((0,) * d, d), at.Key(1)
    return LaplaceBelief(settings, d, key, groups), WideBelief(settings, settings.prior.variances(d), key, groups)


@pytest.mark.parametrize("skew", [False, True])
@pytest.mark.parametrize("adaptive", [False, True])
def test_it_is_the_gaussian_of_the_matrix(rng, skew, adaptive):
    d, n = 60, 15
    matrix, wide = both(Laplace(Gaussian(0.1, rng.uniform(0.5, 2.0, d)), skew, adaptive), d)
    items, labels = stream(rng, n + 4, d)
    for x, label in zip(items[:n], labels[:n].tolist(), strict=True):
        matrix.learn(x, label)
        wide.learn(x, label)
        np.testing.assert_allclose(wide.mean, matrix.mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(wide.covariance, matrix.covariance, rtol=0, atol=1e-9)
    many = wide.score_many(items[n:])
    for k, x in enumerate(items[n:]):
        one, other = wide.score(x, 1), matrix.score(x, 1)
        assert (one.mean, one.variance) == pytest.approx((other.mean, other.variance), abs=1e-6)
        np.testing.assert_allclose(one.direction(), x @ matrix.covariance, atol=1e-9)
        assert (many[k].mean, many[k].variance) == (one.mean, one.variance)


def test_its_certificate_is_that_of_a_long_run_of_draws(rng):
    """E min(w, w') / E w over many draws in all features, where the kernel has eight of the scores alone."""
    d, n = 40, 9
    _, wide = both(Laplace(skew=True), d)
    items, labels = stream(rng, n, d)
    for x, label in zip(items, labels.tolist(), strict=True):
        wide.learn(x, label)
    draws = rng.multivariate_normal(wide.mean, wide.covariance, size=4000)
    z = draws @ items.T
    gap = draws - wide.mean
    gaussian = -0.5 * np.einsum("ij,ij->i", gap @ np.linalg.inv(wide.covariance), gap)
    logs = (labels * z - np.logaddexp(0, z)).sum(axis=1) - 0.5 * (draws**2).sum(axis=1) - gaussian
    weights = np.exp(logs - logs.max())
    exact = np.minimum(weights[::2], weights[1::2]).mean() / weights.mean()
    found = wide.certificate()
    assert (found.labels, found.n_features) == (n, d)
    assert found.acceptance == pytest.approx(exact, abs=0.12)  # eight draws at a time, smoothed over renewals


def test_a_matrix_takes_over_when_labels_are_many(rng):
    d = 40
    settings = Laplace(skew=True, adaptive=True)
    matrix, wide = both(settings, d)
    items, labels = stream(rng, 2 * d, d)
    for k, (x, label) in enumerate(zip(items, labels.tolist(), strict=True)):
        matrix.learn(x, label)
        wide.learn(x, label)
        assert ("belief" in wide.arrays()) is (k >= d // FEATURES_PER_LABEL)
    np.testing.assert_allclose(wide.mean, matrix.mean, rtol=0, atol=1e-4)
    np.testing.assert_allclose(wide.covariance, matrix.covariance, rtol=0, atol=1e-4)
    assert wide.labels.n == 2 * d


@pytest.mark.parametrize("decisions", [0, 20, WIDE // 2])
def test_policies_are_saved_and_go_on_as_they_were(tmp_path, rng, decisions):
    items, labels = stream(rng, decisions + 3, WIDE)
    policy = at.policy("voi", n_features=WIDE, costs=at.Costs(5, 1, 0), seed=3)
    for x, label in zip(items[:decisions], labels.tolist(), strict=False):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)
    policy.save(tmp_path / "policy.at")
    other = at.load(tmp_path / "policy.at")
    for x in items[decisions:]:
        assert other.probability(x) == policy.probability(x)
        one, two = policy.decide(x), other.decide(x)
        assert one.why == two.why
        policy.teach(x, 1), other.teach(x, 1)
    assert policy.certificate() == other.certificate()


def test_labels_on_their_way_and_corrections(rng):
    items, labels = stream(rng, 12, WIDE)
    policy = at.policy("voi", n_features=WIDE, costs=at.Costs(5, 1, 0), seed=3)
    for x, label in zip(items, labels.tolist(), strict=True):
        policy.teach(x, label)
    belief = policy.learner.belief
    assert isinstance(belief, WideBelief)
    before = belief.score(items[0], 1).variance
    waiting = belief.expecting()
    waiting.add(1, items[0])
    assert waiting.score(items[0]).variance < before
    fresh = Laplace(adaptive=True, skew=True).start(WIDE, at.Key(1))
    again = belief.relearn({0: 1 - int(labels[0])}, fresh)
    assert again.labels.n == 12
    assert np.abs(again.mean - belief.mean).max() > 1e-3


def test_the_rule_remembers_items_as_it_does_matrices(rng, monkeypatch):
    d = 24
    items, labels = stream(rng, 40, d)
    costs = at.Costs(1.0, 0.7, 0.1)
    found = []
    for wide in (d, d + 1):
        monkeypatch.setattr(value_of_information, "WIDE", wide)
        for ahead in ("double", "lindy", "shared"):
            policy = at.policy("voi", n_features=d, costs=costs, seed=1, ahead=ahead, surprises=0.0)
            assert ("rule.memory" in policy.learner.arrays()) is (wide > d)
            why = []
            for x, label in zip(items, labels.tolist(), strict=True):
                decision = policy.decide(x)
                why.append(list(decision.why.values()))
                if decision.act:
                    policy.learn(decision, label)
            assert "rule.memory" in policy.learner.arrays()  # 40 items are more than a quarter of 24
            found.append(np.array(why))
    for one, other in zip(found[:3], found[3:], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)


def test_few_features_and_priors_with_a_matrix_are_as_before():
    assert isinstance(Laplace().start(WIDE, at.Key(1)), WideBelief)
    assert isinstance(Laplace().start(WIDE - 1, at.Key(1)), LaplaceBelief)
    assert isinstance(Laplace(Gaussian(covariance=np.eye(WIDE))).start(WIDE, at.Key(1)), LaplaceBelief)
