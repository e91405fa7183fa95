"""The ledger: states, receipts, refusals, rows, and files."""

import time
from datetime import date, datetime, timedelta

import numpy as np
import pytest

import appletaste as at
from appletaste.errors import FeedbackError, InputError
from appletaste.times import instant

from ...contract.entries import COSTS, make, stream
from ...players import assert_alike, reloaded

COLUMNS = "id time round act probability chance miss false_alarm hit correct_pass stratum audit label state policy"


def test_a_pass_is_never_due_and_an_expired_review_is_unknown():
    ledger = at.streams.Ledger(make("never", {}))
    ledger.decide(np.ones(3), id="pass")
    assert ledger["pass"].state == "never_due"
    with pytest.raises(FeedbackError, match="was a pass"):
        ledger.label("pass", 1)
    with pytest.raises(InputError, match="expire_after"):
        ledger.expire(10)
    ledger = at.streams.Ledger(make("always", {}), expire_after=timedelta(days=2))
    ledger.decide(np.ones(3), id="a", time="2024-05-01")
    ledger.decide(np.ones(3), id="b", time=datetime(2024, 5, 2))
    assert ledger.expire("2024-05-03") == ["a"]
    assert (ledger["a"].state, ledger["a"].label) == ("expired", None)
    assert ledger.pending == ["b"]
    assert ledger.label("a", 1) == at.streams.Receipt("a", "observed", True, True)
    assert ledger.expire("2024-05-03") == []
    assert ledger.counts() == {"pending": 1, "observed": 1, "corrected": 0, "expired": 0, "never_due": 0}


def test_reviews_expire_by_the_clock_of_their_decisions():
    plain, dated, numbered = (at.streams.Ledger(make("always", {}), expire_after=10) for _ in range(3))
    for k in range(3):
        plain.decide(np.ones(3), id=f"c{k}")
        dated.decide(np.ones(3), id=f"c{k}", time=f"2024-05-0{k + 1}")
        numbered.decide(np.ones(3), id=f"c{k}", time=k)
    for ledger, now, wanted in (
        (plain, "2024-05-31", "number"),
        (numbered, date(2024, 5, 31), "number"),
        (dated, 5, "date"),
    ):
        with pytest.raises(InputError, match=f"on the same clock: give a {wanted}"):
            ledger.expire(now)
        assert len(ledger.pending) == 3
    with pytest.raises(InputError, match="present time"):
        plain.expire(None)
    assert plain.expire(12) == ["c0", "c1"]


def test_what_the_policy_refuses_has_not_happened():
    ledger = at.streams.Ledger(make("voi", {}))
    decision = ledger.decide(np.ones(3), id="a")
    ledger.policy.learn(decision, 1)  # behind the back of the ledger
    with pytest.raises(FeedbackError, match="learnt already"):
        ledger.label("a", 1)
    assert ledger["a"].label is None
    assert ledger.pending == ["a"]


def test_ids_and_strata_are_texts_that_a_table_can_hold():
    ledger = at.streams.Ledger(make("always", {}))
    for given in ({"id": "a\0"}, {"id": "a\ud800"}, {"id": "a", "stratum": "b\0"}):
        with pytest.raises(InputError, match=r"zero byte|half a character"):
            ledger.decide(np.ones(3), **given)
    ledger.decide(np.ones(3), id="Größe 7", stratum="neu")
    assert ledger.log().id.tolist() == ["Größe 7"]


def test_labels_count_once_and_in_any_order():
    items, labels = stream(3)
    ledger, plain = at.streams.Ledger(make("ts", {})), make("ts", {})
    decisions = {ledger.decide(x).round: plain.decide(x) for x in items}
    acted = [round_ for round_, decision in decisions.items() if decision.act]
    for round_ in reversed(acted):
        for again in range(3):
            assert ledger.label(str(round_), labels[round_ - 1]).learnt == (again == 0)
        plain.learn(decisions[round_], labels[round_ - 1])
        with pytest.raises(FeedbackError, match=rf"if {1 - labels[round_ - 1]} is right, call correct"):
            ledger.label(str(round_), 1 - labels[round_ - 1])
    assert ledger.policy.chance(items[0]) == plain.chance(items[0])
    ledger.correct(str(acted[0]), 1 - labels[acted[0] - 1])
    assert ledger.label(str(acted[0]), 1 - labels[acted[0] - 1]).state == "corrected"
    plain.correct(decisions[acted[0]], 1 - labels[acted[0] - 1])
    assert ledger.policy.chance(items[0]) == plain.chance(items[0])
    assert ledger.retract(str(acted[1])).state == "pending"
    plain.retract(decisions[acted[1]])
    assert ledger.policy.chance(items[0]) == plain.chance(items[0])
    with pytest.raises(FeedbackError, match="no label to correct"):
        ledger.correct(str(acted[1]), 1)


def test_a_correction_that_the_policy_refuses_changes_nothing():
    ledger = at.streams.Ledger(make("adf-voi", {}))
    assert ledger.decide(np.ones(3), id="a").act
    ledger.label("a", 1)
    with pytest.raises(InputError, match="keeps no labels"):
        ledger.correct("a", 0)
    assert (ledger["a"].label, ledger["a"].state) == (1, "observed")


