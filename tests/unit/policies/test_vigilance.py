"""A policy that notices when labels contradict its model, and forgets; one that has no reason to does not."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import bets
from appletaste.policies.rounds import BEHIND, LOST, PROMPT, Rounds
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


def test_bets_on_labels_in_their_turn_are_those_that_the_model_knows_nothing(rng):
    """Rates alone, at full power; where they have won, and are not believed, stakes fall by a factor of 10."""
    means, variances, labels = rng.normal(-1, 1, 50), rng.uniform(0, 2, 50), (rng.random(50) < 0.5).astype(float)
    p = 1 / (1 + np.exp(-means / np.sqrt(1 + np.pi * variances / 8)))
    growth = [np.where(labels == 1, np.log(q / p), np.log((1 - q) / (1 - p))).sum() for q in (1 / 2, 1 / 8, 1 / 32)]
    state = np.zeros(bets.ENTRIES)
    state[bets.RATE : bets.BETS] = 300.0
    for k in range(50):
        assert bets.bet_in_order(means[k], variances[k], labels[k], k, 1e-300, state) == -1
    np.testing.assert_allclose(state[bets.RATE : bets.BETS], 300.0 + np.array(growth), rtol=1e-12)
    assert not state[: bets.RATE].any()
    before = state.copy()
    assert bets.bet_in_order(0.0, 0.0, 1.0, 50, 0.05, state) >= 0
    won = before[bets.RATE : bets.BETS] + np.log(np.array([1 / 2, 1 / 8, 1 / 32]) / 0.5)
    np.testing.assert_allclose(state[bets.RATE : bets.BETS], won - np.log(10), rtol=1e-12)


@pytest.mark.parametrize("right", [True, False])
def test_bets_on_labels_in_their_turn_win_as_seldom_as_is_said(right):
    """200 streams of 2,000 labels at a rate of 5 %: at most that and three standard errors, but of a wrong model."""
    rng, alarms = np.random.default_rng(21), 0
    for _ in range(200):
        means = rng.normal(-1, 1.5, 2000)
        odds = means if right else means - 1.0
        labels = (rng.random(2000) < 1 / (1 + np.exp(-odds))).astype(float)
        state = np.zeros(bets.ENTRIES)
        alarms += any(bets.bet_in_order(means[k], 0.0, labels[k], k, 0.05, state) >= 0 for k in range(2000))
    assert (alarms <= 10 + 3 * np.sqrt(200 * 0.05 * 0.95)) == right


@pytest.mark.parametrize(("slope", "level"), [(1, 0), (1, -2), (-1, 0), (-1, -1), (0, -1)])
def test_a_model_is_outdone_by_labels_that_rank_the_other_way(slope, level):
    """Against the best level of a fine grid; labels that rank as the model does never outdo it, at whatever level."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng([seed, 5])
        means, variances = rng.normal(0, 1.5, 200), rng.uniform(0, 1, 200)
        z = means / np.sqrt(1 + np.pi * variances / 8)
        labels = (rng.random(200) < 1 / (1 + np.exp(-slope * z - level))).astype(float)
        at_level = z + np.linspace(-8, 8, 3201)[:, None]
        best = (labels * at_level - np.logaddexp(0, at_level)).sum(axis=1).max()
        rate = labels.mean()
        flat = 200 * (rate * np.log(rate) + (1 - rate) * np.log(1 - rate))
        wanted = flat - best > np.log(10) and z[labels == 1].mean() < z[labels == 0].mean()
        found.append(bets.outdone(means, variances, labels))
        assert found[-1] == wanted
    assert all(found) if slope < 0 else not any(found) if slope > 0 else True


def test_labels_all_alike_outdo_nobody():
    z, none = np.linspace(-1, 1, 9), np.zeros(9)
    assert not bets.outdone(z, none, none)
    assert not bets.outdone(z, none, none + 1)


