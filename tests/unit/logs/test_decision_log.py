"""The decision log: what it takes, what it refuses, and that it comes back from disk as it was."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.logs import files as log_files

COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def row(**changes):
    return {"id": "a", "act": True, "probability": 0.5, "label": 1, **COSTS, **changes}


def played(policy="ts", **options):
    table = at.problem("i", rounds=200).draw(at.Key(3))
    trace = at.play(at.policy(policy, n_features=5, costs=table.costs, seed=1, **options), table)
    return table, trace


def test_labels_of_passes_are_not_in_the_log():
    table, trace = played()
    log = at.DecisionLog.from_trace(table, trace, policy="ts")
    assert (log.label[~log.act] == -1).all()
    assert (log.label[log.act] == table.labels[log.act]).all()
    assert set(log.state[~log.act]) == {"never_due"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probability": 1.2}, "probability must be in"),
        ({"probability": float("nan")}, "probability must be in"),
        ({"probability": 0.0}, "act with probability 0"),
        ({"act": False, "label": None, "probability": 1.0}, "pass with probability 1"),
        ({"act": False}, "a pass has no label"),
        ({"label": 2}, "a label is 0, 1"),
        ({"label": "yes"}, "a label is 0, 1"),
        ({"state": "lost"}, "state is one of"),
        ({"state": "pending"}, "does not go with"),
        ({"label": None, "state": "observed"}, "does not go with"),
        ({"state": "never_due"}, "due a label"),
        ({"act": False, "label": None, "state": "pending"}, "never due"),
        ({"act": False, "label": None, "audit": True}, "audit"),
        ({"chance": -0.1}, "chance must be in"),
        ({"miss": float("inf")}, "miss must be finite"),
        ({"miss": None}, "miss is missing"),
        ({"miss": "5"}, "miss must be a number"),
        ({"act": "x"}, "act is true or false"),
        ({"id": None}, "id is missing"),
        ({"id": None, "hit": None}, "id, hit are missing; every row has"),
        ({"colour": 1}, "no field 'colour'"),
        ({"round": 1.5}, "whole number"),
        ({"x": ["a"]}, "list of numbers"),
        ({"x": [float("nan")]}, "finite"),
    ],
)
def test_what_no_stream_could_have_logged_is_refused(changes, message):
    with pytest.raises(at.errors.InputError, match=message):
        at.DecisionLog.from_rows([row(**changes)])


def test_more_refusals():
    with pytest.raises(at.errors.DataError, match="rows 1 and 3"):
        at.DecisionLog.from_rows([row(), row(id="b"), row()])
    with pytest.raises(at.errors.DataError, match="one length"):
        at.DecisionLog.from_rows([row(x=[1.0]), row(id="b", x=[1.0, 2.0])])
    with pytest.raises(at.errors.DataError, match="time is"):
        at.DecisionLog.from_rows([row(time=1.0), row(id="b", time="2024-01-01")])
    _, trace = played()
    with pytest.raises(at.errors.DataError, match="one play"):
        at.DecisionLog.from_trace(at.problem("i", rounds=10).draw(at.Key(3)), trace)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_written_and_read_back(tmp_path, suffix):
    table, trace = played()
    known = np.arange(200) % 3 > 0
    log = at.DecisionLog.from_trace(table, trace, policy="ts", chance=table.chances, known=known)
    path = tmp_path / f"log.{suffix}"
    log.write(path)
    again = at.DecisionLog.read(path)
    for name, column in vars(log).items():
        if column is None:
            assert getattr(again, name) is None
        else:
            np.testing.assert_array_equal(getattr(again, name), column)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_files_of_another_version_or_kind_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"schema_version": 99, **row()}) + "\n")
    with pytest.raises(at.errors.DataError, match="99"):
        at.DecisionLog.read(path)
    path.write_text("{\n")
    with pytest.raises(at.errors.DataError, match="line 1"):
        at.DecisionLog.read(path)
    with pytest.raises(at.errors.DataError, match=r"\.parquet or \.jsonl"):
        at.DecisionLog.from_rows([row()]).write(tmp_path / "log.csv")
    with pytest.raises(FileNotFoundError, match="no folder"):
        at.DecisionLog.from_rows([row()]).write(tmp_path / "none" / "log.jsonl")
    (tmp_path / "log.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(at.errors.DataError, match="not a whole Parquet"):
        at.DecisionLog.read(tmp_path / "log.parquet")
    monkeypatch.setattr(log_files, "SCHEMA_VERSION", 2)
    at.DecisionLog.from_rows([row()]).write(tmp_path / "new.parquet")
    monkeypatch.undo()
    with pytest.raises(at.errors.DataError, match="schema_version is 2"):
        at.DecisionLog.read(tmp_path / "new.parquet")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "log.jsonl"
    at.DecisionLog.from_rows([row()]).write(path)
    with pytest.raises(TypeError):
        log_files.write_log([{"id": object()}], path)
    assert len(at.DecisionLog.read(path)) == 1
    assert len(list(tmp_path.iterdir())) == 1


def test_obp_feedback_says_what_the_log_says():
    table, trace = played()
    log = at.DecisionLog.from_trace(table, trace)
    feedback = at.logs.obp_feedback(log)
    assert feedback["n_rounds"] == 200
    assert feedback["n_actions"] == 2
    np.testing.assert_array_equal(feedback["action"], trace.acts)
    np.testing.assert_array_equal(
        feedback["pscore"], np.where(trace.acts, trace.probabilities, 1 - trace.probabilities)
    )
    positive, negative = trace.acts & (table.labels == 1), trace.acts & (table.labels == 0)
    assert np.allclose(feedback["reward"][positive], table.costs.catch_gain)
    assert np.allclose(feedback["reward"][negative], -table.costs.alarm_price)
    assert (feedback["reward"][~trace.acts] == 0).all()
    with pytest.raises(at.errors.DataError, match="no x"):
        at.logs.obp_feedback(at.DecisionLog.from_rows([row()]))


def test_vw_text_and_dsjson_parse_back():
    table, trace = played()
    log = at.DecisionLog.from_trace(table, trace)
    feedback = at.logs.obp_feedback(log)
    for k, (text, line) in enumerate(zip(at.logs.vw_text(log), at.logs.vw_dsjson(log), strict=True)):
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
    assert list(at.logs.vw_text(log)) == ["1:0.0:0.5 |"]


def test_vowpal_wabbit_takes_the_lines():
    vw = pytest.importorskip("vowpalwabbit", reason="Vowpal Wabbit is not installed")
    table, trace = played("greedy", epsilon=0.4)
    log = at.DecisionLog.from_trace(table, trace)
    learner = vw.Workspace("--cb 2 --quiet")
    for line in at.logs.vw_text(log):
        learner.learn(line)
    assert learner.get_weighted_examples() == 200
    learner.finish()
    learner = vw.Workspace("--cb_explore_adf --dsjson --quiet")
    for line in at.logs.vw_dsjson(log):
        examples = learner.parse(line)
        learner.learn(examples)
        learner.finish_example(examples)
    learner.finish()
