"""Policies that know which labels are on their way."""

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels.gaussian import COVARIANCE
from appletaste.posteriors.pending_labels import EVERY, Waiting

from ...contract.entries import act_on
from ...players import assert_same, state_of

COSTS = at.Costs(miss=1, false_alarm=2, hit=0)


def items(n, d, seed=1):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("name", ["voi", "ucb", "ts", "adf-voi", "greedy", "pg-ts"])
def test_with_nothing_on_its_way_it_is_the_policy(name):
    plain, desk = (at.policy(name, n_features=3, costs=COSTS, seed=4) for _ in range(2))
    desk = at.streams.Awaiting(desk)
    for t, x in enumerate(items(80, 3)):
        one, two = plain.decide(x), desk.decide(x)
        assert one.probability == two.probability
        if one.act:
            plain.learn(one, t % 2)
            desk.learn(two, t % 2)


def test_the_covariance_is_that_of_all_labels_seen():
    """Step by step and afresh: (V^-1 + sum w x x')^-1, w = p (1 - p)."""
    policy = at.policy("ts", n_features=4, costs=COSTS, skew=False, adaptive=False)
    for x, label in zip(items(60, 4), [0, 1] * 30, strict=True):
        policy.teach(x, label)
    belief = policy.learner.belief
    waiting = Waiting(belief)
    np.testing.assert_allclose(waiting.covariance(), belief.covariance, rtol=1e-12)
    more = items(20, 4, seed=2)
    for key, x in enumerate(more):
        waiting.settle()  # as a decision does, before its act is on its way
        waiting.add(key, x)
    stepped = waiting.covariance()
    variances = np.einsum("ij,jk,ik->i", more, belief.covariance, more)
    chances = 1 / (1 + np.exp(-(more @ belief.mean) / np.sqrt(1 + np.pi * variances / 8)))
    wanted = np.linalg.inv(np.linalg.inv(belief.covariance) + (more.T * (chances * (1 - chances))) @ more)
    np.testing.assert_allclose(stepped, wanted, rtol=0.02, atol=0.02 * np.abs(wanted).max())
    afresh = Waiting(belief)
    for key, x in enumerate(more):
        afresh.add(key, x)
    np.testing.assert_allclose(afresh.covariance(), stepped, rtol=1e-9)
    assert (np.diag(wanted) < 0.9 * np.diag(belief.covariance)).all()  # a check that forgot them would see it
    for key in range(20):
        waiting.remove(key)
        waiting.remove(key)  # it has come already
    assert len(waiting) == 0
    np.testing.assert_allclose(waiting.covariance(), belief.covariance, rtol=1e-12)
    assert EVERY > 20  # it was the last removal that made it fresh


def test_what_is_on_its_way_is_not_bought_again():
    """The same doubtful item over and over, no label: the policy goes on asking, the one that waits stops."""
    costs = at.Costs(miss=1, false_alarm=1.2, hit=0)
    policy, other = (at.policy("voi", n_features=2, costs=costs) for _ in range(2))
    desk = at.streams.Awaiting(other)
    alone = [policy.decide([1.0, 0.0]).act for _ in range(300)]
    decisions = [desk.decide([1.0, 0.0]) for _ in range(300)]
    assert all(alone)
    bought = [decision for decision in decisions if decision.act]
    assert 0 < len(bought) < 100
    for decision in bought:
        desk.give_up(decision)
    assert desk.decide([1.0, 0.0]).act  # nobody waits any longer: it asks again


def test_late_labels_cost_less_when_they_are_awaited():
    """20 orders of a made table, labels 200 items late; paired difference above 3 standard errors."""
    from appletaste.streams.staffing import bare

    rng = np.random.default_rng(3)
    X = rng.normal(size=(1500, 6))
    table = {f"x{k}": X[:, k] for k in range(6)}
    table["bad"] = (rng.random(1500) < 1 / (1 + np.exp(1 - 1.5 * X[:, 0] + X[:, 1]))).astype(int)
    costs = at.Costs(miss=1, false_alarm=2, hit=0)
    awaited = at.replay(table, "bad", costs=costs, shuffles=20, delay=200)["voi"].costs_per_1000
    plain = at.replay(table, "bad", costs=costs, shuffles=20, delay=200, wrap=bare)["voi"].costs_per_1000
    gain = plain - awaited
    assert gain.mean() > 3 * gain.std(ddof=1) / np.sqrt(len(gain))
    prompt = [at.replay(table, "bad", costs=costs, shuffles=5, wrap=w)["voi"].costs_per_1000 for w in (bare, wait)]
    np.testing.assert_array_equal(*prompt)  # nothing to gain where labels come at once


def wait(policy, setting):
    from appletaste.streams.staffing import awaiting

    return awaiting(policy, setting)


