"""A policy that notices when labels contradict its model, and forgets; one that has no reason to does not."""

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import bets
from appletaste.policies.rounds import PROMPT
from appletaste.posteriors.belief import TRUE
from appletaste.streams.saving import rebuild_player

from ...players import assert_same, state_of

COSTS = at.Costs(miss=3, false_alarm=1, hit=0)


def turning(n, turn, seed, d=3):
    """Items whose coefficients all turn at one of them; n: never."""
    rng = np.random.default_rng([seed, 11])
    X = np.column_stack([np.ones(n), rng.normal(size=(n, d - 1))])
    theta = np.array([-0.5, 2.0, -1.5])[:d]
    signs = np.where(np.arange(n) < turn, 1.0, -1.0)
    return X, (rng.random(n) < 1 / (1 + np.exp(-signs * (X @ theta)))).astype(int)


def play(policy, X, labels, late=0):
    """Return the decisions, with each label learnt so many items after its decision."""
    decisions = []
    for t, x in enumerate(X):
        decisions.append(policy.decide(x))
        if t >= late and decisions[t - late].act:
            policy.learn(decisions[t - late], int(labels[t - late]))
    return decisions


def watchful(seed=0, vigilance=0.01, **more):
    return at.policy("voi", n_features=3, costs=COSTS, seed=seed, vigilance=vigilance, **more)


def test_the_stakes_are_those_of_the_formula(rng):
    """Against every beginning by brute force: an alarm comes with the first stake w_j times growth above 1 / alpha."""
    rate, n = 0.01, 400
    for _ in range(20):
        means, variances = rng.normal(-1, 1, n), rng.uniform(0, 2, n)
        p = 1 / (1 + np.exp(-means / np.sqrt(1 + np.pi * variances / 8)))
        labels = rng.random(n) < 1 / (1 + np.exp(-np.log(p / (1 - p)) - 2 * (np.arange(n) > 100)))
        growth = []
        for shift in (2, -2, None):
            q = np.full(n, 0.5) if shift is None else 1 / (1 + np.exp(-np.log(p / (1 - p)) - shift))
            growth.append(np.log(np.where(labels, q / p, (1 - q) / (1 - p))))
        total = np.cumsum(np.array(growth), axis=1)
        before = np.hstack([np.zeros((3, 1)), total[:, :-1]])
        j = np.arange(1, n + 1)
        weights = 500 / ((j + 499) * (j + 500)) / 3
        wanted = next(
            t
            for t in range(n)
            if (np.log(weights[: t + 1]) + total[:, t, None] - before[:, : t + 1]).max() >= np.log(1 / rate)
        )
        state = np.zeros(bets.ENTRIES)
        found = next(
            t for t in range(n) if bets.bet(means[t], variances[t], *TRUE, float(labels[t]), t, rate, state) >= 0
        )
        assert wanted <= found <= wanted + 12  # the best beginning is followed, not all of them


@pytest.mark.parametrize("sure", [20.0, -20.0])
def test_a_model_that_is_sure_and_right_is_left_alone(sure):
    state = np.zeros(bets.ENTRIES)
    assert max(bets.bet(sure, 0.0, *TRUE, float(sure > 0), k, 0.05, state) for k in range(400_000)) == -1


LATE = PROMPT + 50


@pytest.mark.parametrize("late", [0, LATE])
def test_false_alarms_are_as_rare_as_is_said(late):
    """200 streams in which nothing is wrong, at a rate of 5 %; at most that and three standard errors."""
    alarms = 0
    for seed in range(200):
        policy = watchful(seed, vigilance=0.05)
        X, labels = turning(500 + late, 10**9, seed)
        play(policy, X, labels, late)
        alarms += bool(policy.learner.changes)
    assert alarms <= 10 + 3 * np.sqrt(200 * 0.05 * 0.95)


