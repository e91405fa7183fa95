"""Intervals cover the truth on streams of a policy that learns; with probabilities mislogged they do not."""

import math

import numpy as np
import pytest

import appletaste as at

from ..coverage import BOUNDS, CONTROL, LATE, MISSED, SAVING, WHAT_IF, answers
from ..made import made_log

STREAMS = 80
#: Coverage between 0.86 and 0.94, give or take three standard errors of 120 streams.
SE = math.sqrt(0.9 * 0.1 / STREAMS)
LEAST, MOST = 0.86 - 3 * SE, min(1.0, 0.94 + 3 * SE)


@pytest.fixture(scope="module")
def found():
    return answers(STREAMS)


@pytest.fixture(scope="module")
def late():
    return answers(STREAMS, **LATE)


def covered(rows):
    """Return for each answer whether the truth is in the interval."""
    _, low, high, truth = rows.T
    slack = 1e-9 * (1.0 + np.abs(truth))  # an interval of a known cost is a point: not to be missed by rounding
    return (low - slack <= truth) & (truth <= high + slack)


@pytest.mark.parametrize("name", [*MISSED, *WHAT_IF])
def test_intervals_cover(found, name):
    assert len(found[name]) > STREAMS / 2
    assert LEAST <= covered(found[name]).mean() <= MOST


@pytest.mark.parametrize("name", [*MISSED, *SAVING])
def test_intervals_cover_with_labels_late_and_lost(late, name):
    assert len(late[name]) > STREAMS / 2
    assert LEAST <= covered(late[name]).mean() <= MOST


@pytest.mark.parametrize("name", BOUNDS)
def test_bounds_cover_at_least_as_often_as_they_say(late, name):
    assert len(late[name]) > STREAMS / 2
    assert covered(late[name]).mean() >= 0.9 - 3 * SE


@pytest.mark.parametrize("name", CONTROL)
def test_control_intervals_from_mislogged_probabilities_do_not_cover(found, name):
    assert len(found[name]) > STREAMS / 2
    assert covered(found[name]).mean() < LEAST


def test_estimates_are_unbiased(found):
    value, _, _, truth = found["missed, HT"].T
    error = value - truth
    assert abs(error.mean()) < 4 * error.std(ddof=1) / math.sqrt(len(error))


def test_control_a_normal_interval_misses_too_often():
    """With few positives estimate +- 1.645 se covers far less than 90 %: what stand-ins are for."""
    rng = np.random.default_rng(5)
    covered, ours = [], []
    for _ in range(400):
        labels = (rng.random(600) < 0.03).astype(np.int8)
        acts = rng.random(600) < 0.05
        count, missed = int(labels[acts].sum()), int(labels[~acts].sum())
        value, se = 19 * count, math.sqrt(count * 0.95) / 0.05
        covered.append(abs(value - missed) <= 1.645 * se)
        table = at.problems.Table("t", np.ones((600, 1)), np.full(600, 0.03), labels, at.Costs(1.0, 0.3, 0.0))
        log = made_log(table, acts, np.full(600, 0.05), features=False)
        answer = at.missed(log).design.missed
        if answer:
            ours.append(answer.covers(missed))
    se = math.sqrt(0.09 / 400)
    assert np.mean(covered) < 0.9 - 3 * se
    assert 0.86 - 3 * se <= np.mean(ours) <= 0.94 + 3 * se
