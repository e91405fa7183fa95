"""Working calendars: capacity by weekday, in the days of a place."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import OptionError
from appletaste.streams.spending import Pace

BERLIN = "Europe/Berlin"


def seconds(*date, zone=BERLIN):
    return datetime(*date, tzinfo=ZoneInfo(zone)).timestamp()


def test_days_are_those_of_the_place():
    week = at.streams.Calendar.of("Mon-Fri 120, Sat 40", BERLIN)
    friday, saturday = week.day(seconds(2024, 5, 31, 23, 59, 59)), week.day(seconds(2024, 6, 1))
    assert (week.most(friday.number), week.most(saturday.number)) == (120, 40)
    assert saturday.number == friday.number + 1
    assert (saturday.begins, saturday.ends) == (seconds(2024, 6, 1), seconds(2024, 6, 2))
    assert week.day(saturday.ends - 1e-6) == saturday
    assert week.most(week.day(seconds(2024, 6, 2)).number) == 0
    utc = at.streams.Calendar.of("Mon-Fri 120, Sat 40")
    assert utc.most(utc.day(seconds(2024, 6, 1)).number) == 120  # still Friday there


def test_a_day_on_which_clocks_change_is_one_day():
    """The 31st of March 2024 had 23 hours in Berlin, the 27th of October 25."""
    week = at.streams.Calendar((1,) * 7, BERLIN)
    for date, hours in (((2024, 3, 31), 23), ((2024, 10, 27), 25)):
        day = week.day(seconds(*date))
        assert day.ends - day.begins == 3600 * hours
        assert week.day(day.begins) == week.day(day.ends - 1) == day
        assert week.day(day.ends).number == day.number + 1


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Mon-Fri 120, Sat 40", (120, 120, 120, 120, 120, 40, 0)),
        ("monday 5", (5, 0, 0, 0, 0, 0, 0)),
        ("Fri - Mon: 7,Wed 1", (7, 0, 1, 0, 7, 7, 7)),
        ("Tues-Thurs 3", (0, 3, 3, 3, 0, 0, 0)),
    ],
)
def test_capacities_as_people_write_them(text, acts):
    assert at.streams.Calendar.of(text).acts == acts


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mon-Fri", "'Mon-Fri' in 'Mon-Fri' is not"),
        ("Mon-Fri 12.5", "such as 'Mon-Fri 120, Sat 40'"),
        ("Mon-Fri 120, Sat", "'Sat' in"),
        ("Mon-Fri 120 Sat 40", "is not"),
        ("Mond 5, Foo 3", "'Foo' in 'Mond 5, Foo 3' is no day of the week: Mon, Tue"),
        ("Monkey 5", "no day of the week"),
        ("Mon-Fri 120, Fri 40", "Fri has two capacities"),
    ],
)
def test_what_is_no_calendar_is_said(text, message):
    with pytest.raises(OptionError, match=message):
        at.streams.Calendar.of(text)


def test_settings_are_checked():
    with pytest.raises(OptionError, match="no time zone 'Europe/Berlyn'"):
        at.streams.Calendar.of("Mon 5", "Europe/Berlyn")
    with pytest.raises(OptionError, match="seven numbers"):
        at.streams.Calendar((1, 2))
    with pytest.raises(OptionError, match="the acts of Tue"):
        at.streams.Calendar((1, -2, 3, 4, 5, 6, 7))
    with pytest.raises(OptionError, match="no calendar has the time"):
        at.streams.Calendar((1,) * 7).day(1e14)


def test_a_week_at_a_desk(tmp_path):
    """Each day has its own cap, Sunday has none, and a saved desk goes on alike."""
    costs = at.Costs(miss=5.0, false_alarm=1.0, hit=0.0)
    budget = at.Budget(per_day=at.streams.Calendar.of("Mon-Fri 6, Sat 2", BERLIN), recent=50)
    desk = at.Desk(at.policy("voi", n_features=2, costs=costs, seed=3), budget, at.Audit(rate=0.02))
    rng = np.random.default_rng(5)
    acts = np.zeros(14, dtype=int)
    for day in range(14):
        for k in range(48):
            x, now = [1.0, rng.normal()], seconds(2024, 5, 27) + 86400 * day + 1800 * k  # from a Monday on
            decision = desk.decide(x, time=now)
            if day == 9 and k == 20:
                desk.save(tmp_path / "desk.at")
                desk = at.load(tmp_path / "desk.at")
                assert desk.budget == budget
            if decision.act:
                acts[day] += 1
                desk.learn(decision, int(rng.random() < 1 / (1 + np.exp(1 - 2 * x[1]))))
    assert (acts <= np.tile([6, 6, 6, 6, 6, 2, 0], 2)).all()
    assert acts[6] == acts[13] == 0
    assert acts[7:12].sum() >= 20


def test_a_day_is_planned_by_the_same_weekday_of_the_weeks_before():
    pace = Pace(at.Budget(per_day=at.streams.Calendar((4,) * 7, BERLIN)))
    first = seconds(2024, 5, 27)
    for day, items in enumerate([100, *[10] * 6]):
        for k in range(items):
            pace.note(first + 86400 * day + 60 * k, False, float(k))
    monday = Pace(pace.budget)
    monday.restore({**pace.arrays(), "worths": np.arange(1000) / 1000})
    assert monday.price(first + 86400 * 7) == pytest.approx(1 - 4 / 100, abs=2e-3)
    assert monday.price(first + 86400 * 8) == pytest.approx(1 - 4 / 10, abs=2e-3)
