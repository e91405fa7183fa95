"""How often a level will come again, and what that makes of the value of its label."""

import numpy as np
import pytest

import appletaste as at
from appletaste.features.levels import FIRST, SLOTS
from appletaste.kernels.levels import coming
from appletaste.rules import ValueOfInformation

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)


def test_levels_seen_once_come_again_as_often_as_is_said():
    """Over 60 streams by Zipf's law: levels that came once, and twice, against how often they truly come."""
    shares = 1.0 / np.arange(1, 501)
    shares /= shares.sum()
    said, truth = [], []
    for seed in range(60):
        counts = np.bincount(np.random.default_rng(seed).choice(500, 400, p=shares), minlength=500)
        once, twice = (counts == 1).sum(), (counts == 2).sum()
        said.append([coming(k, once, twice, 400) for k in (1, 2)])
        truth.append([shares[counts == k].mean() for k in (1, 2)])
    right = np.mean(truth, axis=0)
    off, plain = np.abs(np.log(np.mean(said, axis=0) / right)), np.abs(np.log(np.array([1, 2]) / 400 / right))
    assert (plain > 0.5).all()  # the plain frequency is far off
    assert (off < 0.7 * plain).all()
    assert off.max() < 0.5


def policy(**options):
    return at.policy("voi", n_features=2, costs=COSTS, groups=(0, SLOTS), **options)


def test_a_level_that_comes_often_is_worth_more():
    player = policy(prior=at.posteriors.Gaussian([-3.0, 0.0], [0.01, 1.0]), horizon=2000)
    often, seldom, new = ([1.0, FIRST + slot] for slot in (1, 2, 3))
    for k in range(300):
        x = often if k % 3 else [1.0, FIRST + 100 + k] if k % 30 else seldom
        player.commit(seen := player.look(x), player.draw(seen._replace(probability=0.0)))
    value = [player.look(x).why["value_of_label"] for x in (often, seldom, new)]
    assert value[0] > 3 * value[1] > 3 * value[2] > 0.0
    for _ in range(30):
        player.teach(often, 0)
    known = player.look(often).why["value_of_label"]
    assert known < value[0] / 3


@pytest.mark.parametrize("ahead", ["shared", "lindy", "double"])
def test_every_view_of_the_future_plays(ahead):
    player, rng = policy(ahead=ahead, randomised=True), np.random.default_rng(1)
    for _ in range(60):
        decision = player.decide([1.0, FIRST + rng.integers(0, 20)])
        assert 0.0 <= decision.probability <= 1.0
        if decision.act:
            player.learn(decision, int(rng.random() < 0.3))
    assert 0 < player.learner.belief.labels.n < 60


def test_the_rule_asks_for_a_posterior_that_knows_levels():
    method = at.policies.Bayesian(at.posteriors.Laplace(), ValueOfInformation(levels=[1]))
    with pytest.raises(at.errors.OptionError, match="effect for each level"):
        at.Policy(method, n_features=2, costs=COSTS).decide([1.0, 2.0])


def test_a_memory_of_levels_saves_on_a_stream_of_many_levels():
    """Three streams of 8,000 items, two columns of 300 levels: against a column for each level of the first rows."""
    more = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        shares = 1.0 / np.arange(1, 301) ** 0.8
        levels = rng.choice(300, (8000, 2), p=shares / shares.sum())
        score = -2.5 + rng.normal(0, 1.5, 300)[levels[:, 0]] + rng.normal(0, 1.5, 300)[levels[:, 1]]
        bad = (rng.random(8000) < 1 / (1 + np.exp(-score))).astype(int)
        table = {f"c{c}": np.array([f"level {k}" for k in levels[:, c]], dtype=object) for c in range(2)} | {"bad": bad}
        costs = at.Costs(miss=(1 - bad.mean()) / bad.mean(), false_alarm=1, hit=0)
        cost = [
            at.replay(table, "bad", costs=costs, order="as is", encoder=at.Encoder(many=many))["voi"].cost_per_1000.mean
            for many in (False, True)
        ]
        more.append(cost[0] - cost[1])
    assert np.mean(more) > 50.0
    assert np.mean(more) > 3 * np.std(more, ddof=1) / np.sqrt(3)
