"""Thresholds of one log are told together: the covariance of their errors, and the stretch that it asks for."""

from dataclasses import replace

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.together import Together, stretch, sums_of, together
from appletaste.evaluate.what_if import ground_of
from appletaste.reports.facts import gather
from appletaste.reports.sections import thresholds as threshold_section

THRESHOLDS = np.array([0.1, 0.2, 0.4])


@pytest.fixture(scope="module")
def log():
    rng = np.random.default_rng(3)
    n = 3000
    chance = rng.beta(1, 5, n)
    p = np.where(rng.random(n) < 0.5, 0.3, 0.9)
    act = rng.random(n) < p
    label = np.where(act & (rng.random(n) < 0.8), rng.random(n) < chance, np.nan)
    costs = {"miss": np.full(n, 5.0), "false_alarm": np.ones(n), "hit": np.zeros(n)}
    columns = {"id": np.arange(n), "act": act, "probability": p, "chance": chance, "label": label, **costs}
    return at.DecisionLog.from_columns(columns)


def test_the_covariance_is_that_of_the_two_martingales(log):
    ground = ground_of(log)
    known, p, q = ground.support.arrival.known, log.probability[log.labelled], ground.support.arrival.seen
    assert (known == np.flatnonzero(log.labelled)).all()
    g, chance = log.relative_cost[known], log.chance[known]
    assert (q < 1).any()
    off, e = g - ((1 - chance) - 5 * chance), (chance >= THRESHOLDS[:, None]).astype(float)
    out = (g - e * off / p) * np.sqrt(1 - q) / q
    drawn = e * off * np.sqrt((1 - p) / q) / p
    np.testing.assert_allclose(sums_of(ground, THRESHOLDS).covariance(), out @ out.T + drawn @ drawn.T, rtol=1e-10)


def test_multiples_of_equal_thresholds_are_thresholds(log):
    ground, own = ground_of(log), 1 / 6  # 1 / (1 + 5)
    found = sums_of(ground, THRESHOLDS / own, by_item=True).covariance()
    np.testing.assert_allclose(found, sums_of(ground, THRESHOLDS).covariance())


def test_the_stretch_makes_all_hold_at_once():
    rng = np.random.default_rng(1)
    root = rng.normal(size=(6, 6))
    covariance = root @ root.T
    errors = rng.standard_normal((20_000, 6)) @ root.T
    reach = 1.6449 * np.sqrt(np.diag(covariance))
    se = (0.9 * 0.1 / 20_000) ** 0.5
    assert abs((np.abs(errors) <= stretch(covariance, 0.9) * reach).all(axis=1).mean() - 0.9) < 5 * se
    assert (np.abs(errors) <= reach).all(axis=1).mean() < 0.75  # the control: each by itself
    assert stretch(np.zeros((3, 3)), 0.9) == stretch(np.ones((1, 1)), 0.9) == stretch(np.ones((0, 0)), 0.9) == 1.0


def test_answers_are_stretched_about_their_values(log):
    found = at.what_if(log, 0.2).saving
    wider = Together(2.0).widened(found)
    assert (wider.value, wider.high - wider.value) == (found.value, pytest.approx(2 * (found.high - found.value)))
    refusal = at.evaluate.Refusal("no")
    assert Together(2.0).widened(refusal) is refusal
    assert together(ground_of(log), [0.2]).factor == 1.0 < together(ground_of(log), THRESHOLDS).factor < 1.5


def test_the_report_tells_them_together_and_does_not_sell_the_threshold_in_force(log):
    facts = gather(log)
    section = threshold_section(facts)
    assert f"intervals are {facts.together.factor:.2f} times as wide" in " ".join(section.sentences)
    assert section.tables[0].header[-1] == "all at once"
    asked = facts.as_dict()["thresholds"][2]
    assert asked["saving_together"]["low"] < asked["saving"]["low"]
    answered = [(found.saving.value, threshold) for threshold, found in facts.thresholds if found.saving]
    best = max(answered)[1]
    for threshold, said in ((best, "it is no finding"), (best / 2, "too good to be true")):
        told = " ".join(threshold_section(replace(facts, threshold=threshold)).sentences)
        assert said in told
