"""What is done today, a labelled past, labels with times of their own, and comparators at the desk of the policies."""

import itertools
import re
import warnings

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import DataError, OptionError
from appletaste.history.labelled import read_labelled
from appletaste.history.today import Today
from appletaste.replays.comparators import known_acts, within
from appletaste.replays.history import read_history
from appletaste.times import instant

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}


def orders(rows=600, seed=3, start="2024-05-01"):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    placed = np.datetime64(start, "s") + np.arange(rows) * np.timedelta64(3600, "s")
    return {
        "placed_at": placed.astype(str).tolist(),
        "x": x,
        "risk": x + rng.normal(size=rows),
        "reviewed": ["yes" if value > 1 else "no" for value in x],
        "settled": (placed + np.timedelta64(2, "D")).astype("datetime64[D]").astype(str).tolist(),
        "bad": (x + rng.normal(size=rows) > 1.2).astype(int),
    }


def test_past_decisions_are_a_row_and_no_feature():
    table = orders()
    result = at.replay(table, "bad", costs=COSTS, today="reviewed", drop=["placed_at", "settled"], shuffles=2)
    acts, bad = np.array(table["reviewed"]) == "yes", table["bad"] == 1
    cost = 5 * (bad & ~acts).sum() + (acts & ~bad).sum()
    assert result["today"].costs_per_1000 == pytest.approx([1000 * cost / 600] * 2)
    assert "vs today" in result.table().header
    assert result.as_dict()["voi"]["saved_per_1000"].keys() == {"never", "always", "today"}
    assert "reviewed" not in result.plan.stream.records.columns


def test_a_score_acts_beyond_its_threshold_and_stays_a_feature():
    table = orders()
    stream = read_labelled(table, "bad", drop=["placed_at", "settled"], today="risk >= 0.7")
    assert (stream.today == (table["risk"] >= 0.7)).all()
    assert "risk" in stream.records.columns
    low = read_labelled(table, "bad", drop=["placed_at", "settled"], today="risk<0")
    assert (low.today == (table["risk"] < 0)).all()


def test_without_a_rule_of_today_there_is_no_such_row():
    table = {"x": [0.1, 2.0] * 20, "bad": [0, 1] * 20}
    assert "today" not in at.replay(table, "bad", costs=COSTS, shuffles=1).policies
    with pytest.raises(OptionError, match="said by a column"):
        at.replay(table, "bad", costs=COSTS, policies=["today"], shuffles=1)


@pytest.mark.parametrize(
    ("today", "said"),
    [
        ("risk", "today='risk >= 0.5'"),
        ("revewed", "did you mean 'reviewed'"),
        ("gaps", "no decision in column 'gaps'"),
        ("holes > 1", "no score in column 'holes'"),
    ],
)
def test_what_cannot_be_a_rule_is_refused(today, said):
    table = {**orders(40), "gaps": ["yes", ""] * 20, "holes": [1.0, np.nan] * 20}
    with pytest.raises(DataError, match=said):
        read_labelled(table, "bad", today=today)


def test_a_column_may_be_named_like_a_rule():
    assert Today.of("a > 1", ["a > 1"]) == Today("a > 1")


def test_label_times_say_when_labels_are_learnt():
    table = orders()
    table["settled"][0] = ""
    late = at.replay(table, "bad", costs=COSTS, time="placed_at", label_time="settled", log="voi")
    assert "labels as late as 'settled' says" in late.title
    assert any("when its day is over" in note for note in late.notes)
    waited = late.plan.stream.told[1:] - late.plan.stream.times[1:]
    assert ((waited > 2 * 86400) & (waited <= 3 * 86400)).all()
    found = late["voi"].tallies[0]
    assert 0 < found.learnt < found.labels  # those of the last days never arrive
    for row in late.log.rows():
        if row["label"] is not None:
            assert instant(row["label_time"]) - instant(row["time"]) > 2 * 86400


def test_a_label_without_a_time_never_arrives():
    table = orders(60)
    table["settled"] = ["" if k % 2 else day for k, day in enumerate(table["settled"])]
    stream = read_labelled(table, "bad", time="placed_at", label_time="settled")
    assert np.isinf(stream.told).sum() == 30
    assert any("30 of 60 rows" in note for note in stream.notes)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        (["2024-04-01"] * 60, "before its item"),
        ([""] * 60, "is empty"),
        (list(range(60)), "need one clock"),
    ],
)
def test_label_times_that_cannot_be_are_refused(column, said):
    with pytest.raises(DataError, match=said):
        read_labelled({**orders(60), "settled": column}, "bad", time="placed_at", label_time="settled")


