"""A log that somebody has as a data frame: asked as it is, with NaN, None or NA for a label that is missing."""

import numpy as np
import pytest

import appletaste as at

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture(scope="module")
def log():
    table = at.problem("i").draw(at.Key(1))
    return at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)


MAKERS = {
    "pandas": pandas.DataFrame,
    "pandas with its own types": lambda rows: pandas.DataFrame(rows).convert_dtypes(),
    "pandas with objects": lambda rows: pandas.DataFrame(rows).astype(object),
    "polars": polars.DataFrame,
    "pyarrow": pyarrow.Table.from_pylist,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_frame_answers_as_its_log_does(make, log):
    frame = make(log.rows())
    assert str(at.missed(frame)) == str(at.missed(log))


def test_a_frame_needs_no_more_than_a_log_does(log):
    rows = pandas.DataFrame(log.rows())
    least = rows[["id", "act", "probability", "miss", "false_alarm", "hit", "label"]]
    assert least["label"].isna().any()
    assert at.missed(least).design.missed.value == at.missed(log).design.missed.value
    for nothing in (None, np.nan, pandas.NA, pandas.NaT):
        strata = pandas.Series(["card", nothing] * (len(least) // 2), dtype=object)
        assert set(at.missed(least.assign(stratum=strata), by="stratum")) == {"", "card"}
    with pytest.raises(at.errors.DataError, match="the data frame, row 1: a label is 0, 1 or nothing"):
        at.missed(least.assign(label=7))
    with pytest.raises(at.errors.InputError, match=r"missed takes an appletaste.DecisionLog, got dict"):
        at.missed({"act": [True]})
