"""What ``at.Stream`` promises, over every store."""

import json
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import (
    ConflictError,
    FeedbackError,
    InputError,
    NotOwnerError,
    StoppedError,
    StoreError,
    UnknownDecisionError,
)

from .playing import COSTS, ITEMS, LABELS, acts, made, play, seated, state


def test_a_stream_goes_on_from_its_record_bit_for_bit(home):
    store = home.open()
    one = play(made(store, seed=7, clock=lambda: 10**15), 0, 90)
    two_store = at.records.stores.MemoryStore()
    two = play(made(two_store, seed=7, clock=lambda: 10**15), 0, 60)
    two.close()
    two = play(at.Stream.open(two_store, "orders", clock=lambda: 10**15), 60, 90)
    assert acts(one) == acts(two)
    assert state(one)[1] == state(two)[1]
    one.close()
    store.close()
    store = home.open()
    again = at.Stream.open(store, "orders")
    assert state(again) == state(one)
    assert again.verify().decisions == 90
    again.snapshot()
    play(again, 90, 120)
    kept = state(again)
    again.close()
    again = at.Stream.open(store, "orders")
    assert state(again) == kept
    found = again.verify()
    assert (found.decisions, found.snapshots, found.gaps) == (120, 1, ())
    assert found.labels > 10
    store.close()


def test_the_same_id_gives_the_same_bytes_for_ever_and_another_item_is_a_conflict(home):
    store = home.open()
    stream = made(store)
    first = stream.decide(ITEMS[0], id="a", time=1.0, stratum="s", costs={"miss": 9, "false_alarm": 1, "hit": 0})
    told = first.json()
    assert not first.again
    for k in range(1, 40):
        stream.decide(ITEMS[k], id=f"c{k}", time=float(k))
        if f"c{k}" in stream.pending:
            stream.label(f"c{k}", LABELS[k])
    events = len(stream)
    ours = {"id": "a", "time": 1.0, "stratum": "s", "costs": {"miss": 9, "false_alarm": 1, "hit": 0}}
    for _ in range(2):
        again = stream.decide(ITEMS[0].tolist(), **ours)
        assert again.again
        assert again.json() == told == stream.find("a").answer.json()
        for change in ({"stratum": None}, {"costs": None}, {"costs": COSTS}):
            with pytest.raises(ConflictError, match="decision 'a' already, about another item"):
                stream.decide(ITEMS[0], **{**ours, **change})
        with pytest.raises(ConflictError, match="another item"):
            stream.decide(ITEMS[1], **ours)
        assert len(stream) == events
        stream.close()
        store.close()
        store = home.open()
        stream = at.Stream.open(store, "orders")
    store.close()


def test_costs_that_changed_do_not_make_a_conflict(home):
    store = home.open()
    stream = made(store)
    told = stream.decide(ITEMS[0], id="a").json()
    stream.set_costs({"miss": 2, "false_alarm": 1, "hit": 0}, by="ann")
    assert stream.decide(ITEMS[0], id="a").json() == told
    later = stream.decide(ITEMS[1], id="b")
    assert later.decision.costs.miss == 2
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert stream.costs.miss == 2
    assert stream.decide(ITEMS[1], id="b").json() == later.json()
    stream.verify()
    store.close()


def test_a_label_is_learnt_once_and_another_value_is_a_conflict(home):
    store = home.open()
    stream = play(made(store))
    id_ = next(iter(stream.pending))
    before = state(stream)
    assert stream.label(id_, 1) == (id_, "applied", "observed", False)
    learnt, events = state(stream), len(stream)
    assert learnt != before
    assert stream.label(id_, 1).status == "already_applied"
    with pytest.raises(ConflictError, match=r"already has the label 1, got 0.*correct"):
        stream.label(id_, 0)
    with pytest.raises(UnknownDecisionError, match="no decision 'nobody'"):
        stream.label("nobody", 1)
    with pytest.raises(FeedbackError, match="a label is 0"):
        stream.label(id_, 2)
    assert (state(stream), len(stream)) == (learnt, events)
    assert stream.correct(id_, 0).state == "corrected"
    assert stream.find(id_).entry.label == 0
    assert stream.correct(id_, 0).status == "already_applied"
    assert stream.retract(id_).state == "pending"
    assert id_ in stream.pending
    with pytest.raises(FeedbackError, match="no label to correct"):
        stream.correct(id_, 1)
    stream.verify()
    store.close()