def late(policy, start=0, stop=160, twin=None, ask=None):
    """Decide, and learn each label 6 acts late; a twin must decide the same."""
    waiting = getattr(policy, "sent", [])
    for t, x in list(enumerate(items(160, 3)))[start:stop]:
        if ask is not None:
            ask(x, t)
        decision = policy.decide(x, time=float(t))
        if twin is not None:
            assert twin.decide(x, time=float(t)).probability == decision.probability
        if decision.act:
            waiting.append(decision)
        if len(waiting) > 6:
            for one in (policy, twin) if twin is not None else (policy,):
                one.learn(waiting[0], int(waiting[0].x[0] > 0))
            waiting.pop(0)
    policy.sent = waiting
    return policy


def awaiting(half_life=64, name="ts"):
    return at.streams.Awaiting(at.policy(name, n_features=3, costs=COSTS, seed=5, half_life=half_life))


@pytest.mark.parametrize("half_life", [64, "64s"])
def test_saved_at_any_round_it_continues_bit_for_bit(half_life, tmp_path):
    """64 items a half-life: the belief has just faded at every other round, and what was derived from it is stale."""
    for stop in (99, 100, 101):
        policy = late(awaiting(half_life), stop=stop)
        assert len(policy) > 5
        assert policy.policy.learner.belief.labels.n > 5
        policy.save(tmp_path / "it")
        late(policy, start=stop, twin=at.load(tmp_path / "it"))


def test_saved_after_a_correction_it_continues_bit_for_bit(tmp_path):
    policy = awaiting(None)
    first = act_on(policy, np.ones(3))
    policy.learn(first, 1)
    late(policy, stop=100)
    policy.correct(first, 0)
    policy.save(tmp_path / "it")
    late(policy, start=100, twin=at.load(tmp_path / "it"))


@pytest.mark.parametrize("half_life", [None, 64, "64s"])
def test_asking_changes_nothing(half_life):
    """Neither now nor at a later time, though 64 labels after the last look V_w is computed afresh."""
    plain, asked = awaiting(half_life), awaiting(half_life)
    desk = at.Desk(asked)

    def ask(x, t):
        assert 0 <= asked.probability(x) <= 1
        assert asked.probability(x, time=t + 500.0) == desk.probability(x, time=t + 500.0)

    for stop in (100, 130, 160):
        one = late(plain, start=stop - 30 if stop > 100 else 0, stop=stop)
        two = late(asked, start=stop - 30 if stop > 100 else 0, stop=stop, ask=ask)
        for decision, other in zip(one.sent, two.sent, strict=True):
            assert decision.probability == other.probability
        for policy in (one, two):
            for decision in policy.sent[:4]:
                policy.learn(decision, 1)
            del policy.sent[:4]
    assert_same(state_of(plain), state_of(asked))


def test_the_covariance_of_what_waits_fades_with_the_belief():
    policy = awaiting(32)
    late(policy)
    assert len(policy) > 3

    def variances():
        return np.diag(policy.arrays()["waiting.awaited"][COVARIANCE:])

    policy.decide(np.zeros(3))  # computes what is due; an item of zeros tells nothing
    stale = variances()
    policy.policy.learner.advance(224.0)
    policy.decide(np.zeros(3))
    assert (variances() > stale).all()


def test_after_so_many_labels_the_covariance_is_computed_afresh():
    """Labels that come in make V_w narrower than they should, until 64 of them have; then that is counted anew."""
    policy = at.policy("ts", n_features=3, costs=COSTS)
    belief, more = policy.learner.belief, items(200, 3)
    waiting = Waiting(belief)
    for key, x in enumerate(more):
        waiting.add(key, x)
    waiting.settle()
    same = []
    for key, x in enumerate(more[: 2 * EVERY]):
        belief.learn(x, key % 2)
        waiting.remove(key)
        waiting.settle()  # as a decision does
        afresh = Waiting(belief)
        for k in range(key + 1, 200):
            afresh.add(k, more[k])
        same.append(np.array_equal(waiting.covariance(), afresh.covariance()))
    assert np.flatnonzero(same).tolist() == [EVERY - 1, 2 * EVERY - 1]


def test_what_a_label_will_tell_is_by_mackay_s_formula():
    belief = at.posteriors.Laplace(at.posteriors.Gaussian(2.0, 4.0)).start(1, at.Key(0))
    waiting = Waiting(belief)
    waiting.add(1, np.ones(1))
    chance = 1 / (1 + np.exp(-2 / np.sqrt(1 + np.pi * 4 / 8)))
    assert waiting.covariance()[0, 0] == pytest.approx(1 / (1 / 4 + chance * (1 - chance)), rel=1e-12)
