"""Scores that are normal: expectations by quadrature against SciPy's, at spreads from nothing to far too much."""

import math
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

import appletaste as at
from appletaste.kernels import information
from appletaste.posteriors import NormalScore, NormalScores

CASES = [(mean, spread) for mean in (-6.0, -0.9, 0.0, 2.0) for spread in (1e-3, 0.2, 1.0, 3.0, 13.0)]
SHEETS = [at.Costs(1, 0.4, 0.05), at.Costs(0.4, 1, 0.05), at.Costs(19, 1, 0)]


def sigmoid(z):
    return 0.5 * (1 + np.tanh(0.5 * z))


def expected(function, mean, spread, kinks):
    """E f(z), z ~ N(mean, spread^2), adaptively, told where the integrand is not smooth."""
    low, high = mean - 9 * spread, mean + 9 * spread
    edges = sorted({low, high, *(k for k in (*kinks, -3.0, 0.0, 3.0, mean) if low < k < high)})
    law = stats.norm(mean, spread)
    pieces = pairwise(edges)
    return sum(integrate.quad(lambda z: function(z) * law.pdf(z), a, b, epsabs=1e-14)[0] for a, b in pieces)


@pytest.mark.parametrize(("mean", "spread"), CASES)
@pytest.mark.parametrize("costs", SHEETS)
def test_outlook_is_the_integral(mean, spread, costs):
    price, gain, cut = costs.alarm_price, costs.catch_gain, costs.score_threshold

    def extra(z):
        return price * (1 - sigmoid(z)) - gain * sigmoid(z)

    found = information.normal_outlook(mean, spread, cut, price, gain)
    functions = (
        lambda z: max(-extra(z), 0.0),
        lambda z: max(extra(z), 0.0),
        sigmoid,
        lambda z: sigmoid(z) * (1 - sigmoid(z)),
    )
    for value, function in zip(found, functions, strict=True):
        exact = expected(function, mean, spread, [cut])
        assert value == pytest.approx(exact, rel=2e-3, abs=1e-7)
        if spread <= 3.0:
            assert value == pytest.approx(exact, rel=1e-5, abs=1e-10)


@pytest.mark.parametrize(("mean", "spread"), CASES)
def test_information_is_the_integral(mean, spread):
    def entropy(p):
        return -(p * math.log(p) + (1 - p) * math.log1p(-p)) if 0 < p < 1 else 0.0

    chance = expected(sigmoid, mean, spread, [])
    within = expected(lambda z: entropy(float(sigmoid(z))), mean, spread, [])
    found = information.normal_information(mean, spread)
    assert found == pytest.approx(entropy(chance) - within, rel=1e-3, abs=1e-9)
    assert 0 <= found <= math.log(2)


def test_no_spread_is_a_point():
    costs = SHEETS[0]
    score = NormalScore(0.3, 0.0, np.zeros(2))
    p = float(sigmoid(0.3))
    assert score.outlook(costs) == pytest.approx((costs.regret(False, p), costs.regret(True, p), p, p * (1 - p)))
    assert score.information() == pytest.approx(0.0, abs=1e-12)
    assert (score.above(0.3), score.above(0.31)) == (1.0, 0.0)


def test_tail_and_expectation():
    score = NormalScore(0.4, 2.25, np.zeros(1))
    assert score.above(1.0) == pytest.approx(stats.norm(0.4, 1.5).sf(1.0), rel=1e-12)
    assert score.above(-math.inf) == 1.0
    assert score.above(math.inf) == 0.0
    assert score.expect(lambda z: z) == pytest.approx(0.4, abs=1e-9)
    assert score.expect(lambda z: z**2) == pytest.approx(2.25 + 0.16, rel=1e-8)


def test_costs_that_leave_no_choice():
    score = NormalScore(0.4, 2.25, np.zeros(1))
    never, always = at.Costs.of_item(1, 5, 1), at.Costs.of_item(1, 0, 0)
    assert score.outlook(never).regret_pass == 0.0
    assert score.outlook(always).regret_act == 0.0
    assert score.outlook(never).chance == pytest.approx(score.outlook(always).chance, rel=1e-9)


@pytest.mark.parametrize("n", [1, 3, 700, 2000])
def test_many_are_as_one(rng, n):
    scores = NormalScores(rng.normal(size=n), rng.random(n), rng.normal(size=(n, 2)))
    costs = SHEETS[0]
    rows, above = scores.outlooks(costs), scores.above(0.2)
    for k in range(0, n, 97):
        np.testing.assert_allclose(rows[k], scores[k].outlook(costs), rtol=1e-12)
        assert above[k] == scores[k].above(0.2)
