"""Intervals that are looked at every day: those for daily looks hold on all days, those for one look do not."""

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.daily import daily, stretch_daily

STREAMS, DAYS, EACH, PLANNED = 60, 24, 250, 3_000


def drawn(seed):
    """Return a log of thirty days, in which a policy acts by lot."""
    rng = np.random.default_rng([12, seed])
    n = DAYS * EACH
    truth = rng.random(n) < 0.1
    probability = np.where(np.arange(n) % 3 == 0, 0.5, 0.2)
    act = rng.random(n) < probability
    columns = {"id": np.arange(n), "act": act, "probability": probability, "chance": np.full(n, 0.1), "truth": truth}
    costs = {"miss": np.full(n, 9.0), "false_alarm": np.ones(n), "hit": np.zeros(n)}
    return at.DecisionLog.from_columns({**columns, **costs, "label": np.where(act, truth, np.nan)})


def asked(log):
    """Return what was missed by design, with the truth."""
    support = at.evaluate.support.support_of(log, 1e-3)
    design = at.evaluate.by_design.by_design(log, support, 0.9, 1e-3)
    return at.evaluate.answers.design_beside(design, log, support).missed


def test_daily_looks_hold_on_all_days_and_single_ones_do_not():
    once = every = 0
    for seed in range(STREAMS):
        log = drawn(seed)
        missed = np.zeros(2, dtype=bool)
        for day in range(1, DAYS + 1):
            some = log.where(np.arange(len(log)) < day * EACH)
            answer = asked(some)
            held = answer.covers(answer.truth), daily(answer, len(some), PLANNED).covers(answer.truth)
            missed |= ~np.array(held)
        once, every = once + missed[0], every + missed[1]
    error = (0.1 * 0.9 / STREAMS) ** 0.5
    assert every / STREAMS <= 0.1 + 3.0 * error
    assert once / STREAMS > 0.1 + 3.0 * error  # the negative control: each for one look


def test_the_price_is_least_at_the_planned_number():
    sizes = np.geomspace(100, 1e6, 200)
    prices = [stretch_daily(n, 10_000) for n in sizes]
    assert sizes[int(np.argmin(prices))] == pytest.approx(10_000, rel=0.1)
    assert min(prices) == pytest.approx(1.68, abs=0.01)