def test_ids_times_and_strata_are_checked_before_anything_is_decided():
    ledger = at.streams.Ledger(make("voi", {}))
    ledger.decide(np.ones(3), id="2")
    for bad in ({"id": 7}, {"id": ""}, {"time": "yesterday"}, {"time": True}, {"stratum": 3}):
        with pytest.raises(InputError):
            ledger.decide(np.ones(3), **bad)
    with pytest.raises(FeedbackError, match="no decision 'x'"):
        ledger.label("x", 1)
    with pytest.raises(FeedbackError, match=r"0 \(negative\) or 1"):
        ledger.label("2", 3)
    assert ledger.policy.round == len(ledger) == 1
    ledger.decide(np.ones(3))
    assert list(ledger) == ["2", "2'"]
    assert "2'" in ledger
    with pytest.raises(InputError, match="expire_after"):
        at.streams.Ledger(make("voi", {}), expire_after=-1)
    with pytest.raises(InputError, match="kept for a policy"):
        at.streams.Ledger("voi")
    assert instant(np.float64(3)) == 3.0


def test_rows_are_the_decision_log():
    ledger = at.streams.Ledger(at.Desk(make("ts", {}), audit=at.Audit(floor=0.5)))
    items, _ = stream(3)
    for x in items:
        ledger.player.teach(x, int(x.sum() > 0))
    for k, x in enumerate(items):
        ledger.decide(x, time=float(k), stratum="s", costs=at.Costs.of_item(3, 1, 0.5))
    log = ledger.log()
    rows = log.rows()
    assert set(rows[0]) == {*COLUMNS.split(), "worth", "why", "x"}
    assert set(ledger.log(features=False).rows()[0]) == {*COLUMNS.split(), "worth", "why"}
    assert log.x.tolist() == items.tolist()
    assert all(row["probability"] >= 0.5 and 0 < row["chance"] < 1 for row in rows)
    assert {row["audit"] for row in rows} == {True, False}
    assert rows[3]["x"] == items[3].tolist()
    assert rows[3]["miss"] == 3.0
    assert (rows[3]["policy"], rows[3]["time"], rows[3]["stratum"]) == ("ts", 3.0, "s")
    assert [row["id"] for row in rows] == list(ledger)
    assert log.probability.tolist() == [ledger[id_].decision.probability for id_ in ledger]


def drive(ledger, items, labels, start, stop):
    for k in range(start, stop):
        ledger.decide(items[k], id=f"№{k}", time=float(k), stratum="odd" if k % 2 else None)
        ledger.expire(float(k))
        for past in range(max(k - 40, 0), k, 7):
            id_ = f"№{past}"
            if ledger[id_].state in ("pending", "expired") and past % 3:
                ledger.label(id_, labels[past], time=float(k))
            elif ledger[id_].label is not None and past % 11 == 0:
                ledger.correct(id_, 1 - ledger[id_].label)
            elif ledger[id_].label is not None and past % 13 == 0:
                ledger.retract(id_)
    return ledger


@pytest.mark.parametrize("name", ["voi", "ts", "pg-ts", "suplogistic"])
def test_saved_and_loaded_it_continues_bit_for_bit(name, tmp_path):
    items, labels = stream(3, n=300)

    def fresh():
        lane = at.Audit(floor=0.05, strata={"odd": 0.2}, budget=at.Budget(share=0.1, window=40))
        budget = at.Budget(per_day=30, share=0.4, window=50, day=90.0, recent=60)
        return at.streams.Ledger(at.Desk(make(name, {}), budget, lane), expire_after=30)

    whole = drive(fresh(), items, labels, 0, 300)
    half = drive(fresh(), items, labels, 0, 150)
    path = tmp_path / "stream.ledger"
    loaded = reloaded(half, path)
    assert_alike(loaded, half)
    assert_alike(drive(loaded, items, labels, 150, 300), whole)
    assert loaded.counts() == whole.counts()
    assert list(tmp_path.iterdir()) == [path]


def test_a_label_withdrawn_takes_its_time_along_and_is_awaited_last(tmp_path):
    """Expired, labelled late, withdrawn: awaited again, behind the others, also after loading; and expired again."""
    ledger = at.streams.Ledger(at.Desk(at.streams.Awaiting(make("ts", {})), audit=at.Audit(floor=1.0)), expire_after=5)
    for k, name in enumerate("cab"):
        ledger.decide(np.ones(3), id=name, time=4 * k)
    assert ledger.expire(5) == ["c"]
    assert ledger.label("c", 1, time=6).late
    assert ledger["c"].label_time == 6
    ledger.retract("c", time=7)
    assert (ledger["c"].label, ledger["c"].label_time) == (None, None)
    for one in (ledger, reloaded(ledger, tmp_path / "it")):
        assert one.pending == ["a", "b", "c"]
        assert len(one.player.player) == 3
        assert one.expire(9) == ["a"]
        assert len(one.player.player) == 2
        assert one.expire(12) == ["c"]  # waited for since it was withdrawn


def test_a_date_without_a_zone_is_utc_wherever_the_machine_is(monkeypatch):
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        assert instant("1970-01-02") == instant(datetime(1970, 1, 2)) == instant(date(1970, 1, 2)) == 86400.0
        assert instant("1970-01-02T00:00:00-05:00") == 104400.0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_times_are_of_one_kind_and_dates_reach_the_log():
    ledger = at.streams.Ledger(at.policy("always", n_features=1, costs=COSTS))
    ledger.decide([1.0], time=datetime(2024, 5, 1, 12))
    ledger.decide([1.0], time=date(2024, 5, 2))
    ledger.decide([1.0], time="2024-05-03T08:00")
    for wrong in (3.0, None):
        with pytest.raises(
            at.errors.InputError, match="all numbers, all dates, or all left out: earlier times are dates"
        ):
            ledger.decide([1.0], time=wrong)
    assert len(ledger) == ledger.policy.round == 3  # nothing was decided
    written = ledger.log().time
    assert written.tolist() == ["2024-05-01T12:00:00", "2024-05-02", "2024-05-03T08:00"]
