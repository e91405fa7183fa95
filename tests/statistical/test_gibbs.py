"""The Gibbs chain against quadrature and by Geweke's joint test, with and without a restricted prior."""

import math

import numpy as np
import pytest
from scipy import stats

from appletaste import Costs, Key
from appletaste.kernels import gibbs as kernels
from appletaste.posteriors import Ball, Box, Gaussian, Gibbs

TILTED = Gaussian([0.5, -1.0], [[2.0, 0.8], [0.8, 1.0]])
PRIORS = {
    1: [Gaussian(), Gaussian(-1.0, 4.0), Gaussian(region=Box(-1, 0.4)), Gaussian(0.3, 2.0, Ball(0.7, 0.2))],
    2: [
        Gaussian(),
        TILTED,
        Gaussian(region=Box([-1, -0.2], [0.5, 1])),
        Gaussian(TILTED.mean, TILTED.covariance, Ball(0.8)),
    ],
}
CASES = [(d, prior) for d, priors in PRIORS.items() for prior in priors]


def data(d, n=40, seed=3):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n, d))
    labels = rng.random(n) < 1 / (1 + np.exp(-items @ np.array([1.2, -0.7])[:d]))
    return items, labels.astype(int)


def chain(prior, d, sweeps, key=None, n=40, **settings):
    belief = Gibbs(sweeps=sweeps, prior=prior, **settings).start(d, key or Key(1))
    for x, label in zip(*data(d, n), strict=True):
        belief.learn(x, int(label))
    return belief


def quadrature(prior, d, n=40, scale=1.0):
    """Grid points of theta and their posterior weights; ``scale`` makes the likelihood wrong on purpose."""
    cells = 60_000 if d == 1 else 1200  # midpoints; the edges of every box lie between cells
    axis = -6 + 12 * (np.arange(cells) + 0.5) / cells
    grid = axis[:, None] if d == 1 else np.stack(np.meshgrid(axis, axis, indexing="ij"), -1).reshape(-1, 2)
    if isinstance(prior.region, Box):
        bounds = prior.region.bounds(d)
        grid = grid[((grid >= bounds[0]) & (grid <= bounds[1])).all(1)]
    if isinstance(prior.region, Ball):
        grid = grid[((grid - prior.region.centre) ** 2).sum(1) <= prior.region.radius**2]
    items, labels = data(d, n)
    offset = grid - prior.mean_vector(d)
    log = -0.5 * np.einsum("ij,jk,ik->i", offset, prior.precision(d), offset)
    for x, label in zip(items, labels, strict=True):
        log -= np.logaddexp(0, -scale * (grid @ x) if label else scale * (grid @ x))
    weights = np.exp(log - log.max())
    return grid, weights / weights.sum()


