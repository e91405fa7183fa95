"""A label of age a counts 2^(-a / half-life), on a clock of items or of time."""

from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import appletaste as at
from appletaste.decision import Observation
from appletaste.errors import OptionError
from appletaste.posteriors.half_life import STEP, Clock, Forgetting

from ...contract.entries import act_on
from ...players import assert_alike, reloaded

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
PRIOR = at.posteriors.Gaussian([0.1, -0.2, 0.3], [[1.0, 0.3, 0.0], [0.3, 2.0, 0.1], [0.0, 0.1, 0.5]])
B, MEAN = np.array(PRIOR.covariance), np.array(PRIOR.mean)


def natural(belief):
    """What the labels say: V^-1 - B^-1 and V^-1 m - B^-1 b."""
    precision = np.linalg.inv(belief.covariance)
    return precision - np.linalg.inv(B), precision @ belief.mean - np.linalg.solve(B, MEAN)


def stream(n, d=3, seed=0, flip=None):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n, d))
    theta = np.linspace(-1.0, 1.5, d)
    sign = np.where(np.arange(n) < (n if flip is None else flip), 1.0, -1.0)
    labels = (rng.random(n) < 1 / (1 + np.exp(-sign * (items @ theta)))).astype(int)
    return items, labels


@pytest.mark.parametrize("posterior", [at.posteriors.Adf(PRIOR, 100), at.posteriors.Laplace(PRIOR, half_life=100)])
def test_what_labels_say_halves_in_a_half_life(posterior):
    items, labels = stream(5)
    belief = posterior.start(3, at.Key(0))
    for x, label in zip(items, labels, strict=True):
        belief.learn(x, label)
    precision, linear = natural(belief)
    for round_ in range(1, 101):
        belief.commit(round_)
    assert belief.clock.moments.tolist() == [100.0, 100.0]
    faded, pulled = natural(belief)
    np.testing.assert_allclose(faded, 0.5 * precision, atol=1e-10)
    np.testing.assert_allclose(pulled, 0.5 * linear, atol=1e-10)
    assert np.abs(faded - precision).max() > 0.1  # the control: it has moved


@pytest.mark.parametrize("posterior", [at.posteriors.Adf(PRIOR, 30), at.posteriors.Laplace(PRIOR, half_life=30)])
def test_without_labels_the_belief_goes_back_to_the_prior(posterior):
    items, labels = stream(40)
    belief = posterior.start(3, at.Key(0))
    for x, label in zip(items, labels, strict=True):
        belief.learn(x, label)
    assert np.abs(belief.mean - MEAN).max() > 0.1
    for round_ in range(1, 2000):
        belief.commit(round_)
        assert np.linalg.eigvalsh(B - belief.covariance).min() > -1e-9  # never less known than by the prior
    np.testing.assert_allclose(belief.mean, MEAN, atol=1e-6)
    np.testing.assert_allclose(belief.covariance, B, atol=1e-6)


def test_adf_takes_the_moments_of_a_label_that_counts_less():
    """One dimension, by brute force: prior x sigma(z)^w, w = 2^(-age / half-life)."""
    belief = at.posteriors.Adf(at.posteriors.Gaussian(0.4, 2.0), half_life=100).start(1, at.Key(0))
    belief.clock.moments[:] = 500.0
    belief.learn(np.array([1.5]), 1, 350.0)
    theta = np.linspace(-15, 15, 60001)
    density = np.exp(-0.25 * (theta - 0.4) ** 2) * (1 / (1 + np.exp(-1.5 * theta))) ** (2**-1.5)
    density /= density.sum()
    mean = (density * theta).sum()
    assert belief.mean[0] == pytest.approx(mean, abs=1e-6)
    assert belief.covariance[0, 0] == pytest.approx((density * (theta - mean) ** 2).sum(), abs=1e-6)


def weighted_mode(items, labels, weights, precision, mean):
    theta = mean.copy()
    for _ in range(50):
        p = 1 / (1 + np.exp(-items @ theta))
        gradient = items.T @ (weights * (labels - p)) - precision @ (theta - mean)
        hessian = (items * (weights * p * (1 - p))[:, None]).T @ items + precision
        theta = theta + np.linalg.solve(hessian, gradient)
    return theta, np.linalg.inv(hessian)


