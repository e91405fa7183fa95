"""docs/curves.md: every formula of the page, computed in NumPy and compared with the number of the code."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import appletaste as at
from appletaste.features.levels import FIRST
from appletaste.features.numbers import Number, Score
from appletaste.features.ramps import Curve
from appletaste.kernels import gaussian, levels, renewal
from appletaste.posteriors.groups import JUMPING, OPENED, SCALES, SMOOTH, Groups
from appletaste.posteriors.scores import NormalScore

from .displayed import unproved

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)


def sigma(z):
    return 1 / (1 + np.exp(-z))


# ---- the ramps


@pytest.mark.parametrize("kind", ["amounts", "normal", "few", "ratings"])
def test_ramps(kind):
    """φ_j(v) = clip(u - j, 0, 1) / √c if j ≥ r, clip(j + 1 - u, 0, 1) / √c if j < r, with knots, u, r and c as said."""
    rng, K = np.random.default_rng(4), 6
    values = {
        "amounts": np.where(rng.random(500) < 0.6, 0.0, rng.exponential(100, 500)),
        "normal": rng.normal(40, 12, 500),
        "few": rng.choice([1.0, 2.0, 4.0, 8.0], 500, p=[0.2, 0.5, 0.2, 0.1]),
        "ratings": rng.integers(1, 12, 500).astype(float),
    }[kind]
    curve = Curve.fit(Number("x", True, 5.0, False, False), values, knots=K)
    if len(np.unique(values)) <= K:
        knots = np.unique(values)
    else:
        common = np.array([v for v in np.unique(values) if np.mean(values == v) >= 1 / K])
        z = np.linspace(-2.3, 2.3, K - len(common))
        rest = values[~np.isin(values, common)]
        knots = np.unique([*common, *np.quantile(rest, [NormalDist().cdf(at_z) for at_z in z])])
    np.testing.assert_allclose(curve.knots, knots, rtol=1e-12)

    def ranks(v):
        return np.interp(v, knots, np.arange(len(knots)))  # constant beyond the outermost

    weight = [np.maximum(0, 1 - np.abs(ranks(values) - k)).sum() for k in range(len(knots))]
    r = int(np.argmax(weight))
    assert curve.reference == r

    def phi(v):
        u = ranks(v)
        return np.array([np.clip(u - j if j >= r else j + 1 - u, 0, 1) for j in range(len(knots) - 1)])

    c = np.mean(np.sum(phi(values) ** 2, axis=0))
    for v in (*np.quantile(values, [0, 0.1, 0.5, 0.77, 1]), -1e6, 1e6, knots[r]):
        found = np.zeros(len(knots) - 1)
        for place, height in curve.encode(float(v)):
            found[place] = height
        np.testing.assert_allclose(found, phi(v) / math.sqrt(c), atol=1e-12)
    assert curve.encode(float(knots[r])) == []  # all ramps are 0 at the typical value


# ---- the scales

NUMBERS = (0, 0, 1, 1, 1, -2, -2, 3, 3, 3)  # two lines, a curve, one of a column that jumps, another curve


def model(seed=3, scale=0.3):
    """Return a Gaussian likelihood -theta'A theta / 2 + b'theta, the belief under it and its prior."""
    rng, d = np.random.default_rng(seed), len(NUMBERS)
    root = rng.normal(size=(2 * d, d))
    A, b = root.T @ root / 4, 4.0 * rng.normal(size=d)
    prior = np.zeros((d + 1, d))
    np.fill_diagonal(prior[:d], np.where(np.array(NUMBERS) == 0, 1.0, 1.0 / scale))
    belief = np.zeros((gaussian.COVARIANCE + d, d))
    belief[gaussian.COVARIANCE :] = np.linalg.inv(A + prior[:d])
    belief[gaussian.MODE] = belief[gaussian.MEAN] = belief[gaussian.COVARIANCE :] @ b
    return A, b, belief, prior


def log_evidence(belief, places, tau2, t):
    """log L(t) = -½ log det(I + t S) + ½ h'(S + I/t)⁻¹ h with S = P⁻¹ - I/τ², h = P⁻¹ m_g, P = V_gg."""
    V, m, one = belief[gaussian.COVARIANCE :], belief[gaussian.MODE], np.eye(len(places))
    P = V[np.ix_(places, places)]
    S, h = np.linalg.inv(P) - one / tau2, np.linalg.solve(P, m[places])
    return -0.5 * np.linalg.slogdet(one + t * S)[1] + 0.5 * h @ np.linalg.solve(S + one / t, h)


