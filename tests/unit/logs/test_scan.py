"""A log that is read part by part is the log that is read at once."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.engines import Threads, engine
from appletaste.logs import log_files
from appletaste.logs.coded import Coded
from appletaste.logs.lazy import LazyColumn

KEPT = ("round", "act", "probability", "miss", "false_alarm", "hit", "correct_pass", "label", "audit", "chance")


def a_log(n=700, start=0, seed=1, **more):
    rng = np.random.default_rng(seed)
    probability = rng.choice([0.1, 0.4, 1.0], n)
    act = rng.random(n) < probability
    label = np.where(act & (rng.random(n) < 0.8), rng.integers(0, 2, n), -1)
    columns = {
        "id": [f"order {start + k}" for k in range(n)],
        "round": np.arange(start + 1, start + n + 1),
        "act": act,
        "probability": probability,
        "miss": np.full(n, 9.0),
        "false_alarm": rng.choice([1.0, 2.0], n),
        "hit": np.zeros(n),
        "label": label,
        "state": np.where(act, np.where(label >= 0, "observed", "pending"), "never_due"),
        "chance": rng.random(n),
        "time": [f"2024-05-{1 + (start + k) // 300:02d}T00:00:{k % 60:02d}" for k in range(n)],
        "stratum": rng.choice(["card", "cash"], n),
        "x": rng.standard_normal((n, 3)),
    }
    return at.DecisionLog.from_columns(columns | more)


@pytest.fixture
def small_parts(monkeypatch):
    """Parts and batches so small that a test's log has many."""
    monkeypatch.setattr(log_files, "GROUP", 100)  # workers of an engine see the groups, and not what is patched
    monkeypatch.setattr(log_files, "BLOCK", 9000)


def folder_of(log, folder, suffix, files=3):
    edges = np.linspace(0, len(log), files + 1).astype(int)
    for k in range(files):
        log.where(np.arange(edges[k], edges[k + 1])).write(folder / f"day-{k}{suffix}")
    return folder


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_folder_in_parts_is_the_log_at_once(tmp_path, small_parts, monkeypatch, suffix):
    monkeypatch.setattr(log_files, "BATCH", 30)
    log = a_log()
    found = at.DecisionLog.scan(folder_of(log, tmp_path, suffix))
    assert len(found.id.reader.parts) > 6
    for name in KEPT:
        np.testing.assert_array_equal(getattr(found, name), getattr(log, name))
    for name in ("id", "time", "state", "stratum", "x"):
        assert getattr(found, name).tolist() == getattr(log, name).tolist()
    assert found.why is None
    assert found.worth is None
    assert isinstance(found.id, LazyColumn)
    assert isinstance(found.state, Coded)


def test_rows_that_were_chosen_are_those_of_an_array(tmp_path, small_parts, monkeypatch):
    monkeypatch.setattr(log_files, "BATCH", 30)
    log = a_log()
    found = at.DecisionLog.scan(folder_of(log, tmp_path, ".parquet"))
    chosen = log.act & (log.chance > 0.3)
    assert found.id[chosen].tolist() == log.id[chosen].tolist()
    some, same = found.where(chosen), log.where(chosen)
    late = same.chance > 0.6
    assert some.id[late].tolist() == same.id[late].tolist()
    np.testing.assert_array_equal(some.x[late], same.x[late])
    np.testing.assert_array_equal(some.x[[5, 2, 9]], same.x[[5, 2, 9]])
    assert some.id[3] == same.id[3]
    assert some.id[:0].tolist() == []
    assert some.false_alarm.tolist() == same.false_alarm.tolist()
    assert some.miss.strides == (0,)
    assert some.stratum.tolist() == same.stratum.tolist()


def answers(log):
    found = at.missed(log)
    return found.as_dict() | {"surprise": found.model_surprise}


@pytest.mark.parametrize("with_x", [True, False])
def test_missed_gives_the_same_numbers(tmp_path, small_parts, with_x):
    log = a_log(3000, x=None) if not with_x else a_log(3000)
    path = folder_of(log, tmp_path, ".parquet")
    scanned = answers(at.DecisionLog.scan(path))
    whole = answers(log)
    model, same = scanned.pop("model"), whole.pop("model")
    assert scanned == whole
    assert model["value"] == pytest.approx(same["value"], rel=1e-12)
    with engine("local", jobs=2) as workers:
        for one in (workers, Threads(2)):
            assert answers(at.DecisionLog.scan(path, engine=one)) == scanned | {"model": model}


def test_rounds_go_on_where_each_file_counts_its_own(tmp_path):
    for k, name in enumerate(("a", "b", "c")):
        a_log(50, start=100 * k, round=np.arange(1, 51)).write(tmp_path / f"{name}.parquet")
    assert at.DecisionLog.scan(tmp_path).round.tolist() == list(range(1, 151))


