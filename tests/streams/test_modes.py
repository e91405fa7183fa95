"""Modes, people who do otherwise, clocks, secrets, and features that are erased; over every store."""

import json

import pytest

import appletaste as at
from appletaste.errors import ConflictError, InputError, RecordError
from appletaste.records.codec import stamp_of
from appletaste.streams import feedback

from .playing import COSTS, ITEMS, LABELS, acts, made, play, seated, state


def test_reviews_expire_by_the_clock_and_their_labels_are_still_welcome(home):
    store = home.open()
    stream = made(store, at.streams.Awaiting(at.policy("always", n_features=3, costs=COSTS)), expire_after=10)
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


def test_a_clock_of_ones_own_is_not_the_machines(home):
    store = home.open()
    stream = made(store, at.policy("always", n_features=3, costs=COSTS), expire_after=100)
    for k in range(3):
        stream.decide(ITEMS[k], id=f"c{k}", time=1000.0 + k)
    for now in (None, "2024-01-01"):
        with pytest.raises(InputError, match="present time"):
            stream.expire(now)
    stream.label("c0", 1)
    stream.retract("c0")  # waits again since it was decided: there is no other time on this clock
    assert stream.expire(1050.0) == []
    stream.enacted("c1", False, "ann")
    stream.enacted("c1", True, "ann")
    assert stream.expire(1100.5) == ["c0"]
    assert stream.expire(1101.5) == ["c1"]
    stream.verify()
    stream.close()
    stream = at.Stream.open(store, "orders")
    assert stream.pending == ["c2"]
    stream.close()
    dated = at.Stream.create(store, "dated", at.policy("always", n_features=3, costs=COSTS), expire_after=100)
    dated.decide(ITEMS[0], id="c0")
    with pytest.raises(InputError, match="give a date"):
        dated.expire(2e9)
    store.close()


def test_in_shadow_the_callers_action_stands_and_its_label_is_learnt(home):
    store = home.open()
    stream = made(store, at.streams.Awaiting(at.policy("never", n_features=3, costs=COSTS)), mode="shadow")
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
    at.missed(stream.log())
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
            at.explain(stream, id_)
    assert stream.find(known).entry.label is None  # the label was retracted: the policy knows nothing of the item
    assert stream.label(waiting, 1).status == "recorded_not_learned"
    for array in stream._journal.fold.arrays().values():
        assert not any(item in array.tobytes() for item in items.values())
    found = stream.verify()
    assert {id_ for gap in found.gaps for id_ in gap.ids} == set(answers)
    assert found.gaps[0].first == made_at
    assert "verified before the features of" in str(found)
    assert all(gap.before for gap in found.gaps)
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


def test_what_was_erased_without_being_compared_is_said_and_stays_so(home, monkeypatch):
    """Features that an older version erased: what they took along was never compared, whatever is compared later."""
    store = home.open()
    stream = play(made(store), 0, 40)
    with monkeypatch.context() as patch:
        patch.setattr("appletaste.streams.feedback.Feedback._compared", lambda feedback: 0)
        stream.erase(acts(stream, False)[5])
    (gap,) = stream.verify().gaps
    assert not gap.before
    play(stream, 40, 60)
    last = acts(stream, False)[-1]
    assert stream.find(last).answer.seq > gap.last
    stream.erase(last)
    found = stream.verify()
    assert [one.before for one in found.gaps] == [False]  # one gap, of both: the snapshot in between is gone
    assert "cannot be folded again" in str(found)
    stream.close()
    store.close()


def test_each_of_many_erasures_leaves_a_record_that_was_compared(home, monkeypatch):
    store = home.open()
    stream, whole = play(made(store), 0, 50), []
    usual = feedback.verify
    monkeypatch.setattr(feedback, "verify", lambda place: whole.append(place) or usual(place))
    for k, id_ in enumerate([*acts(stream, False)[:3], *acts(stream)[:2]]):
        stream.erase(id_)
        play(stream, 50 + 5 * k, 55 + 5 * k)
        assert all(gap.before for gap in stream.verify().gaps)
    assert len(whole) == 1  # the others compare what came since
    stream.close()
    stream = at.Stream.open(store, "orders")
    stream.erase(acts(stream)[3])
    found = stream.verify()
    assert found.gaps
    assert all(gap.before for gap in found.gaps)
    store.close()


def test_a_record_that_does_not_verify_is_erased_from_and_never_said_to_have_been_compared(home, monkeypatch):
    store = home.open()
    stream = play(made(store), 0, 30)

    def differs(place):
        raise RecordError("event 7 differs", 7)

    with monkeypatch.context() as patch:
        patch.setattr(feedback, "verify", differs)
        assert stream.erase(acts(stream)[2]).erased
    assert [gap.before for gap in stream.verify().gaps] == [False]
    store.close()


def test_the_seed_is_secret_and_stays_in_the_store(home):
    store = home.open()
    stream = made(store, seed=None)
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
    seqs = [stream.find(f"c{k}").answer.seq for k in range(40)]
    stamps = [stamp_of(row.kind, row.body).at for row in stream.record.place.read()]
    assert seqs == sorted(seqs)
    assert stamps == sorted(set(stamps))
    stream.verify()
    store.close()
