"""What a newcomer got wrong about times: each is read as meant, or refused in words."""

from datetime import datetime, timedelta

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import DataError, FeedbackError, InputError, OptionError
from appletaste.times import dates_in

COSTS = {"miss": 5, "false_alarm": 1, "hit": 0}
SHEET = at.Costs(**COSTS)
START = 1714521600  # 2024-05-01


def stream(times, seed=3):
    """Return a table with a time that no number in it gives away."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=len(times))
    bad = (x + rng.logistic(size=len(times)) > 1.0).astype(int)
    return {"t": times, "x": x, "bad": bad}


def acts_by_day(result, start=START):
    """Return how many acts there were on each day of a replay's log."""
    log = result.log
    moments = np.array(
        [datetime.fromisoformat(text).timestamp() if isinstance(text, str) else text for text in log.time]
    )
    days = ((moments - start) // 86400).astype(int)
    return np.bincount(days[log.act], minlength=days.max() + 1)


def compact(seconds, form):
    return [int((datetime(1970, 1, 1) + timedelta(seconds=int(s))).strftime(form)) for s in seconds]


MOMENTS = START + 600 * np.arange(1440)  # ten days, 144 items on each
DISGUISES = {
    "seconds since 1970": MOMENTS,
    "milliseconds since 1970": MOMENTS * 1000,
    "microseconds since 1970": MOMENTS * 10**6,
    "nanoseconds since 1970": MOMENTS * 10**9,
    "dates such as 20240531": compact(MOMENTS, "%Y%m%d"),
    "dates such as 202405311230": compact(MOMENTS, "%Y%m%d%H%M"),
    "dates such as 20240531123000": compact(MOMENTS, "%Y%m%d%H%M%S"),
}


@pytest.mark.parametrize("kind", DISGUISES)
def test_a_capacity_per_day_holds_whatever_a_date_is_written_as(kind):
    result = at.replay(stream(DISGUISES[kind]), "bad", costs=COSTS, time="t", capacity="5/day", log="voi")
    acts = acts_by_day(result)
    assert len(acts) == 10
    assert acts.max() == 5
    assert acts.sum() > 40
    assert any(f"column 't' was read as {kind}: 2024-05-01 to 2024-05-10" in note for note in result.notes)


def test_numbers_that_are_no_dates_stay_numbers():
    for column in ([0.0, 1.0], [2019, 2020, 2021], [45000, 45001], [START, 5], [START + 0.5, 20240501], [20241399]):
        assert dates_in(np.array(column, dtype=float)) is None
    assert dates_in(np.array([])) is None


def test_compact_dates_are_read_as_the_calendar_has_them(rng):
    when = rng.integers(0, 4_000_000_000, size=300)
    for form, step in (("%Y%m%d", 86400), ("%Y%m%d%H%M", 60), ("%Y%m%d%H%M%S", 1)):
        found = dates_in(np.array(compact(when, form), dtype=float))
        np.testing.assert_array_equal(found.seconds, when // step * step)


def test_a_compact_date_that_no_calendar_has_is_named_with_its_row():
    table = stream([*compact(MOMENTS[:100], "%Y%m%d"), 20240231])
    with pytest.raises(DataError, match=r"row 100: column 't' holds dates such as 20240531, and 20240231 is none"):
        at.replay(table, "bad", costs=COSTS, time="t")


def test_a_capacity_per_day_never_depends_on_a_guess():
    table = stream(np.arange(600) / 60.0)
    with pytest.raises(OptionError, match=r"what a day is.*no dates\. Give dates.*time_unit="):
        at.replay(table, "bad", costs=COSTS, time="t", capacity="5/day")
    for unit, scale in {"day": 1.0, "hour": 24.0, "minute": 1440.0, "s": 86400.0, "ms": 86.4e6}.items():
        result = at.replay(
            {**table, "t": np.arange(600) / 60.0 * scale},
            "bad",
            costs=COSTS,
            time="t",
            capacity="5/day",
            time_unit=unit,
            log="voi",
        )
        acts = acts_by_day(result, 0)
        assert (len(acts), acts.max(), acts.sum() > 40) == (10, 5, True), unit


def test_the_unit_that_was_said_is_taken_before_any_range():
    table = stream(MOMENTS[:300])
    said = at.replay(table, "bad", costs=COSTS, time="t", time_unit="s", delay=0.5)
    assert said.plan.stream.dated
    other = at.replay(table, "bad", costs=COSTS, time="t", time_unit="hour", delay=0.5)
    assert not other.plan.stream.dated
    assert other.plan.stream.times[0] == START * 3600.0
    for wrong, time in (("week", "t"), ("day", None)):
        with pytest.raises(OptionError, match="time_unit="):
            at.replay(table, "bad", costs=COSTS, time=time, time_unit=wrong)
    with pytest.raises(OptionError, match="holds texts: leave out time_unit="):
        at.replay(
            {**table, "t": [f"2024-05-{1 + k // 30:02d}" for k in range(300)]},
            "bad",
            costs=COSTS,
            time="t",
            time_unit="day",
        )


def test_a_delay_says_what_it_counts():
    plain = at.replay(stream(np.arange(300)), "bad", costs=COSTS, time="t", delay=20)
    assert "labels late (fixed 20 units of 't')" in plain.title
    assert any("the delay of 20 is in units of that column" in note for note in plain.notes)
    dated = at.replay(stream(MOMENTS[:300]), "bad", costs=COSTS, time="t", delay=1)
    assert "labels late (fixed 1 days)" in dated.title
    said = at.replay(stream(np.arange(300)), "bad", costs=COSTS, time="t", delay=20, time_unit="hour")
    assert "labels late (fixed 20 units of 1 hour)" in said.title
    assert not any("delay" in note for note in said.notes)
    assert plain["voi"].labels == said["voi"].labels  # the same clock, in other units


def test_a_half_life_in_days_needs_to_know_what_a_day_is():
    table = stream(np.arange(300))
    with pytest.raises(OptionError, match=r"holds numbers that are no dates.*time_unit="):
        at.replay(table, "bad", costs=COSTS, time="t", policies=[at.policies.PolicySpec("voi", {"half_life": "30d"})])


def test_the_command_line_names_the_flag(tmp_path, capsys):
    path = tmp_path / "t.csv"
    rows = [f"{k},{k % 7 / 3},{int(k % 7 > 4)}" for k in range(200)]
    path.write_text("t,x,bad\n" + "\n".join(rows) + "\n")
    given = ["replay", str(path), "--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--time", "t"]
    assert main([*given, "--capacity", "5/day"]) == 2
    assert "--time-unit" in capsys.readouterr().err
    assert main([*given, "--capacity", "5/day", "--time-unit", "hour", "--jobs", "1"]) == 0


@pytest.mark.parametrize("time", [START * 1000.0, START * 10**6, 20240501, 202405011230, 20240501123000])
def test_a_desk_refuses_times_that_are_no_seconds(time):
    desk = at.Desk(at.policy("voi", n_features=1, costs=SHEET), at.Budget(per_day=5))
    with pytest.raises(InputError, match=r"takes times in seconds, or dates, and .* looks like"):
        desk.decide([1.0], time=time)
    assert desk.policy.round == 0
    desk.decide([1.0], time=float(START))
    lane = at.Desk(at.policy("voi", n_features=1, costs=SHEET), audit=at.Audit(0.1, budget=at.Budget(per_day=5)))
    with pytest.raises(InputError, match="looks like"):
        lane.decide([1.0], time=time)
    own = at.Desk(at.policy("voi", n_features=1, costs=SHEET), at.Budget(per_day=5, day=86.4e6))
    assert own.decide([1.0], time=time).round == 1


def test_a_label_does_not_arrive_before_its_decision():
    ledger = at.streams.Ledger(at.policy("always", n_features=1, costs=SHEET))
    ledger.decide([1.0], id="a", time="2024-05-31T12:00:00")
    for early in ("2024-05-31T11:59:59", "2024-05-30", datetime(2024, 5, 31, 11)):
        with pytest.raises(FeedbackError, match="cannot arrive before its decision"):
            ledger.label("a", 1, time=early)
    with pytest.raises(InputError, match="all numbers or all dates"):
        ledger.label("a", 1, time=3.0)
    assert ledger.counts()["observed"] == 0
    ledger.label("a", 1, time="2024-05-31")  # some time on that day
    for verb in (lambda t: ledger.correct("a", 0, time=t), lambda t: ledger.retract("a", time=t)):
        with pytest.raises(FeedbackError, match="cannot arrive before"):
            verb("2024-05-30T00:00:00")
    assert ledger["a"].label == 1
    numbers = at.streams.Ledger(at.policy("always", n_features=1, costs=SHEET))
    numbers.decide([1.0], id="a", time=10.0)
    with pytest.raises(FeedbackError, match="cannot arrive before"):
        numbers.label("a", 1, time=9.0)
    assert numbers.label("a", 1, time=10.0).learnt


def test_what_is_no_time_is_refused_in_words():
    pandas = pytest.importorskip("pandas")
    ledger = at.streams.Ledger(at.policy("always", n_features=1, costs=SHEET))
    for wrong in (
        pandas.NaT,
        np.timedelta64(3, "s"),
        np.timedelta64("NaT"),
        np.datetime64("NaT"),
        10**400,
        10**5000,
        True,
    ):
        with pytest.raises(InputError, match="a time is"):
            ledger.decide([1.0], time=wrong)
    assert len(ledger) == 0
    ledger.decide([1.0], id="a", time=1.0)
    with pytest.raises(InputError, match="a time is"):
        ledger.label("a", 1, time=pandas.NaT)
    for wrong in (10**400, np.timedelta64(3, "s")):
        with pytest.raises(InputError, match="length of time"):
            at.streams.Ledger(at.policy("always", n_features=1, costs=SHEET), expire_after=wrong)
    with pytest.raises(OptionError, match="finite number"):
        at.Budget(per_day=3, day=10**400)
