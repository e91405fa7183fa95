"""Intervals of groups hold together, and those of each group by itself do not."""

import numpy as np

import appletaste as at
from appletaste.evaluate import missed_by, what_if_by

STREAMS, GROUPS, EACH = 100, 6, 400


def drawn(seed):
    rng = np.random.default_rng([7, seed])
    n = GROUPS * EACH
    chance = rng.beta(1, 8, size=n)
    truth, probability = rng.random(n) < chance, np.where(chance > 0.2, 0.9, 0.2)
    act = rng.random(n) < probability
    columns = {"id": np.arange(n), "act": act, "probability": probability, "chance": chance, "truth": truth}
    costs = {"miss": np.full(n, 9.0), "false_alarm": np.ones(n), "hit": np.zeros(n)}
    log = at.DecisionLog.from_columns({**columns, **costs, "label": np.where(act, truth, np.nan)})
    return log, np.repeat(np.arange(GROUPS), EACH)


def together(answers):
    return all(answer.covers(answer.truth) for answer in answers)


def test_intervals_of_all_groups_hold_together():
    joint, alone, saving = np.zeros(3)
    for seed in range(STREAMS):
        log, groups = drawn(seed)
        joint += together(one.answers["missed"] for one in missed_by(log, groups))
        if seed < 60:
            saving += together(one.answers["saving"] for one in what_if_by(log, groups, 0.05))
        single = [at.missed(log.where(groups == k), policy=None).design.missed for k in range(GROUPS)]
        alone += together(single)
    error = (0.9 * 0.1 / STREAMS) ** 0.5
    assert joint / STREAMS >= 0.9 - 3.0 * error
    assert saving / 60 >= 0.9 - 3.0 * (0.9 * 0.1 / 60) ** 0.5
    assert alone / STREAMS < 0.9 - 3.0 * error  # the negative control: each at its own 90 %
