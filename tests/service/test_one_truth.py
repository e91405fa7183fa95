"""Report, page and API give the same numbers for the same days, and no sentence is against another one.

Three streams: one whose labels come late, one where acting on everything would have been better, and one that changes.
The facts behind the sentences of the report are read, and held against what the service tells the page.
"""

import json
import re
from datetime import date

import numpy as np
import pytest

import appletaste as at
from appletaste.records.stores import MemoryStore
from appletaste.reports import by_day, gather, write_report
from appletaste.service.review.days import days_of
from appletaste.service.review.downloads import table_from
from appletaste.service.review.read_model import ReadModel, day_number

from .filling import Reading, fill

FIRST, LAST = "2024-05-01", "2024-05-31"
WORDS = "booking,cancellation,stay,call,let through,EUR"


def bookings(share=0.4, miss=60.0, n=1500, drift=0.0):
    """Return a stream of bookings that acts on a third of them by lot, of which a share is cancelled."""
    rng = np.random.default_rng(8)
    policy = at.policy("never", n_features=2, costs=at.Costs(miss=miss, false_alarm=6, hit=2))
    stream = at.Stream.create("memory", "bookings", at.Desk(policy, audit=at.Audit(rate=0.35)), seed=3, words=WORDS)
    with stream.group():
        for k in range(n):
            day, x = k * 31 // n, rng.normal(size=2) + (drift * (k > n // 2))
            when = f"2024-05-{1 + day:02d}T{k % 24:02d}:00"
            if stream.decide(x, id=f"b{k}", time=when, stratum="web" if k % 2 else "desk").act and day < 26:
                told = f"2024-06-{1 + day % 28:02d}T10:00"
                stream.label(f"b{k}", int(rng.random() < share), time=told)
    return stream


STREAMS = {
    "late labels": lambda: fill(MemoryStore()),
    "acting pays": lambda: bookings(),
    "seldom": lambda: bookings(share=0.03, miss=40.0, drift=2.5),
}


@pytest.fixture(scope="module", params=STREAMS)
def stream(request):
    return STREAMS[request.param]()


def amounts(told):
    return None if told is None or told.estimate is None else (told.estimate, told.low, told.high)


def answers(answer):
    return (answer.value, answer.low, answer.high) if answer else None


def test_report_page_and_library_say_the_same_to_the_cent(stream, tmp_path):
    following = ReadModel(Reading(stream)).catch_up()
    totals = days_of(following, day_number(FIRST), day_number(LAST), None).totals
    log = table_from(Reading(stream), date(2024, 5, 1), date(2024, 5, 31))
    library = by_day(log, FIRST, LAST).total
    report = write_report(log, tmp_path, first_day=FIRST, last_day=LAST, words=stream.words)
    facts = report.facts
    told = json.loads((tmp_path / "report.json").read_text())
    for page, ours, theirs in (
        (totals.saved, library.saved, facts.whole.saved),
        (totals.saved_acting, library.saved_acting, -1),
        (totals.missed, library.missed, facts.missed.design.missed),
        (totals.recall, library.recall, facts.missed.design.recall),
        (totals.precision, library.precision, facts.whole.precision),
    ):
        assert amounts(page) == answers(ours)
        if theirs != -1:
            assert answers(theirs) == answers(ours)
    acting = told["first_page"]["saved_against_acting"]
    if totals.saved_acting.estimate is None:
        assert "value" not in acting
    else:
        assert (acting["value"], acting["low"]) == (totals.saved_acting.estimate, totals.saved_acting.low)
    whole = facts.whole
    counts = (whole.decisions, whole.acts, whole.audits, whole.labels, whole.positives, whole.settled)
    named = ("decided", "acted", "audited", "labelled", "positive", "counted")
    assert tuple(getattr(totals, name) for name in named) == counts
    assert (totals.constant is None) == (facts.constant is None) == (report.first.constant == "")
    if totals.constant is not None:
        assert amounts(totals.constant.saving) == answers(facts.constant.saving)
        way = "Acting on" if totals.constant.always else "Passing"
        assert report.first.sentences()[0].startswith(stream.words.told(f"{way} every item would have cost"))
    # rows come to the headline: they are about the same items
    assert sum(one.settled for one in facts.periods) == whole.settled
    if whole.saved and all(one.saved for one in facts.periods):
        assert sum(one.saved.value for one in facts.periods) == pytest.approx(whole.saved.value, rel=1e-9)


def test_no_sentence_of_the_report_is_against_another(stream, tmp_path):
    log = stream.log()
    report = write_report(log, tmp_path, words=stream.words)
    facts, first = report.facts, report.first
    text = (tmp_path / "report.md").read_text()
    # the better constant first, and what is worse than a constant is not called a saving
    passing, acting = facts.whole.saved, facts.everything.saving
    if passing and acting and -acting.value < passing.value:
        assert first.headlines[0].answer.value == -acting.value
    if facts.constant is not None:
        assert text.index(stream.words.told(first.constant)) < text.index("What we saved")
    # advice does not ask for what is on, nor for the reverse of itself
    kinds = [one.kind for one in first.advice]
    assert len(kinds) == len(set(kinds))
    asked = " ".join(one.do for one in first.advice)
    if log.audit.any() or ((log.probability > 0) & ~log.act).any():
        assert "Audit a share of the items that are passed" not in asked
    threshold = next((one for one in first.advice if one.kind == "threshold"), None)
    if facts.constant is not None and threshold is not None:
        assert ("on every item" in threshold.do) == facts.constant.always
    # what cannot be said above is not said below
    if not facts.missed.design.missed:
        assert "positives were passed; recall is" not in text
    # one number of items, whoever says it
    own = stream.words.items
    assert {int(found.replace(",", "")) for found in re.findall(rf"([\d,]+) {own} were decided", text)} == {len(log)}
    assert not re.search(
        r"\b(positives?|EXPLOIT|shadow price|(?<!that )acts(?! on)|passed)\b", text.split("Appendix")[0]
    )


def test_the_shop_that_acts_by_lot_is_told_that_acting_on_everything_is_better(tmp_path):
    log = bookings().log()
    facts = gather(log)
    assert facts.constant.always
    assert facts.constant.saving.low > 0
