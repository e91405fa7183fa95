"""The posterior under labels of reviewers who err: its slopes, its moments, what labels are worth, what is refused."""

import math

import numpy as np
import pytest
from scipy import integrate, optimize

import appletaste as at
from appletaste.errors import OptionError
from appletaste.kernels import bets, renewal, reviewed, value
from appletaste.kernels import gaussian as kernels
from appletaste.kernels.gaussian import adf_step
from appletaste.kernels.linear import BLOCK
from appletaste.kernels.logistic import GRADIENT, make_work
from appletaste.posteriors import Laplace, link_of

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
S, C = 0.9, 0.95


def sigma(z):
    return 0.5 * (1.0 + np.tanh(0.5 * z))


def called(z, rng, s=S, c=C):
    """Labels of reviewers who err."""
    return np.where(rng.random(len(z)) < sigma(z), rng.random(len(z)) < s, rng.random(len(z)) >= c).astype(int)


def likelihood(z, labels, s=S, c=C):
    q = (1 - c) + (s + c - 1) * sigma(z)
    return np.log(np.where(labels == 1, q, 1 - q))


def taught(items, labels, s=S, c=C, **options):
    belief = Laplace(sensitivity=s, specificity=c, **options).start(items.shape[1], at.Key(3))
    for x, label in zip(items, labels, strict=True):
        belief.learn(x, int(label))
    return belief


def block(items):
    found = np.zeros((items.shape[1], BLOCK))
    found[:, : len(items)] = items.T
    return found


@pytest.mark.parametrize(("s", "c"), [(0.9, 0.95), (1.0, 0.98), (0.6, 1.0), (1.0, 1.0)])
def test_the_slopes_are_those_of_the_likelihood(rng, s, c):
    n, d = 40, 3
    items, theta = 2.0 * rng.normal(size=(n, d)), rng.normal(size=d)
    labels = rng.integers(0, 2, n).astype(float)
    work, hessian = make_work(d)
    hessian[:], work[GRADIENT, :d] = 0.0, 0.0

    def height(t):
        return reviewed.reviewed_likelihood(block(items), 0, n, labels, 0, t, 1 - c, 1 - s, work)

    assert height(theta) == pytest.approx(likelihood(items @ theta, labels, s, c).sum(), rel=1e-12)
    gradient = np.zeros(d)
    reviewed.add_reviewed_block(block(items), 0, n, labels, 0, theta, 1 - c, 1 - s, gradient, hessian, work)
    steps = 1e-5 * np.eye(d)
    wanted = [(height(theta + e) - height(theta - e)) / 2e-5 for e in steps]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6, atol=1e-7)
    # the information is the mean over both labels of minus the second slope
    z, h = items @ theta, 1e-4
    q = np.exp(likelihood(z, np.ones(n), s, c))
    bend = [
        (likelihood(z + h, y, s, c) - 2 * likelihood(z, y, s, c) + likelihood(z - h, y, s, c)) / h**2
        for y in (np.zeros(n), np.ones(n))
    ]
    told = -(q * bend[1] + (1 - q) * bend[0])
    wanted = (items.T * told) @ items
    np.testing.assert_allclose(np.tril(hessian), np.tril(wanted), rtol=1e-5, atol=1e-6)
    assert told.min() > 0


