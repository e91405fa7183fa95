"""What another policy costs where reviewers err: covered with second looks, and hardly ever with labels as they are."""

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import InputError
from appletaste.evaluate.answers import Refusal
from appletaste.streams.lots import SecondLook

STREAMS, ITEMS, LOOKS = 40, 6000, 400
SENSITIVITY, SPECIFICITY = 0.98, 0.94
MISS = 9.0


def drawn(seed):
    """Return a log, second looks by lot, which items the alternative acts on, and the true values of its answers."""
    rng = np.random.default_rng([seed, 33])
    x = rng.normal(size=ITEMS)
    chance = 1 / (1 + np.exp(3.0 - x))
    truth = rng.random(ITEMS) < chance
    probability = np.clip(3.0 * chance, 0.1, 1.0)
    act = rng.random(ITEMS) < probability
    label = np.where(truth, rng.random(ITEMS) < SENSITIVITY, rng.random(ITEMS) >= SPECIFICITY)
    costs = {"miss": np.full(ITEMS, MISS), "false_alarm": np.ones(ITEMS), "hit": np.zeros(ITEMS)}
    columns = {"id": np.arange(ITEMS), "act": act, "probability": probability, "chance": chance, "x": x[:, np.newaxis]}
    log = at.DecisionLog.from_columns({**columns, **costs, "label": np.where(act, label, np.nan)})
    rows = rng.choice(np.flatnonzero(act), LOOKS, replace=False)
    looks = [SecondLook(str(k), int(label[k]), int(truth[k]), False, "", "", 0.2) for k in rows.tolist()]
    gain = np.where(truth, -MISS, 1.0)
    wanted = chance >= 0.12
    return log, looks, {"cost": gain[wanted].sum(), "logged": gain[act].sum()}


def test_another_policy_is_covered_with_second_looks_and_not_without():
    covered, raw = dict.fromkeys(("cost", "logged", "saving"), 0), 0
    for seed in range(STREAMS):
        log, looks, truth = drawn(seed)
        truth["saving"] = truth["logged"] - truth["cost"]
        found = at.evaluate.what_if_without_errors(log, looks, threshold=0.12)
        for name in covered:
            covered[name] += getattr(found, name).covers(truth[name])
        raw += at.what_if(log, threshold=0.12).dr.covers(truth["cost"])
    error = (0.9 * 0.1 / STREAMS) ** 0.5
    assert min(covered.values()) / STREAMS >= 0.9 - 3.0 * error, covered
    assert raw / STREAMS < 0.5  # the negative control: labels taken as true


def test_answers_are_refused_where_labels_may_say_nothing_and_told_as_json():
    log, looks, _ = drawn(1)
    few = at.evaluate.what_if_without_errors(log, looks[:10], threshold=0.12)
    assert isinstance(few.cost, Refusal)
    assert "10 second looks are too few" in str(few.saving)
    blind = [look._replace(first=k % 2) for k, look in enumerate(looks)]
    assert "labels may say nothing" in str(at.evaluate.what_if_without_errors(log, blind, threshold=0.12).cost)
    found = at.evaluate.what_if_without_errors(log, looks, threshold=0.12)
    assert set(found.as_dict()) == {"cost", "logged", "saving", "agreement"}
    assert "second looks were drawn by lot" in found.cost.assumes
    with pytest.raises(InputError, match="a reading is"):
        at.evaluate.what_if_without_errors(log, looks, threshold=0.12, reading="guess")


def test_looks_that_always_agree_change_nothing_but_the_width():
    log, looks, _ = drawn(2)
    agreeing = [look._replace(first=look.second) for look in looks]
    found, raw = at.evaluate.what_if_without_errors(log, agreeing, threshold=0.12), at.what_if(log, threshold=0.12).dr
    assert abs(found.cost.value - raw.value) < 0.3 * (raw.high - raw.low)
    assert found.cost.high - found.cost.low > raw.high - raw.low
