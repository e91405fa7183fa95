"""The decision log in the words of other libraries."""

import json

import numpy as np
import pytest

import appletaste as at

COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def row(**changes):
    return {"id": "a", "act": True, "probability": 0.5, "label": 1, **COSTS, **changes}


def played(policy="ts", **options):
    table = at.problem("i", rounds=200).draw(at.Key(3))
    return table, at.play(at.policy(policy, n_features=5, costs=table.costs, seed=1, **options), table)


def test_to_obp_says_what_the_log_says():
    table, log = played()
    feedback = log.to_obp()
    assert feedback["n_rounds"] == 200
    assert feedback["n_actions"] == 2
    np.testing.assert_array_equal(feedback["action"], log.act)
    np.testing.assert_array_equal(feedback["pscore"], np.where(log.act, log.probability, 1 - log.probability))
    positive, negative = log.act & (table.labels == 1), log.act & (table.labels == 0)
    assert np.allclose(feedback["reward"][positive], table.costs.catch_gain)
    assert np.allclose(feedback["reward"][negative], -table.costs.alarm_price)
    assert (feedback["reward"][~log.act] == 0).all()
    with pytest.raises(at.errors.DataError, match="no x"):
        at.DecisionLog.from_rows([row()]).to_obp()


def test_vw_and_dsjson_parse_back():
    _, log = played()
    feedback = log.to_obp()
    for k, (text, line) in enumerate(zip(log.to_vw(), log.to_dsjson(), strict=True)):
        label, features = text.split(" | ")
        action, cost, probability = label.split(":")
        parsed = json.loads(line)
        assert int(action) - 1 == feedback["action"][k] == parsed["_labelIndex"]
        assert float(cost) == -feedback["reward"][k] == parsed["_label_cost"]
        assert float(probability) == feedback["pscore"][k] == parsed["_label_probability"] == parsed["p"][0]
        assert [float(part.split(":")[1]) for part in features.split()] == log.x[k].tolist()
        assert parsed["a"][0] == parsed["_label_Action"]
        assert sum(parsed["p"]) == pytest.approx(1)


def test_an_act_without_label_is_not_exported():
    log = at.DecisionLog.from_rows([row(label=None), row(id="b", act=False, label=None)])
    assert list(log.to_vw()) == ["1:0.0:0.5 |"]


def test_vowpal_wabbit_takes_the_lines():
    vw = pytest.importorskip("vowpalwabbit", reason="Vowpal Wabbit is not installed")
    _, log = played("greedy", epsilon=0.4)
    learner = vw.Workspace("--cb 2 --quiet")
    for line in log.to_vw():
        learner.learn(line)
    assert learner.get_weighted_examples() == 200
    learner.finish()
    learner = vw.Workspace("--cb_explore_adf --dsjson --quiet")
    for line in log.to_dsjson():
        examples = learner.parse(line)
        learner.learn(examples)
        learner.finish_example(examples)
    learner.finish()
