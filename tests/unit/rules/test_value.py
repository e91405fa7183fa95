"""Value of information: the formula against NumPy, its memory, and what it must never do."""

import math

import numpy as np
import pytest
from scipy import integrate

import appletaste as at
from appletaste.posteriors import NormalScore

from ...contract.entries import act_on

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)
LINDY = "voi[ahead=lindy]"


def made(name, **given):
    return at.policy("voi", ahead="lindy", **given) if name == LINDY else at.policy(name, **given)


class Reference:
    """The rule as docs/rules.md writes it, with full matrices and no short cuts."""

    def __init__(self, d, rule):
        self.d, self.rule, self.t = d, rule, 0
        self.boundary, self.inflow = np.zeros((d, d)), np.zeros((d, d))

    def judge(self, score, costs, x):
        rule, d, t = self.rule, self.d, self.t + 1
        direction, v = score.direction(), score.variance
        regret_pass, regret_act, chance, slope = score.outlook(costs)
        share = rule.forgetting / (t - 1 + rule.forgetting)
        told = slope**2 / (chance * (1 - chance))
        weight = min(regret_pass, regret_act) / v
        head, left = rule.head_start * d, 1.0
        if rule.ahead != "shared":
            rate = direction @ self.inflow @ direction / v
            if rule.horizon is not None or rule.ahead == "double":
                left = 2 * t + 10 * d if rule.horizon is None else rule.horizon - t
                weight /= 1 + rate * left
            else:
                left = t + head
                r = min(max(rate * left, 0.05), 1.0)
                weight *= integrate.quad(lambda s: 1 / ((1 + s) * (1 + r * s) ** 2), 0, math.inf)[0]
        else:
            left = t + head if rule.horizon is None else (t + head) * (rule.horizon - t) / (rule.horizon + head)
        self.next_boundary = (1 - share) * self.boundary + share * weight * np.outer(x, x)
        self.next_inflow = lambda act: (1 - share) * self.inflow + share * told * act * np.outer(x, x)
        value = rule.eagerness * left * told * direction @ self.next_boundary @ direction
        price = regret_act - regret_pass
        if price <= 0:
            return 1.0, value
        if rule.randomised:
            return max(0.0, 1 - price / (2 * value)), value
        return float(price <= value), value

    def commit(self, act):
        self.boundary, self.inflow = self.next_boundary, self.next_inflow(act)
        self.t += 1


RULES = [
    at.rules.ValueOfInformation(),
    at.rules.ValueOfInformation(horizon=80, eagerness=0.5),
    at.rules.ValueOfInformation(ahead="lindy", randomised=True),
    at.rules.ValueOfInformation(horizon=80, ahead="shared"),
    at.rules.ValueOfInformation(ahead="shared", randomised=True, forgetting=1.0, head_start=0.0),
]


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_is_its_formula(rng, rule):
    d = 3
    judge, reference = rule.start(d), Reference(d, rule)
    explored = 0
    for t in range(60):
        root = rng.normal(size=(d, d)) / math.sqrt(1 + t / 20)
        x, mean = rng.normal(size=d), rng.normal(size=d) - 1.0
        V = root @ root.T
        score = NormalScore(float(x @ mean), float(x @ V @ x), V @ x)
        for _ in range(2):  # asking twice changes nothing
            verdict = judge.judge(score, COSTS, x, t + 1)
        probability, why = verdict[:2]
        judge.judge(NormalScore(0.1, 0.2, V @ x), COSTS, -x, t + 1)  # nor does asking about another item
        expected, value = reference.judge(score, COSTS, x)
        assert probability == pytest.approx(expected, abs=1e-9)
        assert why["value_of_label"] == pytest.approx(value, rel=1e-6)
        assert verdict.worth == pytest.approx(why["value_of_label"] - why["price_of_acting"])
        assert verdict.chance == why["chance_positive"] == score.outlook(COSTS).chance
        explored += probability > 0 and why["price_of_acting"] > 0
        act = rng.random() < probability
        judge.commit(verdict, act)
        reference.commit(act)
    assert explored > 0
    memory = judge.arrays()["memory"]
    kept = memory[-1, 0] * memory[:d]  # the lower triangle, doubled below the diagonal
    np.testing.assert_allclose(0.5 * (kept + kept.T), reference.boundary, rtol=1e-6)


