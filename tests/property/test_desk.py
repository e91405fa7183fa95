"""Budgets hold in every window and on every day, whatever comes, and recorded probabilities are what is drawn with."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import appletaste as at

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)


@settings(max_examples=40)
@given(
    name=st.sampled_from(["voi", "ts", "greedy", "always", "ids"]),
    window=st.integers(2, 30),
    acts=st.integers(0, 10),
    per_day=st.integers(0, 6),
    both=st.booleans(),
    gaps=st.lists(st.floats(-0.2, 0.6), min_size=60, max_size=60),
    seed=st.integers(0, 10_000),
)
def test_no_cap_is_ever_exceeded(name, window, acts, per_day, both, gaps, seed):
    share = min(acts, window) / window
    budget = at.Budget(per_day=per_day if both else None, share=share, window=window, day=1.0, recent=20)
    lane = at.Audit(floor=0.3, budget=at.Budget(share=0.5, window=4))
    desk = at.Desk(at.policy(name, n_features=2, costs=COSTS, seed=seed), budget, lane)
    items = np.random.default_rng(seed).normal(size=(60, 2))
    times = np.cumsum(gaps)  # now and then backwards
    regular, audits = [], []
    for x, time in zip(items, times, strict=True):
        expected = desk.probability(x, time=time)
        decision = desk.decide(x, time=time)
        assert decision.probability == expected
        regular.append(decision.act and not decision.audit)
        audits.append(decision.audit)
        assert decision.act or not decision.audit
        if decision.act:
            desk.learn(decision, int(x.sum() > 0))
    for first in range(60):
        assert sum(regular[first : first + window]) <= budget.most
        assert sum(audits[first : first + 4]) <= 2
    if both:
        days = np.floor(times)
        assert all(np.array(regular)[days == day].sum() <= per_day for day in set(days))


@settings(max_examples=40)
@given(
    name=st.sampled_from(["voi", "ts", "always", "never"]),
    window=st.integers(5, 30),
    acts=st.integers(2, 10),
    per_day=st.integers(1, 8),
    kind=st.sampled_from(["share", "day", "both"]),
    placed=st.sampled_from(["by rate", "even", "auto"]),
    gaps=st.lists(st.floats(-0.2, 0.3), min_size=60, max_size=60),
    seed=st.integers(0, 10_000),
)
def test_a_lane_without_a_budget_shares_the_caps(name, window, acts, per_day, kind, placed, gaps, seed):
    share = None if kind == "day" else min(acts, window) / window
    lane = {"by rate": at.Audit(rate=0.05), "even": at.Audit(floor=0.05), "auto": at.Audit.of("auto")}[placed]
    budget = at.Budget(per_day=None if kind == "share" else per_day, share=share, window=window, day=1.0, recent=20)
    desk = at.Desk(at.policy(name, n_features=2, costs=COSTS, seed=seed), budget, lane)
    items, times, made = np.random.default_rng(seed).normal(size=(60, 2)), np.cumsum(gaps), []
    for x, time in zip(items, times, strict=True):
        expected = desk.probability(x, time=time)
        decision = desk.decide(x, time=time)
        assert decision.probability == expected
        made.append(decision.act)
        if decision.act:
            desk.learn(decision, int(x.sum() > 0))
    if kind != "day":
        assert max(sum(made[first : first + window]) for first in range(60)) <= budget.most
    if kind != "share":
        days = np.floor(times)
        assert all(np.array(made)[days == day].sum() <= per_day for day in set(days))


@given(capacity=st.integers(0, 12), seed=st.integers(0, 10_000), name=st.sampled_from(["voi", "ts", "greedy"]))
@settings(max_examples=40)
def test_no_batch_exceeds_its_capacity(capacity, seed, name):
    policy = at.policy(name, n_features=2, costs=COSTS, seed=seed)
    items = np.random.default_rng(seed).normal(size=(20, 2))
    for _ in range(3):
        decisions = policy.decide_many(items, capacity=capacity)
        assert decisions.acts.sum() <= capacity
        for decision in decisions:
            if decision.act:
                policy.learn(decision, int(decision.x.sum() > 0))