def test_the_label_of_a_pass_is_recorded_and_never_learnt(home):
    store = home.open()
    stream = play(made(store), 0, 120)
    passed = acts(stream, act=False)
    before = state(stream)
    assert passed
    for id_ in passed:
        assert stream.label(id_, 1).status == "recorded_not_learned"
        assert stream.label(id_, 1).status == "already_applied"
        with pytest.raises(ConflictError):
            stream.label(id_, 0)
    assert stream.correct(passed[0], 0).status == "recorded_not_learned"
    assert stream.find(passed[0]).outcome == 0
    assert stream.find(passed[0]).entry.state == "never_due"
    assert state(stream) == before
    assert len(stream.log()) == 120
    stream.verify()
    store.close()


def test_many_in_one_transaction_are_as_one_by_one(home):
    store = home.open()
    one = at.Stream.create(store, "one", seated(), seed=9)
    two = at.Stream.create(store, "two", seated(), seed=9)
    three = at.Stream.create(store, "three", seated(), seed=9)
    ids, times = [f"c{k}" for k in range(50)], [float(k) for k in range(50)]
    alone = [one.decide(ITEMS[k], id=ids[k], time=times[k]) for k in range(50)]
    many = two.decide_many(ITEMS[:50], ids=ids, times=times)
    with three.group(ids):
        grouped = [three.decide(ITEMS[k], id=ids[k], time=times[k]) for k in range(50)]
        assert three.decide(ITEMS[3], id="c3", time=3.0).json() == grouped[3].json()  # before it is written
        with pytest.raises(ConflictError):
            three.decide(ITEMS[4], id="c3", time=3.0)
        assert three.record.written.seq == 1
    assert three.record.written.seq == 51
    assert [a.json() for a in alone] == [a.json() for a in many] == [a.json() for a in grouped]
    again = two.decide_many(ITEMS[:60], ids=[f"c{k}" for k in range(60)], times=[float(k) for k in range(60)])
    assert [a.again for a in again] == [True] * 50 + [False] * 10
    events = len(two)
    for wrong in (
        {"ids": ["x", "c0"]},
        {"ids": ["x", ""]},
        {"ids": ["x"]},
        {"ids": ["x", "y"], "times": [1.0, "soon"]},
    ):
        with pytest.raises(InputError):
            two.decide_many(ITEMS[100:102], **{"times": [1.0, 2.0], **wrong})
    two.verify()
    assert len(two) - events <= 2  # one good item before a conflict counts
    store.close()


def test_what_is_being_written_is_found_and_counted_once(home):
    """Another thread writes a group while the next one is applied; both are as one by one, to the bit."""
    store = home.open()
    one = at.Stream.create(store, "one", seated(), seed=9)
    two = at.Stream.create(store, "two", seated(), seed=9)
    for stream in (one, two):
        stream.set_mode("shadow", by="lead")  # each decision is followed by an event about it
    alone = [one.decide(ITEMS[k], id=f"c{k}", time=float(k), baseline=True) for k in range(6)]
    with two.group(commit=False):
        ahead = [two.decide(ITEMS[k], id=f"c{k}", time=float(k), baseline=True) for k in range(3)]
    write, written = two.prepare(), two.record.written
    for done in (False, True):  # the group may be on disk before anybody takes note
        if done:
            write()
        with two.group(["c1", "c3"] if done else ["c1"], commit=False):
            assert two.decide(ITEMS[1], id="c1", time=1.0, baseline=True).json() == alone[1].json()
            assert len(two.record.later("c1")) == 1
            with pytest.raises(ConflictError):
                two.decide(ITEMS[2], id="c1", time=1.0, baseline=True)
            if done:
                ahead += [two.decide(ITEMS[k], id=f"c{k}", time=float(k), baseline=True) for k in range(3, 6)]
        assert two.record.written == written
    two.committed(None)
    assert two.record.written.seq == written.seq + 6
    two.prepare()()
    two.committed(None)
    assert [a.json() for a in alone] == [a.json() for a in ahead]
    two.verify()
    with two.group(commit=False):
        two.decide(ITEMS[6], id="c6", time=6.0, baseline=True)
    two.committed(StoreError("the disk did not confirm"))
    with pytest.raises(StoppedError, match="did not confirm"):
        two.prepare()()
    store.close()


