"""A clock that is wrong for a while: times are those of the clock, the order stays, and it is said aloud."""

import logging
import time

import pytest

import appletaste as at
from appletaste.records.codec import stamp_of
from appletaste.records.events import ClockSet
from appletaste.streams import Budget

from .crashing import COSTS, ITEMS

DAY = 86_400


class Clocks:
    """The clock of the machine, which somebody sets, and the one that nobody sets."""

    def __init__(self, monkeypatch):
        self.wall, self.steady = time.time_ns(), 10**15
        monkeypatch.setattr("appletaste.records.timepiece.time.time_ns", lambda: self.wall)
        monkeypatch.setattr("appletaste.records.timepiece.steady_clock", lambda: self.steady // 1000)

    def go_on(self, seconds):
        self.wall += seconds * 10**9
        self.steady += seconds * 10**9

    def set_by(self, seconds):
        self.wall += seconds * 10**9


@pytest.fixture
def clocks(monkeypatch):
    return Clocks(monkeypatch)


def made(store, **given):
    policy = at.policy("always", n_features=2, costs=COSTS)
    return at.Stream.create(store, "orders", at.Desk(policy, budget=Budget(per_day=5)), seed=5, **given)


def acts(stream, clocks, name):
    """Return how many of ten items are acted on."""
    done = 0
    for k in range(10):
        clocks.go_on(1)
        done += stream.decide(ITEMS[k], id=f"{name}-{k}").act
    return done


def settings_of_the_clock(stream):
    return [round(event.seconds / DAY) for _, event in stream.events() if isinstance(event, ClockSet)]


def test_one_decision_while_the_clock_is_ahead_stops_nobody(home, clocks):
    store = home.open()
    stream = made(store)
    clocks.set_by(10 * DAY)
    assert stream.decide(ITEMS[0], id="wrong").act
    clocks.set_by(-10 * DAY)
    today = time.strftime("%Y-%m-%d", time.gmtime(clocks.wall / 1e9))
    assert acts(stream, clocks, "today") == 5
    assert stream.find("today-0").answer.time[:10] == today
    clocks.go_on(DAY)
    assert acts(stream, clocks, "tomorrow") == 5
    clocks.go_on(4 * DAY)
    assert acts(stream, clocks, "in five days") == 5
    assert settings_of_the_clock(stream) == [10, -10]
    stamps = [stamp_of(row.kind, row.body).at for row in stream.record.place.read()]
    assert stamps == sorted(set(stamps))
    stream.verify()
    stream.close()
    again = at.Stream.open(store, "orders")
    again.verify()
    store.close()


def test_it_is_said_aloud_and_only_where_it_is_more_than_an_hour(clocks, caplog):
    stream = made("memory")
    with caplog.at_level(logging.WARNING, "appletaste.streams"):
        for seconds in (3599, -3500, 60):
            clocks.set_by(seconds)
            stream.decide(ITEMS[0])
        clocks.go_on(30 * DAY)  # nobody asked, or the machine slept
        stream.decide(ITEMS[0])
        assert not caplog.records
        clocks.set_by(-2 * 3600)
        with stream.group():
            stream.decide(ITEMS[0])
            stream.decide(ITEMS[0])
    (told,) = caplog.records
    assert (told.getMessage(), told.stream) == ("the clock of the machine was set", "orders")
    assert -7200 <= told.seconds < -7000
    stream.verify()


def test_a_clock_that_is_behind_the_record_when_it_is_opened(home, clocks):
    store = home.open()
    stream = made(store)
    stream.decide(ITEMS[0], id="a")
    stream.close()
    clocks.set_by(-3 * DAY)
    stream = at.Stream.open(store, "orders")
    assert settings_of_the_clock(stream) == []  # to look changes nothing
    stream.decide(ITEMS[1], id="b")
    assert settings_of_the_clock(stream) == [-3]
    stream.verify()
    store.close()


def test_labels_and_what_expires_go_by_the_clock_too(clocks):
    policy = at.policy("always", n_features=2, costs=COSTS)
    stream = at.Stream.create("memory", "orders", policy, expire_after=DAY)
    clocks.set_by(10 * DAY)
    stream.note("", "the clock is wrong")
    clocks.set_by(-10 * DAY)
    stream.decide(ITEMS[0], id="a")
    stream.decide(ITEMS[1], id="b")
    clocks.go_on(3600)
    stream.label("a", 1)
    assert stream.expire() == []
    case = stream.find("a")
    assert 3599 < (at.times.instant(case.entry.label_time) - at.times.instant(case.entry.time)) < 3602
    clocks.go_on(DAY)
    assert stream.expire() == ["b"]
    stream.verify()
