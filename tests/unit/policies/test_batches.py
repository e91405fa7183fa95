"""Batches with a capacity: never more acts, the best ones, exact probabilities."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError

from ...contract.entries import COSTS, ENTRIES, IDS, make, stream


def taught(name, options, n=60):
    policy = make(name, options)
    for x, label in zip(*stream(3, n=n), strict=True):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)
    return policy


@pytest.mark.parametrize(("name", "options"), ENTRIES, ids=IDS)
@pytest.mark.parametrize("capacity", [0, 3, 50])
def test_never_more_acts_and_nothing_that_is_not_worth_it(name, options, capacity):
    """Certain rules: the k items worth most among those they want; others: no more than they want at the price."""
    policy, items = taught(name, options), stream(3, n=30, seed=9)[0]
    free = [policy.look(x) for x in items]
    before = policy.copy()

    def at_price(price):
        return [before.look(x, price=price) for x in items]

    decisions = policy.decide_many(items, capacity=capacity)
    assert decisions.acts.sum() <= capacity
    assert decisions.probabilities.sum() <= capacity + 1e-9
    assert ((decisions.probabilities >= 0) & (decisions.probabilities <= 1)).all()
    assert policy.round == 90
    assert decisions.shadow_price >= 0.0
    price = decisions.shadow_price
    if all(prospect.probability in (0.0, 1.0) for prospect in free):
        assert decisions.acts.sum() == min(capacity, sum(prospect.probability for prospect in free))
        for prospect, act in zip(free, decisions.acts, strict=True):
            if act:
                assert prospect.probability == 1.0
                assert prospect.worth >= price or price == 0.0
            else:
                assert prospect.probability == 0.0 or prospect.worth <= price
    else:
        assert (decisions.probabilities <= [prospect.probability for prospect in at_price(price)]).all()
        assert decisions.acts.any() or capacity == 0
    if capacity == 50:
        assert decisions.probabilities.tolist() == [prospect.probability for prospect in free]
        assert decisions.shadow_price == 0.0


def test_the_best_are_chosen_and_the_price_is_that_of_the_next():
    policy, items = taught("voi", {}), stream(3, n=40, seed=9)[0]
    worth = np.array([policy.look(x).worth for x in items])
    decisions = policy.decide_many(items, capacity=5)
    ranked = np.argsort(-worth)
    assert set(np.flatnonzero(decisions.acts)) == set(ranked[:5])
    assert decisions.shadow_price == worth[ranked[5]]
    assert decisions[0].why["shadow_price"] == decisions.shadow_price


def test_worth_is_saving_plus_value_of_the_label():
    policy, x = taught("voi", {}), np.array([0.4, -0.2, 0.1])
    prospect = policy.look(x)
    saving = COSTS.catch_gain * prospect.chance - COSTS.alarm_price * (1 - prospect.chance)
    assert prospect.why["price_of_acting"] == pytest.approx(-saving, abs=1e-9)
    assert prospect.worth == pytest.approx(saving + prospect.why["value_of_label"], abs=1e-9)
    assert taught("ts", {}).look(x).worth == pytest.approx(
        COSTS.catch_gain * taught("ts", {}).chance(x) - COSTS.alarm_price * (1 - taught("ts", {}).chance(x))
    )
    dearer = policy.look(x, price=0.1)
    assert dearer.why["price_of_acting"] == pytest.approx(prospect.why["price_of_acting"] + 0.1, abs=1e-9)
    assert math.isnan(make("always", {}).chance(x))


def test_probabilities_are_exact():
    """Acts of 400 seeds against the recorded probabilities, item by item; drawn independently they would exceed k."""
    items = stream(3, n=12, seed=9)[0]
    acts, probabilities = [], []
    for seed in range(400):
        policy = at.policy("greedy", n_features=3, costs=COSTS, seed=seed, epsilon=0.5)
        decisions = policy.decide_many(items, capacity=4)
        assert decisions.acts.sum() <= 4
        acts.append(decisions.acts)
        probabilities.append(decisions.probabilities)
    expected = np.mean(probabilities, axis=0)
    error = np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / 400)
    distance = (np.mean(acts, axis=0) - expected) / error
    assert np.abs(distance).max() < 4.5
    off = (np.mean(acts, axis=0) - 1.4 * expected) / error  # negative control
    assert np.abs(off).max() > 4.5
    loose = np.random.default_rng(1).random((400, 12)) < np.array(probabilities)
    assert (loose.sum(axis=1) > 4).any()


def test_a_capacity_must_be_a_number():
    for bad in (-1, 2.5, True, "many"):
        with pytest.raises(InputError, match="capacity"):
            make("voi", {}).decide_many(np.ones((3, 3)), capacity=bad)
    assert len(make("voi", {}).decide_many(np.ones((0, 3)), capacity=2)) == 0


def test_the_price_is_the_least_at_which_the_batch_fits():
    policy, items = taught("ts", {}), stream(3, n=40, seed=9)[0]
    wanted = {price: sum(policy.look(x, price=price).probability for x in items) for price in (0.0, 0.2)}
    found = policy.copy().decide_many(items, capacity=6)
    assert wanted[0.0] > 6.0
    price = found.shadow_price
    assert found.probabilities.tolist() == [policy.look(x, price=price).probability for x in items]
    assert sum(policy.look(x, price=0.999 * price).probability for x in items) > 6.0 >= found.probabilities.sum()


def test_a_batch_is_remembered_as_items_at_its_price():
    batch, one = taught("voi", {}), taught("voi", {})
    items = stream(3, n=40, seed=9)[0]
    found = batch.decide_many(items, capacity=5)
    for prospect, act in zip([one.look(x, price=found.shadow_price) for x in items], found.acts, strict=True):
        one.settle(prospect._replace(probability=float(act)))
    np.testing.assert_array_equal(batch.learner.arrays()["rule.memory"], one.learner.arrays()["rule.memory"])
    assert found.shadow_price > 0.0
