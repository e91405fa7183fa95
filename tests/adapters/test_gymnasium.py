"""The environment keeps Gymnasium's contract and tells nobody what a passed item was."""

from dataclasses import replace

import numpy as np
import pytest

import appletaste as at

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'appletaste[gymnasium]'")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from appletaste.adapters.gymnasium import ENVIRONMENT, AppleTastingEnv, labelled_table  # noqa: E402


def drive(env, policy, seed):
    """Return the acts, the rewards and what was hidden when a policy plays an episode."""
    observation, _ = env.reset(seed=seed)
    acts, rewards, losses, regrets, over = [], [], [], [], False
    while not over:
        decision = policy.decide(observation["item"])
        observation, reward, over, truncated, info = env.step(int(decision.act))
        assert not truncated
        assert observation in env.observation_space
        if decision.act:
            policy.learn(decision, int(observation["label"]))
        acts.append(decision.act)
        rewards.append(reward)
        losses.append(info["hidden_loss"])
        regrets.append(info["hidden_regret"])
    return np.array(acts), np.array(rewards), np.array(losses), np.array(regrets)


@pytest.mark.parametrize("settings", [{}, {"problem": "i"}, {"problem": "synthetic", "intercept": -2.0, "rounds": 50}])
def test_gymnasiums_own_check(settings):
    """Warnings are errors here as everywhere."""
    check_env(gymnasium.make(ENVIRONMENT, **settings).unwrapped)


@pytest.mark.parametrize("name", ["voi", "pg-ts"])
def test_a_policy_plays_as_it_does_by_itself(name):
    env = gymnasium.make(ENVIRONMENT, problem="i", rounds=300)
    table = at.problem("i", rounds=300).draw(at.Key(11))
    trace = at.play(at.policy(name, n_features=5, costs=table.costs, seed=2), table)
    acts, rewards, losses, regrets = drive(env, at.policy(name, n_features=5, costs=table.costs, seed=2), seed=11)
    np.testing.assert_array_equal(acts, trace.act)
    assert regrets.sum() == pytest.approx(table.regret_of(trace.act).sum(), rel=1e-12)
    incurred = [table.costs.incurred(bool(a), int(c)) for a, c in zip(acts, table.labels, strict=True)]
    np.testing.assert_array_equal(losses, incurred)
    never = sum(table.costs.incurred(False, int(c)) for c in table.labels)
    assert rewards.sum() == pytest.approx(never - losses.sum())  # the reward is the saving over passing everything


def test_a_pass_says_nothing_of_its_label():
    table = at.problem("i", rounds=60).draw(at.Key(1))
    flipped = replace(table, labels=(1 - table.labels).astype(np.int8))
    actions = np.random.default_rng(2).integers(2, size=60)
    one, two = AppleTastingEnv(table), AppleTastingEnv(flipped)
    assert str(one.reset()) == str(two.reset())
    seen = []
    for action in actions:
        (obs1, reward1, *rest1, info1), (obs2, reward2, *rest2, info2) = one.step(action), two.step(action)
        np.testing.assert_array_equal(obs1["item"], obs2["item"])
        assert rest1 == rest2
        same = (reward1, obs1["label"]) == (reward2, obs2["label"])
        assert same == (action == 0)
        assert info1["hidden_loss"] != info2["hidden_loss"]
        seen.append((action, reward1, int(obs1["label"])))
    gain, price = table.costs.catch_gain, table.costs.alarm_price
    assert set(seen) == {(0, 0.0, -1), (1, gain, 1), (1, -price, 0)}


def test_episodes_are_new_and_repeatable():
    env = AppleTastingEnv("synthetic", rounds=5, features=2)
    first, second, third = env.reset(seed=1)[0], env.reset()[0], env.reset()[0]
    assert not np.array_equal(first["item"], second["item"])
    assert not np.array_equal(second["item"], third["item"])
    np.testing.assert_array_equal(env.reset(seed=1)[0]["item"], first["item"])
    np.testing.assert_array_equal(env.reset()[0]["item"], second["item"])


def test_a_table_is_played_as_it_is_or_shuffled():
    table = at.problem("i", rounds=40).draw(at.Key(1))
    plain, shuffled = AppleTastingEnv(table), AppleTastingEnv(table, shuffle=True)
    np.testing.assert_array_equal(plain.reset(seed=3)[0]["item"], table.items[0])
    shuffled.reset(seed=3)
    assert not np.array_equal(shuffled.table.items, table.items)
    order = [int(np.flatnonzero((table.items == x).all(axis=1))[0]) for x in shuffled.table.items]
    assert sorted(order) == list(range(40))
    np.testing.assert_array_equal(shuffled.table.labels, table.labels[order])
    np.testing.assert_array_equal(shuffled.table.chances, table.chances[order])


def test_a_file_becomes_a_table(tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"{a:.3f},{'red' if a > 0 else 'blue'},{int(a + rng.normal() > 1)}" for a in rng.normal(size=200)]
    path = tmp_path / "cases.csv"
    path.write_text("\n".join(["amount,colour,fraud", *lines]))
    table = labelled_table(path, "fraud", at.Costs(5, 1, 0), at.Encoder())
    env = AppleTastingEnv(table)
    check_env(env, skip_render_check=True)  # it has no spec to make others from, and nothing to render
    acts, _, losses, _ = drive(env, at.policy(n_features=table.n_features, costs=table.costs), seed=None)
    assert acts.any()
    assert losses.sum() < 5 * table.labels.sum()


def test_wrong_use_is_named():
    env = AppleTastingEnv("i", rounds=2)
    with pytest.raises(gymnasium.error.ResetNeeded, match="not begun"):
        env.step(0)
    env.reset(seed=1)
    with pytest.raises(at.errors.InputError, match=r"an action is 0 \(pass\) or 1 \(act\), got 2"):
        env.step(2)
    env.step(1)
    observation, _, over, _, _ = env.step(1)
    assert over
    assert not observation["item"].any()
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(0)
    with pytest.raises(at.errors.OptionError, match="rounds is a setting for a problem given by its name"):
        AppleTastingEnv(at.problem("i"), rounds=3)
    with pytest.raises(at.errors.OptionError, match="shuffle is for a Table"):
        AppleTastingEnv("i", shuffle=True)


def test_a_table_takes_costs_as_a_dict():
    table = labelled_table({"x": [1.0, 2.0], "bad": [0, 1]}, "bad", {"miss": 5, "false_alarm": 1, "hit": 0})
    env = AppleTastingEnv(table)
    env.reset(seed=1)
    assert env.step(1)[1] == -1.0
