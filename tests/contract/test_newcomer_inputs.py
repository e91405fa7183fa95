"""What a newcomer got wrong without being told: each is right now, or refused in words."""

import errno
import threading
from contextlib import nullcontext
from datetime import datetime, timedelta

import numpy as np
import pytest

import appletaste as at
from appletaste.cli.main import main
from appletaste.errors import (
    DataError,
    FeedbackError,
    InputError,
    OptionError,
    PositiveClassWarning,
    SaveFileError,
    ThreadsError,
)
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


# ---- times


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
        at.replay(table, "bad", costs=COSTS, time="t", policies=[at.simulate.Entry("voi", {"half_life": "30d"})])


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
    ledger = at.Ledger(at.policy("always", n_features=1, costs=SHEET))
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
    numbers = at.Ledger(at.policy("always", n_features=1, costs=SHEET))
    numbers.decide([1.0], id="a", time=10.0)
    with pytest.raises(FeedbackError, match="cannot arrive before"):
        numbers.label("a", 1, time=9.0)
    assert numbers.label("a", 1, time=10.0).learnt


def test_what_is_no_time_is_refused_in_words():
    pandas = pytest.importorskip("pandas")
    ledger = at.Ledger(at.policy("always", n_features=1, costs=SHEET))
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
            at.Ledger(at.policy("always", n_features=1, costs=SHEET), expire_after=wrong)
    with pytest.raises(OptionError, match="finite number"):
        at.Budget(per_day=3, day=10**400)


# ---- feature maps

ORDERS = {"amount": [1.0, 2.0, 6.0], "country": ["AT", "DE", "AT"], "id": [7, 8, 9], "bad": ["no", "yes", "no"]}


def orders():
    return at.read_records(ORDERS, label="bad", drop=["id"])


def test_a_mistyped_field_is_refused_and_the_nearest_column_named():
    features = at.Encoder().fit(orders())
    with pytest.raises(InputError, match=r"the record has 'amuont'.*did you mean 'amount'"):
        features.transform({"amuont": 3, "country": "AT"})
    with pytest.raises(InputError, match=r"'amuont'.*did you mean 'amount'.*drop=\['amuont'\]"):
        features.transform({"amount": 3, "amuont": 3, "country": "AT"})
    with pytest.raises(InputError, match="did you mean 'amount'"):
        features.cells({"amuont": 3, "country": "AT"})
    assert features.made == 0
    assert not features.missing_fields


def test_what_was_dropped_or_is_the_label_may_be_there():
    features = at.Encoder().fit(orders())
    assert features.dropped == ("id", "bad")
    bare = features.transform({"amount": 3, "country": "AT"})
    np.testing.assert_array_equal(features.transform({"amount": 3, "country": "AT", "id": 1, "bad": "no"}), bare)
    many = features.transform_many({**ORDERS})
    np.testing.assert_array_equal(many, features.transform_many(orders()))


def test_a_table_with_an_unknown_column_is_refused(tmp_path):
    features = at.Encoder().fit(orders())
    path = tmp_path / "more.csv"
    path.write_text("amount,country,amount2\n1,AT,2\n")
    rows = [{"amount": 1, "country": "AT"}] * 700
    for table in ({**ORDERS, "amount2": [1, 2, 3]}, path, [*rows, {**rows[0], "amount2": 3}], at.read_records(path)):
        with pytest.raises(InputError, match=r"has 'amount2', which this map does not know; did you mean 'amount'"):
            features.transform_many(table)
    assert features.made == 0


def test_fields_that_records_lack_are_counted_and_missing():
    features = at.Encoder().fit(orders())
    lacking = features.transform({"country": "AT"})
    np.testing.assert_array_equal(lacking, features.transform({"amount": None, "country": "AT"}, update=False))
    features.transform({"country": "AT"}, update=False)  # only asked
    assert features.missing_fields == {"amount": 1}
    features.transform_many([{"country": "AT"}, {"amount": 3}, {"amount": 3, "country": None}])
    assert features.missing_fields == {"amount": 2, "country": 1}
    assert features.made == 4


