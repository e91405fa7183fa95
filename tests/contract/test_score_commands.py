"""``--score COLUMN``, and trees for columns that matter together, on the command line: from a file to a decision."""

import csv
import json

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main

COSTS = ["--costs", "miss=1,false_alarm=0.4,hit=0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A labelled file with a vendor's score, two columns that matter together, and items to come."""
    rng, n = np.random.default_rng(3), 720
    a, b = rng.normal(size=(2, n))
    z = 3.0 * np.sign(a * b) - 0.3
    chance = 1 / (1 + np.exp(-z))
    table = {
        "a": a,
        "b": b,
        "risk": (1 / (1 + np.exp(-z - rng.normal(size=n)))).round(3),
        "name": rng.choice(["x", "y"], n),
        "bad": (rng.random(n) < chance).astype(int),
    }
    where = tmp_path_factory.mktemp("scored")
    for file, rows, left_out in (("past.csv", range(700), ()), ("new.csv", range(700, n), ("bad",))):
        names = [name for name in table if name not in left_out]
        with (where / file).open("w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(names)
            writer.writerows([table[name][k] for name in names] for k in rows)
    return where


def call(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_replay_says_what_becomes_of_the_score(folder, capsys):
    table = ["replay", folder / "past.csv", "--label", "bad", *COSTS, "--shuffles", "1", "--jobs", "1", "--json"]
    code, scored, told = call(capsys, *table, "--score", "risk")
    assert code == 0
    assert "the score 'risk' is taken by its log-odds" in told
    code, plain, told = call(capsys, *table, "--drop", "risk")
    assert code == 0
    assert "log-odds" not in told
    costs = [
        next(row for row in json.loads(text) if row["policy"] == "voi")["cost_per_1000"] for text in (scored, plain)
    ]
    assert costs[0]["mean"] < costs[1]["mean"]


@pytest.mark.parametrize(
    ("score", "said"), [("name", "--number name"), ("rsk", "risk"), ("bad", "no feature as well"), ("risk", None)]
)
def test_what_cannot_be_a_score_is_refused_in_flags(folder, capsys, tmp_path, score, said):
    verb = ["stream", "create", tmp_path / "d.db", "--history", folder / "past.csv", "--label", "bad", *COSTS]
    code, _, told = call(capsys, *verb, "--score", score)
    assert code == (0 if said is None else 2)
    assert (said or "log-odds") in told


def test_a_stream_with_a_score_and_trees_decides_and_says_why(folder, capsys, tmp_path):
    store = tmp_path / "vendor.db"
    make = ["stream", "create", store, "--history", folder / "past.csv", "--label", "bad", *COSTS, "--teach"]
    code, *_ = call(capsys, *make, "--score", "risk", "--drop", "name")
    assert code == 0
    with at.Stream.open(store, "vendor", read_only=True) as stream:
        assert stream.features.score.name == "risk"
    code, out, _ = call(capsys, "decide", store, folder / "new.csv", "--make-ids", "--json")
    assert code == 0
    assert "risk = " in out
    bare = tmp_path / "bare.db"
    make[2] = bare
    assert call(capsys, *make, "--drop", "risk", "--drop", "name")[0] == 0
    with at.Stream.open(bare, "bare", read_only=True) as stream:
        policy = stream.player.policy
        assert policy.learner.forest is not None
        told = at.explain(policy, {"a": 1.2, "b": 1.1}, stream.features)
        assert [part.column for part in told.contributions] == ["a", "b"]
        assert all(part.value > 0.5 for part in told.contributions)
        other = at.explain(policy, {"a": 1.2, "b": -1.1}, stream.features)
        assert other.score < 0.0 < told.score
        assert stream.verify().events
