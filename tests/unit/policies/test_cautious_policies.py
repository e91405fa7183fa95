"""CBP-SIDE and SupLogistic against their formulas, at constants where they do pass."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.policies.cbp_side import project

from ...players import assert_same, state_of

COSTS = at.Costs(miss=1.0, false_alarm=0.7, hit=0.1)


def taught(name, n=200, d=2, seed=3, **options):
    rng = np.random.default_rng(seed)
    policy = at.policy(name, n_features=d, costs=COSTS, **options)
    seen = []
    for _ in range(n):
        x = rng.normal(size=d)
        decision = policy.decide(x)
        label = int(rng.random() < 1 / (1 + math.exp(-2 * x[0])))
        if decision.act:
            policy.learn(decision, label)
            seen.append((x, label))
    return policy, np.array([x for x, _ in seen]), np.array([label for _, label in seen])


def mle(items, labels):
    theta = np.zeros(items.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-items @ theta))
        hessian = (items * (p * (1 - p))[:, None]).T @ items + 1e-6 * np.eye(len(theta))
        theta = theta + np.linalg.solve(hessian, items.T @ (labels - p) - 1e-6 * theta)
    return theta


def test_cbp_side_is_its_formula():
    policy, items, labels = taught("cbp-side", curvature=0.01)
    theta, n, d = mle(items, labels), len(items), 2
    bound = np.linalg.norm(items, axis=1).max()
    passed = 0
    for x in np.random.default_rng(1).normal(size=(300, 2)):
        width = 0.01 * (
            math.sqrt(2 * d * math.log(1 + n * max(bound, np.linalg.norm(x)) ** 2 / d) + 4 * math.log(n))
            + max(bound, np.linalg.norm(x)) * d
        )
        width *= math.sqrt(x @ np.linalg.solve(items.T @ items, x))
        act = 1 / (1 + math.exp(-x @ theta)) - COSTS.threshold > -width
        probability, why = policy.learner.judge(x, COSTS, 1)[:2]
        assert probability == float(act)
        assert why["width"] == pytest.approx(width, rel=1e-5)
        passed += not act
    assert 50 < passed < 250


def test_cbp_side_acts_until_it_has_seen_every_direction():
    policy = at.policy("cbp-side", n_features=3, costs=COSTS, curvature=1e-3)
    for x in ([1.0, 0, 0], [0, 1.0, 0], [1.0, 1.0, 0]):
        for _ in range(40):
            decision = policy.decide(x)
            if decision.act:
                policy.learn(decision, 0)
    assert policy.probability([1.0, 0.5, 0]) == 0.0
    assert policy.probability([1.0, 0.5, 0.01]) == 1.0


def test_cbp_side_options_enter_the_formula():
    x = np.array([0.5, -1.0])
    widths = {}
    for bound in (None, 3.0, 6.0):
        learner = taught("cbp-side", curvature=0.01, item_bound=bound)[0].learner
        widths[bound] = learner.judge(x, COSTS, 1).why["width"]
    assert widths[6.0] > widths[3.0] > 0
    free, bounded = (taught("cbp-side", curvature=4.0, radius=r)[0].learner for r in (None, 0.3))
    assert np.linalg.norm(free.estimate()) > 0.3
    assert np.linalg.norm(bounded.estimate()) == pytest.approx(0.3)


def test_the_drawn_bound_acts_as_often_as_bounds_that_are_drawn():
    rng = np.random.default_rng(2)
    options = {"curvature": 0.3, "item_bound": 0.1}
    policy, items, labels = taught("rand-cbp-side", **options, spread=2.0, points=6, sure=0.1)
    theta, n, d, between = mle(items, labels), len(items), 2, 0
    for x in rng.normal(size=(60, 2)):
        root = math.sqrt(2 * d * math.log(1 + n * 0.01 / d) + 4 * math.log(n))
        lower = root * np.arange(5) / 5
        weights = np.exp(-(lower**2) / 8.0)
        drawn = np.where(rng.random(20_000) < 0.1, root, rng.choice(lower, 20_000, p=weights / weights.sum()))
        widths = 0.3 * (drawn + 0.1 * d) * math.sqrt(x @ np.linalg.solve(items.T @ items, x))
        share = np.mean(1 / (1 + math.exp(-x @ theta)) - COSTS.threshold > -widths)
        probability = policy.learner.judge(x, COSTS, 1).probability
        assert abs(probability - share) <= 4.5 * math.sqrt(max(share * (1 - share), 1e-4) / 20_000)
        between += 0.0 < probability < 1.0
    assert between > 3


def test_a_bound_that_is_always_whole_is_that_of_cbp_side():
    sure = taught("rand-cbp-side", curvature=0.02, sure=1.0)[0].learner
    plain = taught("cbp-side", curvature=0.02)[0].learner
    for x in np.random.default_rng(3).normal(size=(200, 2)):
        assert sure.judge(x, COSTS, 1).probability == plain.judge(x, COSTS, 1).probability


@pytest.mark.parametrize("name", ["cbp-side", "rand-cbp-side", "suplogistic"])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-6, 1e6])
def test_whatever_the_unit_of_the_features_they_act_until_they_have_seen_every_direction(name, scale):
    rng = np.random.default_rng(1)
    costs = at.Costs(1, 5, 0)
    options = {"horizon": 100, "burn_in": 0} if name == "suplogistic" else {}
    policy = at.policy(name, n_features=3, costs=costs, **options)
    for _ in range(3):
        decision = policy.decide(scale * rng.normal(size=3))
        assert decision.act
        policy.learn(decision, 0)


def test_projection_is_the_nearest_point_in_the_norm(rng):
    for _ in range(20):
        root = rng.normal(size=(3, 3))
        matrix, theta = root @ root.T, 3 * rng.normal(size=3)
        found = project(theta, matrix, 1.0)
        assert np.linalg.norm(found) <= 1 + 1e-9
        if np.linalg.norm(theta) <= 1:
            assert (found == theta).all()
            continue
        distance = (found - theta) @ matrix @ (found - theta)
        directions = rng.normal(size=(20_000, 3))
        others = directions / np.linalg.norm(directions, axis=1, keepdims=True)
        offsets = others - theta
        assert distance <= np.einsum("ij,jk,ik->i", offsets, matrix, offsets).min() + 1e-9


def test_suplogistic_levels_by_hand():
    policy, *_ = taught("suplogistic", n=400, horizon=400, alpha=0.05, burn_in=40)
    learner = policy.learner
    reference = learner._reference.theta
    counts = [bucket.labels.n for bucket in learner._buckets]
    assert sum(counts) >= 40
    assert len(counts) == int(math.log2(400)) + 1
    actions = set()
    for x in np.random.default_rng(1).normal(size=(200, 2)):
        level = 1
        while True:
            items = learner._buckets[level - 1].labels.arrays()["items"]
            p = 1 / (1 + np.exp(-items @ reference))
            first = np.sqrt(p[0] * (1 - p[0])) * items[0]
            fisher = (items * (p * (1 - p))[:, None]).T @ items + 1e-8 * (first @ first) * np.eye(2)
            width = 0.05 * math.sqrt(2.2) * math.sqrt(x @ np.linalg.solve(fisher, x))
            if width >= 2.0**-level:
                expected, bucket = 1.0, level
                break
            labels = learner._buckets[level - 1].labels.arrays()["labels"]
            chance = 1 / (1 + math.exp(-x @ mle(items, labels)))
            gap = COSTS.expected(False, chance) - COSTS.expected(True, chance)
            if width <= 400**-0.5 or abs(gap) > 2 * 2.0**-level or level == 8:
                expected, bucket = float(gap >= 0), 0
                break
            level += 1
        probability, why = learner.judge(x, COSTS, 1000)[:2]
        assert (probability, why["bucket"]) == (expected, float(bucket))
        actions.add((probability, why["bucket"] > 0))
    assert len(actions) == 3  # explores, acts on an estimate, passes on an estimate


def test_suplogistic_deals_its_burn_in_to_the_buckets():
    policy = at.policy("suplogistic", n_features=2, costs=COSTS, horizon=64, burn_in=14)
    buckets = [policy.decide([1.0, 0.5]).why["bucket"] for _ in range(14)]
    assert buckets == [1, 2, 3, 4, 5, 6, 7] * 2


def test_suplogistic_keeps_labels_of_estimates_out_of_its_buckets():
    policy = at.policy("suplogistic", n_features=2, costs=COSTS, horizon=64, alpha=0.05, burn_in=14)
    rng, explored, estimated = np.random.default_rng(2), 0, 0

    def filled():
        """Return how many labels are in each bucket."""
        return [len(policy.learner.arrays()[f"{place}.labels"]) for place in range(int(math.log2(64)) + 1)]

    for _ in range(120):
        decision, before = policy.decide(rng.normal(size=2)), filled()
        if not decision.act:
            continue
        policy.learn(decision._replace(why={}), int(decision.x[0] > 0))  # what is told to people decides nothing
        gained = [after - earlier for after, earlier in zip(filled(), before, strict=True)]
        bucket = int(decision.why["bucket"])
        assert gained == [place + 1 == bucket for place in range(len(gained))]
        explored += bucket > 0
        estimated += bucket == 0
    assert min(explored, estimated) > 10
    assert policy.learner.arrays()["order"].tolist().count(-1) == estimated


def test_suplogistic_learns_from_its_own_acts_only():
    policy, other = (at.policy("suplogistic", n_features=2, costs=COSTS, horizon=64, burn_in=b) for b in (14, 20))
    acted = [other.decide([1.0, 0.5]) for _ in range(3)][-1]
    before = state_of(policy)
    for learn, why in (
        (lambda: policy.learn(acted, 1), "is not one of this policy"),
        (lambda: policy.teach([1.0, 0.5], 1), "learns from its own acts only"),
    ):
        with pytest.raises(at.errors.FeedbackError, match=why):
            learn()
        assert_same(state_of(policy), before)
    policy.learn(policy.decide([1.0, 0.5]), 1)
    assert len(policy.learner.arrays()["order"]) == 1


def test_suplogistic_s_own_constant():
    x = np.array([0.3, -0.2])
    default, given = (
        taught("suplogistic", n=30, horizon=64, burn_in=30, **options)[0].learner.judge(x, COSTS, 40).why["width"]
        for options in ({}, {"alpha": 3.5 * math.sqrt(math.log(2 * 66 * 64))})
    )
    assert default == pytest.approx(given, rel=1e-12)


def test_cautious_policies_always_act_at_the_papers_horizons():
    table = at.problem("i").draw(at.Key(1))
    for name in ("cbp-side", "suplogistic"):
        policy = at.policy(name, n_features=5, costs=table.costs, **({"horizon": 500} if name[0] == "s" else {}))
        assert at.play(policy, table).act.all()
