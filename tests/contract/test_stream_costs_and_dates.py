"""Costs by item, dates and the times of labels in a stream: what they mean in a replay, they mean here."""

import json
import shutil
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.streams.from_history import from_history, policy_seed
from appletaste.streams.requests import decide_table, read_items
from appletaste.streams.worklist import pending_work

from .test_stream_commands import call, events, look, rows_of, without, write

ROLES = ["--label", "bad", "--id", "case", "--time", "came"]
NUMBERS = "miss=90,false_alarm=6,hit=4"
BY_ITEM = "miss=amount*0.9/size,false_alarm=6,hit=4"
SHEET = at.CostsByItem(miss="amount*0.9/size", false_alarm=6, hit=4)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A history of 300 cases with dates, the next 40, and a stream with costs by item that was taught the history."""
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
    (folder / "seed").write_text("1")
    create = ["--history", f"{folder}/past.csv", *ROLES, "--costs", BY_ITEM, "--drop", "amount", "--label-time", "told"]
    assert (
        main(
            ["stream", "create", f"{folder}/d.db", *create, "--teach", "--audit", "5%", "--seed-file", f"{folder}/seed"]
        )
        == 0
    )
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


def test_a_stream_decides_each_item_by_its_own_costs_as_python_would(cases, capsys):
    """The formula's column is no feature; labels without a time are not learnt; dates are counted up to the time."""
    past = at.read_records("past.csv", label="bad", drop=["case", "told", "amount"])
    features = at.Encoder(warm_up=300, curves=True, many=True).fit(past, time="came")
    assert "opened days before came" in features.names()
    columns = at.read_records("past.csv", columns=["amount", "size"]).columns
    usual = SHEET.of_table(columns).average()
    policy = at.policy(n_features=features.n_features, groups=features.groups, costs=usual, seed=policy_seed(1))
    known = [None if k % 7 == 0 else label for k, label in enumerate(past.labels.tolist())]
    policy.learn_history(features.transform_many(past, update=False), known)
    ledger = at.streams.Ledger(at.Desk(at.streams.Awaiting(policy), audit=at.Audit(rate=0.05)))
    for row in cases:
        x = features.transform({name: value for name, value in row.items() if name not in ("case", "amount")})
        ledger.decide(x, id=row["case"], time=row["came"], costs=own_costs(row))
    assert call(capsys, "decide", "d.db", "new.csv")[0] == 0
    with look("d.db") as kept:
        assert kept.costs_by_item == SHEET.of({**SHEET.outcomes(), "false_alarm": "6", "hit": "4"})
        assert kept.costs == policy.costs
        assert kept.log().rows() == ledger.log().rows()
        work = pending_work(kept)
    assert {case.id: case.worth for case in work} == pytest.approx(
        {one: policy.look(ledger[one].decision.x, costs=ledger[one].decision.costs).worth for one in ledger.pending}
    )
    worths = [case.worth for case in work]
    assert worths == sorted(worths, reverse=True)
    usual = sorted(ledger.pending, key=lambda one: -policy.look(ledger[one].decision.x).worth)
    assert usual != [case.id for case in work]  # by amounts, and not by chances alone


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
    before = events("d.db")
    code, _, err = call(capsys, "decide", "d.db", "new.csv", "--out", "out.csv")
    assert (code, said in err, "Traceback" in err) == (2, True, False), err
    assert events("d.db") == before
    assert not Path("out.csv").exists()


def test_other_costs_are_another_item(cases, capsys):
    """The amount is no feature here, so that the vectors are the same and the costs alone differ."""
    assert call(capsys, "decide", "d.db", "new.csv")[0] == 0
    assert "40 items had been decided already" in call(capsys, "decide", "d.db", "new.csv")[1]
    write("other.csv", [cases[0], {**cases[1], "amount": "5000"}])
    code, _, err = call(capsys, "decide", "d.db", "other.csv")
    assert (code, "other.csv, line 3: id 'c301' was decided before, with another value: the costs" in err) == (2, True)
    write("other.csv", [{**cases[0], "case": "x"}, {**cases[0], "case": "x", "amount": "5000"}])
    code, _, err = call(capsys, "decide", "d.db", "other.csv")
    assert (code, "id 'x' is in other.csv, line 2 too, with another value: the costs" in err) == (2, True)
    write("small.csv", [{**cases[0], "case": "y", "amount": "1"}])
    code, _, err = call(capsys, "decide", "d.db", "small.csv")
    assert (code, "acting never pays on 1 of 1 items" in err) == (0, True)