def test_what_is_wrong_changes_nothing(home):
    store = home.open()
    stream = play(made(store), 0, 20)
    before, events = state(stream), len(stream)
    for item in (
        [1.0, 2.0],
        [1.0, 2.0, float("nan")],
        [1.0, 2.0, float("inf")],
        "abc",
        {"age": 3},
        [1e101, 0, 0],
        None,
    ):
        with pytest.raises(InputError):
            stream.decide(item, id="new")
    for given in (
        {"id": ""},
        {"id": 7},
        {"id": "x" * 300},
        {"id": "a\0"},
        {"id": "\ud800"},
        {"time": 3.0},
        {"time": "x"},
    ):
        with pytest.raises(InputError):
            stream.decide(ITEMS[0], **{"id": "new", **given})
    for given in ({"stratum": 3}, {"costs": {"miss": 1}}, {"baseline": 1}, {"stratum": "\0"}):
        with pytest.raises(InputError):
            stream.decide(ITEMS[0], id="new", **given)
    for call in (
        lambda: stream.set_mode("off"),
        lambda: stream.note("nobody", "x"),
        lambda: stream.note("c0", ""),
        lambda: stream.enacted("c0", 1, "ann"),
        lambda: stream.enacted("c0", True, ""),
        lambda: stream.erase("nobody"),
        lambda: stream.expire(),
        lambda: stream.set_costs({"miss": 1, "false_alarm": 1, "hit": 2}),
        lambda: stream.set_costs(at.Costs.of_item(miss=3, false_alarm=5, hit=5)),
    ):
        with pytest.raises(InputError):
            call()
    assert (state(stream), len(stream), stream.stopped) == (before, events, "")
    store.close()


def test_notes_and_explanations(home):
    store = home.open()
    stream = play(made(store), 0, 30)
    stream.note("c3", "rang the customer", by="ann")
    stream.note("", "a new month")
    assert stream.find("c3").notes == (("ann", "rang the customer"),)
    assert at.explain(stream, "c3").act == stream.find("c3").answer.decision.act
    assert json.loads(json.dumps(stream.find("c3").as_dict()))["notes"] == [{"by": "ann", "text": "rang the customer"}]
    store.close()


def test_a_closed_stream_and_a_second_owner(home):
    store = home.open()
    stream = made(store)
    with pytest.raises(NotOwnerError, match="in use"):
        at.Stream.open(store, "orders")
    stream.close()
    with pytest.raises(StoppedError, match="it was closed"):
        stream.decide(ITEMS[0], id="a")
    with at.Stream.open(store, "orders") as again:
        assert again.decide(ITEMS[0], id="a").seq == 2
    store.close()


@pytest.mark.parametrize(("rests", "apart"), [(0.0, 25), (1e9, 75)])
def test_snapshots_are_made_by_themselves_and_old_ones_go(home, monkeypatch, rests, apart):
    """One every 25 events here; where that would leave decisions little time, one in 75."""
    monkeypatch.setattr(at.streams.snapshots, "EVERY", 25)
    monkeypatch.setattr(at.streams.snapshots, "RESTS", rests)
    store = home.open()
    stream = made(store)
    seen = set()
    for start in range(0, 200, 10):
        play(stream, start, start + 10)
        stream._journal.keeper.wait()
        assert stream._journal.keeper.error is None
        seen |= {seq for seq, _ in stream.record.place.snapshots()}
    made_at = sorted(seen)[1:]
    assert 25 <= made_at[0] < 50
    assert all(apart <= later - earlier < apart + 25 for earlier, later in pairwise(made_at))
    assert len(made_at) > 3
    kept = [seq for seq, _ in stream.record.place.snapshots()]
    assert len(kept) == 3
    assert kept[0] == 0
    chunks = [at.streams.snapshots.read_manifest(packed).chunks() for _, packed in stream.record.place.snapshots()]
    assert set.union(*chunks) == stream.record.place.chunks()  # nothing is left of the others
    assert stream.verify().snapshots == 2
    before = state(stream)
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert state(stream) == before
    store.close()


def test_a_state_that_takes_long_to_copy_has_its_next_snapshot_when_it_is_closed(monkeypatch):
    monkeypatch.setattr(at.streams.snapshots, "EVERY", 25)
    monkeypatch.setattr(at.streams.snapshots, "LONGEST_COPY", -1.0)  # every copy takes longer
    store = at.records.stores.MemoryStore()
    stream = made(store)
    for start in range(0, 150, 10):
        play(stream, start, start + 10)
        stream._journal.keeper.wait()
    (_, first) = (seq for seq, _ in stream.record.place.snapshots())
    assert 25 <= first < 50
    place, events = stream.record.place, len(stream)
    stream.close()
    assert [seq for seq, _ in place.snapshots()] == [0, first, events]


