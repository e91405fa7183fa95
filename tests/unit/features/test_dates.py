"""Dates as features: cycles, days between, what is missing or cannot be read, and what is said and saved of them."""

import math
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pytest

import appletaste as at
from appletaste.features.dates import CYCLES, cycles_of
from appletaste.features.parts import average_item, parts_of
from appletaste.tables.values import are_dates, written_otherwise
from appletaste.times import DAY, instants

ROWS = 600


def orders(days=500, rows=ROWS):
    """Orders over so many days, at any minute, of accounts that were opened up to 900 days before."""
    rng = np.random.default_rng(3)
    placed = np.datetime64("2023-02-01T00:00") + np.sort(rng.integers(0, days * 1440, rows)).astype("m8[m]")
    opened = placed.astype("M8[D]") - rng.integers(1, 900, rows).astype("m8[D]")
    found = [{"placed_at": str(a), "opened": str(b)} for a, b in zip(placed, opened, strict=True)]
    found[3]["opened"], found[7]["opened"] = None, "soon"
    return found


def test_a_date_becomes_cycles_and_days_before_the_first_date():
    features = at.Encoder(standardise=False).fit(orders())
    names = [f"placed_at {cycle} {wave}" for cycle in ("hour", "weekday") for wave in ("sine", "cosine")]
    own = ["opened weekday sine", "opened weekday cosine", "opened month sine", "opened month cosine"]
    assert at.Encoder().fit(orders(300)).names()[1:5] == names  # less than a year: no months
    x = dict(
        zip(
            features.names(), features.transform({"placed_at": "2024-03-01T18:00", "opened": "2024-01-01"}), strict=True
        )
    )
    assert list(x)[7:] == [*own, "opened days before placed_at", "opened missing"]
    assert (x["placed_at hour sine"], x["placed_at hour cosine"]) == pytest.approx((-1.0, 0.0))
    friday = 2 * math.pi * 4 / 7
    assert (x["placed_at weekday sine"], x["placed_at weekday cosine"]) == pytest.approx(
        (math.sin(friday), math.cos(friday))
    )
    assert (x["opened month sine"], x["opened month cosine"]) == (0.0, 1.0)
    assert x["opened days before placed_at"] == 60.75
    assert x["opened missing"] == 0.0


def test_every_place_on_a_circle_is_what_the_calendar_says():
    for cycle in ("weekday", "month"):
        days = [date(2024, 1, 1) + timedelta(k) for k in range(0, 366, 5)]
        told = np.array([day.weekday() if cycle == "weekday" else day.month - 1 for day in days])
        features = at.Encoder(standardise=False, cycles=[cycle], intercept=False).fit({"day": days})
        turns = 2 * np.pi * told / len(CYCLES[cycle].sines)
        np.testing.assert_allclose(
            features.transform_many({"day": days}), np.column_stack([np.sin(turns), np.cos(turns)])
        )


def test_the_time_of_day_is_that_of_the_clock_on_the_wall_and_days_are_between_moments():
    there = timezone(timedelta(hours=5))
    rows = [
        {"a": datetime(2024, 5, 1 + k, 3 * k, tzinfo=there), "b": datetime(2024, 5, 1, tzinfo=UTC)} for k in range(8)
    ]
    features = at.Encoder(standardise=False, cycles=["hour"]).fit(rows)
    x = dict(zip(features.names(), features.transform(rows[2]), strict=True))
    assert (x["a hour sine"], x["a hour cosine"]) == pytest.approx((1.0, 0.0))  # six o'clock there
    assert x["b days before a"] == 2 + 1 / 24
    np.testing.assert_array_equal(features.transform_many(rows), [features.transform(row) for row in rows])


def test_a_cycle_is_used_once_the_dates_have_been_around_it():
    every = tuple(CYCLES)
    hours = instants(np.array(["2024-05-01T00:00", "2024-05-01T23:59"]))
    assert cycles_of(hours, every) == []
    assert cycles_of(hours + np.array([0, DAY]), every) == ["hour"]
    assert cycles_of(hours + np.array([0, 8 * DAY]), ["weekday"]) == ["weekday"]
    assert cycles_of(DAY * np.array([3, 10, 17]), every) == []  # always the same weekday, at midnight
    assert cycles_of(DAY * np.array([0.0, 200, 401]), every) == ["weekday", "month"]  # days have no hours
    assert cycles_of(np.full(3, np.nan), every) == []


@pytest.mark.parametrize(
    "settings", [{}, {"online": True}, {"standardise": False}, {"dates": {"age": ("placed_at", "opened")}}]
)
def test_one_record_and_a_table_give_the_same_bits_and_a_saved_map_goes_on(settings, tmp_path):
    rows, encoder = orders(), at.Encoder(warm_up=300, **settings)
    one, many = encoder.fit(rows), encoder.fit(rows)
    np.testing.assert_array_equal([one.transform(row) for row in rows], many.transform_many(rows))
    assert one.unreadable == many.unreadable == {"placed_at": 0, "opened": 1}
    many.save(tmp_path / "map")
    again = at.FeatureMap.load(tmp_path / "map")
    assert again.unreadable == many.unreadable
    assert again.continues(many)
    assert again.continues(encoder.fit(rows))  # counts are no change
    np.testing.assert_array_equal(again.transform_many(rows), many.transform_many(rows))


