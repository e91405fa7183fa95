"""What a month missed, by audits and reports together: the interval covers, is half as wide, and needs its parts."""

import math

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate import reporting
from appletaste.evaluate.by_design import by_design
from appletaste.evaluate.reporting import Law, inside, law_of, with_reports
from appletaste.evaluate.support import support_of

from ..chargebacks import SINCE, reported_log

STREAMS = 60
SE = math.sqrt(0.9 * 0.1 / STREAMS)
SMALL = {"items": 1500, "audit": 0.08, "positives": 0.02}
LOGS = {"usual": {}, "seldom reported": {"rate": 0.25}, "late": {"late": 20.0}}


def answers(log):
    """Return what is said of the last month, with and without reports."""
    support, chosen = support_of(log, 1e-3), inside(log, SINCE, None)
    design = by_design(log.where(chosen), support.among(chosen), 0.9, 1e-3)
    return design.missed, with_reports(log, support, chosen, design, 0.9)


def played(**how):
    return [answers(reported_log(np.random.default_rng([77, k]), **(SMALL | how))) for k in range(STREAMS)]


def ends(found):
    """Return the shares of intervals that cover, that are above the truth, and that are below it."""
    below = np.mean([one.truth < one.low for one in found])
    above = np.mean([one.truth > one.high for one in found])
    return 1.0 - below - above, below, above


@pytest.mark.parametrize("how", LOGS)
def test_one_interval_covers_and_is_narrow(how):
    rows = played(**LOGS[how])
    told = [one for _, one in rows if one.missed]
    assert len(told) > 0.85 * STREAMS
    for name in ("missed", "recall", "money"):
        covers, below, above = ends([answer for answer in (getattr(one, name) for one in told) if answer])
        assert covers > 0.86 - 2 * SE, name
        assert max(below, above) < 0.08 + 3 * SE, name
    if how == "usual":
        widths = np.array(
            [(one.missed.high - one.missed.low, alone.high - alone.low) for alone, one in rows if one.missed]
        )
        assert widths[:, 0].mean() < 0.5 * widths[:, 1].mean()
        assert sum(one.reporting.moved is not None for _, one in rows) <= 3
        rates = ends(
            [at.evaluate.Estimate(r.value, r.low, r.high, 0.9, "", 0.6) for r in (o.reporting.rate for o in told)]
        )
        assert rates[0] > 0.86 - 2 * SE


def test_without_the_error_of_the_rate_or_without_the_delay_it_fails(monkeypatch):
    """Controls: both are needed."""
    usual = reporting.rate_of

    def sure(part, values, rng, z):
        found = usual(part, values, rng, z)
        return found._replace(draws=np.full_like(found.draws, found.value))

    monkeypatch.setattr(reporting, "rate_of", sure)
    covers = ends([one.alone for _, one in played() if one.missed])[0]
    assert covers < 0.86 - 2 * SE
    monkeypatch.undo()

    def at_once(log, *given):
        law = law_of(log, *given)
        return Law(np.ones(len(log)), np.zeros(len(log)), 0.0) if isinstance(law, Law) else law

    monkeypatch.setattr(reporting, "law_of", at_once)
    covers, _, above = ends([one.alone for _, one in played(late=20.0) if one.missed])
    assert covers < 0.86 - 2 * SE
    assert above > 0.2


def test_a_rate_that_falls_to_a_quarter_is_spoken_of():
    """A month's audits cannot tell fewer missed from fewer reported; the number of reports says that either is so."""
    quiet = [one for _, one in played(items=4000) if one.missed]
    loud = [one for _, one in played(items=4000, recent_rate=0.15) if one.missed]
    assert sum(bool(one.doubt) for one in quiet) <= 2
    assert np.mean([bool(one.doubt) for one in loud]) > 0.7
    assert all("less often" in one.doubt for one in loud if one.doubt)
