"""Replays in which every item has costs of its own, and sweeps over a cost."""

import json

import numpy as np
import pytest
from bench.item_costs import SHEET, compare, made

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import CostsError, DataError, OptionError
from appletaste.replays.tally import costs_of

COSTS = {"miss": "amount*0.9 + 15", "false_alarm": 30, "hit": 30}


@pytest.fixture(scope="module")
def table():
    return made(600, seed=3)


@pytest.fixture(scope="module")
def played(table):
    return at.replay(table, "positive", costs=COSTS, order="as is", audit="5%", log="voi")


def test_each_item_is_decided_logged_and_charged_by_its_own_costs(table, played):
    log, sheet = played.log, SHEET.of_table(table)
    for name in ("miss", "false_alarm", "hit", "correct_pass"):
        np.testing.assert_allclose(getattr(log, name), getattr(sheet, name))
    labels = table["positive"].astype(np.int8)
    assert played["voi"].tallies[0].cost == pytest.approx(costs_of(log.act, labels, sheet).sum())
    pays = (labels == 1) & (sheet.catch_gain > 0)
    assert played["oracle"].tallies[0].acts == pays.sum()
    assert played["oracle"].tallies[0].cost == pytest.approx(np.where(pays, 30.0, labels * sheet.miss).sum())
    assert not (log.act & ~log.audit & (sheet.catch_gain <= 0)).any()
    caught = (sheet.miss * labels)[log.act].sum() / (sheet.miss * labels).sum()
    assert played["voi"].money_recall == pytest.approx(caught)
    assert played["voi"].money_recall > played["voi"].recall
    assert "in money" in str(played)
    assert any("acting never pays on" in note for note in played.notes)


def test_costs_follow_their_items_into_any_order(table):
    day = np.random.default_rng(1).permutation(600).astype(float)
    timed = at.replay({**table, "day": day}, "positive", costs=COSTS, time="day", time_unit="day", log="voi")
    np.testing.assert_allclose(timed.log.miss, (table["amount"] * 0.9 + 15)[np.argsort(day)])
    shuffled = at.replay(table, "positive", costs=COSTS, shuffles=1, log="voi")
    rows = [int(one.rsplit("-", 1)[1]) for one in shuffled.log.id]
    np.testing.assert_allclose(shuffled.log.miss, (table["amount"] * 0.9 + 15)[rows])


def test_a_column_of_a_formula_may_be_dropped_and_the_label_not_named(table):
    dropped = at.replay(table, "positive", costs=COSTS, order="as is", drop=["amount"], log="voi", encoder=at.Encoder())
    assert dropped.log.x.shape[1] == 4
    assert dropped.log.miss.max() == pytest.approx(table["amount"].max() * 0.9 + 15)
    with pytest.raises(OptionError, match="'positive' is the label"):
        at.replay(table, "positive", costs={**COSTS, "miss": "100*positive"})
    with pytest.raises(OptionError, match="a matrix has no column names"):
        at.replay(np.ones((4, 2)), np.array([0, 1, 0, 1]), costs=COSTS)
    with pytest.raises(DataError, match="no column besides the label"):
        at.replay({"amount": [1.0, 2.0], "bad": [0, 1]}, "bad", costs=COSTS, drop=["amount"])
    holes = {**table, "amount": np.where(np.arange(600) == 17, np.nan, table["amount"])}
    with pytest.raises(CostsError, match=r"the table, row 17: miss = .* is missing, because amount is missing"):
        at.replay(holes, "positive", costs=COSTS)


def test_costs_by_item_are_worth_a_fifth_of_the_cost():
    own, average = compare(2500, 3).sum(axis=0)
    assert own < 0.8 * average


def test_what_if_and_report_use_the_costs_of_each_item(played):
    log = played.log
    own = at.what_if(log, at.evaluate.OwnThreshold())
    asked = (log.chance * log.catch_gain >= (1 - log.chance) * log.alarm_price) & (log.catch_gain > 0)
    assert own.acts == asked.sum()
    same = at.what_if(log, {name: name for name in ("miss", "false_alarm", "hit", "correct_pass")})
    assert same.acts == own.acts
    assert same.dr == own.dr
    twice = at.what_if(log, {"miss": "2*miss", "false_alarm": "false_alarm", "hit": "hit"})
    assert twice.acts == (log.chance * (2 * log.miss - log.hit) >= (1 - log.chance) * log.alarm_price).sum()
    priced = at.what_if(
        log, {"miss": "2*miss", "false_alarm": "false_alarm", "hit": "hit"}, costs=at.Costs(100, 30, 30)
    )
    assert priced.acts == twice.acts
    assert priced.logged != twice.logged
    facts = at.reports.gather(log)
    assert facts.by_item
    asked = {times: found.acts for times, found in facts.thresholds}
    assert asked[1.0] == own.acts
    assert asked[0.0] == (log.catch_gain > 0).sum()
    with pytest.raises(CostsError, match="no column 'amount'"):
        at.what_if(log, COSTS)


