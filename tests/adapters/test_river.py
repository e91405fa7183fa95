"""A policy as a River classifier and active learner: River's own checks, and what they do not look at."""

import copy
import math
import pickle
import random

import numpy as np
import pytest

import appletaste as at

pytest.importorskip("river", reason="River is not installed: pip install 'appletaste[river]'")

from river import checks, compose, datasets, evaluate, linear_model, metrics, preprocessing

from appletaste.adapters.river import ActOrPass, PolicyClassifier

MODELS = {
    "voi": PolicyClassifier(),
    "pg-ts": PolicyClassifier("pg-ts"),
    "adf-voi": PolicyClassifier("adf-voi"),
    "active": ActOrPass(PolicyClassifier()),
}
#: River's checks that are known to fail, with the reason; docs/ecosystem.md has the list.
EXPECTED = {
    ("active", "check_predict_proba_one_binary"): "River's check does not know that an active learner returns a pair",
}
CHECKS = [(name, check) for name, model in MODELS.items() for check in checks.yield_checks(model)]


@pytest.mark.parametrize(("name", "check"), CHECKS, ids=lambda value: getattr(value, "__name__", value))
def test_rivers_own_checks(name, check):
    random.seed(1)
    if (name, check.__name__) in EXPECTED:
        with pytest.raises((AssertionError, AttributeError)):
            check(MODELS[name].clone())
        return
    check(MODELS[name].clone())


