"""Explanations: contributions add up, columns are one line each, and the reason is the one that made the decision."""

import json

import numpy as np
import pytest

import appletaste as at
from appletaste.features.parts import average_item, parts_of
from appletaste.policies.reasons import REASONS, reason_of

COSTS = at.Costs(miss=5, false_alarm=1, hit=0)
JOBS = ("student", "retired", "chef")


def people(n=300, seed=1):
    rng = np.random.default_rng(seed)
    return [
        {
            "age": float(rng.integers(20, 80)),
            "job": JOBS[rng.integers(3)],
            "income": None if k % 7 == 0 else rng.normal(),
        }
        for k in range(n)
    ]


def taught(name="voi", encoder=None, n=300, **options):
    rows = people(n)
    features = (encoder or at.Encoder()).fit(rows)
    policy = at.policy(name, n_features=features.n_features, costs=COSTS, seed=3, **options)
    decisions = []
    for row in rows:
        decision = policy.decide(features.transform(row))
        decisions.append(decision)
        if decision.act:
            policy.learn(decision, int(row["age"] < 40 or row["job"] == "student"))
    return policy, features, rows, decisions


ENCODERS = {
    "plain": at.Encoder(),
    "online with room": at.Encoder(online=True, spare=2, warm_up=50),
    "raw numbers": at.Encoder(standardise=False),
    "hashed": at.Encoder(hashing=16),
    "products": at.Encoder(interactions=[("age", "job")]),
    "hashed products": at.Encoder(hashing=16, interactions=[("age", "job")]),
    "no intercept": at.Encoder(intercept=False),
}


@pytest.mark.parametrize("encoder", ENCODERS.values(), ids=ENCODERS)
@pytest.mark.parametrize("asked", ["vector", "record", "decision", "reference"])
def test_base_and_contributions_are_the_posterior_mean(encoder, asked):
    policy, features, rows, decisions = taught(encoder=encoder, n=120)
    x = features.transform(rows[5], update=False)
    item = {"vector": x, "record": rows[5], "decision": decisions[5], "reference": x}[asked]
    reference = np.stack([d.x for d in decisions]) if asked == "reference" else None
    found = at.explain(policy, item, features, reference=reference)
    mean, spread = policy.posterior.mean, policy.posterior.covariance
    if asked == "decision":
        x = decisions[5].x
    total = found.base + sum(part.value for part in found.contributions)
    assert found.score == pytest.approx(mean @ x, abs=1e-12)
    assert total == pytest.approx(found.score, abs=1e-10)
    assert found.score_sd == pytest.approx(np.sqrt(x @ spread @ x))
    assert found.chance == pytest.approx(policy.chance(x))


@pytest.mark.parametrize("name", ["voi", "ts", "ucb", "ids", "adf-voi", "pg-ts", "pg-ids", "exact-ts", "exact-voi"])
def test_every_policy_with_a_posterior(name):
    policy, features, _rows, decisions = taught(name, n=60)
    before = policy.round, policy.probability(decisions[0].x)
    found = at.explain(policy, decisions[-1], features)
    assert found.base + sum(p.value for p in found.contributions) == pytest.approx(found.score, abs=1e-10)
    assert found.score_sd > 0
    assert (policy.round, policy.probability(decisions[0].x)) == before  # asking changes nothing
    assert at.explain(policy, decisions[-1], features) == found


@pytest.mark.parametrize("name", ["greedy", "cbp-side", "suplogistic", "always", "never"])
def test_policies_without_one_say_so(name):
    policy = at.policy(name, n_features=2, costs=COSTS)
    with pytest.raises(at.errors.OptionError, match="no posterior"):
        at.explain(policy, [1.0, 0.0])


def test_contributions_of_a_category_and_of_a_gap_are_one_line_in_words():
    policy, features, _rows, decisions = taught(trees=False)
    reference = np.stack([d.x for d in decisions])
    found = at.explain(policy, {"age": 33, "job": "retired", "income": None}, features, reference=reference)
    words = {part.column: part for part in found.contributions}
    assert {part.words for part in found.contributions} == {"age = 33", "job = retired", "income is missing"}
    names, mean = features.names(), policy.posterior.mean
    places = [k for k, n in enumerate(names) if n.startswith("job")]
    x = features.transform({"age": 33, "job": "retired", "income": None}, update=False)
    away = (x - reference.mean(axis=0))[places]
    assert words["job"].value == pytest.approx(mean[places] @ away)
    block = policy.posterior.covariance[np.ix_(places, places)]
    assert words["job"].sd == pytest.approx(np.sqrt(away @ block @ away))
    assert words["age"].value > 0  # 33 is young, and the young were positive


def words_of(features, x, record=None):
    return [part.words for part in parts_of(features, x, average_item(features, len(x)), record)]


