"""A tree model as a feature: refitted on labels seen, out of fold for those, saved by its labels."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import appletaste as at
from appletaste.adapters.sklearn import StackedScore
from appletaste.errors import InputError, OptionError, SaveFileError
from appletaste.policies.widening import FIRST

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.0)
QUICK = StackedScore(DecisionTreeClassifier(max_depth=4, min_samples_leaf=10))


def stream(n, seed=1):
    """What only a tree sees at once: three signs together."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([np.ones(n), rng.normal(size=(n, 4))])
    z = 2.5 * np.sign(X[:, 1] * X[:, 2] + 0.4) - 0.3
    return X, (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)


def made(stacked=QUICK, name="voi", **options):
    return stacked(at.policy(name, n_features=5, costs=COSTS, seed=3, **options))


def teach(policy, X, labels):
    for x, label in zip(X, labels.tolist(), strict=True):
        policy.teach(x, label)


def play(policy, X, labels):
    found = []
    for x, label in zip(X, labels.tolist(), strict=True):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)
        found.append((decision.act, decision.probability))
    return found


def test_the_score_joins_at_250_labels_and_is_held_and_scaled():
    policy, (X, labels) = made(), stream(300)
    teach(policy, X[: FIRST - 1], labels[: FIRST - 1])
    assert policy.learner.added() == ()
    teach(policy, X[FIRST - 1 :], labels[FIRST - 1 :])
    assert policy.n_features == 5
    assert [added.name for added in policy.learner.added()] == ["stacked score"]
    score = policy.learner.widened(X)[:, 5]
    assert np.abs(score).max() <= 2.0
    assert np.corrcoef(score, labels)[0, 1] > 0.4
    assert policy.posterior.mean[5] > 0.5


def test_labelled_items_are_learnt_with_the_values_of_models_that_did_not_see_them():
    """A tree that knows its own labels by heart is worth nothing on noise, and gets no weight."""
    rng = np.random.default_rng(4)
    X = np.column_stack([np.ones(FIRST), rng.normal(size=(FIRST, 4))])
    labels = rng.integers(0, 2, FIRST)
    policy = made(StackedScore(DecisionTreeClassifier()))
    teach(policy, X, labels)
    inside = policy.learner.widened(X)[:, 5]
    outside = policy.learner.belief.labels.arrays()["items"][:, 5]
    assert np.array_equal(inside > 0, labels == 1)
    assert abs(np.corrcoef(outside, labels)[0, 1]) < 0.2
    assert abs(policy.posterior.mean[5]) < 0.1


def test_the_default_model_pays_where_a_line_is_blind():
    X, labels = stream(900)
    costs = []
    for policy in (at.policy("voi", n_features=5, costs=COSTS, seed=3), made(StackedScore())):
        acts = np.array([act for act, _ in play(policy, X, labels)])
        costs.append(float(np.where(acts, 0.4 * (1 - labels), labels).mean()))
    assert costs[1] < 0.85 * costs[0]


def test_the_same_seed_gives_the_same_decisions_one_by_one_and_at_once():
    X, labels = stream(700)
    one, other, many = (made(randomised=True) for _ in range(3))
    for policy in (one, other, many):
        teach(policy, X[:FIRST], labels[:FIRST])
        play(policy, X[FIRST:400], labels[FIRST:400])
    singles = [(d.act, d.probability) for d in map(one.decide, X[400:])]
    assert [(d.act, d.probability) for d in map(other.decide, X[400:])] == singles
    assert [(d.act, d.probability) for d in many.decide_many(X[400:])] == singles


def test_saved_as_labels_and_fitted_again(tmp_path):
    policy, (X, labels) = made(StackedScore()), stream(340)
    teach(policy, X[:300], labels[:300])
    policy.save(tmp_path / "p")
    back = at.load(tmp_path / "p")
    assert play(back, X[300:], labels[300:]) == play(policy, X[300:], labels[300:])


def test_a_model_of_ones_own_is_not_saved_and_the_policy_says_so(tmp_path):
    with pytest.raises(SaveFileError, match="cannot save DecisionTreeClassifier"):
        made().save(tmp_path / "p")
    assert not (tmp_path / "p").exists()
    policy, (X, labels) = made(), stream(300)
    teach(policy, X, labels)
    twin = policy.copy()  # in memory it travels
    assert twin.decide(X[0]).probability == policy.decide(X[0]).probability


def test_a_file_says_which_adapter_to_import(tmp_path):
    made(StackedScore()).save(tmp_path / "p")
    script = f"import appletaste as at; at.load({str(tmp_path / 'p')!r})"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "appletaste.adapters.sklearn" in found.stderr.splitlines()[-1]


def test_corrected_labels_are_what_the_model_is_fitted_on():
    told, right, (X, labels) = made(), made(), stream(500)
    decisions = []
    for x in X:
        decision = told.settle(told.look(x)._replace(floor=1.0))
        right.commit(right.look(x), decision)
        decisions.append(decision)
    for decision, label in zip(decisions, labels.tolist(), strict=True):
        told.learn(decision, 1 - label)
        right.learn(decision, label)
    told.revise([(decision, int(label)) for decision, label in zip(decisions, labels, strict=True)])
    assert np.array_equal(told.posterior.mean, right.posterior.mean)
    assert told.chance(X[0]) == right.chance(X[0])


def test_the_score_is_one_part_of_the_reasons():
    policy, (X, labels) = made(), stream(300)
    teach(policy, X, labels)
    found = at.explain(policy, X[0])
    assert "stacked score" in [part.column for part in found.contributions]
    assert found.base + sum(part.value for part in found.contributions) == pytest.approx(found.score)


def test_no_model_without_enough_of_both_labels():
    X, _ = stream(FIRST)
    policy = made()
    teach(policy, X, (np.arange(FIRST) < 4).astype(int))
    assert policy.learner.added() == ()


def test_replay_wraps_each_policy_with_late_labels_and_a_history():
    X, labels = stream(600)
    for late in (None, 30):
        result = at.replay(X, labels, costs=COSTS, shuffles=1, wrap=QUICK, delay=late)
        plain = at.replay(X, labels, costs=COSTS, shuffles=1, delay=late)
        assert result["voi"].cost_per_1000.mean < plain["voi"].cost_per_1000.mean
    columns = {f"c{k}": X[:, k] for k in range(1, 5)} | {"bad": labels}
    head, tail = ({name: column[part] for name, column in columns.items()} for part in (slice(300), slice(300, None)))
    taught = at.replay(tail, "bad", costs=COSTS, history=head, order="as is", wrap=QUICK)
    alone = at.replay(tail, "bad", costs=COSTS, history=head, order="as is")
    assert taught["voi"].cost_per_1000.mean < alone["voi"].cost_per_1000.mean


def test_what_cannot_be_stacked_says_so():
    with pytest.raises(OptionError, match="predict_proba"):
        StackedScore(LinearRegression())
    with pytest.raises(OptionError, match="voi, ids and ts"):
        made(name="pg-ts")
    with pytest.raises(OptionError, match="half_life"):
        made(half_life=100)
    policy = at.policy("voi", n_features=5, costs=COSTS)
    policy.decide(np.ones(5))
    with pytest.raises(InputError, match="begins with the first"):
        QUICK(policy)


def test_the_seed_of_the_policy_is_that_of_the_model():
    settings = StackedScore(RandomForestClassifier(n_estimators=2))
    key = at.Key(1)
    assert settings.model(key).random_state == settings.model(key).random_state is not None
    assert StackedScore(RandomForestClassifier(random_state=7)).model(key).random_state == 7