def test_which_labels_come_in_their_turn():
    """In the order of decisions: yes. By class, or as it happens: no. Against the definition, after every label."""
    rng, n = np.random.default_rng(3), 1200
    for delays, most in (
        (np.full(n, 300.0), 1.0),
        (np.where(rng.random(n) < 0.3, 200.0, 700.0), 0.1),
        (rng.exponential(400, n), 0.1),
    ):
        rounds, x, told = Rounds(), np.ones(1), 0
        acts, learnt, due = rng.random(n) < 0.6, np.zeros(n, dtype=bool), np.arange(n) + delays
        for now in range(n):
            rounds.decided(x, bool(acts[now]))
            for k in np.flatnonzero(acts[: now + 1] & ~learnt[: now + 1] & (due[: now + 1] <= now)):
                front = int(np.flatnonzero(learnt)[-1]) + 1 if learnt.any() else 0
                before = int((acts & ~learnt)[: max(front, k + 1)].sum()) - 1
                wanted = before <= BEHIND + LOST * (now + 1) and (k + 1 > front or k + 1 > front - PROMPT)
                assert rounds.in_order(k + 1) == wanted
                told += wanted
                learnt[k] = True
                rounds.learnt(int(k) + 1, kept=True)
        assert told == learnt.sum() if most == 1.0 else told <= most * learnt.sum()


def test_what_is_done_otherwise_counts_for_the_turn_of_labels():
    """Enacted, saved and read back: the same as counted afresh."""
    rng, rounds, x = np.random.default_rng(4), Rounds(), np.ones(1)
    for _ in range(600):
        rounds.decided(x, bool(rng.random() < 0.5))
    for round_ in rng.permutation(np.arange(1, 601))[:400].tolist():
        if rounds.awaits(round_, x) and rng.random() < 0.7:
            rounds.learnt(round_, kept=True)
        else:
            rounds.enacted(round_, x, bool(rng.random() < 0.5))
        again = Rounds()
        again.restore(rounds.arrays(), 600)
        assert [again.in_order(k) for k in range(1, 601, 7)] == [rounds.in_order(k) for k in range(1, 601, 7)]


def heedful(seed, in_order, vigilance=1e-4):
    """A policy that watches late labels one by one, or one of before that does not."""
    policy = watchful(seed, vigilance)
    method = replace(policy.method, in_order=in_order)
    return at.Policy(method, n_features=3, costs=COSTS, seed=seed, name="voi")


def test_a_change_is_noticed_earlier_where_late_labels_come_in_their_turn():
    """12 streams whose coefficients turn, labels 400 items late: earlier in most, and cheaper."""
    late, delays, costs = 400, {True: [], False: []}, {True: [], False: []}
    for seed in range(12):
        X, labels = turning(2200, 900, seed)
        for in_order in (True, False):
            policy = heedful(seed, in_order)
            acts = np.array([decision.act for decision in play(policy, X, labels, late)])
            costs[in_order].append(np.where(acts, np.where(labels == 1, 0.0, 1.0), 3.0 * labels).sum())
            delays[in_order].append(policy.learner.changes[0].round - 900 - late)
    saved = np.subtract(costs[False], costs[True])
    assert min(delays[True]) > 0
    assert np.median(delays[True]) < 0.7 * np.median(delays[False])
    assert saved.mean() > 3 * saved.std(ddof=1) / np.sqrt(12)


def test_a_level_that_moves_is_no_reason_to_forget():
    """20 streams in which positives become rarer for a while: these bets win, and nothing is forgotten for it."""
    asked = []

    def ask(places, round_, model):
        asked.append(model(places, round_))
        return asked[-1]

    for seed in range(20):
        rng, n = np.random.default_rng([seed, 12]), 2400
        X = np.column_stack([np.ones(n), rng.normal(size=(n, 2))])
        level = np.where((np.arange(n) // 600) % 2 == 1, -1.7, 0.0)
        labels = (rng.random(n) < 1 / (1 + np.exp(-(X @ np.array([-0.5, 2.0, -1.5])) - level))).astype(int)
        policy = heedful(seed, True, vigilance=0.05)
        policy.learner._outdone = partial(ask, model=policy.learner._outdone)
        play(policy, X, labels, 400)
    assert len(asked) > 5  # without the question each would have been an alarm
    assert not any(asked)


def test_a_stream_of_before_goes_on_as_it_did():
    """Nothing of it in the header, nor in what is carried."""
    policy = heedful(5, False)
    assert "in_order" not in str(policy.header())
    assert "turns" not in policy.arrays()
    assert heedful(5, True).header()["method"]["in_order"] is True
    assert "in_order" not in str(watchful(5, vigilance=0.0).header())


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