@pytest.mark.parametrize("late", [True, False])
def test_laplace_is_the_mode_of_the_weighted_posterior(late):
    """Against Newton's method by NumPy, with labels late and out of order, or as they come."""
    items, labels = stream(400)
    moments = np.arange(400.0)
    if late:
        np.random.default_rng(2).shuffle(moments)
    belief = at.posteriors.Laplace(PRIOR, half_life=60).start(3, at.Key(0))
    belief.clock.moments[:] = 400.0
    for x, label, moment in zip(items, labels, moments, strict=True):
        belief.learn(x, int(label), moment)
    belief.renew()
    weights = 2 ** (-(400.0 - moments) / 60)
    mode, covariance = weighted_mode(items, labels, weights, np.linalg.inv(B), MEAN)
    np.testing.assert_allclose(belief.mean, mode, atol=2e-3)
    np.testing.assert_allclose(belief.covariance, covariance, rtol=2e-2)
    alike, _ = weighted_mode(items, labels, np.ones(400), np.linalg.inv(B), MEAN)
    assert np.abs(alike - mode).max() > 0.05  # the control: the weights matter


def test_laplace_mean_is_near_the_mean_by_quadrature():
    belief = at.posteriors.Laplace(half_life=10).start(1, at.Key(0))
    theta = np.linspace(-12, 12, 20001)
    log = -0.5 * theta**2
    for t in range(1, 60):
        belief.commit(t)
        belief.learn(np.array([1.0 + 0.02 * t]), t % 3 == 0, float(t))
        z = (1.0 + 0.02 * t) * theta
        log += 2.0 ** ((t - 59) / 10) * ((t % 3 == 0) * z - np.logaddexp(0, z))
    belief.renew()
    density = np.exp(log - log.max())
    density /= density.sum()
    assert belief.mean[0] == pytest.approx((density * theta).sum(), abs=0.05)


@pytest.mark.parametrize("name", ["adf-voi", "voi", "ts"])
def test_an_infinite_half_life_is_none(name):
    items, labels = stream(120)
    plain, endless, fading = (
        at.policy(name, n_features=3, costs=COSTS, seed=3, **options)
        for options in ({}, {"half_life": np.inf}, {"half_life": 40})
    )
    found = []
    for policy in (plain, endless, fading):
        found.append([])
        for x, label in zip(items, labels, strict=True):
            decision = policy.decide(x)
            found[-1].append(decision.probability)
            found[-1] += decision.why.values()
            if decision.act:
                policy.learn(decision, label)
    assert found[0] == found[1]
    assert found[0] != found[2]


@pytest.mark.parametrize("name", ["adf-voi", "voi", "ts"])
@pytest.mark.parametrize("half_life", [3, 100.0, "50s"])
def test_many_at_once_are_as_one_by_one(name, half_life):
    items, labels = stream(300)
    one, many = (at.policy(name, n_features=3, costs=COSTS, seed=3, half_life=half_life) for _ in range(2))
    for policy in (one, many):
        for t in range(100):
            decision = policy.decide(items[t], time=t)
            if decision.act:
                policy.learn(decision, labels[t])
    together = many.decide_many(items[100:], time=117)
    alone = [one.decide(x, time=117) for x in items[100:]]
    assert together.probabilities.tolist() == [decision.probability for decision in alone]
    assert together.acts.tolist() == [decision.act for decision in alone]
    assert together[5].time == alone[5].time
    for ours, theirs in zip(one.learner.arrays().values(), many.learner.arrays().values(), strict=True):
        assert ours.shape == theirs.shape
    np.testing.assert_array_equal(one.learner.belief.covariance, many.learner.belief.covariance)