@pytest.mark.parametrize(("s", "c"), [(0.9, 0.95), (0.6, 1.0), (1.0, 1.0)])
def test_the_correction_for_skew_has_the_third_slope(rng, s, c):
    n, d = 30, 2
    items, theta = rng.normal(size=(n, d)), np.array([1.0, -2.0])
    labels = rng.integers(0, 2, n).astype(float)
    root = rng.normal(size=(d, d))
    covariance = root @ root.T
    kept = np.tril(covariance) + np.tril(covariance, -1)
    work, hessian = make_work(d)
    hessian[:] = 0.0
    reviewed.add_reviewed_block(block(items), 0, n, labels, 0, theta, 1 - c, 1 - s, np.zeros(d), hessian, work)
    found = np.zeros(d)
    reviewed.add_reviewed_skew(block(items), 0, n, labels, 0, 1 - c, 1 - s, kept, found, work)
    z, h = items @ theta, 1e-2

    def at_(k):
        return likelihood(z + k * h, labels, s, c)

    third = (at_(-3) - 8 * at_(-2) + 13 * at_(-1) - 13 * at_(1) + 8 * at_(2) - at_(3)) / (8 * h**3)
    wanted = -(third * np.einsum("ni,ij,nj->n", items, covariance, items)) @ items
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize(("f", "v"), [(0.3, 0.5), (-4.0, 2.0), (3.0, 9.0)])
def test_one_label_moves_the_belief_by_its_moments(f, v, label):
    least = 1 - C if label else 1 - S

    def density(z):
        return math.exp(-0.5 * (z - f) ** 2 / v) * (least + (S + C - 1) * sigma(z if label else -z))

    ends = f - 12 * math.sqrt(v), f + 12 * math.sqrt(v)
    mass, first, second = (integrate.quad(lambda z, k=k: z**k * density(z), *ends, limit=200)[0] for k in range(3))
    mean = first / mass
    pull, shrink = adf_step(f, v, label, 1.0, least, S + C - 1)
    assert f + v * pull == pytest.approx(mean, abs=1e-6)
    assert v - v * v * shrink == pytest.approx(second / mass - mean**2, rel=1e-5)


def test_a_label_against_all_odds_is_doubted_and_widens_the_belief():
    pull, shrink = adf_step(-4.0, 1.0, 1.0, 1.0, 0.05, 0.9)
    sure_pull, sure_shrink = adf_step(-4.0, 1.0, 1.0, 1.0, 0.0, 1.0)
    assert 0 < pull < 0.6 * sure_pull
    assert shrink < 0 < sure_shrink


@pytest.mark.parametrize("n", [30, 60, 400, 3000])
@pytest.mark.parametrize("skew", [False, True])
def test_the_belief_is_the_posterior_in_two_dimensions(n, skew):
    """Mean and spread against a sum over a grid, in posterior deviations; labels taken as true are far off."""
    rng = np.random.default_rng([n, 1])
    items = np.column_stack([np.ones(n), rng.normal(size=n)])
    labels = called(items @ np.array([-2.0, 1.5]), rng)
    belief = taught(items, labels, skew=skew)
    mean, covariance = on_a_grid(items, labels, belief)
    spread = np.sqrt(covariance.diagonal())
    off = np.abs(belief.mean - mean) / spread
    assert off.max() < (0.15 if skew and n >= 400 else 0.45)
    ratio = np.sqrt(belief.covariance.diagonal()) / spread
    assert 0.75 < ratio.min() <= ratio.max() < 1.25
    if n >= 400:
        wrong = taught(items, labels, 1.0, 1.0, skew=skew)
        assert (np.abs(wrong.mean - mean) / spread).max() > 0.8


