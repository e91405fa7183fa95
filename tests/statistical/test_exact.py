"""The Metropolis steps of the exact posterior against quadrature and against long Gibbs runs, in every regime."""

import decimal
import functools
import math

import numpy as np
import pytest

from appletaste import Costs, Key
from appletaste.kernels import anchored, metropolis
from appletaste.posteriors import Exact, Gaussian, Gibbs
from appletaste.posteriors import anchors as anchors_module
from appletaste.posteriors import exact as exact_module
from appletaste.posteriors.anchors import Anchors
from appletaste.posteriors.label_table import Labels

from .test_gibbs import TILTED, batch_z

FULL, THINNED, MIXED = -1.0, math.inf, math.nan  # up to which rate a step is factorised; mixed: about half are
HEAVY = 28  # with so many labels every fourth item is large
PRIORS = {1: [Gaussian(), Gaussian(-1.0, 4.0)], 2: [Gaussian(), TILTED]}
CASES = [(d, prior) for d, priors in PRIORS.items() for prior in priors]


def data(d, n, seed=3):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n, d))
    if n == HEAVY:
        items[::4] *= 8.0
    theta = np.array([1.5, -0.7, 0.5, 0.4, -0.3, 0.3, 0.2, -1.0])[:d]
    return items, (rng.random(n) < 1 / (1 + np.exp(-items @ theta))).astype(int)


def labelled(d, n):
    labels = Labels(d)
    for x, y in zip(*data(d, n), strict=True):
        labels.add(x, int(y))
    return labels


def anchored_at(labels, d, prior, shift):
    """An anchor ``shift`` standard deviations from the mode, along every axis of the whitened parameter alike."""
    anchors = Anchors(d, prior)
    anchors.settle(labels, prior.mean_vector(d))
    if shift:
        factor = np.tril(anchors.live.matrix[anchored.FACTOR : anchored.FACTOR + d])
        point = anchors.live.matrix[anchored.MEAN] + np.linalg.solve(factor.T, np.full(d, shift / math.sqrt(d)))
        anchors._begin(anchors.live, labels.n, point, factor)
        anchors._take_in(anchors.live, labels, labels.n)
        anchors.distance = anchored.finish(anchors.live.matrix)
    return anchors


def path(d, n, prior, limit, shift=0.0, steps=100_000, understate=1.0):
    """States and proposals of a long run of Metropolis steps on labels that stay as they are."""
    labels = labelled(d, n)
    anchors = anchored_at(labels, d, prior, shift)
    live, out = anchors.live, np.zeros((2, steps, d))
    metropolis.run_steps(
        Key(1).word(),
        1,
        labels.features,
        labels.values,
        n,
        anchors.prior,
        prior.mean_vector(d),
        live.matrix,
        live.cubes,
        live.heavy,
        live.sums / understate,
        anchors.looks if math.isnan(limit) else limit,
        1.0,
        steps,
        out,
        anchors.work,
    )
    return out[:, 200:]


