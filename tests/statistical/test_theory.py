"""The theory's measurements against known answers: chains against quadrature, exponents, gaps, shares."""

import math

import numpy as np
import pytest

from appletaste import Costs, Key, play, policy, problem
from appletaste.errors import InputError
from appletaste.posteriors import Gaussian, Gibbs
from appletaste.theory import (
    Bounded,
    boundary_shares,
    contraction,
    distances,
    exact_posterior,
    fit_exponent,
    follow,
    informative_gaps,
    measure,
    regret_bound,
    watch,
)
from appletaste.theory.convergence import last_step, mixture_density

COSTS = Costs(miss=1, false_alarm=0.4, hit=0.05)


def history(d, rounds=40, spread=1.0, seed=3):
    table = problem("synthetic", features=d, rounds=rounds, context_variance=spread).draw(Key(seed))
    return table, play(policy("pg-ts", n_features=d, costs=table.costs, seed=2), table).act


@pytest.mark.parametrize("d", [1, 2])
def test_quadrature_has_the_moments_of_a_long_chain(d):
    table, acts = history(d)
    items, labels = table.items[acts], table.labels[acts]
    exact = exact_posterior(items, labels)
    assert exact.density.sum() * exact.volume == pytest.approx(1, abs=1e-12)
    chain = Gibbs(40_000, burn_in=100).start(d, Key(7))
    for x, label in zip(items, labels, strict=True):
        chain.learn(x, int(label))
    draws = chain.draws(1)
    for j in range(d):
        batches = draws[:, j].reshape(100, -1).mean(1)  # draws of a chain are correlated
        se = batches.std(ddof=1) / 10
        mean = float(exact.points[:, j] @ exact.density) * exact.volume
        assert abs(batches.mean() - mean) < 4.5 * se
        assert abs(batches.mean() - (mean + 0.1)) > 6 * se  # control


@pytest.mark.parametrize("d", [1, 2])
def test_chains_that_have_mixed_are_at_the_noise_and_wrong_ones_are_not(d):
    table, acts = history(d)
    items, labels = table.items[acts], table.labels[acts]
    exact = exact_posterior(items, labels)

    def law(flipped):
        chains = [Gibbs(30).start(d, Key(i)) for i in range(300)]
        for chain in chains:
            for i, (x, label) in enumerate(zip(items, labels, strict=True)):
                chain.learn(x, int(label) ^ (i < flipped))
        return mixture_density(chains, 1, exact.points)

    right = distances(exact.density, law(0), exact.volume)
    # Over 20 seeds the total variation of 300 mixed chains was 0.011 (sd 0.004) for d = 1, 0.016 (sd 0.006) for d = 2.
    assert right[0] < 0.05
    assert law(0).sum() * exact.volume == pytest.approx(1, abs=1e-3)
    wrong = distances(exact.density, law(3), exact.volume)
    assert wrong[0] > 0.1  # control: three labels turned round
    assert wrong[2] > 10 * right[2]


def test_follow_sees_that_few_sweeps_lag_and_many_do_not():
    """Scores of about 10: one sweep forgets 5 % only, so a chain with one sweep a round lags behind the posterior."""
    table, acts = history(2, rounds=60, spread=100.0)
    assert contraction(table.items[acts], table.theta) > 0.8
    one, many = (follow(table, acts, [10, 30, 60], Key(5), sweeps=m, chains=200) for m in (1, 30))
    assert [row.round for row in one] == [10, 30, 60]
    assert one[0].total_variation > 2 * many[0].total_variation  # 0.22 to 0.28 against 0.07 to 0.09 over four seeds
    for row in many:
        assert row.total_variation < 3 * row.noise
    for row in (*one, *many):
        assert row.hellinger**2 <= row.total_variation <= math.sqrt(2) * row.hellinger  # whatever the densities
        assert row.total_variation <= math.sqrt(row.divergence / 2) + 1e-3  # Pinsker


