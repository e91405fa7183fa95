"""Costs: threshold, best action, regret, and sheets under which there is nothing to decide."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from appletaste import Costs
from appletaste.errors import CostsError

amounts = st.floats(0.01, 100)
chances = st.floats(0, 1)


def test_the_papers_losses_as_run():
    costs = Costs(miss=1.0, false_alarm=0.4, hit=0.05)
    assert costs.threshold == pytest.approx(0.4 / 1.35)
    assert costs.score_threshold == pytest.approx(math.log(0.4 / 0.95))
    assert costs.expected(True, 0.5) == pytest.approx(0.225)
    assert costs.expected(False, 0.5) == pytest.approx(0.5)
    assert costs.incurred(False, 1) == 1.0
    assert costs.incurred(True, 1) == 0.05
    assert costs.incurred(True, 0) == 0.4
    assert costs.incurred(False, 0) == 0.0


@given(hit=st.floats(-50, 50), gain=amounts, correct=st.floats(-50, 50), price=amounts, chance=chances)
def test_best_is_the_cheaper_action(hit, gain, correct, price, chance):
    costs = Costs(miss=hit + gain, false_alarm=correct + price, hit=hit, correct_pass=correct)
    act, keep = costs.expected(True, chance), costs.expected(False, chance)
    if abs(act - keep) > 1e-9:
        assert costs.best(chance) == (act < keep)
    assert costs.regret(costs.best(chance), chance) <= 1e-9
    assert costs.regret(True, chance) == pytest.approx(max(act - keep, 0), abs=1e-9)
    assert 0 < costs.threshold < 1
    assert 1 / (1 + math.exp(-costs.score_threshold)) == pytest.approx(costs.threshold)


@pytest.mark.parametrize(
    ("sheet", "message"),
    [
        ({"miss": 0.1, "false_alarm": 1, "hit": 0.4}, "acting never pays: need hit < miss"),
        ({"miss": 1, "false_alarm": 1, "hit": 1}, "acting never pays"),
        ({"miss": 1, "false_alarm": 0, "hit": 0}, "passing never pays"),
        ({"miss": 1, "false_alarm": 1, "hit": 0, "correct_pass": 2}, "passing never pays"),
        ({"miss": math.nan, "false_alarm": 1, "hit": 0}, "miss must be finite"),
        ({"miss": math.inf, "false_alarm": 1, "hit": 0}, "miss must be finite"),
        (
            {"miss": 1.7e308, "false_alarm": 1.7e308, "hit": 0},
            "miss must be finite and below 1e.100",
        ),  # a sum is infinite
        ({"miss": 1, "false_alarm": 1, "hit": -1e200}, "hit must be finite and below"),
        ({"miss": "a lot", "false_alarm": 1, "hit": 0}, "miss must be a number"),
    ],
)
def test_sheets_without_a_decision_are_refused(sheet, message):
    with pytest.raises(CostsError, match=message):
        Costs(**sheet)


def test_costs_of_one_item_may_leave_no_choice():
    never = Costs.of_item(miss=3, false_alarm=5, hit=5)
    assert never.threshold == never.score_threshold == math.inf
    assert not never.best(1.0)
    always = Costs.of_item(miss=3, false_alarm=0, hit=0)
    assert always.threshold == -math.inf
    assert always.best(0.0)
    hurts = Costs.of_item(miss=1, false_alarm=0, hit=2)  # a false alarm is free, a hit costs more than a miss
    assert not hurts.best(0.5)
    for costs in (never, always, hurts):
        for chance in (0.0, 0.3, 1.0):
            assert costs.regret(costs.best(chance), chance) == 0.0
    with pytest.raises(CostsError, match="swapped"):
        Costs.of_item(miss=0, false_alarm=0, hit=1, correct_pass=1)
    with pytest.raises(CostsError, match="finite"):
        Costs.of_item(miss=np.nan, false_alarm=0, hit=1)


def test_equality_and_text():
    assert Costs(1, 0.4, 0.05) == Costs(miss=1.0, false_alarm=0.4, hit=0.05)
    assert repr(Costs(1, 0.4, 0.05)) == "Costs(miss=1.0, false_alarm=0.4, hit=0.05, correct_pass=0.0)"
    assert Costs(1, 0.4, 0.05).outcomes() == {"miss": 1.0, "false_alarm": 0.4, "hit": 0.05, "correct_pass": 0.0}
