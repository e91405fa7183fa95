"""The same log, the same definition, the same number: Open Bandit Pipeline and Vowpal Wabbit's estimators."""

import numpy as np
import pytest
from bench.intervals.checks import LEVEL, rule
from bench.intervals.rival_estimators import ask_all, installed
from bench.intervals.rivals import SAME, exported
from bench.intervals.streams import stream

import appletaste as at

KINDS = {"appletaste IPS": "ips", "appletaste SNIPS": "snips", "appletaste DR": "dr"}


@pytest.fixture(scope="module")
def asked():
    """A log in which every item has support, what the rule of thumb does with it, and everybody's answers."""
    log = stream("greedy", "audit 5 %", 1, seed=3).log
    acting = np.array([rule(x) for x in log.x])
    answer = at.what_if(log, rule, level=LEVEL)
    assert answer.unsupported_share == 0
    names, rows = ask_all({name: column[None] for name, column in exported(log, acting).items()}, LEVEL)
    return log, answer, dict(zip(names, rows[0].tolist(), strict=True))


@pytest.mark.parametrize("name", SAME)
def test_values_agree_to_rounding(asked, name):
    log, answer, found = asked
    if name not in found:
        library = "Open Bandit Pipeline (obp)" if name.startswith("OBP") else "vw-estimators"
        pytest.skip(f"{library} is not installed; `make bench ARGS=coverage` runs this in an environment of its own")
    ours = -getattr(answer, KINDS[SAME[name]]).value / len(log)
    assert found[name][0] == pytest.approx(ours, rel=1e-9)
    assert found[name][0] != pytest.approx(1.01 * ours, rel=1e-3)  # the comparison can fail


def test_vowpal_wabbits_intervals_hold_its_value(asked):
    _, _, found = asked
    if "VW IPS, Gaussian" not in found:
        pytest.skip("vw-estimators is not installed")
    value, low, high = found["VW IPS, Gaussian"]
    assert low < value < high


def test_what_cannot_be_imported_is_left_out(monkeypatch, capsys):
    import sys

    monkeypatch.setitem(sys.modules, "obp.ope", None)
    monkeypatch.setitem(sys.modules, "estimators.bandits", None)
    assert list(installed()) == []
    assert "left out" in capsys.readouterr().err