def test_the_last_label_moves_the_posterior_less_and_less():
    table, acts = history(1, rounds=400)
    when = np.flatnonzero(acts)

    def step(n):
        seen = when[:n]
        exact = exact_posterior(table.items[seen], table.labels[seen])
        return last_step(exact, table.items[seen[-1]], int(table.labels[seen[-1]]))

    early, late = (np.mean([step(n) for n in range(a, a + 20)]) for a in (2, 200))
    assert late < 0.5 * early
    seen = when[:30]
    exact, before = (exact_posterior(table.items[s], table.labels[s]) for s in (seen, seen[:-1]))
    moved = np.interp(exact.points[:, 0], before.points[:, 0], before.density)
    assert step(30) == pytest.approx(distances(exact.density, moved, exact.volume)[0], abs=1e-4)


@pytest.mark.parametrize("spread", [1.0, 100.0])
def test_contraction_is_the_autocorrelation_of_the_chain(spread):
    table, _ = history(1, rounds=600, spread=spread)
    chain = Gibbs(20_000, burn_in=500).start(1, Key(3))
    for x, label in zip(table.items, table.labels, strict=True):
        chain.learn(x, int(label))
    draws = chain.draws(1)[:, 0]
    lagged = [np.corrcoef(part[:-1], part[1:])[0, 1] for part in draws.reshape(20, -1)]
    expected = contraction(table.items, draws.mean(keepdims=True))
    se = np.std(lagged, ddof=1) / math.sqrt(20)
    # The formula is the limit of many labels: at 600 of them 0.02 is allowed for what it leaves out.
    assert abs(np.mean(lagged) - expected) < 4 * se + 0.02
    assert abs(np.mean(lagged) - expected**2) > 4 * se  # control: two sweeps instead of one


def test_fitted_exponents_cover_the_truth_and_not_its_neighbours():
    """Noisy regrets c T^0.5: 95 % intervals hold 0.5 nearly as often as they say, and 0.75 hardly ever."""
    sizes, hits, wrong = [100, 200, 400, 800], 0, 0
    for trial in range(200):
        rng = np.random.default_rng(trial)
        values = [size**0.5 * rng.gamma(4.0, 0.25, 30) for size in sizes]
        found = fit_exponent(sizes, values, Key(trial), draws=300)
        hits += found.low <= 0.5 <= found.high
        wrong += found.low <= 0.75 <= found.high
    assert 170 <= hits <= 199  # binomial(200, 0.92) within 4 standard errors; the bootstrap of 30 runs is a bit short
    assert wrong < 20


def test_regret_grows_sublinearly_below_the_bound_and_always_acting_does_not():
    horizons, settings = (50, 100, 200, 400), {"dimensions": (2, 6), "features": 3, "rounds": 100, "replications": 16}
    over_rounds, over_features = measure("pg-ts", horizons=horizons, seed=4, **settings)
    assert over_rounds.exponent.high < 0.75
    assert over_features.exponent.low > 0
    entry = Bounded().largest_entry
    for t, mean, se in zip(over_rounds.sizes, over_rounds.mean, over_rounds.se, strict=True):
        assert mean + 4 * se < regret_bound(COSTS, t, 3, largest_entry=entry).regret
    average = np.array(over_rounds.mean) / horizons  # Theorem 3: regret per round falls
    assert average[-1] < 0.5 * average[0]
    control, _ = measure("always", horizons=horizons, seed=4, **settings)
    assert control.exponent.low > 0.9
    assert control.mean[-1] / 400 > 0.9 * control.mean[0] / 50


def test_bounded_problem_draws_theta_from_its_prior():
    lengths = [np.linalg.norm(Bounded(features=3, rounds=1).draw(Key(i)).theta) for i in range(4000)]
    r = np.linspace(0, 1, 20_001)
    law = r**2 * np.exp(-(r**2) / 2)
    mean = (r @ law) / law.sum()
    z = (np.mean(lengths) - mean) / (np.std(lengths) / math.sqrt(4000))
    assert abs(z) < 4
    uniform = 3 / 4  # control: the mean length without the Gaussian factor
    assert abs(np.mean(lengths) - uniform) / (np.std(lengths) / math.sqrt(4000)) > 4
    table = Bounded(features=3, rounds=500, largest_entry=2.0).draw(Key(1))
    assert 1.9 < np.abs(table.items).max() <= 2.0
    assert max(lengths) <= 1


