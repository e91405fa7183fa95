"""Surprises: one coefficient far beyond the learnt scale. The formulas against NumPy, and no blind spots."""

import math
from dataclasses import replace

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import gaussian
from appletaste.kernels import surprises as slab
from appletaste.policies import Bayesian
from appletaste.posteriors import Gaussian, Laplace

from ...contract.entries import act_on
from . import surprise_formulas
from .surprise_formulas import Reference, gaussian_of, omega_of

COSTS = at.Costs(miss=2.0, false_alarm=1.0, hit=0.0)
WIDE = 25.0


def voi(surprises=0.2, **options):
    return at.policy("voi", surprises=surprises, **options)


def segment(rng, rounds, share=0.1, inside=0.9, outside=0.03, normals=3):
    """Return x = (1, c, N): positives are frequent where c = 1, and rare elsewhere."""
    c = rng.random(rounds) < share
    items = np.column_stack([np.ones(rounds), c, rng.normal(size=(rounds, normals))])
    return items, (rng.random(rounds) < np.where(c, inside, outside)).astype(int), c


#: Of the items of ``segment`` with two normal columns, and of the ramps that ``with_ramps`` puts behind them.
GROUPS = (0, 0, 0, 0, 1, 1)


def with_ramps(items):
    """Return items with two ramps of their last column: far below 0, and far above."""
    last = items[:, -1:]
    return np.hstack([items, np.clip(-last - 0.8, 0.0, 1.0), np.clip(last - 0.8, 0.0, 1.0)])


def play(policy, items, labels):
    acts = []
    for x, label in zip(items, labels, strict=True):
        decision = policy.decide(x)
        acts.append(decision.act)
        if decision.act:
            policy.learn(decision, int(label))
    return np.array(acts)


def grown(player, rounds=300):
    """Return a player that has met items without the indicator, all negative."""
    rng = np.random.default_rng(8)
    for _ in range(rounds):
        x = [1.0, 0.0, rng.normal()]
        player.learn(act_on(player, x), 0)
    return player


RULES = [
    at.rules.ValueOfInformation(),
    at.rules.ValueOfInformation(horizon=90, eagerness=0.5, randomised=True),
    at.rules.ValueOfInformation(ahead="lindy"),
    at.rules.ValueOfInformation(ahead="shared", randomised=True),
]


def beside(reference, rule, items, labels):
    """Play a policy and give each decision with what the formulas say of it."""
    d = items.shape[1]
    method = Bayesian(Laplace(skew=True, adaptive=True, surprises=0.2, groups=GROUPS[:d]), rule)
    policy = at.Policy(method, n_features=d, costs=COSTS, seed=3)
    for k, (x, label) in enumerate(zip(items, labels, strict=True)):
        costs = at.Costs(miss=2.0 + k % 3, false_alarm=1.0, hit=0.1)  # costs of each item
        expected = reference.judge(policy.learner.belief, x, costs)
        policy.look(-x, costs=costs)  # asking about another item changes nothing
        decision = policy.decide(x, costs=costs)
        yield decision, *expected
        reference.commit(decision.act)
        if decision.act:
            policy.learn(decision, int(label))


@pytest.mark.parametrize(("rule", "bent"), [*((rule, False) for rule in RULES), (RULES[0], True)])
def test_the_rule_is_its_formula(rng, rule, bent):
    items, labels, _ = segment(rng, 80, share=0.15, normals=2)
    if bent:
        items = with_ramps(items)
    looked = set()
    for decision, probability, worth, column in beside(Reference(items.shape[1], rule), rule, items, labels):
        assert decision.probability == pytest.approx(probability, abs=1e-6)
        assert decision.worth == pytest.approx(worth, rel=1e-5, abs=1e-9)
        assert decision.why.get("surprising_feature") == column
        looked.add(column)
    assert looked == {None, 1}  # never the intercept, before the first label or after, and no number


