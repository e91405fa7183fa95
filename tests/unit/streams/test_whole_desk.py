"""Everything at once: late labels, corrections, capacity, audits, saved in the middle and continued bit for bit."""

import numpy as np
import pytest

import appletaste as at

from ...contract.entries import act_on
from ...players import assert_alike, assert_same, reloaded, state_of

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
DAYS, PER_DAY, REVIEWS, AUDITS = 10, 60, 9, 3


def ledger(name="voi", waits=True, **options):
    policy = at.policy(name, n_features=3, costs=COSTS, seed=11, **options)
    lane = at.Audit(floor=0.03, strata={"new": 0.1}, budget=at.Budget(per_day=AUDITS, day=1.0))
    desk = at.Desk(at.streams.Awaiting(policy) if waits else policy, at.Budget(per_day=REVIEWS, day=1.0), lane)
    return at.streams.Ledger(desk, expire_after=2.5)


def traffic(seed=3):
    """Items with their time, stratum, label, when that comes (some never) and whether it was wrong at first."""
    rng = np.random.default_rng(seed)
    for day in range(DAYS):
        for k in range(PER_DAY):
            x = np.array([1.0, *rng.normal(size=2)])
            label = int(rng.random() < 1 / (1 + np.exp(1.5 - 2 * x[1])))
            due = np.inf if rng.random() < 0.15 else day + k / PER_DAY + rng.exponential(1.0)
            yield f"{day}-{k}", x, day + k / PER_DAY, "new" if x[2] > 1 else None, label, due, rng.random() < 0.1


def play(book, events, waiting):
    """Decide, take in what has become due, correct what was wrong, expire at the end of each day."""
    for id_, x, now, stratum, label, due, wrong in events:
        for late in sorted([one for one in waiting if one[0] <= now]):
            waiting.remove(late)
            _, other, value, mistaken = late
            book.label(other, 1 - value if mistaken else value, time=now)
            if mistaken:
                book.correct(other, value) if value else book.retract(other)
        if book.decide(x, id=id_, time=now, stratum=stratum).act and due < np.inf:
            waiting.append((due, id_, label, wrong))
        if id_.endswith(f"-{PER_DAY - 1}"):
            book.expire(now)
    return book


def acts_of(book):
    return [entry.decision.act for _, entry in book.entries.items()]


def worths_of(book):
    return [entry.decision.worth for _, entry in book.entries.items()]


def check(book):
    rows = book.log().rows()
    for day in range(DAYS):
        mine = [row for row in rows if row["id"].startswith(f"{day}-") and row["act"]]
        assert sum(not row["audit"] for row in mine) <= REVIEWS
        assert sum(row["audit"] for row in mine) <= AUDITS
    counts = book.counts()
    assert all(counts.values()), counts  # every state is met
    assert all((row["label"] is not None) == (row["state"] in ("observed", "corrected")) for row in rows)


@pytest.mark.parametrize(
    ("name", "options"),
    [("voi", {}), ("ts", {}), ("exact-voi", {}), ("voi", {"half_life": 96}), ("ts", {"half_life": "2s"})],
)
def test_saved_in_the_middle_it_continues_bit_for_bit(name, options, tmp_path):
    """On a clock of days: with a half-life of 96 items the belief fades after every third."""
    events = list(traffic())
    whole = play(ledger(name, **options), events, [])
    check(whole)
    for cut in (37, 300, 301, 302):
        waiting = []
        first = play(ledger(name, **options), events[:cut], waiting)
        again = reloaded(first, tmp_path / "stream")
        assert_alike(again, first)
        play(again, events[cut:], waiting)
        assert_alike(again, whole)
        assert again.player.shadow_price == whole.player.shadow_price
        assert (again.policy.posterior.mean == whole.policy.posterior.mean).all()
        assert (again.policy.posterior.covariance == whole.policy.posterior.covariance).all()


def test_what_is_on_its_way_is_part_of_what_is_saved(tmp_path, monkeypatch):
    """The control: without it the same stream goes on otherwise."""
    events, waiting = list(traffic()), []
    whole = play(ledger(), events, [])
    half = play(ledger(), events[:300], waiting)
    with monkeypatch.context() as patch:
        patch.setattr(at.streams.Awaiting, "restore", lambda self, arrays: None)
        half = reloaded(half, tmp_path / "stream")
    forgetful = play(half, events[300:], waiting)
    assert worths_of(forgetful) != worths_of(whole)


def test_waiting_matters_and_ends():
    events = list(traffic())
    patient, plain = play(ledger(), events, []), play(ledger(waits=False), events, [])
    assert acts_of(patient) != acts_of(plain)
    check(plain)
    assert len(patient.player.player) == len(patient.pending)  # labelled, corrected, expired: waited for no longer
    with pytest.raises(at.errors.InputError, match="needs a policy"):
        at.Desk(at.streams.Ledger(at.policy(n_features=1, costs=COSTS)))
    with pytest.raises(at.errors.InputError, match="wraps a policy"):
        at.streams.Awaiting(at.Desk(at.policy(n_features=1, costs=COSTS)))


