"""Alarms: what they say, and that they are there when they should be and not otherwise."""

import math

import numpy as np
import pytest
from scipy import stats

import appletaste as at
from appletaste.drift.alarms import feature_alarm, label_alarm
from appletaste.drift.page_hinkley import threshold_for
from appletaste.errors import DataError, FeedbackError, InputError, OptionError

COSTS = at.Costs(miss=1.0, false_alarm=0.4, hit=0.05)


def test_page_hinkley_is_the_sum_of_log_likelihood_ratios_since_its_least():
    rng = np.random.default_rng(1)
    chances = rng.uniform(0.01, 0.9, 300)
    labels = (rng.random(300) < chances).astype(int)
    test = at.drift.PageHinkley(0.7, 1e12)
    sums = {}
    for sign in (1, -1):
        shifted = 1 / (1 + np.exp(-(np.log(chances / (1 - chances)) + sign * 0.7)))
        ratio = np.where(labels, np.log(shifted / chances), np.log((1 - shifted) / (1 - chances)))
        total = np.concatenate([[0.0], np.cumsum(ratio)])
        sums[sign] = (total - np.minimum.accumulate(total))[1:]
    for t, (label, chance) in enumerate(zip(labels, chances, strict=True)):
        assert test.update(int(label), chance) == 0
        assert test.statistic == pytest.approx(max(sums[1][t], sums[-1][t]), abs=1e-9)


def test_page_hinkley_says_which_way_and_since_when():
    for label, sign in ((1, 1), (0, -1)):
        test = at.drift.PageHinkley()
        assert all(test.update(t % 2, 0.5) == 0 for t in range(200))
        found, starts = zip(*((test.update(label, 0.5), test.start) for _ in range(100)), strict=True)
        first = next(t for t, one in enumerate(found) if one)
        assert found[first] == sign
        assert abs(starts[first] - 200) <= 2
        assert sum(map(abs, found)) >= 2  # told again while it lasts
    for wrong in (-0.1, 1.1, np.nan):
        with pytest.raises(InputError, match="a chance is"):
            test.update(1, wrong)
    for wrong in (2, -1, None, np.nan):
        with pytest.raises(InputError, match="a label is 0"):
            test.update(wrong, 0.5)
    for options in ({"shift": 0.0}, {"labels_per_false_alarm": 0}):
        with pytest.raises(OptionError):
            at.drift.PageHinkley(**options)
    assert threshold_for(1e5, 0.5) > threshold_for(1e4, 0.5)
    test = at.drift.PageHinkley(0.5, 100)
    assert [abs(test.update(0, 0.0)) for _ in range(50)] == [0] * 50  # certain, and right
    assert test.update(1, 0.0) == 0  # one surprise is worth no more than the shift


def test_a_feature_with_one_value_in_the_reference_is_watched():
    found = at.drift.psi(np.zeros(600), np.ones(600))
    assert found.names == ("below 0", "0", "above 0", "missing")
    assert found.now.tolist() == [0, 0, 600, 0]
    assert found.value > max(5, found.critical(1e-6))
    assert found.largest_change() == ("0", 1, 0)
    assert at.drift.psi(np.zeros(600), np.zeros(600)).value == 0
    years = at.drift.psi([2012] * 590 + [2011] * 10, [2013] * 600)  # beyond all values of the reference
    assert years.names == ("below 2011", "2011 to 2011.5", "2011.5 to 2012", "above 2012", "missing")
    assert years.value > 5
    assert at.drift.psi([None] * 9, [1.0] * 9).names == ("any number", "missing")


def test_stability_index_by_hand():
    found = at.drift.psi([0] * 30 + [1] * 70, [0] * 60 + [1] * 40)
    p, q = np.array([30.5, 70.5]) / 101, np.array([60.5, 40.5]) / 101
    assert found.value == pytest.approx(((q - p) * np.log(q / p)).sum())
    assert found.freedom == 1
    for freedom, rate in ((1, 0.01), (9, 1e-3), (19, 1e-5)):
        levels = [str(k) for k in range(freedom + 1)] * 50
        one = at.drift.psi(levels, levels)
        expected = 2 / len(levels) * stats.chi2(freedom).isf(rate)
        assert one.freedom == freedom
        assert one.critical(rate) == pytest.approx(expected, rel=0.03)


