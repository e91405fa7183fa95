"""A constant that would have cost less: found where an interval says so, and the truth is inside."""

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.constants import better_constant
from appletaste.logs import DecisionLog


def logged(miss, rate, seed, audits=0.1, n=4000, price=None):
    """A log that acts on half of the items by a rule that knows nothing, and audits the others."""
    rng = np.random.default_rng(seed)
    truth, wanted = rng.random(n) < rate, rng.random(n) < 0.5
    act = wanted | (rng.random(n) < audits)
    costs = {"miss": miss, "false_alarm": 1.0, "hit": 0.25}
    rows = [
        {"id": k, "act": bool(act[k]), "probability": 1.0 if wanted[k] else audits, "chance": rate, **costs}
        | ({"label": int(truth[k])} if act[k] else {})
        | ({} if price is None else {"price": price})
        for k in range(n)
    ]
    done = np.where(act, np.where(truth, 0.25, 1.0), miss * truth).sum()
    return DecisionLog.from_rows(rows), done, np.where(truth, 0.25, 1.0).sum(), miss * truth.sum()


@pytest.mark.parametrize(("miss", "rate", "always"), [(30.0, 0.4, True), (1.0, 0.02, False)])
def test_the_constant_that_costs_less_is_said_with_what_it_saves(miss, rate, always):
    inside = 0
    for seed in range(20):
        log, done, on_all, on_none = logged(miss, rate, seed)
        found = better_constant(log)
        assert found.always == always
        inside += found.saving.low <= done - (on_all if always else on_none) <= found.saving.high + 1e-9
        told = f"{'always' if always else 'never'} acting would have cost "
        assert str(at.missed(log)).startswith(told)
        assert at.missed(log).as_dict()["constant"]["always"] == always
    assert inside >= 17  # 20 at 95 % each, within 3 standard errors


def test_nothing_is_said_where_nobody_knows():
    assert better_constant(logged(1.6, 0.5, 1)[0]) is None  # a draw: what a miss costs is what looking saves
    assert better_constant(logged(30.0, 0.4, 1, price=2.0)[0]) is None  # there was nobody to act on everything
    log, *_ = logged(30.0, 0.4, 1)
    certain = log.unchecked(probability=np.where(log.act, 1.0, 0.0))  # nothing is known of what was passed
    assert better_constant(certain) is None
    assert at.missed(certain).constant is None
    nobody = log.unchecked(act=np.zeros(len(log), dtype=bool), label=np.full(len(log), -1, dtype=np.int8))
    assert better_constant(nobody) is None


def test_the_days_of_a_stream_begin_with_it():
    log, *_ = logged(30.0, 0.4, 3)
    dated = log.unchecked(time=np.full(len(log), "2024-05-01T12:00"))
    assert str(at.reports.by_day(dated).total.constant).startswith("always acting would have cost ")