def test_the_log_of_the_desk_answers_what_was_missed():
    book = play(ledger(), list(traffic()), [])
    log = book.log()
    found = at.missed(log)
    truth = sum(label for (*_, label, _, _), act in zip(traffic(), log.act, strict=True) if not act)
    assert truth > 20
    assert not found.model or found.model.covers(truth)
    assert found.total_bounds is None or found.total_bounds[0] <= truth <= found.total_bounds[1]


@pytest.mark.parametrize("waits", [True, False])
def test_many_at_once_are_as_one_by_one(waits):
    events = list(traffic())[:150]
    one, many = ledger(waits=waits).player, ledger(waits=waits).player
    single = [one.decide(x, time=now, stratum=stratum) for _, x, now, stratum, *_ in events]
    items, times, strata = zip(*[event[1:4] for event in events], strict=True)
    found = many.decide_many(np.array(items), time=list(times), stratum=strata)
    assert len(found) == 150
    assert found.shadow_price == one.shadow_price > 0
    for mine, other in zip(found, single, strict=True):
        assert (mine.act, mine.probability, mine.round, mine.audit) == (
            *(other.act, other.probability, other.round, other.audit),
        )
        assert mine.why == other.why
    assert any(decision.audit for decision in found)
    for k in np.flatnonzero(found.acts)[:5]:
        many.learn(found[k], 1)
        one.learn(single[k], 1)
    assert many.probability(items[0], time=9.0) == one.probability(items[0], time=9.0)


def test_a_batch_at_a_desk_says_what_is_wrong_before_it_decides():
    desk = ledger().player
    with pytest.raises(at.errors.InputError, match="time has 2 values for 3 items"):
        desk.decide_many(np.ones((3, 3)), time=[0.0, 1.0])
    with pytest.raises(at.errors.InputError, match="a time is"):
        desk.decide_many(np.ones((3, 3)), time=[0.0, 1.0, "soon"])
    with pytest.raises(at.errors.OptionError, match="time of every item"):
        desk.decide_many(np.ones((3, 3)))
    assert desk.policy.round == 0


def test_an_awaiting_policy_is_saved_with_what_is_on_its_way(tmp_path):
    policy = at.streams.Awaiting(at.policy(n_features=2, costs=COSTS, seed=2))
    sent = [policy.decide([1.0, 0.1 * k]) for k in range(100)]
    for decision in sent[:40]:
        if decision.act:
            policy.learn(decision, 1)
    policy.correct(sent[0], 0)
    policy.save(tmp_path / "it")
    again = at.load(tmp_path / "it")
    assert isinstance(again, at.streams.Awaiting)
    assert len(again) == len(policy) > 0
    assert len(at.streams.Awaiting(again.policy.copy())) == 0
    for k in range(100):
        x = [1.0, 0.3 - 0.01 * k]
        assert again.probability(x) == policy.probability(x)
        mine, other = again.decide(x), policy.decide(x)
        assert (mine.act, mine.probability) == (other.act, other.probability)
        if mine.act and k % 3 == 0:
            again.learn(mine, k % 2)
            policy.learn(other, k % 2)
    assert again.policy.round == policy.policy.round == 200
    assert_same(state_of(again), state_of(policy))


def test_a_correction_does_not_leave_the_wrapper_on_the_old_belief():
    policy = at.streams.Awaiting(at.policy("ts", n_features=1, costs=COSTS, seed=2))
    decision = act_on(policy, [1.0])
    policy.learn(decision, 0)
    act_on(policy, [1.0])  # one is on its way
    before = policy.probability([1.0])
    policy.correct(decision, 1)
    assert policy.probability([1.0]) > before
    policy.retract(decision)
    assert len(policy) == 2  # it is waited for again
    policy.give_up(decision)
    assert len(policy) == 1


def test_a_batch_at_a_desk_has_the_time_of_each_item():
    """A label learnt later is as old as its item, as if it had been decided by itself."""
    desk = at.Desk(at.policy("voi", n_features=1, costs=COSTS, half_life="10s"))
    found = desk.decide_many(np.ones((3, 1)), time=[0.0, 5.0, 40.0])
    assert [decision.time for decision in found] == [0.0, 5.0, 40.0]
    assert at.Desk(at.policy(n_features=1, costs=COSTS)).decide_many(np.ones((2, 1)), time=[1, 2])[0].time is None


def test_a_batch_at_a_desk_without_the_time_of_an_item_decides_nothing():
    daily, own = at.Budget(per_day=3), at.Audit(floor=0.1, budget=at.Budget(per_day=1))
    timed = at.policy("voi", n_features=1, costs=COSTS, half_life="1h")
    plain = at.policy("voi", n_features=1, costs=COSTS)
    for desk in (at.Desk(timed), at.Desk(plain, daily), at.Desk(plain, audit=own)):
        with pytest.raises(at.errors.OptionError, match="time"):
            desk.decide_many(np.ones((2, 1)), time=[0.0, None])
        assert desk.policy.round == 0