def batch_z(values, expected):
    """Distance in standard errors, from 100 batch means: draws of a chain are correlated."""
    batches = values[: len(values) // 100 * 100].reshape(100, -1).mean(1)
    return (batches.mean() - expected) / (batches.std(ddof=1) / 10)


def discrepancies(draws, grid, weights, x):
    """Distances of means, second moments and tail probabilities from the quadrature, in standard errors."""
    found = []
    for j in range(draws.shape[1]):
        found.append(batch_z(draws[:, j], weights @ grid[:, j]))
        found.append(batch_z(draws[:, j] ** 2, weights @ grid[:, j] ** 2))
    z, scores = draws @ x, grid @ x
    order = np.argsort(scores)
    cumulative = np.cumsum(weights[order])
    for level in (0.01, 0.1, 0.5, 0.9, 0.99):
        cut = scores[order][np.searchsorted(cumulative, level)]
        found.append(batch_z((z >= cut).astype(float), weights[scores >= cut].sum()))
    return np.abs(found)


@pytest.mark.parametrize(("d", "prior"), CASES)
def test_draws_match_the_posterior(d, prior):
    x = np.array([1.0, 0.5])[:d]
    draws = chain(prior, d, 100_000, burn_in=200).draws(1)
    assert discrepancies(draws, *quadrature(prior, d), x).max() < 4.5
    assert discrepancies(draws, *quadrature(prior, d, scale=1.15), x).max() > 6


@pytest.mark.parametrize(("d", "prior"), CASES)
def test_the_tail_probability_averages_to_the_posterior_one(d, prior):
    """Over rounds, P(z >= cut | omega) and how often the draw itself lies above the cut both estimate P(z >= cut)."""
    x = np.array([1.0, 0.5])[:d]
    belief = chain(prior, d, sweeps=3)
    grid, weights = quadrature(prior, d)
    scores = grid @ x
    order = np.argsort(scores)
    cut = scores[order][np.searchsorted(np.cumsum(weights[order]), 0.7)]
    exact = weights[scores >= cut].sum()
    above, hits = [], []
    for round_ in range(1, 12_001):
        score = belief.score(x, round_)
        above.append(score.above(cut))
        hits.append(float(belief._draws[-1] @ x >= cut))
        belief.commit(round_)
    above, hits = np.array(above), np.array(hits)
    assert abs(batch_z(above, exact)) < 4.5
    assert abs(batch_z(hits, exact)) < 4.5
    assert abs(batch_z(above - hits, 0.0)) < 4.5
    assert above.std() < hits.std()  # the point of knowing it exactly
    assert abs(batch_z(above, exact + 0.03)) > 4.5


@pytest.mark.parametrize("prior", [Gaussian(), TILTED, Gaussian(region=Box(-1, 1)), Gaussian(region=Ball(1.2))])
@pytest.mark.parametrize(("label_scale", "honest"), [(1.0, True), (1.3, False)])
def test_geweke_joint(prior, label_scale, honest):
    """Alternating theta | labels and labels | theta must leave the prior; wrong labels must not."""
    d, n, iterations = 2, 12, 40_000
    rng = np.random.default_rng(11)
    items = 1.5 * rng.normal(size=(n, d))
    belief = Gibbs(sweeps=1, prior=prior).start(d, Key(5))
    for x in items:
        belief.learn(x, 0)
    state, draws = belief._belief, np.empty((iterations, d))
    base = prior.precision(d) @ prior.mean_vector(d)
    for i in range(iterations):
        theta = state[kernels.THETA]
        labels = rng.random(n) < 1 / (1 + np.exp(-label_scale * (items @ theta)))
        state[kernels.LINEAR] = base + (labels - 0.5) @ items
        belief._swept = 0
        belief.commit(i + 1)
        draws[i] = state[kernels.THETA]
    reference = quadrature(prior, d, n=0)
    worst = discrepancies(draws, *reference, np.array([1.0, 0.5])).max()
    assert worst < 4.5 if honest else worst > 6


def test_probability_of_acting_is_that_of_the_draw():
    """Over many chains the last draw lies above the cut as often as the recorded probabilities say."""
    x, cut = np.array([0.8, -0.3]), Costs(1, 0.4, 0.05).score_threshold
    expected, hits = [], []
    for seed in range(4000):
        belief = chain(Gaussian(), 2, sweeps=2, key=Key(seed), n=6)
        expected.append(belief.score(x, 1).above(cut))
        hits.append(belief._draws[-1] @ x >= cut)
    expected = np.array(expected)
    z = (np.sum(hits) - expected.sum()) / math.sqrt((expected * (1 - expected)).sum())
    assert abs(z) < 4
    shifted = expected - 0.03
    assert abs(np.sum(hits) - shifted.sum()) / math.sqrt((shifted * (1 - shifted)).sum()) > 4


def test_without_labels_a_sweep_is_a_prior_draw():
    draws = Gibbs(sweeps=20_000, prior=TILTED).start(2, Key(2)).draws(1)
    law = stats.norm(TILTED.mean[0], math.sqrt(2.0))
    assert stats.kstest(draws[:, 0], law.cdf).pvalue > 1e-4
    assert stats.kstest(draws[:, 0] + 0.1, law.cdf).pvalue < 1e-4
    assert np.corrcoef(draws.T)[0, 1] == pytest.approx(0.8 / math.sqrt(2.0), abs=0.02)


def test_schedule_burn_in_and_separate_draws():
    belief = chain(Gaussian(), 2, sweeps=[(1, 4), (3, 6)], burn_in=2, separate_draws=True)
    sizes = []
    for round_ in (1, 2, 3, 4):
        score = belief.score(np.ones(2), round_)
        sizes.append((score.points[0].size, score.information_points[0].size))
        belief.commit(round_)
    assert sizes == [(2, 2), (2, 2), (3, 3), (3, 3)]
    # burn_in drops the first sweeps of the same stream
    plain = chain(Gaussian(), 2, sweeps=6).draws(1)
    assert (chain(Gaussian(), 2, sweeps=4, burn_in=2).draws(1) == plain[2:]).all()


@pytest.mark.parametrize(("mean", "spread"), [(-9.0, 0.4), (-9.0, 0.2), (-1.0, 0.5), (0.1, 0.5), (0.3, 4.0)])
@pytest.mark.parametrize("cut", [-0.19, -0.1, 0.0, 0.5])
def test_restricted_tails(mean, spread, cut):
    """The restricted Gaussian is computed with its digits even 40 standard deviations from its mean."""
    law = stats.truncnorm((-0.2 - mean) / spread, (0.8 - mean) / spread, mean, spread)
    assert kernels.chance_above(cut, mean, spread, -0.2, 0.8) == pytest.approx(law.sf(cut), rel=2e-3, abs=1e-300)
    mirrored = kernels.chance_above(-cut, -mean, spread, -0.8, 0.2)
    assert mirrored == pytest.approx(law.cdf(cut), rel=2e-3)


def test_degenerate_tails():
    assert kernels.chance_above(-5.0, -9.0, 0.4, -0.2, 0.8) == 1.0
    assert kernels.chance_above(5.0, -9.0, 0.4, -0.2, 0.8) == 0.0
    assert kernels.chance_above(0.5, 0.4, 0.0, -math.inf, math.inf) == 0.0
    assert kernels.chance_above(0.5, 0.6, 0.0, -math.inf, math.inf) == 1.0
