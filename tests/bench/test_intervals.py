"""The coverage bench: who plays, what is kept, and what a page says of it."""

import numpy as np
import pytest
from bench.figures.pages import page_of
from bench.figures.parts import markdown
from bench.figures.runs import RUNS
from bench.intervals.__main__ import PARTS
from bench.intervals.hard import HARD, hard_log
from bench.intervals.known import NAMES as KNOWN
from bench.intervals.known import asked, holds
from bench.intervals.page import agreement, outside, shown
from bench.intervals.reported import NAMES as REPORTED
from bench.intervals.reported import USUAL, reported_part
from bench.intervals.store import Cell, keep, kept, place
from bench.intervals.streams import SETTINGS, cells, players, stream

import appletaste as at

NAMES = ("missed, HT", "unsupported")


def cell(low, high, truth, streams=200):
    rows = np.zeros((streams, 2, 4))
    rows[:, 0] = [0.5 * (low + high), low, high, truth]
    return Cell("ts", "audit 5 %", NAMES, rows)


def test_every_policy_that_can_draw_plays():
    randomised = {info.name for info in at.list_policies() if "randomised" in info.options}
    played = {name for name, options in players().values() if options}
    assert randomised == played
    assert {"ts", "pg-ts", "exact-ts", "ids", "pg-ids", "exact-ids", "ids-traditional", "greedy"} <= set(players())
    assert not {"always", "never", "oracle", "cbp-side"} & set(players())
    assert ("voi", "audit 5 %") in cells()
    assert ("voi", "no audit") not in cells()


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_stream_is_logged_as_it_was_played(setting):
    floor, delay, _ = SETTINGS[setting]
    played = stream("ts", setting, 3, seed=4)
    log = played.log
    assert log.probability.min() >= floor
    assert bool((log.label[log.labelled] == played.labels[log.labelled]).all())
    assert log.labelled[log.act].all() == (delay == 0)
    assert log.audit.any() == (floor > 0)


def test_cells_are_kept_and_a_longer_run_does_them_again(tmp_path):
    path = place(tmp_path, "voi, randomised", "audit 5 %, late and lost labels", 3)
    assert path.name == "voi-randomised-audit-5-late-and-lost-labels.npz"
    assert kept(path, "ts", "audit 5 %", 10) is None
    keep(path, cell(0.0, 1.0, 0.5))
    again = kept(path, "ts", "audit 5 %", 150)
    assert again.names == NAMES
    assert again.rows.shape == (150, 2, 4)
    assert kept(path, "ts", "audit 5 %", 201) is None


def test_a_file_that_cannot_be_read_is_done_again(tmp_path):
    path = tmp_path / "cell.npz"
    for content in (b"", b"[]", b"PK\x03\x04 and no more"):
        path.write_bytes(content)
        assert kept(path, "ts", "audit 5 %", 1) is None
    np.savez(path, rows=np.zeros((5, 1, 4)))  # of an older kind
    assert kept(path, "ts", "audit 5 %", 1) is None


def test_what_the_page_says():
    assert shown(cell(0.0, 1.0, 0.5), "missed, HT") == "**100.0**"
    assert shown(cell(0.0, 1.0, 0.5, streams=20), "missed, HT") == "(20)"
    assert shown(cell(np.nan, np.nan, 0.5), "missed, HT") == "-"
    assert "| missed, HT | 1 | 0 | 1 | 0 | 0.0 | 0.0 | 0.0 |" in outside([cell(0.0, 1.0, 2.0)], NAMES[:1]).markdown()


def test_what_the_page_says_of_reports():
    rows = np.full((10, len(REPORTED), 4), np.nan)
    rows[:, 0], rows[:, 1], rows[:5, 5, 0] = [5.0, 0.0, 10.0, 5.0], [5.0, 3.0, 8.0, 2.0], 0.8
    usual = next(iter(USUAL))
    told = markdown(reported_part([Cell("reports", usual, REPORTED, rows)]))
    assert f"| {usual} | 100 (0, 0) | 0 (100, 0) | withheld | withheld | 0.50 | 80 % |" in told
    assert "| **all of these** | 100 (0, 0) |" in told


def test_agreement_is_of_logs_that_support_every_item():
    rows = np.zeros((3, 3, 4))
    rows[:, 0, 0], rows[:, 1, 0] = [1.0, 2.0, 3.0], [1.0, 2.5, 9.0]
    rows[2, 2, 0] = 0.1  # something unsupported: not to be compared
    found = Cell("ts", "rule", ("VW IPS, Gaussian", "appletaste IPS", "unsupported"), rows)
    assert agreement([found], "VW IPS, Gaussian") == "5e-01"
    assert agreement([found], "VW Cressie-Read") == "another estimate"


@pytest.mark.parametrize("name", HARD)
def test_hard_streams_know_their_truth_and_are_asked_every_question(name):
    log = hard_log(name, 0, 7)
    assert (log.truth[log.labelled] == log.label[log.labelled]).all()
    assert (HARD[name].loss is None) == log.labelled[log.act].all()


def test_answers_stand_beside_the_truth_of_the_log():
    log = hard_log("drift, `voi`, audit 10 %", 0, 7)
    found = dict(zip(KNOWN, asked(log), strict=True))
    assert found["missed, model"][3] == log.truth[~log.act].sum()
    cost = np.where(log.truth == 1, -log.catch_gain, log.alarm_price)
    half = 0.5 * float(log.alarm_price[0] / (log.alarm_price[0] + log.catch_gain[0]))
    assert found["threshold, DR"][3] == pytest.approx(cost[log.chance >= half].sum())
    assert found["stretched by"][0] >= 1
    lost = at.evaluate.Estimate(1.0, 0.0, 2.0, 0.9, "", truth=3.0)
    kept_ = at.evaluate.Estimate(1.0, 0.0, 2.0, 0.9, "", truth=2.0)
    _, low, high, truth = holds([kept_, lost])
    assert not low <= truth <= high
    _, low, high, truth = holds([kept_, kept_])
    assert low <= truth <= high


def test_every_part_has_a_run_of_its_own_and_a_page():
    for part in PARTS:
        assert RUNS[f"coverage-{part}"].words == f"coverage --part {part}"
        told = "0027-reports-of-passes.md" if part == "reports" else "missed.md"
        assert page_of(f"coverage-{part}.table").name == told
