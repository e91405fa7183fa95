"""Labels of passes against brute force, and what is said where they say nothing."""

import json
from dataclasses import replace

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.reporting import Law, Part, Rate, _uneven, by_reports, inside, law_of, moved, ones, rate_of
from appletaste.evaluate.stand_ins import DRAWS
from appletaste.evaluate.support import support_of

from ...chargebacks import SINCE, reported_log

LOG = reported_log(np.random.default_rng(5))


def part_of(log):
    law = law_of(log)
    return Part.of(log, support_of(log, 1e-3), law, law.old)


def test_the_rate_is_reports_over_what_audits_say():
    part = part_of(LOG)
    log, law = part.log, part.law
    passed, seen = ~log.act & (log.report == 1), log.act & (log.label == 1) & (log.probability < 1)
    heard = sum(1.0 / f for f in law.shares[passed].tolist())
    missed = sum((1 - p) / p for p in log.probability[seen].tolist())
    z = np.zeros(DRAWS)
    found = rate_of(part, ones, np.random.default_rng(1), z)
    assert found.value == pytest.approx(heard / missed)
    assert abs(np.median(found.draws) / found.value - 1) < 0.05
    assert 0.45 < found.value < 0.8
    known = log.where(log.report >= 0)
    known = replace(known, report_time=known.time)  # reported at once: F is 1 everywhere
    assert law_of(known).shares.tolist() == [1.0] * len(known)


def test_what_reports_say_of_a_window_is_their_sum_by_their_chances():
    part = part_of(LOG)
    window = Part.of(*part, inside(part.log, SINCE, None))
    rate = Rate(0.5, np.full(DRAWS, 0.5), np.zeros(DRAWS))
    value, draws = by_reports(window, ones, rate, np.random.default_rng(2))
    f = window.law.shares[~window.log.act & (window.log.report == 1)]
    assert value == pytest.approx(sum(1.0 / (0.5 * one) for one in f.tolist()))
    spread = sum((1 - 0.5 * one) / (0.5 * one) ** 2 for one in f.tolist())
    half = 0.5 * float(np.mean(1.0 / (0.5 * window.law.shares[window.passes]) - 1.0))  # of one more
    assert abs(draws.mean() - value) < half + 5 * np.sqrt(2 * spread / DRAWS)
    assert 0.8 < draws.var() / spread < 1.6
    worth = by_reports(window, lambda log, rows: 3.0 * ones(log, rows), rate, np.random.default_rng(2))
    assert worth[0] == pytest.approx(3.0 * value)
    np.testing.assert_allclose(worth[1], 3.0 * draws)


def test_missed_since_a_day():
    found = at.missed(LOG, since=SINCE)
    told = found.with_reports
    alone = found.design.missed
    assert found.decisions == int((LOG.time >= SINCE).sum())
    assert told.missed.high - told.missed.low < 0.6 * (alone.high - alone.low)
    assert 0.6 < told.share < 1.0
    assert told.money.value == pytest.approx(5.0 * told.missed.value)
    assert found.best == (told.missed, told.recall, told.money)
    assert "reports carry" in str(found)
    assert "by design" not in str(found)
    assert told.reporting.half_after == pytest.approx(10.0 * np.log(2.0), rel=0.3)
    assert json.loads(json.dumps(found.as_dict()))["with_reports"]["share"] == told.share
    before = at.missed(LOG, until=SINCE)
    assert before.decisions + found.decisions == len(LOG)


def test_of_the_whole_log_reports_say_nothing_more():
    found = at.missed(LOG)
    assert found.with_reports.missed.reason.startswith("which share is reported is known from the audits of this very")
    assert found.best[0] == found.design.missed
    assert found.with_reports.reporting.rate.covers(0.6)
    without = LOG.unchecked(report=None, report_time=None)
    assert at.missed(without).design == found.design
    assert at.missed(without, since=SINCE).with_reports is None
    assert "with_reports" not in at.missed(without).as_dict()