def test_words_from_a_vector_alone():
    rows = [{"age": 30.0, "job": "chef", "city": "Rome"}, {"age": 50.0, "job": None, "city": "Oslo"}]
    features = at.Encoder(clip=2.0).fit(rows)
    assert words_of(features, features.transform({"age": 34, "job": "chef"})) == [
        "age = 34",
        "job = chef",
        "city is another level",
    ]
    far = features.transform({"age": 999, "job": None, "city": "Bonn"})
    assert words_of(features, far) == ["age = 60 or beyond", "job is missing", "city is another level"]
    record = {"age": 999, "job": None, "city": "Bonn"}
    assert words_of(features, far, record)[0] == "age = 999"
    assert words_of(features, far, record)[2] == "city = Bonn (not among its known levels)"
    online = at.Encoder(online=True).fit(rows)
    assert words_of(online, online.transform({"age": 50, "job": "chef", "city": "Rome"}))[0].startswith("age is +1")
    hashed = at.Encoder(hashing=8).fit(rows)
    x = hashed.transform(rows[0])
    assert sum(w.startswith("hashed") for w in words_of(hashed, x)) in (1, 2)
    assert {"job = chef", "city = Rome"} <= set(words_of(hashed, x, rows[0]))
    crossed = at.Encoder(interactions=[("age", "job")]).fit(rows)
    assert "age = 30 × job = chef" in words_of(crossed, crossed.transform(rows[0]))


def test_no_map_and_a_transformer():
    policy = at.policy(n_features=2, costs=COSTS)
    policy.teach([1.0, 2.0], 1)
    assert [p.words for p in at.explain(policy, [1.0, -2.0]).contributions] == ["feature 2 = -2", "feature 1 = 1"]
    from sklearn.preprocessing import StandardScaler

    scaler = at.features.TransformerMap(StandardScaler(), {"age": [30, 50], "income": [1, 3]})
    found = at.explain(policy, {"age": 60, "income": 5}, scaler)
    assert {p.column for p in found.contributions} == {"age", "income"}


def decision(act, probability, chance, value=None, **known):
    """Return the code; ``value`` is that of the label, on top of what acting saves now."""
    if value is not None:
        known["worth"] = COSTS.expected(False, chance) - COSTS.expected(True, chance) + value
    return reason_of(act, probability, chance, COSTS, **known).code


def test_reason_codes():
    assert decision(True, 1.0, 0.5) == "EXPLOIT"
    assert decision(True, 1.0, 0.1, value=0.5) == "EXPLORE"
    assert decision(True, 0.3, 0.1) == "EXPLORE"
    assert decision(True, 0.02, 0.01, audit=True) == "AUDIT"
    assert decision(False, 0.0, 0.5, price=0.4) == "CAPACITY"
    assert decision(False, 0.0, 0.1, price=0.4) == "PASS"
    assert decision(False, 0.0, 0.1, price=0.4, value=1.0) == "CAPACITY"
    assert decision(False, 0.02, 0.5, price=0.1, spent=True) == "CAPACITY"  # audits go on
    assert decision(False, 0.7, 0.5) == "RANDOM"
    assert decision(False, 0.7, 0.5, price=0.1) == "RANDOM"
    assert decision(False, 0.0, 0.1) == "PASS"
    assert decision(False, 0.02, 0.1, price=0.0) == "PASS"
    never = at.Costs.of_item(miss=3, false_alarm=5, hit=5)
    assert reason_of(False, 0.0, 0.9, never).code == "PASS"
    assert set(REASONS) == {"EXPLOIT", "EXPLORE", "AUDIT", "CAPACITY", "RANDOM", "PASS"}


def test_reasons_of_a_desk_at_work():
    """Every code of a real desk agrees with what happened, and the codes that should occur do."""
    rng = np.random.default_rng(4)
    lane = at.Audit(floor=0.05, budget=at.Budget(share=0.2, window=100))
    desk = at.Desk(at.policy("voi", n_features=2, costs=COSTS, seed=2), at.Budget(share=0.3, window=100), lane)
    seen = {}
    for _ in range(800):
        x = [1.0, rng.normal()]
        made = desk.decide(x)
        code = at.explain(desk, made).reason.code
        seen.setdefault(code, []).append(made)
        if made.act:
            desk.learn(made, int(rng.random() < 1 / (1 + np.exp(3 - 2 * x[1]))))
    assert all(d.audit for d in seen["AUDIT"])
    assert all(d.act and not d.audit for code in ("EXPLOIT", "EXPLORE") for d in seen[code])
    assert all(not d.act for code in ("CAPACITY", "PASS") for d in seen[code])
    assert all(d.why["chance_positive"] < COSTS.threshold for d in seen["EXPLORE"])
    assert all(d.why["chance_positive"] >= COSTS.threshold for d in seen["EXPLOIT"])
    assert len(seen["CAPACITY"]) > 50
    assert set(seen) == {"EXPLOIT", "EXPLORE", "AUDIT", "CAPACITY", "PASS"}  # nothing was left to a draw


