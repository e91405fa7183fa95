"""Costs by item, dates and the times of labels at a desk: what they mean in a replay, they mean here."""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.streams.deciding_tmp import decide_many
from appletaste.streams.desk_file_tmp import read_desk
from appletaste.streams.from_table import create_desk
from appletaste.streams.requests import read_items
from appletaste.streams.worklist import pending_work

from .test_desk_commands import call, rows_of, without, write

ROLES = ["--label", "bad", "--id", "case", "--time", "came"]
NUMBERS = "miss=90,false_alarm=6,hit=4"
BY_ITEM = "miss=amount*0.9/size,false_alarm=6,hit=4"
SHEET = at.CostsByItem(miss="amount*0.9/size", false_alarm=6, hit=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A history of 300 cases with dates, the next 40, and a desk with costs by item that was taught the history."""
    folder, rng = tmp_path_factory.mktemp("cases"), np.random.default_rng(3)
    rows = []
    for k in range(340):
        came = datetime(2024, 3, 1) + timedelta(hours=5 * k)
        days, amount = float(rng.integers(1, 900)), float(rng.integers(20, 400))
        bad = rng.random() < 1 / (1 + np.exp(2 - 2 * (days < 90) - amount / 300))
        rows.append(
            {
                "case": f"c{k}",
                "came": came.isoformat(timespec="minutes"),
                "amount": f"{amount:g}",
                "size": str(rng.integers(1, 4)),
                "opened": (came - timedelta(days=days)).date().isoformat(),
                "told": "" if k % 7 == 0 else (came + timedelta(days=9)).date().isoformat(),
                "bad": "yes" if bad else "no",
            }
        )
    write(folder / "past.csv", rows[:300])
    write(folder / "new.csv", without(rows[300:], "told", "bad"))
    create = ["--from", f"{folder}/past.csv", *ROLES, "--costs", BY_ITEM, "--drop", "amount", "--label-time", "told"]
    assert main(["desk", "create", f"{folder}/d.at", *create, "--teach", "--audit", "5%"]) == 0
    return folder


@pytest.fixture
def cases(made, tmp_path, monkeypatch):
    """The same in a folder of its own, and the rows to come."""
    for path in made.iterdir():
        if not path.name.startswith("."):
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return rows_of("new.csv")


def own_costs(row):
    return SHEET.of_item({"amount": float(row["amount"]), "size": float(row["size"])})


def test_a_desk_decides_each_item_by_its_own_costs_as_python_would(cases, capsys):
    """The formula's column is no feature; labels without a time are not learnt; dates are counted up to the time."""
    past = at.read_records("past.csv", label="bad", drop=["case", "told", "amount"])
    features = at.Encoder(warm_up=300, curves=True).fit(past, time="came")
    assert "opened days before came" in features.names()
    columns = at.read_records("past.csv", columns=["amount", "size"]).columns
    usual = SHEET.of_table(columns).average()
    policy = at.policy(n_features=features.n_features, groups=features.groups, costs=usual, seed=1)
    known = [None if k % 7 == 0 else label for k, label in enumerate(past.labels.tolist())]
    policy.learn_history(features.transform_many(past, update=False), known)
    ledger = at.Ledger(at.Desk(at.Awaiting(policy), audit=at.Audit(rate=0.05)))
    for row in cases:
        x = features.transform({name: value for name, value in row.items() if name not in ("case", "amount")})
        ledger.decide(x, id=row["case"], time=row["came"], costs=own_costs(row))
    assert call(capsys, "decide", "d.at", "new.csv")[0] == 0
    kept = read_desk("d.at")
    assert kept.costs_by_item == SHEET.of({**SHEET.outcomes(), "false_alarm": "6", "hit": "4"})
    assert kept.policy.costs == policy.costs
    assert kept.log().rows() == ledger.log().rows()
    assert {case.id: case.worth for case in pending_work(kept)} == pytest.approx(
        {one: policy.look(ledger[one].decision.x, costs=ledger[one].decision.costs).worth for one in ledger.pending}
    )
    worths = [case.worth for case in pending_work(kept)]
    assert worths == sorted(worths, reverse=True)
    usual = sorted(ledger.pending, key=lambda one: -policy.look(ledger[one].decision.x).worth)
    assert usual != [case.id for case in pending_work(kept)]  # by amounts, and not by chances alone


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"amount": ""}, "new.csv, line 6: miss = amount*0.9/size is missing, because amount is missing"),
        ({"amount": "-7"}, "new.csv, line 6: miss = amount*0.9/size is -"),
        ({"size": "0"}, "new.csv, line 6: miss = amount*0.9/size is infinite, because amount is"),
        ({"amount": "much"}, "new.csv, line 6: column 'amount' holds numbers, got 'much'"),
    ],
)
def test_a_row_without_costs_refuses_the_file(cases, capsys, change, said):
    cases[4] |= change
    write("new.csv", cases)
    before = Path("d.at").read_bytes()
    code, _, err = call(capsys, "decide", "d.at", "new.csv", "--out", "out.csv")
    assert (code, said in err, "Traceback" in err) == (2, True, False), err
    assert Path("d.at").read_bytes() == before
    assert not Path("out.csv").exists()