@pytest.mark.parametrize("name", ["adf-voi", "voi"])
def test_time_passes_for_everybody_alike(name):
    """Dates and the same in seconds; through a ledger and without; saved in between."""
    items, labels = stream(80)
    start = datetime(2024, 5, 1)
    times = [start + timedelta(hours=7 * t) for t in range(80)]
    make = {"n_features": 3, "costs": COSTS, "seed": 3, "randomised": True}
    policy = at.policy(name, half_life="3d", **make)
    ledger = at.streams.Ledger(at.policy(name, half_life=timedelta(days=3), **make))
    for t, (x, label, time) in enumerate(zip(items, labels, times, strict=True)):
        probability = policy.probability(x, time=time)
        assert policy.probability(x, time=time) == probability
        decision, entered = policy.decide(x, time=time), ledger.decide(x, id=str(t), time=time.isoformat())
        assert decision.probability == entered.probability == probability
        if decision.act and t % 2:
            policy.learn(decision, label)
            ledger.label(str(t), label)
    assert ledger.player.probability(items[0], time=times[-1]) == policy.probability(items[0], time=times[-1])
    later = times[-1] + timedelta(days=30)
    asked = [[policy.probability(x, time=time) for x in items] for time in (None, later, None)]
    assert asked[0] == asked[2] != asked[1]


@pytest.mark.parametrize(("name", "half_life"), [("adf-voi", 20), ("adf-voi", "20s"), ("voi", 20), ("voi", "20s")])
def test_saved_and_restored_bit_for_bit(name, half_life, tmp_path):
    items, labels = stream(200)
    ledger = at.streams.Ledger(at.policy(name, n_features=3, costs=COSTS, seed=3, half_life=half_life))
    for t in range(100):
        ledger.decide(items[t], id=str(t), time=float(t))
    for t in range(50):  # half of the labels are still out
        if ledger[str(t)].decision.act:
            ledger.label(str(t), labels[t])
    again = reloaded(ledger, tmp_path / "policy.at")
    for one in (ledger, again):
        for t in range(100, 200):
            one.decide(items[t], id=str(t), time=float(t))
            late = str(t - 50)
            if one[late].decision.act:
                one.label(late, labels[t - 50])
    assert_alike(ledger, again)


def test_a_late_label_counts_by_the_age_of_its_item():
    """Learnt 64 items late, with a half-life of 64, it tells half of what it would have told at once."""
    told = []
    for late in (0, 64):
        policy = at.policy("adf-voi", n_features=3, costs=COSTS, half_life=64, prior=1e-3)
        decision = act_on(policy, [1.0, 2.0, 0.5])
        for _ in range(late):
            policy.decide([0.0, 0.0, 0.0])
        policy.learn(decision, 1)
        told.append((np.linalg.inv(policy.learner.belief.covariance) - 1000 * np.eye(3))[1, 1])
    assert told[1] / told[0] == pytest.approx(0.5, rel=1e-3)


def test_corrections_are_as_a_right_history():
    items, labels = stream(150)
    right, wrong = (at.policy("voi", n_features=3, costs=COSTS, half_life=50, adaptive=False) for _ in range(2))
    changes = []
    for t, (x, label) in enumerate(zip(items, labels, strict=True)):
        decision = act_on(right, x)
        act_on(wrong, x)
        right.learn(decision, label)
        wrong.learn(decision, label if t % 10 else 1 - label)
        if t % 10 == 0:
            changes.append((decision, label))
    off = np.abs(wrong.learner.belief.mean - right.learner.belief.mean).max()
    wrong.revise(changes)
    right.learner.belief.renew()
    np.testing.assert_allclose(wrong.learner.belief.mean, right.learner.belief.mean, atol=1e-3)
    assert off > 0.05
    adf = at.policy("adf-voi", n_features=3, costs=COSTS, half_life=50)
    with pytest.raises(OptionError, match="keeps no labels"):
        adf.correct(decision, 1)


def test_labels_on_their_way_fade_with_the_belief():
    """With labels late, a policy that forgets and waits goes on asking."""
    acts = []
    for options in ({}, {"half_life": 20}):
        costs = at.Costs(miss=1, false_alarm=1.2, hit=0)
        desk = at.streams.Awaiting(at.policy("adf-voi", n_features=2, costs=costs, **options))
        first = [desk.decide([1.0, 0.0]) for _ in range(100)]
        for decision in first:
            if decision.act:
                desk.learn(decision, 0)
        acts.append(sum(desk.decide([1.0, 0.0]).act for _ in range(300)))
    assert acts[0] < acts[1]