def test_gaps_between_acts():
    rng = np.random.default_rng(1)
    steady = informative_gaps([rng.random(4000) < 0.25 for _ in range(10)])
    assert steady.mean == pytest.approx(4, abs=4 * math.sqrt(12 / 10_000))
    assert abs(steady.growth) < 0.1
    fading = informative_gaps([rng.random(20_000) < 1 / np.sqrt(np.arange(1, 20_001)) for _ in range(10)])
    assert fading.growth > 0.5  # control: gaps that grow as u
    regular = informative_gaps([np.arange(30) % 3 == 2])
    assert (regular.acts, regular.mean, regular.longest, regular.waiting) == (10, 3.0, 3, 0)
    assert regular.largest_mean == 3
    never = informative_gaps([np.zeros(5, dtype=bool)])
    assert (never.acts, never.waiting, never.largest_mean) == (0, 5, math.inf)
    assert informative_gaps([np.array([False, True])]).mean == 2
    with pytest.raises(InputError):
        informative_gaps([])


def test_shares_on_each_side_of_the_boundary():
    rng = np.random.default_rng(2)
    items = rng.standard_normal((20_000, 1))
    fair = Costs(miss=1, false_alarm=1, hit=0)
    assert boundary_shares(items, np.array([[1.0], [-0.3]]), fair).delta == pytest.approx(0.5, abs=0.02)
    # theta = 0 makes every chance 1/2, so one action is best for all items: Assumption 2 fails in any ball around 0
    zero = boundary_shares(items, np.zeros((1, 1)), COSTS, np.ones(1))
    assert (zero.act_smallest, zero.pass_smallest, zero.delta, zero.one_sided) == (1.0, 0.0, 0.0, 1.0)
    assert zero.negative_chance > 0.9
    known = boundary_shares(items, np.array([[1.0]]), COSTS)
    below = 0.5 * math.erfc(-COSTS.score_threshold / math.sqrt(2))
    assert known.pass_smallest == pytest.approx(below, abs=4 * math.sqrt(below * (1 - below) / 20_000))
    assert known.negative_chance is None


def test_measured_information_ratios_stay_within_the_limit():
    table = problem("i", rounds=60).draw(Key(1))
    found = watch(table, Key(2), sweeps=100)
    assert len(found) == 60
    assert all(0 <= row.ratio <= row.limit * (1 + 1e-9) for row in found)
    assert all(0 <= row.regret <= 0.95 and row.information <= math.log(2) for row in found)
    again = watch(table, Key(2), sweeps=100)
    assert again == found
    assert any(row.ratio > row.limit / 4 for row in found)  # control: a limit four times smaller would not hold


def test_wrong_settings_are_refused():
    table, acts = history(1, rounds=5)
    with pytest.raises(InputError, match="rounds must rise"):
        follow(table, acts, [3, 2], Key(1))
    with pytest.raises(InputError, match="rounds must rise"):
        follow(table, acts, [6], Key(1))
    with pytest.raises(InputError, match="chains"):
        follow(table, acts, [2], Key(1), chains=1)
    with pytest.raises(InputError, match="one or two features"):
        exact_posterior(np.ones((2, 3)), np.ones(2, dtype=np.int8))
    from appletaste.posteriors import Ball

    with pytest.raises(InputError, match="without a region"):
        exact_posterior(np.ones((2, 1)), np.ones(2, dtype=np.int8), Gaussian(region=Ball()))
    with pytest.raises(InputError, match="two sizes"):
        fit_exponent([1], [np.ones(3)], Key(1))
    with pytest.raises(InputError, match="same number"):
        fit_exponent([1, 2], [np.ones(3), np.ones(2)], Key(1))
    with pytest.raises(InputError, match="positive means"):
        fit_exponent([1, 2], [np.zeros(3), np.ones(3)], Key(1))
