"""Positives are rare and reviewers err: a policy that knows how often loses less than one that takes labels as true."""

import numpy as np

import appletaste as at

STREAMS, ITEMS = 30, 2000
COSTS = at.Costs(miss=10, false_alarm=1, hit=0)


def regret(seed, wrong, **told):
    """Return what a stream costs more than acting on all that pays; ``wrong`` are 1 - sensitivity, 1 - specificity."""
    rng = np.random.default_rng([seed, 3])
    items = np.column_stack([np.ones(ITEMS), rng.normal(size=(ITEMS, 4))])
    chances = 1 / (1 + np.exp(-items @ np.append(-4.5, rng.normal(size=4))))
    truth, luck = rng.random(ITEMS) < chances, rng.random(ITEMS)
    labels = np.where(truth, luck >= wrong[0], luck < wrong[1])
    policy = at.policy("voi", n_features=5, costs=COSTS, seed=seed, trees=False, **told)
    total = 0.0
    for x, chance, label in zip(items, chances, labels, strict=True):
        decision = policy.decide(x)
        total += COSTS.regret(act=decision.act, chance=chance)
        if decision.act:
            policy.learn(decision, int(label))
    return total


def gain(wrong):
    """Return by how much less it costs to be told 5 % and 2 %, in standard errors."""
    told = {"sensitivity": 0.95, "specificity": 0.98}
    pairs = np.array([[regret(seed, wrong), regret(seed, wrong, **told)] for seed in range(STREAMS)])
    less = pairs[:, 0] - pairs[:, 1]
    return less.mean() / (less.std(ddof=1) / STREAMS**0.5)


def test_errors_that_are_known_cost_less():
    assert gain((0.05, 0.02)) > 2


def test_errors_that_are_not_there_do_not():
    """The negative control: labels are true, the policy is told that they are not, and the check above fails."""
    assert gain((0.0, 0.0)) < 2