def test_a_label_that_will_be_forgotten_is_worth_less():
    items, _ = stream(600)
    values = []
    for half_life in (None, 1e9, 50.0):
        method = at.policies.Bayesian(at.posteriors.Adf(), at.rules.ValueOfInformation(half_life=half_life))
        policy = at.Policy(method, n_features=3, costs=COSTS)
        values.append([policy.decide(x).why["value_of_label"] for x in items])
    assert values[0] == values[1]
    assert values[2][:20] == pytest.approx(values[0][:20])  # 2 t + 10 d rounds ahead are within 72 until then
    assert sum(values[2][300:]) < 0.75 * sum(values[0][300:])


@pytest.mark.parametrize("wrong", [0, -5, np.nan, "", "30", "d", "-3d", "1e-d", "3 months", True, [5], timedelta(0)])
def test_half_lives_that_are_none_are_refused(wrong):
    for make in (at.posteriors.Adf, at.posteriors.Laplace):
        with pytest.raises(OptionError, match="half_life is a number of items > 0"):
            make(half_life=wrong)


@pytest.mark.parametrize("name", ["exact-voi", "pg-ts", "greedy", "cbp-side", "never"])
def test_policies_that_cannot_forget_say_which_can(name):
    with pytest.raises(OptionError, match=r"cannot forget.*adf-voi.*Adf\(half_life"):
        at.policy(name, n_features=2, costs=COSTS, half_life=100)


def test_a_policy_that_forgets_by_time_needs_it():
    policy = at.policy("adf-voi", n_features=1, costs=COSTS, half_life="1h")
    for ask in (policy.decide, at.Desk(policy).decide, policy.decide_many):
        with pytest.raises(OptionError, match="every item needs a time"):
            ask([[1.0]] if ask == policy.decide_many else [1.0])
    assert 0 <= policy.probability([1.0]) <= 1  # as it stands
    with pytest.raises(OptionError, match=r"no approximate posterior to certify.*without a half_life"):
        at.policy("voi", n_features=1, costs=COSTS, half_life=10).certificate()


@given(st.floats(1.0, 1e6), st.lists(st.floats(0.0, 1e7), min_size=1, max_size=30))
def test_a_clock_never_goes_back_and_loses_nothing(half_life, times):
    """The factors multiply to the weight of the time that they refer to, whatever the order of times."""
    clock = Clock(Forgetting(half_life, True))
    product = 1.0
    for time in times:
        factor = clock.advance(time)
        assert 0.0 <= factor <= 1.0
        product *= factor
    last, now = clock.moments
    assert now == max(times)
    assert 0.0 <= now - last < STEP * half_life
    assert product == pytest.approx(2 ** (-(last - times[0]) / half_life), rel=1e-6, abs=1e-300)
    assert clock.weight(last) == 1.0


@pytest.mark.parametrize("name", ["adf-voi", "voi"])
def test_a_history_fades_from_the_moment_that_time_begins(name):
    """On a clock of time a history has no times: it is as old as the first item, and a half-life later counts half."""
    items, labels = stream(200)
    policy = at.policy(name, n_features=3, costs=COSTS, half_life="32s", prior=0.01)
    policy.learn_history(items, labels)
    policy.probability(items[0], time=0.0)  # asking does not begin it
    policy.decide(items[0], time=1000.0)
    before = np.linalg.inv(policy.learner.belief.covariance) - 100 * np.eye(3)
    policy.decide(np.zeros(3), time=1032.0)
    policy.teach(np.zeros(3), 1, time=1032.0)  # an item of zeros tells nothing
    if name == "voi":
        policy.learner.belief.renew()
    after = np.linalg.inv(policy.learner.belief.covariance) - 100 * np.eye(3)
    np.testing.assert_allclose(after, 0.5 * before, rtol=0.05, atol=0.02 * np.abs(before).max())
    asked = at.policy("voi", n_features=3, costs=COSTS, half_life="32s")
    asked.learn_history(items, labels)
    asked.probability(items[0], time=5.0)
    assert np.isnan(asked.learner.belief.label_moments).all()