class OverItemsAskedAbout(Reference):
    """B_x as the mean over items whose surprise was asked about, and not over all."""

    def mean_matrix(self, share_of, newest=None):
        every = self.seen
        self.seen = [entry for entry in every if entry["open"] > 0.0] if newest and "open" in newest else every
        mean = super().mean_matrix(share_of, newest)
        self.seen = every
        return mean


class WearWithoutHeadStart(Reference):
    """The factor 1 / (1 + rho' R) of B_x with R = 2 t."""

    def appraise(self, which, *rest):
        self.which = which
        return super().appraise(which, *rest)

    def service(self, t, rate):
        left, part = super().service(t, rate)
        return left, 1 / (1 + rate * 2 * t) if self.which == "open" else part


@pytest.mark.parametrize("reading", ["asked about", "mean", "wear", "even"])
def test_other_readings_of_the_page_are_not_the_rule(rng, monkeypatch, reading):
    """The control of the test above: what docs/rules.md says otherwise would be seen."""
    items, labels, _ = segment(rng, 80, share=0.15, normals=2)
    rule, d = RULES[0], items.shape[1]
    reference = {"asked about": OverItemsAskedAbout, "wear": WearWithoutHeadStart}.get(reading, Reference)(d, rule)
    if reading == "even":
        reference.rule = replace(rule, forgetting=1.0)
    if reading == "mean":
        monkeypatch.setattr(surprise_formulas, "gaussian_of", lambda belief: (belief.mean, *gaussian_of(belief)[1:]))
    off = [
        abs(decision.worth - worth) / max(abs(decision.worth), 1e-9)
        for decision, _, worth, _ in beside(reference, rule, items, labels)
    ]
    assert max(off) > 1e-3


def test_a_renewal_switches_a_coefficient_that_the_labels_say_is_large():
    rng = np.random.default_rng(1)
    items, labels, _ = segment(rng, 600, share=0.3, inside=0.98, outside=0.01, normals=4)
    policy = voi(n_features=6, costs=COSTS, seed=1)
    plain = voi(n_features=6, costs=COSTS, seed=1, surprises=0.0)
    for x, label in zip(items, labels, strict=True):
        policy.teach(x, int(label))
        plain.teach(x, int(label))
    belief = policy.learner.belief
    m, V, (in_force, pool, _b, wide) = gaussian_of(belief)
    assert [omega_of(j, belief) > 0.8 for j in range(1, 6)] == [True, False, False, False, False]
    assert in_force[1] == wide[1] == WIDE
    assert in_force[0] == 4.0
    assert wide[0] == 0.0  # the intercept is no surprise
    rest = slice(2, 6)
    scale = (5 + np.sum(m[rest] ** 2 + V.diagonal()[rest])) / 9  # the pool without the surprise
    assert in_force[rest] == pytest.approx(scale, rel=0.05)
    assert pool == pytest.approx(in_force[2])
    assert policy.posterior.mean[1] > plain.posterior.mean[1] + 0.2  # less shrunk


@pytest.mark.parametrize("half_life", [None, 1e9])
def test_curves_keep_their_scales(half_life):
    """A curve opens as the labels say beside a surprise, and its ramps are no part of the pool."""
    rng = np.random.default_rng(1)
    items, labels, _ = segment(rng, 600, share=0.3, inside=0.98, outside=0.01, normals=2)
    items = with_ramps(items)
    labels |= items[:, 5] > 0.3
    policy = voi(n_features=6, costs=COSTS, groups=GROUPS, half_life=half_life, trees=False)
    plain = voi(n_features=6, costs=COSTS, groups=GROUPS, half_life=half_life, surprises=0.0, trees=False)
    for x, label in zip(items, labels, strict=True):
        policy.teach(x, int(label))
        plain.teach(x, int(label))
    m, V, (in_force, pool, _b, wide) = gaussian_of(policy.learner.belief)
    assert wide.tolist() == [0.0, WIDE, WIDE, WIDE, 0.0, 0.0]
    assert in_force[1] == WIDE  # the segment is a surprise
    assert (
        in_force[2] == in_force[3] == pool[2] == pytest.approx((5 + np.sum((m**2 + V.diagonal())[2:4])) / 7, rel=0.05)
    )
    ours, theirs = (player.learner.arrays()["prior"].diagonal()[4:6] for player in (policy, plain))
    assert ours[0] == ours[1] == pytest.approx(theirs[0], rel=0.1)
    assert ours[0] < 1.0  # open: tau^2 of 1 and more