def on_a_grid(items, labels, belief):
    """Return mean and covariance of the posterior under N(0, I)."""
    root = 8.0 * np.sqrt(belief.covariance.diagonal())
    axes = [np.linspace(m - r, m + r, 201) for m, r in zip(belief.mean, root, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 2)
    logs = -0.5 * (points**2).sum(1)
    for x, label in zip(items, labels, strict=True):
        logs += likelihood(points @ x, np.full(len(points), label))
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ points
    return mean, (points - mean).T @ ((points - mean) * weights[:, None])


@pytest.mark.parametrize("seed", range(6))
def test_the_steps_of_scoring_end_at_a_mode(seed):
    """No gradient is left, and no start of an optimiser of SciPy's finds a place that is higher."""
    rng = np.random.default_rng([seed, 7])
    n, d = 300, 4
    items = 2.0 * rng.normal(size=(n, d))
    labels = called(items @ rng.normal(size=d), rng, 0.8, 0.85)
    belief = taught(items, labels, 0.8, 0.85)
    mode = belief.matrix[kernels.MODE]

    def depth(t):
        return 0.5 * t @ t - likelihood(items @ t, labels, 0.8, 0.85).sum()

    best = min((optimize.minimize(depth, start) for start in rng.normal(size=(8, d))), key=lambda found: found.fun)
    off = best.x - mode
    # the last pass is some labels old, by which the mode moves some tenths of a deviation
    assert off @ np.linalg.solve(belief.covariance, off) < 0.3**2 * d
    assert depth(mode) < best.fun + 0.1


def test_labels_hardly_ever_wrong_are_as_good_as_true(rng):
    items = rng.normal(size=(500, 3))
    labels = (rng.random(500) < sigma(items @ np.array([1.0, -1.0, 0.5]))).astype(int)
    for skew in (False, True):
        one, other = taught(items, labels, 1 - 1e-12, 1 - 1e-12, skew=skew), taught(items, labels, 1.0, 1.0, skew=skew)
        assert type(one) is not type(other)
        off = one.mean - other.mean
        assert off @ np.linalg.solve(other.covariance, off) < 0.2**2
        np.testing.assert_allclose(one.covariance, other.covariance, rtol=0.1, atol=2e-3)
        assert one.certificate().acceptance == pytest.approx(other.certificate().acceptance, abs=0.05)


def test_the_certificate_is_the_acceptance_rate():
    """Against the same expectation by quadrature in one dimension, averaged over streams of random numbers."""
    items, labels = np.full((16, 1), 2.0), np.array([1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0])
    prior = at.posteriors.Gaussian(0.0, 1.0)
    found = []
    for seed in range(200):
        belief = Laplace(prior, sensitivity=S, specificity=C).start(1, at.Key(seed))
        belief.warned = True  # one pass alone is too noisy to judge by
        for x, label in zip(items, labels, strict=True):
            belief._marks[renewal.ACCEPTANCE] = -1.0  # forget: only the last pass counts
            belief.learn(x, int(label))
        found.append(belief.certificate().acceptance)
    exact = {}
    for s, c in ((S, C), (1.0, 1.0)):
        grid = belief.mean[0] + np.linspace(-9, 9, 1801) * math.sqrt(belief.covariance[0, 0])
        logs = sum(likelihood(2.0 * grid, np.full(len(grid), y), s, c) for y in labels) - grid**2 / 2
        gaussian = np.exp(-0.5 * (grid - belief.mean[0]) ** 2 / belief.covariance[0, 0])
        gaussian /= gaussian.sum()
        w = np.exp(logs - logs.max()) / gaussian
        w /= gaussian @ w
        exact[s] = gaussian @ np.minimum.outer(w, w) @ gaussian
    error = np.std(found) / math.sqrt(200)
    assert abs(np.mean(found) - exact[S]) < 4 * error + 0.02  # a ratio of means of eight is biased a little
    assert exact[S] < 0.95
    assert abs(np.mean(found) - exact[1.0]) > 4 * error + 0.02  # of labels that are true


def test_a_label_that_may_be_wrong_is_worth_less():
    """By the share of Fisher's information that is left, to the rule and to what waits for labels."""
    true = at.policy("voi", n_features=2, costs=COSTS, trees=False, surprises=0.0)
    doubted = at.policy("voi", n_features=2, costs=COSTS, surprises=0.0, sensitivity=S, specificity=C)
    for x in ([1.0, 0.5], [1.0, -2.0]):
        told = {}
        for name, policy in (("true", true), ("doubted", doubted)):
            told[name] = policy.decide(np.array(x)).why["value_of_label"]
        assert 0 < told["doubted"] < told["true"]
    settings = np.array([1.0, 3.0, 8.0, 0.0, value.DOUBLE, 0.0, math.inf, 2.0, *link_of(S, C)])
    found = value.weigh_forms(5, 1.0, 0.2, 0.1, 0.3, 0.15, 0.5, 0.1, settings)
    q = (1 - C) + (S + C - 1) * 0.3
    assert found[5] == pytest.approx(((S + C - 1) * 0.15) ** 2 / (q * (1 - q)), rel=1e-12)
    belief = taught(np.eye(2), [0, 1])
    awaited = belief.matrix.copy()
    x = np.array([1.0, 1.0])
    mean, v = kernels.score_item(x, awaited)
    p = sigma(mean / math.sqrt(1 + math.pi * v / 8))
    q = (1 - C) + (S + C - 1) * p
    w = ((S + C - 1) * p * (1 - p)) ** 2 / (q * (1 - q))
    kernels.expect(x, *belief.link, awaited)
    wanted = np.linalg.inv(np.linalg.inv(belief.covariance) + w * np.outer(x, x))
    np.testing.assert_allclose(awaited[kernels.COVARIANCE :], wanted, rtol=1e-9)


def test_bets_are_on_what_reviewers_say():
    """Of 1 % positives a desk with a specificity of 95 % calls 6 % positive: no contradiction, if one knows."""
    rng = np.random.default_rng(8)
    labels = rng.random(3000) < 0.05 + 0.9 * 0.01

    def alarms(link):
        state = np.zeros(bets.ENTRIES)
        state[bets.ALARM] = -1.0
        return max(bets.bet(math.log(0.01 / 0.99), 0.0, *link, float(y), k, 1e-4, state) for k, y in enumerate(labels))

    assert alarms(link_of(0.95, 0.95)) == -1
    assert alarms(link_of(1.0, 1.0)) >= 0


def test_chances_are_of_the_truth(rng):
    n = 4000
    items = np.column_stack([np.ones(n), rng.normal(size=n)])
    z = items @ np.array([-3.0, 1.0])
    labels = called(z, rng, 0.95, 0.95)
    costs = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
    doubted = at.policy("voi", n_features=2, costs=costs, sensitivity=0.95, specificity=0.95)
    believed = at.policy("voi", n_features=2, costs=costs, trees=False)
    for policy in (doubted, believed):
        for x, label in zip(items, labels, strict=True):
            policy.teach(x, int(label))
    truth = sigma(z[:500]).mean()
    assert np.mean([doubted.chance(x) for x in items[:500]]) == pytest.approx(truth, abs=0.01)
    assert np.mean([believed.chance(x) for x in items[:500]]) > truth + 0.03


def test_what_cannot_be_had_is_refused_with_what_can():
    def made(name="voi", **options):
        return at.policy(name, n_features=2, costs=COSTS, **options)

    with pytest.raises(OptionError, match=r"sensitivity must be a finite number > 0 and <= 1, got 1\.2"):
        made(sensitivity=1.2)
    with pytest.raises(OptionError, match=r"must add up to more than 1, got 0\.4 and 0\.6"):
        made(sensitivity=0.4, specificity=0.6)
    with pytest.raises(OptionError, match="do not fade: leave out half_life"):
        made(specificity=0.98, half_life=100)
    with pytest.raises(OptionError, match="trees take labels as true"):
        made(specificity=0.98, trees=True)
    with pytest.raises(OptionError, match=r"effects of levels take labels as true.*many=False"):
        made(specificity=0.98, groups=(0, 1_000_000))
    with pytest.raises(OptionError, match="ids has no option 'specificity'"):
        made("ids", specificity=0.98)
    doubting = Laplace(specificity=0.98)
    with pytest.raises(OptionError, match="InformationDirected pays for labels as if they were true"):
        at.policies.Bayesian(doubting, at.rules.InformationDirected())
    with pytest.raises(OptionError, match="know of the same reviewers"):
        at.policies.Bayesian(doubting, at.rules.ValueOfInformation())
    assert made(specificity=0.98).learner.forest is None


def test_curves_and_wide_items_are_learnt_too(rng):
    x = rng.normal(size=400)
    items = np.column_stack([np.ones(400), x, np.maximum(x, 0.0), np.maximum(x - 0.5, 0.0)])
    labels = called(4 * np.abs(x) - 3, rng)
    bent = taught(items, labels, groups=(0, 0, 1, 1))
    assert bent.score(np.array([1.0, 2.0, 2.0, 1.5]), 1).mean > 1.0
    wide = taught(rng.normal(size=(40, 300)), rng.integers(0, 2, 40), adaptive=True, surprises=0.2)
    assert np.isfinite(wide.mean).all()
    assert 30 < wide.certificate().labels <= 40