def test_explain_works_out_the_costs_of_a_record():
    people = [{"amount": 30.0}, {"amount": 500.0}]
    features = at.Encoder().fit(people)
    policy = at.policy(n_features=features.n_features, costs=at.Costs(100, 30, 30))
    found = at.explain(policy, people[1], features, costs=SHEET)
    assert found.threshold == pytest.approx(SHEET.of_item(people[1]).threshold)
    with pytest.raises(at.errors.InputError, match="columns of a record"):
        at.explain(policy, [1.0, 0.5], features, costs=SHEET)


def test_a_sweep_says_what_changes_and_what_does_not(table):
    found = at.replays.sweep(table, "positive", costs=COSTS, shuffles=1, factors=(2, 0.5, 1))
    assert list(found.results) == [0.5, 1.0, 2.0]
    alone = at.replay(table, "positive", costs={**COSTS, "miss": "2*(amount*0.9+15)"}, shuffles=1)
    assert found[2.0]["voi"].tallies[0].cost == pytest.approx(alone["voi"].tallies[0].cost)
    assert len({found[f]["always"].cost_per_1000.mean for f in found.results}) == 1
    assert found[2.0]["never"].tallies[0].cost == pytest.approx(4 * found[0.5]["never"].tallies[0].cost)
    assert found.findings[0].startswith("the order of the policies by cost")
    assert any(told.startswith("voi: the share of items acted on changes, from") for told in found.findings)
    assert [play["factor"] for play in found.as_dict()["plays"]] == [0.5, 1.0, 2.0]
    plain = at.replays.sweep(table, "positive", costs=at.Costs(90, 6, 4), outcome="hit", shuffles=1, factors=[1, 1.01])
    assert "the order of the policies by cost does not change" in plain.findings[0]
    assert any("hardly changes" in told for told in plain.findings)
    with pytest.raises(CostsError, match=r"miss times 0.5: acting never pays.*Leave out this factor"):
        at.replays.sweep(table, "positive", costs=at.Costs(50, 30, 30), shuffles=1)
    with pytest.raises(OptionError, match="a sweep is over one of miss"):
        at.replays.sweep(table, "positive", costs=COSTS, outcome="mis")


def test_the_command_line_takes_formulas_and_sweeps(table, tmp_path, capsys):
    path = tmp_path / "orders.csv"
    names = ["order value", *list(table)[1:]]
    rows = zip(*(column.tolist() for column in table.values()), strict=True)
    path.write_text("\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)]))
    start = ["replay", str(path), "--label", "positive", "--jobs", "1", "--costs"]
    costs = 'miss="order value"*0.9+15, false_alarm=30, hit=max(30, 2*15)'
    log = str(tmp_path / "log.jsonl")
    assert main([*start, costs, "--order", "as-is", "--audit", "5%", "--log", log]) == 0
    assert "in money" in capsys.readouterr().out
    assert main(["missed", log, "--json"]) == 0
    money = json.loads(capsys.readouterr().out)["money"]
    assert money["cost"]["low"] <= money["cost"]["value"] <= money["cost"]["high"]
    assert main(["what-if", log, "--threshold", "1.5x"]) == 0
    assert main(["what-if", log, "--costs", "miss=2*miss,false_alarm=false_alarm,hit=hit"]) == 0
    capsys.readouterr()
    assert main([*start, costs, "--shuffles", "1", "--sweep", "miss=1..2", "--json"]) == 0
    assert [play["factor"] for play in json.loads(capsys.readouterr().out)["plays"]] == [1.0, 2.0]
    assert main([*start, costs, "--sweep", "miss=1..x"]) == 2
    assert main([*start, costs, "--sweep", "miss=1..2", "--log", log]) == 2
    assert main([*start, "miss=valeu,false_alarm=1,hit=0"]) == 2
    assert "There are" in capsys.readouterr().err
    assert main(["simulate", "--problem", "i", "--costs", "miss=amount,false_alarm=1,hit=0"]) == 2
    assert "give numbers" in capsys.readouterr().err
