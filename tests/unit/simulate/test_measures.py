"""Metrics by hand, and the comparison with published cells."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.paper import KNOWN_MISMATCHES, PRECISION_RECALL, TUNING_REGRET, WEIGHTS, agreement
from appletaste.paper.published import AT_LENGTH, NEAR
from appletaste.policies import POLICIES
from appletaste.simulate.measures import Summary, calibration, quantile_bands


def test_precision_and_recall():
    acts, best = np.array([1, 1, 1, 0, 0], bool), np.array([1, 0, 1, 1, 0], bool)
    assert at.simulate.precision(acts, best) == pytest.approx(2 / 3)
    assert at.simulate.recall(acts, best) == pytest.approx(2 / 3)
    assert math.isnan(at.simulate.precision(np.zeros(3, bool), np.ones(3, bool)))
    assert math.isnan(at.simulate.recall(np.ones(3, bool), np.zeros(3, bool)))


def test_summary_leaves_out_what_is_undefined():
    summary = at.simulate.summarise([1.0, math.nan, 3.0])
    assert (summary.mean, summary.sd) == (2.0, pytest.approx(math.sqrt(2)))
    assert summary.se == pytest.approx(1.0)
    assert math.isnan(at.simulate.summarise([math.nan]).mean)
    assert math.isnan(at.simulate.summarise([1.0]).sd)


def test_bands():
    curves = np.tile(np.arange(101.0)[:, None], (1, 3))
    assert quantile_bands(curves).tolist() == [[5.0] * 3, [50.0] * 3, [95.0] * 3]


def test_calibration_sees_what_is_wrong(rng):
    p = rng.random(50_000)
    acts = rng.random(50_000) < p
    assert max(abs(bin_.z) for bin_ in calibration(p, acts)) < 4
    assert sum(bin_.count for bin_ in calibration(p, acts)) == 50_000
    assert max(abs(bin_.z) for bin_ in calibration(np.clip(p + 0.02, 0, 1), acts)) > 4
    assert calibration(np.zeros(3), np.array([False, True, False]))[0].z == math.inf
    assert calibration(np.ones(3), np.array([True, True, False]))[0].z == math.inf
    assert calibration(np.ones(3), np.ones(3, bool))[0].z == 0.0


def test_agreement_allows_rounding_and_counts_standard_errors():
    ours = Summary(mean=0.9, se=0.003, sd=0.02, q05=0, q50=0, q95=0)
    assert agreement(0.904, ours) == 0.0
    spread = math.hypot(0.003, 0.02 / math.sqrt(50))
    assert agreement(0.925, ours) == pytest.approx(0.02 / spread)
    assert agreement(0.875, ours) == pytest.approx(-0.02 / spread)
    assert math.isnan(agreement(0.9, at.simulate.summarise([math.nan])))
    certain = Summary(1.0, 0.0, 0.0, 1, 1, 1)
    assert agreement(1.0, certain) == 0.0
    assert agreement(0.9, certain) == -math.inf


def test_published_tables_are_whole():
    assert set(PRECISION_RECALL) == {"i", "ii", "iii"}
    assert all(len(table) == 6 and set(table) <= set(POLICIES) for table in PRECISION_RECALL.values())
    long = {
        (problem, policy, measure): agreement(published, AT_LENGTH[problem, policy, measure])
        for problem, table in PRECISION_RECALL.items()
        for policy, pair in table.items()
        for measure, published in zip(("precision", "recall"), pair, strict=True)
    }
    assert set(long) == set(AT_LENGTH)
    assert {cell for cell, z in long.items() if abs(z) > NEAR} == set(KNOWN_MISMATCHES)  # and nothing else is one
    assert all(len(row) == len(WEIGHTS) == 10 for row in TUNING_REGRET.values())
    # "lambda = 0.05 has the lowest mean regret combined": the check that the numbers were copied right
    combined = [sum(row[k][0] for row in TUNING_REGRET.values()) for k in range(10)]
    assert combined.index(min(combined)) == 1
    assert min(combined) == pytest.approx(29.96)
