"""Second looks are events of the record, beside labels and no corrections: drawn by lot, blind, by another person."""

import pytest

import appletaste as at
from appletaste.errors import ConflictError, FeedbackError, InputError, UnknownDecisionError
from appletaste.evaluate import agreement, of_reviewers
from appletaste.records.stores import open_store
from appletaste.streams.lots import lot_of
from appletaste.streams.transfer import export_stream, import_stream

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
N = 200


def make(store="memory", n=N):
    stream = at.Stream.create(store, "orders", at.policy("always", n_features=1, costs=COSTS), seed=3)
    for k in range(n):
        stream.decide([1.0], id=str(k))
        stream.label(str(k), int(k % 4 == 0), by="ann" if k % 2 else "bob")
    return stream


def test_a_second_look_is_kept_beside_the_label_and_nothing_is_learnt_of_it():
    stream = make()
    before = stream.find("0").as_dict(), stream.player.policy.probability([1.0])
    due = stream.second_looks_due(1.0)
    assert due == [str(k) for k in range(N)]
    assert stream.look_again("0", 0, rate=1.0, time="2999-01-01", by="carla")
    assert (stream.find("0").as_dict(), stream.player.policy.probability([1.0])) == before
    assert stream.second_looks() == [("0", 1, 0, False, "bob", "carla", 1.0)]
    assert "0" not in stream.second_looks_due(1.0)
    stream.correct("0", 0, by="ann")
    assert stream.second_looks()[0].first == 1  # as it stood when somebody looked


def test_the_lot_is_that_of_the_seed_and_a_higher_rate_only_adds():
    stream = make()
    few, many = stream.second_looks_due(0.1), stream.second_looks_due(0.5)
    assert set(few) < set(many)
    assert many == [str(k) for k in range(N) if lot_of(stream.record.place.secret, str(k)) < 0.5]
    assert 70 < len(many) < 130  # of 200; four standard errors
    outside = next(str(k) for k in range(N) if str(k) not in many)
    with pytest.raises(FeedbackError, match="was not drawn at a rate"):
        stream.look_again(outside, 1, rate=0.5)


def test_nobody_looks_at_their_own_label_and_nobody_twice():
    stream = make()
    assert all(int(one) % 2 for one in stream.second_looks_due(1.0, by="bob"))
    with pytest.raises(InputError, match="another person"):
        stream.look_again("1", 1, rate=1.0, by="ann")
    assert stream.look_again("1", 1, rate=1.0, by="bob")
    assert not stream.look_again("1", 1, rate=1.0, by="bob")  # again: nothing new
    with pytest.raises(ConflictError, match="already"):
        stream.look_again("1", 0, rate=1.0, by="bob")
    with pytest.raises(UnknownDecisionError):
        stream.look_again("none", 0, rate=1.0)
    stream.decide([1.0], id="unlabelled")
    with pytest.raises(FeedbackError, match="no label"):
        stream.look_again("unlabelled", 0, rate=1.0)


def test_second_looks_last_verify_and_move(tmp_path):
    stream = make(tmp_path / "shop.db")
    with stream.group():
        for one in stream.second_looks_due(0.3):
            stream.look_again(one, 1, rate=0.3, by="carla")
    looks = stream.second_looks()
    assert len(looks) > 20
    assert str(stream.verify()).startswith(f"{len(stream.record)} events verify")
    stream.close()
    with at.Stream.open(tmp_path / "shop.db", "orders") as again:
        assert again.second_looks() == looks
        export_stream(again.record.place, tmp_path / "orders.stream")
    other = open_store("memory")
    import_stream(tmp_path / "orders.stream", other)
    assert at.Stream.open(other, "orders").second_looks() == looks


def test_agreement_of_a_team_and_of_each_reviewer():
    stream = make()
    for one in stream.second_looks_due(1.0):
        stream.look_again(one, int(int(one) % 4 == 0 or int(one) < 10), rate=1.0, by="carla")
    found = agreement(stream.second_looks())
    assert (found.looks, found.agree) == (N, N - 7)  # 0, 4 and 8 of the first ten are positive
    assert found.agreement.covers(1 - 7 / N)
    assert found.agreement.high < 1.0
    people = of_reviewers(stream.second_looks())
    assert {name: one.agree for name, one in people.items()} == {"ann": 95, "bob": 98}
    few = of_reviewers(stream.second_looks()[:30])
    assert not few["ann"].agreement  # nobody is told of on fifteen cases