@pytest.mark.parametrize(
    ("x", "found"),
    [([0.5, 3.0, 1.0], 2), ([0.5, 3.0, -1.0], 2), ([0.999, 1.001, -3.0], -1), ([1.0, 0.0, 0.999], 0)],
)
def test_what_is_not_exactly_1_or_minus_1_is_no_indicator(x, found):
    """All coefficients are open, and alike: only the item says which of them is looked at."""
    x, d = np.array(x), len(x)
    belief = np.zeros((gaussian.COVARIANCE + d, d))
    belief[gaussian.COVARIANCE :] = np.eye(d)
    rows = slab.make_slab(np.ones(d), np.zeros(d))
    rows[slab.WIDTH] = WIDE
    assert slab.most_unknown(x, x.copy(), float(x @ x), belief, rows) == found


@pytest.mark.parametrize("curves", [True, False])
def test_only_indicators_are_looked_at(curves):
    """A country that never came is looked at and named; the far values of a number are not."""
    rng = np.random.default_rng(4)
    rows = [{"amount": float(a), "country": c} for a, c in zip(rng.normal(size=200), ["DE", "FR"] * 100, strict=True)]
    features = at.Encoder(curves=curves).fit([*rows, {"amount": 0.0, "country": "NZ"}])
    policy = voi(n_features=features.n_features, costs=COSTS, groups=features.groups)
    for row in rows:
        policy.learn(act_on(policy, features.transform(row | {"amount": 0.2 * row["amount"]})), 0)
    for _ in range(100):
        assert "surprising_feature" not in policy.decide(features.transform({"amount": 3.0, "country": "DE"})).why
    decision = policy.decide(features.transform({"amount": 0.0, "country": "NZ"}))
    while not decision.act:
        assert policy.round < 500
        decision = policy.decide(decision.x)
    assert "most of it about country=NZ" in at.explain(policy, decision, features).reason.words


def test_no_blind_spots():
    """A segment of 10 % that pays, eight columns of noise, dear false alarms: at most one of eight streams is blind."""
    costs, blind = at.Costs(miss=1.0, false_alarm=4.0, hit=0.0), {0.0: 0, 0.2: 0}
    regret = dict.fromkeys(blind, 0.0)
    for stream in range(8):
        items, labels, c = segment(np.random.default_rng([7, stream]), 2000, inside=0.95, normals=8)
        for share in blind:
            acts = play(voi(n_features=10, costs=costs, seed=stream, surprises=share), items, labels)
            blind[share] += acts[c].mean() < 0.02
            regret[share] += (acts & ~c).sum() * (4 * 0.97 - 0.03) + (~acts & c).sum() * (0.95 - 0.2)
    assert blind[0.2] <= 1
    assert blind[0.0] >= 5  # the streams are hard
    assert regret[0.2] < 0.8 * regret[0.0]