def test_a_label_is_worth_what_one_label_saves(rng):
    """G(x) against brute force: the fall of mean regret over many items when the label of x is seen.

    A prior on two features, items spread around the boundary; the posterior after each label by its exact mean shift
    (the two-point law of the derivation), regrets by quadrature.
    """
    d, n = 2, 4000
    V = np.array([[0.3, 0.1], [0.1, 0.2]])
    mean = np.array([-0.9, 0.3])
    items = rng.normal(size=(n, d)) + np.array([1.0, 0.0])
    rule = at.rules.ValueOfInformation(ahead="shared", forgetting=1.0, head_start=0.0)
    judge = rule.start(d)

    def score(x, centre):
        return NormalScore(float(x @ centre), float(x @ V @ x), V @ x)

    for t, x in enumerate(items):
        judge.commit(judge.judge(score(x, mean), COSTS, x, t + 1), False)

    def mean_regret(centre, spread_down):
        total = 0.0
        for x in items[:1500]:
            v = float(x @ V @ x) - float(x @ spread_down) ** 2
            outlook = NormalScore(float(x @ centre), max(v, 1e-12), V @ x).outlook(COSTS)
            total += min(outlook.regret_pass, outlook.regret_act)
        return total / 1500

    for x in (np.array([1.2, 0.4]), np.array([0.6, -1.0])):
        why = judge.judge(score(x, mean), COSTS, x, n + 1).why
        gain = why["value_of_label"] / (n + 1)
        outlook = score(x, mean).outlook(COSTS)
        mu, slope = outlook.chance, outlook.slope
        jump = V @ x * slope / math.sqrt(mu * (1 - mu))  # the shift of the mean has this standard deviation
        up, down = math.sqrt((1 - mu) / mu), -math.sqrt(mu / (1 - mu))
        after = mu * mean_regret(mean + up * jump, jump) + (1 - mu) * mean_regret(mean + down * jump, jump)
        saved = mean_regret(mean, np.zeros(d)) - after
        assert gain == pytest.approx(saved, rel=0.3)


def test_units_of_cost_do_not_matter(rng):
    items = rng.normal(size=(300, 3))
    labels = rng.random(300) < 1 / (1 + np.exp(-items @ [1.0, -1.0, 0.5]))
    traces = []
    for unit in (1.0, 1000.0):
        costs = at.Costs(unit, 0.4 * unit, 0.05 * unit)
        policy = at.policy(n_features=3, costs=costs)
        acts = []
        for x, label in zip(items, labels, strict=True):
            decision = policy.decide(x)
            acts.append(decision.act)
            if decision.act:
                policy.learn(decision, int(label))
        traces.append(acts)
    assert traces[0] == traces[1]


@pytest.mark.parametrize("name", ["voi", LINDY, "ucb", "ts"])
def test_an_empty_item_is_no_trouble(name):
    policy = made(name, n_features=2, costs=COSTS)
    for x in ([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1e-200], [1e90, 1.0]):
        decision = policy.decide(x)
        assert 0 <= decision.probability <= 1
        policy.teach(x, 0)
    assert np.isfinite(policy.probability([1.0, 1.0]))


def test_ids_locks_in_and_value_of_information_does_not():
    """Unrelated categories, acting pays from 0.6: IDS with the paper's weight never sees a label."""
    costs, rng = at.Costs(miss=0.4, false_alarm=0.6, hit=0.0), np.random.default_rng(5)
    theta = rng.normal(size=10)
    acts = dict.fromkeys(("voi", LINDY, "ucb", "ids"), 0)
    for name in acts:
        policy, draws = made(name, n_features=10, costs=costs), np.random.default_rng(6)
        for _ in range(1000):
            x = np.eye(10)[draws.integers(10)]
            decision = policy.decide(x)
            acts[name] += decision.act
            if decision.act:
                policy.learn(decision, int(draws.random() < 1 / (1 + math.exp(-theta @ x))))
    assert acts["ids"] == 0
    assert all(acts[name] > 100 for name in ("voi", LINDY, "ucb"))


def test_a_bound_tightens():
    score, x = NormalScore(-0.5, 1.0, np.ones(2)), np.ones(2)
    costs = at.Costs(1, 1, 0)  # the cut is 0
    rule = at.rules.UpperBound(patience=2.0)
    assert rule.judge(score, costs, x, 1)[0] == 1.0
    assert rule.judge(score, costs, x, 12)[0] == 1.0  # width sqrt(4 / 16) = 0.5: still reached
    assert rule.judge(score, costs, x, 13)[0] == 0.0
    drawn = at.rules.UpperBound(patience=2.0, randomised=True).judge(score, costs, x, 12)[0]
    assert drawn == pytest.approx(math.erfc(1 / math.sqrt(2)))


