"""Logs on disk: what is written comes back as it was, and files from elsewhere are taken if they say the same."""

import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import appletaste as at
from appletaste.logs import log_files as log_files
from appletaste.logs.log_columns import FIELDS

SUFFIXES = pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def row(**changes):
    return {"id": "a", "act": True, "probability": 0.5, "label": 1, **COSTS, **changes}


def whole(n=60, dates=False):
    """Return a log with every column, each with something missing where something may be."""
    g = np.random.default_rng(5)
    act = g.random(n) < 0.6
    known = act & (g.random(n) < 0.7)
    truth = g.integers(0, 2, n)
    told = ~act & (np.arange(n) % 2 == 0)
    when = np.arange(n) + 0.25
    stamps = np.datetime_as_string(np.datetime64("2024-05-31T12:00:00") + np.arange(n))
    return at.DecisionLog(
        id=np.array([f"Fall {k} – żółć 事 🍎" for k in range(n)]),
        round=np.arange(7, n + 7),
        act=act,
        probability=g.uniform(0.1, 0.9, n),
        **{name: g.normal(size=n) + 10.0 for name in ("miss", "false_alarm")},
        **{name: g.normal(size=n) for name in ("hit", "correct_pass")},
        label=np.where(known, truth, -1).astype(np.int8),
        state=np.where(known, np.where(when < 20, "corrected", "observed"), np.where(act, "expired", "never_due")),
        policy=np.array(["voi", "", "pg-ts"])[np.arange(n) % 3],
        audit=act & (g.random(n) < 0.3),
        chance=np.where(when < 9, np.nan, g.random(n)),
        worth=np.where(when < 5, np.nan, g.normal(size=n)),
        price=np.where(when > 30, np.nan, g.random(n)),
        time=stamps if dates else when,
        label_time=np.where(known, stamps, "") if dates else np.where(known, when + 3, np.nan),
        stratum=np.array(["new", "", "älter"])[np.arange(n) % 3],
        x=g.normal(size=(n, 3)),
        why=np.array([{"width": math.inf, "gap": math.nan}, {}, {"low": -math.inf, "level": 2.0}] * (n // 3)),
        truth=truth.astype(np.int8),
        report=np.where(told, truth, -1).astype(np.int8),
        report_time=np.where(told, stamps, "") if dates else np.where(told, when + 9, np.nan),
    )


def assert_same(one, other):
    for name, column in vars(other).items():
        found = getattr(one, name)
        if column is None:
            assert found is None, name
        elif name == "why":
            assert repr(found.tolist()) == repr(column.tolist())  # NaN is not itself
        else:
            np.testing.assert_array_equal(found, column, err_msg=name)
            assert found.dtype.kind == column.dtype.kind, name
            assert found.flags.writeable, name


@pytest.mark.parametrize("suffix", ["parquet", "jsonl"])
def test_every_column_is_written_and_read_back(tmp_path, suffix):
    log = whole()
    path = tmp_path / f"log.{suffix}"
    log.write(path)
    again = at.DecisionLog.read(path)
    assert list(log.columns()) == list(FIELDS)
    assert_same(again, log)
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_files_of_another_version_or_kind_are_refused(tmp_path, monkeypatch):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"schema_version": 99, **row()}) + "\n")
    with pytest.raises(at.errors.DataError, match="99"):
        at.DecisionLog.read(path)
    path.write_text("{\n")
    with pytest.raises(at.errors.DataError, match="line 1"):
        at.DecisionLog.read(path)
    with pytest.raises(at.errors.DataError, match=r"\.parquet or \.jsonl"):
        at.DecisionLog.from_rows([row()]).write(tmp_path / "log.csv")
    with pytest.raises(FileNotFoundError, match="no folder"):
        at.DecisionLog.from_rows([row()]).write(tmp_path / "none" / "log.jsonl")
    (tmp_path / "log.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(at.errors.DataError, match="not a whole Parquet"):
        at.DecisionLog.read(tmp_path / "log.parquet")
    monkeypatch.setattr(log_files, "SCHEMA_VERSION", 4)
    at.DecisionLog.from_rows([row()]).write(tmp_path / "new.parquet")
    monkeypatch.undo()
    with pytest.raises(at.errors.DataError, match="schema_version is 4"):
        at.DecisionLog.read(tmp_path / "new.parquet")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "log.jsonl"
    at.DecisionLog.from_rows([row()]).write(path)
    with pytest.raises(TypeError):
        log_files.write_log({"id": np.array([object()])}, path)
    assert len(at.DecisionLog.read(path)) == 1
    assert len(list(tmp_path.iterdir())) == 1


@SUFFIXES
def test_dates_and_what_rows_say_come_back(tmp_path, suffix):
    log = whole(dates=True)
    log.write(tmp_path / f"log.{suffix}")
    assert_same(at.DecisionLog.read(tmp_path / f"log.{suffix}"), log)
    plain = log.where(np.arange(60) % 3 == 1)
    assert_same(at.DecisionLog.from_rows(plain.rows()), plain)
    assert_same(at.DecisionLog.from_columns(log.columns()), log)


@SUFFIXES
@pytest.mark.parametrize("rows", [[], [row()], [row(act=False, label=None)]])
def test_no_rows_and_one(tmp_path, suffix, rows):
    log = at.DecisionLog.from_rows(rows)
    log.write(tmp_path / f"log.{suffix}")
    again = at.DecisionLog.read(tmp_path / f"log.{suffix}")
    assert_same(again, log)
    assert len(again) == len(rows)
    assert again.x is None


@SUFFIXES
def test_no_row_of_a_log_with_every_column_and_no_features(tmp_path, suffix):
    path = tmp_path / f"log.{suffix}"
    whole().where(np.zeros(60, dtype=bool)).write(path)
    assert len(at.DecisionLog.read(path)) == 0
    bare = at.DecisionLog(**{**vars(whole()), "x": np.empty((60, 0))})
    bare.write(path)
    assert at.DecisionLog.read(path).x.shape == (60, 0)


def test_json_lines_are_json(tmp_path):
    path = tmp_path / "log.jsonl"
    whole().write(path)

    def refuse(word):
        raise AssertionError(word)

    found = [json.loads(line, parse_constant=refuse) for line in path.read_text().splitlines()]
    assert found[0]["schema_version"] == 3
    assert found[0]["why"] == {"width": "Infinity", "gap": "NaN"}
    assert found[0]["chance"] is None
    assert {row["label"] for row in found} == {0, 1, None}


def elsewhere(**columns):
    """Return a table as another program would write it: three acts, plain lists, whole numbers, 0 and 1."""
    plain = {"id": [17, 18, 19], "act": [1, 1, 0], "probability": [0.5, 1, 0.25], "label": [1, None, None]}
    costs = {"miss": [5, 5, 5], "false_alarm": [1, 1, 1], "hit": [0, 0, 0]}
    return {**plain, **costs, **columns}


def as_parquet(path, **columns):
    pq.write_table(pa.table(elsewhere(**columns)), path)
    return at.DecisionLog.read(path)


def test_parquet_from_elsewhere(tmp_path):
    log = as_parquet(
        tmp_path / "log.parquet",
        audit=[True, None, None],
        correct_pass=[None, 2, None],
        round=[None, 7, None],
        chance=pa.array([0.5, None, 0.25], type=pa.float32()),
        stratum=pa.array(["new", None, "new"]).dictionary_encode(),
        policy=pa.array(["a", "b", None], type=pa.large_string()),
        x=[[1, 2], [3, 4], [5, 6]],
        worth=pa.nulls(3),
        why=['{"gap": 1}', None, "{}"],
    )
    assert log.id.tolist() == ["17", "18", "19"]
    assert log.act.tolist() == [True, True, False]
    assert log.label.tolist() == [1, -1, -1]
    assert log.state.tolist() == ["observed", "pending", "never_due"]
    assert log.audit.tolist() == [True, False, False]
    assert log.correct_pass.tolist() == [0.0, 2.0, 0.0]
    assert log.round.tolist() == [1, 7, 3]
    np.testing.assert_array_equal(log.chance, [0.5, np.nan, 0.25])
    assert log.stratum.tolist() == ["new", "", "new"]
    assert log.policy.tolist() == ["a", "b", ""]
    assert log.x.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    assert log.worth is None
    assert log.why.tolist() == [{"gap": 1.0}, {}, {}]


def test_dates_from_elsewhere(tmp_path):
    time = pa.array([0, 10**9, 2 * 10**9], type=pa.timestamp("ns", tz="UTC"))
    log = as_parquet(tmp_path / "log.parquet", time=time)
    assert log.time.tolist() == ["1970-01-01T00:00:00", "1970-01-01T00:00:01", "1970-01-01T00:00:02"]


@pytest.mark.parametrize("label", [[True, None, None], [1.0, None, None], pa.array([1, None, None], type=pa.uint8())])
def test_labels_of_every_kind(tmp_path, label):
    assert as_parquet(tmp_path / "log.parquet", label=label).label.tolist() == [1, -1, -1]


def test_lists_of_features_in_pieces(tmp_path):
    path = tmp_path / "log.parquet"
    lists = pa.chunked_array([[[1.0, 2.0]], [[3.0, 4.0], [5.0, 6.0]]])
    for kind in (pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.int64(), 2)):
        assert as_parquet(path, x=lists.cast(kind)).x.tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"x": [[1.0], [1.0], [1.0, 2.0]]},
            "row 3: x must have one length in all rows; it has 2 numbers here and 1 in",
        ),
        ({"x": [[1.0], [1.0, 2.0], []]}, "row 2: x must have one length"),
        ({"x": [[1.0], None, [1.0]]}, "row 2: x must be a list of numbers"),
        ({"x": [[1.0], [None], [1.0]]}, "row 2 .*: x must be finite"),
        ({"x": [["a"], ["b"], ["c"]]}, "row 1: x must be a list of numbers"),
        ({"probability": [0.5, None, 0.5]}, "row 2: probability is missing"),
        ({"id": ["a", None, "c"]}, "row 2: id is missing"),
        ({"act": [1, 2, 0]}, "row 2: act is true or false, got 2"),
        ({"label": [1, 2, None]}, "row 2: a label is 0, 1 or nothing"),
        ({"label": [1, -1, None]}, "row 2: a label is 0, 1 or nothing .* got -1"),
        ({"time": [1.0, None, 2.0]}, "row 2: time is None"),
        ({"time": ["2024-01-01", None, "2024-01-02"]}, "row 2 .*: time is missing"),
        ({"miss": [True, True, True]}, "row 1: miss must be a number"),
        ({"colour": ["red", "red", "red"]}, "row 1: there is no field 'colour'; fields: id, round, act"),
        ({"why": ["{}", "no", "{}"]}, "row 2: why is a mapping"),
        ({"schema_version": [1, 3, 4]}, "row 3: schema_version is 4"),
    ],
)
def test_wrong_values_are_named_with_their_row(tmp_path, columns, message):
    with pytest.raises(at.errors.DataError, match=message):
        as_parquet(tmp_path / "log.parquet", **columns)
    assert str(tmp_path) not in message


@SUFFIXES
def test_files_of_version_1_are_read(tmp_path, suffix):
    path, old = tmp_path / f"log.{suffix}", [row(), row(id="b", act=False, label=None)]
    if suffix == "jsonl":
        path.write_text("".join(json.dumps({"schema_version": 1, **one}) + "\n" for one in old))
    else:
        table = pa.Table.from_pylist(old).replace_schema_metadata({log_files.METADATA: b"1"})
        pq.write_table(table, path)
    assert_same(at.DecisionLog.read(path), at.DecisionLog.from_rows(old))
