"""Which column is which: by what columns hold and what they are called, and never twice."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import DataError
from appletaste.history import Roles, could_be, guess, look
from appletaste.history.roles import with_labels

N = 300


def table(**more):
    """Return a shop's columns, and what else somebody has; None leaves one out."""
    rng = np.random.default_rng(2)
    bad = rng.random(N) < 0.1
    columns = {
        "settled_on": [f"2024-06-{1 + k // 11:02d}" for k in range(N)],
        "order": [f"A{k}" for k in range(N)],
        "placed_at": [f"2024-05-{1 + k // 11:02d}T{k % 24:02d}:05" for k in range(N)],
        "amount": rng.gamma(2, 40, N).round(2),
        "country": rng.choice(["DE", "FR", "US"], N),
        "vendor_score": rng.normal(size=N).round(4),
        "phone": rng.choice(["no", "yes"], N),
        "fraud": np.where(bad, "yes", "no"),
        "items": rng.integers(1, 5, N).astype(float),
    }
    return {name: values for name, values in (columns | more).items() if values is not None}


def guessed(given=None, **more):
    return guess(at.read_records(table(**more)), given)


def test_a_shop_is_read_as_its_people_would():
    assert guessed() == Roles(
        label="fraud",
        time="placed_at",
        label_time="settled_on",
        id="order",
        stratum="country",
        score="vendor_score",
        amount="amount",
    )


def test_what_was_given_stays_and_no_column_has_two_roles():
    found = guessed(Roles(label="phone", time="settled_on", id="amount"))
    assert (found.label, found.time, found.id) == ("phone", "settled_on", "amount")
    assert (found.amount, found.label_time) == (None, None)
    columns = [value for name, value in found.as_dict().items() if value and name not in ("positive", "time_unit")]
    assert len(columns) == len(set(columns))


def test_the_rarer_value_of_a_label_is_positive_where_neither_says_so():
    states = np.where(np.arange(N) % 5 == 0, "lost", "kept")
    found = guessed(fraud=None, outcome=states)
    assert (found.label, found.positive) == ("outcome", "lost")
    records = at.read_records(table(fraud=None, outcome=states))
    assert with_labels(records, found).labels.sum() == N // 5
    assert "outcome" not in with_labels(records, found).columns
    codes = guessed(fraud=None, label=np.where(np.arange(N) % 5 == 0, 2.0, 1.0))
    assert (codes.label, codes.positive) == ("label", "2")
    assert guessed().positive is None
    assert with_labels(at.read_records(table()), Roles()).labels is None
    with pytest.raises(DataError, match="nothing"):
        with_labels(at.read_records(table()), Roles(label="nothing"))


def test_a_label_is_the_last_that_could_be_and_a_time_the_first():
    assert guessed(fraud=None).label == "phone"
    assert guessed(fraud=None, phone=None, seen=["a", "b", "a"] * (N // 3)).label == "seen"
    assert guessed(fraud=None, phone=None, country=None).label is None
    plain = [f"2024-05-{1 + k // 11:02d}" for k in range(N)]
    assert guessed(placed_at=None, settled_on=None, begun=plain, ended=plain).time == "begun"


def test_when_labels_arrived_is_never_before_the_day_of_the_item():
    early = [f"2024-04-{1 + k // 11:02d}" for k in range(N)]
    assert guessed(settled_on=early).label_time is None
    same = [f"2024-05-{1 + k // 11:02d}" if k % 2 else None for k in range(N)]  # the day of the order, or not yet
    assert guessed(settled_on=same).label_time == "settled_on"
    assert guessed(placed_at=None).time == "settled_on"  # the only date there is
    assert guessed(settled_on=None, opened_on=early).label_time is None


def test_numbers_can_be_times():
    rising = np.sort(np.random.default_rng(1).uniform(0, 9e4, N))
    dates = {"placed_at": None, "settled_on": None}
    assert guessed(**dates, Time=rising).time == "Time"
    assert guessed(**dates, Time=rising).time_unit is None
    assert guessed(**dates, time_ms=rising).time_unit == "ms"
    assert guessed(**dates, time_in_hours=rising).time_unit == "hour"
    assert guessed(**dates, Time=rising[::-1]).time is None
    assert guessed(**dates, balance=rising).time is None  # nobody calls it a time
    stamps = 1714521600.0 + np.random.default_rng(1).permutation(N)
    found = guessed(**dates, created=stamps)
    assert (found.time, found.time_unit) == ("created", None)
    assert could_be(at.read_records(table(created=stamps)))["created"] == ["time"]
    some = np.where(np.arange(N) == 5, np.nan, stamps)
    assert guessed(**dates, created=some).time is None


def test_what_columns_could_be():
    found = could_be(at.read_records(table(code=np.arange(N, dtype=float), loss=-np.arange(N) - 0.5)))
    assert found["order"] == ["id"]
    assert found["code"] == ["id"]
    assert found["fraud"] == ["label"]
    assert found["country"] == ["stratum"]
    assert found["amount"] == ["amount"]
    assert found["vendor_score"] == ["score"]
    assert found["items"] == found["loss"] == []


def test_one_row_and_empty_columns_are_no_trouble():
    one = at.read_records({"a": [1.0], "placed_at": ["2024-05-01"], "b": [None]})
    assert guess(one).label is None
    assert guess(one).time == "placed_at"
    assert isinstance(could_be(one)["b"], list)


def test_look_says_it_once():
    found = look(table())
    assert found.roles == guessed()
    assert "column 'placed_at' seems to be the time: time='placed_at'" in found.sentences()
    assert "column 'fraud' seems to be the label: label='fraud'" in found.sentences()
    assert found.as_dict()["roles"] == guessed().as_dict()
    named = look(table(), "fraud", time="placed_at")
    assert (named.roles.label, named.roles.time) == ("fraud", "placed_at")
    told = " ".join(named.sentences())
    assert "'fraud' seems" not in told
    assert "'placed_at' seems" not in told
    assert "'order' seems" not in told  # IDENTIFIER says so
    assert "column 'vendor_score' seems to be the score of another model" in told


def test_the_command_line_words_it(tmp_path, capsys):
    path = tmp_path / "orders.csv"
    columns = table()
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    assert main(["look", str(path)]) == 0
    told = capsys.readouterr().out
    assert "column 'placed_at' seems to be the time: --time placed_at\n" in told
    assert "column 'fraud' seems to be the label: --label fraud\n" in told
    assert main(["look", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["roles"]["label_time"] == "settled_on"