@pytest.mark.parametrize("number", [1, -2, 3])
def test_the_evidence_for_a_scale(number):
    """The page's log L(t) is that of the code for each scale, and that of the whole model with this scale changed."""
    A, b, belief, prior = model()
    places = np.flatnonzero(np.array(NUMBERS) == number)
    found, size = np.empty(len(SCALES)), len(places)
    renewal.weigh_scales(belief, places, prior[places[0], places[0]], SCALES, np.empty((size + 1, size)), found)
    said = np.array([log_evidence(belief, places, 0.3, t) for t in SCALES])
    np.testing.assert_allclose(found, said, rtol=1e-8, atol=1e-8)
    whole = []
    for t in SCALES:
        precision = prior[:-1].copy()
        precision[places, places] = 1 / t
        gain = np.linalg.slogdet(precision)[1] - np.linalg.slogdet(A + precision)[1]
        whole.append(0.5 * (gain + b @ np.linalg.solve(A + precision, b)))
    np.testing.assert_allclose(said - said[0], np.array(whole) - whole[0], rtol=1e-8, atol=1e-8)


def test_scales_before_any_label():
    """Seven scales; closed with probability 0.98, 0.4 where columns jump, and 0.1 for a score (0.15 each other one)."""
    assert SCALES.tolist() == [0.0001, 0.01, 0.03, 0.1, 0.3, 1, 3]
    assert [kind[0] for kind in (SMOOTH, JUMPING, OPENED)] == [0.98, 0.4, 0.1]
    for kind in (SMOOTH, JUMPING, OPENED):
        assert kind.sum() == pytest.approx(1)
        np.testing.assert_allclose(kind[1:], kind[1])
    assert OPENED[1] == 0.15
    started = Groups(NUMBERS, len(NUMBERS)).start(at.posteriors.Gaussian())
    variances = started.variances(len(NUMBERS))
    assert variances[5] == pytest.approx(0.44, abs=0.005)  # "a curve that jumps starts with τ² = 0.44"
    assert variances[2] == pytest.approx(SMOOTH @ SCALES)


def test_the_scale_in_use_is_the_mean_and_the_belief_follows():
    """τ² is the mean over what is likely, the curves of a kind together, 5 curves' worth; V ← (V⁻¹ + D)⁻¹."""
    _, _, belief, prior = model()
    before, old = belief.copy(), np.diag(prior[:-1]).copy()
    Groups(NUMBERS, len(NUMBERS)).learn(belief, prior)
    expected = np.where(np.array(NUMBERS) == 0, 1.0, 0.0)
    for usual, numbers in ((SMOOTH, [1, 3]), (JUMPING, [-2])):
        curves = [np.flatnonzero(np.array(NUMBERS) == number) for number in numbers]
        likely = np.exp([[log_evidence(before, places, 0.3, t) for t in SCALES] for places in curves])
        met = usual
        for _ in range(20):  # how often a scale is met, learnt along
            shares = met * likely / (met * likely).sum(axis=1, keepdims=True)
            met = (5 * usual + shares.sum(axis=0)) / (5 + len(curves))
        for places, share in zip(curves, shares, strict=True):
            expected[places] = share @ SCALES
    np.testing.assert_allclose(1 / np.diag(prior[:-1]), expected, rtol=1e-6)
    D = np.diag(np.diag(prior[:-1]) - old)
    assert np.abs(D).max() > 0.1
    precision = np.linalg.inv(before[gaussian.COVARIANCE :])
    V = np.linalg.inv(precision + D)
    np.testing.assert_allclose(belief[gaussian.COVARIANCE :], V, atol=1e-9)
    np.testing.assert_allclose(belief[gaussian.MODE], V @ precision @ before[gaussian.MODE], atol=1e-8)


