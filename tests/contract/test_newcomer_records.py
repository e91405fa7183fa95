"""What a newcomer got wrong about records and maps: each is right now, or refused in words."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import DataError, InputError, OptionError

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
TABLE = {"x": [float(k) for k in range(50)], "bad": [k % 3 == 0 for k in range(50)]}
SHEET = at.Costs(**COSTS)


# ---- feature maps


ORDERS = {"amount": [1.0, 2.0, 6.0], "country": ["AT", "DE", "AT"], "id": [7, 8, 9], "bad": ["no", "yes", "no"]}


def orders():
    return at.read_records(ORDERS, label="bad", drop=["id"])


def test_a_mistyped_field_is_refused_and_the_nearest_column_named():
    features = at.Encoder().fit(orders())
    with pytest.raises(InputError, match=r"the record has 'amuont'.*did you mean 'amount'"):
        features.transform({"amuont": 3, "country": "AT"})
    with pytest.raises(InputError, match=r"'amuont'.*did you mean 'amount'.*drop=\['amuont'\]"):
        features.transform({"amount": 3, "amuont": 3, "country": "AT"})
    with pytest.raises(InputError, match="did you mean 'amount'"):
        features.cells({"amuont": 3, "country": "AT"})
    assert features.made == 0
    assert not features.missing_fields


def test_what_was_dropped_or_is_the_label_may_be_there():
    features = at.Encoder().fit(orders())
    assert features.dropped == ("id", "bad")
    bare = features.transform({"amount": 3, "country": "AT"})
    np.testing.assert_array_equal(features.transform({"amount": 3, "country": "AT", "id": 1, "bad": "no"}), bare)
    many = features.transform_many({**ORDERS})
    np.testing.assert_array_equal(many, features.transform_many(orders()))


def test_a_table_with_an_unknown_column_is_refused(tmp_path):
    features = at.Encoder().fit(orders())
    path = tmp_path / "more.csv"
    path.write_text("amount,country,amount2\n1,AT,2\n")
    rows = [{"amount": 1, "country": "AT"}] * 700
    for table in ({**ORDERS, "amount2": [1, 2, 3]}, path, [*rows, {**rows[0], "amount2": 3}], at.read_records(path)):
        with pytest.raises(
            InputError, match=r"has 'amount2', which this map does not know \(did you mean 'amount'\?\)"
        ):
            features.transform_many(table)
    assert features.made == 0


def test_fields_that_records_lack_are_counted_and_missing():
    features = at.Encoder().fit(orders())
    lacking = features.transform({"country": "AT"})
    np.testing.assert_array_equal(lacking, features.transform({"amount": None, "country": "AT"}, update=False))
    features.transform({"country": "AT"}, update=False)  # only asked
    assert features.missing_fields == {"amount": 1}
    features.transform_many([{"country": "AT"}, {"amount": 3}, {"amount": 3, "country": None}])
    assert features.missing_fields == {"amount": 2, "country": 1}
    assert features.made == 4


def test_counts_and_dropped_columns_are_saved(tmp_path):
    features = at.Encoder().fit(orders())
    features.transform({"country": "AT"})
    features.save(tmp_path / "map.at")
    again = at.FeatureMap.load(tmp_path / "map.at")
    assert (again.dropped, again.made, again.missing_fields) == (("id", "bad"), 1, {"amount": 1})


def test_the_label_is_left_out_of_a_map_that_is_told_of_it():
    features = at.Encoder().fit(ORDERS, label="bad", drop=["id"])
    assert features.names() == at.Encoder().fit(orders()).names()
    features.transform({"amount": 3, "country": "AT", "bad": "yes", "id": 3})
    for wrong in ({"label": "baad"}, {"drop": ["idd"]}):
        with pytest.raises(DataError, match="did you mean"):
            at.Encoder().fit(ORDERS, **wrong)
    with pytest.raises(OptionError, match="drop is a list"):
        at.Encoder().fit(ORDERS, drop="id")
    with pytest.raises(OptionError, match="no column to decide by"):
        at.Encoder().fit({"id": [1], "bad": [0]}, label="bad", drop=["id"])


def test_a_row_of_a_data_frame_is_a_record():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    frame = pandas.DataFrame(ORDERS)
    features = at.Encoder().fit(frame, label="bad", drop=["id"])
    wanted = features.transform({"amount": 2.0, "country": "DE"})
    rows = (frame.iloc[1], frame.iloc[1:2], polars.DataFrame(ORDERS)[1], frame[["amount", "country"]].iloc[1])
    for row in rows:
        np.testing.assert_array_equal(features.transform(row), wanted)
    with pytest.raises(InputError, match="one row, got a data frame of 3"):
        features.transform(frame)
    with pytest.raises(InputError, match="a record is a dict"):
        features.transform([2.0, "DE"])


def test_a_transformer_refuses_unknown_fields_too():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    features = at.features.TransformerMap(preprocessing.StandardScaler(), {"age": [30, 50], "income": [1, 3]})
    with pytest.raises(InputError, match=r"has 'incme'.*did you mean 'income'"):
        features.transform({"age": 60, "incme": 2})


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2, 0], [2, 3, 1]], columns=["a", "a", "bad"])
    with pytest.raises(DataError, match="same name"):
        at.read_records(frame, label="bad")


def test_dropping_the_label_is_refused(tmp_path, capsys):
    with pytest.raises(OptionError, match=r"both the label and a column to leave out.*drop="):
        at.replay(TABLE, "bad", costs=COSTS, drop=["bad"])
    with pytest.raises(OptionError, match="both the label"):
        at.read_records(ORDERS, label="bad", drop=["bad"])