def stream(n=1500, seed=3):
    """Give amounts and countries; large amounts from one country are positive more often."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        amount, country = rng.normal(), str(rng.choice(["AT", "DE", "FR"]))
        score = 2 * amount + 2 * (country == "FR") - 2
        yield {"amount": 100 + 40 * amount, "country": country}, bool(rng.random() < 1 / (1 + math.exp(-score)))


def test_it_learns_as_well_as_rivers_own_logistic_regression():
    theirs = compose.TransformerUnion(
        compose.SelectType(float) | preprocessing.StandardScaler(),
        compose.SelectType(str) | preprocessing.OneHotEncoder(),
    )
    ours = evaluate.progressive_val_score(stream(), PolicyClassifier(), metrics.LogLoss()).get()
    reference = evaluate.progressive_val_score(
        stream(), theirs | linear_model.LogisticRegression(), metrics.LogLoss()
    ).get()
    assert ours < reference
    assert ours < 0.55  # the rate alone gives 0.62


def test_after_the_warm_up_it_is_the_policy_on_encoded_records():
    records = list(stream(300))
    model = PolicyClassifier("voi", encoder=at.Encoder(warm_up=32), seed=5)
    for x, y in records:
        model.learn_one(x, y)
    features = at.Encoder(warm_up=32).fit([x for x, _ in records[:32]])
    policy = at.policy("voi", n_features=features.n_features, costs=at.Costs(1, 1, 0))
    for x, y in records:
        policy.teach(features.transform(x), int(y))
    assert model.features.names() == features.names()
    x = {"amount": 150.0, "country": "FR"}
    assert model.predict_proba_one(x)[True] == policy.chance(features.transform(x))
    assert model.carried.n_features == features.n_features


def test_features_that_come_and_go():
    model = PolicyClassifier(encoder=at.Encoder(warm_up=16, spare=1))
    assert model.predict_proba_one({"a": 1.0}) == {False: 0.5, True: 0.5}
    assert model.features is None
    assert model.carried is None
    model.learn_one({}, True)  # a dict without features is a label all the same
    assert model.predict_proba_one({})[True] > 0.5
    for k in range(15):
        model.learn_one({"a": k, 7: "red" if k % 2 else "blue"}, k > 7)
    names = model.features.names()
    assert names == ["intercept", "7=blue", "7=red", "7 (free 1)", "7 missing", "7 other", "a", "a missing"]
    model.learn_one({"a": 1, 7: "green", "late": 3.0}, False)  # a level takes the free place, a feature none
    assert model.features.names() == [name.replace("7 (free 1)", "7=green") for name in names]
    assert 0 < model.predict_proba_one({"other": 1})[True] < 1


def test_costs_and_classes():
    clean_or_fraud = ("clean", "fraud")
    model = PolicyClassifier(costs=at.Costs(9, 1, 0), classes=clean_or_fraud)
    for x, y in stream(400):
        model.learn_one(x, clean_or_fraud[y])
    for x, _ in stream(50, seed=4):
        chances = model.predict_proba_one(x)
        assert tuple(chances) == clean_or_fraud
        assert model.predict_one(x) == clean_or_fraud[chances["fraud"] >= 0.1]
    with pytest.raises(at.errors.InputError, match=r"a label is one of \('clean', 'fraud'\), got 'ham'"):
        model.learn_one({"amount": 1.0}, "ham")


def test_a_copy_continues_bit_for_bit():
    records = list(stream(400))
    for policy in ("voi", "pg-ts"):
        model = ActOrPass(PolicyClassifier(policy))
        answers = []
        for k, (x, y) in enumerate(records):
            if k in (10, 200):  # in the warm-up, and after it
                model = pickle.loads(pickle.dumps(model)) if k == 10 else copy.deepcopy(model)
            answers.append(model.predict_proba_one(x))
            if answers[-1][1]:
                model.learn_one(x, y)
        straight = ActOrPass(PolicyClassifier(policy))
        for (x, y), answer in zip(records, answers, strict=True):
            assert straight.predict_proba_one(x) == answer
            if answer[1]:
                straight.learn_one(x, y)


def test_the_question_is_the_act_and_its_probability_is_recorded():
    model = ActOrPass(PolicyClassifier("pg-ts", costs=at.Costs(miss=2, false_alarm=1, hit=0)))
    probabilities, asked = [], []
    for x, y in stream():
        before = None if model.classifier.carried is None else model.classifier.carried.round
        _, ask = model.predict_one(x)
        decision = model.decision
        assert ask == decision.act
        assert before is None or decision.round == before + 1
        probabilities.append(decision.probability)
        asked.append(ask)
        if ask:
            model.learn_one(x, y)
    probabilities, asked = np.array(probabilities), np.array(asked)
    spread = math.sqrt((probabilities * (1 - probabilities)).sum())
    assert abs(asked.sum() - probabilities.sum()) < 4 * spread
    assert abs(asked.sum() - 0.8 * probabilities.sum()) > 4 * spread  # a bound that can be broken
    assert 0.05 < asked.mean() < 0.9


def test_it_asks_about_less_and_costs_less_than_always_asking():
    costs, total, always = at.Costs(miss=5, false_alarm=1, hit=0), 0.0, 0.0
    model = ActOrPass(PolicyClassifier(costs=costs))
    for x, y in datasets.Phishing():
        _, ask = model.predict_one(x)
        total += costs.incurred(ask, int(y))
        always += costs.incurred(True, int(y))
        if ask:
            model.learn_one(x, y)
    assert total < 0.5 * always


def test_transformers_go_before_it():
    model = preprocessing.StandardScaler() | ActOrPass(PolicyClassifier())
    for x, y in datasets.Phishing().take(100):
        _, ask = model.predict_one(x)
        if ask:
            model.learn_one(x, y)
    assert model.predict_proba_one(x)[0][True] != 0.5


def test_wrong_use_is_named():
    with pytest.raises(at.errors.OptionError, match="takes a PolicyClassifier, got LogisticRegression"):
        ActOrPass(linear_model.LogisticRegression())
    with pytest.raises(at.errors.OptionError, match="two different labels, \\(negative, positive\\)"):
        PolicyClassifier(classes=("a", "a"))
    with pytest.raises(at.errors.OptionError, match="always has no model of the labels"):
        PolicyClassifier("always").learn_one({"a": 1}, True)
    with pytest.raises(at.errors.InputError, match="features are a dict, got list"):
        PolicyClassifier().learn_one([1.0], True)


@pytest.mark.parametrize("before", [0, 1, 5, 63, 80])
def test_a_record_that_is_refused_leaves_nothing_behind(before):
    items = [({"amount": float(k % 7), "kind": "ab"[k % 2]}, k % 7 > 4) for k in range(100)]
    one, two = PolicyClassifier(), PolicyClassifier()
    for k, (x, y) in enumerate(items):
        if k == before:
            with pytest.raises(at.errors.InputError):
                one.learn_one({"amount": [1], "kind": "a"}, True)
        one.learn_one(x, y)
        two.learn_one(x, y)
    assert [one.chance(x) for x, _ in items[:14]] == [two.chance(x) for x, _ in items[:14]]


def test_two_features_of_one_name_and_costs_as_a_dict():
    with pytest.raises(at.errors.InputError, match="two features are called '1'"):
        PolicyClassifier().learn_one({1: 2.0, "1": 3.0}, True)
    model = PolicyClassifier(costs={"miss": 5, "false_alarm": 1, "hit": 0})
    assert model.predict_one({"amount": 1.0})  # one half is above the threshold, 1/6
    with pytest.raises(at.errors.InputError):
        PolicyClassifier(costs={"miss": 5}).predict_one({"amount": 1.0})