def test_label_times_need_a_clock_and_no_law():
    table = orders(60)
    with pytest.raises(OptionError, match="name the column of times"):
        at.replay(table, "bad", costs=COSTS, label_time="settled")
    with pytest.raises(OptionError, match="give one of them"):
        at.replay(table, "bad", costs=COSTS, time="placed_at", label_time="settled", delay=3)


def test_a_history_teaches_every_policy_before_the_first_item():
    rng = np.random.default_rng(5)

    def table(rows):
        x = rng.normal(size=(rows, 4))
        chance = 1 / (1 + np.exp(-(2 * x[:, 0] - x[:, 1] - 2)))
        return {**{f"x{k}": x[:, k] for k in range(4)}, "bad": (rng.random(rows) < chance).astype(int)}

    past, now = table(3000), table(400)
    names = ["voi", "pg-ts"]
    fresh = at.replay(now, "bad", costs=COSTS, policies=names, shuffles=3)
    taught = at.replay(now, "bad", costs=COSTS, policies=names, shuffles=3, history=past)
    for name in [*names, "full-information"]:
        assert taught[name].cost_per_1000.mean < fresh[name].cost_per_1000.mean
    assert any("starts from 3000 labels" in note for note in taught.notes)


def test_a_history_may_have_rows_without_a_label_and_columns_of_its_own():
    stream = read_labelled({"x": [1.0, 2.0], "job": ["a", "b"], "bad": [0, 1]}, "bad")
    history = read_history(
        {"job": ["a", "c", "b"], "x": [0.0, 3.0, 5.0], "note": ["", "", ""], "bad": ["yes", "", "no"]}, stream, "bad"
    )
    assert history.labels.tolist() == [1, -1, 0]
    assert history.positives == 1
    assert list(history.records.columns) == ["x", "job"]
    with pytest.raises(DataError, match="has no column 'job'"):
        read_history({"x": [0.0], "bad": [1]}, stream, "bad")


def test_a_history_of_one_class_says_so_in_its_note():
    stream = read_labelled({"x": [1.0, 2.0], "bad": [0, 1]}, "bad")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        alike = read_history({"x": [0.0, 3.0], "bad": [0, 0]}, stream, "bad")
    assert "0 of them positive: one class says nothing of the other" in alike.note
    assert read_history({"x": [0.0, 3.0], "bad": [0, 1]}, stream, "bad").note.endswith("1 of them positive")


def test_a_row_without_a_time_is_named():
    rows = orders(20)
    rows["placed_at"][4] = None
    with pytest.raises(DataError, match="row 4: no time in column 'placed_at'; give it, or leave out the row"):
        read_labelled(rows, "bad", time="placed_at")


def test_the_future_is_no_history():
    stream = read_labelled(orders(50), "bad", time="placed_at", label_time="settled")
    with pytest.raises(DataError, match="nobody knows the future"):
        read_history(orders(50, start="2024-04-30T12:00"), stream, "bad")
    past = read_history(orders(240, start="2024-04-21"), stream, "bad")
    settled = 24 * 8 + 1  # those of the last two days had not settled when the stream began
    assert len(past.known) < 240
    assert len(past.known) <= settled
    assert (past.labels[:100] != -1).all()


def test_a_history_on_another_clock_is_refused_and_one_without_a_clock_says_so():
    numbered = {**orders(50), "placed_at": np.arange(50.0)}
    stream = read_labelled(orders(50), "bad", time="placed_at")
    with pytest.raises(DataError, match="'placed_at' holds numbers in the history and dates in the stream"):
        read_history(numbered, stream, "bad")
    stream = read_labelled(numbered, "bad", time="placed_at", drop=["settled"])
    past = {name: column for name, column in orders(50, seed=4).items() if name != "placed_at"}
    (note,) = read_history(past, stream, "bad").notes
    assert "has no column 'placed_at', so nobody has checked that the history is over before the first item" in note


