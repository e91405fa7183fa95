"""Dates in a replay and in a look: what is made of them, what is said, and what is left out."""

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
ROWS = 1200


def orders(unit=None):
    """Orders of young and old accounts over 100 days; those of accounts younger than 100 days are often bad."""
    rng = np.random.default_rng(11)
    placed = np.datetime64("2024-01-01T00:00") + np.sort(rng.integers(0, 100 * 1440, ROWS)).astype("m8[m]")
    age = rng.integers(0, 1000, ROWS)
    bad = rng.random(ROWS) < np.where(age < 100, 0.9, 0.02)
    return {
        "placed_at": placed if unit is None else placed.astype(f"M8[{unit}]").astype(np.int64).tolist(),
        "opened": (placed.astype("M8[D]") - age.astype("m8[D]")).tolist(),
        "amount": rng.normal(size=ROWS),
        "bad": bad.astype(int),
    }


def noted(result):
    return [note for note in result.notes if note.startswith("features made of dates")]


@pytest.mark.parametrize("unit", [None, "s"])
def test_days_before_the_time_are_features_and_are_worth_having(unit):
    with_days = at.replay(orders(unit), "bad", costs=COSTS, time="placed_at")
    without = at.replay(orders(unit), "bad", costs=COSTS, time="placed_at", drop=["opened"])
    made = "features made of dates: 'opened' (weekday, month, days before 'placed_at')"
    assert noted(with_days) == [f"{made}. To leave dates out: drop=['opened']"]
    assert noted(without) == []
    assert with_days["voi"].cost_per_1000.mean < 0.8 * without["voi"].cost_per_1000.mean


def test_named_days_take_the_place_of_the_automatic_ones():
    dates = {"age": ("placed_at", "opened")}
    named = at.replay(orders(), "bad", costs=COSTS, time="placed_at", dates=dates)
    assert "'opened' (weekday, month), 'age' (days)" in noted(named)[0]
    assert named.plan.encoded(0).groups.count(0) == 1 + 4 + 1 + 1
    with pytest.raises(at.errors.OptionError, match="dates= is for a table and an Encoder"):
        at.replay(np.eye(2), [0, 1], costs=COSTS, dates=dates)


def test_hours_of_the_time_are_features_where_that_is_asked_for():
    asked = at.replay(orders(), "bad", costs=COSTS, time="placed_at", time_features=True)
    assert "'placed_at' (hour, weekday), 'opened' (weekday, month, days before 'placed_at')" in noted(asked)[0]
    for settings in ({}, {"time": "placed_at", "drop": ["placed_at"]}):
        with pytest.raises(at.errors.OptionError, match="time_features= needs a column of dates"):
            at.replay(orders(), "bad", costs=COSTS, time_features=True, **settings)


def test_a_dropped_time_orders_the_rows_and_nothing_else():
    dropped = at.replay(orders(), "bad", costs=COSTS, time="placed_at", drop=["placed_at"])
    assert "'opened' (weekday, month)." in noted(dropped)[0]


def test_dates_that_cannot_be_read_are_counted():
    table = orders()
    table["opened"][5] = "soon"
    table["opened"][900] = "later"
    result = at.replay(table, "bad", costs=COSTS, time="placed_at")
    found = [note for note in result.notes if "cannot be read" in note]
    assert found[0].startswith("column 'opened': 2 of 1200 dates cannot be read, and count as missing; first the table")
    assert "row 5, 'soon'" in found[0]


def test_a_look_says_what_a_date_becomes_and_that_a_later_one_is_known_only_afterwards():
    table = orders()
    table["settled"] = [day.item() for day in table["placed_at"].astype("M8[D]") + np.timedelta64(9, "D")]
    found = at.history.look(table, "bad", time="placed_at")
    assert {one.name: one.made for one in found.columns if one.made} == {
        "opened": "weekday, month, days",
        "settled": "weekday, days",
    }
    assert found.codes["settled"] == ["DATE_AFTER"]
    assert found.columns[0].tells > 0.9  # by its days, which no level of a text would tell
    assert at.history.look(table, "bad").codes["placed_at"] == ["IDENTIFIER"]
    assert "time='placed_at'" in at.history.look(table, "bad").findings[-1].message


def test_the_command_line_takes_days_cycles_and_the_time(tmp_path, capsys):
    table = orders()
    rows = zip(*(map(str, table[name]) for name in ("placed_at", "opened", "bad")), strict=True)
    path = tmp_path / "orders.csv"
    path.write_text("placed_at,opened,bad\n" + "".join(",".join(row) + "\n" for row in rows))
    asked = ["replay", str(path), "--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--time", "placed_at"]
    more = ["--dates", "age=placed_at,opened", "--encoder", "cycles=hour", "--time-features", "--jobs", "1"]
    assert main([*asked, *more]) == 0
    said = capsys.readouterr().out
    assert "note: features made of dates: 'placed_at' (hour), 'opened' (nothing), 'age' (days)" in said
    assert "A cycle is a feature once the first 500 rows have been around it" in said
    assert "--drop placed_at --drop opened" in said
    for wrong in ("age", "age=placed_at", "=a,b"):
        assert main([*asked, "--dates", wrong]) == 2
        assert "--dates takes NAME=LATER,EARLIER" in capsys.readouterr().err
