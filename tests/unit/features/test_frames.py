"""Data frames of every kind, and Parquet, give the same records; none of their libraries is required."""

import sys
from datetime import date, datetime, time

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import appletaste as at
from appletaste.times import instants

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

COLUMNS = {
    "whole": [1, 2, None],
    "real": [0.5, None, float("inf")],
    "flag": [True, None, False],
    "text": ["a", None, "NA"],
    "code": ["01", "02", "03"],
    "label": ["no", "yes", "no"],
}


def parquet(columns, folder):
    path = folder / "table.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    return path


MAKERS = {
    "pandas": lambda columns, folder: pandas.DataFrame(columns),
    "pandas with missing integers": lambda columns, folder: pandas.DataFrame(columns).convert_dtypes(),
    "polars": lambda columns, folder: polars.DataFrame(columns),
    "pyarrow": lambda columns, folder: pyarrow.table(columns),
    "parquet": parquet,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_frames(make, tmp_path):
    records = at.read_records(make(COLUMNS, tmp_path), label="label")
    assert list(records.columns) == list(COLUMNS)[:-1]
    np.testing.assert_array_equal(records.columns["whole"], [1, 2, np.nan])
    np.testing.assert_array_equal(records.columns["real"], [0.5, np.nan, np.nan])
    np.testing.assert_array_equal(records.columns["flag"], [1, np.nan, 0])
    assert records.columns["text"].tolist() == ["a", None, None]
    assert records.columns["code"].tolist() == ["01", "02", "03"]  # text that a frame calls text stays text
    assert records.labels.tolist() == [0, 1, 0]
    assert at.read_records(make(COLUMNS, tmp_path), numbers=["code"]).columns["code"].tolist() == [1, 2, 3]
    assert at.read_records(make(COLUMNS, tmp_path), categories=["whole"]).columns["whole"].tolist() == ["1", "2", None]
    features = at.Encoder().fit(make(COLUMNS, tmp_path))
    assert features.transform_many(make(COLUMNS, tmp_path)).shape == (3, features.n_features)


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_faults_of_frames(make, tmp_path):
    mixed = [str(k) for k in range(30)] + ["many"]
    with pytest.raises(at.errors.DataError, match="row 30: column 'a' has 'many' among numbers"):
        at.read_records(make({"a": mixed}, tmp_path))
    with pytest.raises(at.errors.DataError, match=r"row 0: column 'at' holds.*drop=\['at'\]"):
        at.read_records(make({"at": [time(12, 30)], "a": [1]}, tmp_path))
    assert list(at.read_records(make({"at": [time(12, 30)], "a": [1]}, tmp_path), drop=["at"]).columns) == ["a"]


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_dates_of_frames_are_dates(make, tmp_path):
    given = {"day": [date(2024, 5, 1), None], "when": [datetime(2024, 5, 1, 12, 30), datetime(2024, 5, 2)], "a": [1, 2]}
    records = at.read_records(make(given, tmp_path))
    assert records.dates == ("day", "when")
    assert instants(records.columns["day"])[0] == instants(np.array(["2024-05-01"]))[0]
    assert records.columns["day"][1] is None
    assert instants(records.columns["when"]).tolist() == [
        instants(np.array([day]))[0] for day in ("2024-05-01T12:30", "2024-05-02")
    ]


@pytest.mark.parametrize("kind", MAKERS)
def test_long_identifiers_keep_their_digits(kind, tmp_path):
    ids = [2**60 + 1, 2**60 + 2]
    for more in [[]] if "pandas" in kind else [[], [None]]:  # pandas itself makes floats of them beside None
        records = at.read_records(MAKERS[kind]({"id": ids + more}, tmp_path), categories=["id"])
        assert records.columns["id"].tolist() == [*map(str, ids), *more]
        features = at.Encoder().fit(records)
        assert features.transform({"id": ids[1]}).tolist()[:3] == [1, 0, 1]


def test_categories_of_frames():
    frame = pandas.DataFrame({"c": pandas.Categorical(["a", None, "b"])})
    assert at.read_records(frame).columns["c"].tolist() == ["a", None, "b"]
    frame = polars.DataFrame({"c": ["a", None, "b"]}, schema={"c": polars.Categorical})
    assert at.read_records(frame).columns["c"].tolist() == ["a", None, "b"]
    table = pyarrow.table({"c": pyarrow.array(["a", None, "b"]).dictionary_encode()})
    assert at.read_records(table).columns["c"].tolist() == ["a", None, "b"]


def test_frames_that_cannot_be_read(monkeypatch):
    with pytest.raises(at.errors.DataError, match=r"collect\(\) it first"):
        at.read_records(polars.LazyFrame({"a": [1]}))
    for column in (pandas.Series([1, 2]), polars.Series([1, 2])):
        with pytest.raises(at.errors.DataError, match="a Series is one column"):
            at.read_records(column)
    with pytest.raises(at.errors.DataError, match="named 0"):
        at.read_records(pandas.DataFrame([[1, 2]]))
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(at.errors.MissingExtraError, match=r"pandas data frame.*pip install 'appletaste\[frames\]'"):
        at.read_records(pandas.DataFrame({"a": [1]}))
