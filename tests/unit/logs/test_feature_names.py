"""What the features of a log are called: kept in its files, so that alarms and reports speak of columns."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.drift import check
from appletaste.errors import DataError

COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def small_log(n=4):
    x = np.arange(2.0 * n).reshape(n, 2)
    given = {name: np.full(n, value) for name, value in COSTS.items()}
    return at.DecisionLog.from_columns(
        {
            "id": [f"{k}" for k in range(n)],
            "act": np.zeros(n, dtype=bool),
            "probability": np.full(n, 0.5),
            "x": x,
            **given,
        }
    )


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_names_are_written_and_read_again(tmp_path, suffix):
    path, nameless = tmp_path / f"log{suffix}", tmp_path / f"nameless{suffix}"
    names = ("intercept", "größe = 2")
    small_log().named(names).write(path)
    small_log().write(nameless)
    assert at.DecisionLog.read(path).names == at.DecisionLog.scan(path).names == names
    assert at.DecisionLog.read(nameless).names is at.DecisionLog.scan(nameless).names is None
    assert at.DecisionLog.read(path).where([0, 2]).names == names
    assert "names" not in at.DecisionLog.read(path).columns()
    np.testing.assert_array_equal(at.DecisionLog.read(path).x, small_log().x)


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_folder_has_the_names_that_all_its_files_have(tmp_path, suffix):
    log = small_log()
    log.where([0, 1]).named(["a", "b"]).write(tmp_path / f"1{suffix}")
    log.where([2, 3]).named(["a", "b"]).write(tmp_path / f"2{suffix}")
    assert at.DecisionLog.scan(tmp_path).names == ("a", "b")
    log.where([2, 3]).named(["a", "c"]).write(tmp_path / f"2{suffix}")
    assert at.DecisionLog.scan(tmp_path).names is None


def test_names_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(DataError, match="2 features and 3 names"):
        small_log().named(["a", "b", "c"])
    path = tmp_path / "log.jsonl"
    small_log().named(["a", "b"]).write(path)
    first, *others = path.read_text().splitlines()
    row = json.loads(first)
    assert row["features"] == ["a", "b"]
    assert all("features" not in json.loads(line) for line in others)
    for wrong, told in (("a", "features is a list of texts"), (["a"], "2 features and 1 names")):
        path.write_text("\n".join([json.dumps(row | {"features": wrong}), *others]) + "\n")
        for read in (at.DecisionLog.read, at.DecisionLog.scan):
            with pytest.raises(DataError, match=told):
                read(path)


def test_alarms_of_a_replay_speak_of_columns(tmp_path, capsys):
    rng = np.random.default_rng(4)
    amount = rng.normal(np.where(np.arange(2500) < 1200, 0.0, 3.0))
    path, log = tmp_path / "t.csv", tmp_path / "log.jsonl"
    rows = (f"{a:.3f},{rng.normal():.3f},{int(rng.random() < 0.2)}\n" for a in amount)
    path.write_text("amount,age,bad\n" + "".join(rows))
    words = ["--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--order", "as-is", "--jobs", "1"]
    for policy in ("voi[trees=false]", "greedy"):  # greedy meets straight lines: fewer places, with the names of these
        assert main(["replay", str(path), *words, "--policy", policy, "--log", str(log)]) == 0
        read = at.DecisionLog.read(log)
        assert len(read.names) == read.x.shape[1]
        assert {"amount", "age"} <= set(read.names)
        assert {alarm.feature for alarm in check(log) if alarm.kind == "features"} & set(read.names)
        capsys.readouterr()
        assert main(["drift", str(log), "--json"]) == 0
        assert "'amount'" in capsys.readouterr().out


def test_what_nobody_has_named_is_counted_as_explanations_count():
    rng = np.random.default_rng(3)
    items = [rng.normal([0.0, 3.0 if k >= 1500 else 0.0]) for k in range(2600)]
    policy = at.policy("never", n_features=2, costs=at.Costs(**COSTS))
    watch = at.drift.Watch()
    for x in items:
        watch.item(x)
    (alarm,) = watch.alarms
    told = [
        part.words for part in at.explain(at.policy("ts", n_features=2, costs=policy.costs), items[0]).contributions
    ]
    assert alarm.feature == "feature 2"
    assert any(words.startswith("feature 2 = ") for words in told)


def test_the_log_of_a_stream_of_records_has_names():
    features = at.Encoder().fit({"amount": [1.0, 2.0, 3.0] * 20, "country": ["DE", "FR", "IT"] * 20})
    policy = at.policy(n_features=features.n_features, costs=at.Costs(**COSTS))
    with at.Stream.create("memory", "s", policy, features=features, seed=1, audit="0") as stream:
        stream.decide({"amount": 2.0, "country": "DE"}, id="a")
        assert stream.log().names == tuple(features.names())
