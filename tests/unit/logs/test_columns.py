"""Columns of every library, checked and converted as rows are."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import DataError
from appletaste.logs.log_columns import FIELDS, OPTIONAL, transposed


def table(**changes):
    columns = {"id": ["a", "b", "c"], "act": [True, True, False], "probability": [0.5, 1.0, 0.25]}
    costs = {"miss": [5.0] * 3, "false_alarm": [1.0] * 3, "hit": [0.0] * 3}
    return {**columns, **costs, **changes}


def test_every_field_has_a_converter_and_its_place():
    log = at.DecisionLog.from_columns(table())
    assert [*FIELDS, "names"] == list(vars(log))  # and what the features are called
    assert [name for name in FIELDS if getattr(log, name) is None] == list(OPTIONAL)


def test_lists_arrays_rows_and_frames_say_the_same():
    pandas = pytest.importorskip("pandas")
    columns = table(
        label=[1, None, None], chance=[0.5, None, 0.25], stratum=["new", None, "old"], time=[1, 2, 3], audit=[0, 1, 0]
    )
    rows = at.DecisionLog.from_rows(
        dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)
    )
    for other in (columns, {name: np.array(cells) for name, cells in columns.items()}, pandas.DataFrame(columns)):
        assert at.DecisionLog.from_columns(other).rows() == rows.rows()


def test_what_is_masked_is_not_there():
    masked = np.ma.array([1, 0, 0], mask=[False, True, True])
    assert at.DecisionLog.from_columns(table(label=masked)).label.tolist() == [1, -1, -1]
    with pytest.raises(DataError, match="row 1: probability is missing"):
        at.DecisionLog.from_columns(table(probability=np.ma.array([0.5, 0.5, 0.5], mask=[True, False, False])))


def test_arrays_are_taken_as_they_are():
    x, probability = np.ones((3, 2)), np.array([0.5, 1.0, 0.25])
    log = at.DecisionLog.from_columns(table(x=x, probability=probability))
    assert log.x is x
    assert log.probability is probability


def test_labels_of_the_log_itself_need_a_state():
    label = np.array([1, -1, -1], dtype=np.int8)
    state = ["observed", "expired", "never_due"]
    assert at.DecisionLog.from_columns(table(label=label, state=state)).state.tolist() == state
    with pytest.raises(DataError, match=r"row 2: a label is 0, 1 or nothing .* got -1"):
        at.DecisionLog.from_columns(table(label=label))
    assert at.DecisionLog.from_columns(table(label=[1.0, np.nan, None])).label.tolist() == [1, -1, -1]


def test_a_state_that_is_not_given_follows_from_act_and_label():
    log = at.DecisionLog.from_columns(table(label=[1, None, None], state=["corrected", None, ""]))
    assert log.state.tolist() == ["corrected", "pending", "never_due"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"act": [True, True]}, "column act has 2 rows and column id has 3"),
        ({"policy": "voi"}, "column policy must be a list or an array, got 'voi'"),
        ({"miss": 5.0}, "column miss must be a list or an array, got 5.0"),
        ({"miss": np.ones((3, 1))}, r"column miss must have one value per decision, got the shape \(3, 1\)"),
        ({"x": np.ones(3)}, "row 1: x must be a list of numbers"),
        ({"x": np.ones((3, 2, 1))}, "column x must have one value per decision"),
        ({"hit": None}, "row 1: hit is missing; every row has id, act"),
        ({"hit": [0, None, 0], "miss": [5, None, None]}, "row 2: miss, hit are missing"),
        ({"hit": [0, True, 0]}, "row 2: hit must be a number, got True"),
        ({"hit": np.array(["0", "1", "2"])}, "row 1: hit must be a number, got '0'"),
        ({"probability": [0.5, "a", 0.5]}, "row 2: probability must be a number, got 'a'"),
        ({"act": np.array([1.0, 0.5, 0.0])}, "row 2: act is true or false, got 0.5"),
        ({"audit": [None, "no", None]}, "row 2: audit is true or false, got 'no'"),
        ({"label": ["1", None, None]}, "row 1: a label is 0, 1 or nothing"),
        ({"round": [1, None, 2.5]}, "row 3: round is a whole number, got 2.5"),
        ({"round": [1, 2, float("inf")]}, "row 3: round is a whole number, got inf"),
        ({"round": [True, 2, 3]}, "row 1: round is a whole number, got True"),
        ({"time": [1.0, "2024-01-01", 2.0]}, "row 2: time is '2024-01-01'; it must be a number in every row"),
        ({"time": ["2024-01-01", "2024-01-02", 2.0]}, "row 3: time is 2.0; it must be"),
        ({"time": np.array([1.0, np.nan, 2.0])}, "row 2 .*: time is missing"),
        ({"time": np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="M8[ns]")}, "row 2 .*: time is missing"),
        ({"time": np.array([1, 2, 3], dtype="m8[ns]")}, "column time holds timedelta64"),
        ({"time": [1, 2, 10**400]}, "row 3: time is 1000"),
        ({"time": [1, 2, float("inf")]}, "row 3 .*: time must be finite"),
        ({"x": [[1.0], [10**400], [2.0]]}, "row 2: x must be a list of numbers"),
        ({"round": [1, 2, 2**63]}, "row 3: round is a whole number"),
        ({"label": [1, 0, None], "label_time": [1.0, "x", None]}, "row 2: label_time is 'x'"),
        ({"why": [{}, {1: 2.0}, {"gap": None}]}, "row 3: why is a mapping from name to number, got {'gap': None}"),
        ({"colour": [None, None, "red"]}, "row 3: there is no field 'colour'"),
    ],
)
def test_wrong_columns_are_named(changes, message):
    with pytest.raises(DataError, match=message):
        at.DecisionLog.from_columns(table(**changes), "the table")


def test_dates_are_texts():
    days = ["2024-05-31T00:00:00", "2024-06-01T12:30:00", "2024-06-02T00:00:00"]
    whole = np.array(days, dtype="M8[ns]")
    for time in (whole, whole.astype("M8[s]").tolist()):
        assert at.DecisionLog.from_columns(table(time=time)).time.tolist() == days
    parts = at.DecisionLog.from_columns(table(time=whole + np.timedelta64(250, "ms"))).time
    assert parts[1] == "2024-06-01T12:30:00.250000"
    seen = at.DecisionLog.from_columns(
        table(label=[1, None, None], label_time=np.array([days[0], "NaT", "NaT"], "M8[s]"))
    )
    assert seen.label_time.tolist() == [days[0], "", ""]


def test_whole_numbers_keep_every_digit():
    assert at.DecisionLog.from_columns(table(round=[1, 2, 2**62 + 1])).round.tolist() == [1, 2, 2**62 + 1]


def test_rows_with_other_fields_are_transposed():
    assert transposed([]) == {}
    assert transposed([{"a": 1, "b": 2}, {"b": 3}, {"c": 4, "a": 5}]) == {
        "a": [1, None, 5],
        "b": [2, 3, None],
        "c": [None, None, 4],
    }
