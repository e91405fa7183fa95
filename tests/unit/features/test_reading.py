"""Reading tables: every kind of source gives the same records; what is broken is said with its line and a remedy."""

import gzip
import json
import sys
from datetime import date, timedelta

import numpy as np
import pytest

import appletaste as at
from appletaste.tables.values import as_level, as_number

CSV = """age,job,income,good
31,student,1.5,yes
?,retired,NA,no
45,"chef, pastry",2e3,yes
"""


def write(folder, text, name="people.csv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def check_people(records):
    assert list(records.columns) == ["age", "job", "income"]
    np.testing.assert_array_equal(records.columns["age"], [31, np.nan, 45])
    np.testing.assert_array_equal(records.columns["income"], [1.5, np.nan, 2000])
    assert records.columns["job"].tolist() == ["student", "retired", "chef, pastry"]
    assert records.labels.tolist() == [1, 0, 1]
    assert records.labels.dtype == np.int8


@pytest.mark.parametrize("name", ["people.csv", "people.csv.gz", "people.txt", "zipped_without_saying_so"])
def test_csv(name, tmp_path):
    path = write(tmp_path, CSV, name)
    if name == "zipped_without_saying_so":
        path.write_bytes(gzip.compress(CSV.encode()))
    records = at.read_records(path, label="good")
    check_people(records)
    assert records.lines.tolist() == [2, 3, 4]
    assert records.where(1) == f"{path}, line 3"
    assert records[1:].where(0) == f"{path}, line 3"
    assert records[np.array([2, 0])].labels.tolist() == [1, 1]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_and_windows_lines_and_a_byte_order_mark(separator, tmp_path):
    text = "\ufeff" + CSV.replace('"chef, pastry"', "chef").replace(",", separator).replace("\n", "\r\n")
    records = at.read_records(write(tmp_path, text), label="good")
    assert records.columns["job"].tolist() == ["student", "retired", "chef"]
    assert list(records.columns) == ["age", "job", "income"]


def test_json_lines_and_dicts_and_columns(tmp_path):
    rows = [
        {"age": 31, "job": "student", "income": 1.5, "good": True},
        {"job": "retired", "income": None, "good": False},
        {"age": 45, "job": "chef, pastry", "income": 2e3, "good": True, "unknown before": 1},
    ]
    lines = "\n".join(map(json.dumps, rows))
    for name in ("people.jsonl", "people.ndjson.gz"):
        path = write(tmp_path, lines, name)
        records = at.read_records(path, label="good", drop=["unknown before"])
        check_people(records)
        assert records.where(2) == f"{path}, line 3"
    check_people(at.read_records(iter(rows), label="good", warm_up=2))  # keys after the warm-up are not looked at
    columns = {name: [row.get(name) for row in rows] for name in ("age", "job", "income", "good")}
    check_people(at.read_records(columns, label="good"))
    arrays = {"age": np.array([1, 2]), "flag": np.array([True, False]), "job": np.array(["a", "b"])}
    records = at.read_records(arrays)
    assert records.labels is None
    assert [column.dtype.kind for column in records.columns.values()] == ["f", "f", "O"]
    assert records.where(1) == "the table, row 1"
    assert records[1:].where(0) == "the table, row 1"
    assert next(iter(records.rows())) == {"age": 1.0, "flag": 1.0, "job": "a"}
    assert at.read_records(records) is records


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"empty"),
        ("a,b\n", r"no rows"),
        ("a,b\n1,2\n3\n", r"line 3: 1 fields, but the header has 2"),
        ("a,b\n1,2\n\n3,4,5\n", r"line 4: 3 fields"),
        ('a,b\n1,"x\ny"\n3\n', r"line 4: 1 fields"),
        ('a,b\n1,2\n3,"open\n5,6\n', r"line 3: .*quote"),
        ("a,,b\n1,2,3\n", r"line 1: column 2 has no name.*index=False"),
        ("a,b,a\n1,2,3\n", r"line 1: two columns are named 'a'; rename one.$"),
        ("1,x,1\n2,y,0\n", r"line 1: two columns are named '1'; rename one. Is the line with the names .* missing"),
        ("sep=;\na;;b\n1;2;3\n", r"line 2: column 2 has no name"),
        ("sep=;\na;b\n1;2\n3\n", r"line 4: 1 fields"),
        (
            "a;b\nx;1,5\ny;12\n",
            r"line 2: column 'b' has '1,5', and 1 of its first 2 values.* 1234\.5.*categories=\['b'\]",
        ),
        ("a;b\nx;1.234,50\n", r"line 2: column 'b' has '1\.234,50'"),
        ('a;b\nx;?\nx;"1,234,000.5"\n', r"line 3: column 'b' has '1,234,000\.5'"),
        ("a;b\nx;€ 12.50\n", r"line 2: column 'b' has '€ 12\.50'"),
        ("a;b\nx;-3 %\n", r"line 2: column 'b' has '-3 %'"),
        ("a;b\nx;1 234\n", r"line 2: column 'b' has '1 234'"),
    ],
)
def test_broken_files_are_named_with_their_line(text, message, tmp_path):
    path = write(tmp_path, text)
    with pytest.raises(at.errors.DataError, match=f"people.csv.*{message}"):
        at.read_records(path)