def test_other_costs_are_another_item(cases, capsys):
    """The amount is no feature here, so that the vectors are the same and the costs alone differ."""
    assert call(capsys, "decide", "d.at", "new.csv")[0] == 0
    assert "40 items decided before" in call(capsys, "decide", "d.at", "new.csv")[1]
    write("other.csv", [cases[0], {**cases[1], "amount": "5000"}])
    code, _, err = call(capsys, "decide", "d.at", "other.csv")
    assert (code, "other.csv, line 3: id 'c301' was decided before, with another value: the costs" in err) == (2, True)
    write("other.csv", [{**cases[0], "case": "x"}, {**cases[0], "case": "x", "amount": "5000"}])
    code, _, err = call(capsys, "decide", "d.at", "other.csv")
    assert (code, "id 'x' is in other.csv, line 2 too, with another value: the costs" in err) == (2, True)
    write("small.csv", [{**cases[0], "case": "y", "amount": "1"}])
    code, _, err = call(capsys, "decide", "d.at", "small.csv")
    assert (code, "acting never pays on 1 of 1 items" in err) == (0, True)


def test_formulas_are_checked_when_the_desk_is_made(cases, capsys):
    for costs, said in [
        ("miss=amuont,false_alarm=6,hit=4", "did you mean amount?"),
        ("miss=bad*9,false_alarm=6,hit=4", "'bad' is the label"),
        ("miss=opened,false_alarm=6,hit=4", "column 'opened' holds texts"),
        ("miss=2,false_alarm=amount,hit=4", "acting never pays on any of 300 items"),
    ]:
        code, _, err = call(capsys, "desk", "create", "b.at", "--from", "past.csv", *ROLES, "--costs", costs)
        assert (code, said in err, Path("b.at").exists()) == (2, True, False), err


def test_dates_of_new_rows_are_counted_up_to_their_time(cases, capsys):
    """Whatever the column of the time is called there, and whether it holds texts or seconds since 1970."""
    expected = read_items("new.csv", read_desk("d.at"))
    X = read_desk("d.at").features.transform_many(expected.records)
    place = read_desk("d.at").features.names().index("opened days before came")
    assert len(set(X[:, place])) > 30
    seconds = [{**row, "came": str(int(np.datetime64(row["came"], "s").astype(int)))} for row in cases]
    for table, named in ((seconds, {}), ([{"at": row.pop("came"), **row} for row in cases], {"time": "at"})):
        items = read_items(table, read_desk("d.at"), **named)
        np.testing.assert_array_equal(read_desk("d.at").features.transform_many(items.records), X)
    write("hours.csv", [{**row, "came": str(k)} for k, row in enumerate(cases)])
    code, _, err = call(capsys, "decide", "d.at", "hours.csv")
    assert (code, "column 'came' holds numbers such as 0, and this desk counts days up to a date" in err) == (2, True)


