"""What plan_audit says that a rate of audits will show is what audits at that rate show."""

import numpy as np
import pytest

import appletaste as at
from appletaste.streams.audit import EVEN

N, FOUND, RATE = 10_000, 300, 0.05


def passes():
    """Return chances, labels and a log of 10,000 decisions: 300 positives found for certain, the rest passed."""
    rng = np.random.default_rng(11)
    chance = np.concatenate([np.full(FOUND, 0.999), rng.beta(0.5, 15, size=N - FOUND)])
    act = np.arange(N) < FOUND
    label = np.where(act, 1.0, np.nan)
    return chance, act, label, rng


def shown(chance, act, label, rate):
    columns = {"id": np.arange(N), "act": act, "probability": act.astype(float), "label": label, "chance": chance}
    log = at.DecisionLog.from_columns(
        columns | {"miss": np.full(N, 5.0), "false_alarm": np.ones(N), "hit": np.zeros(N)}
    )
    return at.plan_audit(log, audit=f"{100 * rate:g}%").outlook.ahead[0]


def test_recall_is_known_as_well_as_the_outlook_says():
    chance, act, label, rng = passes()
    ahead = shown(chance, act, label, RATE)
    assert ahead.after == "10,000 decisions"
    passed = chance[~act]
    use = np.sqrt(passed / np.maximum(1.0 - passed - 5.0 * passed, 0.05))
    floors = np.minimum(RATE * (EVEN + (1 - EVEN) * use / use.mean()), 1.0)
    truth = rng.random(len(passed)) < passed
    audits = rng.random((2_000, len(passed))) < floors
    missed = (audits * (truth / floors)).sum(axis=1)
    sd = np.std(FOUND / (FOUND + missed)) * 1.645  # its own standard error is 1.6 %
    assert audits.sum(axis=1).mean() == pytest.approx(ahead.audits, rel=0.05)
    assert sd == pytest.approx(ahead.margin, rel=0.15)
    assert sd != pytest.approx(shown(chance, act, label, 0.5 * RATE).margin, rel=0.15)  # half as many: seen


def test_too_few_to_say_is_said():
    chance, act, label, _ = passes()
    ahead = shown(chance, act, label, 0.001)
    assert ahead.found < 10.0
    assert ahead.margin is None