def test_counts_and_dropped_columns_are_saved(tmp_path):
    features = at.Encoder().fit(orders())
    features.transform({"country": "AT"})
    features.save(tmp_path / "map.at")
    again = at.FeatureMap.load(tmp_path / "map.at")
    assert (again.dropped, again.made, again.missing_fields) == (("id", "bad"), 1, {"amount": 1})


def test_the_label_is_left_out_of_a_map_that_is_told_of_it():
    features = at.Encoder().fit(ORDERS, label="bad", drop=["id"])
    assert features.names() == at.Encoder().fit(orders()).names()
    features.transform({"amount": 3, "country": "AT", "bad": "yes", "id": 3})
    for wrong in ({"label": "baad"}, {"drop": ["idd"]}):
        with pytest.raises(DataError, match="did you mean"):
            at.Encoder().fit(ORDERS, **wrong)
    with pytest.raises(OptionError, match="drop is a list"):
        at.Encoder().fit(ORDERS, drop="id")
    with pytest.raises(OptionError, match="no column to decide by"):
        at.Encoder().fit({"id": [1], "bad": [0]}, label="bad", drop=["id"])


def test_a_row_of_a_data_frame_is_a_record():
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    frame = pandas.DataFrame(ORDERS)
    features = at.Encoder().fit(frame, label="bad", drop=["id"])
    wanted = features.transform({"amount": 2.0, "country": "DE"})
    rows = (frame.iloc[1], frame.iloc[1:2], polars.DataFrame(ORDERS)[1], frame[["amount", "country"]].iloc[1])
    for row in rows:
        np.testing.assert_array_equal(features.transform(row), wanted)
    with pytest.raises(InputError, match="one row, got a data frame of 3"):
        features.transform(frame)
    with pytest.raises(InputError, match="a record is a dict"):
        features.transform([2.0, "DE"])


def test_a_transformer_refuses_unknown_fields_too():
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    features = at.features.TransformerMap(preprocessing.StandardScaler(), {"age": [30, 50], "income": [1, 3]})
    with pytest.raises(InputError, match=r"has 'incme'.*did you mean 'income'"):
        features.transform({"age": 60, "incme": 2})


def test_two_columns_of_one_name_are_refused():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame([[1, 2, 0], [2, 3, 1]], columns=["a", "a", "bad"])
    with pytest.raises(DataError, match="same name"):
        at.read_records(frame, label="bad")


def test_dropping_the_label_is_refused(tmp_path, capsys):
    with pytest.raises(OptionError, match=r"both the label and a column to leave out.*drop="):
        at.replay(stream(range(50)), "bad", costs=COSTS, drop=["bad"])
    with pytest.raises(OptionError, match="both the label"):
        at.read_records(ORDERS, label="bad", drop=["bad"])


# ---- labels: once, and by the policy that decided

BATCH = np.random.default_rng(5).normal(size=(40, 2))


def acted(policy, items=BATCH):
    """Return the first act of a policy that plays items without labels."""
    return next(decision for decision in (policy.decide(x) for x in items) if decision.act)


def learners():
    return [at.policy(name, n_features=2, costs=SHEET, seed=1) for name in ("voi", "adf-voi", "pg-ts", "always")]


@pytest.mark.parametrize("policy", learners(), ids=lambda policy: policy.name)
def test_a_label_is_learnt_once(policy):
    decision = acted(policy)
    policy.learn(decision, 1)
    before = policy.arrays()
    for label in (1, 0):
        with pytest.raises(FeedbackError, match=r"learnt already.*correct\(decision, label\)"):
            policy.learn(decision, label)
    after = policy.copy().arrays()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    with pytest.raises(FeedbackError, match="learnt already"):
        policy.copy().learn(decision, 1)  # a copy knows it too