def written(folder, name, table, rows=slice(None)):
    path = folder / name
    columns = [np.asarray(column)[rows] for column in table.values()]
    lines = [",".join(map(str, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([",".join(table), *lines]) + "\n")
    return path


def test_a_history_that_is_the_played_file_is_refused(tmp_path, capsys):
    table = {name: column for name, column in orders().items() if name not in ("placed_at", "settled")}
    played, other = written(tmp_path, "now.csv", table), tmp_path / "link.csv"
    other.symlink_to(played)
    for history in (played, str(played), other):
        with pytest.raises(OptionError, match=r"history= is the played file itself: .*leave out history="):
            at.replay(played, "bad", costs=COSTS, history=history)
    words = ["replay", str(played), "--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0"]
    assert main([*words, "--history", str(played)]) == 2
    assert "appletaste: --history is the played file itself" in capsys.readouterr().err


@pytest.mark.parametrize("rows", [slice(None), slice(None, None, -1), slice(0, 60), [*range(600), *range(600)]])
def test_a_history_with_the_rows_of_the_played_file_is_refused(tmp_path, rows):
    """The same rows under another name, in another order, a tenth of them, and all of them twice."""
    table = {name: column for name, column in orders().items() if name not in ("placed_at", "settled")}
    some = written(tmp_path, "past.csv", table, rows)
    with pytest.raises(DataError, match=r"(60|600) of 600 rows .*are in the history, too, with the same labels"):
        read_history(some, read_labelled(written(tmp_path, "now.csv", table), "bad"), "bad")
    more = {name: [*np.asarray(column)[rows], *orders(5000, seed=9)[name]] for name, column in table.items()}
    with pytest.raises(DataError, match="are in the history, too"):
        read_history(more, read_labelled(table, "bad"), "bad")


def few_values(rows, seed):
    rng = np.random.default_rng(seed)
    job, age = rng.integers(0, 4, rows), rng.integers(0, 30, rows)
    return {"job": [f"j{k}" for k in job], "age": age, "bad": (rng.random(rows) < 0.1 + 0.1 * job).astype(int)}


def test_rows_that_are_alike_by_chance_are_a_history():
    for seed in range(5):
        for rows in (60, 600, 6000):
            past = read_history(few_values(rows, 100 + seed), read_labelled(few_values(600, seed), "bad"), "bad")
            assert past.notes == ()
    with pytest.raises(DataError, match=r"600 of 600 rows .*are in the history, too"):
        read_history(few_values(600, 1), read_labelled(few_values(600, 1), "bad"), "bad")


def test_the_same_customers_a_year_before_are_a_history_and_a_note():
    rng = np.random.default_rng(2)
    customers = {"income": rng.normal(size=500), "tier": rng.integers(0, 3, 500)}
    last, now = ({**customers, "bad": (rng.random(500) < 0.1).astype(int)} for _ in range(2))
    (note,) = read_history(last, read_labelled(now, "bad"), "bad").notes
    assert re.match(r"500 of 500 rows of the table are in the history, too, .* \d\d of them with another label", note)
    dated = [{**table, "day": [day] * 500} for table, day in ((last, "2023-05-01"), (now, "2024-05-01"))]
    assert read_history(dated[0], read_labelled(dated[1], "bad", time="day"), "bad").notes == ()


def feasible(acts, window, most):
    return all(acts[k : k + window].sum() <= most for k in range(len(acts)))


def test_hindsight_within_a_window_is_as_good_as_brute_force():
    rng = np.random.default_rng(8)
    for _ in range(20):
        labels = (rng.random(11) < 0.6).astype(np.int8)
        budget = at.Budget(share=0.5, window=4)
        acts = known_acts("oracle", labels, at.Costs.of(COSTS), budget=budget)
        assert feasible(acts, 4, 2)
        best = max(
            (labels * np.array(choice)).sum()
            for choice in itertools.product([0, 1], repeat=11)
            if feasible(np.array(choice), 4, 2)
        )
        assert (labels * acts).sum() == best


def test_caps_of_a_day_serve_the_first_and_the_best():
    times = np.array([0.0, 1, 2, 10, 11, 12])
    budget = at.Budget(per_day=2, day=10.0)
    assert within(budget, np.arange(6), 6, times).tolist() == [True, True, False, True, True, False]
    assert within(budget, np.array([2, 1, 0, 5]), 6, times).tolist() == [False, True, True, False, False, True]


def test_all_rows_sit_at_the_desk_of_the_policies():
    table = orders(400)
    result = at.replay(
        table, "bad", costs=COSTS, time="placed_at", drop=["settled"], today="reviewed", capacity="3/day", audit="2%"
    )
    days = np.ceil(400 / 24)
    for name in result:
        assert result[name].tallies[0].acts <= 3 * days
    assert result["always"].tallies[0].acts > 40
    assert result["oracle"].tallies[0].hits == result["oracle"].tallies[0].acts
    assert result["oracle"].cost_per_1000.mean <= min(result[name].cost_per_1000.mean for name in result)
    assert any("same desk" in note for note in result.notes)
