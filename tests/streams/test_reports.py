"""Labels of passes, reports: kept with their times, in the log of every store, and nothing is learnt of them."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import ConflictError
from appletaste.records.stores import open_store
from appletaste.streams.transfer import export_stream, import_stream

from .playing import COSTS, ITEMS, made, state


def reported(store):
    """Return a stream of which some passes were reported, and the reports that its log should have."""
    stream = made(store, at.Desk(at.policy("ts", n_features=3, costs=COSTS), audit=at.Audit(floor=0.2)))
    told = {}
    for k in range(120):
        act = stream.decide(ITEMS[k], id=f"c{k}", time=float(k)).act
        if not act and k % 3 == 0:
            stream.label(f"c{k}", k % 2, time=k + 5.0, by="bank")
            told[f"c{k}"] = (k % 2, k + 5.0)
    return stream, told


def known(log):
    """Return the reports of a log by id, with their times."""
    there = log.report >= 0
    return dict(
        zip(
            log.id[there].tolist(),
            zip(log.report[there].tolist(), log.report_time[there].tolist(), strict=True),
            strict=True,
        )
    )


def test_reports_are_in_the_log_of_every_store(home):
    store = home.open()
    stream, told = reported(store)
    before = state(stream)
    assert len(told) > 5
    log = stream.log()
    assert known(log) == told
    assert not (log.act & (log.report >= 0)).any()
    assert set(log.state[~log.act]) == {"never_due"}
    assert (log.label[~log.act] == -1).all()
    first = next(iter(told))
    assert stream.label(first, told[first][0]).status == "already_applied"
    with pytest.raises(ConflictError, match="already has the label"):
        stream.label(first, 1 - told[first][0])
    stream.correct(first, 1 - told[first][0], time=500.0)
    told[first] = (1 - told[first][0], 500.0)  # it counts from when it was said
    assert known(stream.log()) == told
    assert state(stream)[1] == before[1]  # nothing was learnt
    stream.verify()
    stream.close()
    again = at.Stream.open(store, "orders")
    assert known(again.log()) == told
    again.verify()
    again.close()


def test_reports_move_with_a_stream_and_are_written(tmp_path):
    stream, told = reported(tmp_path / "shop.db")
    stream.log().write(tmp_path / "log.parquet")
    stream.log().write(tmp_path / "log.jsonl")
    export_stream(stream.record.place, tmp_path / "orders.stream")
    stream.close()
    other = open_store("memory")
    import_stream(tmp_path / "orders.stream", other)
    for log in (
        at.Stream.open(other, "orders").log(),
        at.DecisionLog.read(tmp_path / "log.parquet"),
        at.DecisionLog.read(tmp_path / "log.jsonl"),
        at.DecisionLog.scan(tmp_path / "log.parquet"),
    ):
        assert known(log.where(np.arange(len(log)))) == told


def test_a_stream_without_reports_has_no_such_columns():
    stream = made("memory")
    for k in range(20):
        stream.decide(ITEMS[k], id=f"c{k}")
    log = stream.log()
    assert (log.report, log.report_time) == (None, None)
    assert "report" not in log.rows()[0]


def test_a_report_of_an_item_that_somebody_acted_on_after_all_is_its_label():
    stream, _ = reported("memory")
    log = stream.log()
    one = next(id_ for id_ in log.id[~log.act].tolist() if id_ not in known(log))
    stream.enacted(one, True, "ann")
    stream.label(one, 1)
    log = stream.log()
    assert (log.label[log.id == one].item(), log.report[log.id == one].item()) == (1, -1)
