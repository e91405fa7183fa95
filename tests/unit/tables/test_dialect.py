import datetime
import pickle

import numpy as np
import pytest

import appletaste as at
from appletaste.streams.requests import decide_table, read_items
from appletaste.tables.dialect import Dialect


def written(tmp_path, text, name="table.csv"):
    path = tmp_path / name
    path.write_text(text)
    return path


EXPORT = """order;paid;on;bad
A1;1.234,50;31.05.2024;0
A2;7;01.06.2024;1
A3;-0,25;02.06.2024;0
A4;12'500,00;;0
"""


def test_an_export_of_people_is_read_as_one_of_programs(tmp_path):
    how = {"decimal": ",", "date_format": "%d.%m.%Y"}
    found = at.read_records(written(tmp_path, EXPORT), label="bad", drop=["order"], **how)
    assert found.columns["paid"].tolist() == [1234.5, 7.0, -0.25, 12500.0]
    assert found.columns["on"].tolist() == ["2024-05-31", "2024-06-01", "2024-06-02", None]
    assert found.dates == ("on",)


def test_without_being_told_nothing_is_guessed(tmp_path):
    with pytest.raises(at.errors.DataError, match=r"written as 1234\.5"):
        at.read_records(written(tmp_path, EXPORT), label="bad")


def test_a_point_among_commas_is_no_thousand_times_as_much(tmp_path):
    with pytest.raises(at.errors.DataError, match=r"line 4: column 'paid' has '0.25', with a point"):
        at.read_records(written(tmp_path, EXPORT.replace("-0,25", "0.25")), label="bad", decimal=",")


def test_texts_with_commas_or_points_stay_as_they_are(tmp_path):
    table = "name;version;x\nSmith, J;1.2;1,5\nDoe, A;10.4;2,5\n"
    found = at.read_records(written(tmp_path, table), decimal=",")
    assert found.columns["name"].tolist() == ["Smith, J", "Doe, A"]
    assert found.columns["version"].tolist() == [1.2, 10.4]  # no cell of the column has a comma
    assert found.columns["x"].tolist() == [1.5, 2.5]


def test_a_date_with_a_time_of_day_keeps_it(tmp_path):
    table = "on,x\n05/31/2024 14:30,1\n06/01/2024 09:00,2\n"
    found = at.read_records(written(tmp_path, table), date_format="%m/%d/%Y %H:%M")
    assert found.columns["on"].tolist() == ["2024-05-31T14:30:00", "2024-06-01T09:00:00"]


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ({"decimal": ";"}, "decimal= is . or ,; got"),
        ({"date_format": "%d.%m"}, "where day, month and year stand"),
        ({"date_format": "31.05.2024"}, "where day, month and year stand"),
        ({"date_format": "%Y-%Q"}, "where day, month and year stand"),
        ({"date_format": 7}, "where day, month and year stand"),
        ({"separator": "ab"}, "separator= is one character"),
    ],
)
def test_what_makes_no_sense_is_refused(told, says):
    with pytest.raises(at.errors.OptionError, match=says):
        Dialect(**told)


@pytest.mark.parametrize("compression", ["lz4", "uncompressed"])
def test_feather(tmp_path, compression):
    feather = pytest.importorskip("pyarrow.feather")
    import pyarrow

    table = pyarrow.table({"x": [1.5, None], "shop": ["a", "b"], "bad": [0, 1]})
    feather.write_feather(table, tmp_path / "t.feather", compression=compression)
    found = at.read_records(tmp_path / "t.feather", label="bad")
    np.testing.assert_array_equal(found.columns["x"], [1.5, np.nan])
    assert found.columns["shop"].tolist() == ["a", "b"]
    (tmp_path / "cut.feather").write_bytes((tmp_path / "t.feather").read_bytes()[:60])
    with pytest.raises(at.errors.DataError, match="not a whole Feather file"):
        at.read_records(tmp_path / "cut.feather")


@pytest.fixture
def book(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([])
    sheet.append(["paid", "on", "shop", "new", "bad"])
    sheet.append([12.5, datetime.date(2024, 5, 31), "north", True, 0])
    sheet.append([])
    sheet.append([7, datetime.date(2024, 6, 1), None, False, 1])
    other = book.create_sheet("more")
    other.append(["x"])
    other.append([3])
    book.save(tmp_path / "book.xlsx")
    return tmp_path / "book.xlsx"


def test_a_spreadsheet(book):
    found = at.read_records(book, label="bad")
    assert found.columns["paid"].tolist() == [12.5, 7.0]
    assert found.columns["on"].tolist() == ["2024-05-31", "2024-06-01"]
    assert found.dates == ("on",)
    assert found.columns["shop"].tolist() == ["north", None]
    assert found.labels.tolist() == [0, 1]
    assert found.where(1).endswith("line 5")
    assert at.read_records(book, sheet="more").columns["x"].tolist() == [3.0]


def test_a_sheet_that_is_not_there_and_files_without_sheets(book, tmp_path):
    with pytest.raises(
        at.errors.OptionError, match=r"no sheet 'mor' \(did you mean 'more'\?\)\. Its sheets: '.+', 'more'\. Name one"
    ):
        at.read_records(book, sheet="mor")
    with pytest.raises(at.errors.OptionError, match="has no sheets"):
        at.read_records(written(tmp_path, "x\n1\n"), sheet="more")
    (tmp_path / "cut.xlsx").write_bytes(book.read_bytes()[:500])
    with pytest.raises(at.errors.DataError, match="whole spreadsheet"):
        at.read_records(tmp_path / "cut.xlsx")


def test_cells_behind_the_last_name_are_said(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["x"])
    book.active.append([1, "what is this?"])
    book.save(tmp_path / "wide.xlsx")
    with pytest.raises(at.errors.DataError, match="line 2: cells behind the last column that has a name, 'x'") as told:
        at.read_records(tmp_path / "wide.xlsx")
    assert "take line 1 out if it is a title above the table" in str(told.value)


def test_a_pickle_is_not_opened_and_said_to_be_one(tmp_path):
    for protocol in (2, 4, 5):
        (tmp_path / "past.pkl").write_bytes(pickle.dumps({"x": [1, 2]}, protocol=protocol))
        with pytest.raises(at.errors.DataError, match=r"past\.pkl is a pickle, .*to_parquet"):
            at.read_records(tmp_path / "past.pkl")


def test_a_stream_is_made_and_asked_in_the_same_way(tmp_path):
    rows = [f"A{k};{k},5;{1 + k % 28:02d}.05.2024;{int(k % 5 == 0)}" for k in range(40)]
    past = written(tmp_path, "order;paid;on;bad\n" + "\n".join(rows))
    how = {"decimal": ",", "date_format": "%d.%m.%Y"}
    costs = {"miss": "paid+5", "false_alarm": 1, "hit": 0}
    prepared = at.streams.from_history(past, "bad", costs=costs, id="order", time="on", positive="1", **how)
    new = written(tmp_path, "order;paid;on\nB1;1.250,75;30.05.2024\n", "new.csv")
    with prepared.create("memory", "orders") as stream:
        (answer,) = decide_table(stream, read_items(new, stream, **how))
        assert answer.time == "2024-05-30"
        assert answer.decision.costs.miss == 1255.75
