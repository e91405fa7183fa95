"""docs/rules.md: every formula of the page, computed in NumPy and compared with the number of the code."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import gaussian, renewal, value
from appletaste.kernels import surprises as slab
from appletaste.posteriors import NormalScore

from ..unit.posteriors.test_laplace import newton, stream, taught
from ..unit.rules import test_surprises as surprises
from .displayed import unproved

COSTS = at.Costs(miss=3.0, false_alarm=1.5, hit=0.5, correct_pass=0.25)
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(200)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def sigma(z):
    return 1 / (1 + np.exp(-z))


def expected(function, f, v):
    """Return E function(z) for z ~ N(f, v)."""
    return float(WEIGHTS @ function(f + math.sqrt(v) * NODES))


def notation(f, v, costs=COSTS):
    """Return p*, tau, K, Delta(1), Delta(0), mu and s as the page says them, on a fine grid (there are kinks)."""
    K = (costs.false_alarm - costs.correct_pass) + (costs.miss - costs.hit)
    p = (costs.false_alarm - costs.correct_pass) / K
    grid = np.linspace(-12, 12, 100_001)
    z, weight = f + math.sqrt(v) * grid, np.exp(-0.5 * grid**2)
    weight /= weight.sum()
    above = sigma(z) - p
    acting, passing = K * weight @ np.maximum(-above, 0), K * weight @ np.maximum(above, 0)
    mu, s = weight @ sigma(z), weight @ (sigma(z) * (1 - sigma(z)))
    return p, math.log(p / (1 - p)), K, acting, passing, mu, s


@pytest.mark.parametrize(("f", "v"), [(-1.3, 0.4), (0.2, 2.0), (-3.0, 0.05)])
def test_regrets_chance_and_slope(f, v):
    """Delta(1) = K E(p* - sigma)+, Delta(0) = K E(sigma - p*)+, mu = E sigma, s = E sigma', tau = logit p*."""
    p, tau, K, acting, passing, mu, s = notation(f, v)
    outlook = NormalScore(f, v, np.zeros(1)).outlook(COSTS)
    assert (COSTS.threshold, COSTS.score_threshold) == pytest.approx((p, tau))
    assert COSTS.alarm_price + COSTS.catch_gain == K
    assert (outlook.regret_act, outlook.regret_pass) == pytest.approx((acting, passing), rel=1e-6, abs=1e-9)
    assert (outlook.chance, outlook.slope) == pytest.approx((mu, s), rel=1e-6)


def weighed(f, v, settings, boundary=0.0, inflow=0.0, round_=10, d=3):
    """Return what the rule makes of an item: its probability, price, value, share, boundary and what a label tells."""
    outlook = NormalScore(f, v, np.zeros(1)).outlook(COSTS)
    rule = at.rules.ValueOfInformation(**settings).start(d)
    return value.weigh_forms(
        round_,
        v,
        outlook.regret_pass,
        outlook.regret_act,
        outlook.chance,
        outlook.slope,
        boundary,
        inflow,
        rule._settings,
    )


def test_what_a_label_tells_is_the_variance_of_the_shift():
    """q_j = Cov(z_j, y)^2 / Var y = w (x_j'V x)^2, w = s^2 / (mu (1 - mu)), by Stein's identity, exactly."""
    rng = np.random.default_rng(2)
    root, x, other = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    V, mean = root @ root.T, rng.normal(size=3)
    f, v, between = x @ mean, x @ V @ x, other @ V @ x
    one = NODES[:, None]  # z of the item; given it, z_j has the mean other @ mean + between / v (z - f)
    z, z_other = f + math.sqrt(v) * one, other @ mean + between / math.sqrt(v) * one
    covariance = float(WEIGHTS @ ((z_other - other @ mean) * sigma(z))[:, 0])
    mu = expected(sigma, f, v)
    told = weighed(f, v, {"ahead": "shared"})[5]
    assert covariance**2 / (mu * (1 - mu)) == pytest.approx(told * between**2, rel=1e-6)


