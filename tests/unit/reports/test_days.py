"""The days of a report, and those before."""

from datetime import date

import pytest

from appletaste import DecisionLog
from appletaste.errors import OptionError
from appletaste.reports import gather
from appletaste.reports.first_page import first_page
from appletaste.reports.money import HANDFUL, now_and_before
from appletaste.reports.periods import Days, reported
from appletaste.words import Currency, Words

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0, "act": True, "probability": 0.5, "label": 1}


def daily(first, last, month=5, each=1):
    return DecisionLog.from_rows(
        {"id": f"{month}-{day}" + "'" * k, "time": f"2024-{month:02d}-{day:02d}T23:30:00-05:00", **COSTS}
        for day in range(first, last + 1)
        for k in range(each)
    )


def test_whole_months_are_compared_with_months_and_days_with_days():
    assert Days(date(2024, 3, 1), date(2024, 3, 31)).before() == Days(date(2024, 2, 1), date(2024, 2, 29))
    assert Days(date(2024, 1, 1), date(2024, 2, 29)).before() == Days(date(2023, 11, 1), date(2023, 12, 31))
    assert Days(date(2024, 3, 2), date(2024, 3, 31)).before() == Days(date(2024, 2, 1), date(2024, 3, 1))
    assert str(Days(date(2024, 3, 4), date(2024, 3, 4))) == "2024-03-04"


def test_both_ends_are_included_by_the_clock_on_the_wall():
    found = reported(daily(1, 20), "2024-05-11", "2024-05-15")
    assert found.log.id.tolist() == [f"5-{day}" for day in range(11, 16)]
    assert found.before.id.tolist() == [f"5-{day}" for day in range(6, 11)]
    assert not found.cut
    assert reported(daily(1, 20), "2024-05-05", "2024-05-10").cut
    assert len(reported(daily(1, 20), first_day=date(2024, 5, 15)).log) == 6
    start = reported(daily(1, 20), last_day="2024-05-15")
    assert (len(start.log), start.before) == (15, None)


def test_days_that_cannot_be_chosen_are_refused():
    with pytest.raises(OptionError, match="no decision is from 2025-01-01 to 2025-01-31; the log has 2024-05-01 to"):
        reported(daily(1, 20), "2025-01-01", "2025-01-31")
    with pytest.raises(OptionError, match="no decision is from 2025-01-01; the log has"):
        reported(daily(1, 20), "2025-01-01")
    with pytest.raises(OptionError, match="to a later one; got 2024-05-09 to 2024-05-01"):
        reported(daily(1, 20), "2024-05-09", "2024-05-01")
    with pytest.raises(OptionError, match="first_day= takes a day such as 2024-05-31; got 'soon'"):
        reported(daily(1, 20), "soon")
    undated = DecisionLog.from_rows([{"id": "a", **COSTS}])
    with pytest.raises(OptionError, match=r"no dates, .* leave out last_day='2024-05-31'"):
        reported(undated, last_day="2024-05-31")


def test_the_report_of_some_days_counts_those_and_compares_with_those_before():
    log = daily(1, 20, each=HANDFUL)
    facts = gather(log, first_day="2024-05-11", last_day="2024-05-15")
    assert (facts.whole.decisions, facts.before.decisions, facts.before.name) == (150, 150, "2024-05-06 to 2024-05-10")
    now, then = now_and_before(facts)
    assert (now.name, now.decisions, now.saved) == ("2024-05-11 to 2024-05-15", 150, facts.whole.saved)
    assert then is facts.before
    whole = gather(log, period="day")
    assert [one.name for one in now_and_before(whole)] == ["2024-05-20", "2024-05-19"]
    assert now_and_before(gather(log, last_day="2024-05-15")) is None


def test_a_handful_of_items_is_compared_with_nothing():
    """One order of 30 April is no month."""
    few, many = (log.rows() for log in (daily(30, 30, 4), daily(1, 20, each=HANDFUL)))
    log = DecisionLog.from_rows([*few, *many])
    facts = gather(log)
    assert [one.name for one in facts.periods] == ["2024-04", "2024-05"]
    page = first_page(facts, Words(), Currency())
    assert page.compared is None
    assert not any("Per 1,000" in said for line in page.headlines for said in line.beside)
    assert page.notes[-1] == "Nothing is compared: fewer than 30 items are of 2024-04."
    chosen = gather(log, first_day="2024-05-01", last_day="2024-05-31")
    assert now_and_before(chosen) is None
    june = daily(1, 20, 6, each=HANDFUL).rows()
    between = gather(DecisionLog.from_rows([*many, *june, *daily(1, 3, 7).rows()]))
    assert [one.name for one in now_and_before(between)] == ["2024-06", "2024-05"]
