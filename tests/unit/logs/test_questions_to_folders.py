"""Questions to a scanned folder have the answers of the log that is read at once."""

import numpy as np
import pytest

import appletaste as at
from appletaste.drift import Watch
from appletaste.evaluate.arrival import arrival_of, labelled_shares
from appletaste.evaluate.what_if import ask, ground_of
from appletaste.logs import lazy, log_files
from appletaste.reports.facts import gather

from .test_scan import a_log, folder_of


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(log_files, "GROUP", 150)
    monkeypatch.setattr(log_files, "BATCH", 70)
    monkeypatch.setattr(log_files, "BLOCK", 20_000)


@pytest.fixture
def changed():
    """A log whose second feature and whose labels change in the middle."""
    log = a_log(4000, seed=3)
    x = log.x.copy()
    x[2000:, 1] += 1.5
    label = log.label.copy()
    late = log.labelled & (np.arange(len(log)) > 1500)
    label[late] = 1
    return log.unchecked(x=x, label=label, chance=np.where(log.labelled, 0.4, log.chance))


def test_what_if_is_the_same(tmp_path):
    log = a_log(4000)
    found = at.what_if(str(folder_of(log, tmp_path, ".jsonl")), 0.4)
    assert found.as_dict() == at.what_if(log, 0.4).as_dict()
    assert len(found.would_act) > 0


def test_no_answer_depends_on_how_many_rows_are_looked_at_together(monkeypatch):
    log = a_log(3000)
    log = log.unchecked(audit=log.act & (log.probability < 1) & (log.chance < 0.5))
    for order in (slice(None), np.random.default_rng(2).permutation(len(log))):
        mixed = log.where(np.arange(len(log))[order])
        monkeypatch.setattr(lazy, "PIECE", 2**16)
        whole = [at.missed(mixed).as_dict(), at.what_if(mixed, 0.4).as_dict()]
        monkeypatch.setattr(lazy, "PIECE", 97)
        assert_close([at.missed(mixed).as_dict(), at.what_if(mixed, 0.4).as_dict()], whole)


def assert_close(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        found, expected = list(found.values()), list(expected.values())
    if not isinstance(expected, list):
        assert found == (pytest.approx(expected, rel=1e-9) if isinstance(expected, float) else expected)
        return
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert_close(one, other)


def test_questions_that_are_asked_together_have_the_answers_they_have_alone():
    log = a_log(3000)
    ground = ground_of(log)
    for threshold in (0.1, 0.6, 0.3):
        assert ask(ground, threshold).as_dict() == at.what_if(log, threshold).as_dict()


def test_shares_of_labels_are_by_round_and_not_by_row():
    log = a_log(3000)
    log = log.unchecked(audit=log.act & (log.probability < 1))
    order = np.random.default_rng(5).permutation(len(log))
    assert labelled_shares(log.where(order)).tolist() == labelled_shares(log)[order].tolist()
    assert len(np.unique(labelled_shares(log))) > 20


def test_a_label_is_compared_with_the_chances_of_its_own_lane():
    """All chances of a lane may move: nothing is learnt from that about which class loses its labels."""
    log = a_log(150)
    log = log.unchecked(audit=log.act & (np.arange(len(log)) % 2 == 0))
    found = arrival_of(log)
    for lane in (log.audit, log.act & ~log.audit):
        assert 20 <= lane.sum() < 80  # one block
    moved = arrival_of(log.unchecked(chance=np.where(log.audit, log.chance + 0.1, log.chance)))
    np.testing.assert_allclose(moved.seen, found.seen, rtol=1e-9)
    turned = arrival_of(log.unchecked(chance=np.where(log.audit, 1.0 - log.chance, log.chance)))
    assert np.abs(turned.seen - found.seen).max() > 1e-3  # the control


def test_a_policy_is_asked_about_items_that_stay_in_their_files(tmp_path):
    log = a_log(600)
    policy = at.policy("ts", n_features=3, costs=at.Costs(9, 1, 0))
    path = folder_of(log, tmp_path, ".parquet")
    assert at.what_if(path, policy, learn=True).as_dict() == at.what_if(log, policy, learn=True).as_dict()
    rule = at.what_if(path, lambda x: float(x[0] > 0))
    assert rule.as_dict() == at.what_if(log, lambda x: float(x[0] > 0)).as_dict()


def test_drift_is_what_a_watch_says_item_by_item(tmp_path, changed):
    watch = Watch(window=300)
    for t in range(len(changed)):
        watch.item(changed.x[t], str(changed.time[t]))
        if changed.labelled[t]:
            watch.residual(int(changed.label[t]), float(changed.chance[t]), str(changed.time[t]))
    assert {alarm.kind for alarm in watch.alarms} == {"labels", "features"}
    assert list(at.drift.check(changed, window=300)) == watch.alarms
    found = at.drift.check(folder_of(changed, tmp_path, ".parquet"), window=300)
    assert list(found) == watch.alarms
    assert (found.items, found.labels) == (4000, int(changed.labelled.sum()))


def test_drift_against_a_baseline(tmp_path, changed):
    before = a_log(1000, start=10_000, seed=9)
    before.write(tmp_path / "may.parquet")
    (tmp_path / "june").mkdir()
    folder = folder_of(changed, tmp_path / "june", ".jsonl")
    found = at.drift.check(folder, tmp_path / "may.parquet", window=300)
    assert list(found) == list(at.drift.check(changed, before, window=300))
    assert len(found) > 1


def test_strata_by_themselves(tmp_path):
    log = a_log(3000, x=None)
    found = at.missed(folder_of(log, tmp_path, ".parquet"), by="stratum")
    assert {name: one.as_dict() for name, one in found.items()} == {
        name: one.as_dict() for name, one in at.missed(log, by="stratum").items()
    }


def test_the_report_has_the_same_facts(tmp_path):
    log = a_log(3000)
    here, there = gather(log), gather(at.DecisionLog.scan(folder_of(log, tmp_path, ".parquet")))
    one, other = here.as_dict(), there.as_dict()
    assert one["missed"].pop("model")["value"] == pytest.approx(other["missed"].pop("model")["value"], rel=1e-12)
    assert one == other
    assert (there.period, len(there.periods)) == ("week", 2)
