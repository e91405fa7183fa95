"""Labels are learnt once, by the policy that decided, also where threads and processes meet."""

import threading
from contextlib import nullcontext

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import FeedbackError, ThreadsError

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
SHEET = at.Costs(**COSTS)


# ---- labels: once, and by the policy that decided


BATCH = np.random.default_rng(5).normal(size=(40, 2))


def acted(policy, items=BATCH):
    """Return the first act of a policy that plays items without labels."""
    return next(decision for decision in (policy.decide(x) for x in items) if decision.act)


def learners():
    return [at.policy(name, n_features=2, costs=SHEET, seed=1) for name in ("voi", "adf-voi", "pg-ts", "always")]


@pytest.mark.parametrize("policy", learners(), ids=lambda policy: policy.name)
def test_a_label_is_learnt_once(policy):
    decision = acted(policy)
    policy.learn(decision, 1)
    before = policy.arrays()
    for label in (1, 0):
        with pytest.raises(FeedbackError, match=r"learnt already.*correct\(decision, label\)"):
            policy.learn(decision, label)
    after = policy.copy().arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    with pytest.raises(FeedbackError, match="learnt already"):
        policy.copy().learn(decision, 1)  # a copy knows it too


@pytest.mark.parametrize("policy", learners(), ids=lambda policy: policy.name)
def test_a_decision_of_another_policy_is_refused(policy):
    ours = [policy.decide(x) for x in BATCH[:10]]
    other = at.policy(policy.name, n_features=2, costs=SHEET, seed=1)  # the same seed and name, on another stream
    theirs = [other.decide(x) for x in BATCH[10:30]]
    refused = 0
    for decision in theirs:
        if decision.act:
            with pytest.raises(FeedbackError, match=r"not one of this policy.*teach\(x, label\)"):
                policy.learn(decision, 1)
            refused += 1
    assert refused > 0
    if ours[0].act:
        moved = ours[0]._replace(x=ours[0].x + 1e-12)
        with pytest.raises(FeedbackError, match="another item"):
            policy.learn(moved, 1)
        policy.learn(ours[0]._replace(x=ours[0].x.tolist()), 1)  # stored and read back


def test_a_round_to_come_and_a_round_that_was_passed_are_refused():
    policy = at.policy("never", n_features=2, costs=SHEET)
    forged = at.policy("always", n_features=2, costs=SHEET).decide(BATCH[0])
    with pytest.raises(FeedbackError, match="this policy has made 0 decisions"):
        policy.learn(forged, 1)
    policy.decide(BATCH[0])
    with pytest.raises(FeedbackError, match="this policy passed in that round"):
        policy.learn(forged, 1)
    with pytest.raises(FeedbackError, match="this policy has made 1 decisions"):
        policy.learn(forged._replace(round=0), 1)


@pytest.mark.parametrize("capacity", [None, 5])
def test_batches_know_their_decisions(capacity):
    policy = at.policy("voi", n_features=2, costs=SHEET)
    decisions = policy.decide_many(BATCH, capacity=capacity)
    for decision in decisions:
        if decision.act:
            policy.learn(decision, 1)
            with pytest.raises(FeedbackError, match="learnt already"):
                policy.learn(decision, 1)


def test_a_retracted_label_can_be_learnt_again_and_saving_keeps_what_was_learnt(tmp_path):
    policy = at.policy("voi", n_features=2, costs=SHEET)
    one, other = [d for d in (policy.decide(x) for x in BATCH) if d.act][:2]
    policy.learn(one, 1)
    policy.retract(one)
    policy.learn(one, 0)
    policy.save(tmp_path / "policy.at")
    again = at.load(tmp_path / "policy.at")
    with pytest.raises(FeedbackError, match="learnt already"):
        again.learn(one, 0)
    again.learn(other, 1)
    again.correct(one, 1)
    with pytest.raises(FeedbackError, match="learnt already"):
        again.learn(one, 1)


# ---- threads and processes


def busy(alone):
    """Hold a door from another thread until told to leave; return what ends that."""
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with alone:
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(30)
    return lambda: (leave.set(), thread.join(30))


def test_a_policy_in_use_by_another_thread_says_no():
    policy = at.policy("voi", n_features=2, costs=SHEET)
    decision = acted(policy)
    policy.learn(decision, 1)
    desk = at.Desk(policy, at.Budget(share=0.5))
    before, end = policy.round, busy(policy.alone)
    try:
        for use in (
            lambda: policy.decide(BATCH[0]),
            lambda: policy.probability(BATCH[0]),
            lambda: policy.decide_many(BATCH),
            lambda: policy.learn(decision, 1),
            lambda: policy.teach(BATCH[0], 1),
            lambda: policy.correct(decision, 0),
            lambda: policy.learn_history(BATCH, [1] * len(BATCH)),
            lambda: policy.copy(),
            lambda: desk.decide(BATCH[0]),
        ):
            with pytest.raises(ThreadsError, match="another thread is using this policy right now"):
                use()
    finally:
        end()
    assert policy.round == before
    policy.decide(BATCH[0])


def test_a_ledger_in_use_by_another_thread_says_no():
    ledger = at.streams.Ledger(at.policy("always", n_features=2, costs=SHEET), expire_after=5)
    ledger.decide(BATCH[0], id="a")
    ledger.decide(BATCH[0], id="b")
    ledger.label("b", 1)
    end = busy(ledger.alone)
    try:
        for use in (
            lambda: ledger.decide(BATCH[1], id="c"),
            lambda: ledger.label("a", 1),
            lambda: ledger.correct("b", 0),
            lambda: ledger.retract("b"),
            lambda: ledger.expire(9),
        ):
            with pytest.raises(ThreadsError, match="lock around every use"):
                use()
    finally:
        end()
    assert ledger.counts()["pending"] == 1
    ledger.label("a", 1)


def test_threads_without_a_lock_lose_nothing():
    """Every round is one decision, however many threads were sent away; with a lock all of them get through."""
    ledger = at.streams.Ledger(at.policy("voi", n_features=2, costs=SHEET))
    made, refused, lock = [], [], threading.Lock()

    def work(name, guard):
        for k in range(300):
            with guard:
                try:
                    made.append(ledger.decide(BATCH[k % 40], id=f"{name}-{k}").round)
                except ThreadsError:
                    refused.append(k)

    for guard in (nullcontext(), lock):
        threads = [threading.Thread(target=work, args=(f"{name}{guard is lock}", guard)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(made) == list(range(1, len(made) + 1))
    assert len(ledger) == len(made) == 2400 - len(refused)
    assert len(made) >= 1200  # those with the lock