def test_labels_that_come_later_for_one_class_are_no_alarm():
    """Positives after 250 items, negatives after 500: the first are all positive. 60 streams at a rate of 5 %."""
    alarms = 0
    for seed in range(60):
        policy, (X, labels) = watchful(seed, vigilance=0.05), turning(1200, 10**9, seed)
        decisions, due = [], {}
        for t, x in enumerate(X):
            decisions.append(policy.decide(x))
            if decisions[t].act:
                due.setdefault(t + (250 if labels[t] else 500), []).append(t)
            for k in due.pop(t, []):
                policy.learn(decisions[k], int(labels[k]))
        alarms += bool(policy.learner.changes)
    assert alarms <= 3 + 3 * np.sqrt(60 * 0.05 * 0.95)


def test_bets_on_a_late_block_are_those_of_the_formula(rng):
    """The power 0.7 of each bet, and the mean worst for each label that is missing."""
    n, missing = 9, 2
    means, variances, labels = rng.normal(-1, 1, n), rng.uniform(0, 2, n), (rng.random(n) < 0.5).astype(float)
    p = 1 / (1 + np.exp(-means / np.sqrt(1 + np.pi * variances / 8)))
    state = np.zeros(bets.ENTRIES)
    state[bets.STAKE : bets.STAKE + bets.BETS] = 30.0  # far from 0, and no alarm at so small a rate
    assert bets.bet_late(means, variances, *TRUE, labels, np.arange(n) * 1.0, missing, 1e-300, state) == -1
    shifted = [1 / (1 + np.exp(-np.log(p / (1 - p)) - shift)) for shift in (2, -2)]
    for one, q in enumerate([*shifted, 1 / 2, 1 / 8, 1 / 32]):
        won, lost = np.log(q / p), np.log((1 - q) / (1 - p))
        wanted = 30.0 + 0.7 * (np.where(labels == 1, won, lost).sum() + missing * np.minimum(won, lost).mean())
        assert state[bets.STAKE + one] == pytest.approx(wanted, rel=1e-12)


def test_a_change_is_noticed_and_pays():
    """40 streams that turn in the middle: noticed in a tenth of the rest in nearly all, and far cheaper."""
    saved, delays = [], []
    for seed in range(40):
        X, labels = turning(2000, 1000, seed)
        costs = []
        for vigilance in (0.0, 1e-4):
            policy = watchful(seed, vigilance)
            acts = np.array([decision.act for decision in play(policy, X, labels)])
            costs.append(np.where(acts, np.where(labels == 1, 0.0, 1.0), 3.0 * labels).sum())
        saved.append(costs[0] - costs[1])
        delays += [change.round - 1000 for change in policy.learner.changes[:1]]
    assert len(delays) == 40
    assert np.quantile(delays, 0.9) < 100
    assert min(delays) > 0
    assert np.mean(saved) > 3 * np.std(saved, ddof=1) / np.sqrt(40)


def test_a_change_is_noticed_by_late_labels_too():
    """20 streams that turn: noticed once labels from after the turn arrive, in most within 200 items; and it pays."""
    saved, delays = [], []
    for seed in range(20):
        X, labels = turning(2500, 1000, seed)
        costs = []
        for vigilance in (0.0, 1e-4):
            policy = watchful(seed, vigilance)
            acts = np.array([decision.act for decision in play(policy, X, labels, LATE)])
            costs.append(np.where(acts, np.where(labels == 1, 0.0, 1.0), 3.0 * labels).sum())
        saved.append(costs[0] - costs[1])
        delays += [change.round - 1000 - LATE for change in policy.learner.changes[:1]]
    assert len(delays) == 20
    assert np.median(delays) < 200
    assert min(delays) > 0
    assert np.mean(saved) > 3 * np.std(saved, ddof=1) / np.sqrt(20)


def test_labels_of_which_half_never_come_are_not_bet_on():
    X, labels = turning(1500, 700, 3)
    some = watchful(3)  # half of the labels at once, the other half never: those that come are of another kind
    for t, (x, label) in enumerate(zip(X, labels, strict=True)):
        decision = some.decide(x)
        if decision.act and t % 2:
            some.learn(decision, int(label))
    assert not some.learner.changes
    taught = watchful(3)
    for x, label in zip(X, labels, strict=True):
        taught.teach(x, int(label))
    assert not taught.learner.changes


@pytest.fixture(params=[0, LATE])
def changed(request):
    X, labels = turning(1500, 700, 5)
    policy = watchful(5)
    decisions = play(policy, X, labels, request.param)
    assert policy.learner.changes
    known = decisions[: len(decisions) - request.param]
    return policy, [decision for decision in known if decision.act], X, labels


