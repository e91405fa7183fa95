"""What-if where extra acts hold next to no positives: the end at which all are negative is not excluded."""

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate import weights

STREAMS, N, EXTRA, RATE = 120, 3_000, 400, 0.03
COSTS = {"miss": 10.0, "false_alarm": 1.0, "hit": 0.0}


def drawn(seed):
    """Return a log in which a lower threshold adds 400 acts whose chances are far above what is there: nothing."""
    rng = np.random.default_rng([31, seed])
    chance = np.concatenate(
        [rng.uniform(0.2, 0.9, 200), rng.uniform(0.05, 0.09, EXTRA), np.full(N - EXTRA - 200, 0.01)]
    )
    truth = rng.random(N) < np.where(chance > 0.1, chance, 0.0)
    probability = np.where(chance > 0.1, 1.0, RATE)
    act = rng.random(N) < probability
    columns = {
        "id": np.arange(N),
        "act": act,
        "probability": probability,
        "chance": chance,
        "audit": act & (chance < 0.1),
    }
    costs = {name: np.full(N, value) for name, value in COSTS.items()}
    return at.DecisionLog.from_columns({**columns, **costs, "label": np.where(act, truth, np.nan), "truth": truth})


def beyond():
    """Return how often the truth is below and above: the cost (doubly robust), and the saving."""
    found = np.zeros((2, 2))
    for seed in range(STREAMS):
        told = at.what_if(drawn(seed), threshold=0.045)
        for k, answer in enumerate((told.dr, told.saving)):
            found[k] += answer.truth < answer.low, answer.truth > answer.high
    return found / STREAMS


def test_costs_at_most_holds_where_no_extra_act_is_positive(monkeypatch):
    bound = 0.05 + 3.0 * (0.05 * 0.95 / STREAMS) ** 0.5  # three standard errors above the tail that is asked for
    (_, above), (below, _) = beyond()
    assert max(above, below) <= bound
    monkeypatch.setattr(weights, "ENOUGH_POSITIVES", 0)  # the negative control: the doubly robust end alone
    (_, above), (below, _) = beyond()
    assert min(above, below) > bound


@pytest.mark.parametrize("half", [False, True])
def test_the_end_is_only_ever_further_out(monkeypatch, half):
    log = drawn(1)
    if half:  # labels on their way
        known = np.random.default_rng(2).random(N) < 0.9
        log = log.unchecked(label=np.where(known, log.label, -1).astype(np.int8))
    now = at.what_if(log, threshold=0.045)
    monkeypatch.setattr(weights, "ENOUGH_POSITIVES", 0)
    before = at.what_if(log, threshold=0.045)
    assert (now.dr.value, now.dr.low, now.ips) == (before.dr.value, before.dr.low, before.ips)
    assert now.dr.high >= before.dr.high
    assert now.saving.low <= before.saving.low
    assert now.saving.high == before.saving.high
