"""What holds for every policy holds for one whose vectors have curves: late labels, changes, saving, reasons."""

import numpy as np
import pytest

import appletaste as at
from appletaste.kernels import gaussian as rows

from .entries import COSTS
from .entries import run as play

ENTRIES = [
    ("voi", {}),
    ("voi", {"randomised": True, "prior": 2.0}),
    ("voi", {"half_life": 100}),
    ("ts", {"skew": False}),
    ("ids", {}),
    ("pg-ts", {"sweeps": 3}),
    ("pg-ids", {"sweeps": 3, "rao_blackwell": True}),
    ("exact-voi", {"switch": 60}),
    ("exact-ts", {}),
    ("adf-voi", {}),
    ("adf-voi", {"half_life": 100}),
]
every = pytest.mark.parametrize(("name", "options"), ENTRIES)
#: A filter keeps no labels to change, and the scores of three draws are too noisy to compare.
changeable = pytest.mark.parametrize(("name", "options"), [e for e in ENTRIES if e[0] not in ("adf-voi", "pg-ts")])


def table(n, seed=4):
    """Two numbers that bend a score, one of them mostly 0, one that does not, and a category."""
    rng = np.random.default_rng(seed)
    columns = {
        "age": rng.normal(40, 12, n),
        "amount": np.where(rng.random(n) < 0.6, 0.0, rng.exponential(100.0, n)),
        "noise": rng.normal(size=n),
        "job": rng.choice(["chef", "pilot", "clerk"], n),
    }
    score = 1.5 * (np.abs(columns["age"] - 40) / 12 - 0.8) + 1.0 * (columns["amount"] > 0) + (columns["job"] == "chef")
    return columns, (rng.random(n) < 1 / (1 + np.exp(-score))).astype(int)


def made(name, options, n=260):
    columns, labels = table(n)
    features, X = at.Encoder(curves=True, warm_up=100).fit_transform(columns)
    policy = at.policy(name, n_features=X.shape[1], costs=COSTS, seed=7, groups=features.groups, **options)
    return policy, features, X, labels


@every
def test_saved_and_restored_bit_for_bit(name, options, tmp_path):
    policy, features, X, labels = made(name, options)
    play(policy, X[:173], labels[:173])
    policy.save(tmp_path / "p", features=features)
    back, same = at.load(tmp_path / "p"), at.FeatureMap.load(tmp_path / "p")
    assert same.groups == features.groups
    assert play(back, X[173:], labels[173:]) == play(policy, X[173:], labels[173:])


@every
def test_many_at_once_are_one_by_one(name, options):
    one, _, X, labels = made(name, options)
    many, _, _, _ = made(name, options)
    for policy in (one, many):
        play(policy, X[:120], labels[:120])
    singles = [one.decide(x) for x in X[120:]]
    assert [(d.act, d.probability) for d in many.decide_many(X[120:])] == [(d.act, d.probability) for d in singles]


@changeable
def test_late_and_changed_labels_end_where_the_right_ones_do(name, options):
    told, _, X, labels = made(name, options)
    right, _, _, _ = made(name, options)
    lost, _, _, _ = made(name, options)
    decisions = []
    for x in X:
        decision = told.settle(told.look(x)._replace(floor=1.0))
        for other in (right, lost):
            other.commit(other.look(x), decision)
        decisions.append(decision)
    for k in reversed(range(len(X))):
        told.learn(decisions[k], int(labels[k]) if k % 7 else 1 - int(labels[k]))
    told.revise([(decisions[k], int(labels[k])) for k in range(0, len(X), 7)])
    told.retract(decisions[5])
    for k, decision in enumerate(decisions):
        if k != 5:
            right.learn(decision, int(labels[k]))
    scores = [[policy.posterior.score(x).mean for x in X] for policy in (told, right, lost)]
    spreads = [[policy.posterior.score(x).variance for x in X] for policy in (told, right, lost)]
    for mine, theirs, before in (np.array(scores), np.array(spreads)):
        assert np.abs(mine - theirs).mean() < 0.2 * np.abs(before - theirs).mean()


def test_labels_on_their_way_are_kept_in_mind():
    policy, _, X, labels = made("voi", {})
    waiting = at.streams.Awaiting(policy)
    late = []
    for k, (x, label) in enumerate(zip(X, labels, strict=True)):
        decision = waiting.decide(x)
        if decision.act:
            late.append((k + 20, decision, int(label)))
        while late and late[0][0] <= k:
            waiting.learn(*late.pop(0)[1:])
    assert np.isfinite(policy.learner.belief.matrix[rows.MODE]).all()
    assert policy.learner.belief.labels.n > 50


def test_reasons_add_up_by_column():
    policy, features, X, labels = made("voi", {})
    play(policy, X, labels)
    columns, _ = table(260)
    record = {name: column[3] for name, column in columns.items()}
    found = at.explain(policy, record, features=features)
    assert sorted(part.column for part in found.contributions) == ["age", "amount", "job", "noise"]
    assert found.base + sum(part.value for part in found.contributions) == pytest.approx(found.score)
    assert sum(value for _, value in features.explain(X[3], policy.posterior.mean)) == pytest.approx(
        X[3] @ policy.posterior.mean
    )


def test_the_horizon_counts_columns_and_not_ramps():
    """Ramps that are always 0 change nothing in what a label is worth: 10 d and the head start count columns."""
    _, _, X, labels = made("voi", {})
    items = X[:, :4]
    padded = np.column_stack([items, np.zeros((len(items), 5))])
    plain = at.policy("voi", n_features=4, costs=COSTS, adaptive=False)
    bent = at.policy("voi", n_features=9, costs=COSTS, adaptive=False, groups=(0,) * 4 + (1,) * 5)
    for x, wide, label in zip(items, padded, labels, strict=True):
        one, other = plain.decide(x), bent.decide(wide)
        assert other.why["value_of_label"] == pytest.approx(one.why["value_of_label"], rel=1e-6)
        plain.teach(x, int(label))
        bent.teach(wide, int(label))


def test_many_features_begin_in_the_span_of_their_labels():
    """With 256 features and more curves wait for a matrix to learn their scales, and then do."""
    rng = np.random.default_rng(2)
    columns = {f"c{k}": rng.normal(size=260) for k in range(70)}
    labels = (rng.random(260) < 1 / (1 + np.exp(-3 * (np.abs(columns["c0"]) - 0.8)))).astype(int)
    features, X = at.Encoder(curves=True).fit_transform(columns)
    policy = at.policy("voi", n_features=X.shape[1], costs=COSTS, groups=features.groups)
    start = features.curves[0].start
    for k, (x, label) in enumerate(zip(X, labels, strict=True)):
        policy.teach(x, int(label))
        if k == 20:
            early = policy.posterior.covariance[start, start]
    assert X.shape[1] >= 256
    assert early < 0.02
    assert np.isfinite(policy.posterior.covariance).all()
    assert 1.0 / policy.learner.belief._now._prior[start, start] > 0.05