def test_a_date_that_cannot_be_read_is_said(cases, capsys):
    cases[2]["opened"] = "long ago"
    write("new.csv", cases)
    code, _, err = call(capsys, "decide", "d.at", "new.csv")
    assert (code, "column 'opened': 1 of 40 dates cannot be read" in err, "line 4, 'long ago'" in err) == (
        0,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("options", "has", "lacks"),
    [
        ([], "opened days before came", "came hour sine"),
        (["--time-features"], "came hour sine", "amount days"),
        (["--dates", "age=came,opened"], "age", "opened days before came"),
        (["--drop", "came"], "opened month sine", "opened days before came"),
    ],
)
def test_options_of_dates_are_those_of_a_replay(cases, capsys, options, has, lacks):
    arguments = ["--from", "past.csv", *ROLES, "--costs", NUMBERS, "--drop", "told", *options]
    code, out, err = call(capsys, "desk", "create", "b.at", *arguments, "--json")
    notes = [note for note in json.loads(out)["notes"] if note.startswith("features made of dates: ")]
    assert (code, len(notes), "'opened' (" in notes[0]) == (0, 1, True), err
    names = read_desk("b.at").features.names()
    assert (has in names, lacks in names) == (True, False)
    assert ("came" in json.loads(out)["columns"]) == (options == ["--time-features"])
    assert call(capsys, "decide", "b.at", "new.csv")[0] == 0
    assert "40 items decided before" in call(capsys, "decide", "b.at", "new.csv")[1]


def test_the_time_of_a_label_is_checked_and_is_no_feature(cases, capsys):
    arguments = ["--from", "past.csv", "--costs", NUMBERS, "--label-time", "told", "--teach", "--json"]
    code, out, _ = call(capsys, "desk", "create", "b.at", *ROLES, *arguments)
    found = json.loads(out)
    assert (code, found["history"]["learnt"], found["history"]["skipped"]) == (0, 257, 43)
    assert "told" not in found["columns"]
    assert "column 'told' says when labels arrived, and is no feature" in " ".join(found["notes"])
    assert call(capsys, "decide", "b.at", "new.csv")[0] == 0
    code, _, err = call(capsys, "desk", "create", "c.at", "--label", "bad", "--id", "case", *arguments)
    assert (code, "--label-time told says when labels arrive" in err, "--time" in err) == (2, True, True)
    rows = rows_of("past.csv")
    rows[1]["told"] = "2024-01-05"
    write("past.csv", rows)
    code, _, err = call(capsys, "desk", "create", "c.at", *ROLES, *arguments)
    assert (code, "past.csv, line 3: the label is from 2024-01-05" in err) == (2, True)


def test_a_policy_that_forgets_by_the_time_goes_by_the_time_of_items(cases, capsys):
    past = rows_of("past.csv")
    for row in past:
        row["told"] = row["told"] and "2024-12-24"  # all on one day, long after
    options = {"costs": at.Costs(miss=90, false_alarm=6, hit=4), "options": {"half_life": "20d"}, "teach": True}
    one, other = (
        create_desk(f"{name}.at", table, "bad", id="case", time="came", label_time="told", **options)
        for name, table in (("one", "past.csv"), ("other", past))
    )
    x = one.features.transform_many(read_items("new.csv", one.ledger).records)[0]
    assert one.ledger.policy.chance(x) == other.ledger.policy.chance(x)
    answers = decide_many(one.ledger, read_items("new.csv", one.ledger))
    assert len(answers) == 40
    arguments = ["--from", "past.csv", "--label", "bad", "--costs", NUMBERS, "--drop", "told", "--drop", "came"]
    code, _, err = call(capsys, "desk", "create", "b.at", *arguments, "--policy", "voi[half_life=20d]")
    assert (code, "voi forgets by time, and there are no times" in err, "--time" in err) == (2, True, True)