def test_a_rare_flag_that_is_a_number_is_found():
    """Standardised it enters as 3, so that a small coefficient is a large effect; as 0 and 1 it would be missed.

    No surprise is needed for that, and none is looked for in a number.
    """
    costs, blind = at.Costs(miss=1.0, false_alarm=4.0, hit=0.0), {(True, 0.2): 0, (True, 0.0): 0, (False, 0.0): 0}
    for stream in range(4):
        items, labels, c = segment(np.random.default_rng([7, stream]), 2000, inside=0.95, normals=8)
        columns = {f"x{k}": items[:, k] for k in range(1, 10)}
        for standardise, share in blind:
            features, x = at.Encoder(standardise=standardise, curves=True).fit_transform(columns)
            options = {"groups": features.groups, "surprises": share}
            acts = play(voi(n_features=features.n_features, costs=costs, seed=stream, **options), x, labels)
            blind[standardise, share] += acts[c].mean() < 0.02
    assert blind[True, 0.2] == blind[True, 0.0] == 0
    assert blind[False, 0.0] >= 2  # the streams are hard


def test_a_direction_is_closed_after_negative_labels():
    policy = grown(voi(n_features=3, costs=COSTS, seed=2))
    rare = [1.0, 1.0, 0.0]
    assert policy.learner.belief.doubt.share == 0.2
    looks = 0
    for _ in range(40):
        decision = policy.decide(rare)
        looks += decision.act
        if decision.act:
            assert decision.why["surprising_feature"] == 1.0
            policy.learn(decision, 0)
    assert 1 <= looks <= 4
    assert omega_of(1, policy.learner.belief) < 0.2
    assert voi(n_features=3, costs=COSTS, surprises=0.0).decide(rare).why.keys() == {
        "chance_positive",
        "price_of_acting",
        "value_of_label",
    }


def test_a_label_on_its_way_is_not_bought_twice():
    """Once an item is worth a look and is acted on, the next one like it can wait for that label."""
    after = []
    for make in (at.streams.Awaiting, lambda policy: policy):
        player = grown(make(voi(n_features=3, costs=COSTS, seed=2)))
        while not player.decide([1.0, 1.0, 0.0]).act:
            assert player.policy.round < 400
        after.append(player.look([1.0, 1.0, 0.0]))
    assert after[1].probability == 1.0  # the policy by itself does not know that a label will come
    assert after[0].probability == 0.0
    assert after[0].worth < after[1].worth - 0.1


def test_batches_are_as_one_by_one(rng):
    for options in ({}, {"randomised": True}, {"horizon": 2000}, {"half_life": 300}):
        items, labels, _ = segment(rng, 300, share=0.05)
        one, many = (voi(n_features=5, costs=COSTS, seed=5, **options) for _ in range(2))
        for policy in (one, many):
            play(policy, items[:60], labels[:60])
        decisions = many.decide_many(items[60:])
        expected = [one.decide(x) for x in items[60:]]
        assert decisions.acts.tolist() == [d.act for d in expected]
        np.testing.assert_allclose(decisions.probabilities, [d.probability for d in expected], atol=1e-9)
        assert any("surprising_feature" in d.why for d in expected)
        np.testing.assert_allclose(many.learner.rule.arrays()["opened"], one.learner.rule.arrays()["opened"])


@pytest.mark.parametrize("options", [{}, {"half_life": 200}, {"ahead": "shared"}])
def test_a_saved_policy_goes_on_bit_for_bit(rng, tmp_path, options):
    items, labels, _ = segment(rng, 400, share=0.05)
    policy = voi(n_features=5, costs=COSTS, seed=5, **options)
    play(policy, items[:200], labels[:200])
    policy.save(tmp_path / "policy.at")
    loaded = at.load(tmp_path / "policy.at")
    assert {"slab", "rule.opened"} <= set(policy.learner.arrays())
    for x, label in zip(items[200:], labels[200:], strict=True):
        one, other = policy.decide(x), loaded.decide(x)
        assert (one.probability, one.worth, one.why) == (other.probability, other.worth, other.why)
        if one.act:
            policy.learn(one, int(label))
            loaded.learn(other, int(label))
    for name, array in policy.learner.arrays().items():
        np.testing.assert_array_equal(array, loaded.learner.arrays()[name])


