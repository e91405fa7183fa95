"""The money missed: the estimate is right on average, and its interval covers where amounts vary a hundredfold."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.by_design import by_design
from appletaste.evaluate.money_missed import money_missed
from appletaste.evaluate.support import support_of

STREAMS, ITEMS = 150, 4000
SE = math.sqrt(0.9 * 0.1 / STREAMS)


def logged(seed, by_amount):
    """Return a log with the labels of all items: lognormal amounts, 5 % audits or probabilities that follow chances."""
    rng = np.random.default_rng(seed)
    amount = np.exp(rng.normal(4.0, 1.4, ITEMS))
    chance = 1.0 / (1.0 + np.exp(2.6 - 1.2 * rng.normal(size=ITEMS) - 0.3 * (np.log(amount) - 4.0)))
    labels = rng.random(ITEMS) < chance
    miss = 0.9 * amount + 15.0
    sure = chance * (miss - 30.0) >= 30.0 * (1.0 - chance) if by_amount else chance > 0.3
    probability = np.where(sure, 1.0, 0.05 if seed % 2 else 0.15)
    act = rng.random(ITEMS) < probability
    columns = {"id": np.arange(ITEMS).astype(str), "act": act, "probability": probability, "miss": miss}
    seen = np.where(act, labels.astype(float), np.nan)
    full = {"false_alarm": np.full(ITEMS, 30.0), "hit": np.full(ITEMS, 30.0), "label": seen}
    return at.DecisionLog.from_columns({**columns, **full}), labels


def answered(by_amount):
    rows = []
    for seed in range(STREAMS):
        log, labels = logged(seed, by_amount)
        support = support_of(log, 1e-3)
        found = money_missed(log, support, 0.9, by_design(log, support, 0.9, 1e-3).missed)
        passed = support.usable & ~log.act & labels
        truths = log.miss[passed].sum(), np.maximum(log.catch_gain, 0.0)[passed].sum()
        rows.append([[a.value, a.low, a.high, t] for a, t in zip((found.cost, found.saving), truths, strict=True)])
    return np.array(rows)


@pytest.mark.parametrize("by_amount", [True, False])
def test_intervals_cover_and_estimates_are_right_on_average(by_amount):
    value, low, high, truth = np.moveaxis(answered(by_amount), 2, 0)
    shares = ((low <= truth) & (truth <= high)).mean(axis=0)
    assert (shares >= 0.86 - 3 * SE).all(), shares
    assert (shares <= 0.94 + 3 * SE).all(), shares
    off = value - truth
    assert (np.abs(off.mean(axis=0)) <= 4 * off.std(axis=0, ddof=1) / math.sqrt(STREAMS)).all()
    thin = ((0.5 * (low + value) <= truth) & (truth <= 0.5 * (high + value))).mean(axis=0)
    assert (thin < 0.86 - 3 * SE).all()  # control: half the interval does not cover


def test_equal_costs_are_the_count_times_the_cost():
    log, _ = logged(1, True)
    found = at.missed(log.priced(at.Costs(70, 30, 20)))
    count = found.design.missed
    assert (found.money.cost.low, found.money.cost.high) == (70 * count.low, 70 * count.high)
    assert found.money.saving.value == 50 * count.value
    assert found.as_dict()["money"]["cost"]["value"] == found.money.cost.value
    certain = log.where(log.probability == 1.0)
    nothing = at.missed(certain).money  # of what was never passed nothing was missed
    assert (nothing.cost.low, nothing.cost.high, nothing.cost_bounds) == (0.0, 0.0, (0.0, 0.0))


def test_what_the_log_cannot_see_is_anything_at_all():
    log, _ = logged(3, False)
    blind = log.act & (log.miss > 1000) & (log.probability < 1)
    rare = log.unchecked(probability=np.where(~log.act & (log.miss > 500), 0.0, log.probability))
    found = at.missed(rare.where(~blind))
    kept = rare.where(~blind)
    out = kept.miss[~kept.act & (kept.probability == 0.0)].sum()
    assert found.unsupported_passes > 0
    assert found.money.cost_bounds[1] == pytest.approx(found.money.cost.high + out)
    assert "their cost" in str(found)
