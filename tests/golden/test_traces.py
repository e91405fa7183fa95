"""Golden traces: every learning policy on 40 items.

A change here is a change of published numbers: say so in CHANGELOG.md.

``python -m tests.golden.test_traces`` writes the file anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.policies import PolicySpec
from appletaste.simulate import made_for

FILE = Path(__file__).with_name("traces.json")
NAMES = ["pg-ts", "pg-ids", "pg-ids-traditional", "greedy", "cbp-side", "suplogistic"]
NAMES += ["voi", "voi[ahead=lindy]", "ucb", "ids", "ids-traditional", "ts", "adf-voi"]
NAMES += ["exact-voi", "exact-ids", "exact-ts"]


def trace(name):
    key = at.Key(2024).at("golden")
    table = at.problem("synthetic", features=2, rounds=40, theta_scale=2.0).draw(key)
    # Constants at which the two cautious policies do pass some items.
    options = {"cbp-side": {"curvature": 0.01}, "suplogistic": {"alpha": 0.01, "burn_in": 18}}
    options = options.get(name, {"switch": 10} if name.startswith("exact-") else {})  # so that it goes both its ways
    if name == "voi[ahead=lindy]":
        name, options = "voi", {"ahead": "lindy"}
    played = at.play(made_for(PolicySpec(name, options), table, key), table)
    return {
        "acts": "".join("01"[int(act)] for act in played.act),
        "probabilities": [round(p, 12) for p in played.probability.tolist()],
    }


@pytest.mark.parametrize("name", NAMES)
def test_trace_is_unchanged(name):
    golden = json.loads(FILE.read_text())[name]
    now = trace(name)
    assert now["acts"] == golden["acts"]
    # Sums may be added in another order on another processor; 1e-8 is far above that and far below any real change.
    np.testing.assert_allclose(now["probabilities"], golden["probabilities"], atol=1e-8)


def test_traces_are_worth_keeping():
    golden = json.loads(FILE.read_text())
    assert set(golden) == set(NAMES)
    assert all(0 < sum(map(int, entry["acts"])) < 40 for entry in golden.values())


if __name__ == "__main__":
    FILE.write_text(json.dumps({name: trace(name) for name in NAMES}, indent=1) + "\n")
