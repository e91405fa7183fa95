"""What each day came to: counted by hand, and the same as a report of that day."""

from datetime import date

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import DataError, OptionError
from appletaste.evaluate import Refusal
from appletaste.reports import by_day, gather
from appletaste.reports.days import money_of, total_of


def shop(n=600, days=12, seed=3, late=0):
    """Return rows of a policy that acts by a coin below a chance of 0.4, with labels a day and a half later."""
    rng, rows = np.random.default_rng(seed), []
    for k in range(n):
        chance, day = float(rng.beta(1, 3)), 1 + k * days // n
        sure = chance >= 0.4
        act = bool(sure or rng.random() < 0.3)
        known = act and k < n - late and rng.random() < 0.9
        row = {"id": f"i{k}", "time": f"2024-05-{day:02d}T06:00", "chance": chance, "act": act, "miss": 5.0, "hit": 0.5}
        row |= {"probability": 1.0 if sure else 0.3, "false_alarm": 1.0, "audit": act and not sure and k % 2 == 0}
        if known:
            row |= {"label": int(rng.random() < chance), "label_time": f"2024-05-{day + 1:02d}T18:00"}
        rows.append(row)
    return rows


def test_every_day_is_counted_by_hand():
    rows = [row for row in shop() if row["time"][:10] != "2024-05-07"]
    found = by_day(at.DecisionLog.from_rows(rows))
    assert list(found.days) == [date(2024, 5, day) for day in range(1, 13)]
    for day, one in found.days.items():
        mine = [row for row in rows if row["time"].startswith(str(day))]
        acts = [row for row in mine if row["act"]]
        labels = [row["label"] for row in acts if "label" in row]
        assert one.decided == len(mine)
        assert one.acted == len(acts)
        assert one.audited == sum(row["audit"] for row in acts)
        threshold = 1.0 / (1.0 + 4.5)
        assert one.explored == sum(row["chance"] < threshold and not row["audit"] for row in acts)
        assert (one.labelled, one.positive, one.waiting) == (len(labels), sum(labels), len(acts) - len(labels))
        assert one.arrived == (len(labels) / len(acts) if acts else None)
    empty = found.days[date(2024, 5, 7)]
    assert (empty.decided, empty.explored, bool(empty.cost), bool(empty.precision)) == (0, 0, False, False)
    assert found.total.decided == len(rows)
    assert found.total.label_delay_days == 1.5
    assert sum(one.positive for one in found.days.values()) == found.total.positive


def test_cost_and_saved_are_sums_where_all_labels_are_known():
    rows = [row for row in shop() if not row["act"] or "label" in row]
    log = at.DecisionLog.from_rows(rows)
    found = by_day(log)
    for day, one in found.days.items():
        seen = [row for row in rows if row["time"].startswith(str(day)) and row["act"]]
        assert one.cost.value == pytest.approx(sum(0.5 if row["label"] else 1.0 for row in seen))
        assert one.saved.value == pytest.approx(sum(4.5 if row["label"] else -1.0 for row in seen))
        assert one.saved.low == pytest.approx(one.saved.high) == pytest.approx(one.saved.value)
    saved = sum(one.saved.value for one in found.days.values())
    assert saved == pytest.approx(found.total.saved.value) == pytest.approx(money_of(log)[1].value)


@pytest.mark.parametrize("late", [0, 60])
def test_the_report_of_the_same_days_says_the_same(late):
    log = at.DecisionLog.from_rows(shop(late=late))
    found = by_day(log)
    for day in (date(2024, 5, 2), date(2024, 5, 11), date(2024, 5, 12)):
        one, report = found.days[day], gather(log, first_day=day, last_day=day).whole
        assert (one.saved, one.precision) == (report.saved, report.precision)
        assert (one.decided, one.acted, one.audited) == (report.decisions, report.acts, report.audits)
        assert (one.labelled, one.positive) == (report.labels, report.positives)
    some, facts = (
        by_day(log, "2024-05-03", date(2024, 5, 9)),
        gather(log, first_day="2024-05-03", last_day="2024-05-09"),
    )
    assert some.total.saved == facts.whole.saved
    assert (some.total.missed, some.total.recall) == (facts.missed.design.missed, facts.missed.design.recall)
    assert some.days == {day: one for day, one in found.days.items() if 3 <= day.day <= 9}


def test_labels_that_are_out_are_said():
    found = by_day(at.DecisionLog.from_rows(shop(late=150)))
    last = found.days[date(2024, 5, 12)]
    assert isinstance(last.saved, Refusal)
    assert last.waiting == last.acted > 0 == last.arrived
    assert any("recent decisions are excluded" in note for note in found.total.notes)
    told = found.as_dict()
    assert told["days"][-1]["day"] == "2024-05-12"
    assert "refused" in told["days"][-1]["saved"]
    assert told["total"]["missed"]["value"] == found.total.missed.value


def test_what_cannot_be_asked_is_said(tmp_path):
    rows = shop(n=40)
    log = at.DecisionLog.from_rows(rows)
    log.write(tmp_path / "log.parquet")
    assert by_day(tmp_path / "log.parquet").as_dict() == by_day(log).as_dict()
    with pytest.raises(OptionError, match="a day such as"):
        by_day(log, "May")
    with pytest.raises(OptionError, match="from one to a later one"):
        by_day(log, "2024-05-09", "2024-05-03")
    with pytest.raises(OptionError, match="no dates"):
        by_day(at.DecisionLog.from_rows({**row, "time": 1.0, "label_time": None} for row in rows))
    with pytest.raises(DataError, match="DecisionLog"):
        by_day(rows)
    beyond = by_day(log, "2024-06-01", "2024-06-02")
    assert [one.decided for one in beyond.days.values()] == [0, 0]
    nothing = log.where(np.zeros(len(log), dtype=bool))
    assert by_day(nothing).days == {}
    assert "no decisions" in total_of(nothing).missed.reason
    assert by_day(log.unchecked(chance=None)).total.explored == 0
