"""What ``at.Stream`` promises, over every store."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import (
    ConflictError,
    FeedbackError,
    InputError,
    NotOwnerError,
    RecordError,
    StoppedError,
    UnknownDecisionError,
)

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
RNG = np.random.default_rng(3)
ITEMS = np.round(RNG.normal(size=(400, 3)) - 0.8, 6)
LABELS = (RNG.random(400) < 1 / (1 + np.exp(-ITEMS.sum(1)))).astype(int).tolist()


def seated(name="voi", **options):
    policy = at.policy(name, n_features=3, costs=COSTS, **options)
    return at.Desk(at.Awaiting(policy), at.Budget(share=0.7, window=20), at.Audit(floor=0.2))


def made(store, player=None, **settings):
    return at.Stream.create(store, "orders", seated() if player is None else player, **settings)


def play(stream, start=0, stop=60, late=7):
    """Decide; labels arrive late, one in five never."""
    for k in range(start, stop):
        stream.decide(ITEMS[k], id=f"c{k}", stratum="new" if k % 3 else None)
        past = k - late
        if past >= 0 and past % 5 and f"c{past}" in stream.pending:
            stream.label(f"c{past}", LABELS[past])
    return stream


def acts(stream, act=True):
    log = stream.log()
    return log.id[log.act == act].tolist()


def state(stream):
    header, arrays = stream._state.header(), stream._state.arrays()
    return json.dumps(header), {name: array.tobytes() for name, array in arrays.items()}


def test_a_stream_goes_on_from_its_record_bit_for_bit(home):
    store = home.open()
    one = play(made(store, seed=7, clock=lambda: 10**15), 0, 90)
    two_store = at.logs.stores.MemoryStore()
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


def test_reviews_expire_by_the_clock_and_their_labels_are_still_welcome(home):
    store = home.open()
    stream = made(store, at.Awaiting(at.policy("always", n_features=3, costs=COSTS)), expire_after=10)
    for k in range(5):
        stream.decide(ITEMS[k], id=f"c{k}", time=float(k))
    assert stream.expire(12.0) == ["c0", "c1", "c2"]
    assert stream.expire(12.0) == []
    assert stream.pending == ["c3", "c4"]
    assert stream.label("c1", 1) == ("c1", "applied", "observed", True)
    assert stream.find("c0").entry.state == "expired"
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert stream.pending == ["c3", "c4"]
    stream.verify()
    store.close()


def test_in_shadow_the_callers_action_stands_and_its_label_is_learnt(home):
    store = home.open()
    stream = made(store, at.Awaiting(at.policy("never", n_features=3, costs=COSTS)), mode="shadow")
    with pytest.raises(InputError, match="give baseline=True"):
        stream.decide(ITEMS[0], id="a")
    answer = stream.decide(ITEMS[0], id="a", baseline=True)
    assert (answer.act, answer.decision.act, answer.as_dict()["suggested"]) == (True, False, False)
    assert stream.decide(ITEMS[0], id="a", baseline=True).json() == answer.json()
    with pytest.raises(ConflictError, match="own action was the other one"):
        stream.decide(ITEMS[0], id="a", baseline=False)
    assert stream.label("a", 1).status == "applied"
    assert not stream.decide(ITEMS[1], id="b", baseline=False).act
    assert stream.label("b", 1).status == "recorded_not_learned"
    log = stream.log()
    assert log.act.tolist() == [True, False]
    assert log.probability.tolist() == [1.0, 0.0]  # it was not our probability that counted
    assert [why["our_probability"] for why in log.why] == [0.0, 0.0]
    stream.set_mode("live")
    assert not stream.decide(ITEMS[2], id="c", baseline=True).act
    assert stream.decide(ITEMS[0], id="a", baseline=True).json() == answer.json()
    stream.verify()
    stream.close()
    at.Stream.open(store, "orders").verify()
    store.close()


def test_frozen_decides_and_learns_nothing(home):
    store = home.open()
    stream = play(made(store))
    pending, known = stream.pending[0], next(i for i in acts(stream) if i not in stream.pending)
    stream.set_mode("frozen", by="ann", reason="audit")
    belief = stream.player.policy.learner.arrays()["belief"].tobytes()
    assert stream.label(pending, 1).status == "recorded_not_learned"
    assert stream.label(pending, 1).status == "already_applied"
    assert stream.find(pending).entry.label == 1
    with pytest.raises(InputError, match="frozen, and learns nothing"):
        stream.correct(known, 1 - stream.find(known).entry.label)
    assert stream.decide(ITEMS[200], id="new").mode == "frozen"
    assert stream.player.policy.learner.arrays()["belief"].tobytes() == belief
    stream.set_mode("live")
    assert stream.correct(pending, 0).status == "recorded_not_learned"
    stream.verify()
    store.close()


@pytest.mark.parametrize("fallback", [True, False])
def test_safe_mode_gives_a_fixed_action(home, fallback):
    store = home.open()
    stream = play(made(store, fallback=fallback), 0, 20)
    kept = state(stream)[1]
    stream.set_mode("safe", by="ann")
    answers = [stream.decide(ITEMS[k], id=f"safe{k}") for k in range(5)]
    assert {(a.act, a.probability, a.as_dict()["code"]) for a in answers} == {(fallback, float(fallback), "SAFE")}
    assert stream.label("safe0", 1).status == "recorded_not_learned"
    assert state(stream)[1] == kept
    assert stream.decide(ITEMS[0], id="safe0").json() == answers[0].json()
    stream.set_mode("live")
    assert stream.enacted("safe1", not fallback, "ann").entry.decision.act is not fallback
    assert stream.label("safe1", 1).status == "recorded_not_learned"  # no policy decided on the item
    play(stream, 20, 40)
    stream.verify()
    stream.close()
    at.Stream.open(store, "orders").verify()
    store.close()


def test_who_did_otherwise_is_recorded_and_the_label_learnt_if_the_item_was_acted_on(home):
    store = home.open()
    stream = play(made(store), 0, 120)
    passed, acted = acts(stream, False)[0], stream.pending[0]
    case = stream.enacted(passed, True, "ann")
    assert (case.entry.decision.act, case.enacted_by, case.answer.act) == (True, "ann", False)
    assert passed in stream.pending
    assert stream.label(passed, 1).status == "applied"
    assert stream.correct(passed, 0).status == "applied"
    assert stream.enacted(acted, False, "bob").entry.state == "never_due"
    assert acted not in stream.pending
    assert stream.label(acted, 1).status == "recorded_not_learned"
    with pytest.raises(ConflictError, match="has a label already"):
        stream.enacted(passed, False, "ann")
    log = stream.log()
    where = {id_: k for k, id_ in enumerate(log.id.tolist())}
    assert log.probability[[where[passed], where[acted]]].tolist() == [1.0, 0.0]
    stream.missed()
    kept = state(stream)
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert state(stream) == kept
    stream.verify()
    store.close()


def test_erased_features_are_gone_and_the_gap_is_named(home, tmp_path):
    store = home.open()
    stream = play(made(store), 0, 60)
    passed, waiting = acts(stream, False)[3], stream.pending[-1]
    known = next(i for i in acts(stream) if stream.find(i).learnt)
    answers = {id_: stream.find(id_).answer.json() for id_ in (passed, waiting, known)}
    made_at = min(stream.find(id_).answer.seq for id_ in answers)
    stream.snapshot()
    items = {id_: ITEMS[int(id_[1:])].tobytes() for id_ in answers}
    for id_ in answers:
        assert stream.erase(id_).erased
        assert stream.find(id_).answer.json() == answers[id_]
        assert stream.erase(id_).erased
        with pytest.raises(ConflictError, match="features were erased"):
            stream.decide(ITEMS[int(id_[1:])], id=id_)
        with pytest.raises(InputError, match=r"features of decision .* were erased"):
            stream.explain(id_)
    assert stream.find(known).entry.label is None  # the label was retracted: the policy knows nothing of the item
    assert stream.label(waiting, 1).status == "recorded_not_learned"
    for array in stream._state.arrays().values():
        assert not any(item in array.tobytes() for item in items.values())
    found = stream.verify()
    assert {id_ for gap in found.gaps for id_ in gap.ids} == set(answers)
    assert found.gaps[0].first == made_at
    assert "features of" in str(found)
    play(stream, 60, 80)
    assert len(stream.log()) == 80
    assert stream.log().x is None
    stream.close()
    store.close()
    if home.kind == "sqlite":
        files = [path.read_bytes() for path in tmp_path.iterdir()]
        for id_, item in items.items():
            assert not any(item in content for content in files), id_
        assert any(ITEMS[1].tobytes() in content for content in files)  # the control: others are there
    store = home.open()
    stream = at.Stream.open(store, "orders")
    assert stream.trouble is None
    assert stream.verify().gaps == found.gaps
    store.close()


def test_many_in_one_transaction_are_as_one_by_one(home):
    store = home.open()
    one = at.Stream.create(store, "one", seated(), seed=9)
    two = at.Stream.create(store, "two", seated(), seed=9)
    three = at.Stream.create(store, "three", seated(), seed=9)
    ids, times = [f"c{k}" for k in range(50)], [float(k) for k in range(50)]
    alone = [one.decide(ITEMS[k], id=ids[k], time=times[k]) for k in range(50)]
    many = two.decide_many(ITEMS[:50], ids=ids, times=times)
    with three.together(ids):
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
    assert stream.explain("c3").act == stream.find("c3").answer.decision.act
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


def test_the_seed_is_secret_and_stays_in_the_store(home):
    store = home.open()
    stream = made(store)
    seed = stream.player.policy.seed
    assert seed > 2**64  # 1 in 2^64 streams fails here
    play(stream, 0, 10)
    stream.snapshot()
    told = json.dumps(
        [stream.settings, [a.as_dict() for a in map(stream.find, ["c1", "c2"])], repr(stream)], default=str
    )
    shown = told + "".join(repr(event) for _, event in stream.events())
    kept = b"".join(manifest for _, manifest in stream.record.place.snapshots())
    for form in (str(seed), f"{seed:x}"):
        assert form not in shown
        assert form.encode() not in kept
    assert seed.to_bytes(16, "big") not in kept
    store.close()


def test_a_record_of_another_seed_does_not_verify_and_the_stream_is_safe(home):
    store = home.open()
    stream = play(made(store, at.policy("ts", n_features=3, costs=COSTS)), 0, 60)
    stream.record.place.secret = bytes(16)
    with pytest.raises(RecordError, match=r"event \d+, decision 'c\d+': the record says") as told:
        stream.verify()
    assert told.value.seq > 1
    assert stream.mode == "safe"
    with pytest.raises(RecordError, match="stays in safe mode"):
        stream.set_mode("live")
    assert stream.decide(ITEMS[0], id="fallback").act is False
    store.close()


def test_clocks_that_jump_order_nothing(home):
    jumps = iter([10**15, 10**15 + 5, 10**15 - 86_400_000_000, 10**15 + 86_400_000_000] * 1000)
    store = home.open()
    stream = made(store, seed=5, clock=lambda: next(jumps))
    steady = at.Stream.create("memory", "orders", seated(), seed=5, clock=lambda: 10**15)
    for k in range(40):
        one, two = stream.decide(ITEMS[k], id=f"c{k}"), steady.decide(ITEMS[k], id=f"c{k}")
        assert (one.act, one.probability) == (two.act, two.probability)
        if one.act:
            assert stream.label(f"c{k}", LABELS[k]).status == steady.label(f"c{k}", LABELS[k]).status == "applied"
    times = [stream.find(f"c{k}").answer.time for k in range(40)]
    assert times == sorted(times)
    stream.verify()
    store.close()