@functools.cache
def grid_posterior(d, n, prior):
    """Midpoints of a grid over eight standard deviations either side of the mode, and their posterior weights."""
    anchor = anchored_at(labelled(d, n), d, prior, 0.0).live.matrix
    factor = np.tril(anchor[anchored.FACTOR : anchored.FACTOR + d])
    spread = np.sqrt(np.diag(np.linalg.inv(factor @ factor.T)))
    cells = 20_000 if d == 1 else 400
    axes = [m + s * (-8 + 16 * (np.arange(cells) + 0.5) / cells) for m, s in zip(anchor[0], spread, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, d)
    offset = grid - prior.mean_vector(d)
    log = -0.5 * np.einsum("ij,jk,ik->i", offset, prior.precision(d), offset)
    for x, label in zip(*data(d, n), strict=True):
        log -= np.logaddexp(0, -(grid @ x) if label else grid @ x)
    weights = np.exp(log - log.max())
    return grid, weights / weights.sum()


def discrepancies(draws, grid, weights):
    """Distances of means, second moments and tails from the grid's, in standard errors."""
    found = []
    for j in range(draws.shape[1]):
        found.append(batch_z(draws[:, j], weights @ grid[:, j]))
        found.append(batch_z(draws[:, j] ** 2, weights @ grid[:, j] ** 2))
    x = np.array([1.0, 0.5])[: draws.shape[1]]
    scores = grid @ x
    mean = weights @ scores
    spread = math.sqrt(weights @ (scores - mean) ** 2)
    for distance in (-2.0, -1.0, 0.0, 1.0, 2.0):
        cut = mean + distance * spread
        found.append(batch_z((draws @ x >= cut).astype(float), weights[scores >= cut].sum()))
    return np.abs(found)


@pytest.mark.parametrize(("d", "prior"), CASES)
@pytest.mark.parametrize("shift", [0.0, 1.0])
def test_steps_match_quadrature(d, prior, shift):
    reference, wrong_prior = grid_posterior(d, 15, prior), grid_posterior(d, 15, Gaussian(0.8, 0.5))
    seen = []
    for limit in (FULL, THINNED, MIXED):
        states, proposals = path(d, 15, prior, limit, shift)
        seen.append(states)
        assert discrepancies(states, *reference).max() < 4.5, limit
        assert discrepancies(proposals, *reference).max() > 6  # without the Metropolis step
        assert discrepancies(states, *wrong_prior).max() > 6
    assert (seen[2] != seen[0]).any()
    assert (seen[2] != seen[1]).any()


@pytest.mark.parametrize("shift", [-1.0, 1.0])
def test_steps_of_both_kinds_in_one_chain(shift):
    """What one kind of step has computed about a state, the other must not take for its own.

    A chain that took q for zero after a step in full would be 10 standard errors off.
    """
    states, _ = path(2, 15, Gaussian(), 1.7, shift, steps=2_000_000)
    assert discrepancies(states, *grid_posterior(2, 15, Gaussian())).max() < 4.5


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_steps_match_quadrature_with_heavy_labels(d, shift):
    prior = Gaussian(0.0, 0.3)
    reference = grid_posterior(d, HEAVY, prior)
    for limit in (FULL, THINNED, MIXED):
        states, proposals = path(d, HEAVY, prior, limit, shift)
        assert discrepancies(states, *reference).max() < 4.5, limit
        assert discrepancies(proposals, *reference).max() > 6
    assert anchored_at(labelled(d, HEAVY), d, prior, shift).live.heavy[0] > 0


@pytest.mark.parametrize("d", [1, 2])
def test_steps_match_quadrature_to_second_order(d, monkeypatch):
    """Where d is large the expansion ends with the second order; the same code, tried where quadrature can check it."""
    monkeypatch.setattr(anchors_module, "CUBES_MOST", 0)
    reference = grid_posterior(d, 15, Gaussian())
    assert discrepancies(path(d, 15, Gaussian(), THINNED, 1.0)[0], *reference).max() < 4.5


def test_bounds_that_are_too_small_give_another_posterior():
    states, _ = path(1, 15, Gaussian(), THINNED, -1.0, understate=10.0)
    assert discrepancies(states, *grid_posterior(1, 15, Gaussian())).max() > 6
    states, _ = path(1, 15, Gaussian(), THINNED, -1.0)
    assert discrepancies(states, *grid_posterior(1, 15, Gaussian())).max() < 4.5


@pytest.mark.parametrize("fourth", [True, False])
def test_bounds_hold_and_are_tight(fourth):
    points = [(z, s) for z in np.linspace(-12, 12, 121) for s in np.linspace(-15, 15, 400)]
    ratios = [metropolis.remainder(z, s, fourth) / anchored.bound(s * s, fourth) for z, s in points]
    assert 0.8 < max(np.abs(ratios)) <= 1.0


def test_remainder_is_what_the_expansion_leaves_out():
    for z in (-8.0, -1.3, 0.0, 0.4, 5.0):
        for s in (-3.0, -0.051, -0.049, -1e-3, 0.01, 0.0499, 0.0501, 0.7, 9.0):
            Z, S = decimal.Decimal(z), decimal.Decimal(s)  # 28 digits
            p = 1 / (1 + (-Z).exp())
            v = p * (1 - p)
            exact = -((1 + (Z + S).exp()).ln() - (1 + Z.exp()).ln()) + p * S + v * S * S / 2
            assert metropolis.remainder(z, s, False) == pytest.approx(float(exact), rel=1e-6, abs=2e-15)
            exact += v * (1 - 2 * p) * S**3 / 6
            assert metropolis.remainder(z, s, True) == pytest.approx(float(exact), rel=1e-6, abs=2e-15)


@functools.cache
def long_gibbs(d, n, prior):
    chain = Gibbs(sweeps=60_000, burn_in=500, prior=prior).start(d, Key(2))
    for x, y in zip(*data(d, n), strict=True):
        chain.learn(x, int(y))
    return chain.draws(1)


def two_sample(one, two):
    """Distances of means and second moments of two runs, in standard errors."""
    found = []
    for power in (1, 2):
        for j in range(one.shape[1]):
            batches = [values[: len(values) // 100 * 100, j].reshape(100, -1) ** power for values in (one, two)]
            means = [batch.mean(1) for batch in batches]
            error = math.sqrt(sum(mean.var(ddof=1) / 100 for mean in means))
            found.append((means[0].mean() - means[1].mean()) / error)
    return np.abs(found)


@pytest.mark.parametrize("limit", [FULL, THINNED])
def test_steps_match_gibbs_in_eight_dimensions(limit):
    prior = Gaussian(0.3, 2.0)
    states, proposals = path(8, 120, prior, limit, shift=1.0)
    assert two_sample(states, long_gibbs(8, 120, prior)).max() < 4.5
    assert two_sample(proposals, long_gibbs(8, 120, prior)).max() > 6
    assert two_sample(states, long_gibbs(8, 120, Gaussian(0.3, 1.5))).max() > 6


# The chain as it is used: labels arrive, anchors follow, regimes change. Then labels stop and rounds go on.


def frozen_rounds(d, n, prior, rounds=12_000, **settings):
    """The last draw of each round, and the regime, of a chain that learnt n labels one by one."""
    chain = Exact(prior=prior, **settings).start(d, Key(4))
    for round_, (x, y) in enumerate(zip(*data(d, n), strict=True), 1):
        chain.commit(round_)
        chain.learn(x, int(y))
    draws = np.empty((rounds, d))
    for i in range(rounds):
        chain.commit(n + 1 + i)
        draws[i] = chain._chain.theta
    return draws, chain


@pytest.mark.parametrize("n", [19, 20, 21, 22, 23])
def test_rounds_around_the_switch_from_sweeps_to_steps(n, monkeypatch):
    """At 20 labels the anchor is set; at 22 a shadow is begun, with no more than 24 labels it takes over at once."""
    monkeypatch.setattr(anchors_module, "RATIO", 1.1)
    monkeypatch.setattr(exact_module, "LOOK", 1e9)
    draws, chain = frozen_rounds(2, n, TILTED, switch=20)
    assert chain.regime == ("gibbs" if n < 20 else "metropolis")
    assert chain._anchors.live.reference == {19: 0, 20: 20, 21: 20}.get(n, 22)
    assert discrepancies(draws, *grid_posterior(2, n, TILTED)).max() < 4.5
    assert discrepancies(draws, *grid_posterior(2, n, Gaussian())).max() > 6


@pytest.mark.parametrize("n", [24, 25, 60])
def test_rounds_around_the_switch_to_factorised_steps(n, monkeypatch):
    chain = frozen_rounds(2, n, TILTED, rounds=0, switch=20)[1]
    looks = chain._anchors.looks
    for look, regime in ((n / looks * 1.001, "metropolis"), (n / looks * 0.999, "thinned")):
        monkeypatch.setattr(exact_module, "LOOK", look)
        draws, chain = frozen_rounds(2, n, TILTED, switch=20)
        assert chain.regime == regime
        assert discrepancies(draws, *grid_posterior(2, n, TILTED)).max() < 4.5


def test_rounds_while_a_shadow_is_behind_and_after_it_took_over(monkeypatch):
    monkeypatch.setattr(anchors_module, "RATIO", 1.1)
    monkeypatch.setattr(anchors_module, "SHADOW_WORK", 1)  # 24 labels at a time
    monkeypatch.setattr(exact_module, "LOOK", 1e-3)
    behind = []
    for n in (77, 78, 79, 80, 81, 82):
        draws, chain = frozen_rounds(2, n, Gaussian(), rounds=8_000, switch=70)
        behind.append(chain._anchors.shadow.seen)
        assert chain.regime == "thinned"
        assert discrepancies(draws, *grid_posterior(2, n, Gaussian())).max() < 4.5
    assert behind == [24, 48, 72, 0, 0, 0]


def test_the_score_is_exact_in_the_mean(monkeypatch):
    """Over rounds, tails and expectations average to those of the quadrature; what rules ask for is made of them."""
    x, costs, n = np.array([0.5, 0.8]), Costs(1.0, 1.0, 0.1), 25
    cut = costs.score_threshold

    def chance(z):
        return 1 / (1 + np.exp(-z))

    def extra(z):
        return costs.alarm_price * (1 - chance(z)) - costs.catch_gain * chance(z)

    functions = [
        lambda z: np.maximum(-extra(z), 0),
        lambda z: np.maximum(extra(z), 0),
        chance,
        lambda z: chance(z) * (1 - chance(z)),
        lambda z: -chance(z) * np.log(chance(z)) - (1 - chance(z)) * np.log1p(-chance(z)),
    ]
    grid, weights = grid_posterior(2, n, Gaussian())
    z = grid @ x
    expected = [weights[z >= cut].sum(), *[weights @ function(z) for function in functions]]
    most = np.array([costs.catch_gain, costs.alarm_price, 1.0, 0.25])
    for look in (1e-3, 1e9):
        monkeypatch.setattr(exact_module, "LOOK", look)
        chain = frozen_rounds(2, n, Gaussian(), rounds=100, switch=20)[1]
        found, plain = [], []
        for round_ in range(200, 8_200):
            score = chain.score(x, round_)
            values = np.array([score.expect(function) for function in functions])
            found.append([score.above(cut), *values])
            plain.append(score.mean)
            if round_ < 300:
                assert np.array(score.outlook(costs)) == pytest.approx(np.clip(values[:4], 0, most), abs=1e-3)
                p = min(max(values[2], 0), 1)
                information = max(0, -p * math.log(p) - (1 - p) * math.log1p(-p) - min(max(values[4], 0), math.log(2)))
                assert score.information() == pytest.approx(information, abs=1e-3)
                direction = score.direction()
                assert direction @ x == pytest.approx(score.variance, rel=1e-9)
            chain.commit(round_)
        distances = np.abs([batch_z(column, value) for column, value in zip(np.array(found).T, expected, strict=True)])
        assert distances.max() < 4.5
        assert abs(batch_z(np.array(found)[:, 0], expected[0] + 0.02)) > 4.5
        assert abs(np.mean(plain) - weights @ z) > 0.01  # the Gaussian alone is off
