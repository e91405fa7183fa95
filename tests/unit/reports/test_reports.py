"""The facts of a report, and what its tables leave out."""

import numpy as np
import pytest

import appletaste as at
from appletaste.evaluate.support import settled
from appletaste.reports.facts import MOST, gather, share, slices
from appletaste.reports.money import not_counted
from appletaste.reports.periods import periods_of
from appletaste.reports.sections import by_stratum, changed, decided

COSTS = {"miss": 5.0, "false_alarm": 1.0, "hit": 0.0}


def log(times, strata=None, **more):
    rng = np.random.default_rng(1)
    rows = []
    for k, time in enumerate(times):
        act = bool(rng.random() < 0.5)
        row = {"id": str(k), "time": time, "act": act, "probability": 0.5, "chance": 0.3, **COSTS, **more}
        rows.append({**row, "label": int(rng.random() < 0.3) if act else None})
        if strata is not None:
            rows[-1]["stratum"] = strata[k]
    return at.DecisionLog.from_rows(rows)


def test_of_many_periods_the_last_are_shown_and_of_many_strata_the_largest():
    """Twenty days, the first the busiest; twenty strata, the first the largest."""
    days = [f"2024-05-{day:02d}" for day in range(1, 21) for _ in range(60 - 2 * day)]
    names = [f"stratum {day:02d}" for day in range(1, 21) for _ in range(60 - 2 * day)]
    facts = gather(log(days, names), period="day")
    assert [one.name for one in facts.periods] == [f"2024-05-{day:02d}" for day in range(9, 21)]
    assert [one.name for one in facts.strata] == [f"stratum {day:02d}" for day in range(1, 13)]
    earlier, smaller = sum(60 - 2 * d for d in range(1, 9)), sum(60 - 2 * d for d in range(13, 21))
    assert decided(facts).sentences[-1] == f"Shown are the last 12; {earlier} decisions are in others."
    assert by_stratum(facts).sentences[-1] == f"Shown are the largest; {smaller} decisions are in others."
    assert len(facts.periods) == MOST
    few = gather(log(days[:300]), period="day")
    assert not any("Shown" in sentence for sentence in decided(few).sentences)


def test_a_period_is_what_the_clock_on_the_wall_said():
    """Midnight in UTC is passed in both, midnight where they were written in one."""
    _, names = periods_of(log(["2024-05-31T23:30:00-05:00", "2024-06-01T04:30:00+05:00", "2024-06-01"]), "month")
    assert names.tolist() == ["2024-05", "2024-06", "2024-06"]
    kind, names = periods_of(log(["2024-05-06T00:00", "2024-05-13"]))
    assert (kind, names.tolist()) == ("week", ["week of 2024-05-06", "week of 2024-05-13"])
    kind, names = periods_of(log(["1969-12-31T23:59:59.999999", "1969-12-31"]))
    assert (kind, names.tolist()) == ("day", ["1969-12-31"] * 2)
    with pytest.raises(at.AppleTasteError, match=r"row 2: a time is a date such as .*, got 'soon'"):
        periods_of(log(["2024-05-06", "soon", "later"]))


def test_weeks_begin_on_monday_and_blocks_are_even():
    week, names = periods_of(log(["2024-05-05", "2024-05-06", "2024-05-12"]), "week")
    assert (week, names.tolist()) == ("week", ["week of 2024-04-29", "week of 2024-05-06", "week of 2024-05-06"])
    kind, names = periods_of(log([float(k) for k in range(60)]))
    assert kind == "block"
    assert np.unique(names, return_counts=True)[1].tolist() == [10] * 6


def test_what_was_saved_is_minus_what_it_cost_and_a_share_has_wilson_s_interval():
    rows = [
        {"id": str(k), "act": True, "probability": 0.5, "label": k % 2 if k % 3 else None, **COSTS} for k in range(600)
    ]
    saved = gather(at.DecisionLog.from_rows(rows)).whole.saved
    assert saved.low < saved.value < saved.high
    assert saved.value == pytest.approx(600 * (0.5 * 5 - 0.5), rel=0.1)
    found = share(1, 10, 0.9)
    for end in (found.low, found.high):  # (share - p)^2 = z^2 p (1 - p) / n
        assert (0.1 - end) ** 2 == pytest.approx(1.6448536**2 * end * (1 - end) / 10)