def test_corrected_labels_open_a_direction_again():
    """Labels that said no of a rare indicator, taken back: the direction is as open as if they had never come."""
    policy, fresh = (grown(voi(n_features=3, costs=COSTS, seed=2), 100) for _ in range(2))
    decisions = [act_on(policy, [1.0, 1.0, 0.0]) for _ in range(3)]
    for decision in decisions:
        policy.learn(decision, 0)
    assert omega_of(1, policy.learner.belief) < 0.18
    for decision in decisions:
        policy.retract(decision)
    assert omega_of(1, policy.learner.belief) == omega_of(1, fresh.learner.belief) == 0.2


def test_explain_names_what_was_looked_at():
    rng = np.random.default_rng(3)
    rows = [{"amount": float(a), "country": c} for a, c in zip(rng.normal(size=200), ["DE", "FR"] * 100, strict=True)]
    features = at.Encoder().fit([*rows, {"amount": 0.0, "country": "NZ"}])
    policy = voi(n_features=features.n_features, costs=COSTS)
    for row in rows:
        policy.learn(act_on(policy, features.transform(row)), 0)
    decision = policy.decide(features.transform({"amount": 0.0, "country": "NZ"}))
    while not decision.act:  # it must come again to be worth a look
        assert policy.round < 300
        decision = policy.decide(decision.x)
    reason = at.explain(policy, decision, features).reason
    assert reason.code == "EXPLORE"
    assert "most of it about country=NZ" in reason.words
    assert "most of it about feature " in at.explain(policy, decision).reason.words


def test_where_there_are_no_surprises():
    for ahead in ("double", "lindy"):
        for options in ({}, {"horizon": 500}, {"half_life": 100}, {"groups": (0, 1, 1)}):
            assert at.policy(n_features=3, costs=COSTS, ahead=ahead, **options).learner.belief.doubt.share == 0.2
        for options in ({"prior": 4.0}, {"prior": 4.0, "adaptive": True}, {"adaptive": False}, {"surprises": 0.0}):
            assert at.policy(n_features=3, costs=COSTS, ahead=ahead, **options).learner.belief.doubt is None
    assert voi(n_features=256, costs=COSTS).learner.belief.doubt is None
    assert at.policy("adf-voi", n_features=3, costs=COSTS).learner.belief.doubt is None
    assert at.policy("exact-voi", n_features=3, costs=COSTS).learner.belief.score(np.ones(3), 1).doubt() is None
    for share in (-0.1, 0.6, math.nan):
        with pytest.raises(at.errors.OptionError, match="surprises must be"):
            voi(n_features=3, costs=COSTS, surprises=share)
    with pytest.raises(at.errors.OptionError, match="learnt scale"):
        voi(n_features=3, costs=COSTS, prior=4.0, surprises=0.2)
    matrix = Laplace(Gaussian(0.0, np.eye(3)), adaptive=True, surprises=0.2)
    with pytest.raises(at.errors.OptionError, match="not a matrix"):
        matrix.start(3, at.Key(1))


def test_the_change_of_one_variance_is_exact(rng):
    d, j = 4, 2
    root = rng.normal(size=(d, d))
    variances, mean = rng.uniform(0.2, 2.0, d), rng.normal(size=d)
    likelihood, pull = root @ root.T, rng.normal(size=d)
    V = np.linalg.inv(likelihood + np.diag(1 / variances))
    m = V @ (pull + mean / variances)
    rows = slab.make_slab(variances, mean)
    rows[slab.WIDTH] = WIDE * variances
    belief = np.vstack([m, m, np.zeros((2, d)), V])
    x = rng.normal(size=d)
    found = slab.widen(j, x, float(x @ m), float(x @ V @ x), V @ x, belief, belief, rows)
    wider = np.where(np.arange(d) == j, WIDE * variances, variances)
    other = np.linalg.inv(likelihood + np.diag(1 / wider))
    assert found == pytest.approx((x @ other @ (pull + mean / wider), x @ other @ x))
    np.testing.assert_allclose(rows[slab.SCENARIO], other @ x)