def test_bins_are_the_reference_s_and_missing_values_have_one():
    rng = np.random.default_rng(3)
    before, now = rng.normal(size=2000), rng.normal(size=2000)
    assert at.drift.psi(before, now).freedom == 9
    assert at.drift.psi(before, now).value < at.drift.psi(before, now).critical(1e-4)
    now[:300] = np.nan
    lost = at.drift.psi(before, now)
    assert lost.value > lost.critical(1e-6)
    assert lost.largest_change() == ("missing", 0.0, 0.15)
    texts = at.drift.psi(["a", "b", None] * 50, ["a", "new", "new"] * 50)
    assert {texts.largest_change()[0], "other"} == {"other"}
    assert at.drift.psi([5.0] * 50, [5.0] * 50).critical(0.01) == np.inf  # nothing to compare
    assert at.drift.psi([1, None] * 50, [1.0, np.nan] * 50).value == pytest.approx(0.0)
    many = at.drift.psi([str(k % 40) for k in range(4000)], [str(k % 40) for k in range(4000)])
    assert many.freedom == 20  # twenty levels and all others
    with pytest.raises(InputError, match="numbers in the reference"):
        at.drift.psi([1.0, 2.0], ["a", "b"])
    with pytest.raises(InputError, match="got none"):
        at.drift.psi([], [1.0])
    with pytest.raises(OptionError):
        at.drift.psi([1.0], [1.0], bins=1)


def test_a_watch_takes_records_and_names_what_changed():
    rng = np.random.default_rng(5)
    watch = at.drift.Watch(window=400)
    raised = []
    for t in range(2400):
        late = t >= 1600
        record = {
            "amount": None if late and rng.random() < 0.3 else rng.lognormal(),
            "country": "new" if late and rng.random() < 0.5 else str(rng.choice(["nl", "de"])),
            "steady": rng.normal(),
        }
        raised += watch.item(record, time=f"day {t // 100}")
    assert len(raised) == len(watch.alarms) == 2
    assert {alarm.until for alarm in raised} == {2000}  # as it was told
    assert {alarm.until for alarm in watch.alarms} == {2400}  # and it went on
    assert {alarm.feature for alarm in raised} == {"amount", "country"}
    assert {(alarm.item, alarm.since) for alarm in raised} == {(2000, 1601)}
    texts = [str(alarm) for alarm in raised]
    assert any("values are lost" in text and "day 19" in text for text in texts)
    assert any("There are new levels" in text for text in texts)
    assert all(alarm.statistic > alarm.threshold >= 0.1 for alarm in raised)


def test_a_watch_takes_decisions_and_their_labels():
    policy = at.policy("voi", n_features=1, costs=COSTS)
    watch = at.drift.Watch(names=["x"])
    decision = policy.decide([1.0])
    assert decision.act
    assert watch.label(decision, 1) == []
    assert watch.test.labels == 1
    with pytest.raises(FeedbackError, match="pass"):
        watch.label(decision._replace(act=False), 1)
    bare = decision._replace(chance=math.nan)
    with pytest.raises(InputError, match="chance=p"):
        watch.label(bare, 1)
    found = [alarm for _ in range(40) for alarm in watch.label(bare, 0, chance=0.9)]
    assert len(found) == 1  # told once
    assert "fewer positives" in str(found[0])
    assert found[0].feature is None
    with pytest.raises(InputError, match="2 features and 1 names"):
        watch.refer_to([[1.0, 2.0]])
    with pytest.raises(InputError, match="got none"):
        watch.refer_to([])
    for options in ({"window": 5}, {"least_index": -1}, {"bins": 1}, {"items_per_false_alarm": 0}):
        with pytest.raises(OptionError):
            at.drift.Watch(**options)


def test_a_change_that_lasts_is_told_once_and_a_new_one_again():
    watch = at.drift.Watch()

    def play(labels):
        found = []
        for label in labels:
            watch.items += 1
            found += watch.residual(label, 0.5)
        return found

    assert len(play([1] * 300)) == 1
    assert watch.alarms[0].item < 40
    assert watch.alarms[0].until > 280
    assert play([0, 1] * 200) == []
    assert [alarm.item for alarm in play([1] * 60)] == [pytest.approx(731, abs=5)]
    assert len(watch.alarms) == 2


