"""Scores averaged over the Gaussians of the sweeps: the same posterior as the draws, with less noise."""

import numpy as np
import pytest

from appletaste import Costs, Key
from appletaste.posteriors import Gaussian, Gibbs
from appletaste.posteriors.scores import NormalScore

PRIOR = Gaussian([0.5, -1.0, 0.0], [2.0, 1.0, 0.5])
X = np.array([0.7, -0.4, 1.1])


def chain(rao_blackwell, sweeps=15, n=30):
    rng = np.random.default_rng(3)
    belief = Gibbs(sweeps=sweeps, prior=PRIOR, rao_blackwell=rao_blackwell).start(3, Key(1))
    for x in rng.normal(size=(n, 3)):
        belief.learn(x, int(rng.random() < 1 / (1 + np.exp(-x.sum()))))
    return belief


def components(belief):
    """Mean and covariance of theta given each sweep, from the kept systems."""
    found = []
    for system in belief._systems:
        factor = np.tril(system[:3])
        covariance = np.linalg.inv(factor @ factor.T)
        found.append((np.linalg.solve(factor.T, system[3]), covariance))
    return found


def test_the_draws_are_the_same_bit_for_bit():
    plain, mixed = chain(False), chain(True)
    assert (plain.draws(1) == mixed.draws(1)).all()
    assert plain._systems.size == 0


def test_everything_is_an_average_over_the_gaussians():
    belief, costs = chain(True), Costs(1.0, 0.4, 0.05)
    score = belief.score(X, 1)
    parts = components(belief)
    means, variances = np.array([m @ X for m, _ in parts]), np.array([X @ v @ X for _, v in parts])
    each = [NormalScore(m, v, X) for m, v in zip(means, variances, strict=True)]
    assert score.mean == pytest.approx(means.mean())
    assert score.variance == pytest.approx(variances.mean() + means.var())
    for cut in (-1.0, 0.0, 2.0):
        assert score.above(cut) == pytest.approx(np.mean([one.above(cut) for one in each]))
    assert np.array(score.outlook(costs)) == pytest.approx(np.mean([one.outlook(costs) for one in each], axis=0))
    assert score.expect(np.square) == pytest.approx(score.mean**2 + score.variance)
    within = np.mean([one.expect(lambda z: np.logaddexp(0, z) - z / (1 + np.exp(-z))) for one in each])
    p = score.outlook(costs).chance
    entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
    assert score.information() == pytest.approx(entropy - within, abs=1e-6)
    thetas = np.array([m for m, _ in parts])
    direction = np.mean([v @ X for _, v in parts], axis=0) + (thetas - thetas.mean(0)).T @ means / len(means)
    assert score.direction() == pytest.approx(direction)
    assert score.direction() @ X == pytest.approx(score.variance)


def test_less_noise_around_the_same_value():
    """Over rounds both scores estimate the same chance; the mixture's estimates scatter less."""
    costs, rounds = Costs(1.0, 0.4, 0.05), 4000
    found = []
    for rao_blackwell in (False, True):
        belief, chances = chain(rao_blackwell, sweeps=3), np.empty(rounds)
        for round_ in range(1, rounds + 1):
            chances[round_ - 1] = belief.score(X, round_).outlook(costs).chance
            belief.commit(round_)
        found.append(chances)
    batches = [values.reshape(50, -1).mean(1) for values in found]
    error = np.sqrt(sum(batch.var(ddof=1) / 50 for batch in batches))
    assert abs(batches[0].mean() - batches[1].mean()) < 4 * error
    assert abs(batches[0].mean() - batches[1].mean() - 0.02) > 4 * error
    assert found[1].std() < 0.7 * found[0].std()


def test_the_plain_score_has_the_covariance_of_the_last_sweep():
    mixed, plain = chain(True), chain(False)
    mixed.draws(1)
    score = plain.score(X, 1)
    _, covariance = components(mixed)[-1]
    assert score.direction() == pytest.approx(covariance @ X)
    assert score.variance == pytest.approx(X @ covariance @ X)


def test_without_labels_it_is_the_prior():
    score = chain(True, n=0).score(X, 1)
    assert score.mean == pytest.approx(X @ [0.5, -1.0, 0.0])
    assert score.direction() == pytest.approx([1.4, -0.4, 0.55])