@pytest.mark.parametrize("policy", learners(), ids=lambda policy: policy.name)
def test_a_decision_of_another_policy_is_refused(policy):
    ours = [policy.decide(x) for x in BATCH[:10]]
    other = at.policy(policy.name, n_features=2, costs=SHEET, seed=1)  # the same seed and name, on another stream
    theirs = [other.decide(x) for x in BATCH[10:30]]
    refused = 0
    for decision in theirs:
        if decision.act:
            with pytest.raises(FeedbackError, match=r"not one of this policy.*teach\(x, label\)"):
                policy.learn(decision, 1)
            refused += 1
    assert refused > 0
    if ours[0].act:
        moved = ours[0]._replace(x=ours[0].x + 1e-12)
        with pytest.raises(FeedbackError, match="another item"):
            policy.learn(moved, 1)
        policy.learn(ours[0]._replace(x=ours[0].x.tolist()), 1)  # stored and read back


def test_a_round_to_come_and_a_round_that_was_passed_are_refused():
    policy = at.policy("never", n_features=2, costs=SHEET)
    forged = at.policy("always", n_features=2, costs=SHEET).decide(BATCH[0])
    with pytest.raises(FeedbackError, match="this policy has made 0 decisions"):
        policy.learn(forged, 1)
    policy.decide(BATCH[0])
    with pytest.raises(FeedbackError, match="this policy passed in that round"):
        policy.learn(forged, 1)
    with pytest.raises(FeedbackError, match="this policy has made 1 decisions"):
        policy.learn(forged._replace(round=0), 1)


@pytest.mark.parametrize("capacity", [None, 5])
def test_batches_know_their_decisions(capacity):
    policy = at.policy("voi", n_features=2, costs=SHEET)
    decisions = policy.decide_many(BATCH, capacity=capacity)
    for decision in decisions:
        if decision.act:
            policy.learn(decision, 1)
            with pytest.raises(FeedbackError, match="learnt already"):
                policy.learn(decision, 1)


def test_a_retracted_label_can_be_learnt_again_and_saving_keeps_what_was_learnt(tmp_path):
    policy = at.policy("voi", n_features=2, costs=SHEET)
    one, other = [d for d in (policy.decide(x) for x in BATCH) if d.act][:2]
    policy.learn(one, 1)
    policy.retract(one)
    policy.learn(one, 0)
    policy.save(tmp_path / "policy.at")
    again = at.load(tmp_path / "policy.at")
    with pytest.raises(FeedbackError, match="learnt already"):
        again.learn(one, 0)
    again.learn(other, 1)
    again.correct(one, 1)
    with pytest.raises(FeedbackError, match="learnt already"):
        again.learn(one, 1)


# ---- threads and processes


def busy(alone):
    """Hold a door from another thread until told to leave; return what ends that."""
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with alone:
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(30)
    return lambda: (leave.set(), thread.join(30))


def test_a_policy_in_use_by_another_thread_says_no():
    policy = at.policy("voi", n_features=2, costs=SHEET)
    decision = acted(policy)
    policy.learn(decision, 1)
    desk = at.Desk(policy, at.Budget(share=0.5))
    before, end = policy.round, busy(policy.alone)
    try:
        for use in (
            lambda: policy.decide(BATCH[0]),
            lambda: policy.probability(BATCH[0]),
            lambda: policy.decide_many(BATCH),
            lambda: policy.learn(decision, 1),
            lambda: policy.teach(BATCH[0], 1),
            lambda: policy.correct(decision, 0),
            lambda: policy.learn_history(BATCH, [1] * len(BATCH)),
            lambda: policy.copy(),
            lambda: desk.decide(BATCH[0]),
        ):
            with pytest.raises(ThreadsError, match="another thread is using this policy right now"):
                use()
    finally:
        end()
    assert policy.round == before
    policy.decide(BATCH[0])


def test_a_ledger_in_use_by_another_thread_says_no(tmp_path):
    ledger = at.Ledger(at.policy("always", n_features=2, costs=SHEET), expire_after=5)
    ledger.decide(BATCH[0], id="a")
    ledger.decide(BATCH[0], id="b")
    ledger.label("b", 1)
    end = busy(ledger.alone)
    try:
        for use in (
            lambda: ledger.decide(BATCH[1], id="c"),
            lambda: ledger.label("a", 1),
            lambda: ledger.correct("b", 0),
            lambda: ledger.retract("b"),
            lambda: ledger.expire(9),
            lambda: ledger.snapshot(),
            lambda: ledger.save(tmp_path / "it"),
        ):
            with pytest.raises(ThreadsError, match="lock around every use"):
                use()
    finally:
        end()
    assert ledger.counts()["pending"] == 1
    assert not (tmp_path / "it").exists()
    ledger.label("a", 1)