def rows(items, labels, chances):
    costs = COSTS.outcomes()
    return at.DecisionLog.from_rows(
        {"id": str(t), "act": True, "probability": 0.9, "label": int(y), "chance": float(p), "x": x.tolist(), **costs}
        for t, (x, y, p) in enumerate(zip(items, labels, chances, strict=True))
    )


def test_drift_of_a_finished_log():
    rng = np.random.default_rng(7)
    items = rng.normal(size=(3000, 2))
    chances = 1 / (1 + np.exp(1 - items[:, 0]))
    quiet = rows(items, rng.random(3000) < chances, chances)
    report = at.drift.check(quiet, names=["amount", "age"])
    assert len(report) == 0
    assert str(report) == "no alarm in 3000 items and 3000 labels"
    moved = items + np.where(np.arange(3000) < 1500, 0.0, 1.0)[:, None] * [0.0, 1.0]
    truth = np.where(np.arange(3000) < 2000, chances, 1 / (1 + np.exp(-items[:, 0])))
    report = at.drift.check(rows(moved, rng.random(3000) < truth, chances), names=["amount", "age"])
    kinds = [(alarm.kind, alarm.feature) for alarm in report]
    assert ("features", "age") in kinds
    assert ("features", "amount") not in kinds
    told = next(alarm for alarm in report if alarm.kind == "labels")
    assert told.item > 2000
    assert abs(told.since - 2000) < 200
    # Against last month's log the first items are compared too.
    assert min(a.item for a in at.drift.check(rows(moved[2000:], truth[2000:] > 0.5, truth[2000:]), quiet)) <= 1000


def test_drift_says_what_it_could_not_look_at():
    log = rows(np.zeros((50, 1)), np.zeros(50), np.full(50, 0.1))
    assert "fewer than a reference and a window" in str(at.drift.check(log))
    blind = at.DecisionLog(**{**vars(log), "chance": None, "x": None})
    text = str(at.drift.check(blind))
    assert "labels were not checked" in text
    assert "no features" in text
    with pytest.raises(DataError, match="same features"):
        at.drift.check(log, baseline=blind)
    with pytest.raises(DataError, match="takes a DecisionLog"):
        at.drift.check([log])


def test_a_replay_in_order_forgets_and_raises_alarms(tmp_path):
    rng = np.random.default_rng(11)
    n = 4000
    x, kind = rng.normal(size=n), rng.choice(["a", "b"], n)
    kind[2000:][rng.random(2000) < 0.5] = "c"
    sign = np.where(np.arange(n) < 2000, 2.0, -2.0)
    bad = (rng.random(n) < 1 / (1 + np.exp(1 - sign * x))).astype(int)
    days = [f"2024-{1 + t // 2800:02d}-{1 + t // 100 % 28:02d}" for t in range(n)]
    table = {"x": x, "kind": kind, "bad": bad, "day": days}
    costs = {"miss": 5, "false_alarm": 1, "hit": 0}
    entries = [
        "adf-voi",
        at.policies.PolicySpec("adf-voi", {"half_life": 300}),
        at.policies.PolicySpec("adf-voi", {"half_life": "3d"}),
    ]
    result = at.replay(table, "bad", costs=costs, policies=entries, time="day")
    after = {name: sum(block["cost_per_1000"] for block in result[name].blocks()[6:]) for name in result}
    assert after["adf-voi[half_life=300]"] < after["adf-voi"]
    assert after["adf-voi[half_life=3d]"] < after["adf-voi"]
    assert abs(after["adf-voi[half_life=3d]"] - after["adf-voi[half_life=300]"]) < 0.1 * after["adf-voi"]  # 100 a day
    notes = " ".join(result.notes)
    assert "adf-voi: alarm at item 2" in notes
    assert "'kind' from item 2001" in notes
    assert "'x' from" not in notes
    with pytest.raises(OptionError, match="forgets by time, and there are no times"):
        at.replay(table, "bad", costs=costs, policies=entries[2:], drop=["day"])


def test_a_pause_as_long_as_a_window_is_a_pause_and_a_longer_one_an_end():
    def told(quiet):
        watch = at.drift.Watch(names=["x"], window=100)
        rng = np.random.default_rng(1)
        for shift in (0, 3, *[0] * quiet, 3):
            for _ in range(100):
                watch.item([rng.normal(shift)])
        return [(alarm.since, alarm.until) for alarm in watch.alarms]

    assert told(0) == [(101, 300)]
    assert told(1) == [(101, 400)]
    assert told(2) == [(101, 200), (401, 500)]


