"""Pairs of columns: found where the labels speak for them and nowhere else, carried, saved and explained."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import OptionError
from appletaste.features.numbers import OPEN
from appletaste.policies.pairs import Candidate, Fit, Pairs, functions_of
from appletaste.policies.widening import FIRST

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.0)


def table(seed, n, kind):
    """Six columns; both signs of a and b matter together, or a and b each by itself."""
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.normal(size=n),
        "b": rng.normal(size=n),
        "noise": rng.normal(size=n),
        "amount": rng.exponential(size=n),
        "job": rng.choice(["chef", "pilot", "clerk"], n),
        "flag": rng.integers(0, 2, n).astype(float),
    }
    a, b = columns["a"], columns["b"]
    z = 3.0 * np.sign(a * b) if kind == "pair" else a - 0.7 * b + 0.5 * (columns["job"] == "chef")
    return columns, (rng.random(n) < 1 / (1 + np.exp(0.3 - z))).astype(int)


def made(kind="pair", seed=1, n=600, pairs=True, **options):
    columns, labels = table(seed, n, kind)
    features, X = at.Encoder(curves=True, warm_up=200).fit_transform(columns)
    given = {"pairs": features.units} if pairs else {}
    policy = at.policy("voi", n_features=X.shape[1], costs=COSTS, seed=3, groups=features.groups, **given, **options)
    return policy, features, X, labels


def play(policy, X, labels):
    found, cost = [], 0.0
    for x, label in zip(X, labels.tolist(), strict=True):
        decision = policy.decide(x)
        if decision.act:
            policy.learn(decision, label)
        cost += COSTS.false_alarm * (1 - label) if decision.act else COSTS.miss * label
        found.append((decision.act, decision.probability))
    return found, 1000.0 * cost / len(X)


def pairs_of(policy, features):
    """Return the pairs found, by the names of their columns."""
    owner = {}
    for column in features.columns:
        owner |= dict.fromkeys(range(column.start, column.start + len(column.names)), column.name)
    for curve in features.curves:
        owner |= dict.fromkeys(range(curve.start, curve.start + len(curve.names)), curve.column.name)
    return [tuple(owner[place] for place in added.made_of) for added in policy.learner.added()]


def teach(policy, X, labels):
    for x, label in zip(X, labels.tolist(), strict=True):
        policy.teach(x, label)


def test_units_are_the_columns():
    _, features, _, _ = made()
    assert len(features.units) == 6
    a, *_, job, flag = features.units
    assert len(a) == 2  # below and above the typical value
    assert sorted(place for side in a for place in side) == [
        place for place, group in enumerate(features.groups) if group == 1
    ]
    assert [features.names()[place] for (place,) in job] == ["job=chef", "job=clerk", "job=pilot", "job other"]
    assert [features.names()[place] for (place,) in flag] == ["flag"]


def test_a_pair_is_found_and_pays():
    """Paired over seeds, in standard errors of the difference.

    A policy that has come to act on one side of a alone cannot see the pair: there it looks like a line in b.
    """
    differences, found = [], 0
    for seed in range(6):
        with_pairs, features, X, labels = made(seed=seed, n=1500)
        without, *_ = made(seed=seed, n=1500, pairs=False)
        differences.append(play(with_pairs, X, labels)[1] - play(without, X, labels)[1])
        found += pairs_of(with_pairs, features) == [("a", "b")]
    assert found >= 4
    mean, error = np.mean(differences), np.std(differences, ddof=1) / np.sqrt(len(differences))
    assert mean < -30.0
    assert mean + 3 * error < 0.0


def test_where_there_is_no_pair_none_is_found():
    found = 0
    for seed in range(20):
        policy, features, X, labels = made("none", seed=seed, n=500)
        teach(policy, X, labels)
        found += len(pairs_of(policy, features))
    assert found <= 1


def test_without_a_pair_nothing_differs_from_a_policy_that_looks_for_none():
    one, _, X, labels = made("none")
    other, *_ = made("none", pairs=False)
    assert play(one, X, labels) == play(other, X, labels)


def test_labels_are_looked_at_in_their_number_alone():
    policy, features, X, labels = made()
    teach(policy, X[: FIRST - 1], labels[: FIRST - 1])
    assert pairs_of(policy, features) == []
    policy.teach(X[FIRST - 1], int(labels[FIRST - 1]))
    assert pairs_of(policy, features) == [("a", "b")]
    assert policy.n_features == X.shape[1]
    assert len(policy.posterior.mean) == X.shape[1] + 4
    products = np.array([policy.posterior.taken(x) for x in X[:FIRST]])[:, X.shape[1] :]
    assert np.mean((products**2).sum(axis=1)) == pytest.approx(1.0)  # their squares together, over the labelled items
    assert policy.posterior.score(X[0]).mean == pytest.approx(policy.posterior.taken(X[0]) @ policy.posterior.mean)


def test_the_same_labels_give_the_same_pairs():
    one, features, X, labels = made(n=700)
    other, *_ = made(n=700)
    assert play(one, X, labels) == play(other, X, labels)
    assert one.learner.added()[0].places.tolist() == other.learner.added()[0].places.tolist()
    assert pairs_of(one, features)


@pytest.mark.parametrize("until", [FIRST - 10, FIRST + 50])
def test_saved_and_restored_bit_for_bit(until, tmp_path):
    policy, features, X, labels = made(randomised=True)
    teach(policy, X[:until], labels[:until])
    play(policy, X[:5], labels[:5])
    policy.save(tmp_path / "p", features=features)
    back = at.load(tmp_path / "p")
    assert pairs_of(back, features) == pairs_of(policy, features)
    rest = slice(until, None)
    twin = policy.copy()
    expected = play(policy, X[rest], labels[rest])
    assert play(back, X[rest], labels[rest]) == expected
    assert play(twin, X[rest], labels[rest]) == expected
    assert pairs_of(policy, features) == [("a", "b")]


def test_many_at_once_are_one_by_one():
    one, features, X, labels = made(randomised=True)
    many, *_ = made(randomised=True)
    for policy in (one, many):
        teach(policy, X[:FIRST], labels[:FIRST])
        play(policy, X[FIRST:450], labels[FIRST:450])
    assert pairs_of(one, features)
    singles = [one.decide(x) for x in X[450:]]
    assert [(d.act, d.probability) for d in many.decide_many(X[450:])] == [(d.act, d.probability) for d in singles]
    assert one.decide(X[0]).probability == many.decide(X[0]).probability  # both remember the same


def test_an_item_that_was_looked_at_before_a_pair_joined_is_decided_all_the_same():
    policy, _, X, labels = made()
    teach(policy, X[: FIRST - 1], labels[: FIRST - 1])
    prospect = policy.look(X[300])
    policy.teach(X[FIRST - 1], int(labels[FIRST - 1]))
    assert policy.learner.added()
    twin = policy.copy()
    decision = policy.settle(prospect)
    assert decision.probability == prospect.probability
    assert twin.decide(X[300]).act == decision.act
    assert np.array_equal(*(one.learner.arrays()["rule.memory"] for one in (policy, twin)))  # it is remembered whole


def test_an_act_of_somebody_else_is_awaited_with_the_pairs_found():
    """Its label is on its way like that of any act: what is expected of it has the features found, not only its own."""
    policy, _, X, labels = made()
    teach(policy, X[:FIRST], labels[:FIRST])
    assert policy.learner.added()
    patient = at.streams.Awaiting(policy)
    passed = next(decision for x in X[FIRST:] if not (decision := patient.decide(x)).act)
    count = len(patient)
    patient.enact(passed, True)
    assert len(patient) == count + 1
    longer = policy.learner.belief.matrix.shape[1]
    assert patient.arrays()["waiting.items"].shape == (count + 1, longer)
    before = patient.look(passed.x)
    patient.learn(passed._replace(act=True), 1)
    assert patient.look(passed.x).chance > before.chance


def test_corrected_labels_give_what_the_right_ones_would_have():
    told, features, X, labels = made(n=300)
    right, *_ = made(n=300)
    decisions = []
    for x in X:
        decision = told.settle(told.look(x)._replace(floor=1.0))
        right.commit(right.look(x), decision)
        decisions.append(decision)
    for decision, label in zip(decisions, labels.tolist(), strict=True):
        told.learn(decision, 1 - label)
        right.learn(decision, label)
    told.revise([(decision, int(label)) for decision, label in zip(decisions, labels, strict=True)])
    assert pairs_of(told, features) == pairs_of(right, features) == [("a", "b")]
    assert np.array_equal(told.posterior.mean, right.posterior.mean)
    told.retract(decisions[0])
    assert told.learner.belief.labels.n == 299
    told.learn(decisions[0], int(labels[0]))
    assert told.learner.belief.labels.n == 300
    told.revise([(decision, None) for decision in decisions[:60]])  # fewer than pairs are looked for at
    assert pairs_of(told, features) == []
    assert np.isfinite(told.decide(X[0]).probability)


def test_labels_on_their_way_wait_in_longer_items_once_a_pair_joins(tmp_path):
    policy, features, X, labels = made(n=600)
    waiting, late = at.streams.Awaiting(policy), []
    for k, (x, label) in enumerate(zip(X, labels.tolist(), strict=True)):
        decision = waiting.decide(x)
        if decision.act:
            late.append((k + 40, decision, label))
        while late and late[0][0] <= k:
            waiting.learn(*late.pop(0)[1:])
    assert pairs_of(policy, features) == [("a", "b")]
    assert len(waiting) == len(late) > 5
    waiting.save(tmp_path / "w")
    back = at.load(tmp_path / "w")
    assert [back.decide(x).probability for x in X[:50]] == [waiting.decide(x).probability for x in X[:50]]
    alone = policy.look(X[3]).why
    assert waiting.look(X[3]).why["value_of_label"] < alone["value_of_label"]  # what was bought is not bought again


def test_a_pair_is_a_part_of_the_reasons():
    policy, features, X, labels = made()
    teach(policy, X, labels)
    record = {name: column[3] for name, column in table(1, 600, "pair")[0].items()}
    found = at.explain(policy, record, features)
    parts = {part.column: part for part in found.contributions}
    assert "a × b" in parts
    assert parts["a × b"].words == f"a = {record['a']:.6g} × b = {record['b']:.6g}"
    assert found.base + sum(part.value for part in found.contributions) == pytest.approx(found.score)
    assert found.score == pytest.approx(policy.posterior.score(X[3]).mean)
    bare = at.explain(policy, X[3])
    assert any(part.column.startswith("feature ") and " × feature " in part.column for part in bare.contributions)


def test_what_cannot_have_pairs_says_so():
    _, features, X, _ = made()
    given = {"n_features": X.shape[1], "costs": COSTS, "groups": features.groups}
    with pytest.raises(OptionError, match="leave out half_life"):
        at.policy("voi", pairs=features.units, half_life=100, **given)
    with pytest.raises(OptionError, match=r"pairs=features\.units"):
        at.policy("voi", pairs=True, **given)
    with pytest.raises(OptionError, match="there are 3"):
        at.policy("voi", pairs=features.units, n_features=3, costs=COSTS)
    with pytest.raises(OptionError, match="1000 columns at most"):
        at.policy("voi", pairs=[[[0]]] * 1001, n_features=3, costs=COSTS)
    prior = at.posteriors.Gaussian(0.0, np.eye(3))
    with pytest.raises(OptionError, match="not a matrix"):
        at.policy("voi", pairs=[[[0]], [[1]]], n_features=3, costs=COSTS, prior=prior)
    assert Pairs([[[0]], [[1], [2]]]).units == (((0,),), ((1,), (2,)))


def test_a_prior_of_one_variance_for_each_feature_grows():
    columns, labels = table(1, 300, "pair")
    items = np.column_stack([np.ones(300), columns["a"], columns["b"]])
    prior = at.posteriors.Gaussian([0.5, 0.0, 0.0], [4.0, 1.0, 1.0])
    policy = at.policy("voi", n_features=3, costs=COSTS, prior=prior, pairs=[[[1]], [[2]]])
    teach(policy, items, labels)
    assert len(policy.posterior.mean) == 4
    assert policy.posterior.mean[3] > 0.5


def test_evidence_is_that_of_the_formula():
    """Against the difference of two exact Gaussian evidences, with the weights of the null model."""
    rng = np.random.default_rng(3)
    items, labels = rng.normal(size=(400, 3)), rng.integers(0, 2, 400).astype(float)
    precisions = np.array([0.25, 1.0, 2.0])
    fit = Fit.of(items, labels, np.zeros(3), precisions, np.zeros(3))
    one, other = items[:, [1]], items[:, 2:]
    candidate = Candidate(one, other, fit)
    evidence, t = candidate.evidence()
    both = np.column_stack([items, candidate.products])
    known = (both.T * fit.weights) @ both + np.diag([*precisions, 1.0 / t])
    told = both.T @ fit.residuals
    told[:3] = 0.0  # the mode: residuals and prior are in balance
    alone = known[:3, :3]
    expected = 0.5 * (
        told @ np.linalg.solve(known, told) - np.linalg.slogdet(known)[1] + np.linalg.slogdet(alone)[1] - np.log(t)
    )
    assert evidence == pytest.approx(expected, abs=1e-6)


def test_evidence_of_a_pair_given_another_is_that_of_both_together():
    rng = np.random.default_rng(4)
    items, labels = rng.normal(size=(300, 4)), rng.integers(0, 2, 300).astype(float)
    fit = Fit.of(items, labels, np.zeros(4), np.ones(4), np.zeros(4))
    first, second = (Candidate(items[:, [0]], items[:, [k]], fit) for k in (1, 2))
    wider = Fit.of(
        np.column_stack([items, first.products]), labels, np.zeros(5), np.array([1, 1, 1, 1, 2.0]), np.zeros(5)
    )
    second.given(first, 0.5, fit.weights)
    exact = Candidate(items[:, [0]], items[:, [2]], wider)
    assert second.told == pytest.approx(exact.told, abs=0.5)
    assert second.information == pytest.approx(exact.information, rel=0.05)


def test_one_label_does_not_make_a_pair():
    """A positive where the model is sure of a negative, at a rare combination: a score test alone believes it."""
    rng = np.random.default_rng(5)
    n = 249
    line = rng.normal(size=n)
    rare, seldom = (rng.random(n) < 0.1).astype(float), (rng.random(n) < 0.1).astype(float)
    rare[(rare > 0) & (seldom > 0)] = 0.0
    labels = (line > 0).astype(int)
    items = np.column_stack([np.ones(n), line, rare, seldom])
    policy = at.policy("voi", n_features=4, costs=COSTS, pairs=[[[1]], [[2]], [[3]]], prior=25.0)
    teach(policy, items, labels)
    policy.teach([1.0, -3.0, 1.0, 1.0], 1)
    assert policy.learner.added() == ()


def test_the_most_frequent_level_is_left_out_and_what_never_changes():
    levels = np.eye(7)[np.r_[np.zeros(20, int), np.ones(9, int), np.full(3, 2), [3, 3, 4, 5, 5, 5, 5]]]
    assert functions_of(levels).tolist() == [1, 2, 3, 5]
    assert functions_of(np.ones((9, 1))).tolist() == []
    assert functions_of(np.arange(6.0).reshape(3, 2)).tolist() == [0, 1]


def test_a_replay_and_a_stream_know_the_columns():
    columns, labels = table(2, 900, "pair")
    stream = {**columns, "bad": labels}
    result = at.replay(
        stream, "bad", costs=COSTS, shuffles=2, policies=["voi", at.policies.PolicySpec("voi", {"pairs": True})]
    )
    plain, paired = (result[name].cost_per_1000.mean for name in list(result)[:2])
    assert paired < plain
    matrix = np.column_stack([np.ones(900), columns["a"], columns["b"]])
    alone = at.replay(
        matrix, labels, costs=COSTS, shuffles=1, policies=[at.policies.PolicySpec("voi", {"pairs": True})]
    )
    assert alone[next(iter(alone))].cost_per_1000.mean > 0
    made = at.streams.from_history(stream, "bad", costs=COSTS, options={"pairs": True}, teach=True)
    assert pairs_of(made.player.policy, made.features) == [("a", "b")]
    assert OPEN + 1 in made.player.policy.learner.belief._groups.numbers


def test_a_question_to_a_log_is_not_answered_by_a_posterior_of_longer_items():
    policy, _, X, labels = made(randomised=True)
    teach(policy, X[:FIRST], labels[:FIRST])
    ledger = at.streams.Ledger(at.Desk(policy, audit=at.Audit(rate=0.3)))
    for k, (x, label) in enumerate(zip(X, labels.tolist(), strict=True)):
        if ledger.decide(x, id=str(k)).act:
            ledger.label(str(k), label)
    assert policy.learner.added()
    assert "added features" in at.missed(ledger.log(), policy=policy).model.reason