def test_a_forgotten_label_can_be_corrected_and_changes_nothing(changed):
    policy, acted, _, labels = changed
    forgotten = sum(change.forgotten for change in policy.learner.changes)
    assert 0 < forgotten < len(acted)
    before = policy.posterior.mean
    first, second, last = acted[0], acted[1], acted[-1]
    policy.correct(first, 1 - int(labels[first.round - 1]))
    policy.retract(second)
    np.testing.assert_array_equal(policy.posterior.mean, before)
    policy.learn(second, 1)  # known again, as a new label
    assert not np.array_equal(policy.posterior.mean, before)
    again = policy.posterior.mean
    policy.correct(last, 1 - int(labels[last.round - 1]))
    assert not np.array_equal(policy.posterior.mean, again)
    policy.correct(last, int(labels[last.round - 1]))
    np.testing.assert_allclose(policy.posterior.mean, again, atol=1e-2)


def test_a_saved_policy_goes_on_bit_for_bit(changed, tmp_path):
    policy, _, X, labels = changed
    policy.save(tmp_path / "policy.at")
    other = at.load(tmp_path / "policy.at")
    assert other.learner.changes == policy.learner.changes
    for one in (policy, other):
        play(one, -X[:300], 1 - labels[:300])
        play(one, -X[:600], 1 - labels[:600], LATE)
    assert_same(state_of(policy), state_of(other))


def test_a_label_that_is_withdrawn_leaves_the_others_of_its_block_in_their_places(tmp_path):
    X, labels = turning(700, 10**9, 4)
    policy = watchful(4)
    acted = [decision for decision in play(policy, X, labels, LATE)[: 700 - LATE] if decision.act]
    policy.retract(acted[-3])
    policy.save(tmp_path / "policy.at")
    twin = at.load(tmp_path / "policy.at")
    for one in (policy, twin):
        play(one, X[:300], labels[:300], LATE)
        one.learn(acted[-3], 1)
    assert_same(state_of(policy), state_of(twin))


def test_a_rebuilt_policy_is_the_same(changed):
    policy, _, _, _ = changed
    player = rebuild_player(policy.header(), policy.arrays())
    assert_same(state_of(policy), state_of(player))


@pytest.mark.parametrize("late", [0, LATE])
def test_a_stream_notices_as_its_rehearsal_does(tmp_path, late):
    """Closed and opened again after every 250 items, before, between and after alarms."""
    X, labels = turning(1500, 500, 2)
    address = str(tmp_path / "shop.db")
    at.Stream.create(address, "turning", at.streams.Awaiting(watchful(2)), seed=2).close()
    ledger, acts = at.streams.Ledger(at.streams.Awaiting(watchful(2))), []
    for begin in range(0, 1500, 250):
        with at.Stream.open(address, "turning") as stream:
            for t in range(begin, begin + 250):
                one, other = stream.decide(X[t], id=str(t)), ledger.decide(X[t], id=str(t))
                assert (one.act, one.probability, one.chance) == (other.act, other.probability, other.chance)
                acts.append(one.act)
                if t >= late and acts[t - late]:
                    stream.label(str(t - late), int(labels[t - late]))
                    ledger.label(str(t - late), int(labels[t - late]))
            changes = stream.player.policy.learner.changes
    assert changes == ledger.player.policy.learner.changes != ()
    with at.Stream.open(address, "turning") as stream:
        assert stream.verify().decisions == 1500


def test_a_replay_says_when():
    X, labels = turning(1000, 500, 2)
    table = {"x": X[:, 1], "z": X[:, 2], "bad": labels}
    found = at.replay(table, "bad", costs={"miss": 3, "false_alarm": 1, "hit": 0}, order="as is")
    assert any("labels contradict the model" in str(note) for note in found.notes)


@pytest.mark.parametrize("wrong", [-0.1, 2.0, "often", float("nan")])
def test_what_is_no_rate_is_refused(wrong):
    with pytest.raises(at.errors.OptionError, match="vigilance"):
        watchful(vigilance=wrong)