def test_rounds_that_do_not_overlap_are_kept_whatever_the_names(tmp_path):
    a_log(50, start=50).write(tmp_path / "a.parquet")
    a_log(50, start=0).write(tmp_path / "b.parquet")
    assert at.DecisionLog.scan(tmp_path).round.tolist() == [*range(51, 101), *range(1, 51)]


def test_an_id_in_two_files_is_refused_with_both_places(tmp_path, small_parts):
    a_log(250).write(tmp_path / "a.parquet")
    a_log(250, start=240).write(tmp_path / "b.jsonl")
    with pytest.raises(at.errors.DataError, match=r"id 'order 240' is in .*a.parquet, row 241 and .*b.jsonl, row 1:"):
        at.DecisionLog.scan(tmp_path)


def test_what_is_wrong_is_said_with_its_file_and_row(tmp_path, small_parts):
    rows = a_log(200).rows()
    rows[170]["probability"] = 1.5
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(at.errors.DataError, match=r"a.jsonl, row 171 \(id 'order 170'\): probability must be in"):
        at.DecisionLog.scan(tmp_path)
    rows[170]["probability"] = "much"
    (tmp_path / "a.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    with pytest.raises(at.errors.DataError, match=r"a.jsonl, row 171: probability must be a number"):
        at.DecisionLog.scan(tmp_path)
    (tmp_path / "a.jsonl").write_text("\n".join(["", *(json.dumps(row) for row in rows[:160]), "{"]))
    with pytest.raises(at.errors.DataError, match=r"a.jsonl, line 162: not JSON"):
        at.DecisionLog.scan(tmp_path)


def test_features_that_are_not_finite_are_refused_when_they_are_read(tmp_path, small_parts):
    x = np.zeros((200, 2))
    x[150, 1] = np.inf
    columns = a_log(200, x=None).columns() | {"x": x}
    log_files.write_log(columns, tmp_path / "a.parquet")
    with pytest.raises(at.errors.DataError, match=r"a.parquet, row 151: x must be finite"):
        at.missed(at.DecisionLog.scan(tmp_path))


def test_folders_that_are_no_log_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file or folder"):
        at.DecisionLog.scan(tmp_path / "nowhere")
    with pytest.raises(at.errors.DataError, match=r"holds no \.parquet or \.jsonl file"):
        at.DecisionLog.scan(tmp_path)
    a_log(50).write(tmp_path / "a.parquet")
    (tmp_path / "_SUCCESS").write_text("")
    assert len(at.DecisionLog.scan(tmp_path)) == 50
    (tmp_path / "notes.csv").write_text("a")
    with pytest.raises(at.errors.DataError, match=r"holds .notes\.csv."):
        at.DecisionLog.scan(tmp_path)


def test_features_in_some_files_alone_are_refused(tmp_path):
    a_log(50).write(tmp_path / "a.parquet")
    a_log(50, start=50, x=None).write(tmp_path / "b.parquet")
    with pytest.raises(at.errors.DataError, match=r"x is in .*a.parquet and not in .*b.parquet"):
        at.DecisionLog.scan(tmp_path)


@pytest.mark.parametrize(
    "ids", [["a", "order 2", "order 31"], ["é", "b", "c"], ["same", "size", "here"], ["x" * 99, "y", "z"]]
)
def test_texts_of_parquet_are_read_as_they_are(tmp_path, ids):
    log = a_log(3, id=np.array(ids))
    log.write(tmp_path / "a.parquet")
    assert at.DecisionLog.scan(tmp_path).id.tolist() == at.DecisionLog.read(tmp_path / "a.parquet").id.tolist() == ids


def test_coded_texts_with_many_levels():
    texts = np.array([f"level {k % 200}" for k in range(1000)])
    column = Coded.of(texts)
    assert column.tolist() == texts.tolist()
    assert column.codes.dtype == np.int16
    both = Coded.joined([column, Coded.of(np.array(["a"]))])
    assert both.tolist() == [*texts.tolist(), "a"]
    assert both.counts()["level 7"] == 5
    assert (both[990:] == "level 199").tolist() == [False] * 9 + [True, False]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_label_before_its_decision_is_seen_in_its_file(tmp_path, suffix):
    log = a_log(40)
    acts = np.flatnonzero(log.labelled)
    arrived = np.full(40, np.nan)
    arrived[acts] = acts + 5.0
    log = log.unchecked(time=np.arange(40.0), label_time=arrived)
    log.write(tmp_path / f"a{suffix}")
    assert at.DecisionLog.scan(tmp_path).label_time[int(acts[3])] == acts[3] + 5.0
    arrived[acts[3]] = acts[3] - 0.5
    log.write(tmp_path / f"a{suffix}")
    with pytest.raises(at.errors.DataError, match=rf"a{suffix}, row {acts[3] + 1} .*cannot arrive before its decision"):
        at.DecisionLog.scan(tmp_path)
