"""The decision log: what it takes and what it refuses."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import appletaste as at

COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def row(**changes):
    return {"id": "a", "act": True, "probability": 0.5, "label": 1, **COSTS, **changes}


def played(policy="ts", **options):
    table = at.problem("i", rounds=200).draw(at.Key(3))
    return table, at.play(at.policy(policy, n_features=5, costs=table.costs, seed=1, **options), table)


def test_labels_of_passes_are_not_in_the_log():
    table, log = played()
    assert (log.label[~log.act] == -1).all()
    assert (log.label[log.act] == table.labels[log.act]).all()
    assert set(log.state[~log.act]) == {"never_due"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"probability": 1.2}, "probability must be in"),
        ({"probability": float("nan")}, "probability must be in"),
        ({"probability": 0.0}, "act with probability 0"),
        ({"act": False, "label": None, "probability": 1.0}, "pass with probability 1"),
        ({"act": False}, "a pass has no label"),
        ({"report": 1}, "a report is the label of a passed item"),
        ({"act": False, "label": None, "report": 2}, "a report is 0, 1 or nothing"),
        ({"act": False, "label": None, "report_time": 3.0}, "report_time is 3.0, but the row has no report"),
        ({"act": False, "label": None, "report": 1, "truth": 0}, "the report is 1 and the truth 0"),
        (
            {"act": False, "label": None, "report": 1, "time": 3.0, "report_time": 2.0},
            "a report cannot arrive before its decision",
        ),
        ({"label": 2}, "a label is 0, 1"),
        ({"label": "yes"}, "a label is 0, 1"),
        ({"state": "lost"}, "state is one of"),
        ({"state": "pending"}, "does not go with"),
        ({"label": None, "state": "observed"}, "does not go with"),
        ({"state": "never_due"}, "due a label"),
        ({"act": False, "label": None, "state": "pending"}, "no label is due"),
        ({"act": False, "label": None, "audit": True}, "audit"),
        ({"chance": -0.1}, "chance must be in"),
        ({"miss": float("inf")}, "miss must be finite"),
        ({"miss": 1e200}, "miss must be finite and below 1e.100"),
        ({"miss": 0.0, "hit": 5.0, "false_alarm": -1.0}, "are the labels swapped"),
        ({"miss": None}, "miss is missing"),
        ({"miss": "5"}, "miss must be a number"),
        ({"act": "x"}, "act is true or false"),
        ({"id": None}, "id is missing"),
        ({"id": None, "hit": None}, "id, hit are missing; every row has"),
        ({"colour": 1}, "no field 'colour'"),
        ({"round": 1.5}, "whole number"),
        ({"x": ["a"]}, "list of numbers"),
        ({"x": [float("nan")]}, "finite"),
        ({"x": 3.0}, "list of numbers"),
        ({"time": None, "label_time": 3.0, "label": None}, "label_time is 3.0, but the row has no label"),
        ({"time": 3.0, "label_time": 2.9}, r"row 1 \(id .a.\): a label cannot arrive before its decision: time is 3.0"),
        ({"time": ""}, "time is missing"),
        ({"worth": float("inf")}, "worth must be finite"),
        ({"price": "5"}, "price must be a number"),
        ({"miss": 10**400}, "miss must be a number"),
        ({"label": -1}, "got -1; -1 stands for not known only where the row has a state"),
        ({"why": 3.0}, "why is a mapping"),
        ({"why": {"width": "large"}}, "why is a mapping"),
        ({"why": "{"}, "why is a mapping"),
        ({"schema_version": 4}, "schema_version is 4; this version of appletaste reads 1, 2 and 3"),
    ],
)
def test_what_no_stream_could_have_logged_is_refused(changes, message):
    with pytest.raises(at.errors.InputError, match=message):
        at.DecisionLog.from_rows([row(**changes)])


@pytest.mark.parametrize(
    ("time", "label_time", "early"),
    [
        (2.0, 2.0, False),
        (2, 1, True),
        ("2024-05-31T12:00:00", "2024-05-31T11:59:59", True),
        ("2024-05-31T12:00:00+02:00", "2024-05-31T10:00:00Z", False),
        ("2024-05-31T12:00:00+02:00", "2024-05-31T09:59:00Z", True),
        ("2024-05-31T12:00:00", "2024-05-31", False),
        ("2024-05-31T00:00:00", "2024-05-30", True),
        ("2024-05-31", "2024-05-30", True),
        ("2024-05-31T12:00:00", "2024-05-31T02:00:00+00:00", False),  # a clock of Asia, perhaps
        ("2024-05-31T12:00:00", "2024-05-30T02:00:00+00:00", True),
        ("2024-05-31T12:00:00-08:00", "2024-05-31", False),
        ("2024-05-31T12:00:00+00:00", "2024-05-28", True),
        ("week 2", "week 1", False),  # no dates that anybody could compare
        (20240531.0, "2024-05-30", False),
    ],
)
def test_a_label_before_its_decision_is_refused_where_that_is_certain(time, label_time, early):
    rows = [row(time=time, label_time=None), row(id="b", time=time, label_time=label_time)]
    if not early:
        assert len(at.DecisionLog.from_rows(rows)) == 2
        return
    with pytest.raises(at.errors.DataError, match=r"row 2 \(id 'b'\): a label cannot arrive before its decision"):
        at.DecisionLog.from_rows(rows)


def test_more_refusals():
    with pytest.raises(at.errors.DataError, match="rows 1 and 3"):
        at.DecisionLog.from_rows([row(), row(id="b"), row()])
    with pytest.raises(at.errors.DataError, match="one length"):
        at.DecisionLog.from_rows([row(x=[1.0]), row(id="b", x=[1.0, 2.0])])
    with pytest.raises(at.errors.DataError, match="time is"):
        at.DecisionLog.from_rows([row(time=1.0), row(id="b", time="2024-01-01")])


def test_the_first_of_several_errors_is_the_same_for_every_hash_seed():
    script = (
        "from appletaste.logs import DecisionLog\n"
        "try:\n"
        "    DecisionLog.from_rows([{'id': 'a', 'act': 'x', 'probability': '?', 'miss': '?', 'false_alarm': '?',"
        " 'hit': '?', 'chance': '?', 'round': 1.5}])\n"
        "except ValueError as error:\n"
        "    print(error)\n"
        "try:\n"
        "    DecisionLog.from_rows([{'colour': 1, 'size': 2, 'weight': 3}])\n"
        "except ValueError as error:\n"
        "    print(error)\n"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(told) == 1
    assert told.pop().splitlines()[0] == "the log, row 1: round is a whole number, got 1.5"


def test_what_a_decision_cost_against_passing():
    log = at.DecisionLog.from_rows(
        [row(), row(id="b", label=0), row(id="c", label=None), row(id="d", act=False, label=None)]
    )
    np.testing.assert_array_equal(log.relative_cost, [-5.0, 1.0, np.nan, 0.0])


def test_a_choice_of_decisions_has_all_columns():
    more = {"worth": 2.0, "price": 1.0, "time": 3.0, "label_time": 4.0, "stratum": "new", "x": [1.0], "why": {"a": 1.0}}
    log = at.DecisionLog.from_rows([row(**more), row(id="b", **more)])
    assert all(column is None or len(column) == 1 for column in vars(log.where([1])).values())
    assert log.where([True, False]).rows() == log.rows()[:1]
    assert log.priced(at.Costs(9, 2, 0)).why.tolist() == [{"a": 1.0}, {"a": 1.0}]
    with pytest.raises(at.errors.DataError, match="rows 1 and 2"):
        log.where([0, 0])


def test_ids_of_a_long_log_are_told_apart():
    n = 10_000
    ids = np.array([f"case-{k:05d}" for k in range(n)])
    columns = {"id": ids, "act": np.zeros(n, dtype=bool), "probability": np.full(n, 0.1)}
    columns |= {name: np.full(n, cost) for name, cost in COSTS.items()}
    log = at.DecisionLog.from_columns(columns)
    assert len(log.where(np.arange(n)[::-2])) == n // 2
    twice = np.where(np.arange(n) == 9000, ids[37], ids)
    with pytest.raises(at.errors.DataError, match="id 'case-00037' is in rows 38 and 9001"):
        at.DecisionLog.from_columns({**columns, "id": twice})
    assert at.DecisionLog(**{**vars(log), "id": log.id.astype(object)}).id[1] == "case-00001"


def test_states_are_declared_once():
    from appletaste import decision
    from appletaste.records import events
    from appletaste.tables import label_column

    assert label_column.UNKNOWN is events.UNKNOWN is decision.UNKNOWN
    sources = Path(at.__file__).parent.rglob("*.py")
    texts = {path.name: path.read_text() for path in sources}
    assert [name for name, text in texts.items() if re.search(r"^UNKNOWN\b.*=", text, re.M)] == ["decision.py"]
    assert [name for name, text in texts.items() if re.search(r"^(PENDING|NEVER_DUE)\b.*=", text, re.M)] == [
        "events.py"
    ]