@pytest.mark.parametrize("name", ["voi", LINDY, "ts", "ids", "ucb", "adf-voi", "pg-ts", "suplogistic"])
@pytest.mark.parametrize("n", [0, 1, 600])
def test_many_decisions_are_as_one_by_one(rng, name, n):
    options = {"randomised": True} if name in ("voi", LINDY, "adf-voi") else {}
    one = made(name, n_features=3, costs=COSTS, seed=5, **options)
    many = made(name, n_features=3, costs=COSTS, seed=5, **options)
    before, items = rng.normal(size=(40, 3)), rng.normal(size=(n, 3))
    for policy in (one, many):
        for x in before:
            policy.learn(act_on(policy, x), int(x[0] > 0))
    decisions = many.decide_many(items)
    assert len(decisions) == n
    for decision, x in zip(decisions, items, strict=True):
        expected = one.decide(x)
        assert decision.act == expected.act
        assert decision.probability == pytest.approx(expected.probability, abs=1e-9)
        assert decision.round == expected.round
    assert many.round == one.round
    x = rng.normal(size=3)
    assert many.probability(x) == pytest.approx(one.probability(x), abs=1e-9)
    for acted in (d for d in decisions if d.act):
        many.learn(acted, 1)


def test_bad_batches_are_refused():
    policy = at.policy(n_features=3, costs=COSTS)
    for items in ([1.0, 2.0, 3.0], [[1.0, 2.0]], [[1.0, 2.0, math.nan]], "abc", [[1, 2, 1e200]]):
        with pytest.raises(at.errors.InputError, match=r"items must|feature 2 of item 0"):
            policy.decide_many(items)
    assert policy.round == 0


def test_certificates_are_for_approximations():
    assert math.isnan(at.policy(n_features=2, costs=COSTS).certificate().acceptance)
    for name in ("pg-ts", "adf-voi", "never", "cbp-side"):
        with pytest.raises(at.errors.OptionError, match=r"certif"):
            at.policy(name, n_features=2, costs=COSTS).certificate()


@pytest.mark.parametrize(
    "options",
    [{"eagerness": 0}, {"horizon": 0}, {"horizon": 2.5}, {"forgetting": 0}, {"head_start": -1}, {"ahead": "far"}],
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(at.errors.OptionError):
        at.rules.ValueOfInformation(**options)


def matrices(memory):
    """Return B and N, kept as halves that are doubled below the diagonal, and the number that multiplies both."""
    d = memory.shape[1]
    return [memory[-1, 0] * 0.5 * (half + half.T) for half in memory[:-1].reshape(-1, d, d)]


@pytest.mark.parametrize(("d", "options"), [(3, {}), (3, {"ahead": "shared"}), (3, {"surprises": 0.2}), (300, {})])
def test_what_is_remembered_moves_with_the_features(d, options, rng):
    """Features that are new, gone or elsewhere: the memory of those that stay is theirs, at their new places."""
    policy = at.policy("voi", n_features=d, costs=COSTS, randomised=True, **options)
    policy.teach(np.append(0.0, rng.normal(size=d - 1)), 0)
    for x in rng.normal(size=(30, d)):
        policy.decide(np.append(1.0, x[1:]))  # an indicator, for surprises
    judge = policy.learner.rule
    places = np.array([2, *range(3, d), -1, 0])
    before, after = judge.arrays(), judge.moved(places).arrays()
    assert before.keys() == after.keys()
    kept = places >= 0
    for name in before.keys() & {"memory", "opened"}:
        old, new = (matrices(arrays[name]) for arrays in (before, after))
        assert old[0].any()
        assert len(new) == len(old)
        for was, now in zip(old, new, strict=True):
            expected = np.zeros((len(places), len(places)))
            expected[np.ix_(kept, kept)] = was[np.ix_(places[kept], places[kept])]
            assert np.array_equal(now, expected)
    if "items" in before:
        assert np.array_equal(after["items"][:, kept], before["items"][:, places[kept]])
        assert not after["items"][:, ~kept].any()
        assert np.array_equal(after["shares"], before["shares"])
    assert ("opened" in before) == (d == 3)  # many features know no surprises
    assert judge.moved(np.arange(d)).arrays().keys() == before.keys()
