"""Limited reviewers against a fixed threshold, and audit plans against the recall they promise."""

import math

import numpy as np
import pytest

import appletaste as at

from ..checks import z_of_mean

COSTS = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
FEATURES, ROUNDS, SHARE = 4, 800, 0.1


def stream(seed):
    rng = np.random.default_rng(seed)
    theta = rng.normal(size=FEATURES)
    items = np.column_stack([np.ones(ROUNDS), rng.normal(size=(ROUNDS, FEATURES - 1))])
    chances = 1 / (1 + np.exp(-(items @ theta) + 1.5))
    return items, chances, (rng.random(ROUNDS) < chances).astype(int)


def savings(acts, chances):
    """What acting rather than passing is expected to save, in all."""
    return float((COSTS.catch_gain * chances - COSTS.alarm_price * (1 - chances))[acts].sum())


def with_a_desk(items, labels, seed, budget, days):
    desk = at.Desk(at.policy("voi", n_features=FEATURES, costs=COSTS, seed=seed), budget)
    acts = np.zeros(len(items), dtype=bool)
    for t, x in enumerate(items):
        decision = desk.decide(x, time=float(days[t]))
        acts[t] = decision.act
        if decision.act:
            desk.learn(decision, int(labels[t]))
    return acts


def with_a_threshold(items, labels, seed, cut, reviews):
    """Act where the model's chance exceeds a fixed cut, as often in all, and on whichever days it likes."""
    policy = at.policy("voi", n_features=FEATURES, costs=COSTS, seed=seed)
    acts = np.zeros(len(items), dtype=bool)
    for t, x in enumerate(items):
        prospect = policy.look(x)
        wanted = float(acts.sum() < reviews and prospect.chance >= cut)
        decision = policy.settle(prospect._replace(probability=wanted))
        acts[t] = decision.act
        if decision.act:
            policy.learn(decision, int(labels[t]))
    return acts


BUDGETS = {
    "share": at.Budget(share=SHARE, window=100, recent=400),
    "per day": at.Budget(per_day=8, day=1.0, recent=400),
}


@pytest.mark.parametrize("kind", BUDGETS)
def test_a_budget_saves_no_less_than_a_fixed_threshold_with_as_many_reviews(kind):
    """Paired over 20 streams, against the best of seven thresholds in hindsight: at least 2 standard errors above.

    The negative control acts on as many items, evenly spread, and must be as far below.
    """
    budget, gains, losses = BUDGETS[kind], [], []
    for seed in range(20):
        items, chances, labels = stream(seed)
        days = np.floor(np.cumsum(1 / np.random.default_rng(seed).uniform(30, 130, ROUNDS)))  # 80 items a day or so
        acts = with_a_desk(items, labels, seed, budget, days)
        if kind == "share":
            assert max(acts[t : t + 100].sum() for t in range(ROUNDS)) <= 10
        else:
            assert max(acts[days == day].sum() for day in set(days)) <= 8
        cuts = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8)
        rivals = [with_a_threshold(items, labels, seed, cut, acts.sum()) for cut in cuts]
        best = max(savings(rival, chances) for rival in rivals)
        even = np.zeros(ROUNDS, dtype=bool)
        even[np.linspace(0, ROUNDS - 1, acts.sum()).astype(int)] = True
        gains.append(savings(acts, chances) - best)
        losses.append(savings(even, chances) - best)
    assert z_of_mean(gains, 0.0) > 2.0
    assert z_of_mean(losses, 0.0) < -2.0


def estimate(chances, labels, floors, found, rng):
    audited = rng.random(len(labels)) < floors
    missed = (labels[audited] / floors[audited]).sum()
    return found / (found + missed)