def test_a_watch_says_what_is_wrong_with_items_and_labels():
    watch = at.drift.Watch(window=20)
    for _ in range(19):
        watch.item([1.0, 2.0])
    with pytest.raises(InputError, match="all have the same length"):
        watch.item([1.0])
    watch = at.drift.Watch(window=20)
    watch.refer_to(np.random.default_rng(1).normal(size=(50, 2)))
    for _ in range(19):
        watch.item([1.0])
    with pytest.raises(InputError, match="the reference has 2 features and these items have 1"):
        watch.item([1.0])
    with pytest.raises(InputError, match="a label is"):
        at.drift.PageHinkley().update(2, 0.5)


def test_labels_that_are_off_from_the_first_item_on_are_a_beginning_and_no_change():
    def alarms(off_until):
        watch, rng = at.drift.Watch(), np.random.default_rng(3)
        for t in range(600):
            watch.items = t + 1
            watch.residual(int(rng.random() < 0.05), 0.5 if off_until[0] <= t < off_until[1] else 0.05)
        return watch.alarms

    (early,) = alarms((0, 60))
    assert early.at_start
    assert "a beginning, no change" in str(early)
    (late,) = alarms((300, 400))
    assert not late.at_start
    assert "half_life" in str(late)


def test_a_second_alarm_begins_at_the_first():
    test = at.drift.PageHinkley()
    places = [(test.labels, test.start) for _ in range(200) if test.update(1, 0.5)]
    assert len(places) > 2
    assert [start for _, start in places[1:]] == [item for item, _ in places[:-1]]
    h = threshold_for(1000, 0.5)
    assert 4 / 0.5**2 * (np.exp(h) - h - 1) == pytest.approx(1000)


def test_bins_include_their_upper_edge_and_samples_of_any_size_have_their_threshold():
    found = at.drift.psi(np.arange(101.0), [10.0] * 20)
    assert found.names[0] == "up to 10"
    assert found.now[0] == 20
    uneven = at.drift.psi(np.linspace(0, 1, 1000), np.linspace(0, 1, 50))
    assert uneven.critical(0.01) == pytest.approx((1 / 1000 + 1 / 50) * stats.chi2(9).isf(0.01), rel=0.03)


def test_a_false_alarm_is_shared_by_all_features():
    rng = np.random.default_rng(3)
    watch = at.drift.Watch(window=100, least_index=0.0, items_per_false_alarm=10_000)
    for t in range(200):
        watch.item([*rng.normal(size=2), rng.normal(0.0 if t < 100 else 5.0)])
    expected = 2 / 100 * stats.chi2(9).isf(100 / (3 * 10_000))
    assert [alarm.threshold for alarm in watch.alarms] == [pytest.approx(expected, rel=0.03)]


def test_labels_of_a_log_without_features_have_their_place():
    log = rows(np.zeros((200, 1)), np.ones(200), np.full(200, 0.2))
    assert (
        at.drift.check(at.DecisionLog(**{**vars(log), "x": None})).alarms[0].item
        == at.drift.check(log).alarms[0].item
        > 5
    )


def test_alarms_that_say_the_same_are_told_together():
    """Two columns that go on changing, and labels: three lines and what to do about each kind once."""
    stability = at.drift.psi(["a"] * 90 + ["b"] * 10, ["a"] * 10 + ["b"] * 90)
    moved = [feature_alarm(name, stability, 0.1, item, item, None) for item in (1000, 2000, 3000) for name in "xy"]
    labels = [label_alarm(1, 30.0, 20.0, item, item - 50, None) for item in (1500, 2500)]
    report = at.drift.DriftReport((*moved, *labels), 4000, 900)
    told = str(report).splitlines()
    assert told[0] == "8 alarms in 4000 items and 900 labels"
    assert [line.split(" has ")[0] for line in told[1:3]] == ["- item 1000: 'x'", "- item 1000: 'y'"]
    assert told[1].endswith(". And 2 more like that, the last at item 3000.")
    assert told[4].startswith("- item 1500: more positives among the acts")
    assert told[4].endswith(". And 1 more like that, the last at item 2500.")
    assert (told[3].strip(), told[5].strip()) == (moved[0].advice, labels[0].advice)
    assert len(told) == 6
