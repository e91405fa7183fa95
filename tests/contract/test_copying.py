"""Copies for other processes: deep-copied or pickled, a policy and all that holds one continue bit for bit."""

import copy
import pickle
from dataclasses import dataclass

import joblib
import numpy as np
import pytest

import appletaste as at

from ..players import assert_alike
from .entries import COSTS, every, make, run, stream

WAYS = [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing)), lambda thing: thing.copy()]


@every
@pytest.mark.parametrize("stop", [0, 25])
def test_copies_of_a_policy_continue_bit_for_bit_and_leave_it_alone(name, options, stop):
    items, labels = stream(3)
    policy = make(name, options)
    run(policy, items, labels, 0, stop)
    copies = [way(policy) for way in WAYS]
    wanted = run(policy, items, labels, stop)
    for other in copies:  # each after the others have gone on: none shares memory with another
        assert type(other) is type(policy)
        assert (other.round, other.name, other.method) == (stop, policy.name, policy.method)
        assert run(other, items, labels, stop) == wanted
        assert repr(other) == repr(policy)


def test_a_copy_takes_corrections_and_knows_the_time():
    policy = at.policy("voi", n_features=1, costs=COSTS, half_life="2d")
    decision = policy.decide([1.0], time="2024-05-01")
    policy.learn(decision, 0)
    other = pickle.loads(pickle.dumps(policy))
    assert other.now == policy.now is not None
    for one in (policy, other):
        one.correct(decision, 1)
    assert other.chance([1.0]) == policy.chance([1.0]) > 0.5


@dataclass(frozen=True)
class Stubborn:
    """A method that somebody else wrote; it has no saved form, and can be copied all the same."""

    probability: float

    def start(self, n_features, key):
        return at.policy("never", n_features=n_features, costs=COSTS).learner


def test_methods_of_others_are_copied_too(tmp_path):
    policy = at.Policy(Stubborn(0.3), n_features=2, costs=COSTS)
    with pytest.raises(at.errors.SaveFileError, match="cannot save Stubborn"):
        policy.save(tmp_path / "policy.at")
    assert pickle.loads(pickle.dumps(policy)).method == Stubborn(0.3)


def awaiting(options):
    return at.streams.Awaiting(at.policy("voi", n_features=2, costs=COSTS, seed=3, **options))


def desk(options):
    return at.Desk(awaiting(options), at.Budget(share=0.4, window=10), at.Audit(floor=0.05))


def ledger(options):
    return at.streams.Ledger(desk(options), expire_after=30)


def work(thing, items, start, stop, corrected=()):
    """Decide on items; each label comes five items late. A ledger, a desk and a policy that waits all understand it."""
    made = []
    for k in range(start, stop):
        if isinstance(thing, at.streams.Ledger):
            decision = thing.decide(items[k], id=str(k))
            for id_ in [id_ for id_ in thing.pending if int(id_) <= k - 5]:
                thing.label(id_, int(id_) % 2)
        else:
            decision = thing.decide(items[k])
            if decision.act and k % 3 == 0:
                thing.learn(decision, k % 2)
                if k in corrected:
                    thing.correct(decision, 1 - k % 2)
        made.append((decision.act, decision.probability, decision.why))
    return made


@pytest.mark.parametrize("kind", [awaiting, desk, ledger])
@pytest.mark.parametrize("options", [{}, {"half_life": 20}], ids=["stays", "forgets"])
@pytest.mark.parametrize(
    "way", [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))], ids=["deep", "pickle"]
)
def test_what_holds_a_policy_is_copied_with_it(kind, options, way):
    items = np.random.default_rng(5).normal(size=(60, 2))
    for stop in (1, 24, 25, 40):  # among them: right after a label was corrected, and after something was forgotten
        thing = kind(options)
        work(thing, items, 0, stop, corrected=(24, 39))
        other = way(thing)
        assert work(other, items, stop, 60) == work(thing, items, stop, 60)
        if kind is desk:
            assert other.policy is other.player.policy
            assert other.policy is not thing.policy
        if kind is ledger:
            assert other.counts() == thing.counts()
            assert_alike(other, thing)


@pytest.mark.parametrize("options", [{}, {"half_life": 20}], ids=["stays", "forgets"])
def test_what_is_on_its_way_is_saved_as_it_stands_after_a_correction_or_forgetting(options, tmp_path):
    items = np.random.default_rng(5).normal(size=(60, 2))
    for stop in (24, 25, 40):
        thing = awaiting(options)
        work(thing, items, 0, stop, corrected=(24, 39))
        thing.save(tmp_path / "awaiting.at")
        other = at.load(tmp_path / "awaiting.at")
        assert work(other, items, stop, 60) == work(thing, items, stop, 60)


def test_joblib_hands_policies_to_other_processes():
    items, labels = stream(3, n=20)
    policy = make("pg-ts", {})
    run(policy, items, labels, 0, 10)
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(run)(policy, items, labels, 10) for _ in range(2))
    assert there[0] == there[1] == run(policy, items, labels, 10)


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps], ids=["copy", "deep", "pickle"])
@pytest.mark.parametrize("store", ["memory", "shop.db"])
def test_a_stream_has_one_owner_and_says_so_when_it_is_copied(way, store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    policy = at.policy("always", n_features=2, costs=at.Costs(miss=5, false_alarm=1, hit=0))
    with at.Stream.create(store, "orders", policy) as stream:
        with pytest.raises(at.errors.InputError, match=r"stream 'orders' cannot be copied.* at\.Stream\.open"):
            way(stream)
        assert stream.decide([1.0, 2.0], id="a").act


@pytest.mark.parametrize("way", [copy.deepcopy, pickle.dumps], ids=["deep", "pickle"])
def test_a_connection_is_made_anew_where_it_is_needed(way):
    client = at.connect("http://127.0.0.1:9", key="at_secret")
    for thing in (client, client.stream("orders")):
        with pytest.raises(
            at.errors.InputError, match=r"127\.0\.0\.1:9 cannot be copied.* at\.connect\(address"
        ) as told:
            way(thing)
        assert "secret" not in str(told.value)
    with pytest.raises(at.errors.InputError, match="sockets"):
        copy.copy(client)
