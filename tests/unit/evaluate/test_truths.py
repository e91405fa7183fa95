"""In a replay the truth stands beside every estimate, and no estimate has looked at it."""

import json
from dataclasses import replace

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import DataError
from appletaste.evaluate.support import settled, support_of
from appletaste.reports.facts import gather

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(1800, 2))
    table = {"a": x[:, 0], "b": x[:, 1], "bad": (rng.random(1800) < 1 / (1 + np.exp(2.5 - 2 * x[:, 0]))).astype(int)}
    return at.replay(
        table, "bad", costs=COSTS, order="as is", delay="exponential:300", audit="10%", policies=["voi"], log="voi"
    ).log


def without_truths(found):
    if isinstance(found, dict):
        return {name: without_truths(part) for name, part in found.items() if not name.startswith(("truth", "true_"))}
    return [without_truths(part) for part in found] if isinstance(found, list) else found


def test_every_answer_has_the_truth_about_the_same_items(log):
    found, usable = at.missed(log), support_of(log, 1e-3).usable
    missed, caught = log.truth[usable & ~log.act].sum(), log.truth[usable & log.act].sum()
    assert not usable.all()  # so that the part and the whole are told apart
    assert found.design.missed.truth == found.design.missed_hajek.truth == missed
    assert found.design.recall.truth == found.design.recall_hajek.truth == caught / (caught + missed)
    assert found.model.truth == found.truth == log.truth[~log.act].sum()
    assert str(found).count("the truth, known in a replay: ") == 6  # two of them in money, one of the whole
    silent = log.unchecked(probability=np.where(log.act | (np.arange(len(log)) % 3 > 0), log.probability, 1e-5))
    assert f"positives passed; the truth, known in a replay: {found.truth:.0f}" in str(at.missed(silent))
    other = at.what_if(log, 0.2)
    asked = settled(log)
    gains = np.where(asked.truth == 1, -5.0, 1.0)
    cost, done = gains[asked.chance >= 0.2].sum(), gains[asked.act].sum()
    assert {other.ips.truth, other.snips.truth, other.dr.truth} == {cost}
    assert (other.logged.truth, other.saving.truth) == (done, done - cost)


def test_estimates_do_not_look_at_it(log):
    blind, flipped = replace(log, truth=None), log.unchecked(truth=(1 - log.truth).astype(np.int8))
    asked = [lambda one: at.missed(one), lambda one: at.what_if(one, 0.2), lambda one: at.plan_audit(one)]
    for ask in asked:
        known, unknown, wrong = (json.dumps(ask(one).as_dict(), default=str) for one in (log, blind, flipped))
        assert "truth" not in unknown.replace("the truth", "")
        assert "true_" not in unknown
        assert known != wrong  # it is there
        assert without_truths(json.loads(known)) == json.loads(unknown) == without_truths(json.loads(wrong))
    known, unknown = (gather(one).as_dict() for one in (log, blind))
    answered = [one for one in known["thresholds"] if "value" in one["saving"]]
    assert [one["saving"]["truth"] for one in answered] == [
        at.what_if(log, o["threshold"]).saving.truth for o in answered
    ]
    assert without_truths(known) == unknown


def test_files_keep_it_and_the_report_shows_it(log, tmp_path, capsys):
    for name in ("log.parquet", "log.jsonl"):
        log.write(tmp_path / name)
        assert (at.DecisionLog.read(tmp_path / name).truth == log.truth).all()
        assert (at.DecisionLog.scan(tmp_path / name).truth == log.truth).all()
    assert main(["report", str(tmp_path / "log.parquet"), "--out", str(tmp_path / "page")]) == 0
    said = capsys.readouterr().out
    found = at.missed(log)
    assert f"the truth, known in a replay: {found.money.cost.truth:,.0f})" in said
    page = (tmp_path / "page" / "report.md").read_text()
    assert "| from the probabilities |" in page
    assert page.count("the truth |") >= 4
    assert main(["plan-audit", str(tmp_path / "log.parquet")]) == 0
    assert "positives, the truth" in capsys.readouterr().out


def test_it_is_of_every_item_or_of_none_and_agrees_with_labels(log, tmp_path):
    row = {"id": "a", "act": True, "probability": 0.5, "label": 1, "miss": 5, "false_alarm": 1, "hit": 0}
    with pytest.raises(DataError, match="the label is 1 and the truth 0"):
        at.DecisionLog.from_rows([row | {"truth": 0}])
    with pytest.raises(DataError, match="truth is missing"):
        at.DecisionLog.from_rows([row | {"truth": 1}, row | {"id": "b"}])
    with pytest.raises(DataError, match="a truth is 0, 1 or nothing"):
        at.DecisionLog.from_rows([row | {"truth": 2}])
    at.DecisionLog.from_rows([row | {"truth": 1}]).write(tmp_path / "1.jsonl")
    at.DecisionLog.from_rows([row | {"id": "b"}]).write(tmp_path / "2.jsonl")
    with pytest.raises(DataError, match=r"truth is not in .*2\.jsonl"):
        at.DecisionLog.scan(tmp_path)


def test_no_other_log_has_it():
    table = at.problem("i").draw(at.Key(1))
    log = at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)
    assert log.truth is None
    assert "truth" not in str(at.missed(log))