def test_days_may_have_a_name_and_then_no_others_are_made():
    features = at.Encoder(dates={"age": ("placed_at", "opened")}, cycles=[], standardise=False).fit(orders())
    assert features.names() == ["intercept", "opened missing", "age", "age missing"]
    assert features.transform({"placed_at": "2024-03-01T12:00", "opened": date(2024, 2, 1)})[2] == 29.5
    assert features.transform({"placed_at": "2024-03-01T12:00"}).tolist()[3] == 1.0
    assert features.missing_fields == {"opened": 1}
    products = at.Encoder(dates={"age": ("placed_at", "opened")}, cycles=[], interactions=[("age", "opened")])
    assert products.fit(orders()).names()[-1] == "age missing × opened missing"


def test_the_time_is_no_feature_but_other_dates_are_counted_from_it():
    rows = [{"opened": row["opened"], "placed_at": row["placed_at"]} for row in orders()]
    features = at.Encoder(cycles=[]).fit(rows, time="placed_at")
    assert features.names() == ["intercept", "opened days before placed_at", "opened missing"]


def test_missing_and_unreadable_dates_are_the_mean_and_an_indicator():
    features = at.Encoder().fit(orders())
    for lost in (None, "soon", "?", np.datetime64("NaT")):
        x = dict(
            zip(features.names(), features.transform({"placed_at": "2024-03-01T12:00", "opened": lost}), strict=True)
        )
        assert x["opened missing"] == 1.0
        assert all(value == 0.0 for name, value in x.items() if name.startswith("opened") and name != "opened missing")
    assert features.unreadable == {"placed_at": 0, "opened": 1}  # nothing there is not unreadable


def test_a_date_beyond_what_was_seen_is_held():
    features = at.Encoder(cycles=[], clip=5.0).fit(orders(), time="placed_at")
    far, farther = (features.transform({"placed_at": f"{year}-01-01", "opened": "2000-01-01"}) for year in (2030, 2099))
    np.testing.assert_array_equal(far, farther)


def test_what_is_no_date_is_refused():
    features = at.Encoder().fit(orders())
    with pytest.raises(at.errors.DataError, match=r"'placed_at' takes dates such as 2024-05-31T14:05, got 1714521600"):
        features.transform({"placed_at": 1714521600, "opened": None})
    with pytest.raises(at.errors.DataError, match="row 0: column 'b' is to hold dates, got the number 1714521600"):
        at.Encoder(dates={"age": ("a", "b")}).fit({"a": ["2024-05-31"], "b": [1714521600]})
    with pytest.raises(at.errors.DataError, match=r"no column 'opend' \(did you mean 'opened'\?\)"):
        at.Encoder(dates={"age": ("placed_at", "opend")}).fit(orders())
    with pytest.raises(at.errors.OptionError, match="there is a column 'opened' already"):
        at.Encoder(dates={"opened": ("placed_at", "opened")}).fit(orders())
    for wrong in ({"age": "placed_at"}, {"age": ("a", "a")}, {"age": ("a", "b", "c")}):
        with pytest.raises(at.errors.OptionError, match="dates names the days between two columns"):
            at.Encoder(dates=wrong)
    with pytest.raises(at.errors.OptionError, match="cycles are some of hour, weekday, month"):
        at.Encoder(cycles="hour")


def test_a_column_of_dates_can_be_a_category_instead():
    records = at.read_records({"from": ["2024-01-01", "2023-01-01"]}, categories=["from"])
    assert records.dates == ()
    assert at.Encoder().fit(records).names() == ["intercept", "from=2023-01-01", "from=2024-01-01", "from other"]
    assert at.read_records({"a": ["2024-01-01"] * 19 + ["soon"] * 2}).dates == ()  # less than 95 % of them


@pytest.mark.parametrize(
    "text",
    [
        *("31.05.2024", "5/31/24", "05-31-2024", "2024/05/31", "31 May 2024", "31-May-24", "May 31, 2024"),
        *("31.05.2024 08:15", "5/31/2024 8:15:00 PM", "Sept. 3, 2024 08:15 UTC"),
    ],
)
def test_dates_as_people_write_dates_are_known_and_not_read(text):
    assert written_otherwise(np.array([text, None] * 20, dtype=object))
    assert not are_dates(np.array([text], dtype=object))


@pytest.mark.parametrize(
    "text",
    ["2024-05-31", "1.2.3", "10.0.0.1", "45/31/2024", "12:30", "May", "chef", "A-12-2024", "0/0/24", "marine 12"],
)
def test_what_is_no_date_in_another_writing(text):
    assert not written_otherwise(np.array([text] * 20, dtype=object))
    assert not written_otherwise(np.array([None], dtype=object))


@pytest.mark.parametrize("standardise", [True, False])
def test_an_explanation_has_one_part_for_each_column(standardise):
    features = at.Encoder(standardise=standardise).fit(orders())
    record = {"placed_at": "2024-03-01T18:00", "opened": "2024-01-01"}
    x, usual = features.transform(record), average_item(features, features.n_features)
    told = [part.words for part in parts_of(features, x, usual, record)]
    assert told == ["placed_at = 2024-03-01 18:00:00", "opened = 2024-01-01, 60.75 days before placed_at"]
    parts = parts_of(features, x, usual)
    assert [part.column for part in parts] == ["placed_at", "opened"]
    assert parts[0].words == "placed_at: about 18:00, Friday, March"
    assert parts[1].words == "opened: about Monday, January, 60.75 days before placed_at"
    table = features.transform_many(orders()[:500], update=False)
    dates = slice(1, -1)  # between the intercept and the indicator
    np.testing.assert_allclose(usual[dates], table[:, dates].mean(axis=0), atol=1e-9)
    rebuilt = usual.copy()
    for part in parts:
        rebuilt[part.places] += part.values
    np.testing.assert_allclose(rebuilt, x, atol=1e-12)
    lost = features.transform({**record, "opened": None})
    assert parts_of(features, lost, usual)[1].words == "opened is missing"