def test_what_a_desk_would_do_is_within_its_budget_and_lane():
    """One review a day: after it the same item is passed for want of reviewers, and audited with its floor."""
    lane = at.Audit(floor=0.0, strata={"new": 0.6}, budget=at.Budget(share=0.5, window=10))
    desk = at.Desk(at.policy("voi", n_features=2, costs=COSTS, seed=2), at.Budget(per_day=1), lane)
    x = [1.0, 1.0]
    assert at.explain(desk, x, time="2024-05-01").reason.code == "EXPLOIT"
    assert desk.decide(x, time="2024-05-01").act
    spent = at.explain(desk, x, time="2024-05-01")
    assert (spent.act, spent.probability, spent.reason.code) == (None, 0.0, "CAPACITY")
    for who in (desk, at.streams.Ledger(desk)):
        assert at.explain(who, x, time="2024-05-01", stratum="new").probability == 0.6
        assert at.explain(who, x, time="2024-05-02").probability == 1.0
    assert desk.policy.round == 1
    with pytest.raises(at.errors.OptionError, match="needs the time"):
        at.explain(desk, x)
    waits = at.streams.Awaiting(at.policy("ts", n_features=2, costs=COSTS, seed=2))
    for k in range(20):
        waits.decide([1.0, 0.1 * k])
    x = [1.0, -2.5]
    assert at.explain(waits, x).probability == waits.probability(x) != waits.policy.probability(x)


def test_a_ledger_by_id_and_what_was_learnt_since():
    ledger = at.streams.Ledger(at.policy("voi", n_features=2, costs=COSTS))
    for k in range(30):
        made = ledger.decide([1.0, float(k % 5)], id=f"case-{k}")
        if made.act:
            ledger.label(f"case-{k}", int(k % 5 > 2))
    found = at.explain(ledger, "case-0")
    assert found.chance_then == ledger["case-0"].decision.why["chance_positive"]
    assert found.chance != found.chance_then
    assert "when decided" in str(found)
    assert found.base == pytest.approx(ledger.policy.posterior.mean @ [1.0, 2.0])  # the mean item of the ledger
    with pytest.raises(at.errors.FeedbackError, match="no decision 'case-99'"):
        at.explain(ledger, "case-99")


def test_text_and_json():
    policy, features, _rows, decisions = taught()
    found = at.explain(policy, decisions[7], features)
    text = str(found)
    assert text.splitlines()[1].startswith(found.reason.code)
    assert all(part.words in text for part in found.contributions)
    assert "average item" in text
    back = json.loads(json.dumps(found.as_dict()))
    assert back["reason"]["code"] == found.reason.code
    assert back["contributions"][0].keys() == {"column", "words", "value", "sd"}
    wide = at.policy(n_features=30, costs=COSTS)
    wide.teach(np.arange(30.0), 1)
    long = str(at.explain(wide, np.arange(30.0)))
    assert "20 more" in long
    assert at.explain(wide, np.ones(30)).act is None
    never = at.explain(wide, np.ones(30), costs=at.Costs.of_item(3, 5, 5))
    assert never.as_dict()["threshold"] is None
    assert "never pays" in str(never)


def test_wrong_questions_are_answered_clearly():
    policy, features, rows, decisions = taught(n=20)
    with pytest.raises(at.errors.InputError, match="give explain the stream"):
        at.explain(policy, "case-1")
    with pytest.raises(at.errors.InputError, match="needs the map"):
        at.explain(policy, rows[0])
    with pytest.raises(at.errors.InputError, match="takes a policy"):
        at.explain("voi", rows[0])
    with pytest.raises(at.errors.InputError, match="not its own map"):
        at.explain(policy, decisions[0], at.Encoder().fit(rows[:2]))
    with pytest.raises(at.errors.InputError, match=r"Encoder\(\)\.fit\(records\), got list"):
        at.explain(policy, decisions[0], features.names())
    with pytest.raises(at.errors.InputError, match="reference items"):
        at.explain(policy, decisions[0], features, reference=[[1.0, 2.0]])


def test_a_record_that_a_stream_has_not_decided_has_its_own_costs():
    costs = {"miss": "amount*0.9+15", "false_alarm": 6, "hit": 4}
    past = {"amount": [5.0, 80.0, 7.0, 95.0], "bad": [0, 1, 0, 1]}
    stream = at.streams.from_history(past, "bad", costs=costs, teach=True).create("memory", "orders")
    order = {"amount": 200.0}
    assert at.explain(stream, order).threshold == at.CostsByItem.of(costs).of_item(order).threshold
    assert at.explain(stream, order, costs=stream.costs).threshold == stream.costs.threshold