def test_regret_at_the_boundary_to_first_order():
    """e = K sigma'(tau) sqrt(v) h(|f - tau| / sqrt(v)), h(u) = phi(u) - u Phi(-u), for small v; h(|u|) has mass 1/2."""

    def h(u):
        return math.exp(-0.5 * u * u) / math.sqrt(2 * math.pi) - u * 0.5 * math.erfc(u / math.sqrt(2))

    tau, K = COSTS.score_threshold, COSTS.alarm_price + COSTS.catch_gain
    slope = sigma(tau) * (1 - sigma(tau))
    for u in (-1.5, 0.0, 0.7):
        off = []
        for v in (1e-2, 1e-4, 1e-6):
            outlook = NormalScore(tau + u * math.sqrt(v), v, np.zeros(1)).outlook(COSTS)
            e = min(outlook.regret_pass, outlook.regret_act)
            off.append(abs(e / (K * slope * math.sqrt(v) * h(abs(u))) - 1))
        assert off[0] < 0.15
        assert off[1] < 0.2 * off[0] + 1e-4  # of order sqrt(v) or better
        assert off[2] < 0.2 * off[1] + 1e-4
    grid = np.linspace(-9, 9, 20_001)
    assert np.trapezoid([h(abs(u)) for u in grid], grid) == pytest.approx(0.5, rel=1e-6)


def test_value_of_a_label_with_running_means():
    """G(x) = w (Vx)' B (Vx), B the running mean of (e_j / v_j) x_j x_j'; the newest of t has the share 3/(t+2)."""
    rng, d, n = np.random.default_rng(3), 3, 40
    rule = at.rules.ValueOfInformation(ahead="shared", head_start=0.0)
    judge, seen = rule.start(d), []
    for t in range(1, n + 1):
        root, x, mean = rng.normal(size=(d, d)), rng.normal(size=d), rng.normal(size=d)
        V = root @ root.T
        f, v = float(x @ mean), float(x @ V @ x)
        _, _, _, acting, passing, mu, s = notation(f, v)
        seen.append((min(acting, passing) / v, x))
        i = np.arange(1, t + 1)
        weight = 3 * i * (i + 1) / (t * (t + 1) * (t + 2))  # what shares 3 / (t + 2) leave to item i: about as i^2
        assert weight[-1] == pytest.approx(3 / (t + 2))
        assert weight.sum() == pytest.approx(1)
        B = sum(w * e * np.outer(x, x) for w, (e, x) in zip(weight, seen, strict=True))
        G = s**2 / (mu * (1 - mu)) * (V @ x) @ B @ (V @ x)
        verdict = judge.judge(NormalScore(f, v, V @ x), COSTS, x, t)
        assert verdict.why["value_of_label"] == pytest.approx(t * G, rel=1e-6)  # over a horizon of t rounds
        judge.commit(verdict, False)


@pytest.mark.parametrize("rate", [0.0, 0.004, 0.3, 7.0])
def test_service_over_so_many_rounds(rate):
    """The integral over 0 < s < R of (1 + rho s)^-2 = R / (1 + rho R), R = 2 t + 10 d, rho = (Vx)'N(Vx) / v."""
    f, v, t, d = -1.0, 0.6, 17, 4
    left = 2 * t + 10 * d
    s = np.linspace(0, left, 400_001)
    integral = np.trapezoid((1 + rate * s) ** -2, s)
    assert integral == pytest.approx(left / (1 + rate * left), rel=1e-5)
    _, _, worth, share, boundary, told = weighed(f, v, {}, 0.0, rate * v, t, d)
    outlook = NormalScore(f, v, np.zeros(1)).outlook(COSTS)
    e = min(outlook.regret_pass, outlook.regret_act)
    assert boundary * left == pytest.approx(e / v * integral, rel=1e-5)
    assert worth == pytest.approx(told * share * e / v * integral * v**2, rel=1e-5)  # the item itself is in B


@pytest.mark.parametrize("r", [0.05, 0.2, 0.9, 0.9995, 1.0])
def test_service_where_nobody_knows_the_end(r):
    """a L(rho a), L(r) = 1 / (r - 1) - log r / (r - 1)^2: the integral over s > 0 of a / (a + s) (1 + rho s)^-2."""
    a, u = 37.0, np.linspace(-30, 30, 60_001)
    s = a * np.exp(u)
    integral = np.trapezoid(a / (a + s) * (1 + r / a * s) ** -2 * s, u)
    assert a * value.lasting(r) == pytest.approx(integral, rel=1e-6)
    if r < 0.99:
        assert value.lasting(r) == pytest.approx(1 / (r - 1) - math.log(r) / (r - 1) ** 2, rel=1e-12)