# ---- what a value adds


def test_what_a_column_adds_and_its_band():
    """(x - x₀)'m_g with variance (x - x₀)'V_gg (x - x₀); the score is the base and the sum of what columns add."""
    rng = np.random.default_rng(1)
    n = 400
    past = {"age": rng.normal(40, 12, n), "amount": np.where(rng.random(n) < 0.6, 0.0, rng.exponential(100, n))}
    features = at.Encoder(curves=True).fit(past)
    policy = at.policy(n_features=features.n_features, costs=COSTS, groups=features.groups, trees=False)
    labels = rng.random(n) < sigma(0.05 * (past["age"] - 50) + 2.0 * (past["amount"] > 0) - 1)
    for x, label in zip(features.transform_many(past), labels, strict=True):
        policy.teach(x, int(label))
    found, m, V = policy.curves(features), policy.posterior.mean, policy.posterior.covariance
    typical = {name: found[name].typical for name in past}
    x0 = features.transform(typical)
    assert found.base == pytest.approx(x0 @ m, rel=1e-9)
    for name in past:
        curve = found[name]
        low, high = curve.band(0.9)
        for k in range(0, len(curve.values), 7):
            step = features.transform({**typical, name: curve.values[k]}) - x0
            assert curve.mean[k] == pytest.approx(step @ m, abs=1e-9)
            deviation = math.sqrt(max(step @ V @ step, 0.0))
            assert high[k] - low[k] == pytest.approx(2 * NormalDist().inv_cdf(0.95) * deviation, abs=1e-8)
    own = {"age": float(found["age"].values[5]), "amount": float(found["amount"].values[9])}
    added = found["age"].mean[5] + found["amount"].mean[9]
    assert features.transform(own) @ m == pytest.approx(found.base + added, abs=1e-9)


def test_the_unit_is_log_odds():
    """+1 multiplies the odds of a positive by e = 2.7: a chance of 1 % becomes 2.7 %, one of 50 % becomes 73 %."""
    for before, after in ((0.01, 0.027), (0.5, 0.73)):
        f = math.log(before / (1 - before)) + 1
        chance = NormalScore(f, 0.0, np.zeros(1)).outlook(COSTS).chance
        assert chance == pytest.approx(sigma(f), rel=1e-9)
        assert chance == pytest.approx(after, abs=0.005 if after > 0.1 else 0.0005)


def test_a_score_is_taken_by_its_log_odds():
    """Log-odds where all scores of the warm-up lie from 0 to 1, held half a step from 0 and 1."""
    values = np.array([0.0, 0.25, 0.5, 0.9, 1.0])
    score = Score("risk", True, 5.0, False, False, edge=Score.edge_of(values))
    held = np.clip(values, 0.05, 0.95)  # the least step from 0 or 1 is 0.1
    np.testing.assert_allclose([score.read(v, ()) for v in values.tolist()], np.log(held / (1 - held)), rtol=1e-9)


# ---- many levels


