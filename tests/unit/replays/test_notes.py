"""What a replay says of the table and of its policies: leaks, moved ranges, and a policy that has nearly stopped."""

import re

import numpy as np
import pytest

import appletaste as at
from appletaste.policies import PolicySpec
from appletaste.replays.notes import ALARM, stopped_notes
from appletaste.replays.tally import tally

COSTS = at.Costs(miss=2.0, false_alarm=1.0, hit=0.0)


def notes_of(table, **options):
    return at.replay(table, "bad", costs=COSTS, **options).notes


def made(rows=3000, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=rows)
    return rng, {"x": x, "bad": (rng.random(rows) < 1 / (1 + np.exp(1 - 2 * x))).astype(int)}


def test_dates_that_are_not_in_iso_are_one_note():
    _, table = made(300)
    days = [f"{10 + k % 18}.05.2024 {10 + k // 60}:{10 + k % 50}" for k in range(300)]  # another one in every row
    (note,) = (note for note in notes_of({"day": days, **table}, shuffles=1) if "'day'" in note)
    assert note.startswith(f"column 'day' looks like a date, such as {days[0]!r}, and is used as a text")
    assert note.endswith("leave the column out: drop=['day']")


def test_leaks_codes_and_moved_ranges_are_noted():
    rng, table = made()
    rows = len(table["bad"])
    leak = {**table, "paid_back": 3 * table["bad"] + 1}
    assert any("'paid_back' alone tells the label" in note for note in notes_of(leak, shuffles=1))
    assert not any("tells the label" in note for note in notes_of(table, shuffles=1))
    code = np.where(table["bad"], rng.choice([1, 3, 5], rows), rng.choice([2, 4, 5], rows))
    told = [note for note in notes_of({**table, "branch": code}, shuffles=1) if "look like codes" in note]
    assert told == [
        "whole numbers that look like codes, since the rate of positives has no order in them: 'branch'. Give each "
        "value a weight of its own: categories=['branch']"
    ]
    year = {**table, "year": 2015 + np.arange(rows) // 1000}
    said = "columns that leave the range of the first 500 rows, and are held at its edge: 'year'. "
    assert any(note.startswith(said) for note in notes_of(year, order="as is"))
    assert any("'year' from item 901" in note for note in notes_of(year, order="as is"))  # the stability index sees it
    assert not any("leave the range" in note for note in notes_of(year, shuffles=1))  # no order, no range that moves


def test_the_columns_that_have_shifted_most_are_named_first():
    """By the worst tenth: a column that is nearly as before at first, and turns over later, comes before the others."""
    rng, table = made()
    rows = len(table["bad"])
    mild = {f"mild{k}": rng.normal(size=rows) + (np.arange(rows) > 300) for k in range(6)}
    share = np.select([np.arange(rows) < 300, np.arange(rows) < 1500], [0.05, 0.2], 1.0)
    year = np.where(rng.random(rows) < share, 2018.0, 2017.0)
    (note,) = (n for n in notes_of({**table, **mild, "year": year}, order="as is") if "have shifted" in n)
    assert "is large): 'year' from item 301 (" in note
    assert note.endswith(" and 2 more")
    values = [float(text) for text in re.findall(r"\((\d+\.\d+)\)", note)]
    assert values == sorted(values, reverse=True)
    assert values[0] > 2 * values[1]


def test_a_value_that_was_rare_at_first_is_noted_with_what_helps():
    _, table = made()
    year = np.where((np.arange(3000) > 1400) | (np.arange(3000) % 50 == 0), 2018.0, 2017.0)
    count = np.arange(3000.0)
    told = notes_of({**table, "year": year, "count": count}, order="as is")
    (rare,) = (note for note in told if "'year' is 2018 in 2 % of the first 500 rows in the order of the file" in note)
    assert rare.endswith("encoder={'online': True}, or leave the column out: drop=['year']")
    (range_,) = (note for note in told if "leave the range" in note)
    assert "let the range follow them, encoder={'online': True}, or leave out those that tell little" in range_
    followed = notes_of({**table, "year": year, "count": count}, order="as is", encoder={"online": True})
    assert not any("leave the range" in note or "of the first 500 rows" in note for note in followed)  # it was taken
    assert not any("of the first 500 rows" in note for note in notes_of({**table, "year": year}, shuffles=1))


def test_a_date_after_the_time_is_noted():
    _, table = made(600)
    day = np.datetime64("2024-05-01") + np.arange(600) // 20
    dated = {**table, "t": day.astype(str).tolist(), "settled": (day + 9).astype(str).tolist()}
    assert any("'settled' is a date after the time" in note for note in notes_of(dated, time="t"))


def played(first, last, positives=(0.3, 0.3), rows=4000, notes=()):
    """A tally of acts at one rate in the first half and another in the second."""
    half = np.arange(rows) < rows // 2
    rng = np.random.default_rng(5)
    labels = (rng.random(rows) < np.where(half, *positives)).astype(np.int8)
    return tally(rng.random(rows) < np.where(half, first, last), labels, COSTS, 1.0, 1, 1, notes)


@pytest.mark.parametrize(
    ("first", "last", "positives", "stopped"),
    [
        (0.4, 0.02, (0.3, 0.3), True),
        (0.4, 0.02, (0.3, 0.02), False),  # there is nothing to act on any more
        (0.4, 0.2, (0.3, 0.3), False),
        (0.0, 0.0, (0.3, 0.3), False),
    ],
)
def test_a_policy_that_has_nearly_stopped(first, last, positives, stopped):
    assert bool(stopped_notes(played(first, last, positives), [])) == stopped


def test_the_likely_reason():
    told = stopped_notes(played(0.4, 0.02), ["year", "index"])[0]
    assert "this policy has nearly stopped acting: on 41.0 % of items in the first half" in told
    assert "(from item 2001 on)" in told
    assert "The likely reason: column 'year' has left the range" in told
    assert "the stream has changed (see the alarm)" in stopped_notes(played(0.4, 0.02, notes=(f"{ALARM} 7",)), [])[0]
    assert "is not told otherwise" in stopped_notes(played(0.4, 0.02), [])[0]


def test_a_stream_that_turns_round_stops_a_policy():
    """What paid does not pay any more, and what pays now did not: nobody acts, so nobody is told; but for audits."""
    rng, rows = np.random.default_rng(2), 6000
    old = rng.random(rows) < 0.5
    bad = (rng.random(rows) < np.where(old == (np.arange(rows) < 600), 0.7, 0.01)).astype(int)
    table, asked = {"kind": np.where(old, "old", "new").tolist(), "bad": bad}, {"order": "as is", "policies": ["ids"]}
    audited = at.replay(table, "bad", costs=COSTS, **asked)
    assert audited["ids"].blocks()[-1]["act_rate"] > 0.4
    result = at.replay(table, "bad", costs=COSTS, audit=0, **asked)
    assert result["ids"].blocks()[-1]["act_rate"] < 0.02
    told = [note for note in result.notes if "nearly stopped acting" in note]
    assert len(told) == 1  # not of what it is measured against
    assert told[0].startswith("ids: this policy")
    assert "the stream has changed (see the alarm)" in told[0]


def test_a_year_does_not_carry_the_score_away():
    """The share of positives dips in the second year and is back in the third; with the year, cost is as without.

    Paired over 9 streams, in standard errors. The control enters the year with its raw size, as if it had a scale.
    """
    rows, differences = 4000, {"held": [], "raw": []}
    straight = PolicySpec("voi", {"trees": False})  # trees do not mind the size of a number
    for seed in range(9):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 3))
        year = np.arange(rows) // 800
        base = np.array([-0.5, -2.5, -0.5, -0.5, -0.5])[year]
        labels = (rng.random(rows) < 1 / (1 + np.exp(-base - X @ [1.0, -1.0, 0.5]))).astype(int)
        table = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]}
        features, held = at.Encoder().fit_transform({**table, "year": 2015.0 + year})
        raw = held.copy()
        raw[:, features.names().index("year")] = year
        without = held[:, : features.names().index("year")]
        cost = {
            name: at.replay(matrix, labels, policies=[straight], order="as is", seed=seed, costs=COSTS)[straight.label]
            for name, matrix in (("without", without), ("held", held), ("raw", raw))
        }
        for name, found in differences.items():
            found.append(cost[name].cost_per_1000.mean - cost["without"].cost_per_1000.mean)
    mean, error = {}, {}
    for name, found in differences.items():
        mean[name], error[name] = np.mean(found), np.std(found, ddof=1) / np.sqrt(len(found))
    assert mean["held"] < 3 * error["held"]
    assert mean["raw"] > 3 * error["raw"]
