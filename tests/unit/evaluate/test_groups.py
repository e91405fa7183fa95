"""Who bears what: groups by any column, small ones together, and what cannot be grouped."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError
from appletaste.evaluate import missed_by, what_if_by
from appletaste.evaluate.groups import cells_of, values_of


@pytest.fixture(scope="module")
def log():
    table = at.problem("synthetic", rounds=3000).draw(at.Key(1))
    return at.play(at.policy("greedy", n_features=5, costs=table.costs, epsilon=0.4), table)


def test_groups_bear_what_their_decisions_say(log):
    values = np.where(np.arange(3000) % 3 == 0, "a", "b")
    found = at.missed(log, by=values)
    assert [one.name for one in found] == ["b", "a"]  # the largest first
    assert sum(one.decisions for one in found) == 3000
    assert sum(one.acts for one in found) == log.act.sum()
    low = log.chance < log.alarm_price / (log.alarm_price + log.catch_gain)
    assert found["a"].explored == (log.act & ~log.audit & low & (values == "a")).sum() > 0
    one = at.missed(log.where(values == "a"), 0.9**0.5).design
    assert found["a"].answers["missed"] == one.missed
    assert found["a"].answers["recall"] == one.recall
    assert "All intervals of a column hold together" in str(found)
    assert found.as_dict()["groups"][0]["missed"]["value"] == found["b"].answers["missed"].value


def test_small_groups_stand_together_with_a_sentence(log):
    values = np.full(3000, "large", dtype=object)
    values[:9], values[9:18] = "tiny", "wee"
    found = missed_by(log, values)
    assert [one.name for one in found] == ["large", "all others"]
    assert found.pooled == ("tiny", "wee")
    assert "2 groups (tiny, wee) stand together as 'all others'" in str(found)
    values[9:18] = "large"
    assert [one.name for one in missed_by(log, values)] == ["large", "tiny"]  # with nothing to stand together with
    assert "tiny: no answer" in str(missed_by(log, values))


def test_many_numbers_are_quarters_and_none_is_missing(log):
    amounts = [float(k) for k in range(3000)]
    amounts[7] = float("nan")
    names = values_of(log, amounts)
    assert names[7] == "missing"
    assert (names == "up to 750.5").sum() == 750
    assert len(set(names.tolist())) == 5
    assert set(values_of(log, [k % 2 for k in range(3000)]).tolist()) == {"0", "1"}


def test_savings_of_groups_add_up_to_the_whole(log):
    values = np.where(np.arange(3000) % 3 == 0, "a", "b")
    whole = at.what_if(log, threshold=0.3)
    found = what_if_by(log, values, threshold=0.3)
    assert sum(one.answers["saving"].value for one in found) == pytest.approx(whole.saving.value)  # nothing is late
    with pytest.raises(at.errors.OptionError, match="something that would be otherwise"):
        what_if_by(log, values)


WRONG = [
    ("colour", "no column 'colour'"),
    (["a"], "1 values for 3000"),
    ({"x": 1}, "no id of the log"),
    ("stratum", "no stratum"),
]


@pytest.mark.parametrize(("by", "message"), WRONG)
def test_what_cannot_be_grouped_is_said(log, by, message):
    with pytest.raises(InputError, match=message):
        values_of(log, by)


def test_a_stream_is_grouped_by_a_column_of_its_records():
    rows = [{"age": 20 + k, "country": "nl" if k % 2 else "de"} for k in range(40)]
    features = at.Encoder().fit(rows)
    costs = at.Costs(miss=5, false_alarm=1, hit=0)
    player = at.Desk(at.policy("voi", n_features=features.n_features, costs=costs), audit=at.Audit(floor=0.5))
    stream = at.Stream.create("memory", "people", player, features=features)
    for k, row in enumerate(rows):
        stream.decide(row, id=str(k))
    stream.erase("3")
    cells = cells_of(stream, "country")
    assert (cells["0"], cells["1"], cells["3"]) == ("de", "nl", None)
    assert values_of(stream.log(), cells)[3] == "missing"
    with pytest.raises(InputError, match="a column 'colour'; there are age, country"):
        cells_of(stream, "colour")