def test_service_is_capped_at_rates_below_one_twentieth_and_above_one():
    """r is kept above 0.05, which caps the service at 2.3 ages, and below 1; the age starts at t0 = 4 d rounds."""
    assert value.lasting(0.0) == value.lasting(0.05) == pytest.approx(2.3, abs=0.05)
    assert value.lasting(50.0) == value.lasting(1.0) == pytest.approx(0.5)
    d, t, v, rate = 3, 11, 0.5, 0.01
    _, _, _, _, boundary, _ = weighed(-1.0, v, {"ahead": "lindy"}, 0.0, rate * v, t, d)
    outlook = NormalScore(-1.0, v, np.zeros(1)).outlook(COSTS)
    L = value.lasting(rate * (t + 4 * d))
    assert boundary == pytest.approx(min(outlook.regret_pass, outlook.regret_act) / v * L, rel=1e-9)


@pytest.mark.parametrize("randomised", [False, True])
def test_acting_where_the_label_is_worth_its_price(randomised):
    """Act iff D <= eta H w (Vx)'B(Vx) = eta H G; randomised with chance max(0, 1 - D / (2 eta H G)) where D > 0."""
    met = set()
    for f in np.linspace(-4, 1, 60):
        for eta in (0.5, 1.0):
            v, t, d, form = 0.8, 30, 3, 0.02
            settings = {"randomised": randomised, "eagerness": eta}
            probability, price, worth, share, boundary, told = weighed(f, v, settings, form, 0.0, t, d)
            _, _, _, acting, passing, _, _ = notation(f, v)
            B = (1 - share) * form + share * boundary * v**2
            assert price == pytest.approx(acting - passing, rel=1e-6, abs=1e-7)
            assert worth == pytest.approx(eta * (2 * t + 10 * d) * told * B, rel=1e-9)
            draws = randomised and price > 0
            said = max(0.0, 1 - price / (2 * worth)) if draws else float(price <= worth)
            assert probability == pytest.approx(said, abs=1e-12)
            met.add(0 < probability < 1 if randomised else (price > 0, probability))
    assert met == ({False, True} if randomised else {(False, 1.0), (True, 1.0), (True, 0.0)})


def of_labels(d=4, seed=7, most=5.0):
    """Return a belief under a Gaussian likelihood with its prior: m, V, b and variances, and arrays for kernels."""
    rng = np.random.default_rng(seed)
    root, b, variances = rng.normal(size=(d, d)), rng.normal(size=d), rng.uniform(0.2, most, d)
    V = np.linalg.inv(root @ root.T + np.diag(1 / variances))
    m = V @ (rng.normal(size=d) + b / variances)
    rows = slab.make_slab(variances, b)
    rows[slab.WIDTH] = 25.0
    rows[slab.POOL] = variances * 0.7
    return rng, m, V, b, variances, np.vstack([m, m, np.zeros((2, d)), V]), rows


@pytest.mark.parametrize("j", [0, 2])
def test_one_prior_variance_set_to_a_wide_one(j):
    """v' = v + k q_j^2, f' = f + k q_j (m_j - b_j), q' = q + k q_j V e_j, k = delta / (1 - delta V_jj)."""
    rng, m, V, b, variances, belief, rows = of_labels()
    x, f = rng.normal(size=4), 0.3
    q, v = V @ x, float(x @ V @ x)
    delta = 1 / variances[j] - 1 / 25.0
    k = delta / (1 - delta * V[j, j])
    mean, variance = slab.widen(j, x, f, v, q, belief, belief, rows)
    assert variance == pytest.approx(v + k * q[j] ** 2, rel=1e-12)
    assert mean == pytest.approx(f + k * q[j] * (m[j] - b[j]), rel=1e-12)
    np.testing.assert_allclose(rows[slab.SCENARIO], q + k * q[j] * V[:, j], rtol=1e-12)


def normal(c, variance):
    return math.exp(-0.5 * c * c / variance) / math.sqrt(2 * math.pi * variance)


@pytest.mark.parametrize("j", [0, 1, 3])
def test_how_probable_a_surprise_is(j):
    """omega = pi N(c; 0, 1/p + W) / [pi N(c; 0, 1/p + W) + (1 - pi) N(c; 0, 1/p + s^2)]."""
    _, m, V, b, variances, belief, rows = of_labels(seed=9)
    pi, W = 0.2, 25.0
    p = 1 / V[j, j] - 1 / variances[j]
    c = (m[j] - b[j]) / (V[j, j] * p)
    wide, narrow = pi * normal(c, 1 / p + W), (1 - pi) * normal(c, 1 / p + rows[slab.POOL, j])
    assert slab.surprise(j, belief, rows, pi) == pytest.approx(wide / (wide + narrow), rel=1e-10)
    belief[gaussian.COVARIANCE + j, j] = variances[j]  # before any label tells of it omega is pi
    assert slab.surprise(j, belief, rows, pi) == pi