def test_threads_without_a_lock_lose_nothing():
    """Every round is one decision, however many threads were sent away; with a lock all of them get through."""
    ledger = at.Ledger(at.policy("voi", n_features=2, costs=SHEET))
    made, refused, lock = [], [], threading.Lock()

    def work(name, guard):
        for k in range(300):
            with guard:
                try:
                    made.append(ledger.decide(BATCH[k % 40], id=f"{name}-{k}").round)
                except ThreadsError:
                    refused.append(k)

    for guard in (nullcontext(), lock):
        threads = [threading.Thread(target=work, args=(f"{name}{guard is lock}", guard)) for name in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(made) == list(range(1, len(made) + 1))
    assert len(ledger) == len(made) == 2400 - len(refused)
    assert len(made) >= 1200  # those with the lock


def test_two_processes_on_one_ledger_file_do_not_lose_each_others_work(tmp_path):
    path = tmp_path / "stream.at"
    first = at.Ledger(at.policy("voi", n_features=2, costs=SHEET))
    first.decide(BATCH[0], id="a")
    first.save(path)
    second = at.load(path)
    first.decide(BATCH[1], id="b")
    first.save(path)  # its own file: nobody else wrote it
    second.decide(BATCH[2], id="c")
    with pytest.raises(SaveFileError, match=r"holds 2 events, and not all of them are in this ledger.*overwrite=True"):
        second.save(path)
    assert list(at.load(path)) == ["a", "b"]
    second.save(tmp_path / "other.at")
    with pytest.raises(SaveFileError, match="another ledger"):
        second.save(path)  # having been saved elsewhere changes nothing
    second.save(path, overwrite=True)
    assert list(at.load(path)) == ["a", "c"]
    third = at.load(path)
    third.decide(BATCH[3], id="d")
    third.save(tmp_path / "other.at")  # which holds a part of what this one has
    assert list(at.load(tmp_path / "other.at")) == ["a", "c", "d"]
    at.policy("voi", n_features=2, costs=SHEET).save(path)
    third.save(path)  # no ledger was there
    (tmp_path / "broken").write_bytes(b"text")
    third.save(tmp_path / "broken")


# ---- a ledger and its map stay in step

JOBS = [{"job": job} for job in ("chef", "clerk", "pilot", "nurse", "judge")]


def test_a_map_that_grows_is_saved_with_its_ledger(tmp_path):
    path = tmp_path / "stream.at"
    features = at.Encoder(spare=3).fit(JOBS[:2])
    ledger = at.Ledger(at.policy("voi", n_features=features.n_features, costs=SHEET))
    ledger.decide(features.transform(JOBS[0]))
    ledger.save(path, features)
    ledger.decide(features.transform(JOBS[2]))  # the map grows
    ledger.save(path)
    assert at.load(path).features.names() == features.names()
    ledger = at.load(path)
    own = at.FeatureMap.load(path)  # another map than ledger.features
    ledger.decide(own.transform(JOBS[3]))
    with pytest.raises(InputError, match=r"1 items were decided since.*features=\.\.\."):
        ledger.save(path)
    ledger.save(path, own)
    assert at.load(path).features.names() == own.names()
    stranger = at.Encoder(spare=3).fit(JOBS[3:])
    assert stranger.n_features == own.n_features
    with pytest.raises(InputError, match="not the one that was saved with the ledger"):
        ledger.save(path, stranger)


def test_a_map_that_stays_may_be_read_twice(tmp_path):
    path = tmp_path / "stream.at"
    features = at.Encoder().fit(JOBS)
    at.Ledger(at.policy("voi", n_features=features.n_features, costs=SHEET)).save(path, features)
    ledger, features = at.load(path), at.FeatureMap.load(path)
    ledger.decide(features.transform(JOBS[0]))
    ledger.save(path)


# ---- settings and words


def test_no_shuffles_is_refused_with_the_word_for_it(tmp_path, capsys):
    with pytest.raises(OptionError, match="order='as is'"):
        at.replay(stream(range(50)), "bad", costs=COSTS, shuffles=0)
    path = tmp_path / "t.csv"
    path.write_text("x,bad\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))
    given = ["replay", str(path), "--label", "bad", "--jobs", "1"]
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0", "--shuffles", "0"]) == 2
    assert "--order as-is" in capsys.readouterr().err
    for order in ("as_is", "as-is", "as is"):
        assert main([*given, "--costs", "miss=5, false_alarm = 1, hit=0", "--order", order]) == 0
    capsys.readouterr()
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0", "--order", "asis"]) == 2
    assert "there are --order shuffled and --order as-is, got 'asis'" in capsys.readouterr().err
    assert main([*given, "--costs", "miss=5,false_alarm=1,hit=0", "--drop", "bad"]) == 2
    assert "both the label and a column to leave out: take it out of --drop" in capsys.readouterr().err


@pytest.mark.parametrize(("text", "line"), [("a,b\n1,x\n2,x\0y\n3,z\n", 3), ("a,b\0\n1,x\n", 1)])
def test_a_nul_byte_is_refused_with_its_line(tmp_path, text, line):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=rf"t\.csv, line {line}: a NUL byte"):
        at.read_records(path)


def test_a_json_array_is_said_to_be_one(tmp_path):
    for name in ("t.json", "t.jsonl", "t.csv"):
        path = tmp_path / name
        path.write_text('[{"a": 1, "b": 2},\n {"a": 2, "b": 1}]\n')
        with pytest.raises(DataError, match=r"is a JSON array: write one object a line.*\.jsonl"):
            at.read_records(path)


def test_labels_that_do_not_say_which_is_positive():
    with pytest.raises(DataError, match=r"positive='good' or positive='bad'$"):
        at.read_records({"x": [1, 2], "y": ["good", "bad"]}, label="y")
    countries = ["GB", "DE", "AT", "FR", "IT", "ES", "PL", "NL"] * 5
    with pytest.raises(DataError, match=r"has 8 values, 'GB', .* and 2 more\. A label has two.*label=") as told:
        at.read_records({"x": range(40), "y": countries}, label="y")
    assert "leave out" not in str(told.value)


def test_costs_may_be_a_dict():
    assert at.policy(n_features=2, costs=COSTS).costs == SHEET
    for wrong in ({"miss": 5}, {**COSTS, "mis": 3}, 3, None):
        with pytest.raises(InputError, match="miss, false_alarm, hit and, if not 0, correct_pass"):
            at.policy(n_features=2, costs=wrong)
        with pytest.raises(InputError, match="miss, false_alarm, hit"):
            at.replay(stream(range(50)), "bad", costs=wrong)


def test_a_refusal_shows_the_digits_that_matter():
    from appletaste.evaluate.what_if import _above

    assert _above(0.0504, 0.05) == "5.04%"
    assert _above(0.0500001, 0.05) == "5.00001%"
    assert _above(0.31, 0.05) == "31%"


def test_a_full_disk_names_the_file_and_the_table_is_not_lost(tmp_path, capsys, monkeypatch):
    path, log = tmp_path / "t.csv", tmp_path / "log.jsonl"
    path.write_text("x,bad\n" + "".join(f"{k},{k % 2}\n" for k in range(60)))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("appletaste._files.os.fsync", full)
    given = ["replay", str(path), "--label", "bad", "--costs", "miss=5,false_alarm=1,hit=0", "--jobs", "1"]
    assert main([*given, "--shuffles", "1", "--log", str(log)]) == 2
    told = capsys.readouterr()
    assert "cost/1000" in told.out
    assert f"cannot read or write {log}: No space left on device" in told.err
    assert "are in" not in told.out
    assert list(tmp_path.iterdir()) == [path]


def test_compiling_is_announced_once_for_all_processes(monkeypatch, capsys):
    from appletaste.kernels import _jit

    monkeypatch.setenv(_jit.ANNOUNCED, "another cache")
    monkeypatch.setattr(_jit, "is_cached", lambda kernel: False)
    for seen in (set(), set()):  # the second: another process, which has looked at nothing and inherits the environment
        monkeypatch.setattr(_jit, "_looked_up", seen)
        for kernel in (acted, busy):
            _jit.announce_compilation(kernel)
    assert capsys.readouterr().err.count("compiling its kernels") == 1


# ---- the positive class of a classifier


def test_the_positive_class_is_named_or_warned_about():
    pytest.importorskip("sklearn")
    from appletaste.adapters.sklearn import PosteriorClassifier

    x = np.linspace(-2, 2, 60)[:, None]
    quality = np.where(x[:, 0] > 0.5, "bad", "good")
    costs = at.Costs(miss=9, false_alarm=1, hit=0)
    with pytest.warns(PositiveClassWarning, match="'good' was picked by the alphabet.*pos_label='bad' or"):
        PosteriorClassifier(costs=costs).fit(x, quality)
    with pytest.warns(PositiveClassWarning):
        PosteriorClassifier(costs=costs).partial_fit(x, quality, classes=["bad", "good"])
    bad, good = (PosteriorClassifier(costs=costs, pos_label=name).fit(x, quality) for name in ("bad", "good"))
    flagged = bad.predict(x) == "bad"
    assert flagged.sum() > (quality == "bad").sum() > (good.predict(x) == "bad").sum()  # a miss is dear
    numbers = PosteriorClassifier(costs=costs).fit(x, (quality == "bad").astype(int))
    np.testing.assert_array_equal(flagged, numbers.predict(x) == 1)
    np.testing.assert_allclose(bad.predict_proba(x)[:, 0], numbers.predict_proba(x)[:, 1])
    np.testing.assert_allclose(bad.decision_function(x), -numbers.decision_function(x))
    PosteriorClassifier().fit(x, quality)  # without costs nothing depends on it
    PosteriorClassifier(costs=costs).fit(x, np.where(quality == "bad", "Yes", "No"))  # says it by itself
    with pytest.raises(InputError, match=r"pos_label is one of the classes, \['bad', 'good'\], got 'worse'"):
        PosteriorClassifier(pos_label="worse").fit(x, quality)


def test_missing_labels_of_a_frame_are_not_known():
    pandas = pytest.importorskip("pandas")
    costs = {"miss": [5.0] * 3, "false_alarm": [1.0] * 3, "hit": [0.0] * 3}
    for dtype in ("float64", "Int64", "boolean", object):
        labels = pandas.Series([1, None, 0], dtype=dtype)
        frame = pandas.DataFrame(
            {"id": [1, 2, 3], "act": [1, 1, 1], "probability": [0.5] * 3, "label": labels, **costs}
        )
        assert at.DecisionLog.from_columns(frame).label.tolist() == [1, -1, 0]


def test_always_misses_nothing_whether_labels_have_arrived_or_not():
    table = at.problem("i", rounds=30).draw(at.Key(1))
    log = at.play(at.policy("always", n_features=5, costs=table.costs), table)
    waiting = log.unchecked(label=np.full(30, -1, dtype=np.int8))
    for one in (log, waiting):
        found = at.missed(one)
        assert "nothing was passed, so nothing was missed" in str(found.design.missed)
        assert found.model.value == 0.0


def test_an_audit_plan_leaves_out_what_came_before_the_first_label(tmp_path, capsys):
    table = at.problem("i").draw(at.Key(1))
    settings = {"costs": table.costs, "shuffles": 1, "delay": 50, "capacity": "10%", "audit": "2%"}
    log = at.replay(table.items, table.labels, log="voi", **settings).log
    blank = np.abs(log.chance - 0.5) < 1e-9
    assert (blank & ~log.act).sum() > 10
    plan = at.plan_audit(log)
    assert plan.left_out_early == blank.sum()
    assert sum(plan.items) == (~blank & ~log.act).sum()
    log.write(tmp_path / "log.jsonl")
    assert main(["plan-audit", str(tmp_path / "log.jsonl")]) == 0
    assert f"{blank.sum()} early decisions are excluded: no label had arrived" in capsys.readouterr().out