@pytest.mark.parametrize("name", ["adf-voi", "voi"])
def test_labels_of_decisions_made_elsewhere_bring_their_time(name):
    """Labels taught with their times to a new policy that was told none: as learnt by the one that decided."""
    items, labels = stream(60)
    first, second = (at.policy(name, n_features=3, costs=COSTS, half_life="20s") for _ in range(2))
    for t, (x, label) in enumerate(zip(items, labels, strict=True)):
        decision = act_on(first, x, time=float(t))
        first.learn(decision, label)
        second.teach(x, label, time=float(t))
    np.testing.assert_array_equal(second.posterior.mean, first.posterior.mean)
    np.testing.assert_array_equal(second.posterior.covariance, first.posterior.covariance)
    assert np.abs(first.posterior.mean).max() > 0.1


def test_what_time_it_is_is_carried(tmp_path):
    policy = at.policy("voi", n_features=1, costs=COSTS, half_life="1h")
    policy.advance("2024-05-01T12:00:00")
    policy.save(tmp_path / "it")
    for other in (policy.copy(), at.load(tmp_path / "it")):
        assert other.now == policy.now is not None
        with pytest.raises(OptionError, match="every item needs a time"):
            other.settle(other.look([1.0]))
        other.teach([1.0], 1)  # it came now
        assert other.learner.belief.label_moments.tolist() == [policy.now]


def test_weights_refer_to_the_last_step_and_nobody_comes_from_the_future():
    clock = Clock(Forgetting(320.0, False))
    clock.moments[:] = 100.0, 105.0
    assert clock.weight(60.0) == 2 ** (-40 / 320)
    assert clock.weight(105.0) == 2 ** (5 / 320) == clock.weight(None) == clock.weight(200.0)
    policy = at.policy("voi", n_features=1, costs=COSTS, half_life=320)
    policy.learner.learn(Observation.of(act_on(policy, [1.0])._replace(round=50), 1))
    assert policy.learner.belief.label_moments.tolist() == [1.0]


def test_a_late_label_is_weighed_before_the_next_renewal():
    """A small item, where the curvature is 1/4 whatever the label: it tells half as much a half-life later."""
    items, labels = stream(100)
    x, told = np.array([0.0, 0.05, 0.0]), []
    for moment in (400.0, 300.0):
        belief = at.posteriors.Laplace(PRIOR, half_life=100).start(3, at.Key(0))
        belief.clock.moments[:] = 400.0
        for item, label in zip(items, labels, strict=True):
            belief.learn(item, int(label), 400.0)
        before = np.linalg.inv(belief.covariance)
        assert belief._due > 101
        belief.learn(x, 1, moment)
        told.append((np.linalg.inv(belief.covariance) - before)[1, 1])
    assert told[0] == pytest.approx(0.25 * 0.05**2, rel=0.05)
    assert told[1] / told[0] == pytest.approx(0.5, rel=1e-3)


def test_more_labels_than_there_was_room_for():
    items, labels = stream(1100)
    belief = at.posteriors.Laplace(half_life=20).start(3, at.Key(0))
    for t, (x, label) in enumerate(zip(items, labels, strict=True)):
        belief.commit(t)
        belief.learn(x, int(label), float(t))
    assert belief.label_moments.tolist() == list(range(1100))


def test_a_label_taken_out_takes_its_moment_along():
    items, labels = stream(60)
    policy, without = (at.policy("voi", n_features=3, costs=COSTS, half_life=10, adaptive=False) for _ in range(2))
    made = []
    for t, (x, label) in enumerate(zip(items, labels, strict=True)):
        made.append(act_on(policy, x))
        act_on(without, x)
        policy.learn(made[-1], label)
        if t not in (3, 50):
            without.learn(made[-1], label)
    policy.revise([(made[3], None), (made[50], None)])
    without.learner.belief.renew()
    assert policy.learner.belief.label_moments.tolist() == [t + 1.0 for t in range(60) if t not in (3, 50)]
    np.testing.assert_allclose(policy.posterior.mean, without.posterior.mean, atol=1e-4)
