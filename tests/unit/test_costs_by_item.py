"""Costs by item: one item, a table, what is refused with its row, and what every policy takes."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import CostsError, InputError

SHEET = at.CostsByItem(miss="amount*0.9 + 15", false_alarm=6, hit=4)


def test_one_item_and_a_table_agree():
    amounts = [0.0, 12.5, 300.0]
    table = SHEET.of_table({"amount": amounts, "shop": ["a", "b", "c"]})
    assert table.each() == [SHEET.of_item({"amount": amount}) for amount in amounts]
    assert table.miss.tolist() == pytest.approx([15.0, 26.25, 285.0])
    assert table[np.array([2, 0])].miss.tolist() == pytest.approx([285.0, 15.0])


def test_where_acting_pays_is_averaged_and_the_rest_is_noted():
    sheet = at.CostsByItem(miss="amount", false_alarm="fee", hit=10)
    table = sheet.of_table({"amount": [4.0, 50.0, 90.0, 20.0], "fee": [5.0, 5.0, 7.0, 0.0]})
    assert table.average() == at.Costs(miss=70, false_alarm=6, hit=10)
    never, always = table.notes("row {}".format)
    assert never.startswith("acting never pays on 1 of 4 items (25.0 %)")
    assert never.endswith("the first is row 0: miss=4, hit=10")
    assert always.startswith("acting always pays on 1 of 4 items")
    assert always.endswith("row 3: false_alarm=0, correct_pass=0")
    with pytest.raises(CostsError, match="acting never pays on any of 2 items"):
        sheet.of_table({"amount": [4.0, 5.0], "fee": [1.0, 1.0]}).average()


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"amount": [1.0, np.nan]}, "row 1: miss = amount*0.9 + 15 is missing, because amount is missing"),
        ({"amount": [np.inf, 1.0]}, "row 0: miss = amount*0.9 + 15 is infinite, because amount is infinite"),
        (
            {"amount": [1.0, 1e200]},
            "row 1: miss = amount*0.9 + 15 is 9e+199, because amount is 1e+200. A cost is below",
        ),
        ({"amount": [1.0, -50.0]}, "row 1: miss = amount*0.9 + 15 is -30, and a miss cannot cost less than nothing"),
        ({"amount": ["a", "b"]}, "column 'amount' holds texts such as 'a'"),
        ({"Amount": [1.0, 2.0]}, "did you mean Amount"),
    ],
)
def test_what_is_wrong_is_refused_with_its_row(columns, said):
    with pytest.raises(CostsError) as error:
        SHEET.of_table(columns)
    assert said in str(error.value)


def test_gains_may_be_negative_and_swapped_labels_are_seen():
    calls = at.CostsByItem(miss=0, false_alarm=1, hit="-0.1*order")
    assert calls.of_item({"order": 80}).catch_gain == 8.0
    with pytest.raises(CostsError, match=r"row 1: acting pays only on negatives .* labels swapped"):
        at.CostsByItem(miss="m", false_alarm=1, hit=5, correct_pass=2).of_table({"m": [9.0, 3.0]})
    with pytest.raises(CostsError, match="'amount' is None in the record"):
        SHEET.of_item({"amount": None})


def test_a_mapping_is_costs_or_costs_by_item():
    assert at.CostsByItem.of({"miss": 5, "false_alarm": "0.5 + 0.5", "hit": 0}) == at.Costs(5, 1, 0)
    assert at.CostsByItem.of({"miss": "amount", "false_alarm": 1, "hit": 0}).columns == ("amount",)
    for wrong in ({"miss": 5}, {"miss": 5, "false_alarm": 1, "hit": 0, "mis": 3}, 5):
        with pytest.raises(CostsError, match="costs must be"):
            at.CostsByItem.of(wrong)
    with pytest.raises(CostsError, match="miss must be a number or a formula"):
        at.CostsByItem(miss=float("nan"), false_alarm=1, hit=0)
    assert SHEET.scaled("miss", 2.0).of_item({"amount": 100}).miss == 210.0


def test_policies_desks_and_ledgers_take_the_costs_of_an_item_as_a_dict():
    usual = {"miss": 5, "false_alarm": 1, "hit": 0}
    never = {"miss": 1, "false_alarm": 2, "hit": 2}
    desk = at.Desk(at.policy("greedy", n_features=1, costs=usual, epsilon=0.0))
    ledger = at.streams.Ledger(desk)
    first = ledger.decide([1.0], id="a", costs=never)
    assert first.costs == at.Costs.of_item(**never)
    assert not first.act
    assert ledger.decide([1.0], id="a", costs=never) is first
    assert desk.decide_many([[1.0], [2.0]], costs=never).acts.tolist() == [False, False]
    with pytest.raises(InputError, match=r"costs.of_item\(record\)"):
        desk.decide([1.0], costs=SHEET)
    with pytest.raises(CostsError, match="A formula over columns gives costs by item"):
        at.policy(n_features=1, costs={**usual, "miss": "amount"})


def test_a_text_of_digits_with_a_dash_between_is_no_number():
    sheet = at.CostsByItem(miss="amount", false_alarm=1, hit=0)
    assert sheet.of_item({"amount": " 20.5 "}).miss == 20.5
    with pytest.raises(CostsError, match="a cost needs a number"):
        sheet.of_item({"amount": "2024_05"})