def test_rounds_with_a_fifth_of_their_labels_are_settled():
    rows = [
        {"id": str(k), "act": True, "probability": 0.5, "label": 1 if k < 500 or k % 4 == 0 else None, **COSTS}
        for k in range(1000)
    ]
    whole = at.DecisionLog.from_rows(rows)
    assert len(settled(whole)) == 1000
    fewer = at.DecisionLog.from_rows(
        [{**row, "label": row["label"] if k < 500 else None} for k, row in enumerate(rows)]
    )
    assert len(settled(fewer)) < 600
    assert len(slices(whole, np.full(1000, "one"), 0.9)) == 1


def audited(n=6000, settled_until=0.6, audit=0.02, seed=3):
    """Return a month of a desk that acts on a fifth and audits 2 % of the rest; labels of its last days are missing."""
    rng = np.random.default_rng(seed)
    surely = rng.random(n) < 0.2
    audits = ~surely & (rng.random(n) < audit)
    truth = rng.random(n) < np.where(surely, 0.3, 0.03)
    here = rng.random(n) < np.where(np.arange(n) < settled_until * n, 0.6, 0.02)
    rows = [
        {
            "id": str(k), "act": bool(surely[k] or audits[k]), "audit": bool(audits[k]),
            "chance": 0.3 if surely[k] else 0.03, "probability": 1.0 if surely[k] else audit,
            "time": f"2024-06-{1 + 29 * k // n:02d}T12:00:00",
            "label": int(truth[k]) if here[k] and (surely[k] or audits[k]) else None, **COSTS,
        }
        for k in range(n)
    ]  # fmt: skip
    return at.DecisionLog.from_rows(rows)


def test_recent_rounds_are_left_out_whatever_was_done_in_them():
    """Audits are few, so forty of them are of many days: their missing labels are those of the last days."""
    log = audited()
    kept = np.isin(log.id, settled(log).id)
    edge = int(np.flatnonzero(kept)[-1]) + 1
    assert kept[:edge].all()  # passes and audits as well as acts
    assert 0.58 * len(log) < edge < 0.65 * len(log)


def test_rows_of_a_report_are_about_the_items_of_its_headline():
    facts = gather(audited(), period="week")
    whole, weeks = facts.whole, facts.periods
    assert whole.settled == len(settled(facts.log)) == whole.decisions - facts.unsettled
    assert sum(one.settled for one in weeks) == whole.settled
    said = [one.saved.value for one in weeks if one.saved]
    assert sum(said) == pytest.approx(whole.saved.value)
    assert not weeks[-1].saved  # no label of its items counts
    assert weeks[-1].saved.reason.startswith("most of the labels of these items have not arrived")
    done = facts.log.act & (np.arange(len(facts.log)) < whole.settled)
    positives = done.sum() * 0.3
    assert whole.saved.covers(5 * positives - (done.sum() - positives))


def test_acts_of_which_no_label_arrived_are_counted_out_in_words():
    """Another team answers audits, and has not begun."""
    log = audited(settled_until=1.0)
    silent = log.unchecked(
        label=np.where(log.audit, -1, log.label).astype(np.int8),
        state=np.where(log.audit & (log.state == "observed"), "pending", log.state),
    )
    facts = gather(silent)
    assert facts.unheard == int(log.audit.sum())
    assert (
        f"Saved: {facts.unheard} items acted on are not counted: no label of their kind has arrived yet."
        in not_counted(facts)
    )
    assert gather(log).unheard == 0


def test_a_stream_that_changes_raises_an_alarm_in_the_report():
    """2,400 items whose one feature moves by three standard deviations half way; by itself it raises none."""

    def facts(shift):
        rng = np.random.default_rng(2)
        x = rng.normal(size=2400) + shift * (np.arange(2400) >= 1200)
        rows = [
            {"id": str(k), "act": True, "probability": 0.5, "chance": 0.3, **COSTS, "label": label, "x": [value]}
            for k, (value, label) in enumerate(zip(x, (rng.random(2400) < 0.3).astype(int).tolist(), strict=True))
        ]
        return gather(at.DecisionLog.from_rows(rows), names=["amount"])

    moved = changed(facts(3.0)).sentences
    assert moved[0].startswith("1 alarm in 2,400 items and 2,400 labels")
    assert "'amount' has changed" in moved[1]
    assert facts(3.0).as_dict()["alarms"][0]["feature"] == "amount"
    assert changed(facts(0.0)).sentences == ["No alarm in 2,400 items and 2,400 labels with a chance beside them."]
