"""What was missed where reviewers err: 1 % positives, 2 % of negatives called positive, 300 second looks."""

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.agreement import agreement, without_errors
from appletaste.streams.lots import SecondLook

STREAMS, PASSES, ACTS, LOOKS = 80, 20_000, 600, 300
SENSITIVITY, SPECIFICITY = 0.95, 0.98


def called(truth, rng):
    """Return what reviewers say."""
    return rng.random(len(truth)) < np.where(truth, SENSITIVITY, 1.0 - SPECIFICITY)


def drawn(seed, again):
    """Return a log, 300 second looks by lot, and how many positives were passed; ``again`` is who looks twice."""
    rng = np.random.default_rng([5, seed])
    n = PASSES + ACTS
    sure = np.arange(n) < ACTS
    chance = np.where(sure, 0.4, 0.01)
    truth = rng.random(n) < chance
    probability = np.where(sure, 1.0, 0.05)
    act = rng.random(n) < probability
    label = called(truth, rng)
    costs = {"miss": np.full(n, 9.0), "false_alarm": np.ones(n), "hit": np.zeros(n)}
    columns = {"id": np.arange(n), "act": act, "probability": probability, "chance": chance, "audit": act & ~sure}
    log = at.DecisionLog.from_columns({**columns, **costs, "label": np.where(act, label, np.nan)})
    rows = rng.choice(np.flatnonzero(act), LOOKS, replace=False)
    second = truth if again == "truth" else called(truth, rng)
    looks = [SecondLook(str(k), int(label[k]), int(second[k]), bool(~sure[k]), "", "", 0.2) for k in rows.tolist()]
    return log, looks, int((truth & ~act).sum())


@pytest.mark.parametrize("reading", ["truth", "independent"])
def test_missed_covers_with_second_looks_and_not_without(reading):
    covered, raw, s, c = np.zeros(4)
    for seed in range(STREAMS):
        log, looks, truth = drawn(seed, reading)
        found = without_errors(log, looks, reading=reading)
        covered += found.missed.covers(truth)
        s += found.agreement.sensitivity.covers(SENSITIVITY)
        c += found.agreement.specificity.covers(SPECIFICITY)
        if seed < 40:
            raw += at.evaluate.by_design.by_design(
                log, at.evaluate.support.support_of(log, 1e-3), 0.9, 1e-3
            ).missed.covers(truth)
    error = (0.9 * 0.1 / STREAMS) ** 0.5
    assert min(covered, s, c) / STREAMS >= 0.9 - 3.0 * error
    assert raw / 40 < 0.2  # the negative control: labels taken as true


def test_a_reading_that_is_wrong_misses():
    """Second looks that err are no truth: then the error of the second look counts as one of the first."""
    outside = 0
    for seed in range(40):
        _, looks, _ = drawn(seed, "independent")
        outside += not agreement(looks, reading="truth").specificity.covers(SPECIFICITY)
    assert outside > 8


def test_missed_says_that_labels_are_taken_as_true_where_that_matters():
    log, looks, _ = drawn(1, "truth")
    assert "labels are taken as true" in str(at.missed(log))  # 3 % are called positive, and 1 % are
    common = log.unchecked(label=np.where(log.labelled & (np.arange(len(log)) % 3 == 0), 1, log.label).astype(np.int8))
    assert "labels are taken as true" not in str(at.missed(common))
    few = without_errors(log, looks[:10])
    assert "10 second looks are too few" in str(few)
    assert not few.recall