def test_the_mean_lies_outwards_of_the_mode():
    """-1/2 V sum_i sigma''(z_i) (x_i'V x_i) x_i: what the skew correction adds to the mode."""
    items, labels = stream(np.random.default_rng(5), 31, 3)  # a renewal ends with the last of them
    belief = taught(items, labels, at.posteriors.Laplace(skew=True))
    mode, hessian = newton(items, labels, at.posteriors.Gaussian())
    V, p = np.linalg.inv(hessian), sigma(items @ mode)
    bent = p * (1 - p) * (1 - 2 * p)
    shift = -0.5 * V @ (items.T @ (bent * np.einsum("ij,jk,ik->i", items, V, items)))
    assert np.abs(shift).max() > 0.02
    np.testing.assert_allclose(belief.mean, mode + shift, atol=1e-6)


def test_the_scale_of_the_prior():
    """s^2 = (5 + sum_j (m_j^2 + V_jj)) / (5 + k) over the k features that vary; an intercept has a deviation of 2."""
    rng, d = np.random.default_rng(6), 6
    items = np.column_stack([2.0 * rng.normal(size=(500, d)), np.ones(500)])
    labels = (rng.random(500) < sigma(items[:, :d] @ np.linspace(-2, 2, d))).astype(int)
    belief = taught(items, labels, at.posteriors.Laplace(adaptive=True))
    before = belief._belief.copy()
    numbers = np.zeros(d + 1, dtype=np.int64)
    renewal.rescale_prior(belief._belief, belief._labels.features, numbers, belief._precision, belief._prior)
    m, V = before[gaussian.MODE], before[gaussian.COVARIANCE :]
    s2 = (5 + np.sum(m[:d] ** 2 + np.diag(V)[:d])) / (5 + d)
    np.testing.assert_allclose(1 / np.diag(belief._prior)[:d], s2, rtol=1e-12)
    assert abs(s2 - 1) > 0.2
    assert 1 / belief._prior[d, d] == 2.0**2


@pytest.mark.parametrize("t", [1, 9, 400])
def test_a_bound_that_tightens(t):
    """ucb acts iff f + sqrt(k d / (t + k d)) sqrt(v) >= tau, k = 2."""
    d, v, k = 5, 0.7, 2
    reach = math.sqrt(k * d / (t + k * d)) * math.sqrt(v)
    for off in (-1e-9, 1e-9):
        score = NormalScore(COSTS.score_threshold - reach + off, v, np.zeros(d))
        verdict = at.rules.UpperBound().judge(score, COSTS, np.ones(d), t)
        assert verdict.probability == float(off > 0)
        assert verdict.why["width"] == pytest.approx(reach, rel=1e-12)


PROOFS = {
    "G(x) = w (Vx)' B (Vx)": test_value_of_a_label_with_running_means,
    "integral over 0 < s < R of (1 + rho_j s)^-2 = R / (1 + rho_j R)": test_service_over_so_many_rounds,
    "integral over s > 0 of a / (a + s) (1 + rho s)^-2 = a L(rho a), L(r) = 1 / (r - 1) - log r / (r - 1)^2.": (
        test_service_where_nobody_knows_the_end
    ),
    "act iff D <= eta H w (Vx)' B (Vx), eta = 1,": test_acting_where_the_label_is_worth_its_price,
    "v' = v + k q_j^2, f' = f + k q_j (m_j - b_j), q' = q + k q_j V e_j,": test_one_prior_variance_set_to_a_wide_one,
    "omega = pi N(c; 0, 1/p + W) / [pi N(c; 0, 1/p + W) + (1 - pi) N(c; 0, 1/p + s^2)].": (
        test_how_probable_a_surprise_is
    ),
    "act if (1 - omega) D + omega D' <= (1 - omega) eta H G + omega eta H' G',": (
        surprises.test_the_rule_is_its_formula  # and what else the page says of the steps, with negative controls
    ),
}


def test_every_displayed_formula_has_a_test():
    assert unproved("rules.md", PROOFS) == ([], [])