@pytest.mark.parametrize("s", [0.1, 1.0, 4.0])
def test_levels_are_averaged_over(s):
    """E σ(x'θ + N(f, s)) ≈ σ(κ x'θ + κ f), κ = 1/√(1 + π s / 8): what is stored of a label, and how near that is."""
    kappa = 1 / math.sqrt(1 + math.pi * s / 8)
    raw, scaled, sites = np.full((1, 2, 256), 0.7), np.zeros((1, 3, 256)), np.zeros((4, 8))
    parts = np.array([[3.0, 5.0], [0.4, -1.1], [0.25 * s, 0.75 * s]])  # slots, effects and variances of two columns
    levels.store(1, raw, scaled, sites, parts)
    np.testing.assert_allclose(scaled[0, :, 1], [0.7 * kappa, 0.7 * kappa, kappa * (0.4 - 1.1)], rtol=1e-12)
    grid = np.linspace(-12, 12, 20_001)
    weight = np.exp(-0.5 * grid**2)
    weight /= weight.sum()
    for z in np.linspace(-6, 6, 49):
        exact = weight @ sigma(z + math.sqrt(s) * grid)
        assert abs(exact - sigma(kappa * z)) < 0.02


def test_how_often_a_level_comes_again():
    """p_l = (k - D) / t, D = (N₁ + 1) / (N₁ + 2 N₂ + 2), with N₁ and N₂ the levels seen once and twice."""
    for k, once, twice, t in ((1, 0, 0, 1), (1, 30, 12, 200), (2, 30, 12, 200), (90, 3, 0, 400)):
        D = (once + 1) / (once + 2 * twice + 2)
        assert levels.coming(k, once, twice, t) == pytest.approx((k - D) / t, rel=1e-12)


def test_what_a_label_of_a_level_saves():
    """Beside (Vx)'B(Vx) a label saves, per round, Σ_c p_l ē_l v_l², times w; ē_l with the item at hand in it."""
    rng, d, t = np.random.default_rng(8), 3, 50
    settings = at.rules.ValueOfInformation(ahead="shared", head_start=0.0).start(d)._settings
    form = rng.normal(size=(d, d))
    B = form @ form.T / 1000
    memory = np.zeros((2 * d + 1, 16 * (d // 16 + 1)))
    memory[:d, :d] = np.tril(B) + np.tril(B, -1)
    memory[-1, 0] = 1.0
    direction, dense = rng.normal(size=d), 0.9
    times, means, v = np.array([4.0, 1.0]), np.array([0.3, 0.05]), np.array([0.5, 1.4])
    seen, once = np.zeros((8, 2, 3)), np.array([[11.0, 6.0], [4.0, 2.0]])
    slots = [3, 6]
    for c in range(2):
        seen[slots[c], c, :2] = times[c], means[c]
    parts = np.array([slots, [0.1, -0.2], v])
    variance = dense + v.sum()
    outlook = NormalScore(-1.0, variance, direction).outlook(COSTS)
    _, _, value, share, boundary, told = levels.weigh_levels(
        t, variance, outlook.regret_pass, outlook.regret_act, outlook.chance, outlook.slope,
        direction, parts, memory, seen, once, settings,
    )  # fmt: skip
    e = min(outlook.regret_pass, outlook.regret_act) / variance
    k = times + 1
    p = (k - (once[0] + 1) / (once[0] + 2 * once[1] + 2)) / t
    running = means + 3 / (k + 2) * (e - means)
    G = (1 - share) * direction @ B @ direction + share * e * dense**2 + np.sum(p * running * v**2)
    w = outlook.slope**2 / (outlook.chance * (1 - outlook.chance))
    assert boundary == pytest.approx(e)
    assert told == pytest.approx(w)
    assert value == pytest.approx(t * w * G, rel=1e-9)
    assert np.sum(p * running * v**2) > 0.1 * G


def test_a_slot_is_written_beyond_any_number():
    """A slot is written as 2⁴⁰ + k."""
    assert FIRST == 2**40


PROOFS = {
    "φ_j(v) = clip(u - j, 0, 1) / √c if j ≥ r, clip(j + 1 - u, 0, 1) / √c if j < r,": test_ramps,
    "log L(t) = -½ log det(I + t S) + ½ h'(S + I/t)⁻¹ h": test_the_evidence_for_a_scale,
}


def test_every_displayed_formula_has_a_test():
    assert unproved("curves.md", PROOFS) == ([], [])