def test_a_plan_gives_the_margin_it_promises():
    """Recall from 1000 months of audits: within +-5 points 90 % of the time, in 3.5 standard errors; half do not."""
    rng = np.random.default_rng(11)
    found, months = 600, 1000
    plan = at.plan_audit(rng.beta(0.3, 20, size=20_000), found=found)
    assert plan.audits < 0.75 * plan.uniform
    within, halved = 0, 0
    for _ in range(months):
        chances = rng.beta(0.3, 20, size=20_000)
        labels = rng.random(20_000) < chances
        recall = found / (found + labels.sum())
        floors = np.array(plan.floors)[np.searchsorted(plan.edges, chances)]
        within += abs(estimate(chances, labels, floors, found, rng) - recall) <= 0.05
        halved += abs(estimate(chances, labels, 0.5 * floors, found, rng) - recall) <= 0.05
    error = math.sqrt(0.9 * 0.1 / months)
    assert abs(within / months - 0.9) < 3.5 * error
    assert abs(halved / months - 0.9) > 3.5 * error


def test_a_plan_made_with_a_model_that_is_off_still_covers():
    """Chances wrong by a factor of two either way: the estimate stays centred, which the design alone sees to."""
    rng = np.random.default_rng(12)
    found, errors = 600, []
    plan = at.plan_audit(rng.beta(0.3, 20, size=20_000), found=found)
    for _ in range(300):
        said = rng.beta(0.3, 20, size=20_000)
        chances = np.minimum(said * np.where(rng.random(20_000) < 0.5, 0.5, 2.0), 1.0)
        labels = rng.random(20_000) < chances
        floors = np.array(plan.floors)[np.searchsorted(plan.edges, said)]
        audited = rng.random(20_000) < floors
        errors.append((labels[audited] / floors[audited]).sum() - labels.sum())
    assert abs(np.mean(errors)) < 4 * np.std(errors, ddof=1) / math.sqrt(len(errors))


def test_audits_by_rate_tell_no_less_and_cost_less_than_an_even_floor():
    """Over 24 streams with 5 % positives: as many audits, within 3 standard errors, and more of them positive by 2.

    Estimates of what was missed stay centred, which exact probabilities see to; the control takes all of them as even.
    """
    shares, hits, errors, naive = [], [], [], []
    for seed in range(24):
        items, chances, labels = rare(seed)
        found = {}
        for name, lane in (("rate", at.Audit(rate=0.05)), ("floor", at.Audit(floor=0.05))):
            policy = at.policy("voi", n_features=FEATURES, costs=COSTS, seed=seed)
            desk = at.Desk(policy, at.Budget(share=SHARE, window=200), lane)
            made = [decide_and_learn(desk, x, y) for x, y in zip(items, labels, strict=True)]
            audits = np.array([d.audit for d in made])
            floors = np.array([d.probability for d in made])
            found[name] = audits, floors, np.array([d.act and not d.audit for d in made])
        shares.append(found["rate"][0].mean() - found["floor"][0].mean())
        hits.append(chances[found["rate"][0]].mean() - chances[found["floor"][0]].mean())
        audits, floors, acted = found["rate"]
        passed = ~acted & (floors > 0)
        errors.append((labels[audits] / floors[audits]).sum() - labels[passed].sum())
        naive.append(labels[audits].sum() / 0.05 - labels[passed].sum())
    assert abs(z_of_mean(shares, 0.0)) < 3.0
    assert z_of_mean(hits, 0.0) > 2.0
    assert abs(z_of_mean(errors, 0.0)) < 3.0
    assert z_of_mean(naive, 0.0) > 3.0


def rare(seed):
    rng = np.random.default_rng(100 + seed)
    theta = rng.normal(size=FEATURES)
    items = np.column_stack([np.ones(1500), rng.normal(size=(1500, FEATURES - 1))])
    chances = 1 / (1 + np.exp(-(items[:, 1:] @ theta[1:]) + 3.5))
    return items, chances, (rng.random(1500) < chances).astype(int)


def decide_and_learn(desk, x, label):
    decision = desk.decide(x)
    if decision.act:
        desk.learn(decision, int(label))
    return decision
