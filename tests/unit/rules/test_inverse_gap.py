import math

import numpy as np
import pytest

import appletaste as at
from appletaste.rules.inverse_gap import balanced

CASES = [(0.3, 0.2, 4.0), (0.05, 0.1, 2.0), (1.0, 0.02, 8.0), (0.4, 0.25, 0.7)]


def worst(p, gap, stake, price):
    """Return the worst regret over errors of the gap, less what they cost, if passing is best and if acting is."""
    errors = np.linspace(-60.0, 60.0, 1_200_001) * max(stake, gap)
    paid = price * p * errors**2 / (4.0 * stake)
    return (p * (gap + errors) - paid).max(), ((1.0 - p) * (-gap - errors) - paid).max()


@pytest.mark.parametrize(("gap", "stake", "price"), CASES)
def test_no_other_probability_has_a_smaller_worst_regret(gap, stake, price):
    p = balanced(gap, stake, price)
    passing, acting = worst(p, gap, stake, price)
    assert passing == pytest.approx(acting, rel=1e-4)
    for other in (0.7 * p, 0.95 * p, min(1.0, 1.05 * p), min(1.0, 1.5 * p)):
        assert max(worst(other, gap, stake, price)) > max(passing, acting) * (1 + 1e-6)


def test_the_price_and_the_stake_are_those_of_the_class():
    costs = at.Costs(miss=1.0, false_alarm=0.8, hit=0.1)
    policy = at.policy("inverse-gap", n_features=2, costs=costs, caution=2.0, seed=3)
    rng = np.random.default_rng(5)
    for _ in range(200):
        x = rng.normal(size=2)
        decision = policy.decide(x)
        q, t = decision.chance, decision.round
        gap = costs.alarm_price - (costs.alarm_price + costs.catch_gain) * q
        price = 2.0 * math.sqrt(t / (2 * math.log(1 + t)))
        stake = (costs.alarm_price + costs.catch_gain) * q * (1 - q)
        assert decision.probability == pytest.approx(1.0 if gap <= 0 else 1 / (2 + price * gap / stake), rel=1e-9)
        if decision.act:
            policy.learn(decision, int(rng.random() < 1 / (1 + math.exp(1.0 - x[0]))))


def test_it_learns_and_leaves_rare_items_in_peace():
    costs, rng = at.Costs(miss=1.0, false_alarm=1.0, hit=0.0), np.random.default_rng(1)
    policy = at.policy("inverse-gap", n_features=2, costs=costs, seed=1)
    late = []
    for t in range(3000):
        x = np.array([1.0, rng.normal()])
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, int(rng.random() < 1 / (1 + math.exp(-4.0 * x[1] + 1.0))))
        if t >= 2000:
            late.append((x[1], decision.probability))
    side, probability = np.array(late).T
    assert probability[side < -1.0].max() < 0.01
    assert probability[side > 0.5].min() == 1.0