def test_by_stratum_each_has_a_rate_of_its_own():
    names = np.where(np.arange(len(LOG)) % 2, "card", "bank")
    found = at.missed(replace(LOG, stratum=names), by="stratum", since=SINCE)
    rates = [one.with_reports.reporting.rate.value for one in found.values()]
    assert len(set(rates)) == 2
    with pytest.raises(at.errors.InputError, match="groups are of the whole log"):
        at.missed(LOG, by=names, since=SINCE)


def test_negatives_that_are_reported_have_a_rate_of_their_own():
    log = reported_log(np.random.default_rng(6), denied=0.02)
    found = at.missed(log).with_reports.reporting
    assert found.negatives == int((log.report == 0).sum())
    assert found.negative_rate.covers(0.02)
    assert "reported as negative" in str(found)


@pytest.mark.parametrize(
    ("log", "asked", "reason"),
    [
        (LOG.unchecked(report_time=None), {"since": SINCE}, "reports without times"),
        (LOG.where(LOG.report != 1), {"since": SINCE}, None),
        (LOG.where(~(LOG.act & (LOG.label == 1))), {"since": SINCE}, "0 positives that might have been passed"),
        (LOG, {"since": 359.9}, "so young"),
        (LOG.where((LOG.report != 1) | (LOG.round % 30 == 0)), {"since": SINCE}, "too few to say how late"),
    ],
)
def test_what_reports_cannot_say_is_withheld(log, asked, reason):
    found = at.missed(log, **asked)
    if reason is None:
        assert found.with_reports is None
        return
    assert reason in found.with_reports.missed.reason
    assert found.with_reports.missed.remedy
    assert found.best[0] == found.design.missed


def test_a_rate_that_moved_is_said_and_reports_are_set_aside():
    rng = np.random.default_rng(7)
    log = reported_log(rng, items=8000, audit=0.1)
    gone = (log.time > 180.0) & (rng.random(len(log)) < 0.8)
    log = log.unchecked(report=np.where(gone, -1, log.report), report_time=np.where(gone, np.nan, log.report_time))
    found = at.missed(log, since=SINCE).with_reports
    assert found.reporting.moved is not None
    assert found.reporting.moved.before > 2 * found.reporting.moved.since
    assert abs(found.reporting.moved.round - len(log) / 2) < len(log) / 6
    assert "has moved" in str(at.missed(log, since=SINCE))
    assert not found.missed


def test_a_constant_rate_seldom_looks_as_if_it_had_moved():
    rng = np.random.default_rng(8)
    by_audit = np.linspace(0.1, 0.3, 8)
    total = rng.poisson(60.0, (2000, 8))
    one, other = (_uneven(found := rng.binomial(total, by_audit), total - found, by_audit)[0] for _ in range(2))
    limit = np.quantile(one, 0.99)
    share = float((other > limit).mean())
    assert 0.002 < share < 0.022  # 1 % of 2,000: four standard errors either way
    half = np.where(np.arange(8) < 4, by_audit, 2.5 * by_audit)
    found = rng.binomial(total, half)
    assert (_uneven(found, total - found, by_audit)[0] > limit).mean() > 0.9
    assert moved(part_of(LOG)) is None


def test_windows_are_in_the_form_of_the_times():
    with pytest.raises(at.errors.InputError, match="are numbers"):
        at.missed(LOG, since="2024-06-01")
    with pytest.raises(at.errors.InputError, match="no decision of the log is in the window"):
        at.missed(LOG, since=1e6)
    with pytest.raises(at.errors.InputError, match="no times"):
        at.missed(LOG.unchecked(time=None, label_time=None, report=None, report_time=None), since=1.0)


def test_items_too_young_for_reports_are_taken_to_be_like_the_others():
    law = law_of(LOG)
    assert isinstance(law, Law)
    assert 0 < (~law.old).sum() < 0.05 * len(LOG)
    assert (LOG.time[~law.old] > 350.0).all()