def test_formulas_are_checked_when_the_stream_is_made(cases, capsys):
    for costs, said in [
        ("miss=amuont,false_alarm=6,hit=4", "did you mean amount?"),
        ("miss=bad*9,false_alarm=6,hit=4", "'bad' is the label"),
        ("miss=opened,false_alarm=6,hit=4", "column 'opened' holds texts"),
        ("miss=2,false_alarm=amount,hit=4", "acting never pays on any of 300 items"),
    ]:
        code, _, err = call(capsys, "stream", "create", "b.db", "--history", "past.csv", *ROLES, "--costs", costs)
        assert (code, said in err, Path("b.db").exists()) == (2, True, False), err


def test_dates_of_new_rows_are_counted_up_to_their_time(cases, capsys):
    """Whatever the column of the time is called there, and whether it holds texts or seconds since 1970."""
    with look("d.db") as stream:
        made = stream.features
        X = made.transform_many(read_items("new.csv", stream).records, update=False)
        place = made.names().index("opened days before came")
        assert len(set(X[:, place])) > 30
        seconds = [{**row, "came": str(int(np.datetime64(row["came"], "s").astype(int)))} for row in cases]
        for table, named in ((seconds, {}), ([{"at": row.pop("came"), **row} for row in cases], {"time": "at"})):
            items = read_items(table, stream, **named)
            np.testing.assert_array_equal(made.transform_many(items.records, update=False), X)
    write("hours.csv", [{**row, "came": str(k)} for k, row in enumerate(cases)])
    code, _, err = call(capsys, "decide", "d.db", "hours.csv")
    assert (code, "column 'came' holds numbers such as 0, and this stream counts days up to a date" in err) == (2, True)


def test_a_date_that_cannot_be_read_is_said(cases, capsys):
    cases[2]["opened"] = "long ago"
    write("new.csv", cases)
    code, _, err = call(capsys, "decide", "d.db", "new.csv")
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
    arguments = ["--history", "past.csv", *ROLES, "--costs", NUMBERS, "--drop", "told", *options]
    code, out, err = call(capsys, "stream", "create", "b.db", *arguments, "--json")
    notes = [note for note in json.loads(out)["notes"] if note.startswith("features made of dates: ")]
    assert (code, len(notes), "'opened' (" in notes[0]) == (0, 1, True), err
    with look("b.db") as stream:
        names = stream.features.names()
    assert (has in names, lacks in names) == (True, False)
    assert ("came" in json.loads(out)["columns"]) == (options == ["--time-features"])
    assert call(capsys, "decide", "b.db", "new.csv")[0] == 0
    assert "40 items had been decided already" in call(capsys, "decide", "b.db", "new.csv")[1]


def test_the_time_of_a_label_is_checked_and_is_no_feature(cases, capsys):
    arguments = ["--history", "past.csv", "--costs", NUMBERS, "--label-time", "told", "--teach", "--json"]
    code, out, _ = call(capsys, "stream", "create", "b.db", *ROLES, *arguments)
    found = json.loads(out)
    assert (code, found["history"]["learnt"], found["history"]["skipped"]) == (0, 257, 43)
    assert "told" not in found["columns"]
    assert "column 'told' says when labels arrived, and is no feature" in " ".join(found["notes"])
    assert call(capsys, "decide", "b.db", "new.csv")[0] == 0
    code, _, err = call(capsys, "stream", "create", "c.db", "--label", "bad", "--id", "case", *arguments)
    assert (code, "--label-time told says when labels arrive" in err, "--time" in err) == (2, True, True)
    rows = rows_of("past.csv")
    rows[1]["told"] = "2024-01-05"
    write("past.csv", rows)
    code, _, err = call(capsys, "stream", "create", "c.db", *ROLES, *arguments)
    assert (code, "past.csv, line 3: the label is from 2024-01-05" in err) == (2, True)


def test_a_policy_that_forgets_by_the_time_goes_by_the_time_of_items(cases, capsys):
    past = rows_of("past.csv")
    for row in past:
        row["told"] = row["told"] and "2024-12-24"  # all on one day, long after
    options = {"costs": at.Costs(miss=90, false_alarm=6, hit=4), "options": {"half_life": "20d"}, "teach": True}
    one, other = (
        from_history(table, "bad", id="case", time="came", label_time="told", **options).create("memory", "cases")
        for table in ("past.csv", past)
    )
    x = one.features.transform_many(read_items("new.csv", one).records, update=False)[0]
    assert one.player.policy.chance(x) == other.player.policy.chance(x)
    assert len(decide_table(one, read_items("new.csv", one))) == 40
    arguments = ["--history", "past.csv", "--label", "bad", "--costs", NUMBERS, "--drop", "told", "--drop", "came"]
    code, _, err = call(capsys, "stream", "create", "b.db", *arguments, "--policy", "voi[half_life=20d]")
    assert (code, "voi forgets by time, and there are no times" in err, "--time" in err) == (2, True, True)