def test_what_only_resembles_a_number_is_a_category(tmp_path):
    """Dates, ranges, versions and codes; and what looks like a number, where it is said to be a category."""
    text = "date;range;version;code;rate\n31.05.2024;10-20;1.2.3;A1,5;5 %\n01.06.2024;20-30;1.2.4;B2;10 %\n"
    records = at.read_records(write(tmp_path, text), categories=["rate"])
    assert {column.dtype.kind for column in records.columns.values()} == {"O"}
    mixed = "a\n" + "1,5\n" * 8 + "low\n" * 2  # most are like numbers, but not nearly all
    assert at.read_records(write(tmp_path, mixed, "mixed.csv"), separator=";").columns["a"].dtype.kind == "O"


def test_a_spreadsheet_may_say_its_separator(tmp_path):
    records = at.read_records(write(tmp_path, "sep=|\r\na|b;c\r\n1|x\r\n2|y\r\n"))
    assert list(records.columns) == ["a", "b;c"]
    assert records.where(1).endswith("line 4")


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(at.errors.DataError, match="is a folder: name the file"):
        at.read_records(tmp_path)


def test_unreadable_files(tmp_path):
    path = tmp_path / "people.csv"
    path.write_bytes(b"a,b\n1,2\n3,caf\xe9\n")
    with pytest.raises(at.errors.DataError, match="line 3: not UTF-8"):
        at.read_records(path)
    path.write_bytes(gzip.compress(CSV.encode() * 50)[:-20])
    with pytest.raises(at.errors.DataError, match="cut short or damaged"):
        at.read_records(path)
    for head in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        path.write_bytes(head)
        with pytest.raises(at.errors.DataError, match="spreadsheet"):
            at.read_records(path)
    path.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(at.errors.DataError, match="Parquet"):
        at.read_records(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        at.read_records(tmp_path / "nowhere.csv")
    for line, message in (("{", "line 2: not JSON"), ("[1]", "line 2: expected an object")):
        with pytest.raises(at.errors.DataError, match=message):
            at.read_records(write(tmp_path, '{"a": 1}\n' + line, "a.jsonl"))


def test_mixed_types_are_named_with_their_line(tmp_path):
    numbers = "".join(f"{k}\n" for k in range(30))
    with pytest.raises(
        at.errors.DataError, match=r"line 32: column 'a' has 'many' among numbers \(30 of its first 31.*missing="
    ):
        at.read_records(write(tmp_path, f"a\n{numbers}many\n"))
    with pytest.raises(at.errors.DataError, match=r"line 32: column 'a' holds numbers, got 'many'.*categories=\['a'\]"):
        at.read_records(write(tmp_path, f"a\n{numbers}many\n"), warm_up=30)
    path = write(tmp_path, f"a\n{numbers}many\n")
    assert np.isnan(at.read_records(path, missing=["many"]).columns["a"][-1])
    assert at.read_records(path, categories=["a"]).columns["a"][-1] == "many"
    levels = at.read_records(write(tmp_path, "children\n1\n2\n3+\n")).columns["children"]  # codes, no numbers
    assert levels.tolist() == ["1", "2", "3+"]
    with pytest.raises(at.errors.DataError, match=r"row 0: column 'a' holds.*drop=\['a'\]"):
        at.read_records([{"a": timedelta(days=1)}])
    with pytest.raises(at.errors.DataError, match="a list"):
        at.read_records([{"a": [1, 2]}])


def test_the_kind_of_a_column_is_decided_on_the_warm_up_alone():
    early = at.read_records({"a": ["x"] * 10 + ["1"] * 100}, warm_up=10)
    assert early.columns["a"].tolist() == ["x"] * 10 + ["1"] * 100
    empty = at.read_records({"a": [None] * 10 + [1, 2]}, warm_up=10)
    assert empty.columns["a"].tolist() == [None] * 10 + ["1", "2"]
    declared = at.read_records({"a": [None] * 10 + [1, 2]}, warm_up=10, numbers=["a"])
    np.testing.assert_array_equal(declared.columns["a"][10:], [1, 2])


def test_columns_that_are_not_there_are_named(tmp_path):
    path = write(tmp_path, CSV)
    with pytest.raises(
        at.errors.DataError, match=r"no column 'Good' \(did you mean 'good'\?\)\. Its columns: age, job, income, good"
    ):
        at.read_records(path, label="Good")
    with pytest.raises(at.errors.DataError, match=r"no column 'zzz'\. Its columns"):
        at.read_records(path, drop=["zzz"])
    with pytest.raises(at.errors.DataError, match="nothing to base decisions on"):
        at.read_records(path, label="good", columns=["good"])
    assert list(at.read_records(path, columns=["income", "age"]).columns) == ["income", "age"]


def test_sources_that_are_none():
    for source, message in (
        (3, "got int"),
        ([1, 2], "got list"),
        ({"a": 1}, r"for one record give a list"),
        ({"a": "text"}, r"for one record give a list"),
    ):
        with pytest.raises(at.errors.InputError, match=message):
            at.read_records(source)
    with pytest.raises(at.errors.DataError, match="differ in length"):
        at.read_records({"a": [1, 2], "b": [1]})
    with pytest.raises(at.errors.DataError, match="no rows"):
        at.read_records([])
    with pytest.raises(at.errors.InputError, match=r"missing=\['NA'\]"):
        at.read_records([{"a": 1}], missing="NA")


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(at.errors.MissingExtraError, match=r"pip install 'appletaste\[parquet\]'"):
        at.read_records(path)


def test_cells():
    nothing = (None, float("nan"), np.nan, "", " ? ", "NA", "null")
    assert all(np.isnan(as_number(value)) for value in (*nothing, float("inf"), -1e200, 10**400))
    assert all(as_level(value) is None for value in nothing)
    assert [as_number(value) for value in (" 3 ", True, np.float32(0.5), np.int8(-1))] == [3, 1, 0.5, -1]
    levels = [
        as_level(value) for value in ("none", 3, 3.0, np.float64(3), 0.5, True, np.bool_(True), float("inf"), 1e300)
    ]
    assert levels == ["none", "3", "3", "3", "0.5", "True", "True", "inf", "1e+300"]
    for value in ("abc", "2024_05", [1], {}, date(2024, 1, 1), 1j, object()):
        with pytest.raises(ValueError):
            as_number(value)


@pytest.mark.parametrize("separator", ["ab", "", '"', "\n", "\r", "\0", 7, b";"])
def test_a_separator_is_one_character_that_csv_takes(tmp_path, separator):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1;x\n")
    for source in (path, {"a": [1.0]}):
        with pytest.raises(
            at.errors.OptionError, match=r"separator= is one character, such as ; .*leave out separator="
        ):
            at.read_records(source, separator=separator)
    assert list(at.read_records(path, separator=";").columns) == ["a", "b"]


def test_a_separator_that_a_file_names_is_one_that_csv_takes(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('sep="\na"b\n1"x\n')
    with pytest.raises(at.errors.DataError, match=r"t\.csv, line 1: .* is no separator"):
        at.read_records(path)


def test_a_column_is_not_both_a_number_and_a_category():
    with pytest.raises(at.errors.OptionError, match=r"'age' cannot be both.*take the column out of numbers= or categ"):
        at.read_records({"age": ["1", "2"]}, numbers=["age"], categories=["age"])
