"""``policy.posterior``: what is believed, asked from outside."""

import numpy as np
import pytest

import appletaste as at

from ...contract.entries import act_on

COSTS = at.Costs(miss=1.0, false_alarm=0.6, hit=0.05)


def taught(name, labels=60, **options):
    policy = at.policy(name, n_features=3, costs=COSTS, seed=5, **options)
    rng = np.random.default_rng(8)
    for _ in range(labels):
        x = rng.normal(size=3)
        label = int(rng.random() < 1 / (1 + np.exp(-2 * x[0])))
        policy.decide(x)
        policy.teach(x, label)
    return policy


@pytest.mark.parametrize("name", ["voi", "ts", "adf-voi", "pg-ts", "exact-ts"])
def test_draws_agree_with_mean_and_covariance_and_with_the_score(name):
    """4000 draws: a mean is off by sd / sqrt(4000) if independent; 6 of these, and twice that for chains."""
    policy = taught(name)
    posterior, x = policy.posterior, np.array([1.0, -0.5, 0.3])
    draws = posterior.draws(4000)
    assert draws.shape == (4000, 3)
    spread = draws.std(axis=0)
    assert (np.abs(draws.mean(axis=0) - posterior.mean) < 8 * spread / np.sqrt(400)).all()
    ratio = np.diag(np.cov(draws, rowvar=False)) / np.diag(posterior.covariance)
    assert ((ratio > 0.6) & (ratio < 1.6)).all()
    scores = draws @ x
    assert abs(posterior.score(x).mean - scores.mean()) < 3 * scores.std()
    assert posterior.mean[0] > 3 * abs(spread[0]) / 2  # the feature that matters, after 60 labels


def test_a_gaussian_posterior_is_shown_as_it_is():
    policy = taught("voi")
    belief, x = policy.learner.belief, np.array([1.0, -0.5, 0.3])
    assert (policy.posterior.mean == belief.mean).all()
    assert (policy.posterior.covariance == belief.covariance).all()
    assert policy.posterior.score(x).variance == pytest.approx(x @ belief.covariance @ x)
    assert policy.posterior.belief is belief


def test_it_is_a_window_on_what_is_learnt_later():
    policy = taught("voi")
    posterior, before = policy.posterior, policy.posterior.mean
    decision = act_on(policy, [2.0, 0.0, 0.0])
    policy.learn(decision, 0)
    assert (posterior.mean != before).any()
    policy.correct(decision, 1)  # puts another belief in its place
    assert (posterior.mean == policy.posterior.mean).all()


@pytest.mark.parametrize("name", ["voi", "pg-ts", "exact-ts", "exact-voi", "greedy"])
def test_asking_changes_nothing_and_answers_the_same(name):
    asked, left = taught(name, labels=150), taught(name, labels=150)
    for k in range(20):
        if name != "greedy":
            assert (asked.posterior.draws(70) == asked.posterior.draws(70)).all()
        assert (asked.posterior.mean == asked.posterior.mean).all()
        x = np.array([1.0, 0.1 * k, -1.0])
        mine, other = asked.decide(x), left.decide(x)
        assert (mine.probability, mine.act) == (other.probability, other.act)
        asked.posterior.score(x)
        for policy in (asked, left):
            policy.teach(x, k % 2)


def test_a_point_has_a_mean_only():
    posterior = taught("greedy").posterior
    assert posterior.is_point
    assert posterior.mean[0] > 0.5
    with pytest.raises(at.errors.OptionError, match="greedy believes a single theta"):
        posterior.draws(3)
    with pytest.raises(at.errors.OptionError, match="greedy"):
        _ = posterior.covariance


@pytest.mark.parametrize("name", ["cbp-side", "suplogistic", "always", "never"])
def test_a_policy_without_a_posterior_says_so(name):
    policy = at.policy(name, n_features=3, costs=COSTS)
    with pytest.raises(at.errors.OptionError, match=name):
        _ = policy.posterior


@pytest.mark.parametrize("n", [0, -1, 2.5, True])
def test_a_number_of_draws_is_whole(n):
    with pytest.raises(at.errors.InputError, match="number of draws"):
        taught("voi", labels=1).posterior.draws(n)


@pytest.mark.parametrize("name", ["voi", "pg-ts", "exact-voi", "adf-voi", "cbp-side", "greedy"])
def test_a_copy_continues_alone_and_alike(name):
    policy = taught(name)
    twin, untouched = policy.copy(), taught(name)
    rng = np.random.default_rng(3)
    for _ in range(30):
        x = rng.normal(size=3)
        assert twin.probability(x) == untouched.probability(x)
        mine, other = act_on(twin, x), act_on(untouched, x)
        assert (mine.probability, mine.act, mine.round) == (other.probability, other.act, other.round)
        twin.learn(mine, 1)
        untouched.learn(other, 1)
    assert policy.round == 60
    if name == "voi":  # the copy knows which label belongs to which decision
        twin.retract(mine)


@pytest.mark.parametrize("name", ["pg-ts", "exact-ts", "voi"])
def test_no_draw_comes_twice_and_another_round_has_others(name):
    policy = at.policy(name, n_features=2, costs=COSTS, seed=3)
    for k in range(30):
        policy.decide([1.0, 0.1 * k])
        policy.teach([1.0, 0.1 * k], k % 2)
    draws = policy.posterior.draws(300)
    assert len(np.unique(draws, axis=0)) > 200  # a chain of Metropolis steps may stay where it is
    policy.decide([1.0, 0.5])
    assert not np.array_equal(policy.posterior.draws(300), draws)