def test_a_snapshot_that_cannot_be_written_costs_nothing_but_time(home, monkeypatch):
    monkeypatch.setattr(at.streams.snapshots, "EVERY", 25)
    store = home.open()
    stream = made(store)
    place = stream.record.place

    def full(*_):
        raise OSError("disk full")

    monkeypatch.setattr(type(place), "put_chunk", full)
    play(stream, 0, 60)
    stream._journal.keeper.wait()
    assert isinstance(stream._journal.keeper.error, OSError)
    monkeypatch.undo()
    play(stream, 60, 80)
    stream.verify()
    stream.close()
    assert at.Stream.open(store, "orders").trouble is None
    store.close()


def test_passes_leave_nothing_in_memory_but_their_mark(tmp_path):
    stream = at.Stream.create(tmp_path / "shop.db", "orders", at.policy("never", n_features=3, costs=COSTS))
    X = np.zeros((500, 3))
    many = [[f"order-{start + k}" for k in range(500)] for start in range(0, 5000, 500)]
    stream.decide_many(X, ids=many[0])
    stream.decide_many(X, ids=many[1])
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for ids in many[2:]:
        stream.decide_many(X, ids=ids)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 60 * 4000  # an id alone takes more
    stream.close()


def test_others_may_look_while_one_writes(home):
    if home.kind == "memory":
        pytest.skip("memory is seen by one process alone")
    store = home.open()
    stream = play(made(store), 0, 30)
    with at.Stream.open(home.address, "orders", read_only=True) as seen:
        assert state(seen) == state(stream)
        assert seen.find("c3").answer.json() == stream.find("c3").answer.json()
        assert seen.verify().decisions == 30
        assert len(seen.log()) == 30
        for call in (
            lambda: seen.decide(ITEMS[40], id="x"),
            lambda: seen.label("c1", 1),
            lambda: seen.set_mode("safe"),
        ):
            with pytest.raises(StoppedError, match="to look at"):
                call()
    play(stream, 30, 40)
    stream.verify()
    store.close()


def test_a_group_in_which_something_broke_is_not_called_written(home, monkeypatch):
    store = home.open()
    stream = play(made(store), 0, 20)
    events, waiting = len(stream), stream.pending[0]

    def broken(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(stream.player, "learn", broken)

    def group():
        with stream.group():
            stream.decide(ITEMS[50], id="in the group")
            with pytest.raises(ZeroDivisionError):
                stream.label(waiting, 1)  # and whoever called goes on

    with pytest.raises(StoppedError, match="has stopped"):
        group()
    with pytest.raises(StoppedError):
        stream.decide(ITEMS[50], id="in the group")
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert len(stream) == events
    assert "in the group" not in stream
    assert stream.label(waiting, 1).status == "applied"
    stream.verify()
    store.close()


def test_a_stream_that_is_written_meanwhile_opens_without_trouble(tmp_path):
    """Whoever looks takes the record as it was when the look began, however much comes behind."""
    stream = at.Stream.create(tmp_path / "shop.db", "orders", at.policy("voi", n_features=2, costs=COSTS), seed=1)
    stream.decide([0.1, 0.2], id="a", time=1.0)
    place, busy = type(stream.record.place), []
    usual = place.read

    def read(self, after=0):
        if self is not stream.record.place and not busy and after == 0 and len(stream) < 100:
            busy.append(True)
            for _ in range(20):
                stream.decide([0.1, 0.2], id=f"more-{len(stream)}", time=float(len(stream)))
            busy.clear()
        return usual(self, after)

    place.read = read
    try:
        with at.Stream.open(tmp_path / "shop.db", "orders", read_only=True) as other:
            assert other.trouble is None
            assert len(other) < len(stream)
    finally:
        place.read = usual
    stream.close()


def test_a_snapshot_that_is_written_aside_knows_no_later_mode():
    stream = at.Stream.create("memory", "orders", at.policy("voi", n_features=2, costs=COSTS), seed=1)
    stream.decide([0.1, 0.2], id="a", time=1.0)
    header = stream._journal.fold.header()
    stream.set_mode("frozen")
    assert [mode for _, mode in header["modes"]] == ["live"]
